package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"

	"elicitation-inspector/bridge/client/live"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/demo"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// onDemo is an inspection of the demo server with its page, without a network.
type onDemo struct {
	t  *testing.T
	in *inspection.Inspection
	s  *Server
}

func inspectDemo(t *testing.T, settings conversation.ClientSettings) onDemo {
	t.Helper()
	return inspect(t, settings, target.Spec{Name: "demo", Builtin: demo.New(demo.Options{}).ServeLines}, "deploy")
}

// inspect starts an inspection of a server, and waits until it offers the tool.
func inspect(t *testing.T, settings conversation.ClientSettings, spec target.Spec, tool string) onDemo {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := inspection.New(inspection.Config{Log: log, Settings: settings, Targets: []target.Spec{spec}})
	t.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	d := onDemo{t, in, New(Config{Inspection: in, Token: testToken})}
	in.Start()
	d.until("the server's tools are known", func() bool {
		_, err := d.in.Item("s1", conversation.Tool, tool)
		return err == nil && d.server().State == conversation.ServerReady
	})
	return d
}

// until waits until is returns true, and looks again after every change of the
// inspection.
func (d onDemo) until(what string, is func() bool) {
	d.t.Helper()
	sub := d.in.Subscribe()
	defer sub.Close()
	end := time.After(patienceOfTests)
	for !is() {
		select {
		case <-sub.Ready():
			sub.Take()
		case <-end:
			d.t.Fatalf("it never came about that %s", what)
		}
	}
}

func (d onDemo) server() inspection.Server {
	d.t.Helper()
	s, err := d.in.Server("s1")
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// post posts a form and returns the response.
// It is of status wrong if something in the form is wrong.
func (d onDemo) post(path string, form url.Values) (status int, text string) {
	d.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	d.s.echo.ServeHTTP(w, r)
	if w.Code == http.StatusOK && w.Header().Get("X-Wrong") != "" {
		return wrong, w.Body.String()
	}
	return w.Code, w.Body.String()
}

// wrong is no status of HTTP: it stands for 200 with the header X-Wrong.
const wrong = -1

// done posts a form and fails the test unless the response is 204 without content.
func (d onDemo) done(path string, form url.Values) {
	d.t.Helper()
	if status, text := d.post(path, form); status != http.StatusNoContent || text != "" {
		d.t.Errorf("POST %s: %d %s, want 204", path, status, text)
	}
}

// pushed returns the changes that the pump draws for the changes of the inspection
// during do.
func (d onDemo) pushed(p *pump, do func()) string {
	d.t.Helper()
	_, before := d.s.hub.Since(0)
	do()
	p.sub.Take()
	pushes, _ := d.s.hub.Since(before)
	return string(slices.Concat(pushes...))
}

func (d onDemo) get(path string) string {
	d.t.Helper()
	w := httptest.NewRecorder()
	d.s.echo.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		d.t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// call makes a call and waits for question n.
func (d onDemo) call(tool string, n int) views.Question {
	d.t.Helper()
	if status, text := d.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {tool}, "tab": {"form"}}); status != http.StatusOK {
		d.t.Fatalf("calling %s: %d %s", tool, status, text)
	}
	return d.question(n, conversation.Pending)
}

func (d onDemo) question(n int, state conversation.QuestionState) views.Question {
	d.t.Helper()
	var q inspection.Question
	d.until(fmt.Sprintf("question %d is %s", n, state), func() bool {
		got, err := d.in.Question(n)
		q = got
		return err == nil && q.State == state
	})
	return d.s.questions.view(q, nil, nil)
}

var consent = url.Values{"action": {"accept"}}

// TestURLByRequest checks that an accepted URL that came as a request waits for the
// server's notification or the person's mark, while its call goes on.
func TestURLByRequest(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20251125})
	q := d.call("connect_mailbox", 1)
	if q.Address == nil || !q.Address.Openable || q.Request.ElicitationID == "" {
		t.Fatalf("the address is %+v with id %q", q.Address, q.Request.ElicitationID)
	}
	d.done("/questions/1/answer", consent)
	q = d.question(1, conversation.Answered)
	if card := drawnCard(t, q); !strings.Contains(card, "Mark as done") {
		t.Errorf("accepted: %s", card)
	}
	if !q.ServerMayReport || q.CallWaits || q.Completion != conversation.CompletionAwaited || q.Via != elicit.ByRequest {
		t.Errorf("it waits: %+v", q)
	}
	if status, text := d.post("/questions/1/answer", consent); status != http.StatusConflict || !strings.Contains(text, "settled elsewhere") {
		t.Errorf("accepting twice: %d %s", status, text)
	}
	d.done("/questions/1/complete", nil)
	if q = d.question(1, conversation.Answered); q.ServerMayReport || q.Completion != conversation.CompletionMarked || !strings.Contains(drawnCard(t, q), "marked as done") {
		t.Errorf("once marked: %+v", q)
	}
}

func drawnCard(t *testing.T, q views.Question) string {
	t.Helper()
	card, err := draw(t.Context(), views.QuestionCard(q))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// TestURLOfLostServer checks that a URL no longer waits for a server that has gone.
func TestURLOfLostServer(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20251125})
	d.call("connect_mailbox", 1)
	d.post("/questions/1/answer", consent)
	if q := d.question(1, conversation.Answered); !q.ServerMayReport {
		t.Fatalf("at first: %+v", q)
	}
	if err := d.in.Disconnect(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if q := d.question(1, conversation.Answered); q.ServerMayReport || q.CallWaits {
		t.Errorf("afterwards: %+v", q)
	}
}

// TestURLByError checks that a URL in error -32042 delays its call until the person
// retries it.
func TestURLByError(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20251125})
	if q := d.call("protected_report", 1); q.Via != elicit.InError {
		t.Errorf("it came %s", q.Carried())
	}
	d.post("/questions/1/answer", consent)
	if q := d.question(1, conversation.Answered); !q.ServerMayReport || !q.CallWaits {
		t.Errorf("it waits: %+v", q)
	}
	d.done("/calls/1/retry", nil)
	d.question(2, conversation.Pending) // nobody has signed in, so the server asks again
	if q := d.question(1, conversation.Answered); q.ServerMayReport || q.CallWaits {
		t.Errorf("the first attempt still waits: %+v", q)
	}
}

// TestURLByRound checks that in 2026-07-28 no URL waits for a notification.
func TestURLByRound(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20260728})
	if q := d.call("connect_mailbox", 1); q.Round != 1 || q.Via != elicit.InRound {
		t.Errorf("it came in round %d: %s", q.Round, q.Carried())
	}
	call, err := d.in.Call(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.s.calls.view(call).Open; got != 1 {
		t.Errorf("%d questions of the round are open, want 1", got)
	}
	d.post("/questions/1/answer", consent)
	if q := d.question(1, conversation.Answered); q.ServerMayReport || !q.CallWaits {
		t.Errorf("it waits: %+v", q)
	}
	d.done("/calls/1/retry", url.Values{"every": {"3600"}})
	if q := d.question(1, conversation.Answered); q.Every != time.Hour {
		t.Errorf("it is tried again every %s", q.Every)
	}
	for _, every := range []string{"-1", "soon", "1e99", "NaN", "Inf"} {
		if status, _ := d.post("/calls/1/retry", url.Values{"every": {every}}); status != http.StatusBadRequest {
			t.Errorf("every %s: %d, want 400", every, status)
		}
	}
	d.post("/calls/1/stop", nil)
	if q := d.question(1, conversation.Answered); q.CallWaits {
		t.Errorf("a call that was given up still waits: %+v", q)
	}
}

// TestAwaitedCardsFollowTheirCall checks that a card that waits for a call is redrawn
// on every page when the call goes on.
func TestAwaitedCardsFollowTheirCall(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20260728})
	d.call("connect_mailbox", 1)
	d.post("/questions/1/answer", consent)
	d.question(1, conversation.Answered)
	p := d.s.newPump(t.Context())
	defer p.sub.Close()
	calm := func(c live.Change) string {
		return d.pushed(p, func() { p.redraw(calmly, map[live.Change]bool{c: true}) })
	}
	called := live.Change{Kind: live.CallChanged, Number: 1}
	if got := calm(called); !strings.Contains(got, `"id":"q1"`) || !strings.Contains(got, "Retry now") {
		t.Errorf("while it waits, its page gets %s", got)
	}
	if got := calm(live.Change{Kind: live.CatalogChanged, Server: "s1"}); strings.Contains(got, `"id":"q1"`) {
		t.Error("it is drawn again for nothing")
	}
	d.post("/calls/1/stop", nil)
	if got := calm(called); !strings.Contains(got, `"id":"q1"`) || strings.Contains(got, "Retry now") {
		t.Errorf("once it was given up, its page gets %s", got)
	}
}

// TestEvictedCardsStayAway checks that a card that was removed from the page does not
// come back when its question changes.
func TestEvictedCardsStayAway(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	for n := 1; n <= 2; n++ {
		d.call("deploy", n)
		d.post(fmt.Sprintf("/questions/%d/answer", n), url.Values{"action": {"decline"}})
		d.until("the answer is in the log", func() bool { c, err := d.in.Call(n); return err == nil && c.State.Over() })
	}
	p := d.s.newPump(t.Context())
	defer p.sub.Close()
	d.s.questions.settled = 1
	settled := func(number int) string {
		return d.pushed(p, func() { p.redraw(atOnce, map[live.Change]bool{{Kind: live.QuestionChanged, Number: number}: true}) })
	}
	if got := settled(2); !strings.Contains(got, `{"id":"q1"}`) || !strings.Contains(got, `"op":"append","at":"questions"`) {
		t.Fatalf("the first question is not taken off, or the second is not drawn: %s", got)
	}
	if got := settled(1); strings.Contains(got, "q1-message") {
		t.Errorf("it comes back: %s", got)
	}
}
