// The race detector makes this test several times slower, and nothing in it runs concurrently.

//go:build !race

package report

import (
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/cost"
)

// TestManyCalls expects the cost of a report not to grow with the square of the calls, with
// which this takes most of a minute.
func TestManyCalls(t *testing.T) {
	r := sample()
	for range 100_000 {
		r.Calls = append(r.Calls, Call{Kind: conversation.Tool, Key: "tool"})
		r.Results = append(r.Results, Result{Trial: Trial{Call: len(r.Calls) - 1, Behaviour: "accept", Revision: "2025-11-25"}, Verdict: Pass})
	}
	if took := cost.Of(func() { written(t, "junit", r) }); took > 20*time.Second {
		t.Errorf("it costs %v", took)
	}
}
