// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"path/filepath"
	"testing"
)

// others answers requests other than elicitations, without which a server of 2026-07-28 asks
// forever.
const others = `
answers:
  - {match: {mode: sampling}, answer: {result: {role: assistant, model: m, content: {type: text, text: Gutters.}}}}
  - {match: {mode: roots}, answer: {result: {roots: [{uri: "file:///books", name: Books}]}}}
`

// firstAnswers maps policies to answers files for all questions of the demo server, for the first
// session.
var firstAnswers = map[string]string{
	"accepting": others + "  - {answer: {accept: valid, anyway: true}, retry: 20ms}",
	"declining": others + "  - {answer: decline}",
	"wavering":  others + "  - {answer: {accept: valid, anyway: true}, times: 1, retry: 20ms}\n  - {answer: cancel}",
}

// TestAnswersCommand records a call, writes an answers file from the transcript, and checks that
// it leads to the same result, with the built binary.
func TestAnswersCommand(t *testing.T) {
	t.Parallel()
	answers := write(t, "first.yaml", firstAnswers["accepting"])
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	first := inspectorRun(t, "call", "deploy", "--answers", answers, "--record", path)
	for name, args := range map[string][]string{"answers": {"--call", "1"}, "scenario": {"--scenario"}} {
		written := inspectorRun(t, append([]string{"answers", path}, args...)...)
		if written.code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, written.code, written.err)
		}
		file := write(t, name+".yaml", written.out)
		again := inspectorRun(t, "call", "deploy", "--answers", file)
		if name == "scenario" {
			continue
		}
		if again.code != 0 || again.out != first.out {
			t.Errorf("%s: exit code %d\n%s%s", name, again.code, again.out, again.err)
		}
	}
	if got := inspectorRun(t, "answers", path, "--call", "7"); got.code != exitUsage {
		t.Errorf("exit code %d for a call that is not there", got.code)
	}
	if got := inspectorRun(t, "answers", path, "--output", path); got.code != exitUsage {
		t.Errorf("exit code %d for writing over the transcript", got.code)
	}
}
