package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/wire/redact"
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

// TestComparesNoBadInput gives diff and replay what is no recording, or one that means harm.
func TestComparesNoBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	touched := filepath.Join(dir, "touched")
	const escape, quoted = "\x1b]0;title\x07\u202e", `\u001b]0;title\u0007\u202e`
	talk := func(tool, argument, message, content string) string { // of texts in JSON but for their quotes
		var text string
		for i, one := range [][2]string{
			{"meta", fmt.Sprintf(`"note":{"kind":"process-started","program":"touch","command":["touch",%q]},"text":"started"`, touched)},
			{"c2s", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":{"token":"%s"}}}`, tool, argument)},
			{"s2c", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"%s","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`, message)},
			{"c2s", fmt.Sprintf(`"raw":{"jsonrpc":"2.0","id":"e","result":{"action":"accept","content":{"a":"%s"}}}`, content)},
			{"s2c", `"raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`},
		} {
			text += fmt.Sprintf(`{"v":1,"session_id":"s","server_label":"x","seq":%d,"ts":"2026-11-28T10:00:0%dZ","direction":%q,"transport":"stdio",%s}`+"\n", i+1, i, one[0], one[1])
		}
		return text
	}
	name := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := talk("clean", "t", "Sure?", "x")
	good := name("good.jsonl", whole)
	for _, c := range []struct {
		args []string
		code int
		says string // in standard output or error
	}{
		{[]string{"diff", good, name("cut.jsonl", whole[:len(whole)-30])}, exitFindings, "cut.jsonl, line 5: the last line is incomplete"},
		{[]string{"replay", name("cut2.jsonl", whole[:20]), "--", "none"}, exitError, "cut2.jsonl, line 1: "},
		{[]string{"diff", good, name("empty.jsonl", "")}, exitError, "empty.jsonl has no frame to compare"},
		{[]string{"diff", name("blank.jsonl", "\n\n"), filepath.Join(dir, "blank.jsonl")}, exitError, "blank.jsonl has no frame to compare"},
		{[]string{"replay", filepath.Join(dir, "empty.jsonl"), "--", "none"}, exitError, "empty.jsonl has no call to make again"},
		{[]string{"replay", name("uncalled.jsonl", strings.SplitAfter(whole, "\n")[0]), "--", "none"}, exitError, "uncalled.jsonl has no call to make again"},
		{[]string{"diff", good, name("archive.har", "{\n\"log\":{\"version\":\"1.2\",\"entries\":[]}}\n")}, exitError, "archive.har, line 1: "},
		{[]string{"diff", name("letter.txt", "Dear Sir,\n"), good}, exitError, "letter.txt, line 1: not a JSON object; there is no frame in it: it is not a transcript"},
		{[]string{"replay", filepath.Join(dir, "letter.txt"), "--", "none"}, exitError, "letter.txt, line 1: not a JSON object"},
		{[]string{"diff", dir, good}, exitError, "it is a folder"},
		{[]string{"replay", dir, "--", "none"}, exitError, "it is a folder"},
		{[]string{"diff", good, filepath.Join(dir, "none.jsonl")}, exitError, `none.jsonl": no such file`},
		{[]string{"diff", "--volatile", name("loop.yaml", "volatile: &a [*a]\n"), good, good}, exitUsage, `loop.yaml:1:15: there is no anchor "a" before this alias`},
		{[]string{"diff", good, name("hostile"+escape+".jsonl", talk("clean"+quoted, "t"+quoted, "Sure? "+quoted, "x"+quoted))}, exitContent, "tool clean" + quoted},
		{[]string{"diff", filepath.Join(dir, "hostile"+escape+".jsonl"), name("again.jsonl", talk("clean"+quoted, "t"+quoted, "Really sure? "+quoted, "x"+quoted))}, exitFindings, `"Sure? ` + quoted + `": the message was "Sure? `},
		{[]string{"replay", filepath.Join(dir, "hostile"+escape+".jsonl")}, exitUsage, "or --recorded-target, which is: touch " + touched},
		{[]string{"replay", good, "--", "no-such-program-" + escape}, exitConnect, "no-such-program-" + quoted},
		{[]string{"replay", name("redacted.jsonl", talk("clean", redact.Placeholder, "Sure?", "x")), "--env", asBooking + "=T-1", "--", self(t)}, exitContent, "call 1, clean: it is not made again: the recording leaves out what it was called with"},
		{[]string{"replay", name("secret.jsonl", strings.NewReplacer(`{"token":"t"}`, "{}", `"a":`, `"seats":`).Replace(talk("book", "t", "How many seats?", redact.Placeholder))), "--protocol", "2025-11-25", "--env", asBooking + "=T-1", "--", self(t)}, exitUnanswered, "the recording leaves out what was answered"},
	} {
		got := inspectorRun(t, c.args...)
		if text := got.out + got.err; got.code != c.code || !strings.Contains(text, c.says) || strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("%q ends with %d, want %d and %q:\n%s", c.args, got.code, c.code, c.says, text)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("the recorded command ran")
	}
	if after, err := os.ReadFile(good); err != nil || string(after) != whole {
		t.Errorf("%v: the recording is another one", err)
	}
	if got := inspectorRun(t, "replay", good, "--recorded-target"); got.code != exitConnect {
		t.Errorf("the recorded command is no server: %d\n%s%s", got.code, got.out, got.err)
	}
	if _, err := os.Stat(touched); err != nil {
		t.Error("with --recorded-target the recorded command did not run")
	}
}

// self returns the path of the test binary.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
