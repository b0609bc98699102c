package inspection_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
)

func init() {
	rawServers["sly"] = func(s *rawServer) {
		var waiting []request
		calls := 0
		s.serve("2025-11-25", []string{"wait", "end", "spoof", "reuse", "early", "complete"}, func(call request) {
			calls++
			switch call.tool() {
			case "wait":
				if waiting = append(waiting, call); len(waiting) == 2 {
					s.write(plainQuestion, `"g"`)
				}
			case "end": // answers the waiting calls, the latest first, and then itself
				for i := len(waiting) - 1; i >= 0; i-- {
					s.text(waiting[i], "done")
				}
				s.text(call, "done")
			case "spoof":
				s.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1-1","progress":7}}`)
				s.text(call, "done")
			case "reuse", "early": // the same elicitationId for every question
				s.write(`{"jsonrpc":"2.0","id":"u%d","method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/","elicitationId":"e1"}}`, calls)
				if call.tool() == "early" {
					s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
				}
				s.read()
				s.text(call, "done")
			case "complete":
				s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
				s.text(call, "done")
			}
		})
	}
}

// A question whose call was guessed among several is withdrawn when none of them is left.
func TestGuessedQuestionsEndWithTheLastCall(t *testing.T) {
	b := start(t, "sly", conversation.ClientSettings{})
	b.call("wait")
	b.until("the first request", func() bool { return b.sent("tools/call") == 1 })
	b.call("wait")
	if q := b.question(1); !q.Guessed {
		t.Errorf("the question belongs to call %d, and that is no guess", q.Call)
	}
	b.call("end")
	for n := range 3 {
		b.done(n + 1)
	}
	if q := b.question(1); q.State != conversation.Withdrawn || !strings.Contains(q.Reason, "ended") {
		t.Errorf("the question is %s: %q", q.State, q.Reason)
	}
}

func init() {
	rawServers["crowd"] = func(s *rawServer) {
		var first request
		s.serve("2025-11-25", []string{"ask", "flood"}, func(call request) {
			if call.tool() == "ask" {
				first = call
				s.write(plainQuestion, `"a"`)
				return
			}
			for i := range 5 {
				s.write(plainQuestion, fmt.Sprint(i))
			}
			s.text(call, "done")
			s.text(first, "done")
		})
	}
}

// While two calls run, every question has a guessed call, and ends with the last of the
// calls.
func TestManyGuessedQuestions(t *testing.T) {
	b := start(t, "crowd", conversation.ClientSettings{})
	b.call("ask")
	b.question(1)
	flood := b.call("flood")
	for n := 2; n <= 6; n++ {
		if q := b.question(n); q.Call != flood.Number || !q.Guessed {
			t.Errorf("question %d is of call %d, by guess: %v", n, q.Call, q.Guessed)
		}
	}
	b.done(1)
	b.done(flood.Number)
	for n := 1; n <= 6; n++ {
		if q := b.question(n); q.State != conversation.Withdrawn {
			t.Errorf("question %d is %s", n, q.State)
		}
	}
}

// A completion for a reused elicitationId completes the pending URL, not the settled one.
func TestCompletionOfAnIDUsedAgain(t *testing.T) {
	b := start(t, "sly", conversation.ClientSettings{})
	for n, action := range []string{"decline", "accept"} {
		call := b.call("reuse")
		b.question(n + 1)
		b.answer(n+1, live.Answer{Action: action})
		b.done(call.Number)
	}
	b.done(b.call("complete").Number)
	if q := b.question(1); q.Completion != conversation.CompletionNone {
		t.Errorf("the first, which was declined: completion %d", q.Completion)
	}
	if q := b.question(2); q.Completion != conversation.CompletionDone {
		t.Errorf("the second: completion %d", q.Completion)
	}
	b.done(b.call("complete").Number) // a second time is harmless
	call := b.call("early")
	b.until("the early completion", func() bool { return b.question(3).Completion == conversation.CompletionDone })
	b.answer(3, live.Answer{Action: "accept"})
	b.done(call.Number)
	if q := b.question(3); q.Completion != conversation.CompletionDone {
		t.Errorf("the third, which was completed early: completion %d", q.Completion)
	}
}

// A server cannot affect the calls and questions of another server.
func TestServersDoNotMeddle(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var targets []target.Spec
	for _, name := range []string{"one", "two"} {
		targets = append(targets, target.Spec{Name: name, Command: []string{self}, Env: []string{serverEnv + "=sly"}})
	}
	b := startInspection(t, inspection.Config{Targets: targets})
	b.until("the other server", func() bool { return b.in.Servers()[1].State == conversation.ServerReady })
	first := b.call("wait")
	second, err := b.in.Begin(live.Request{Server: "s2", Kind: conversation.Tool, Name: "spoof", Key: "spoof"})
	if err != nil {
		t.Fatal(err)
	}
	b.done(second.Number)
	if c, _ := b.in.Call(first.Number); c.Progress != nil {
		t.Errorf("the first call has progress %+v", c.Progress)
	}
}

// Malformed data in error -32042 ends the call with a reason, and leaves no question
// open.
func TestMalformedURLErrors(t *testing.T) {
	cases := []struct{ data, want string }{
		{``, "no data"},
		{`null`, "cannot be read"},
		{`"x"`, "cannot be read"},
		{`[]`, "cannot be read"},
		{`{}`, "nothing to visit"},
		{`{"elicitations":null}`, "nothing to visit"},
		{`{"elicitations":{}}`, "cannot be read"},
		{`{"elicitations":[]}`, "nothing to visit"},
		{`{"elicitations":[null]}`, "cannot be read"},
		{`{"elicitations":[7,"x"]}`, "cannot be read"},
		{`{"elicitations":[{"mode":"url","message":7,"url":"https://example.com/"}]}`, "message"},
		{`{"elicitations":[{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}]}`, "can only ask for URLs"},
		{`{"elicitations":[{"mode":"smoke","message":"?"}]}`, "no elicitation mode"},
	}
	n := 0
	s := &rawHTTP{call: func(w http.ResponseWriter, r request) {
		data := ""
		if cases[n].data != "" {
			data = `,"data":` + cases[n].data
		}
		event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"sign in"%s}}`, r.ID, data))
	}}
	serveHTTP(t, s)
	b := startHTTP(t, s, inspection.Config{})
	for i, c := range cases {
		n = i
		got, _ := b.done(b.call("ask").Number)
		said := got.Steps[len(got.Steps)-1].Text
		for _, q := range b.in.Questions() {
			if q.Call == got.Number {
				said += "; " + q.Reason
				if q.State != conversation.Refused {
					t.Errorf("%s: question is %s", c.data, q.State)
				}
			}
		}
		if got.State != conversation.Failed || !strings.Contains(said, c.want) {
			t.Errorf("%s: call is %s: %s; want %q", c.data, got.State, said, c.want)
		}
	}
}

// After Close, no goroutine is left.
func TestNothingIsLeftBehind(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 3 {
		t.Run("", func(t *testing.T) {
			s := serveHTTP(t, &rawHTTP{call: func(_ http.ResponseWriter, r request) { <-r.ctx.Done() }})
			d := demo.New(demo.Options{})
			t.Cleanup(func() { _ = d.Close() })
			b := startInspection(t, inspection.Config{Targets: []target.Spec{
				{Name: "process", Command: []string{self}, Env: []string{serverEnv + "=asks"}},
				{Name: "http", URL: s.address},
				{Name: "demo", Builtin: d.ServeLines},
			}})
			b.until("all servers", func() bool {
				for _, s := range b.in.Servers() {
					if s.State != conversation.ServerReady {
						return false
					}
				}
				return true
			})
			b.call("ask")
			b.question(1)
			if _, err := b.in.Begin(live.Request{Server: "s2", Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
				t.Fatal(err)
			}
			if err := b.in.Reconnect("s3"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := b.in.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	// Connections of the test's own servers take a moment to end.
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after:\n%s", before, after, stacks[:runtime.Stack(stacks, true)])
	}
}

func init() {
	// sends requests for capabilities that the client has not declared.
	rawServers["presumes"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"all"}, func(call request) {
			said := ""
			for _, method := range []string{"sampling/createMessage", "roots/list", "tea/make"} {
				s.write(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{}}`, method, method)
				answer, ok := s.read()
				if !ok {
					return
				}
				said += string(answer.ID) + " " + string(answer.Result) + string(answer.Error) + "\n"
			}
			s.text(call, said)
		})
	}
}

// Requests for an undeclared capability get the error -32601.
func TestUndeclaredCapabilities(t *testing.T) {
	b := start(t, "presumes", conversation.ClientSettings{})
	_, text := b.done(b.call("all").Number)
	if n := strings.Count(text, `"code":-32601`); n != 3 || strings.Contains(text, `"roots":`) {
		t.Errorf("the server got\n%s", text)
	}
	var rules []string
	for _, f := range b.judged() {
		rules = append(rules, f.Rule+f.Pointer)
	}
	if fmt.Sprint(rules) != "[sampling-undeclared/method roots-undeclared/method]" {
		t.Errorf("the linter says %v", rules)
	}
	// In a round such requests are put to the person, so that the round can be answered.
	b = start(t, "odd-rounds", conversation.ClientSettings{})
	call := b.call("mixed")
	b.question(3)
	n := 0
	for _, f := range b.judged() {
		if !strings.HasSuffix(f.Rule, "-undeclared") {
			continue
		}
		if n++; f.Call != call.Number || f.Question == 0 || !strings.HasSuffix(f.Pointer, "/method") {
			t.Errorf("the linter says %+v", f)
		}
	}
	if n != 2 {
		t.Errorf("the linter says so %d times", n)
	}
}

// A result that asks for input shows why the input cannot be given.
func TestInputThatCannotBeGiven(t *testing.T) {
	for raw, want := range map[string]string{
		`{"resultType":"input_required"}`:                                "asks for nothing",
		`{"resultType":"input_required","inputRequests":{}}`:             "no call has further rounds",
		`{"resultType":"input_required","inputRequests":[]}`:             "not an object",
		`{"resultType":"input_required","requestState":"x"}`:             "no call has further rounds",
		`{"resultType":"input_required","inputRequests":{"a":{}}}`:       "no call has further rounds",
		`{"resultType":"input_required","inputRequests":{},"content":7}`: "",
	} {
		r, err := conversation.ReadResult([]byte(raw))
		if want == "" {
			if err == nil {
				t.Errorf("%s is read", raw)
			}
			continue
		}
		if err != nil || len(r.Content) != 1 || !strings.Contains(r.Content[0].Problem, want) {
			t.Errorf("%s: %+v, %v; want %q", raw, r.Content, err, want)
		}
	}
}
