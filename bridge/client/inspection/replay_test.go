package inspection_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire"
)

// recordDemo calls tools of the demo server, answers their questions, and returns the
// inspection and the file of its transcript.
func recordDemo(t *testing.T, settings conversation.ClientSettings, tools []string) (*bench, string) {
	t.Helper()
	server := demo.New(demo.Options{})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the demo server: %v", err)
		}
	})
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	recorder, err := wire.OpenRecorder(file, wire.RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	log.Record(recorder)
	in := inspection.New(inspection.Config{
		Targets: []target.Spec{{Name: "demo", Builtin: server.ServeLines}}, Settings: settings, Log: log, Version: "test",
	})
	b := &bench{t, in, log, in.Subscribe()}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := in.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
		if err := recorder.Close(); err != nil {
			t.Errorf("closing the transcript: %v", err)
		}
		if err := log.Close(); err != nil {
			t.Errorf("closing the log: %v", err)
		}
	})
	in.Start()
	b.until("the demo server's tools", func() bool {
		c, err := in.Catalog("s1")
		return err == nil && !c.Loading && len(c.Items) > 0
	})
	for i, tool := range tools {
		c := b.call(tool)
		actions := []string{"accept", "decline", "cancel"}[i%2:]
		told, stopped := b.sent("notifications/cancelled"), 0
		b.until("the end of "+tool, func() bool {
			for _, q := range in.Questions() {
				switch {
				case q.Call != c.Number || q.AskedSeq == 0:
				case q.State == conversation.Pending:
					if err := in.Answer(q.Number, someAnswer(q, actions[0])); err != nil {
						t.Fatal(err)
					}
					if actions = actions[1:]; len(actions) == 0 {
						actions = []string{"accept"}
					}
				case q.Completion == conversation.CompletionAwaited && q.Via == elicit.InError:
					if err := in.MarkCompleted(q.Number); err != nil {
						t.Fatal(err)
					}
				case q.Via == elicit.ByRequest && tool == "suspicious_link":
					// The tool does not wait for the visit: stopping it would race with
					// its result.
				case q.Completion == conversation.CompletionAwaited && (q.Via == elicit.InRound || q.AnswerSeq != 0):
					// Nobody will visit the page.
					if err := in.Stop(c.Number); err != nil {
						t.Fatal(err)
					}
					if q.Via == elicit.ByRequest { // the server gets a cancellation only if a request is in flight
						stopped = 1
					}
				}
			}
			c, err := in.Call(c.Number)
			return err == nil && c.State.Over()
		})
		// A question of the next call may be taken for one of this call until the server
		// gets the cancellation.
		b.until("that the server is told", func() bool { return b.sent("notifications/cancelled") >= told+stopped })
	}
	return b, file
}

func someAnswer(q inspection.Question, action string) live.Answer {
	a := live.Answer{Action: action, Actor: conversation.ByPerson}
	if action == "accept" && q.Request != nil && q.Request.Mode == elicit.ModeForm {
		a.Content, _ = elicit.Content(q.Request.Fields, elicit.Defaults(q.Request.Fields))
	}
	return a
}

// replayOf opens a transcript and shows the whole of it.
func replayOf(t *testing.T, files ...string) *inspection.Replay {
	t.Helper()
	log, err := wire.Open(files...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(func() {
		cancel()
		if err := log.Close(); err != nil {
			t.Errorf("closing the transcript: %v", err)
		}
	})
	if err := log.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	r := inspection.NewReplay(log, nil, nil)
	if err := r.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

// tell returns the parts of an inspection that a transcript keeps, one per line.
func tell(in *inspection.Inspection) string {
	var b strings.Builder
	for _, s := range in.Servers() {
		fmt.Fprintf(&b, "server %s %s %q %q %q, %s by %s, offers %q, declares %s sampling %t roots %t, says %q\n", s.ID, s.Label, s.Info.Name, s.Info.Title, s.Info.Version,
			s.Info.Protocol, s.Info.Negotiated, s.Info.Capabilities, s.Settings.Declared(), s.Settings.Sampling, s.Settings.Roots, s.Info.Instructions)
		c, err := in.Catalog(s.ID)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
		for _, i := range c.Items {
			fmt.Fprintf(&b, "\t%s %q %q %q %q %s\n", i.Kind, i.Key, i.Name, i.Title, i.Description, i.Schema)
		}
	}
	for _, c := range in.Calls() {
		if c.State == conversation.Stopped { // messages that arrive meanwhile may count or not
			c.Logs = 0
		}
		fmt.Fprintf(&b, "call %d of %s %q %q with %s: %s in %d rounds, #%d to #%d, isError %t, %q, unsent %q, %d steps left out, %d log messages, progress %s\n", c.Number, c.Request.Kind, c.Request.Name, c.Request.Key,
			c.Request.Arguments, c.State, len(c.Rounds), c.LastRequest(), c.ResultSeq, c.State == conversation.ToolFailed, c.Failure, c.Unsent, c.Dropped, c.Logs, progressOf(c))
		fmt.Fprintf(&b, "\ttook %s, %s with the person, %s with the server\n", c.Duration, c.Waited, c.Served)
		for _, s := range inAnyOrder(c) {
			fmt.Fprintf(&b, "\t%s %q #%d question %d at %s\n", s.Kind, s.Text, s.Seq, s.Question, s.At.Sub(c.Start))
		}
	}
	for _, q := range in.Questions() {
		next := in.Next(q)
		fmt.Fprintf(&b, "question %d of call %d %q, guessed %t, round %d %q %s by %d: %s %s #%d.%d: %s %s by %s %q #%d, completion %d, awaited %t, %d findings, waited %s, then %s #%d\n", q.Number, q.Call, q.CallName,
			q.Guessed, q.Round, q.Key, q.Carried(), q.Via, q.Method, q.Params, q.AskedSeq, q.Place, q.State, q.Answer, q.By, q.Reason, q.AnswerSeq,
			q.Completion, q.Awaited, len(q.Findings), q.Waited, next.Text, next.Seq)
	}
	for _, f := range in.Findings("") {
		if f.Question == 0 {
			fmt.Fprintf(&b, "finding %s at #%d %s, call %d\n", f.Rule, f.Seq, f.Pointer, f.Call)
		}
	}
	return strings.ReplaceAll(b.String(), "stopped by you", "stopped")
}

func progressOf(c inspection.Call) string {
	if c.Progress == nil {
		return "unknown"
	}
	return fmt.Sprint(*c.Progress)
}

// inAnyOrder sorts adjacent steps whose order may vary: an answer is given before it is
// on the wire, and other steps may come between.
func inAnyOrder(c inspection.Call) []conversation.Step {
	steps := slices.Clone(c.Steps)
	if c.State == conversation.Stopped { // messages that arrive meanwhile may count or not
		steps = slices.DeleteFunc(steps, func(s conversation.Step) bool { return s.Kind == conversation.StepLog })
	}
	free := func(s conversation.Step) bool {
		switch s.Kind {
		case conversation.StepAnswered, conversation.StepLog, conversation.StepProgress:
			return true
		case conversation.StepAsked:
			return c.Request.Key == "plan_trip" // asks several questions at once
		}
		return false
	}
	for i := range steps {
		end := i
		for end < len(steps) && free(steps[end]) {
			end++
		}
		slices.SortFunc(steps[i:end], func(a, b conversation.Step) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Question, b.Question))
		})
	}
	return steps
}

// A transcript shows the same as the live inspection.
func TestReplayIsAsLive(t *testing.T) {
	t.Parallel()
	tools := []string{
		"deploy", "transfer_money", "book_table", "delete_files", "onboard", "every_field", "connect_calendar",
		"connect_mailbox", "protected_report", "protected_report", "suspicious_link", "plan_trip", "pay_invoice",
		"export_photos", "haggle", "who_am_i", "show_result", "rule_breaker",
	}
	for _, revision := range mcp.Revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			b, file := recordDemo(t, conversation.ClientSettings{Protocol: revision}, tools)
			r := replayOf(t, file)
			var live, replayed string
			same := func() bool {
				live, replayed = tell(b.in), tell(r.Inspection())
				return live == replayed
			}
			deadline := time.Now().Add(patience)
			for !same() && time.Now().Before(deadline) { // the linter runs in its own goroutine
				time.Sleep(20 * time.Millisecond)
			}
			if live != replayed {
				t.Error(firstDifference(live, replayed))
			}
			if !strings.Contains(live, "question 12") {
				t.Errorf("too little was asked:\n%s", live)
			}
		})
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			from := max(0, i-3)
			return fmt.Sprintf("line %d: want\n%s\ngot\n%s", i+1, strings.Join(a[from:min(len(a), i+8)], "\n"), strings.Join(b[min(from, len(b)):min(len(b), i+8)], "\n"))
		}
	}
	return "got more than wanted"
}

// If a transcript ends neither a question nor its call, the question is withdrawn by
// nobody. This includes questions in error -32042, after which the call could be
// repeated.
func TestReplayOfQuestionWithoutEnd(t *testing.T) {
	t.Parallel()
	const request = `{"session_id":"a","server_label":"s","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"stdio","call":1,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}` + "\n"
	for how, asked := range map[string]string{
		"by request": `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}`,
		"in a round": `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}}}}`,
		"in error":   `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","elicitationId":"e","message":"Sign in","url":"https://example.com/auth"}]}}}`,
	} {
		file := filepath.Join(t.TempDir(), "flow.jsonl")
		text := request + `{"session_id":"a","server_label":"s","seq":2,"ts":"2026-07-28T10:00:03Z","direction":"s2c","transport":"stdio","call":1,"elicitation":1,"raw":` + asked + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		questions := replayOf(t, file).Inspection().Questions()
		if len(questions) != 1 {
			t.Errorf("%s: %d questions", how, len(questions))
			continue
		}
		if q := questions[0]; q.State != conversation.Withdrawn || q.By != "" || q.Reason != "the transcript has no answer" {
			t.Errorf("%s: %s by %q: %s", how, q.State, q.By, q.Reason)
		}
	}
}

// How a server ends that is asked to end does not belong to the last question, but that it
// crashes does.
func TestReplayOfEnds(t *testing.T) {
	t.Parallel()
	for exit, want := range map[string]string{
		`"code":0`:                  "answered the call",
		`"code":1,"by":"inspector"`: "answered the call",
		`"code":1`:                  "answered the call; then process 1 exited with code 1",
	} {
		text := ""
		for i, line := range []string{
			`"direction":"c2s","call":1,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
			`"direction":"s2c","call":1,"elicitation":1,"raw":{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}`,
			`"direction":"c2s","call":1,"elicitation":1,"actor":"person","raw":{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`,
			`"direction":"s2c","call":1,"raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
			`"direction":"meta","note":{"kind":"process-exited","pid":1,` + exit + `},"text":"the end"`,
		} {
			text += fmt.Sprintf(`{"v":1,"session_id":"a","server_label":"s","transport":"stdio","seq":%d,"ts":"2026-07-28T10:00:0%dZ",%s}`+"\n", i+1, i, line)
		}
		file := filepath.Join(t.TempDir(), "flow.jsonl")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in := replayOf(t, file).Inspection()
		q, err := in.Question(1)
		if next := in.Next(q); err != nil || next.Text != want || next.Seq != 4 {
			t.Errorf("%s: then the server %q, #%d, %v", exit, next.Text, next.Seq, err)
		}
	}
}

// When a call ends, its clocks stop and its question is settled, even if the server ends
// later.
func TestReplayOfCallThatEndedBeforeItsServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	text := ""
	for _, line := range []string{
		`"seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"stdio","call":1,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
		`"seq":2,"ts":"2026-07-28T10:00:01Z","direction":"s2c","transport":"stdio","call":1,"round":1,"raw":{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}}}}`,
		`"seq":3,"ts":"2026-07-28T10:00:04Z","direction":"meta","transport":"stdio","call":1,"note":{"kind":"ended","why":"the inspector was closed","state":"failed","at":"2026-07-28T10:00:04Z"}`,
		`"seq":4,"ts":"2026-07-28T10:00:09Z","direction":"meta","transport":"stdio","note":{"kind":"process-exited","pid":1,"code":0},"text":"process 1 exited with code 0"`,
	} {
		text += `{"v":1,"session_id":"a","server_label":"s",` + line + "}\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in := replayOf(t, file).Inspection()
	calls, questions := in.Calls(), in.Questions()
	if len(calls) != 1 || len(questions) != 1 {
		t.Fatalf("%d calls, %d questions", len(calls), len(questions))
	}
	if c := calls[0]; c.Duration != 4*time.Second || c.Waited != 3*time.Second {
		t.Errorf("the call took %s, of which the person %s", c.Duration, c.Waited)
	}
	if q := questions[0]; q.By != conversation.ByPolicy || q.Reason != "call 1 ended" {
		t.Errorf("%s by %q: %s", q.State, q.By, q.Reason)
	}
}
