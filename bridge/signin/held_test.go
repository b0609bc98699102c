package signin_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/live"

	"elicitation-inspector/bridge/conversation"

	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/wire"
)

// decides makes a decision about each request that is held.
func (u *user) decides(decide func(signin.Request) signin.Decision) {
	last := ""
	u.t.Cleanup(u.desk.Watch(func(f *signin.Flow) {
		a, _ := f.Attempt()
		if a.State != signin.Held {
			return
		}
		now := string(a.Held.Step) + join(u.steps())
		if now == last {
			return
		}
		last = now
		if err := f.Decide(decide(*a.Held)); err != nil {
			u.t.Error(err)
		}
	}))
	u.flow.SetStepwise(true)
}

// Nothing is sent after the person has stopped a sign-in, at whatever step.
func TestStopAtEachStep(t *testing.T) {
	t.Parallel()
	steps := []wire.Step{wire.StepResource, wire.StepServer, wire.StepRegistration, wire.StepAuthorization, wire.StepRedirect, wire.StepToken, wire.StepRefresh}
	for i, step := range steps {
		if step == wire.StepRefresh {
			continue
		}
		u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
		u.visits()
		u.decides(func(r signin.Request) signin.Decision { return signin.Decision{Stop: r.Step == step} })
		_, err := u.get(t.Context())
		a, _ := u.flow.Attempt()
		if err == nil || a.State != signin.Failed || a.FailedAt != step || a.Why != "it was stopped before this request" {
			t.Errorf("%s: the sign-in ended with %v at %q: %q", step, a.State, a.FailedAt, a.Why)
		}
		want := steps[:i]
		if step == wire.StepRedirect {
			want = steps[:i+1] // the browser is back by then
		}
		if got := u.steps(); !slices.Equal(got, want) {
			t.Errorf("%s: the steps that were taken are %v, want %v", step, got, want)
		}
	}
}

// A registration that the person has changed is not that of later sign-ins.
func TestChangedRegistration(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.visits()
	u.decides(func(r signin.Request) (d signin.Decision) {
		switch r.Step {
		case wire.StepRegistration:
			r.Body = strings.Replace(r.Body, "MCP Elicitation Inspector", "Another client", 1)
			d.Changed = &r
		case wire.StepToken:
			d.Stop = true
		}
		return d
	})
	for range 2 {
		if _, err := u.get(t.Context()); err == nil {
			t.Error("the sign-in was not stopped")
		}
	}
	if n := strings.Count(join(u.steps()), wire.StepRegistration.String()); n != 2 {
		t.Errorf("the client was registered %d times, want 2", n)
	}
}

// An authorization server that was restarted does not know the client any more. It is
// registered again: when the server says so, and when the browser does not come back.
func TestForgottenClient(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.waits(signin.Waiting, func() { _ = u.flow.Cancel() })
	if _, err := u.get(t.Context()); err == nil {
		t.Error("the sign-in was not cancelled")
	}
	u.visits()
	if _, err := u.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	u.Revoke()
	u.Token = func(form url.Values) (int, map[string]any) {
		if form.Get("grant_type") == "refresh_token" {
			return http.StatusUnauthorized, map[string]any{"error": "invalid_client", "error_description": "who?"}
		}
		return u.GiveToken(form)
	}
	if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
		t.Fatalf("the request ended with %d, %v", status, err)
	}
	if n := strings.Count(join(u.steps()), wire.StepRegistration.String()); n != 3 {
		t.Errorf("the client was registered %d times, want 3: %s", n, join(u.steps()))
	}
	a, _ := u.flow.Attempt()
	if first := a.Steps[0]; first.Step != wire.StepRefresh || !strings.Contains(first.Why, "invalid_client: who?") {
		t.Errorf("the sign-in after the refusal does not begin with it: %+v", a.Steps)
	}
}

// A person who ends a refresh is not asked for the same again, and the request that waited
// for it fails.
func TestEndedRefresh(t *testing.T) {
	t.Parallel()
	ends := map[signin.State]func(*signin.Flow) error{
		signin.Declined:  (*signin.Flow).Decline,
		signin.Cancelled: (*signin.Flow).Cancel,
		signin.Failed:    func(f *signin.Flow) error { return f.Decide(signin.Decision{Stop: true}) },
	}
	for state, end := range ends {
		u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
		u.visits()
		if _, err := u.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		u.flow.SetStepwise(true)
		u.waits(signin.Held, func() {
			if err := end(u.flow); err != nil {
				t.Error(err)
			}
		})
		if err := u.flow.Expire(); err != nil {
			t.Fatal(err)
		}
		_, err := u.get(t.Context())
		a, _ := u.flow.Attempt()
		if failure := new(signin.Error); !errors.As(err, &failure) || failure.State != state || a.State != state || a.Number != 2 {
			t.Errorf("%s: the request ended with %v, and sign-in %d is %s", state, err, a.Number, a.State)
		}
	}
}

// A refresh that waits for the person outlasts the limits of the call that needs it, and
// does not hold up the end of the inspection. Neither does a token that has expired.
func TestEndWhileHeld(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{true, false} {
		w := newWorld(t)
		w.Inner = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return pinging() }, nil)
		n := inspect(t, w, conversation.ClientSettings{})
		visit(t, <-n.asked)
		id := n.Servers()[0].ID
		n.until(func() bool { s, err := n.Server(id); return err != nil || s.State == conversation.ServerReady })
		flow, err := n.SignIn(id)
		if err != nil {
			t.Fatal(err)
		}
		flow.SetStepwise(true)
		if err := flow.Expire(); err != nil {
			t.Fatal(err)
		}
		if held {
			if _, err := n.Begin(live.Request{Server: id, Kind: conversation.Tool, Name: "ping", Key: "ping", Timeout: 5 * time.Second}); err != nil {
				t.Fatal(err)
			}
			n.until(func() bool { a, _ := flow.Attempt(); return a.State == signin.Held })
			if now, err := n.Call(1); err != nil || now.State.Over() || !now.Yours {
				t.Errorf("the call does not wait for the person: %+v, %v", now, err)
			}
		}
		began := time.Now()
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > bridge.CloseTime/2 {
			t.Errorf("held %v: the end took %v", held, took)
		}
		if a, _ := flow.Attempt(); !a.State.Over() {
			t.Errorf("held %v: after the end the sign-in is %s", held, a.State)
		}
	}
}
