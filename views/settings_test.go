package views

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"

	"elicitation-inspector/views/forms"
)

// selected returns the value that a select shows.
func selected(t *testing.T, list *html.Node) string {
	t.Helper()
	chosen := every(list, func(e *html.Node) bool { return e.Data == "option" && has(e, "selected") })
	if len(chosen) != 1 {
		t.Fatalf("%d options are selected", len(chosen))
	}
	return attr(chosen[0], "value")
}

func named(t *testing.T, n *html.Node, name string) *html.Node {
	t.Helper()
	return only(t, n, "named "+name, func(e *html.Node) bool { return attr(e, "name") == name })
}

func TestServerSettings(t *testing.T) {
	s := someServer
	s.Settings = conversation.ClientSettings{Protocol: "2025-11-25", Elicitation: conversation.DeclareURL, Roots: true}
	s.Policy = "decline"
	doc := draw(t, ServersBar([]Server{s}))
	if got := selected(t, named(t, doc, "protocol")); got != "2025-11-25" {
		t.Errorf("protocol %q", got)
	}
	if got := selected(t, named(t, doc, "elicitation")); got != "url" {
		t.Errorf("elicitation %q", got)
	}
	if has(named(t, doc, "sampling"), "checked") || !has(named(t, doc, "roots"), "checked") {
		t.Error("sampling and roots are not as set")
	}
	policy := named(t, doc, "policy")
	if got := selected(t, policy); got != "decline" {
		t.Errorf("policy %q", got)
	}
	label := only(t, doc, "the policy's label", func(e *html.Node) bool { return e.Data == "label" && attr(e, "for") == attr(policy, "id") })
	if text(label) != "Questions from this server" {
		t.Errorf("the policy is named %q", text(label))
	}
	for _, name := range []string{"Apply and reconnect", "Findings"} {
		button(t, doc, name)
	}
	chip := byClass(doc, "chip")[0]
	if !strings.Contains(text(chip), "declines") {
		t.Errorf("the chip does not say what becomes of questions: %q", text(chip))
	}
	for _, want := range []string{`elicitation {"url":{}}`, "roots", `tasks {"list":{},"cancel":{}`} {
		if !strings.Contains(text(doc), want) {
			t.Errorf("it does not say that %s was declared", want)
		}
	}
	s.Settings, s.Info.Protocol = conversation.ClientSettings{Apps: true}, "2026-07-28"
	for _, want := range []string{"io.modelcontextprotocol/tasks", "io.modelcontextprotocol/ui"} {
		if doc := draw(t, ServersBar([]Server{s})); !strings.Contains(text(doc), want) {
			t.Errorf("it does not say that %s was declared", want)
		}
	}
	s.Settings, s.Policy = conversation.ClientSettings{Elicitation: conversation.DeclareNone, NoTasks: true}, "ask"
	doc = draw(t, ServersBar([]Server{s}))
	if got := byClass(doc, "declared"); len(got) != 1 || text(got[0]) != "nothing" {
		t.Errorf("nothing was declared, and it says %v", got)
	}
	if got := byClass(doc, "policy"); len(got) > 0 {
		t.Errorf("the chip says %q where people are asked as usual", text(got[0]))
	}
}

func TestHeldLines(t *testing.T) {
	calm, busy := someServer, someServer
	calm.ID = "s2"
	busy.Held, busy.Room = 1234, 50
	doc := draw(t, HeldLines([]Server{calm, busy}))
	line := only(t, doc, "a line", func(e *html.Node) bool { return attr(e, "role") == "group" })
	if got := strings.Join(strings.Fields(text(line)), " "); !strings.HasPrefix(got, "1 234 more from release-bot") {
		t.Errorf("it says %q", got)
	}
	for name, want := range map[string]string{
		"Show 50": "/servers/s1/held choice=show", "Decline all": "/servers/s1/held choice=decline", "Block": "/servers/s1/policy policy=block",
	} {
		b := button(t, line, name)
		if got := attr(b, "data-post") + " " + attr(b, "data-body"); got != want {
			t.Errorf("%s posts %q, want %q", name, got, want)
		}
	}
	busy.Held = 50
	button(t, draw(t, HeldLines([]Server{busy})), "Show")
	busy.Room, busy.TurnedAway = 0, 7
	full := text(draw(t, HeldLines([]Server{busy})))
	if strings.Contains(full, "Show") || !strings.Contains(full, "Answer some of the questions here to make room. 7 were refused, because so many wait already") {
		t.Errorf("with no room it says %q", full)
	}
}

// TestRounds checks that a call of several rounds shows its state, and has one button to
// stop it.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		call   Call
		says   string
		offers string
	}{
		{Call{Wait: conversation.Wait{Open: 3, Asks: 3}, Call: conversation.Call{State: conversation.Running, Rounds: make([]conversation.Round, 2)}}, "Round 2: none of 3 questions is answered yet. Unanswered ones are left out.", "Send answers so far"},
		{Call{Wait: conversation.Wait{Open: 1, Asks: 3}, Call: conversation.Call{State: conversation.Running, Rounds: make([]conversation.Round, 2)}}, "Round 2: 2 of 3 questions answered. Unanswered ones are left out.", "Send answers so far"},
		{Call{Wait: conversation.Wait{Paused: true}, Call: conversation.Call{State: conversation.Running, Rounds: make([]conversation.Round, 10)}}, "10 rounds so far. Go on?", "Go on"},
	} {
		c.call.Number = 4
		doc := draw(t, CallView(c.call))
		group := only(t, doc, "Rounds", func(e *html.Node) bool { return attr(e, "aria-label") == "Rounds" })
		if got := strings.Join(strings.Fields(text(group)), " "); !strings.HasPrefix(got, c.says) {
			t.Errorf("it says %q, want %q", got, c.says)
		}
		if got := attr(button(t, group, c.offers), "data-post"); got != "/calls/4/retry" {
			t.Errorf("%s posts to %q", c.offers, got)
		}
		button(t, doc, "Stop")
	}
	for why, c := range map[string]Call{
		"is done":                       {Wait: conversation.Wait{Paused: true, Open: 3, Asks: 3}, Call: conversation.Call{State: conversation.Done, Rounds: make([]conversation.Round, 10)}},
		"has one question in the round": {Wait: conversation.Wait{Open: 1, Asks: 1}, Call: conversation.Call{State: conversation.Running, Rounds: make([]conversation.Round, 2)}},
	} {
		if found := every(draw(t, CallView(c)), func(e *html.Node) bool { return attr(e, "aria-label") == "Rounds" }); len(found) > 0 {
			t.Errorf("a call that %s has a line for its rounds", why)
		}
	}
}

// TestClocks checks that the person's time and the server's time are shown separately.
func TestClocks(t *testing.T) {
	start := time.Unix(1000, 0)
	read := func(c Call) string {
		var out []string
		for _, list := range byClass(draw(t, CallView(c)), "clocks") {
			for _, e := range every(list, func(e *html.Node) bool { return e.Data == "dt" || e.Data == "dd" }) {
				out = append(out, strings.Fields(text(e))...)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		call Call
		want string
	}{
		{Call{Call: conversation.Call{State: conversation.Running, Start: start}}, ""},
		{
			Call{Wait: conversation.Wait{Waiting: 1, Yours: true, WaitedSince: start.Add(12 * time.Second), Timeout: 60 * time.Second}, Call: conversation.Call{State: conversation.Running, Start: start}},
			"total since 1000000 waiting for you since 1012000 server 0:12 of 60 s",
		},
		{
			Call{Wait: conversation.Wait{Waited: 18 * time.Second}, Call: conversation.Call{State: conversation.Running, Start: start}},
			"total since 1000000 waiting for you 0:18 server since 1018000",
		},
		{
			Call{Wait: conversation.Wait{Waited: 4 * time.Second, Timeout: 1500 * time.Millisecond, Duration: 5 * time.Second, Served: 900 * time.Millisecond, Counted: time.Second}, Call: conversation.Call{State: conversation.Done}},
			"total 5.00 s waiting for you 4.00 s server 900 ms server, by the inspector's clock 1.00 s of 1.5 s",
		},
	} {
		if got := read(c.call); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestDrawingsDoNotAge: a card and a call are drawn the same at any time, so that they
// are pushed only if they have changed.
func TestDrawingsDoNotAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		waiting := someQuestion()
		waiting.Asked = start
		running := Call{Wait: conversation.Wait{Waited: time.Second, Timeout: time.Minute}, Call: conversation.Call{Number: 1, State: conversation.Running, Start: start}}
		asking := running
		asking.Waiting, asking.Yours, asking.Asked, asking.WaitedSince = 1, true, start, start
		for name, c := range map[string]templ.Component{
			"a question that waits": QuestionCard(waiting), "a call that runs": CallView(running), "a call that waits": CallView(asking),
			"a URL that is awaited": QuestionCard(accepted(urlQuestion("https://example.com/"))),
		} {
			before := render(t, c)
			time.Sleep(time.Hour)
			if after := render(t, c); after != before {
				t.Errorf("%s is drawn differently an hour later:\n%s\n%s", name, before, after)
			}
		}
	})
}

func TestTimeoutField(t *testing.T) {
	doc := draw(t, CallPanel(&CallForm{Timeout: "2.5", Form: forms.Form{ID: "args"}}, nil))
	field := named(t, only(t, doc, "form", tag("form")), "timeout")
	if got := attr(field, "value"); got != "2.5" {
		t.Errorf("it holds %q", got)
	}
	only(t, doc, "its label", func(e *html.Node) bool {
		return e.Data == "label" && attr(e, "for") == attr(field, "id") && text(e) == "Timeout (seconds)"
	})
}

// TestQuestionsThatAreNoElicitation checks that requests are shown in full, and that
// their result is entered as JSON only.
func TestQuestionsThatAreNoElicitation(t *testing.T) {
	for _, method := range []string{"sampling/createMessage", "roots/list"} {
		q := someQuestion()
		q.Method, q.Request = method, nil
		q.Params = json.RawMessage(`{"maxTokens": 120}`)
		q.Form = forms.Form{ID: "q7", JSON: true, Content: `{"roots":[]}`, Preview: `{"roots":[]}`}
		doc := draw(t, QuestionCard(q))
		if got := text(byID(t, doc, "q7-message")); got == "" || got == "(no message)" {
			t.Errorf("%s is called %q", method, got)
		}
		for _, want := range []string{method, `"maxTokens": 120`} {
			if !strings.Contains(text(doc), want) {
				t.Errorf("%s: %q is not shown", method, want)
			}
		}
		if tabs := every(doc, func(e *html.Node) bool { return attr(e, "role") == "tab" }); len(tabs) > 0 {
			t.Errorf("%s: it has tabs", method)
		}
		area := only(t, doc, "the result", tag("textarea"))
		if attr(area, "name") != "content" || text(area) != q.Form.Content {
			t.Errorf("%s: the result holds %q", method, text(area))
		}
		if got := attr(named(t, doc, "tab"), "value"); got != "json" {
			t.Errorf("%s: it is sent as %q", method, got)
		}
		button(t, doc, "Accept")
	}
}

func TestWhoseQuestion(t *testing.T) {
	q := someQuestion()
	asks := func() string {
		return strings.Join(strings.Fields(text(byClass(draw(t, QuestionCard(q)), "who")[0])), " ")
	}
	if got := asks(); !strings.Contains(got, "asks during deploy") {
		t.Errorf("it says %q", got)
	}
	q.Guessed, q.Round, q.Key = true, 2, "seat"
	if got := asks(); !strings.Contains(got, "asks probably during deploy") || !strings.Contains(got, "round 2 · key seat") {
		t.Errorf("of a guess it says %q", got)
	}
	q.Via = elicit.InError
	if got := asks(); !strings.Contains(got, "error -32042") {
		t.Errorf("of an error it says %q", got)
	}
}

func TestAdvice(t *testing.T) {
	r := Result{Failed: true, Error: &conversation.RPCError{Code: mcp.CodeMissingCapability}}
	doc := draw(t, CallView(Call{Call: conversation.Call{State: conversation.Failed}, Item: Item{Server: "s1"}, Server: someServer, Result: &r}))
	if got := text(region(t, doc, "Result")); !strings.Contains(got, r.Error.Advice()) {
		t.Errorf("the advice is missing: %q", got)
	}
	if got := attr(button(t, doc, "Settings of release-bot"), "data-settings-of"); got != "s1" {
		t.Errorf("it leads to the settings of %q", got)
	}
}

// TestLogsAreCounted checks that a call with many log messages shows their number, and a
// link to them.
func TestLogsAreCounted(t *testing.T) {
	c := Call{Call: conversation.Call{State: conversation.Running, Logs: 500}}
	for i := range 20 {
		c.Steps = append(c.Steps, conversation.Step{Kind: "log", Text: fmt.Sprint(i)})
	}
	if got := text(draw(t, CallSteps(c))); !strings.Contains(got, "500 log messages in all") {
		t.Errorf("it does not say so: %q", got)
	}
	c.Logs = 20
	if got := text(draw(t, CallSteps(c))); strings.Contains(got, "log messages in all") {
		t.Error("it counts what is all there")
	}
}
