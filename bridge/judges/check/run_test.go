package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/logtest"
)

// builtin configures a check of the demo server in this process, with a clock that stands
// still.
func builtin(t *testing.T) Options {
	t.Helper()
	server := demo.New(demo.Options{Pause: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return Options{Server: headless.Config{Target: target.Spec{Name: demo.Name, Builtin: server.ServeLines}}, Jobs: 4}
}

// ofTasks lists the behaviours that misuse a task of the server or of the client.
var ofTasks = []string{"update-twice", "unknown-update-key", "result-never-fetched", "cancel-after-answer", "poll-storm", "status-backwards", "result-before-completed", "task-forgotten"}

// TestTasksAreTried expects a check of the demo's task tools to try each behaviour of ofTasks,
// and to find nothing.
func TestTasksAreTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for key, revision := range map[string]string{"migrate_table": mcp.Revision20260728, "request_review": mcp.Revision20251125} {
		o := builtin(t)
		o.Timeout = 30 * time.Second // a busy machine takes its time, and every call ends by itself
		o.Wanted, o.Revisions, o.Behaviours = []Wanted{{Key: key}}, []string{revision}, append([]string{"null-result"}, ofTasks...)
		whole, err := Run(t.Context(), o)
		if err != nil || whole.Stopped != "" {
			t.Fatalf("%v, stopped: %s", err, whole.Stopped)
		}
		for _, r := range whole.Results {
			tried[r.Behaviour] = true
			for _, f := range r.Findings {
				t.Errorf("%s, %s: %s, %s", key, r.Behaviour, f.Rule, f.Text)
			}
		}
	}
	for _, name := range ofTasks {
		if !tried[name] {
			t.Errorf("%s was not tried", name)
		}
	}
}

// TestOfferedInAnOlderRevision expects a tool that the newest revision does not offer to be
// called in the revision that does, and in no other.
func TestOfferedInAnOlderRevision(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Behaviours = []Wanted{{Key: "request_review"}}, []string{"decline"}
	whole, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Revisions) < 2 || len(whole.Results) == 0 {
		t.Errorf("%d results in %v", len(whole.Results), whole.Revisions)
	}
	for _, r := range whole.Results {
		if r.Revision != mcp.Revision20251125 || r.Verdict != report.Pass {
			t.Errorf("%s in %s: %s", r.Behaviour, r.Revision, r.Verdict)
		}
	}
}

// TestAnswersAreRead expects the answers file in every Reproduce to be valid.
func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	rules, err := script.Parse("answers", []byte("answers: [{match: {message: \"*: {x} 'y' # \\\"z\\\"*\"}, answer: {accept: {a: {$env: HOME}}}}]\ndefault: decline"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	h := honestOf([]*script.Script{rules})
	text := h.file(rule{match: object("message", "a: {b}\n- 'c' # \"d\" *"), answer: object("fault", "late", "seconds", 2.5), delay: time.Second, times: 3})
	read, err := script.Parse("answers", []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(read.Rules) != 2 || read.Rules[0].Delay != time.Second || read.Rules[0].Times != 3 || read.Default.Action != script.Decline || string(read.Rules[1].Source) != string(rules.Rules[0].Source) {
		t.Errorf("it was read otherwise:\n%s", text)
	}
}

// TestMadeUpArguments expects made-up arguments to be valid by the input schema, or an
// error.
func TestMadeUpArguments(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object"}`: "",
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                                                                           "",
		`{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"integer","examples":[7]}},"required":["b"]}`:      `{"a":"x","b":7}`,
		`{"type":"object","properties":{"a":{"type":"integer","minimum":3,"examples":[1]},"b":{"enum":["p","q"]}},"required":["a","b"]}`:   `{"a":3,"b":"p"}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean"}},"required":["b"]}},"required":["a"]}`:   `{"a":{"b":true}}`,
		`{"type":"object","properties":{"a":{"type":"string","format":"email"},"b":{"type":"string","minLength":6}},"required":["a","b"]}`: `{"a":"made.up.4711@example.com","b":"textxx"}`,
	} {
		got, err := elicit.Arguments([]byte(schema))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", schema, got, err)
		}
	}
	for _, schema := range []string{`{"type":"object","properties":{"a":{"not":{}}},"required":["a"]}`, `{"type":"array"}`} {
		if got, err := elicit.Arguments([]byte(schema)); err == nil {
			t.Errorf("%s: %s", schema, got)
		}
	}
}

// TestProgressIsTold expects a check to report its progress.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Behaviours, o.Revisions = []Wanted{{Key: "ask"}}, []string{"accept", "never", "late"}, []string{mcp.Revision20251125}
	var all []report.Progress
	o.Progress = func(p report.Progress) { all = append(all, p) }
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	told := slices.ContainsFunc(all, func(p report.Progress) bool {
		return p.Left > 0 && p.Done < p.Total && strings.Contains(p.Now, "ask, ")
	})
	if last.Done != last.Total || last.Total != 4 || !told {
		t.Errorf("%d were told, the last is %+v", len(all), last)
	}
}

// TestProgressIsToldOften expects a report at least twice a second until the check is
// over.
func TestProgressIsToldOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		latest, longest, times := time.Now(), time.Duration(0), 0
		stop := newProgress().tell(func(report.Progress) {
			longest, latest = max(longest, time.Since(latest)), time.Now()
			times++
		})
		time.Sleep(10*time.Second + progressEvery/2)
		stop()
		if longest > 500*time.Millisecond || times < 20 || time.Since(latest) > 0 {
			t.Errorf("it was told %d times, the longest pause was %v, and the last %v before the end", times, longest, time.Since(latest))
		}
	})
}

// TestJobsAreBound expects as many working trials as there are jobs, and waiting trials
// that hold up no other.
func TestJobsAreBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const jobs = 3
		s := newSlots(jobs)
		var working atomic.Int32
		over := make(chan struct{})
		for i := range 20 {
			go s.hold(t, i%2 == 0, func(*slot) {
				working.Add(1)
				<-over
			})
		}
		synctest.Wait()
		if n := working.Load(); n != jobs {
			t.Errorf("%d work at the same time", n)
		}
		close(over)
		synctest.Wait()

		over = make(chan struct{})
		for i := range (urgentFor+plainFor)*jobs - 1 { // they wait, and leave room for one more
			go s.hold(t, i < urgentFor*jobs, func(p *slot) { p.during(func() { <-over }) })
		}
		time.Sleep(time.Minute) // of the test's own clock
		if urgent, plain := len(s.urgent), len(s.plain); urgent != urgentFor*jobs || plain != plainFor*jobs-1 {
			t.Errorf("%d urgent ones wait, and %d others", urgent, plain)
		}
		worked := false
		s.hold(t, false, func(*slot) { worked = true })
		close(over)
		synctest.Wait()
		if left := s.taken(); left != 0 || !worked {
			t.Errorf("%d places are still taken, another worked: %v", left, worked)
		}
	})
}

// TestUrgentTrialsDoNotQueue expects urgent trials to begin before others that queue for a
// place, and an interrupted trial to leave its turn to the next.
func TestUrgentTrialsDoNotQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		over := make(chan struct{})
		for range 2 * plainFor {
			go s.hold(t, false, func(p *slot) { p.during(func() { <-over }) })
		}
		time.Sleep(time.Minute) // of the test's own clock
		interrupted, interrupt := context.WithCancel(t.Context())
		go func() {
			if _, err := s.take(interrupted, false); err == nil {
				t.Error("what was interrupted has a place")
			}
		}()
		urgent := false
		go s.hold(t, true, func(*slot) { urgent = true })
		synctest.Wait()
		if !urgent || len(s.plain) != plainFor {
			t.Errorf("the urgent one began: %v, and %d others", urgent, len(s.plain))
		}
		interrupt()
		close(over)
		synctest.Wait()
		if s.taken() != 0 {
			t.Errorf("%d places are taken", s.taken())
		}
	})
}

func (s *slots) taken() int {
	return len(s.plain) + len(s.urgent) + len(s.work)
}

// hold runs do in a place of its own.
func (s *slots) hold(t *testing.T, urgent bool, do func(*slot)) {
	p, err := s.take(t.Context(), urgent)
	if err != nil {
		t.Error(err)
		return
	}
	defer p.leave()
	do(p)
}

// TestInterruptedReport expects an interrupted check to return its results so far.
func TestInterruptedReport(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Behaviours = []Wanted{{Key: "ask"}}, []string{"accept", "never"}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o.Progress = func(p report.Progress) {
		if strings.Contains(p.Now, "never") {
			interrupt()
		}
	}
	whole, err := Run(ctx, o)
	if err != nil || whole.Stopped != "interrupted" || len(whole.Calls) != 1 || len(whole.Results) == 0 {
		t.Errorf("%v: %+v", err, whole)
	}
}

// TestHangingIsSeenTwice expects a trial without a response to run again, and a failure
// only if the second run has no response either.
func TestHangingIsSeenTwice(t *testing.T) {
	t.Parallel()
	for tool, hangs := range map[string]int32{"busy": 1, "broken": 100} {
		var declined atomic.Int32
		server := sdk.NewServer(&sdk.Implementation{Name: "hanging"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: tool}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Go on?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			if err == nil && answer.Action == "decline" && declined.Add(1) <= hangs {
				<-ctx.Done()
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: tool}}}, nil, err
		})
		whole, err := Run(t.Context(), Options{
			Server: headless.Config{Target: target.Spec{Name: "hanging", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4,
			Behaviours: []string{"decline"}, Revisions: []string{mcp.Revision20251125}, Timeout: 2 * time.Second,
		})
		if err != nil || len(whole.Results) != 1 {
			t.Fatalf("%v: %+v", err, whole)
		}
		var told []string
		for _, f := range whole.Results[0].Findings {
			told = append(told, fmt.Sprint(f.Rule, " ", f.Verdict, ": ", f.Text))
		}
		all := strings.Join(told, "\n")
		if seen := strings.Contains(all, "no-response fail") && strings.Contains(all, "It was so in two trials"); seen != (tool == "broken") || declined.Load() != 2 {
			t.Errorf("%s: declined %d times\n%s", tool, declined.Load(), all)
		}
	}
}

// TestPromptsAndResources expects prompts and resources to be checked, with command lines
// that repeat the calls.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Behaviours, o.Revisions = []string{judge.BehaviourDecline, "missing-field"}, []string{mcp.Revision20251125}
	o.Wanted = []Wanted{
		{Kind: conversation.Prompt, Key: "release_notes", Arguments: json.RawMessage(`{"version":"1.4.0"}`)},
		{Kind: conversation.Resource, Key: "contract://lease/old-mill"},
	}
	whole, err := Run(t.Context(), o)
	if err != nil || whole.Stopped != "" || len(whole.Calls) != 2 {
		t.Fatalf("%v, stopped: %s, calls: %v", err, whole.Stopped, whole.Calls)
	}
	again := []string{`--prompt release_notes --args '{"version":"1.4.0"}'`, "--resource contract://lease/old-mill"}
	declined := 0
	for _, r := range whole.Results {
		if r.Verdict == report.Fail || r.Verdict == report.Warn || !strings.Contains(r.Reproduce, again[r.Call]) {
			t.Errorf("%s, %s: %s %+v, again by %s", whole.Calls[r.Call].Key, r.Behaviour, r.Outcome, r.Findings, r.Reproduce)
		}
		if r.Behaviour == judge.BehaviourDecline {
			declined++
		}
	}
	if declined < 2 {
		t.Errorf("%d questions were declined", declined)
	}
}

// TestOneDialogueAtATime expects a server that all sessions share, and that has one
// dialogue at a time, not to be blamed for the trials that wait meanwhile.
func TestOneDialogueAtATime(t *testing.T) {
	t.Parallel()
	dialogue := make(chan struct{}, 1)
	server := sdk.NewServer(&sdk.Implementation{Name: "shared", Version: "1"}, nil)
	tools := []string{"paint", "print", "post", "plant", "pay"}
	for _, name := range tools {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			// As any server, it does not wait for ever for a client that is gone.
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			select {
			case dialogue <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			defer func() { <-dialogue }()
			answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Shall it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			text := "It does not."
			if err == nil && answer.Action == "accept" {
				text = "It does."
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
	}
	listening := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(listening.Close)
	whole, err := Run(t.Context(), Options{
		Server: headless.Config{Target: target.Spec{Name: "shared", URL: listening.URL}}, Jobs: 4, Timeout: 3 * time.Second,
		Revisions: []string{mcp.Revision20251125}, Behaviours: []string{judge.BehaviourAccept, judge.BehaviourDecline, judge.BehaviourCancel, "any-error", "no-content", "never", "wrong-id", "retyped-id"},
	})
	if err != nil || whole.Stopped != "" {
		t.Fatalf("%v, stopped: %s", err, whole.Stopped)
	}
	for _, r := range whole.Results {
		for _, f := range r.Findings {
			if f.Verdict == report.Fail || f.Verdict == report.Warn {
				t.Errorf("%s, %s: %+v", whole.Calls[r.Call].Key, r.Behaviour, f)
			}
		}
	}
	if len(whole.Results) < 8*len(tools) {
		t.Errorf("%d results", len(whole.Results))
	}
}

// TestSessionsThatAreRefused expects a server that takes only clients that can be asked to
// be judged by the sessions that it takes.
func TestSessionsThatAreRefused(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "choosy", Version: "1"}, nil)
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if p, ok := r.GetParams().(*sdk.InitializeParams); ok && p.Capabilities.Elicitation == nil {
				return nil, errors.New("this server asks its client")
			}
			return next(ctx, method, r)
		}
	})
	server.AddTool(&sdk.Tool{Name: "greet", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Shall it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer.Action}}}, nil
	})
	whole, err := Run(t.Context(), Options{
		Server: headless.Config{Target: target.Spec{Name: "choosy", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4,
		Revisions: []string{mcp.Revision20251125}, Behaviours: []string{judge.BehaviourAccept, judge.BehaviourDecline, judge.BehaviourNone},
	})
	if err != nil || whole.Stopped != "" {
		t.Fatalf("%v, stopped: %s", err, whole.Stopped)
	}
	if !slices.ContainsFunc(whole.Results, func(r report.Result) bool {
		return r.Behaviour == judge.BehaviourNone && r.Verdict == report.Inconclusive
	}) {
		t.Errorf("%+v", whole.Results)
	}
}

// TestNewSessionIsStarted expects the behaviour new-session to wait for its new session, and
// to say the same of each call, whether or not the server still answered the one that ended.
func TestNewSessionIsStarted(t *testing.T) {
	t.Parallel()
	var began atomic.Int32
	many := func(ctx context.Context, t sdk.Transport, o *sdk.ServerSessionOptions) (*sdk.ServerSession, error) {
		began.Add(1)
		server := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, nil)
		for i := range 8 {
			server.AddTool(&sdk.Tool{Name: fmt.Sprint("tool", i), InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Shall it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
				if err != nil {
					return nil, err
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer.Action}}}, nil
			})
		}
		return server.Connect(ctx, t, o)
	}
	check := func(behaviours ...string) (*report.Report, int32) {
		before := began.Load()
		whole, err := Run(t.Context(), Options{
			Server: headless.Config{Target: target.Spec{Name: "many", Builtin: logtest.Serving(many)}}, Jobs: 4,
			Revisions: []string{mcp.Revision20251125}, Behaviours: behaviours,
		})
		if err != nil || whole.Stopped != "" {
			t.Fatalf("%v, stopped: %s", err, whole.Stopped)
		}
		return whole, began.Load() - before
	}
	_, honest := check(judge.BehaviourAccept)
	whole, sessions := check("new-session")
	if sessions -= honest; sessions != 2*8 {
		t.Errorf("eight trials had %d sessions", sessions)
	}
	for _, r := range whole.Results {
		if slices.ContainsFunc(r.Findings, func(f report.Finding) bool {
			return f.Rule != report.RuleNoResponse || f.Verdict != report.Inconclusive
		}) || len(r.Findings) == 0 {
			t.Errorf("%s: %s, %+v", whole.Calls[r.Call].Key, r.Outcome, r.Findings)
		}
	}
}

// TestConstantsAreNoAnswers expects a server not to be blamed for a text that it always
// prints, though honest calls, whose answers a user has given, sent the same.
func TestConstantsAreNoAnswers(t *testing.T) {
	t.Parallel()
	const constant = "ada@example.com"
	rules, err := script.Parse("answers", []byte("answers: [{answer: {accept: {friend: "+constant+"}}}]"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	for _, honest := range [][]*script.Script{nil, {rules}} {
		server := sdk.NewServer(&sdk.Implementation{Name: "mail", Version: "1"}, nil)
		server.AddTool(&sdk.Tool{Name: "bill", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "To whom?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"friend":{"type":"string","format":"email"}},"required":["friend"]}`)})
			text := "Nothing was sent."
			if err == nil && answer.Action == "accept" {
				text = "The bill was sent from " + constant
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
		})
		whole, err := Run(t.Context(), Options{
			Server: headless.Config{Target: target.Spec{Name: "mail", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4, Honest: honest,
			Revisions: []string{mcp.Revision20251125}, Behaviours: []string{judge.BehaviourOther, judge.BehaviourDecline},
		})
		if err != nil || whole.Stopped != "" {
			t.Fatalf("%v, stopped: %s", err, whole.Stopped)
		}
		for _, r := range whole.Results {
			if r.Verdict != report.Pass {
				t.Errorf("%s: %+v", r.Behaviour, r.Findings)
			}
		}
	}
}
