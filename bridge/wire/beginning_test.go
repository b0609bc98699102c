package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The beginning of a log equals the log when it had only these frames.
func TestBeginning(t *testing.T) {
	source := newTestLog(t, Options{})
	var frames []Frame
	add := func(f Frame) { frames = append(frames, f) }
	for i := range 300 {
		f := floodFrame(i)
		if i >= 120 {
			f.Server, f.Session = "late", "late-1"
		}
		add(f)
		if i == 130 {
			add(Frame{Dir: Stderr, Raw: []byte("warning"), Server: "late", Session: "late-1"})
			add(Frame{Dir: ServerToClient, Raw: []byte(`{"jsonrpc":"2.0","method":"notifications/unheard"}`), Server: "late", Session: "late-1", Transport: "http", Status: 200})
			add(Frame{Dir: ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"large":"%s"}}`, strings.Repeat("x", largeRead))})
		}
	}
	start := time.Date(2026, 7, 28, 10, 2, 3, 0, time.UTC)
	for i := range frames {
		frames[i].Time = start.Add(time.Duration(i) * time.Second)
		source.Append(frames[i])
	}
	waitWritten(t, source)
	for _, n := range []int64{0, 1, 51, 52, 99, 100, 121, 133, 134, 135, source.Len()} {
		was := newTestLog(t, Options{})
		for _, f := range frames[:n] {
			was.Append(f)
		}
		b := source.Beginning()
		grown := b.Grown()
		b.Extend(n / 2)
		b.Extend(n)
		b.Extend(n - 1) // it never gets shorter
		if n > 0 {
			<-grown
		}
		if b.Len() != n {
			t.Fatalf("%d frames are shown, want %d", b.Len(), n)
		}
		all := was.clip(1, int(n))
		got, err1 := b.Rows(append(all, n+1))
		want, err2 := was.Rows(all)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the rows of the first %d are others (%v, %v)", n, err1, err2)
		}
		if _, err := b.Frame(n + 1); err == nil {
			t.Errorf("of %d, the next can be read", n)
		}
		if got, want := b.AllNames(), was.AllNames(); !reflect.DeepEqual(got, want) {
			t.Errorf("of %d: names %v, want %v", n, got, want)
		}
		if f := b.Append(frames[0]); f.Seq != 0 || b.Len() != n {
			t.Error("something can be added")
		}
		if st := b.Stats(); st.Frames != n || (st.Bytes > 0) != (n > 0) {
			t.Errorf("of %d: %+v", n, st)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := source.Frame(1); err != nil {
		t.Errorf("closing a beginning closes the log: %v", err)
	}
	source.Extend(3) // has no effect
	if source.Len() != int64(len(frames)) {
		t.Error("a log can be made shorter")
	}
}

// Beginnings show the marks of the whole log.
func TestBeginningSharesMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(path, []byte(`{"session_id":"a","seq":1,"direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"session_id":"a","seq":2,"direction":"meta","raw":{"mark":{"seq":1,"pinned":true}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	if err := source.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := source.Beginning()
	b.Extend(1)
	if !b.MarkOf(1).Pinned {
		t.Error("it is not pinned")
	}
	if err := b.Mark(1, Mark{Note: "here"}); err != nil || source.MarkOf(1) != (Mark{Note: "here"}) {
		t.Errorf("%v, %+v", err, source.MarkOf(1))
	}
	if err := b.Mark(2, Mark{}); err == nil {
		t.Error("a frame that is not shown is marked")
	}
}
