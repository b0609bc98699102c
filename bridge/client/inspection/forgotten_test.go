// The race detector makes this test several times slower, and memory larger. Other tests do
// the same concurrently at smaller sizes.

//go:build !race

package inspection_test

import (
	"errors"
	"runtime"
	"testing"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
)

func init() {
	// answers at once, or never.
	rawServers["brief"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"done", "never"}, func(call request) {
			if call.tool() == "done" {
				s.text(call, "done")
			}
		})
	}
}

// Ended calls do not fill the memory. A running call is kept at any age.
func TestCallsAreForgotten(t *testing.T) {
	b := start(t, "brief", conversation.ClientSettings{})
	first := b.call("never")
	many := func(n int) int64 {
		for range n {
			b.done(b.call("done").Number)
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const more = 2000
	before := many(350)
	after := many(more)
	// For an ended call the log's index, the pairing of requests with responses, and an
	// outline remain in memory.
	if each := (after - before) / more; each > 1200 {
		t.Errorf("each call that has ended takes %d bytes", each)
	} else {
		t.Logf("each call that has ended takes %d bytes", each)
	}
	kept := b.in.Calls()
	if len(kept) != live.Kept+1 || kept[0].Number != first.Number || kept[0].State.Over() {
		t.Errorf("%d calls are kept, the first is number %d, %s", len(kept), kept[0].Number, kept[0].State)
	}
	if _, err := b.in.Call(2); !errors.Is(err, live.ErrForgotten) {
		t.Errorf("an early call: %v", err)
	}
	if _, err := b.in.Call(1 << 20); !errors.Is(err, live.ErrUnknownCall) {
		t.Errorf("a call that was never made: %v", err)
	}
	if frames := viewOf(t, b.log, "call:2"); frames.Len() != 2 {
		t.Errorf("%d frames are left of it", frames.Len())
	}
}
