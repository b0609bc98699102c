// Package logtest makes logs for the tests of those who read them.
package logtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

var update = flag.Bool("update", false, "write what the tests find to their golden files")

// Epoch is when talks begin.
var Epoch = time.Date(2026, 7, 28, 10, 2, 3, 0, time.UTC)

// New makes a log of frames.
func New(t testing.TB, frames ...wire.Frame) *wire.Log {
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

var directions = map[string]wire.Direction{"c2s": wire.ClientToServer, "s2c": wire.ServerToClient, "stderr": wire.Stderr, "meta": wire.Meta}

// Talk reads frames from lines of the form
//
//	+1.5s c2s {"jsonrpc":"2.0", …}
//	+2s s2c files-2 {…}
//	+0s meta text
//
// where the time is the distance to the line before, and a session other than
// files-1 is named so. Empty lines and lines that begin with # are comments.
func Talk(t testing.TB, text string) []wire.Frame {
	t.Helper()
	var out []wire.Frame
	at := Epoch
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
		dir, known := directions[words[1]]
		if !known {
			t.Fatalf("line %d: %q is no direction", i+1, words[1])
		}
		f := wire.Frame{Time: at, Server: "files", Session: "files-1", Transport: "stdio", Dir: dir, Raw: []byte(words[2])}
		if name, rest, ok := strings.Cut(words[2], " "); ok && strings.HasPrefix(name, "files-") {
			f.Session, f.Raw = name, []byte(rest)
		}
		out = append(out, f)
	}
	return out
}

// Open opens a transcript and waits until it has been read.
func Open(t testing.TB, path string) *wire.Log {
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

// Read reads a transcript, in which nothing may be wrong.
func Read(t testing.TB, r io.Reader) []wire.Frame {
	t.Helper()
	text, err := io.ReadAll(r)
	path := filepath.Join(t.TempDir(), "read.jsonl")
	if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
		t.Error(err)
		return nil
	}
	l := Open(t, path)
	frames, err := Frames(l)
	if damage, _ := l.Damage(); err != nil || damage != nil {
		t.Error(err, damage)
	}
	return frames
}

// Frames are all frames of a log.
func Frames(l *wire.Log) (frames []wire.Frame, err error) {
	for seq := int64(1); seq <= l.Len() && err == nil; seq++ {
		var f wire.Frame
		f, err = l.Frame(seq)
		frames = append(frames, f)
	}
	return frames, err
}

// Files lists the files that match a pattern. It fails the test if there are none.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

// Golden compares with a golden file, or writes it with -update.
func Golden(t testing.TB, path string, got []byte) {
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

// Serving returns a function that serves lines with a server of the SDK. connect is the
// server's method Connect.
func Serving(connect func(context.Context, mcp.Transport, *mcp.ServerSessionOptions) (*mcp.ServerSession, error)) func(context.Context, io.Reader, io.Writer) error {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		session, err := connect(ctx, &mcp.IOTransport{Reader: in.(io.ReadCloser), Writer: out.(io.WriteCloser), MaxLineLength: -1}, nil)
		if err != nil {
			return err
		}
		_ = session.Wait() // whether it returns an error for a session that the server ends is a race in the SDK
		return nil
	}
}
