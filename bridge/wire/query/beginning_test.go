package query

import (
	"reflect"
	"testing"
	"time"

	"elicitation-inspector/bridge/wire"
)

// Views and completions over the beginning of a log are the same as over the log when
// it had only these frames.
func TestViewOfABeginning(t *testing.T) {
	source := newLog(t)
	var frames []wire.Frame
	start := time.Date(2026, 7, 28, 10, 2, 3, 0, time.UTC)
	for i := range 300 {
		f := floodFrame(i)
		if i >= 120 {
			f.Server, f.Session = "late", "late-1"
		}
		if i == 130 {
			f.Status = 200
		}
		f.Time = start.Add(time.Duration(i) * time.Second)
		frames = append(frames, f)
		source.Append(f)
	}
	for _, n := range []int64{0, 1, 51, 52, 99, 100, 121, 131, source.Len()} {
		was := newLog(t)
		for _, f := range frames[:n] {
			was.Append(f)
		}
		b := source.Beginning()
		b.Extend(n)
		for _, line := range []string{"method:", "server:", "actor:"} {
			if got, want := Complete(b, line, len(line), nil), Complete(was, line, len(line), nil); !reflect.DeepEqual(got, want) {
				t.Errorf("of %d: %s goes on with %v, want %v", n, line, got, want)
			}
		}
		for _, line := range []string{"kind:request", "ms>0", "is:question", "loaded", "id:1", "size>60k", "status:200 server:late"} {
			if got, want := pick(t, b, line, nil), pick(t, was, line, nil); !reflect.DeepEqual(got, want) {
				t.Errorf("of %d, %s picks %v, want %v", n, line, got, want)
			}
		}
	}
}
