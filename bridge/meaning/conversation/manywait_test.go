// The race detector makes this test several times slower, and nothing in it runs concurrently.

//go:build !race

package conversation

import (
	"fmt"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// Very many questions that wait at the same time take no longer for each answer.
func TestVeryManyWait(t *testing.T) {
	took := func(many int) time.Duration {
		frames := make([]wire.Frame, 0, 2*many)
		for i := range many {
			frames = append(frames, wire.Frame{Server: "a", Session: "a-1", Dir: wire.ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i)})
		}
		for i := range many {
			frames = append(frames, wire.Frame{Server: "a", Session: "a-1", Dir: wire.ClientToServer, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"roots":[]}}`, i)})
		}
		c := New(logtest.New(t, frames...))
		spent := cost.Of(func() {
			if err := c.Update(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if _, questions := c.Counts(); questions != many {
			t.Errorf("%d questions", questions)
		}
		return spent
	}
	few, many := took(10_000), took(100_000)
	if t.Logf("%s, and %s for ten times as many", few, many); many > 50*few && many > 15*time.Second { // a square takes a hundred times as long
		t.Errorf("%s for 10,000 questions, and %s for ten times as many", few, many)
	}
}
