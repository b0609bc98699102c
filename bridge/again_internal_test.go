package bridge

import (
	"testing"

	"elicitation-inspector/bridge/wire"
)

// What a call was to be answered with is let go of with the call, answered or not.
func TestRepeatsEndWithTheirCall(t *testing.T) {
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in := New(Config{Log: log})
	in.repeats[7] = []Question{{}}
	wiring{in}.CallChanged(7) // a call that is not kept any more
	if len(in.repeats) > 0 {
		t.Error("the answers of a call that is over are still kept")
	}
}
