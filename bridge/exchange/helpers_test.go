package exchange

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

var update = flag.Bool("update", false, "write what the tests find to their golden files")

// epoch is when the talks of these tests begin.
var epoch = time.Date(2026, 7, 28, 10, 2, 3, 0, time.UTC)

// newLog makes a log of frames.
func newLog(t testing.TB, frames ...wire.Frame) *wire.Log {
	t.Helper()
	l, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, f := range frames {
		l.Append(f)
	}
	return l
}

// talk reads frames from lines of the form
//
//	+1.5s c2s {"jsonrpc":"2.0", …}
//	+2s s2c files-2 {…}
//	+0s meta text
//
// where the time is the distance to the line before, and a session other than
// files-1 is named so. Empty lines and lines that begin with # are comments.
func talk(t testing.TB, text string) []wire.Frame {
	t.Helper()
	var out []wire.Frame
	at := epoch
	for i, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(l) == "" || strings.HasPrefix(l, "#") {
			continue
		}
		words := strings.SplitN(l, " ", 3)
		if len(words) < 3 {
			t.Fatalf("line %d: %q", i+1, l)
		}
		d, err := time.ParseDuration(strings.TrimPrefix(words[0], "+"))
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		at = at.Add(d)
		dir, err := wire.ParseDirection(words[1])
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		f := wire.Frame{Time: at, Server: "files", Session: "files-1", Transport: "stdio", Dir: dir, Raw: []byte(words[2])}
		if name, rest, ok := strings.Cut(words[2], " "); ok && strings.HasPrefix(name, "files-") {
			f.Session, f.Raw = name, []byte(rest)
		}
		out = append(out, f)
	}
	return out
}

// recorded opens a transcript of testdata/recorded.
func recorded(t testing.TB, path string) *wire.Log {
	t.Helper()
	l, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func recordings(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/recorded/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

func newIndex(t testing.TB, l *wire.Log) *Index {
	t.Helper()
	x := NewIndex(l)
	if err := x.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

func read(t testing.TB, x *Index, n int, how Reading) *Exchange {
	t.Helper()
	e, err := x.Exchange(t.Context(), n, how)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// exchangesOf reads all exchanges of a log.
func exchangesOf(t testing.TB, l *wire.Log) []*Exchange {
	t.Helper()
	x := newIndex(t, l)
	var out []*Exchange
	for n := 1; n <= x.Len(); n++ {
		out = append(out, read(t, x, n, Reading{}))
	}
	return out
}

// dump writes an exchange as the golden files have it.
func dump(w *bufio.Writer, e *Exchange) {
	fmt.Fprintf(w, "%d %s %s %s: %s\n", e.Number, e.Method, e.Name, e.Arguments, e.State)
	fmt.Fprint(w, "  frames")
	for _, f := range e.Frames {
		fmt.Fprintf(w, " %d", f.Seq)
	}
	if e.Omitted > 0 {
		fmt.Fprintf(w, " and %d more", e.Omitted)
	}
	fmt.Fprintln(w)
	for _, r := range e.Rounds {
		fmt.Fprintf(w, "  round %d: %d → %d, asks %d\n", r.Number, r.Request, r.Response, r.Questions)
	}
	for i := range e.Questions {
		q := &e.Questions[i]
		via := map[elicit.Via]string{elicit.ByRequest: "request", elicit.InRound: "round", elicit.InError: "error"}[q.Via]
		fmt.Fprintf(w, "  question by %s in round %d", via, q.Round)
		if q.Key != "" {
			fmt.Fprintf(w, " as %q", q.Key)
		}
		fmt.Fprintf(w, ": %s %s\n    %s", q.Method, q.Params, q.State)
		if q.AnswerSeq != 0 {
			fmt.Fprintf(w, ", frame %d", q.AnswerSeq)
		}
		if !q.Answered.IsZero() {
			fmt.Fprintf(w, ", after %s", q.Answered.Sub(q.Asked))
		}
		if q.CompletedSeq != 0 {
			fmt.Fprintf(w, ", completed by %d", q.CompletedSeq)
		}
		fmt.Fprintf(w, " %s%s%s", q.Answer, q.Error, q.Reason)
		if q.Guessed {
			fmt.Fprint(w, " (guessed)")
		}
		fmt.Fprintln(w)
	}
	for _, s := range e.Spans {
		fmt.Fprintf(w, "  +%s to +%s: %s\n", s.From.Sub(e.Start), s.To.Sub(e.Start), s.With)
	}
	if e.ResultSeq != 0 {
		fmt.Fprintf(w, "  came to %s%s, frame %d\n", e.Result, e.Error, e.ResultSeq)
	}
}

// golden compares with a golden file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: not what was found before; look at the difference, and run with -update if it is right\n%s", path, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d:\n got %.400s\nwant %.400s", i+1, a, b)
		}
	}
	return ""
}

// write writes an export.
func write(t testing.TB, x Export, f Format) string {
	t.Helper()
	var b bytes.Buffer
	if x.Tool == "" {
		x.Title, x.Tool, x.Version = "talk", "elicitation-inspector", "test"
	}
	if err := x.Write(context.Background(), &b, f); err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return b.String()
}
