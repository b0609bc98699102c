package inspection_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
)

func init() {
	// asks all the questions that the tool's name counts at once, and then returns the
	// answers.
	rawServers["many"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"three", "twelve"}, func(call request) {
			count := map[string]int{"three": 3, "twelve": 12}[call.tool()]
			for i := range count {
				s.write(`{"jsonrpc":"2.0","id":"%s-%d","method":"elicitation/create","params":{"message":"Number %d?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":%d}}}}}`, call.ID, i, i, i)
			}
			var answers []string
			for range count {
				answer, ok := s.read()
				if !ok {
					return
				}
				answers = append(answers, string(answer.Result)+string(answer.Error))
			}
			slices.Sort(answers)
			s.text(call, strings.Join(answers, "\n"))
		})
	}
}

func init() {
	// asks questions that the policy of accepting with defaults leaves to a person.
	rawServers["undecided"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"form", "url", "roots"}, func(call request) {
			method, params := "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{"who":{"type":"string","title":"Signer"}},"required":["who"]}}`
			switch call.tool() {
			case "url":
				params = `{"mode":"url","message":"?","url":"https://example.org/","elicitationId":"a"}`
			case "roots":
				method, params = "roots/list", `{}`
			}
			s.write(`{"jsonrpc":"2.0","id":"asked","method":"%s","params":%s}`, method, params)
			s.read()
			s.text(call, "done")
		})
	}
	forms := []string{
		`{"colour":{"enum":["red","blue"],"default":"purple"}}`,
		`{"code":{"type":"string","maxLength":2,"default":"long"}}`,
	}
	rawServers["bad defaults"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"0", "1"}, func(call request) {
			s.write(`{"jsonrpc":"2.0","id":"asked","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":%s}}}`, forms[call.tool()[0]-'0'])
			s.read()
			s.text(call, "done")
		})
	}
}

// A question that a policy cannot answer stays with the person, with the reason.
func TestPolicySaysWhatItLeaves(t *testing.T) {
	cases := []struct{ server, tool, want string }{
		{"undecided", "form", `"Signer" is required and has no default`},
		{"undecided", "url", "a URL needs your consent"},
		{"undecided", "roots", "a roots/list request is not an elicitation"},
		{"bad defaults", "0", `the default of "colour" does not fit`},
		{"bad defaults", "1", `the default of "code" is not valid: At most 2 characters. It is 4`},
	}
	for _, c := range cases {
		t.Run(c.server+" "+c.tool, func(t *testing.T) {
			b := start(t, c.server, conversation.ClientSettings{Roots: true})
			if err := b.in.SetPolicy("s1", conversation.PolicyDefaults); err != nil {
				t.Fatal(err)
			}
			call := b.call(c.tool)
			if q := b.question(1); q.State != conversation.Pending || q.LeftByPolicy != c.want {
				t.Errorf("the question is %s and says %q, want %q", q.State, q.LeftByPolicy, c.want)
			}
			b.answer(1, live.Answer{Action: "cancel"})
			b.done(call.Number)
		})
	}
}

func TestPolicies(t *testing.T) {
	cases := []struct {
		policy conversation.Policy
		state  conversation.QuestionState
		want   string
	}{
		{conversation.PolicyDefaults, conversation.Answered, `{"action":"accept","content":{"n":0}}`},
		{conversation.PolicyDecline, conversation.Answered, `{"action":"decline"}`},
		{conversation.PolicyCancel, conversation.Answered, `{"action":"cancel"}`},
		{conversation.PolicyBlock, conversation.Refused, `{"code":-32000,"message":"elicitation from this server is blocked by the user"}`},
	}
	for _, c := range cases {
		t.Run(string(c.policy), func(t *testing.T) {
			b := start(t, "many", conversation.ClientSettings{})
			if err := b.in.SetPolicy("s1", c.policy); err != nil {
				t.Fatal(err)
			}
			call := b.call("three")
			_, text := b.done(call.Number)
			if got, _, _ := strings.Cut(text, "\n"); got != c.want {
				t.Errorf("the server got %s, want %s", got, c.want)
			}
			if q := b.question(1); q.State != c.state || q.By != conversation.ByPolicy {
				t.Errorf("question is %s by %s, want %s by policy", q.State, q.By, c.state)
			}
		})
	}
}

func TestRateHoldsBackButDropsNothing(t *testing.T) {
	b := startConfig(t, "many", inspection.Config{Rate: 10})
	call := b.call("twelve")
	b.until("twelve questions", func() bool { return len(b.in.Questions()) == 12 && b.server().Held == 2 })
	if got := len(b.in.OnShow(0)); got != 10 {
		t.Errorf("%d questions are on show, want 10", got)
	}
	if err := b.in.Release("s1", "show"); err != nil {
		t.Fatal(err)
	}
	if got := len(b.in.OnShow(0)); got != 12 {
		t.Errorf("%d questions are on show after release, want 12", got)
	}
	for n := range 12 {
		b.answer(n+1, live.Answer{Action: "decline"})
	}
	if _, text := b.done(call.Number); strings.Count(text, "decline") != 12 {
		t.Errorf("the server got %s", text)
	}

	// Answered questions no longer count: further ones are shown.
	call = b.call("three")
	for n := range 3 {
		if q := b.question(13 + n); q.Held {
			t.Errorf("question %d is held back", q.Number)
		}
		b.answer(13+n, live.Answer{Action: "decline"})
	}
	b.done(call.Number)

	call = b.call("twelve")
	b.until("two more", func() bool { return b.server().Held == 2 })
	if err := b.in.Release("s1", "decline"); err != nil {
		t.Fatal(err)
	}
	if got := b.server().Held; got != 0 {
		t.Errorf("%d questions are still held back", got)
	}
}

func TestTimeoutDoesNotCountThePerson(t *testing.T) {
	const limit = 50 * time.Millisecond
	inside(t, "asks", inspection.Config{CallTimeout: limit}, func(b *bench) {
		call := b.call("ask")
		q := b.question(1)
		time.Sleep(2 * limit) // the person takes longer than the limit
		b.answer(q.Number, accept(`{}`))
		got, text := b.done(call.Number)
		if got.State != conversation.Done || got.Waited < limit {
			b.Errorf("call is %s after waiting %s for the person: %s", got.State, got.Waited, text)
		}
	})
}

func init() {
	rawServers["slow"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"never"}, func(request) {})
	}
}

func TestTimeoutEndsTheCall(t *testing.T) {
	inside(t, "slow", inspection.Config{CallTimeout: 50 * time.Millisecond}, func(b *bench) {
		got, text := b.done(b.call("never").Number)
		if got.State != conversation.Failed || !strings.Contains(text, "timed out after 50 ms") {
			b.Errorf("call is %s: %s", got.State, text)
		}
		b.until("the cancellation", func() bool { return strings.Contains(b.transcript(), `"method":"notifications/cancelled"`) })
	})
}

func init() {
	rawServers["gated"] = func(s *rawServer) {
		var tries int
		s.serve("2025-11-25", []string{"report", "broken", "complete-first"}, func(call request) {
			tries++
			switch {
			case call.tool() == "broken":
				s.fail(call, -32042, "sign in", `{"elicitations":"no"}`)
			case tries == 1:
				if call.tool() == "complete-first" {
					s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"stranger"}}`)
				}
				s.fail(call, -32042, "sign in", `{"elicitations":[{"mode":"url","message":"Sign in, please","url":"https://example.com/a","elicitationId":"e1"}]}`)
				s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
			default:
				s.text(call, fmt.Sprintf("try %d", tries))
			}
		})
	}
}

func TestURLRequired(t *testing.T) {
	b := start(t, "gated", conversation.ClientSettings{})
	call := b.call("complete-first")
	q := b.question(1)
	if q.Via != elicit.InError || q.Request.URL != "https://example.com/a" || q.Call != call.Number {
		t.Errorf("question %+v", q)
	}
	// The completion may arrive before the consent, and still counts.
	b.answer(1, live.Answer{Action: "accept"})
	got, text := b.done(call.Number)
	if got.State != conversation.Done || text != "try 2" || len(got.Rounds) != 2 {
		t.Errorf("call is %s after %d rounds: %s", got.State, len(got.Rounds), text)
	}
	if q := b.question(1); q.Completion != conversation.CompletionDone {
		t.Errorf("completion is %d", q.Completion)
	}
	got, text = b.done(b.call("broken").Number)
	if got.State != conversation.Failed || !strings.Contains(text, "-32042") {
		t.Errorf("call is %s: %s", got.State, text)
	}
}

func TestURLTurnedDown(t *testing.T) {
	b := start(t, "gated", conversation.ClientSettings{})
	call := b.call("report")
	b.question(1)
	b.answer(1, live.Answer{Action: "decline"})
	got, text := b.done(call.Number)
	if got.State != conversation.Failed || !strings.Contains(text, "-32042") || len(got.Rounds) != 1 {
		t.Errorf("call is %s after %d rounds: %s", got.State, len(got.Rounds), text)
	}
}

func init() {
	rawServers["endless"] = func(s *rawServer) {
		rounds := 0
		s.serve("2026-07-28", []string{"more", "visit"}, func(call request) {
			rounds++
			switch {
			case call.tool() == "visit" && rounds < 3:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"u":{"method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/%d"}}}}`, rounds)
			case rounds == 12:
				s.text(call, "enough")
			default:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Again %d?","requestedSchema":{"type":"object","properties":{}}}}}}`, rounds)
			}
		})
	}
}

func TestThePersonIsAskedAfterTenRounds(t *testing.T) {
	b := start(t, "endless", conversation.ClientSettings{})
	call := b.call("more")
	for n := 1; n <= 10; n++ {
		b.question(n)
		b.answer(n, accept(`{}`))
	}
	b.until("the pause", func() bool { c, _ := b.in.Call(call.Number); return c.Paused })
	if err := b.in.Retry(call.Number); err != nil {
		t.Fatal(err)
	}
	b.question(11)
	b.answer(11, accept(`{}`))
	if got, text := b.done(call.Number); text != "enough" || len(got.Rounds) != 12 {
		t.Errorf("after %d rounds: %s", len(got.Rounds), text)
	}
}

func TestURLRoundsWaitForThePerson(t *testing.T) {
	b := start(t, "endless", conversation.ClientSettings{})
	call := b.call("visit")
	b.question(1)
	b.answer(1, live.Answer{Action: "accept"})
	if q := b.question(1); q.Completion != conversation.CompletionAwaited {
		t.Errorf("completion is %d, want awaited", q.Completion)
	}
	if err := b.in.Retry(call.Number); err != nil {
		t.Fatal(err)
	}
	q := b.question(2)
	if q.Request.URL != "https://example.com/2" {
		t.Errorf("second URL is %s", q.Request.URL)
	}
	b.answer(2, live.Answer{Action: "accept"})
	if err := b.in.RetryEvery(call.Number, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	b.question(3)
}

func init() {
	rawServers["patient"] = func(s *rawServer) {
		rounds := 0
		s.serve("2026-07-28", []string{"visit"}, func(call request) {
			rounds++
			if rounds == 4 {
				s.text(call, "thank you")
			} else {
				s.reply(call, `{"resultType":"input_required","inputRequests":{"u":{"method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/"}}}}`)
			}
		})
	}
}

func TestOneConsentLastsForRetriesByTheClock(t *testing.T) {
	b := start(t, "patient", conversation.ClientSettings{})
	call := b.call("visit")
	b.question(1)
	b.answer(1, live.Answer{Action: "accept"})
	if err := b.in.RetryEvery(call.Number, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	got, text := b.done(call.Number)
	if text != "thank you" || len(got.Rounds) != 4 {
		t.Errorf("after %d rounds: %s", len(got.Rounds), text)
	}
	for n := range 3 {
		if q := b.question(n + 1); q.State != conversation.Answered || q.By != conversation.ByPerson {
			t.Errorf("question %d is %s by %s", n+1, q.State, q.By)
		}
	}
}

func TestFindings(t *testing.T) {
	b := start(t, "asks", conversation.ClientSettings{})
	b.call("ask")
	q := b.question(1)
	b.answer(1, accept(`{}`))
	b.done(1)
	if err := b.in.SetPolicy("s1", conversation.PolicyAsk); err != nil {
		t.Fatal(err)
	}
	if len(q.Findings) != 0 || len(b.judged()) != 0 {
		t.Errorf("a plain question has findings: %v", b.judged())
	}

	b = start(t, "gated", conversation.ClientSettings{Protocol: mcp.Revision20251125})
	b.done(b.call("broken").Number)
	f := b.judged()[0]
	if got := b.in.Found(f.Seq); len(got) == 0 || !strings.HasPrefix(f.Pointer, "/error") || b.server().Findings[f.Severity] == 0 {
		t.Errorf("finding %+v, at its frame %v", f, got)
	}
}

func init() {
	// asks for a visit of a URL in the first round, or for eleven empty rounds.
	rawServers["visits"] = func(s *rawServer) {
		rounds := 0
		s.serve("2026-07-28", []string{"visit", "many"}, func(call request) {
			rounds++
			switch {
			case call.tool() == "many" && rounds <= 10:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Again?","requestedSchema":{"type":"object","properties":{}}}}}}`)
			case call.tool() == "visit" && rounds == 1:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"u":{"method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/"}}}}`)
			default:
				// No answer: the call runs into its limit.
			}
		})
	}
}

// The time in which a person visits a URL, or decides whether to go on, does not count
// for the limit.
func TestTimeoutDoesNotCountVisitsAndPauses(t *testing.T) {
	const limit = 3 * time.Second // longer than the pauses between the rounds
	cases := []struct {
		tool   string
		policy conversation.Policy
		busy   func(*bench, inspection.Call) // until the person has nothing left to answer
	}{
		{"visit", conversation.PolicyAsk, func(b *bench, _ inspection.Call) {
			b.question(1)
			b.answer(1, live.Answer{Action: "accept"})
		}},
		{"many", conversation.PolicyDefaults, func(b *bench, call inspection.Call) {
			b.until("the pause", func() bool { c, _ := b.in.Call(call.Number); return c.Paused })
		}},
	}
	for _, c := range cases {
		t.Run(c.tool, func(t *testing.T) {
			inside(t, "visits", inspection.Config{}, func(b *bench) {
				// Before the call: a question that is on show already stays with the person.
				if err := b.in.SetPolicy("s1", c.policy); err != nil {
					b.Fatal(err)
				}
				call := b.callWithin(c.tool, limit)
				c.busy(b, call)
				b.until("the person's turn", func() bool { c, _ := b.in.Call(call.Number); return c.Yours && c.Waiting == 0 })
				time.Sleep(limit * 3 / 2) // the person takes longer than the limit
				if got, _ := b.in.Call(call.Number); got.State.Over() || got.Waited < limit {
					b.Fatalf("call is %s, the person was waited for %s: %s", got.State, got.Waited, got.Failure)
				}
				if err := b.in.Retry(call.Number); err != nil {
					b.Fatal(err)
				}
				got, text := b.done(call.Number)
				if got.Yours || !strings.Contains(text, "timed out after "+wording.Duration(limit)) || got.Counted != limit {
					b.Errorf("call took %s, of which %s for the person: %s", got.Duration, got.Waited, text)
				}
			})
		})
	}
}

func init() {
	// logs to standard output, a frequent mistake.
	rawServers["chatty"] = func(s *rawServer) {
		fmt.Println("listening on stdin…")
		fmt.Println(`[{"jsonrpc":"2.0","method":"notifications/message"}]`)
		s.serve("2025-11-25", []string{"flood"}, func(call request) {
			for range 500 {
				fmt.Println("working")
			}
			s.text(call, "done")
		})
	}
}

// Standard output may only contain messages. Other output is a finding with its frame,
// reported only a few times.
func TestNoiseIsFound(t *testing.T) {
	b := start(t, "chatty", conversation.ClientSettings{})
	found := b.judged()
	if len(found) != 2 || found[0].Rule != "stdout-noise" || found[0].Severity != lint.Violation || !strings.Contains(found[1].Text, "JSON, but not a message") {
		t.Fatalf("the linter says %+v", found)
	}
	if at := b.in.Found(found[0].Seq); len(at) != 1 || b.server().Findings[lint.Violation] != 2 {
		t.Errorf("at its frame: %+v; in all %v", at, b.server().Findings)
	}
	if _, text := b.done(b.call("flood").Number); text != "done" {
		t.Errorf("the call ended with %q", text)
	}
	if n := len(b.judged()); n != 100 {
		t.Errorf("%d findings, want 100", n)
	}
}

// A server that writes only messages to standard output has no finding, even if it logs
// to standard error.
func TestNoNoiseIsNoFinding(t *testing.T) {
	b := start(t, "never", conversation.ClientSettings{})
	b.until("something on stderr", func() bool { return len(b.server().Stderr) > 0 })
	if found := b.judged(); len(found) > 0 {
		t.Errorf("the linter says %+v", found)
	}
}

func init() {
	// crashes as a Go program does, with more goroutines than there are lines that are kept.
	rawServers["panics"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"work"}, func(request) {
			fmt.Fprintln(os.Stderr, "starting\npanic: assignment to entry in nil map\n"+strings.Repeat("\ngoroutine 7 [select]:\nmain.work()\n\t/srv/main.go:12 +0x4e\n", 20))
			os.Exit(2)
		})
	}
}

// The line that says why a process crashed is known however much of a stack trace comes
// after it.
func TestCauseOfACrash(t *testing.T) {
	t.Parallel()
	b := start(t, "panics", conversation.ClientSettings{})
	b.call("work")
	b.until("the crash", func() bool { return b.server().State == conversation.ServerEnded })
	if s := b.server(); s.Cause != "panic: assignment to entry in nil map" || slices.Contains(s.Stderr, s.Cause) {
		t.Errorf("%q, and the last lines are %q", s.Cause, s.Stderr)
	}
}

func init() {
	// asks for a visit of a URL, and then many other questions.
	rawServers["awaits"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"visit", "many", "complete"}, func(call request) {
			switch call.tool() {
			case "visit":
				s.write(`{"jsonrpc":"2.0","id":"u","method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/","elicitationId":"e1"}}`)
				s.read()
			case "many":
				for i := range 400 {
					s.write(plainQuestion, fmt.Sprint(i))
					s.read()
				}
			case "complete":
				s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
			}
			s.text(call, "done")
		})
	}
}

// A URL that is being visited stays on show after any number of later questions.
func TestAwaitedURLsStay(t *testing.T) {
	t.Parallel()
	b := start(t, "awaits", conversation.ClientSettings{})
	visit := b.call("visit")
	b.question(1)
	b.answer(1, live.Answer{Action: "accept"})
	b.done(visit.Number)
	if err := b.in.SetPolicy("s1", conversation.PolicyDecline); err != nil {
		t.Fatal(err)
	}
	b.done(b.call("many").Number)
	b.until("the answers", func() bool { q, err := b.in.Question(401); return err == nil && q.AnswerSeq != 0 })
	shown := b.in.OnShow(40)
	if len(shown) != 41 || shown[0].Number != 1 || !shown[0].Awaited || shown[0].Request == nil {
		t.Fatalf("%d questions on show, the first is %+v", len(shown), shown[0])
	}
	b.done(b.call("complete").Number)
	if q := b.question(1); q.Completion != conversation.CompletionDone || q.Awaited {
		t.Errorf("completion is %d, awaited: %v", q.Completion, q.Awaited)
	}
	if shown = b.in.OnShow(40); len(shown) != 40 || shown[0].Number == 1 {
		t.Errorf("%d questions on show, the first is %d", len(shown), shown[0].Number)
	}
}

func init() {
	// sends very long texts.
	rawServers["wordy"] = func(s *rawServer) {
		long := strings.Repeat("é", 100_000)
		s.serve("2025-11-25", []string{"tell"}, func(call request) {
			s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}`, long)
			s.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1-1","progress":1,"message":"%s"}}`, long)
			s.write(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"%s","requestedSchema":{"type":"object","properties":{}}}}`, long)
			s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"%s"}}`, long)
			s.fail(call, -32603, long, "")
		})
	}
}

// A timeline shortens each text, so that its size is limited.
func TestTimelineIsBounded(t *testing.T) {
	t.Parallel()
	b := start(t, "wordy", conversation.ClientSettings{})
	call, _ := b.done(b.call("tell").Number)
	if len(call.Steps) < 5 {
		t.Fatalf("steps %+v", call.Steps)
	}
	for _, step := range call.Steps {
		if n := len([]rune(step.Text)); n > 600 {
			t.Errorf("%s: %d characters", step.Kind, n)
		}
	}
	if n := len([]rune(call.Progress.Message)); n > 600 {
		t.Errorf("progress: %d characters", n)
	}
	if q := b.question(1); len([]rune(q.Reason)) > 600 || len(q.Request.Message) < 100_000 {
		t.Errorf("question: %d bytes of message, %d of reason", len(q.Request.Message), len(q.Reason))
	}
}
