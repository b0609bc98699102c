package signin_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"

	"elicitation-inspector/bridge/meaning/conversation"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/wire"
)

// Nothing is sent after the person has ended a sign-in, whatever request is on its way.
func TestEndAtEachRequest(t *testing.T) {
	t.Parallel()
	all := []wire.Step{wire.StepResource, wire.StepServer, wire.StepRegistration, wire.StepAuthorization, wire.StepRedirect, wire.StepToken}
	for last, steps := range map[string]int{
		"GET /.well-known/oauth-protected-resource/mcp": 1, "GET /.well-known/oauth-authorization-server": 2, "POST /register": 3, "POST /token": len(all),
	} {
		w := newWorld(t)
		u := newUser(t, w, signin.Config{}, signin.DeskConfig{})
		u.visits()
		over := make(chan struct{})
		w.Asked = func(r *http.Request) {
			if r.Method+" "+r.URL.Path == last {
				_ = u.flow.Cancel()
				<-over // the response comes too late
			}
		}
		_, err := u.get(t.Context())
		close(over)
		if a, _ := u.flow.Attempt(); err == nil || a.State != signin.Cancelled {
			t.Errorf("%s: the sign-in is %s, and the request ended with %v", last, a.State, err)
		}
		if asked := w.Requests(); asked[len(asked)-1] != last {
			t.Errorf("%s: what was sent is %q", last, asked)
		}
		if got, want := join(u.steps()), join(all[:steps]); got != want {
			t.Errorf("%s: the steps are %s, want %s", last, got, want)
		}
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
	ends := map[signin.State]func(*signin.Flow) error{signin.Declined: (*signin.Flow).Decline, signin.Cancelled: (*signin.Flow).Cancel}
	for state, end := range ends {
		u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
		u.visits()
		u.signsIn()
		over := make(chan struct{})
		u.Token = func(form url.Values) (int, map[string]any) {
			if err := end(u.flow); err != nil {
				t.Error(err)
			}
			<-over // the response comes too late
			return u.GiveToken(form)
		}
		if err := u.flow.Expire(); err != nil {
			t.Fatal(err)
		}
		_, err := u.get(t.Context())
		close(over)
		a, _ := u.flow.Attempt()
		if failure := new(signin.Error); !errors.As(err, &failure) || failure.State != state || a.State != state || a.Number != 2 {
			t.Errorf("%s: the request ended with %v, and sign-in %d is %s", state, err, a.Number, a.State)
		}
	}
}

// A refresh that the authorization server does not answer stops the clock of the call that
// needs it, and does not hold up the end of the inspection. Neither does a token that has expired.
func TestEndWhileRefreshing(t *testing.T) {
	t.Parallel()
	for _, calls := range []bool{true, false} {
		w := newWorld(t)
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		w.Token = func(form url.Values) (int, map[string]any) {
			if form.Get("grant_type") == "refresh_token" {
				<-over
			}
			return w.GiveToken(form)
		}
		w.Inner = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return pinging() }, nil)
		n := inspect(t, w, conversation.ClientSettings{})
		visit(t, <-n.asked)
		id := n.Servers()[0].ID
		n.until(func() bool { s, err := n.Server(id); return err != nil || s.State == conversation.ServerReady })
		flow, err := n.SignIn(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := flow.Expire(); err != nil {
			t.Fatal(err)
		}
		if calls {
			call, err := n.Begin(live.Request{Server: id, Kind: conversation.Tool, Name: "ping", Key: "ping", Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			n.until(func() bool {
				now, err := n.Call(call.Number)
				return err != nil || now.State.Over() || now.Yours && flow.Busy()
			})
			if now, err := n.Call(call.Number); err != nil || now.State.Over() || !now.Yours {
				t.Errorf("the clock of the call goes on: %+v, %v", now, err)
			}
		}
		began := time.Now()
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took >= inspection.CloseTime { // then it would be cut off
			t.Errorf("with a call %v: the end took %v", calls, took)
		}
		if a, _ := flow.Attempt(); !a.State.Over() {
			t.Errorf("with a call %v: after the end the sign-in is %s", calls, a.State)
		}
	}
}
