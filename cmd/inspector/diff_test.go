package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDiff records the demo's calls twice, and once more without a question.
func TestDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	answers := write(t, "a.yaml", "default: {accept: valid}\n")
	record := func(name, tool string) (path, text string) {
		path = filepath.Join(dir, name)
		if got := inspectorRun(t, "call", tool, "--protocol", "2025-11-25", "--args", "{}", "--answers", answers, "--record", path); got.code != exitOK {
			t.Fatalf("%s ended with %d:\n%s", tool, got.code, got.err)
		}
		read, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, string(read)
	}
	old, text := record("old.jsonl", "deploy")
	now, _ := record("new.jsonl", "deploy")
	other, _ := record("other.jsonl", "onboard")
	asks := regexp.MustCompile(`"elicitation":\d`)
	var kept []string
	for l := range strings.Lines(text) {
		if !asks.MatchString(l) {
			kept = append(kept, l)
		}
	}
	unasked := write(t, "unasked.jsonl", strings.Join(kept, ""))
	result := write(t, "result.jsonl", strings.Replace(text, "is deployed", "is live", 1))
	broken := write(t, "broken.jsonl", text+"{\"half\n")
	volatile := write(t, "own.yaml", "volatile:\n  - {part: result, pointer: /content/*/text}\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{old, now}, exitOK, "no differences; 1 call compared\n"},
		{[]string{old, unasked}, exitFindings, `consent: tool deploy, "Which build should go out?": the question is gone, and the call still succeeds [question-gone]`},
		{[]string{old, unasked, "--format", "junit"}, exitFindings, `type="question-gone"`},
		{[]string{old, result}, exitContent, "content: tool deploy: the result at /content/0/text was "},
		{[]string{old, result, "--volatile", volatile}, exitOK, "no differences"},
		{[]string{old, other}, exitContent, "content: tool deploy: the call was not made again"},
		{[]string{old, broken}, exitOK, "no differences"},
	} {
		got := inspectorRun(t, append([]string{"diff"}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.out, c.want) {
			t.Errorf("%q ends with %d, want %d and %q:\n%s%s", c.args, got.code, c.code, c.want, got.out, got.err)
		}
	}

	report := filepath.Join(dir, "report.json")
	var read struct{ Differences []struct{ Kind string } }
	if got := inspectorRun(t, "diff", old, unasked, "-o", report); got.code != exitFindings || got.out != "" {
		t.Errorf("%d: %s", got.code, got.out)
	} else if text, err := os.ReadFile(report); err != nil || json.Unmarshal(text, &read) != nil || read.Differences[0].Kind != "question-gone" {
		t.Errorf("%v: %s", err, text)
	}

	// What is learned is read from then on, and never overwritten.
	if got := inspectorRun(t, "diff", "--learn", old, result); got.code != exitOK || !strings.Contains(got.err, "old.volatile.yaml has 1 place") {
		t.Errorf("%d: %s", got.code, got.err)
	}
	if got := inspectorRun(t, "diff", old, result); got.code != exitOK || !strings.Contains(got.err, "old.volatile.yaml says what is no difference (1 place)") {
		t.Errorf("%d: %s%s", got.code, got.out, got.err)
	}
	if got := inspectorRun(t, "diff", "--learn", old, result); got.code != exitError || !strings.Contains(got.err, "old.volatile.yaml") {
		t.Errorf("%d: %s", got.code, got.err)
	}
}
