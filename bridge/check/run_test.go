package check

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/headless"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/target"
)

// builtin checks the demo server in this process, in which no story time passes.
func builtin(t *testing.T) Options {
	t.Helper()
	server := demo.New(demo.Options{Pause: func(context.Context, time.Duration) error { return nil }})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return Options{Server: headless.Config{Target: target.Spec{Name: demo.Name, Builtin: server.MCP}}, Jobs: 4}
}

// TestEveryBehaviourIsTried has each behaviour tried that fits a call of the demo server.
func TestEveryBehaviourIsTried(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Timeout = 2 * time.Second
	o.Wanted = []Wanted{{Key: "onboard"}, {Key: "every_field"}, {Key: "ask"}, {Key: "who_am_i"}}
	report, err := Run(t.Context(), o)
	if err != nil || report.Stopped != "" {
		t.Fatalf("%v, stopped: %s", err, report.Stopped)
	}
	tried := map[string]bool{}
	for _, r := range report.Results {
		tried[r.Behaviour] = true
		if report.Calls[r.Call].Key == "onboard" && r.Behaviour == behaviourDecline && (r.Question < 1 || r.Question > 3) {
			t.Errorf("question %d was declined", r.Question)
		}
	}
	// What else there is needs a process, a stream of HTTP, a URL, or a number with a step.
	elsewhere := []string{"not-multiple", "kill-process", "drop-stream", "accept-unopened", "accept-with-content", "retry-before-completion", "never-retry"}
	for _, b := range Behaviours() {
		if tried[b.Name] == slices.Contains(elsewhere, b.Name) {
			t.Errorf("%s: tried is %v", b.Name, tried[b.Name])
		}
	}
	if len(report.Silent) != 1 || report.Silent[0].Key != "who_am_i" {
		t.Errorf("%v asked nothing", report.Silent)
	}
}

// TestAnswersAreRead has the answers file of every trial read as it is printed.
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

// TestMadeUpArguments has arguments made up that an input schema takes, or not at all.
func TestMadeUpArguments(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"object"}`: "",
		`{"type":"object","properties":{"a":{"type":"string"}}}`:                                                                           "",
		`{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"integer","examples":[7]}},"required":["b"]}`:      `{"a":"x","b":7}`,
		`{"type":"object","properties":{"a":{"type":"integer","minimum":3,"examples":[1]},"b":{"enum":["p","q"]}},"required":["a","b"]}`:   `{"a":3,"b":"p"}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean"}},"required":["b"]}},"required":["a"]}`:   `{"a":{"b":true}}`,
		`{"type":"object","properties":{"a":{"type":"string","format":"email"},"b":{"type":"string","minLength":6}},"required":["a","b"]}`: `{"a":"ada@example.com","b":"textxx"}`,
	} {
		got, err := madeUp([]byte(schema))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", schema, got, err)
		}
	}
	for _, schema := range []string{`{"type":"object","properties":{"a":{"not":{}}},"required":["a"]}`, `{"type":"array"}`} {
		if got, err := madeUp([]byte(schema)); err == nil {
			t.Errorf("%s: %s", schema, got)
		}
	}
}

// TestProgressIsTold has the progress told at least twice a second, with the time left.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Behaviours, o.Revisions = []Wanted{{Key: "ask"}}, []string{"accept", "never", "late"}, []string{mcp.Revision20251125}
	var all []Progress
	latest, longest := time.Now(), time.Duration(0)
	o.Progress = func(p Progress) {
		longest, latest = max(longest, time.Since(latest)), time.Now()
		all = append(all, p)
	}
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	told := slices.ContainsFunc(all, func(p Progress) bool { return p.Left > 0 && p.Done < p.Total && strings.Contains(p.Now, "ask, ") })
	if last.Done != last.Total || last.Total != 4 || !told || len(all) < 8 {
		t.Errorf("%d were told, the last is %+v", len(all), last)
	}
	if progressEvery > 500*time.Millisecond {
		t.Errorf("it is told every %v", progressEvery)
	}
	t.Logf("the longest pause was %v", longest)
}

// TestJobsAreBound has no more trials work at the same time than there are jobs, and those
// that wait hold up no other.
func TestJobsAreBound(t *testing.T) {
	t.Parallel()
	const jobs = 3
	s := newSlots(jobs)
	var mu sync.Mutex
	working, most := 0, 0
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			p, err := s.take(t.Context(), false)
			if err != nil {
				t.Error(err)
				return
			}
			defer p.leave()
			mu.Lock()
			working++
			most = max(most, working)
			mu.Unlock()
			time.Sleep(time.Millisecond) // work
			mu.Lock()
			working--
			mu.Unlock()
		})
	}
	running.Wait()
	if most > jobs {
		t.Errorf("%d worked at the same time", most)
	}

	over := make(chan struct{})
	for range waitingFor * jobs { // which wait for each other, and leave room to work
		running.Go(func() {
			p, err := s.take(t.Context(), false)
			if err != nil {
				t.Error(err)
				return
			}
			defer p.leave()
			p.during(func() { <-over })
		})
	}
	for len(s.waiting) < waitingFor*jobs {
		time.Sleep(time.Millisecond)
	}
	p, err := s.take(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	p.leave()
	close(over)
	running.Wait()
	if len(s.working)+len(s.waiting) > 0 {
		t.Errorf("%d places are still taken", len(s.working)+len(s.waiting))
	}
}

// TestInterruptedReport has the report so far after an interruption.
func TestInterruptedReport(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Behaviours = []Wanted{{Key: "ask"}}, []string{"accept", "never"}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	o.Progress = func(p Progress) {
		if strings.Contains(p.Now, "never") {
			interrupt()
		}
	}
	report, err := Run(ctx, o)
	if err != nil || report.Stopped != "interrupted" || len(report.Calls) != 1 || len(report.Results) == 0 {
		t.Errorf("%v: %+v", err, report)
	}
}
