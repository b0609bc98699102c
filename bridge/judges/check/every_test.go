// The race detector makes these trials several times slower. The tests of whole checks run
// trials at the same time with it.

//go:build !race

package check

import (
	"slices"
	"testing"
	"time"

	"elicitation-inspector/bridge/judges/check/judge"
)

// TestEveryBehaviourIsTried expects each behaviour to be tried that fits a call of the
// demo server.
func TestEveryBehaviourIsTried(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Timeout = 2 * time.Second
	o.Wanted = []Wanted{{Key: "onboard"}, {Key: "every_field"}, {Key: "ask"}, {Key: "who_am_i"}}
	whole, err := Run(t.Context(), o)
	if err != nil || whole.Stopped != "" {
		t.Fatalf("%v, stopped: %s", err, whole.Stopped)
	}
	tried := map[string]bool{}
	for _, r := range whole.Results {
		tried[r.Behaviour] = true
		if whole.Calls[r.Call].Key == "onboard" && r.Behaviour == judge.BehaviourDecline && (r.Question < 1 || r.Question > 3) {
			t.Errorf("question %d was declined", r.Question)
		}
	}
	// These behaviours need a process, an HTTP stream, a URL, a number with a step, a
	// requestState that can be read, a call with arguments that has one, a file, or a task.
	elsewhere := []string{"changed-state-inside", judge.BehaviourForgedDeclined, judge.BehaviourForgedAlone, "other-arguments-state", "not-multiple", "other-scheme", "file-too-large", "type-not-accepted", "lying-type", "kill-process", "drop-stream", "accept-unopened", "accept-with-content", "retry-before-completion", "never-retry"}
	elsewhere = append(elsewhere, ofTasks...)
	for _, b := range judge.Behaviours() {
		if tried[b.Name] == slices.Contains(elsewhere, b.Name) {
			t.Errorf("%s: tried is %v", b.Name, tried[b.Name])
		}
	}
	if len(whole.Silent) != 1 || whole.Silent[0].Key != "who_am_i" {
		t.Errorf("%v asked nothing", whole.Silent)
	}
}
