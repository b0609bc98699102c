package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/lint"
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
	found, gaps, err := lint.FindingsOf(context.Background(), log)
	if err != nil || gaps != "" {
		t.Fatalf("%s, %v", gaps, err)
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

// What a bound of the inspector's keeps from being read breaks no rule, and leads to no finding
// that rests on it.
func TestOverABound(t *testing.T) {
	deep := strings.Repeat("[", 1100) + strings.Repeat("]", 1100)
	wide := func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }
	var properties []string
	for i := range 1100 {
		properties = append(properties, wide(i))
	}
	for name, tt := range map[string]struct {
		steps []string
		gaps  string
	}{
		"a response": {[]string{hello, welcome, initialized, call, `< {"jsonrpc":"2.0","id":1,"result":{"a":` + deep + `}}`}, "frame 5, it is nested deeper"},
		"a request, and what follows it": {[]string{hello, welcome, initialized, `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":` + deep + `,"_meta":{"progressToken":"p"}}}`,
			step(1), done}, "frame 4, it is nested deeper"},
		"rounds": {[]string{discover, found, strings.Replace(call, `{"name"`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}},"name"`, 1),
			`< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":` + deep + `}}`,
			`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}},"name":"ask","requestState":"s","inputResponses":{"a":{"action":"decline"}}}}`}, "frame 4, it is nested deeper"},
		"a number": {[]string{hello, welcome, initialized, call, `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","maximum":5}}}}}`, `> {"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"n":1e5000}}}`, done}, ""},
		"fields":   {[]string{hello, welcome, initialized, call, `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","required":["p1099"],"properties":{` + strings.Join(properties, ",") + `}}}}`, declined, done}, ""},
	} {
		found, gaps, err := lint.FindingsOf(context.Background(), open(t, transcript(tt.steps)))
		if err != nil || !strings.Contains(gaps, tt.gaps) || (gaps == "") != (tt.gaps == "") {
			t.Errorf("%s: %q, %v", name, gaps, err)
		}
		for _, f := range found {
			if f.Rule != "too-many-fields" || !strings.Contains(f.Text, fmt.Sprintf("has %d fields", len(properties))) {
				t.Errorf("%s: %s: %s", name, f.Rule, f.Text)
			}
		}
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
