package check

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/testdata/logtest"
)

// TestCallsMeet expects several-at-once to hold its answers until all of its calls have
// asked, however slow the server is, and to say so where they never wait together.
func TestCallsMeet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		asks func() sdk.ToolHandler
		want string
	}{
		{"asks late, and takes one answer for all", mixesUp, "crossed-answers fail"},
		{"one at a time", oneAfterAnother, "not-tried inconclusive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				connect := func(ctx context.Context, t sdk.Transport, o *sdk.ServerSessionOptions) (*sdk.ServerSession, error) {
					server := sdk.NewServer(&sdk.Implementation{Name: "meeting", Version: "1"}, nil)
					server.AddTool(&sdk.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)}, test.asks())
					return server.Connect(ctx, t, o)
				}
				whole, err := Run(t.Context(), Options{
					Server: headless.Config{Target: target.Spec{Name: "meeting", Builtin: logtest.Serving(connect)}}, Jobs: 1,
					Revisions: []string{mcp.Revision20251125}, Behaviours: []string{judge.BehaviourSeveral},
				})
				if err != nil || whole.Stopped != "" || len(whole.Results) != 1 {
					t.Fatalf("%v, stopped: %s, %d results", err, whole.Stopped, len(whole.Results))
				}
				if found := whole.Results[0].Findings; len(found) != 1 || found[0].Rule+" "+string(found[0].Verdict) != test.want {
					t.Errorf("%+v, want %s", found, test.want)
				}
			})
		})
	}
}

// whoIsIt asks for a name, and returns it.
func whoIsIt(ctx context.Context, r *sdk.CallToolRequest) string {
	answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{
		Message: "Who is it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	})
	if err != nil || answer.Action != "accept" {
		return "nobody"
	}
	return answer.Content["name"].(string)
}

func greeting(name string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello " + name}}}
}

// mixesUp greets all whose questions wait by the first name that comes. Each call that comes
// while another one runs takes half a second longer before it asks.
func mixesUp() sdk.ToolHandler {
	var mu sync.Mutex
	var waiting []chan string
	running := 0
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		mu.Lock()
		before := running
		running++
		mu.Unlock()
		defer func() {
			mu.Lock()
			running--
			mu.Unlock()
		}()
		select {
		case <-time.After(time.Duration(before) * time.Second / 2):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		own := make(chan string, 1)
		mu.Lock()
		waiting = append(waiting, own)
		mu.Unlock()
		name := whoIsIt(ctx, r)
		mu.Lock()
		for _, one := range waiting {
			one <- name
		}
		waiting = nil
		mu.Unlock()
		return greeting(<-own), nil
	}
}

// oneAfterAnother asks for a call only when the call before it is over.
func oneAfterAnother() sdk.ToolHandler {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		select {
		case turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-turn }()
		return greeting(whoIsIt(ctx, r)), nil
	}
}
