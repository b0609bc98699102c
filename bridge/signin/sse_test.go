package signin_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/headless"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/target"
)

// A server over HTTP+SSE is signed in to like others: for its stream, and for a message
// whose token is refused later.
func TestSignInOverSSE(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ping"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	w := newWorld(t)
	w.Inner = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
	desk := signin.NewDesk(signin.DeskConfig{Headless: true, Tell: func(_, address string) { go visit(t, address) }})
	session, err := headless.Open(t.Context(), headless.Config{
		Target:  target.Spec{Name: "guarded", URL: w.Resource.URL + "/mcp", Transport: target.TransportSSE},
		SignIns: desk,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, revoked := range []bool{false, true} {
		if revoked {
			w.Revoke()
		}
		if out, err := session.Call(t.Context(), headless.Call{Kind: catalog.Tool, Key: "ping"}); err != nil || out.Failure != "" || out.Result == nil {
			t.Errorf("the call ended with %+v, %v", out, err)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := desk.Close(); err != nil {
		t.Error(err)
	}
}
