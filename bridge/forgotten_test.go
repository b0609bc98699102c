package bridge_test

import (
	"errors"
	"runtime"
	"testing"

	"elicitation-inspector/bridge"
)

func init() {
	// answers at once, or never.
	servers["brief"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"done", "never"}, func(call request) {
			if call.tool() == "done" {
				s.text(call, "done")
			}
		})
	}
}

// Calls that have ended do not fill the memory; one that runs is kept however old
// it is.
func TestCallsAreForgotten(t *testing.T) {
	b := start(t, "brief", bridge.Settings{})
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
	const calls = 2000
	before := many(bridge.CallsKept + 50)
	after := many(calls)
	// The log's index and the pairing of requests with responses remain.
	if each := (after - before) / calls; each > 1000 {
		t.Errorf("each call that has ended takes %d bytes", each)
	} else {
		t.Logf("each call that has ended takes %d bytes", each)
	}
	kept := b.in.Calls()
	if len(kept) != bridge.CallsKept+1 || kept[0].Number != first.Number || kept[0].State != bridge.CallRunning {
		t.Errorf("%d calls are kept, the first is number %d, %s", len(kept), kept[0].Number, kept[0].State)
	}
	if _, err := b.in.Call(2); !errors.Is(err, bridge.ErrForgottenCall) {
		t.Errorf("an early call: %v", err)
	}
	if _, err := b.in.Call(1 << 20); !errors.Is(err, bridge.ErrUnknownCall) {
		t.Errorf("a call that was never made: %v", err)
	}
	if frames := viewOf(t, b.log, "call:2"); frames.Len() != 2 {
		t.Errorf("%d frames are left of it", frames.Len())
	}
}
