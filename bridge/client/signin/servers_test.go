package signin_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"

	"elicitation-inspector/bridge/client/live"

	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/meaning/conversation"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/wire"
)

// inspected inspects a world, without a page.
type inspected struct {
	*inspection.Inspection
	asked   chan string // the addresses that a person is to open
	changed *live.Subscription
}

func inspect(t *testing.T, w *world, settings conversation.ClientSettings) *inspected {
	t.Helper()
	n := &inspected{asked: make(chan string, 1)}
	desk := signin.NewDesk(signin.DeskConfig{Headless: true, Tell: func(_, address string) { n.asked <- address }})
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n.Inspection = inspection.New(inspection.Config{
		Targets: []target.Spec{{Name: "guarded", URL: w.Resource.URL + "/mcp"}}, Log: log, SignIns: desk, Settings: settings, Logger: slog.New(slog.DiscardHandler),
	})
	n.changed = n.Subscribe()
	t.Cleanup(func() {
		n.changed.Close()
		if err := errors.Join(n.Close(context.Background()), desk.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	n.Start()
	return n
}

// until waits for a change after which is is true.
func (n *inspected) until(is func() bool) {
	for !is() {
		<-n.changed.Ready()
		n.changed.Take()
	}
}

// A call's clock stands still while a person signs in for it.
func TestClockOfCallsStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Inner = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return pinging() }, nil)
	w.Token = func(form url.Values) (int, map[string]any) {
		status, body := w.GiveToken(form)
		delete(body, "refresh_token")
		return status, body
	}
	in := inspect(t, w, conversation.ClientSettings{})
	visit(t, <-in.asked)
	id := in.Servers()[0].ID
	in.until(func() bool { s, err := in.Server(id); return err != nil || s.State == conversation.ServerReady })
	w.Revoke()
	call, err := in.Begin(live.Request{Server: id, Kind: conversation.Tool, Name: "ping", Key: "ping"})
	if err != nil {
		t.Fatal(err)
	}
	address := <-in.asked
	if now, err := in.Call(call.Number); err != nil || !now.Yours {
		t.Errorf("the clock goes on: %+v, %v", now.Wait, err)
	}
	visit(t, address)
	in.until(func() bool { now, err := in.Call(call.Number); return err != nil || now.State.Over() })
	if now, err := in.Call(call.Number); err != nil || now.Failure != "" || now.Waited == 0 {
		t.Errorf("the call ended with %+v, %v", now, err)
	}
}

func pinging() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ping"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	return s
}

// A server over HTTP+SSE is signed in to like others: for its stream, and for a message
// whose token is refused later.
func TestSignInOverSSE(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Inner = mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return pinging() }, nil)
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
		if out, err := session.Call(t.Context(), headless.Call{Kind: conversation.Tool, Key: "ping"}); err != nil || out.Failure != "" || out.Result == nil {
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
