package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeTimedOut is what other SDKs answer with when time is up.
const codeTimedOut = -32001

// addTrouble adds the stories in which something goes wrong, or gets too much.
func (s *Server) addTrouble() {
	seconds := func(n string) string {
		return `{"type":"object","properties":{
			"seconds":{"type":"number","title":"Seconds","exclusiveMinimum":0,"maximum":86400,"default":` + n + `}
		},"additionalProperties":false}`
	}
	s.addTool(tool{
		name: "impatient", title: "Hold two seats", tell: impatient, input: seconds("10"),
		description: "Takes its own question back when you are too slow. Shows notifications/cancelled from the server while you type. In 2026-07-28, where nothing can be taken back, a late answer is turned down.",
	})
	s.addTool(tool{
		name: "times_out", title: "Wait for a courier", tell: timesOut, input: seconds("10"),
		description: "Gives up on the call when you are too slow, and leaves its question standing. Shows a call that ends in error -32001 with its question still open.",
	})
	s.addTool(tool{
		name: "flood", title: "Read the water gauges", tell: flood,
		description: "Sends 10,000 log messages as fast as it can while a question is open. Shows whether a client can keep up. With wait off, the question is taken back after the last message and the result comes at once. In 2026-07-28 the messages come before the question, and only if the request asks for log messages.",
		input: `{"type":"object","properties":{
			"count":{"type":"integer","title":"Messages","minimum":1,"maximum":1000000,"default":10000},
			"wait":{"type":"boolean","title":"Wait for the answer","default":true}
		},"additionalProperties":false}`,
		output: `{"type":"object","properties":{
			"sent":{"type":"integer"},"milliseconds":{"type":"integer"},"answer":{"type":"string"}
		},"required":["sent","milliseconds"]}`,
	})
	s.addTool(tool{
		name: "ask_many", title: "Rate every talk", tell: askMany,
		description: "Asks about each talk of a conference, all at once. Shows what a client does with a server that asks far too much.",
		input: `{"type":"object","properties":{
			"count":{"type":"integer","title":"Questions","minimum":1,"maximum":500,"default":25}
		},"additionalProperties":false}`,
	})
	s.addTool(tool{
		name: "crash_on_decline", title: "Restart the print server", tell: crashOnDecline,
		description: "Do not decline: the server process ends at once. Shows a server that dies with a call open. Inside another program only the session ends.",
	})
	s.addTool(tool{
		name: "slow_count", title: "Count the sheep", tell: slowCount,
		description: "Counts slowly, and can be stopped. Shows progress without any question, and cancellation.",
		input: `{"type":"object","properties":{
			"sheep":{"type":"integer","title":"Sheep","minimum":1,"maximum":1000,"default":10},
			"seconds":{"type":"number","title":"Seconds for each","minimum":0,"maximum":60,"default":0.5}
		},"additionalProperties":false}`,
	})
}

var errTooLate = errors.New("too late")

func secondsOf(v *visit, d float64) (time.Duration, error) {
	args := struct{ Seconds float64 }{d}
	if err := v.args(&args); err != nil {
		return 0, err
	}
	return time.Duration(args.Seconds * float64(time.Second)), nil
}

// late tells whether an answer of 2026-07-28 came after the time that the first round gave for it.
func (v *visit) late(d time.Duration) (bool, error) {
	now := v.server.options.Now()
	until, err := time.Parse(time.RFC3339Nano, v.memo("until", func() string { return now.Add(d).Format(time.RFC3339Nano) }))
	if err != nil {
		return false, fmt.Errorf("reading the deadline from requestState: %w", err)
	}
	return now.After(until), nil
}

func impatient(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	d, err := secondsOf(v, 10)
	if err != nil {
		return nil, err
	}
	q := question{
		key: "seats", message: fmt.Sprintf("Two seats in row G are held for you for %v. Take them?", d),
		schema: `{"type":"object","properties":{
			"name":{"type":"string","title":"Name for the tickets","minLength":1,"maxLength":60},
			"aisle":{"type":"boolean","title":"One on the aisle","default":false}
		},"required":["name"]}`,
	}
	late := false
	var a answer
	if v.rounds() {
		if late, err = v.late(d); err != nil {
			return nil, err
		}
		a, err = v.ask(ctx, q)
	} else {
		ctx, cancel := context.WithCancelCause(ctx)
		var clock sync.WaitGroup
		clock.Go(func() {
			if v.server.options.Pause(ctx, d) == nil {
				cancel(errTooLate)
			}
		})
		a, err = v.ask(ctx, q)
		cancel(nil)
		clock.Wait()
		if late = err != nil && context.Cause(ctx) == errTooLate; late {
			err = nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case late:
		return failed("The seats went to somebody else after %v.", d), nil
	case !a.accepted():
		return instead(a, "The seats are free again.", "The seats are free again, for now."), nil
	}
	var t struct{ Name string }
	if err := a.into(&t); err != nil {
		return nil, err
	}
	return said("Row G, seats 7 and 8, for %s.", t.Name), nil
}

func timesOut(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	d, err := secondsOf(v, 10)
	if err != nil {
		return nil, err
	}
	q := question{
		key: "door", message: "The courier is at the door. Where should the parcel go?",
		schema: `{"type":"object","properties":{
			"place":{"type":"string","title":"Place","enum":["hand it over","behind the bins","with the neighbour"]}
		},"required":["place"]}`,
	}
	timedOut := &jsonrpc.Error{Code: codeTimedOut, Message: fmt.Sprintf("The courier left after %v without an answer.", d)}
	var a answer
	if v.rounds() {
		late, err := v.late(d)
		if err != nil {
			return nil, err
		}
		if a, err = v.ask(ctx, q); err != nil {
			return nil, err
		}
		if late {
			return nil, timedOut
		}
	} else {
		if err := v.may(q); err != nil {
			return nil, err
		}
		type reply struct {
			answer
			err error
		}
		replied := make(chan reply, 1)
		// The question outlives the call, until it is answered or the session or the server ends.
		alone, cancel := context.WithCancel(context.WithoutCancel(ctx))
		stop := context.AfterFunc(v.server.life, cancel)
		v.server.work.Go(func() {
			defer cancel()
			defer stop()
			a, err := v.ask(alone, q)
			replied <- reply{a, err}
		})
		clock := make(chan error, 1)
		ctx, end := context.WithCancel(ctx)
		defer end()
		v.server.work.Go(func() { clock <- v.server.options.Pause(ctx, d) })
		select {
		case r := <-replied:
			if r.err != nil {
				return nil, r.err
			}
			a = r.answer
		case err := <-clock:
			if err != nil {
				cancel()
				return nil, err
			}
			return nil, timedOut
		}
	}
	if !a.accepted() {
		return instead(a, "The parcel goes back.", "The courier will come again tomorrow."), nil
	}
	var p struct{ Place string }
	if err := a.into(&p); err != nil {
		return nil, err
	}
	return said("Delivered: %s.", p.Place), nil
}

func flood(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct {
		Count int
		Wait  bool
	}{10000, true}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	q := question{key: "gate", message: "The water is rising. Open the gate?", schema: `{"type":"object","properties":{
		"open":{"type":"integer","title":"Open by, in percent","minimum":0,"maximum":100,"default":50},
		"reason":{"type":"string","title":"For the log book","maxLength":400}
	}}`}
	if err := v.may(q); err != nil {
		return nil, err
	}
	type outcome struct {
		Sent         int    `json:"sent"`
		Milliseconds int64  `json:"milliseconds"`
		Answer       string `json:"answer,omitempty"`
	}
	result := func(o outcome) *mcp.CallToolResult {
		text := fmt.Sprintf("%d messages in %d ms.", o.Sent, o.Milliseconds)
		if o.Sent == 0 {
			text = "No messages: this client has asked for none of level info."
		}
		return with(said("%s", text), o)
	}

	if v.rounds() {
		if v.retold {
			a, err := v.ask(ctx, q)
			if err != nil {
				return nil, err
			}
			var o outcome
			if err := json.Unmarshal([]byte(v.memo("sent", func() string { return "{}" })), &o); err != nil {
				return nil, fmt.Errorf("reading what was sent from requestState: %w", err)
			}
			o.Answer = a.Action
			return result(o), nil
		}
		sent, took := v.pour(ctx, args.Count)
		o := outcome{Sent: sent, Milliseconds: took.Milliseconds()}
		if !args.Wait {
			return result(o), nil
		}
		v.memo("sent", func() string { return string(mustJSON(o)) })
		return nil, &inputRequired{[]question{q}}
	}

	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		a    answer
		err  error
		open sync.WaitGroup
	)
	open.Go(func() { a, err = v.ask(asking, q) })
	sent, took := v.pour(ctx, args.Count)
	if !args.Wait {
		cancel()
	}
	open.Wait()
	if err != nil && (args.Wait || ctx.Err() != nil) {
		return nil, err
	}
	return result(outcome{sent, took.Milliseconds(), a.Action}), nil
}

// pour sends log messages as fast as the client takes them, and returns how many and how long it took.
func (v *visit) pour(ctx context.Context, count int) (int, time.Duration) {
	start := time.Now()
	if !v.wants("info") {
		return 0, 0
	}
	for i := range count {
		params := fmt.Appendf(nil, `{"level":"info","logger":"flood","data":"gauge %03d: %d.%02d m, message %d of %d"}`, i%100, 3+i%4, i%97, i+1, count)
		if _, err := v.server.sendRaw(ctx, v.session, "notifications/message", params); err != nil {
			return i, time.Since(start)
		}
	}
	return count, time.Since(start)
}

func askMany(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Count int }{25}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	questions := make([]question, args.Count)
	for i := range questions {
		questions[i] = question{
			key: fmt.Sprintf("talk %03d", i+1), message: fmt.Sprintf("How was talk %d of %d?", i+1, args.Count),
			schema: `{"type":"object","properties":{
				"stars":{"type":"integer","title":"Stars","minimum":1,"maximum":5,"default":4},
				"remark":{"type":"string","title":"Remark","maxLength":200}
			},"required":["stars"]}`,
		}
	}
	answers, err := v.askAll(ctx, questions...)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, a := range answers {
		count[a.Action]++
	}
	var parts []string
	for _, action := range []string{"accept", "decline", "cancel"} {
		if n := count[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, action))
		}
	}
	return said("%d questions: %s.", args.Count, strings.Join(parts, ", ")), nil
}

func crashOnDecline(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	a, err := v.ask(ctx, question{
		key: "restart", message: "Restart the print server? It is a nervous machine: a no makes it crash.",
		schema: `{"type":"object","properties":{"quietly":{"type":"boolean","title":"Finish the queue first","default":true}}}`,
	})
	if err != nil {
		return nil, err
	}
	if a.Action != "decline" {
		return said("The print server is fine."), nil
	}
	if exit := v.server.options.Exit; exit != nil {
		exit(3)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	replyRaw(ctx, unanswered{})
	v.server.work.Go(func() { v.session.Close() })
	return &mcp.CallToolResult{}, nil
}

// unanswered is a result that cannot be encoded, so that the request is never answered.
type unanswered struct{ mcp.Result }

func (unanswered) GetMeta() map[string]any      { return nil }
func (unanswered) SetMeta(map[string]any)       {}
func (unanswered) MarshalJSON() ([]byte, error) { return nil, errors.New("the server has crashed") }

func slowCount(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct {
		Sheep   int
		Seconds float64
	}{10, 0.5}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	for i := range args.Sheep {
		v.progress(ctx, float64(i), float64(args.Sheep), fmt.Sprintf("%d over the fence", i))
		if err := v.pause(ctx, time.Duration(args.Seconds*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	v.progress(ctx, float64(args.Sheep), float64(args.Sheep), "All over the fence")
	return said("%d sheep. Good night.", args.Sheep), nil
}
