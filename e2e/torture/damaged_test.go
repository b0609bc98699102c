package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
)

// recorded matches the transcripts that are damaged.
const recorded = "../../bridge/meaning/conversation/testdata/recorded/*.jsonl"

// TestDamagedTranscripts damages transcripts, and checks that they can be opened,
// exported and linted without a crash, and that all undamaged lines are kept.
func TestDamagedTranscripts(t *testing.T) {
	g := begin(t, "damaged transcripts", 200, 0.2)
	paths, err := filepath.Glob(recorded)
	if err != nil || len(paths) == 0 {
		t.Fatalf("there is nothing to damage: %v", err)
	}
	for g.more() {
		whole, err := os.ReadFile(paths[g.IntN(len(paths))])
		if err != nil {
			t.Fatal(err)
		}
		names, lines := damage(g, whole)
		path := filepath.Join(t.TempDir(), "flow.jsonl")
		if err := os.WriteFile(path, lines.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		g.judge(strings.Join(names, ", "), allRead(t, path, lines.untouched()))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// textLine is a line of a transcript that may have been damaged.
type textLine struct {
	text    []byte
	damaged bool
}

type textLines []textLine

func (ls textLines) bytes() []byte {
	var b []byte
	for _, l := range ls {
		b = append(append(b, l.text...), '\n')
	}
	return b
}

// untouched returns the contents of the undamaged lines.
func (ls textLines) untouched() []string {
	var all []string
	for _, l := range ls {
		var parsed line
		if !l.damaged && json.Unmarshal(l.text, &parsed) == nil {
			all = append(all, parsed.says())
		}
	}
	return all
}

// damage damages up to five lines, and returns the names of the damages.
func damage(g *group, whole []byte) (names []string, lines textLines) {
	for text := range bytes.SplitSeq(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
		lines = append(lines, textLine{text: text})
	}
	for range 1 + g.IntN(5) {
		d := damages[g.IntN(len(damages))]
		names = append(names, d.name)
		at := g.IntN(len(lines))
		if d.toLine == nil {
			other := g.IntN(len(lines))
			lines[at], lines[other] = lines[other], lines[at]
			continue
		}
		lines[at] = textLine{text: d.toLine(g, bytes.Clone(lines[at].text)), damaged: true}
	}
	return names, lines
}

// oddValues are values of a wrong type or out of range for a field.
var oddValues = []string{
	`null`, `true`, `-1`, `1.5`, `1e400`, `99999999999999999999`, `""`, `"x"`, `"\ud800"`, `[]`, `{}`, `[null]`, `{"a":"b"}`, `{"a":[1]}`,
	`{"jsonrpc":"2.0","id":{},"method":1}`, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":[]}`, `{"mark":{"seq":"x"}}`,
}

// damages are the ways to damage a line. If toLine is nil, the line is swapped with
// another.
var damages = []struct {
	name   string
	toLine func(g *group, text []byte) []byte
}{
	{"lines swapped", nil},
	{"bits flipped", func(g *group, text []byte) []byte {
		for range 1 + g.IntN(8) {
			if len(text) > 0 {
				text[g.IntN(len(text))] ^= 1 << g.IntN(8)
			}
		}
		return text
	}},
	{"cut", func(g *group, text []byte) []byte { return text[:g.IntN(len(text)+1)] }},
	{"cut in front", func(g *group, text []byte) []byte { return text[g.IntN(len(text)+1):] }},
	{"wrong type", func(g *group, text []byte) []byte {
		var fields map[string]json.RawMessage
		if json.Unmarshal(text, &fields) != nil || len(fields) == 0 {
			return text
		}
		var names []string
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names) // a fixed order, so that a seed repeats a run
		fields[names[g.IntN(len(names))]] = json.RawMessage(oddValues[g.IntN(len(oddValues))])
		text, err := json.Marshal(fields)
		if err != nil {
			panic(err) // names and values are valid JSON
		}
		return text
	}},
	{"huge", func(g *group, text []byte) []byte {
		pad := bytes.Repeat([]byte("lorem ipsum "), 1+g.IntN(500_000))
		return bytes.Replace(text, []byte(`"jsonrpc"`), append(append([]byte(`"pad":"`), pad...), `","jsonrpc"`...), 1)
	}},
	{"deep nesting", func(g *group, text []byte) []byte {
		depth := 1 + g.IntN(300_000)
		return fmt.Appendf(nil, `{"direction":"s2c","session_id":"s","server_label":"x","transport":"stdio","raw":%s%s}`, strings.Repeat(`[`, depth), strings.Repeat(`]`, depth))
	}},
	{"zero bytes", func(g *group, text []byte) []byte { return append(text, make([]byte, 1+g.IntN(100_000))...) }},
	{"two in one line", func(g *group, text []byte) []byte { return append(text, text...) }},
	{"no UTF-8", func(g *group, text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("e"), []byte{byte(128 + g.IntN(128))})
	}},
}

// allRead opens, exports and lints a transcript, and returns an error if one of these
// crashes or loses a whole line.
func allRead(t *testing.T, path string, whole []string) error {
	t.Helper()
	var wrong []error
	for _, c := range []struct {
		args []string
		ends []int // allowed exit codes; 1 for HAR, because a transcript may have no HTTP frames
	}{
		{[]string{"export", path, "--format", "jsonl"}, []int{0}},
		{[]string{"export", path, "--format", "json"}, []int{0}},
		{[]string{"export", path, "--format", "har"}, []int{0, 1}},
		{[]string{"export", path, "--format", "markdown"}, []int{0}},
		{[]string{"export", path, "--format", "mermaid"}, []int{0}},
		{[]string{"export", path, "--format", "html"}, []int{0}},
		{[]string{"lint", path}, []int{0, 8}},
	} {
		r := inspector.Run(t, inspector.Options{}, c.args...)
		if !slices.Contains(c.ends, r.Code) || crashed(r.Stderr) {
			wrong = append(wrong, fmt.Errorf("%s ends with %d: %.2000s", strings.Join(c.args, " "), r.Code, r.Stderr))
		}
		if slices.Contains(c.args, "jsonl") {
			wrong = append(wrong, holds("the export", r.Stdout, whole))
		}
	}
	p := inspector.StartWith(t, inspector.Options{}, "open", "--no-open", "--listen", "127.0.0.1:0", path)
	defer p.Stop()
	wrong = append(wrong, until("the opened transcript is read", func() bool {
		text, err := get(p, "/wire.jsonl")
		return err == nil && holds("", text, whole) == nil
	}))
	for _, part := range []string{"/", "/findings.json", "/wire/rows?from=0&count=200", "/wire/rows?from=0&count=200&filter=" + url.QueryEscape("kind:request or /x/"), "/wire/frames/1"} {
		_, err := get(p, part)
		wrong = append(wrong, err)
	}
	if crashed(p.Stderr()) {
		wrong = append(wrong, fmt.Errorf("open says %.2000s", p.Stderr()))
	}
	return errors.Join(wrong...)
}

func crashed(stderr string) bool { return strings.Contains(stderr, "goroutine ") }

// holds returns an error if a transcript lacks one of the whole lines.
func holds(name, transcript string, whole []string) error {
	found := map[string]bool{}
	lines, _, err := readLines(strings.NewReader(transcript))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, l := range lines {
		found[l.says()] = true
	}
	for _, w := range whole {
		if !found[w] {
			return fmt.Errorf("%s lacks %.300s", name, w)
		}
	}
	return nil
}
