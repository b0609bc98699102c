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

// codeTimedOut is the error code that other SDKs use for a timeout.
const codeTimedOut = -32001

type patient struct{ Seconds float64 }

func (p patient) time() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

func impatient(ctx context.Context, v *visit, args patient) (*mcp.CallToolResult, error) {
	var t struct{ Name string }
	err := v.askWithin(ctx, args.time(), true, form("seats", &t, args.time()))
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
	err := v.askWithin(ctx, args.time(), false, form("door", &p))
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
	sent, err := v.askDuring(ctx, form("gate", &a), args.Wait, func() string {
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

// pour sends log messages as fast as the client reads them, and returns how many it has sent.
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
		questions[i] = form("talk", &answers[i], i+1, args.Count)
		questions[i].key = fmt.Sprintf("talk %03d", i+1)
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
	if err := v.ask(ctx, form("restart", &a)); err != nil {
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
	return nil, &rawResult{} // it fails to encode, so that there is no answer
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
