package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wire"
)

// The linter judges the whole log, even if a replay would show only a part of it.
func TestOf(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const calls = 700
	for i := range calls {
		schema := `{"type":"object","properties":{}}`
		if i%350 == 0 {
			schema = `{"type":"array"}`
		}
		fmt.Fprintf(&text, `{"session_id":"a","server_label":"s","transport":"stdio","direction":"c2s","call":%d,"raw":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","transport":"stdio","direction":"s2c","call":%[1]d,"elicitation":%[1]d,"raw":{"jsonrpc":"2.0","id":%[1]d,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":%[3]s}}}
`, i+1, i, schema)
	}
	text.WriteString(`{"session_id":"a","server_label":"s","transport":"stdio","direction":"s2c","text":"listening"}` + "\n")
	log := open(t, text.String())
	found, all, err := lint.FindingsOf(context.Background(), log)
	if err != nil || !all {
		t.Fatalf("all: %v, %v", all, err)
	}
	rules := lint.RulesAt(found)
	for rule, want := range map[string][]int64{"root-not-object": {2, 702}, "stdout-noise": {log.Len()}, "no-such-rule": nil} {
		var got []int64
		for seq := int64(1); seq <= log.Len(); seq++ {
			if slices.Contains(rules(seq), rule) {
				got = append(got, seq)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is found at %d frames, want %v", rule, len(got), want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := lint.FindingsOf(ctx, log); err == nil {
		t.Error("it cannot be stopped")
	}
}

// open opens a transcript and waits until it has been read.
func open(t *testing.T, text string) *wire.Log {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := wire.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Errorf("closing the transcript: %v", err)
		}
	})
	if err := log.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	return log
}
