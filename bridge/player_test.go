package bridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/wire"
)

const session = `{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":"Ada"}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// playing starts a player of a transcript and waits until it has been read.
func playing(t *testing.T, text string, o bridge.PlayerOptions) *bridge.Player {
	t.Helper()
	source, err := wire.Open(write(t, text))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := source.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	p, err := bridge.NewPlayer(source, o)
	if err != nil {
		t.Fatal(err)
	}
	go p.Run(ctx)
	t.Cleanup(func() {
		cancel()
		p.Close()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// shows waits until the player shows that many frames and a question is in a state.
func shows(t *testing.T, p *bridge.Player, frames int64, questions ...bridge.State) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		r := p.Replay()
		grown, refreshed := r.Inspection().Log().Grown(), r.Refreshed()
		list := r.Inspection().Questions()
		ok := r.Inspection().Log().Len() == frames && len(list) == len(questions)
		for i := range list {
			ok = ok && list[i].State == questions[i]
		}
		if ok {
			return
		}
		select {
		case <-grown:
		case <-refreshed:
		case <-ctx.Done():
			t.Fatalf("%d frames and questions %+v, want %d and %v", r.Inspection().Log().Len(), list, frames, questions)
		}
	}
}

func TestPlayer(t *testing.T) {
	t.Parallel()
	p := playing(t, session, bridge.PlayerOptions{})
	shows(t, p, 4, bridge.Answered)
	whole := p.Replay()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.Step())
	shows(t, p, 1)
	if p.Replay() == whole {
		t.Error("going back shows the same replay")
	}
	must(p.Step())
	shows(t, p, 2, bridge.Pending)
	first := p.Replay()
	must(p.GoTo(3))
	shows(t, p, 3, bridge.Answered)
	if p.Replay() != first {
		t.Error("going on begins again")
	}
	must(p.GoTo(2))
	shows(t, p, 2, bridge.Pending)
	if kept := p.Replay().Inspection().Log().Stats(); kept.Memory != 0 || kept.Frames != 2 || kept.Where != "t.jsonl" {
		t.Errorf("what is shown takes room of its own: %+v", kept)
	}
	if s := p.State(); s.At != time.Second || s.Length != time.Hour+time.Second || s.Position != 2 || s.Frames != 4 {
		t.Errorf("state %+v", s)
	}
	must(p.GoTo(99))
	shows(t, p, 4, bridge.Answered)
	for _, x := range []float64{0, 0.1, 17, -1} {
		if p.SetSpeed(x) == nil {
			t.Errorf("a speed of %g is taken", x)
		}
	}
}

// Pauses of the session are shortened: what took an hour is over in a moment.
func TestPlayerShortensPauses(t *testing.T) {
	t.Parallel()
	p := playing(t, session, bridge.PlayerOptions{Play: true, Speed: bridge.FastestSpeed, Gap: 100 * time.Millisecond})
	shows(t, p, 4, bridge.Answered)
}

func TestUnansweredAtTheEnd(t *testing.T) {
	t.Parallel()
	two := strings.Join(strings.SplitAfter(session, "\n")[:2], "")
	p := playing(t, two, bridge.PlayerOptions{})
	shows(t, p, 2, bridge.Withdrawn)
	if c := p.Replay().Inspection().Calls()[0]; c.State != bridge.CallFailed || c.Failure == "" {
		t.Errorf("the call is %s: %q", c.State, c.Failure)
	}
}

func TestRecordingNames(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	dir := t.TempDir()
	r := bridge.NewRecording(bridge.New(bridge.Config{Log: log}), nil)
	defer r.Close()
	for name, text := range map[string]string{"notes.jsonl": "dear diary\n", "old.jsonl": session} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		fresh bool
		want  error
	}{
		{"../evil", false, bridge.ErrFileName}, {"/etc/x", false, bridge.ErrFileName}, {`a\b`, false, bridge.ErrFileName},
		{"", false, bridge.ErrFileName}, {".hidden", false, bridge.ErrFileName}, {"a\x00b", false, bridge.ErrFileName},
		{"a:b", false, bridge.ErrFileName}, {strings.Repeat("x", 300), false, bridge.ErrFileName},
		{"notes", false, bridge.ErrNoRecord}, {"old", true, bridge.ErrFileExists},
		{"old", false, nil}, {"new", false, bridge.ErrRecording},
	} {
		if err := r.BeginNamed(dir, c.name, c.fresh); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.name, err, c.want)
		}
	}
	log.Append(wire.Frame{Dir: wire.ClientToServer, Session: "b", Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "old.jsonl"))
	if err != nil || !strings.HasPrefix(string(kept), session) || strings.Count(string(kept), "\n") != 5 {
		t.Errorf("%v: %s", err, kept)
	}
	if notes, _ := os.ReadFile(filepath.Join(dir, "notes.jsonl")); string(notes) != "dear diary\n" {
		t.Errorf("the notes are now %q", notes)
	}
}

// A file that is gone is told of although nothing is written.
func TestRecordingTellsThatItsFileIsGone(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in := bridge.New(bridge.Config{Log: log})
	sub := in.Subscribe()
	defer sub.Close()
	r := bridge.NewRecording(in, nil)
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := r.Begin(path, true); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(patience)
	for r.State().Err == nil {
		select {
		case <-sub.Ready():
			sub.Take()
		case <-deadline:
			t.Fatal("nobody was told")
		}
	}
	if err := r.Close(); err == nil {
		t.Error("it ends as if nothing were missing")
	}
}
