package wire

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twoSessions returns a log whose sessions alternate.
func twoSessions(t *testing.T, n int) *Log {
	t.Helper()
	l := newTestLog(t, Options{})
	for i := range n {
		l.Append(Frame{Server: "files", Session: fmt.Sprintf("files-%d", i%2+1), Transport: "stdio", Dir: ServerToClient,
			Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, i)})
	}
	return l
}

func TestMark(t *testing.T) {
	l := twoSessions(t, 10)
	for seq, m := range map[int64]Mark{3: {Pinned: true}, 4: {Note: "here \"it\" <begins>", Colour: "amber"}, 10: {Note: "x"}} {
		if err := l.Mark(seq, m); err != nil {
			t.Fatal(err)
		}
		if got := l.MarkOf(seq); got != m {
			t.Errorf("frame %d: %+v, not %+v", seq, got, m)
		}
	}
	if err := l.Mark(10, Mark{}); err != nil {
		t.Fatal(err)
	}
	if l.Len() != 14 {
		t.Errorf("%d frames: each mark is one", l.Len())
	}
	seqs, version := l.Marked()
	if !slices.Equal(seqs, []int64{3, 4}) {
		t.Errorf("marked are %v", seqs)
	}
	if err := l.Mark(4, Mark{Note: "again", Pinned: true}); err != nil {
		t.Fatal(err)
	}
	if _, now := l.Marked(); now == version {
		t.Error("a change is not to be told from the version")
	}

	by := l.Marking(4)
	f, err := l.Frame(by)
	if err != nil {
		t.Fatal(err)
	}
	if f.Dir != Meta || f.Session != "files-2" || string(f.Raw) != `{"mark":{"seq":2,"pinned":true,"note":"again"}}` {
		t.Errorf("frame 4 is marked by %v %s %s", f.Dir, f.Session, f.Raw)
	}
	if s := f.Summary(); s != "#4: pinned — again" {
		t.Errorf("in words: %q", s)
	}

	// The file has the marks, whether all of it or a part of it is read.
	for name, seqs := range map[string][]int64{"all": nil, "some": {1, 4, 6, 8, by}} {
		path := filepath.Join(t.TempDir(), "flow.jsonl")
		var b bytes.Buffer
		if seqs == nil {
			err = WriteFrames(&b, l, nil, nil)
		} else {
			err = WriteFrames(&b, l, slices.Values(seqs), nil)
		}
		if err == nil {
			err = os.WriteFile(path, b.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		read, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		if err := read.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		at := map[string]int64{"all": 4, "some": 2}[name]
		if got := read.MarkOf(at); got != (Mark{Pinned: true, Note: "again"}) {
			t.Errorf("%s: frame %d is %+v", name, at, got)
		}
		want := map[string][]int64{"all": {3, 4}, "some": {2}}[name]
		if got, _ := read.Marked(); !slices.Equal(got, want) {
			t.Errorf("%s: marked are %v, not %v", name, got, want)
		}

		// Marks of a file that is only read stay in memory until the log is written.
		if err := read.Mark(1, Mark{Colour: "red"}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := read.WriteMarks(&out, func(int64) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), `"session_id":"files-1"`) || !strings.HasSuffix(out.String(), `"raw":{"mark":{"seq":1,"colour":"red"}}}`+"\n") || strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

func TestMarkRefuses(t *testing.T) {
	l := twoSessions(t, 2)
	for name, tt := range map[string]struct {
		seq  int64
		mark Mark
		want string
	}{
		"colour": {1, Mark{Colour: "mauve"}, "there is no such colour"},
		"note":   {1, Mark{Note: strings.Repeat("x", MaxNote+1)}, "a note can have 4096 bytes"},
		"frame":  {3, Mark{Pinned: true}, "there is no frame 3"},
	} {
		err := l.Mark(tt.seq, tt.mark)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l.Len() != 2 {
		t.Error("what was refused is in the log")
	}
}

// A transcript can hold any mark.
func TestMarksThatMakeNoSense(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFrames(&b, twoSessions(t, 4), nil, nil); err != nil {
		t.Fatal(err)
	}
	for i, raw := range []string{
		`{"mark":{}}`, `{"mark":{"seq":0}}`, `{"mark":{"seq":99,"pinned":true}}`, `{"mark":{"seq":"1"}}`, `{"mark":[]}`,
		`{"mark":{"seq":8,"pinned":true}}`, // a mark of itself: the line of a mark comes after the line that it marks
	} {
		fmt.Fprintf(&b, `{"session_id":"files-1","seq":%d,"direction":"meta","raw":%s}`+"\n", i+3, raw)
	}
	read := func() *Log {
		path := filepath.Join(t.TempDir(), "flow.jsonl")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	}
	if seqs, _ := read().Marked(); len(seqs) > 0 {
		t.Errorf("marked are %v", seqs)
	}
	fmt.Fprintf(&b, `{"session_id":"files-1","seq":9,"direction":"meta","raw":{"mark":{"seq":1,"colour":"mauve","note":%q}}}`+"\n", strings.Repeat("é", MaxNote))
	if m := read().MarkOf(1); m.Colour != "" || len(m.Note) != MaxNote {
		t.Errorf("colour %q, %d bytes of note", m.Colour, len(m.Note))
	}
}
