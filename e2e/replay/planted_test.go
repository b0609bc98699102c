// Package replay tests `inspector replay` and `inspector diff` on servers of three libraries that
// were recorded, and then do one thing in another way.
package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

func TestMain(m *testing.M) {
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// prepared builds the binary that users get, and runs the tests.
func prepared(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "inspector-e2e-bin-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	inspector.Binary = filepath.Join(dir, "inspector")
	if err := inspector.Build("../..", inspector.Binary, "-trimpath", "./cmd/inspector"); err != nil {
		return 0, err
	}
	return run(), nil
}

// scenarios are the calls that are recorded of each server.
var scenarios = map[string]string{
	"gosdk": `protocol: 2025-11-25
sampling: true
calls:
- tool: clean
  arguments: {folder: /tmp}
  answers:
  - {match: {message: "Which files?"}, answer: {accept: {kind: logs, age: 30}}}
  - {answer: {accept: {sure: true}}}
- {tool: clean, arguments: {folder: /none}, expect: {error: {code: -32602}}}
- {tool: pay, default: decline, expect: {result: {isError: true}}}
- {tool: look}
- {tool: sum, answers: [{match: {mode: sampling}, answer: {result: {role: assistant, model: m, content: {type: text, text: ok}}}}]}
- {tool: both, default: {accept: valid}}
- {prompt: tidy}
`,
	"typescript": `protocol: 2025-11-25
calls:
- tool: visit
  arguments: {garden: rose}
  answers:
  - {match: {message: "When do you come?"}, answer: {accept: {day: 2026-12-01, people: 30}}}
  - {answer: {accept: {book: true}}}
- {tool: visit, arguments: {garden: moss}, expect: {error: {code: -32602}}}
- {tool: donate, default: cancel, expect: {result: {isError: true}}}
- {tool: weather}
- {tool: survey, default: {accept: valid}}
- {resource: "garden://map"}
`,
	"mcpgo": `protocol: 2026-07-28
calls:
- tool: order
  arguments: {shop: north}
  answers:
  - {match: {message: "Which cake should it be?"}, answer: {accept: {kind: Plum, pieces: 12}}}
  - {answer: {accept: {bake: true}}}
- {tool: wrap, default: {accept: valid}}
- {tool: sign, default: decline, expect: {result: {isError: true}}}
- {tool: open}
- {tool: wait}
`,
}

// The exit codes of a replay.
const (
	same      = 0
	lost      = 3 // the server
	unknown   = 5 // a question that the recording does not have, or whose answer is not allowed
	contract  = 8 // or consent
	onContent = 9
)

// regressions are what a build does in another way, with the kind of the difference that comes first.
var regressions = []struct {
	server, change string
	code           int
	kind           diff.ID
	also           diff.ID // a kind of another difference
}{
	{"gosdk", "consent is not asked for", contract, "question-gone", ""},
	{"gosdk", "a decline is no decline", contract, "done-after-decline", ""},
	{"gosdk", "deletes before it asks", contract, "acts-before-asking", ""},
	{"gosdk", "another host", contract, "url-host", ""},
	{"gosdk", "no TLS", contract, "url-host", ""},
	{"gosdk", "another path", contract, "url", ""},
	{"gosdk", "a form for a page", contract, "mode", ""},
	{"gosdk", "another message", contract, "message", ""},
	{"gosdk", "one question more", unknown, "question-new", ""},
	{"gosdk", "asks in the other order", contract, "question-order", ""},
	{"gosdk", "disk full", contract, "outcome", ""},
	{"gosdk", "disk full, unasked", contract, "question-missing", ""},
	{"gosdk", "a failed deletion", contract, "outcome", ""},
	{"gosdk", "the process ends", lost, "outcome", "call-missing"},
	{"gosdk", "another error code", contract, "error-code", ""},
	{"gosdk", "another error message", onContent, "error", ""},
	{"gosdk", "a field is gone", contract, "field-gone", ""},
	{"gosdk", "a field is new", contract, "field-new", ""},
	{"gosdk", "a field is renamed", contract, "field-renamed", ""},
	{"gosdk", "a field is required", unknown, "field-required", "answer-refused"},
	{"gosdk", "a field is optional", contract, "field-required", ""},
	{"gosdk", "another type", contract, "field-type", ""},
	{"gosdk", "a wider maximum", contract, "constraint", ""},
	{"gosdk", "the answer is refused", unknown, "constraint", "answer-refused"},
	{"gosdk", "a choice is gone", contract, "choices", ""},
	{"gosdk", "a choice is new", contract, "choices", ""},
	{"gosdk", "another default", contract, "default", ""},
	{"gosdk", "another title", contract, "field-words", ""},
	{"gosdk", "another description", contract, "field-words", ""},
	{"gosdk", "no additional fields", contract, "schema", ""},
	{"gosdk", "another instruction", contract, "instructions", ""},
	{"gosdk", "no logging", contract, "capability", ""},
	{"gosdk", "another revision", contract, "revision", ""},
	{"gosdk", "a hidden order", contract, "item-changed", ""},
	{"gosdk", "called harmless", contract, "item-changed", ""},
	{"gosdk", "an argument required", contract, "field-required", ""},
	{"gosdk", "another argument type", contract, "field-type", ""},
	{"gosdk", "another prompt", contract, "item-changed", ""},
	{"gosdk", "a tool is gone", contract, "item-gone", "outcome"},
	{"gosdk", "a tool is new", contract, "item-new", ""},
	{"gosdk", "a longer sample", contract, "params", ""},
	{"gosdk", "another result", onContent, "result", ""},
	{"gosdk", "another prompt text", onContent, "result", ""},
	{"gosdk", "a log message is gone", onContent, "notification", ""},
	{"gosdk", "progress with words", onContent, "notification", ""},
	{"gosdk", "slower", onContent, "slower", ""},

	{"typescript", "consent is not asked for", contract, "question-gone", ""},
	{"typescript", "a cancel is no cancel", contract, "done-after-decline", ""},
	{"typescript", "books before it asks", contract, "acts-before-asking", ""},
	{"typescript", "another host", contract, "url-host", ""},
	{"typescript", "a question is taken back", contract, "question-withdrawn", ""},
	{"typescript", "one question more", unknown, "question-new", ""},
	{"typescript", "another message", contract, "message", ""},
	{"typescript", "a field is gone", contract, "field-gone", ""},
	{"typescript", "a field is new", contract, "field-new", ""},
	{"typescript", "a field is renamed", contract, "field-renamed", ""},
	{"typescript", "a field is required", unknown, "field-required", "answer-refused"},
	{"typescript", "another type", contract, "field-type", ""},
	{"typescript", "no format", contract, "constraint", ""},
	{"typescript", "a narrower maximum", unknown, "constraint", "answer-refused"},
	{"typescript", "another name of a choice", contract, "choices", ""},
	{"typescript", "another default", contract, "default", ""},
	{"typescript", "another title", contract, "field-words", ""},
	{"typescript", "a hidden order", contract, "item-changed", ""},
	{"typescript", "called read-only", contract, "item-changed", ""},
	{"typescript", "an output schema", contract, "item-changed", ""},
	{"typescript", "one garden more", contract, "choices", ""},
	{"typescript", "a tool is gone", contract, "item-gone", ""},
	{"typescript", "a tool is new", contract, "item-new", ""},
	{"typescript", "a resource is gone", contract, "item-gone", ""},
	{"typescript", "another media type", contract, "item-changed", ""},
	{"typescript", "another template", contract, "item-gone", "item-new"},
	{"typescript", "another instruction", contract, "instructions", ""},
	{"typescript", "lists that change", contract, "capability", ""},
	{"typescript", "another error code", contract, "error-code", ""},
	{"typescript", "other data of an error", onContent, "error", ""},
	{"typescript", "fully booked", contract, "outcome", ""},
	{"typescript", "the process ends", lost, "outcome", "call-missing"},
	{"typescript", "another result", onContent, "result", ""},
	{"typescript", "another text of a resource", onContent, "result", ""},
	{"typescript", "a log message is gone", onContent, "notification", ""},
	{"typescript", "slower", onContent, "slower", ""},

	{"mcpgo", "consent is not asked for", contract, "question-gone", ""},
	{"mcpgo", "a decline is no decline", contract, "done-after-decline", ""},
	{"mcpgo", "another host", contract, "url-host", ""},
	{"mcpgo", "no TLS", contract, "url-host", ""},
	{"mcpgo", "another path", contract, "url", ""},
	{"mcpgo", "one question more", unknown, "question-new", ""},
	{"mcpgo", "asks in the other order", contract, "question-order", ""},
	{"mcpgo", "one round more", contract, "rounds", ""},
	{"mcpgo", "another message", contract, "message", ""},
	{"mcpgo", "a field is gone", contract, "field-gone", ""},
	{"mcpgo", "a field is required", unknown, "field-required", "answer-refused"},
	{"mcpgo", "another type", contract, "field-type", ""},
	{"mcpgo", "a longer text", contract, "constraint", ""},
	{"mcpgo", "a choice is new", contract, "choices", ""},
	{"mcpgo", "another title", contract, "field-words", ""},
	{"mcpgo", "a hidden order", contract, "item-changed", ""},
	{"mcpgo", "one shop more", contract, "choices", ""},
	{"mcpgo", "a tool is gone", contract, "item-gone", "outcome"},
	{"mcpgo", "a tool is new", contract, "item-new", ""},
	{"mcpgo", "sold out", contract, "outcome", ""},
	{"mcpgo", "an error", contract, "outcome", ""},
	{"mcpgo", "another result", onContent, "result", ""},
	{"mcpgo", "slower", onContent, "slower", ""},
}

// made are the kinds of what the person does, and no server.
var made = []diff.ID{"answer", "arguments", "call-new"}

// none are changes from run to run, by server.
var none = map[string][]string{
	"gosdk": {
		"another version", "pages of lists", "a UUID", "a time", "a token", "a duration", "meta", "order of results", "order of fields", "order of members",
		"an elicitationId", "notation", "escapes", "parallel questions", "random map", "more progress", "a log message twice", "noise on stderr",
	},
	"typescript": {
		"another version", "order of tools", "order of required", "order of members", "parallel questions", "more progress", "random map",
		"a UUID", "a time", "a port", "a duration", "an elicitationId", "a token in the address", "meta", "noise on stderr",
	},
	"mcpgo": {
		"another version", "another requestState", "other keys", "exchanged keys", "order of fields", "order of required", "random map", "a UUID", "a time",
	},
}

// busy is for a machine on which any call may take a second.
var busy = []string{"--slower", "1e6"}

// recorded is a server and a recording of it.
type recorded struct {
	command []string
	source  string // of the server, which names its changes
	file    string
}

func record(t *testing.T) map[string]*recorded {
	t.Helper()
	dir := t.TempDir()
	all := map[string]*recorded{}
	for name, command := range servers.Planted(t) {
		scenario := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(scenario, []byte(scenarios[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := inspector.Run(t, inspector.Options{}, append([]string{"run", scenario, "--record", dir, "--"}, command...)...); got.Code != 0 {
			t.Fatalf("recording %s: %d\n%s%s", name, got.Code, got.Stdout, got.Stderr)
		}
		files, err := filepath.Glob(filepath.Join(dir, name+"-*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v %v", files, err)
		}
		sources, err := filepath.Glob(filepath.Join("..", "servers", "planted", name, "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		one := &recorded{command: command, file: files[0]}
		for _, path := range sources {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			one.source += string(text)
		}
		all[name] = one
	}
	return all
}

// replay makes the calls again on a build with a change.
func (r *recorded) replay(t *testing.T, change string, args ...string) inspector.Result {
	t.Helper()
	if !strings.Contains(r.source, `"`+change+`"`) && !strings.Contains(r.source, `'`+change+`'`) {
		t.Fatalf("the server has no change %q", change)
	}
	return inspector.Run(t, inspector.Options{}, slices.Concat([]string{"replay", r.file, "--env", "PLANTED=" + change}, args, []string{"--"}, r.command)...)
}

func TestRegressions(t *testing.T) {
	t.Parallel()
	all := record(t)
	found := map[diff.ID]bool{}
	for _, c := range regressions {
		found[c.kind], found[c.also] = true, true
		t.Run(c.server+"/"+c.change, func(t *testing.T) {
			t.Parallel()
			args := busy
			switch c.kind {
			case "revision": // a replay speaks the recorded one, unless another one is named
				args = append([]string{"--protocol", "2025-06-18"}, busy...)
			case "slower":
				args = []string{"--slower", "1.5"}
			}
			got := all[c.server].replay(t, c.change, args...)
			first, _, _ := strings.Cut(got.Stdout, "\n")
			if got.Code != c.code || !strings.HasSuffix(first, "["+string(c.kind)+"]") || !strings.Contains(got.Stdout, "["+string(c.also)) {
				t.Errorf("it ends with %d, want %d, and %s first, then %q:\n%s%s", got.Code, c.code, c.kind, c.also, got.Stdout, got.Stderr)
			}
		})
	}
	for _, k := range diff.Kinds {
		if found[k.ID] == slices.Contains(made, k.ID) {
			t.Errorf("%s: a server has a regression of that kind: %v", k.ID, found[k.ID])
		}
	}
}

func TestNoRegressions(t *testing.T) {
	t.Parallel()
	all := record(t)
	for server, changes := range none {
		for _, change := range changes {
			t.Run(server+"/"+change, func(t *testing.T) {
				t.Parallel()
				if got := all[server].replay(t, change, busy...); got.Code != same || !strings.HasPrefix(got.Stdout, "no differences; ") {
					t.Errorf("it ends with %d:\n%s%s", got.Code, got.Stdout, got.Stderr)
				}
			})
		}
	}
}
