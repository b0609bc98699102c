package playback_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
)

const recorded = `{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T10:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":"Ada"}}}}
{"session_id":"a","server_label":"s","ts":"2026-07-28T11:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
`

func TestRecordingNames(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	dir := t.TempDir()
	r := playback.NewRecording(log, slog.New(slog.DiscardHandler), nil, func() {})
	defer r.Close()
	for name, text := range map[string]string{"notes.jsonl": "dear diary\n", "old.jsonl": recorded} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		fresh bool
		want  error
	}{
		{"../evil", false, playback.ErrFileName}, {"/etc/x", false, playback.ErrFileName}, {`a\b`, false, playback.ErrFileName},
		{"", false, playback.ErrFileName}, {".hidden", false, playback.ErrFileName}, {"a\x00b", false, playback.ErrFileName},
		{"a:b", false, playback.ErrFileName}, {strings.Repeat("x", 300), false, playback.ErrFileName},
		{"notes", false, playback.ErrNoRecord}, {"old", true, playback.ErrFileExists},
		{"old", false, nil}, {"new", false, playback.ErrUnderWay},
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
	if err != nil || !strings.HasPrefix(string(kept), recorded) || strings.Count(string(kept), "\n") != 5 {
		t.Errorf("%v: %s", err, kept)
	}
	if notes, _ := os.ReadFile(filepath.Join(dir, "notes.jsonl")); string(notes) != "dear diary\n" {
		t.Errorf("the notes are now %q", notes)
	}
}

// A deleted file is noticed although no frame is written.
func TestRecordingTellsThatItsFileIsGone(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	changed := make(chan struct{}, 10)
	r := playback.NewRecording(log, slog.New(slog.DiscardHandler), nil, func() { changed <- struct{}{} })
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := r.Begin(path, true); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(time.Minute)
	for r.State().Err == nil {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("nobody was told")
		}
	}
	if err := r.Close(); err == nil {
		t.Error("it ends as if nothing were missing")
	}
}
