package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
)

// codeTimedOut is what other SDKs answer with when time is up.
const codeTimedOut = -32001

type patient struct{ Seconds float64 }

func (p patient) time() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

func impatient(ctx context.Context, v *visit, args patient) (*mcp.CallToolResult, error) {
	var t struct{ Name string }
	err := v.askWithin(ctx, args.time(), true, question{
		key: "seats", message: fmt.Sprintf("Two seats in row G are held for you for %v. Take them?", args.time()), into: &t,
		schema: object(`"name":{"type":"string","title":"Name for the tickets","minLength":1,"maxLength":60},
			"aisle":{"type":"boolean","title":"One on the aisle","default":false}`, "name"),
		declined: "The seats are free again.", cancelled: "The seats are free again, for now.",
	})
	switch {
	case err == errTooLate:
		return failed("The seats went to somebody else after %v.", args.time()), nil
	case err != nil:
		return nil, err
	}
	return said("Row G, seats 7 and 8, for %s.", t.Name), nil
}

func timesOut(ctx context.Context, v *visit, args patient) (*mcp.CallToolResult, error) {
	var p struct{ Place string }
	err := v.askWithin(ctx, args.time(), false, question{
		key: "door", message: "The courier is at the door. Where should the parcel go?", into: &p,
		schema:   object(`"place":{"type":"string","title":"Place","enum":["hand it over","behind the bins","with the neighbour"]}`, "place"),
		declined: "The parcel goes back.", cancelled: "The courier will come again tomorrow.",
	})
	switch {
	case err == errTooLate:
		return nil, &jsonrpc.Error{Code: codeTimedOut, Message: fmt.Sprintf("The courier left after %v without an answer.", args.time())}
	case err != nil:
		return nil, err
	}
	return said("Delivered: %s.", p.Place), nil
}

type floodArgs struct {
	Count int
	Wait  bool
}

func flood(ctx context.Context, v *visit, args floodArgs) (*mcp.CallToolResult, error) {
	var o struct {
		Sent         int    `json:"sent"`
		Milliseconds int64  `json:"milliseconds"`
		Answer       string `json:"answer,omitempty"`
	}
	v.outcome = &o
	var a answer
	sent, err := v.askDuring(ctx, question{
		key: "gate", message: "The water is rising. Open the gate?", into: &a,
		schema: object(`"open":{"type":"integer","title":"Open by, in percent","minimum":0,"maximum":100,"default":50},
			"reason":{"type":"string","title":"For the log book","maxLength":400}`),
	}, args.Wait, func() string {
		start := time.Now()
		o.Sent = v.pour(ctx, args.Count)
		o.Milliseconds = time.Since(start).Milliseconds()
		return string(mustJSON(o))
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(sent), &o); err != nil {
		return nil, fmt.Errorf("reading what was sent from requestState: %w", err)
	}
	o.Answer = a.Action
	if o.Sent == 0 {
		return said("No messages: this client has asked for none of level info."), nil
	}
	return said("%d messages in %d ms.", o.Sent, o.Milliseconds), nil
}

// pour sends log messages as fast as the client takes them, and returns how many.
func (v *visit) pour(ctx context.Context, count int) int {
	if !v.wants("info") {
		return 0
	}
	for i := range count {
		params := fmt.Appendf(nil, `{"level":"info","logger":"flood","data":"gauge %03d: %d.%02d m, message %d of %d"}`, i%100, 3+i%4, i%97, i+1, count)
		if _, err := v.server.sendRaw(ctx, v.session, protocol.NotificationMessage, params); err != nil {
			return i
		}
	}
	return count
}

func askMany(ctx context.Context, v *visit, args struct{ Count int }) (*mcp.CallToolResult, error) {
	questions, answers := make([]question, args.Count), make([]answer, args.Count)
	for i := range questions {
		questions[i] = question{
			key: fmt.Sprintf("talk %03d", i+1), message: fmt.Sprintf("How was talk %d of %d?", i+1, args.Count), into: &answers[i],
			schema: object(`"stars":{"type":"integer","title":"Stars","minimum":1,"maximum":5,"default":4},
				"remark":{"type":"string","title":"Remark","maxLength":200}`, "stars"),
		}
	}
	if err := v.ask(ctx, questions...); err != nil {
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
	var a answer
	if err := v.ask(ctx, question{
		key: "restart", message: "Restart the print server? It is a nervous machine: a no makes it crash.", into: &a,
		schema: object(`"quietly":{"type":"boolean","title":"Finish the queue first","default":true}`),
	}); err != nil {
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
	v.server.work.Go(func() { v.session.Close() })
	return nil, &rawResult{} // which cannot be encoded, so that there is no answer
}

type countArgs struct {
	Sheep   int
	Seconds float64
}

func slowCount(ctx context.Context, v *visit, args countArgs) (*mcp.CallToolResult, error) {
	for i := range args.Sheep {
		v.progress(ctx, i, args.Sheep, fmt.Sprintf("%d over the fence", i))
		if err := v.pause(ctx, time.Duration(args.Seconds*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	v.progress(ctx, args.Sheep, args.Sheep, "All over the fence")
	return said("%d sheep. Good night.", args.Sheep), nil
}
