package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// inRound reads the round of a question, which its card has on demand.
func inRound(q *page.Control, round int) *page.Control {
	q.Button("More about this question").Click()
	q.Contains(fmt.Sprintf("round %d", round))
	q.Page().Press(page.Escape)
	return q
}

// asksFor returns an input-required result with these keys and messages in turn; rest
// holds the exact further members of the result.
func asksFor(rest string, keysAndMessages ...string) string {
	var requests []string
	for i := 0; i < len(keysAndMessages); i += 2 {
		requests = append(requests, fmt.Sprintf(
			`%q:{"method":"elicitation/create","params":{"mode":"form","message":%q,"requestedSchema":{"type":"object","properties":{"value":{"type":"string","title":"Value"}}}}}`,
			keysAndMessages[i], keysAndMessages[i+1]))
	}
	return `"result":{"resultType":"input_required","inputRequests":{` + strings.Join(requests, ",") + `}` + rest + `}`
}

// Each key of a round is a card of the same call. When all are answered, the next request
// is sent with another id.
func TestRoundOfSeveralQuestions(t *testing.T) {
	t.Parallel()
	const state = `,"requestState":"s"`
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"three": func(n int, c servers.Call) string {
			if n == 1 {
				return asksFor(state, "z", "Who comes last?", "a", "Who comes first?", "k/~ \"1\"", "Who comes between?")
			}
			return servers.Done("received " + c.Member("inputResponses"))
		},
		"some": func(n int, c servers.Call) string {
			switch n {
			case 1:
				return asksFor(state, "one", "Which one?", "two", "Which two?")
			case 2:
				return asksFor(state, "two", "Which two, please?")
			}
			return servers.Done("received " + c.Member("inputResponses"))
		},
	})
	s := open(t, server.URL)
	s.page.Region("Servers").Contains("2026-07-28")

	s.call("three")
	for message, value := range map[string]string{"Who comes between?": "B", "Who comes first?": "A"} {
		q := inRound(s.question(message).Contains("three"), 1)
		q.HasAttr("data-call", "1")
		q.Field("Value").Fill(value)
		q.Role("group", "Will send").Contains(value)
		q.Button("Accept").Click()
		s.state(message, "answered")
		if n := len(server.Calls("three")); n != 1 {
			t.Fatalf("%d calls went out before every question was answered", n)
		}
	}
	s.question("Who comes last?").Button("Decline").Click()
	s.result(`"z":{"action":"decline"}`)
	calls := server.Calls("three")
	want := `{"z":{"action":"decline"},"a":{"action":"accept","content":{"value":"A"}},"k/~ \"1\"":{"action":"accept","content":{"value":"B"}}}`
	if got := compact(t, calls[1].Member("inputResponses")); got != want {
		t.Errorf("the retry answers\n%s, want\n%s", got, want)
	}
	if calls[0].ID == calls[1].ID {
		t.Error("the retry has the id of the first round")
	}

	// A round can be sent with answers missing.
	s.call("some")
	s.question("Which two?")
	s.question("Which one?").Button("Accept").Click()
	s.state("Which one?", "answered")
	s.page.Region("Call").Button("Send answers so far").Click()
	q := inRound(s.question("Which two, please?"), 2)
	if got, want := compact(t, server.Calls("some")[1].Member("inputResponses")), `{"one":{"action":"accept","content":{}}}`; got != want {
		t.Errorf("the incomplete round answers %s, want %s", got, want)
	}
	s.state("Which two?", "withdrawn").Contains("without it")
	q.Button("Cancel").Click()
	s.result(`{"two":{"action":"cancel"}}`)
}

// The client returns requestState byte for byte, even if it is empty, and omits it if
// there was none.
func TestRequestState(t *testing.T) {
	t.Parallel()
	states := map[string]string{
		"plain":   `"round=1"`,
		"odd":     `"a\u0062 \/ \"q\" <b>&amp; \ud83d\ude42 é \u2028\t"`,
		"empty":   `""`,
		"absent":  ``,
		"numeric": `1.50e3`,
	}
	scripts := map[string]servers.Script{}
	for name, state := range states {
		scripts[name] = func(n int, c servers.Call) string {
			if n > 1 {
				return servers.Done("came back as " + name)
			}
			if state != "" {
				state = `,"requestState":` + state
			}
			return asksFor(state, "a", "Ready for "+name+"?")
		}
	}
	server := servers.NewScripted(t, "2026-07-28", scripts)
	s := open(t, server.URL)
	for name, state := range states {
		s.call(name)
		s.question("Ready for " + name + "?").Button("Decline").Click()
		s.result("came back as " + name)
		if got := server.Calls(name)[1].Member("requestState"); got != state {
			t.Errorf("%s: requestState came back as %q, want %q", name, got, state)
		}
	}
}

// Empty rounds follow each other automatically, with growing pauses, and can be stopped.
func TestRoundsOfStateAlone(t *testing.T) {
	t.Parallel()
	var times []time.Time
	waits := func(n int) string {
		return fmt.Sprintf(`"result":{"resultType":"input_required","requestState":"%d"}`, n)
	}
	tools := map[string]servers.Script{
		"queue": func(n int, c servers.Call) string {
			times = append(times, time.Now())
			if n < 4 {
				return waits(n)
			}
			return servers.Done("your turn, " + c.Member("requestState"))
		},
		"forever": func(n int, _ servers.Call) string { return waits(n) },
	}
	var server *servers.Scripted
	tools["longer"] = func(n int, _ servers.Call) string { // takes more rounds than forever
		if n <= len(server.Calls("forever")) {
			return waits(n)
		}
		return servers.Done("it took longer")
	}
	server = servers.NewScripted(t, "2026-07-28", tools)
	s := open(t, server.URL)
	s.call("queue")
	s.result(`your turn, "3"`)
	if n := s.page.Region("Questions").Article("").All().Count(); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
	for i := 2; i < len(times); i++ {
		if before, now := times[i-1].Sub(times[i-2]), times[i].Sub(times[i-1]); now < before {
			t.Errorf("the pause before round %d was %v, the one before it %v", i+1, now, before)
		}
	}
	s.page.Region("Call").Contains("4 rounds")

	s.call("forever")
	s.page.Until(func() string { return "there is a third round" }, func() bool { return len(server.Calls("forever")) >= 3 })
	s.page.Region("Call").Button("Stop").Click()
	s.page.Region("Result").Contains("topped")
	n := len(server.Calls("forever"))
	s.call("longer") // each of its pauses is as long as the one in forever's same round
	s.result("it took longer")
	if now := len(server.Calls("forever")); now > n {
		t.Errorf("%d more rounds went out after the call was stopped", now-n)
	}
}

// After ten rounds the person is asked whether to go on; there is no other limit.
func TestManyRounds(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"haggle": func(n int, _ servers.Call) string {
			if n < 13 {
				return asksFor("", "offer", fmt.Sprintf("Offer number %d?", n))
			}
			return servers.Done("sold")
		},
		"endless": func(n int, _ servers.Call) string { return asksFor("", "offer", fmt.Sprintf("Bid number %d?", n)) },
	})
	s := open(t, server.URL)
	s.setPolicy("Accept with defaults") // answers all questions
	s.call("haggle")
	rounds := s.page.Region("Call").Role("group", "Rounds").Contains("10 rounds so far")
	if n := len(server.Calls("haggle")); n != 10 {
		t.Errorf("%d rounds went out before the person was asked", n)
	}
	rounds.Button("Go on").Click()
	s.result("sold")
	if n := len(server.Calls("haggle")); n != 13 {
		t.Errorf("%d rounds went out, want 13", n)
	}

	s.call("endless")
	s.page.Region("Call").Role("group", "Rounds").Contains("10 rounds so far").Button("Stop").Click()
	s.page.Region("Result").Contains("topped")
	if n := len(server.Calls("endless")); n != 10 {
		t.Errorf("%d rounds went out, want 10", n)
	}
}

// A round with a refused input request ends the call: the call is repeated only if the
// person wants it.
func TestRefusedRound(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"book": func(n int, c servers.Call) string {
			if n > 1 {
				return servers.Done("went on with " + c.Member("inputResponses") + c.Member("requestState"))
			}
			asked := asksFor(`,"requestState":"s"`, "who", "Who travels?")
			return strings.Replace(asked, `"inputRequests":{`, `"inputRequests":{"pay":{"method":"elicitation/create","params":{"mode":"url","message":"Pay here, please.","url":"https://example.com/pay"}},`, 1)
		},
	})
	s := open(t, server.URL, "--elicitation", "form")
	s.call("book")
	result := s.result("was not made again").Contains(`"pay": the client did not declare elicitation in url mode`)
	s.state("Pay here, please.", "refused").Contains("did not declare")
	s.state("Who travels?", "withdrawn")
	if n := len(server.Calls("book")); n != 1 {
		t.Fatalf("%d calls went out", n)
	}
	result.Button("Call again without what was refused").Click()
	s.result(`went on with {}"s"`)
	if n := len(server.Calls("book")); n != 2 {
		t.Errorf("%d calls went out, want two", n)
	}
}

// If a tool can only be called as a task, the failed call shows this.
func TestToolThatIsATask(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2025-11-25", map[string]servers.Script{
		"dig": func(int, servers.Call) string { return `"error":{"code":-32601,"message":"Method not found"}` },
	})
	server.List = func(int) string {
		return `"result":{"tools":[{"name":"dig","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`
	}
	s := open(t, server.URL)
	s.call("dig")
	s.result("-32601").Contains("has to be called as a task")
}

// A list that requires a URL asks for it, and is read again once the URL is done.
func TestListThatRequiresAURL(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2025-11-25", map[string]servers.Script{
		"hello": func(int, servers.Call) string { return servers.Done("hello") },
	})
	server.List = func(n int) string {
		if n == 1 {
			return `"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":[{"mode":"url","message":"Sign in to see the tools.","url":"https://example.com/in","elicitationId":"e1"}]}}`
		}
		return `"result":{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`
	}
	s := open(t, server.URL)
	s.question("Sign in to see the tools.").Button("Copy URL and accept").Click()
	s.outcome("Sign in to see the tools.", "accepted").Button("Mark as done").Click()
	s.call("hello")
	s.result("hello")
}

// Requests for sampling and roots, among a round's questions, start with a valid JSON
// answer.
func TestRoundOfMixedRequests(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2026-07-28")
	s.settings(func(server *page.Control) {
		server.Checkbox("Sampling").Click()
		server.Checkbox("Roots").Click()
	})
	s.call("pay_invoice")
	all := s.page.Region("Questions").Article("").All().Having("data-state", "pending")
	s.page.Until(func() string { return "three questions wait" }, func() bool { return all.Count() == 3 })
	for range 3 {
		q := all.Nth(0)
		switch shown := q.Text(); {
		case strings.Contains(shown, "Pay invoice 2026-118"):
			q.Field("I approve").Choose("Yes")
			q.Role("group", "Will send").Contains("true")
		case strings.Contains(shown, "sampling/createMessage"):
			q.Contains("12 copper gutters")
			text := q.Role("textbox", "").All().Nth(0)
			if !strings.Contains(text.Value(), `"role"`) {
				t.Errorf("the answer to sampling is not filled in: %q", text.Value())
			}
			text.Paste(`{"role":"assistant","content":{"type":"text","text":"Gutters for the mill."},"model":"by-hand"}`)
			q.Role("group", "Will send").Contains("Gutters for the mill.")
		case strings.Contains(shown, "roots/list"):
			q.Role("group", "Will send").Contains("file:///")
		default:
			t.Fatalf("what is this? %q", shown)
		}
		left := all.Count()
		q.Button("Accept").Click()
		s.page.Until(func() string { return "the answer is taken" }, func() bool { return all.Count() < left || left == 1 })
	}
	q := inRound(s.question("From which account?"), 2)
	q.Field("Account").Choose("Repairs, 6,000.00 EUR")
	q.Role("group", "Will send").Contains("repairs")
	q.Button("Accept").Click()
	s.result("from the account repairs").Contains("Gutters for the mill.").Contains("Filed in tmp.")
}

// A result without resultType is complete, and an input-required result that asks for
// nothing is an error.
func TestResultTypes(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"untyped": func(int, servers.Call) string {
			return `"result":{"content":[{"type":"text","text":"done without a type"}]}`
		},
		"nothing": func(int, servers.Call) string { return `"result":{"resultType":"input_required"}` },
	})
	s := open(t, server.URL)
	s.call("untyped")
	s.result("done without a type")
	s.call("nothing")
	s.result("asks for nothing")
	for tool, want := range map[string]int{"untyped": 1, "nothing": 1} {
		if got := len(server.Calls(tool)); got != want {
			t.Errorf("%s was called %d times", tool, got)
		}
	}
}
