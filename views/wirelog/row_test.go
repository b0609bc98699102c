package wirelog

import (
	"testing"
	"time"

	"elicitation-inspector/bridge/wire"
)

func TestLatencyBars(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "w1", time.Microsecond: "w1", time.Millisecond: "w1", 10 * time.Millisecond: "w3", 100 * time.Millisecond: "w5", time.Second: "w7", 10 * time.Second: "w9", time.Hour: "w10",
	} {
		if got := (Row{Row: wire.Row{Frame: wire.Frame{Latency: d}}}).bar(); got != want {
			t.Errorf("%v: %s, not %s", d, got, want)
		}
	}
}
