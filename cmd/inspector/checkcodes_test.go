// The race detector makes each process of these tests several times slower. The other tests of
// checks run fewer processes with it, and those of bridge/judges/check more trials.

//go:build !race

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/check/report"
)

// TestCheckTries checks that each kind of trial is made and ends, over a process and in each
// revision.
func TestCheckTries(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "transcripts")
	behaviours := []string{"accept", "decline", "decline-always", "form-only", "several-at-once", "missing-field", "null-result", "method-not-found", "response-twice", "kill-process", "new-session"}
	args := []string{"transfer_money", "--record", folder}
	for _, name := range behaviours {
		args = append(args, "--behaviour", name)
	}
	report, got := checked(t, args...)
	if report.Server != "demo 1.0.0" || len(report.Revisions) != 3 || len(report.Calls) != 1 || report.Stopped != "" {
		t.Errorf("the report is of %q in %v with %v, stopped: %s\n%s", report.Server, report.Revisions, report.Calls, report.Stopped, got.err)
	}
	made := map[string]int{}
	for _, r := range report.Results {
		made[r.Behaviour]++
		if r.Outcome == "" || r.Took <= 0 || !strings.HasPrefix(r.Reproduce, "inspector c") || !strings.HasSuffix(r.Reproduce, "\nEOF") && r.Behaviour != "several-at-once" {
			t.Errorf("%s in %s: outcome %q in %v, again by %s", r.Behaviour, r.Revision, r.Outcome, r.Took, r.Reproduce)
		}
		if _, err := os.Stat(filepath.Join(folder, r.Transcript)); err != nil {
			t.Errorf("%s in %s: %v", r.Behaviour, r.Revision, err)
		}
	}
	for _, name := range behaviours {
		want := 3
		switch name {
		case "form-only", "method-not-found":
			want = 2
		}
		if made[name] != want {
			t.Errorf("%s was tried %d times, want %d", name, made[name], want)
		}
	}
	if !strings.Contains(got.err, `will call tool transfer_money with {"to":"Greenfield Bakery"`) {
		t.Errorf("it does not say what it will call:\n%s", got.err)
	}
}

// TestCheckExitCodes runs the built binary for each exit code.
func TestCheckExitCodes(t *testing.T) {
	t.Parallel()
	wrong := write(t, "wrong.yaml", "calls:\n  - tol: ask\nbehaviours: [acept]\n")
	builtin := write(t, "builtin.yaml", "target: demo\n")
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "there.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	demo := over(t)["stdio"]
	for _, c := range []struct {
		name   string
		args   []string
		target []string
		code   int
		err    string
	}{
		{"nothing is wrong", []string{"ask", "--behaviour", "decline", "--protocol", "2025-11-25"}, demo, exitOK, ""},
		{"nothing is wrong in process", []string{"ask", "--behaviour", "decline", "--protocol", "2025-11-25", "--plan", builtin}, nil, exitOK, ""},
		{"nothing is wrong over HTTP", []string{"ask", "--behaviour", "decline"}, over(t)["HTTP"], exitOK, ""},
		{"a crash", []string{"crash_on_decline", "--behaviour", "decline", "--protocol", "2026-07-28"}, demo, exitFindings, ""},
		{"no such format", []string{"--format", "word"}, demo, exitUsage, "--format"},
		{"no such behaviour", []string{"--behaviour", "declin"}, demo, exitUsage, `did you mean "decline"?`},
		{"no such witness", []string{"ask", "--witness", "file:orders"}, demo, exitUsage, "a witness is tool:NAME"},
		{"a blind witness", []string{"ask", "--witness", "command:echo 1", "--behaviour", "decline", "--protocol", "2025-11-25"}, demo, exitWitnessBlind, "says the same before and after"},
		{"a world that cannot be put back", []string{"ask", "--reset", "exit 3"}, demo, exitError, "running --reset: exit status 3"},
		{"no such tool", []string{"depoly"}, demo, exitUsage, `did you mean "deploy"?`},
		{"a plan with mistakes", []string{"--plan", wrong}, demo, exitUsage, `wrong.yaml:2:5: a call has no key "tol"; did you mean "tool"?`},
		{"its behaviours", []string{"--plan", wrong}, demo, exitUsage, `wrong.yaml:3:14: a behaviour cannot be "acept"; did you mean "accept"?`},
		{"a folder with files", []string{"--record", full}, demo, exitUsage, "is not empty"},
		{"no server", []string{"ask"}, []string{"--", "false"}, exitConnect, "could not connect"},
		{"a server that crashes as it starts", []string{"ask"}, []string{"--", "sh", "-c", "echo 'Error: no key' >&2; echo usage >&2; exit 1"}, exitConnect, "its standard error says: Error: no key"},
		{"no HTTP server", []string{"ask"}, []string{"http://127.0.0.1:1/mcp"}, exitConnect, "could not connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := inspectorRun(t, append(append([]string{"check"}, c.args...), c.target...)...)
			if got.code != c.code || !strings.Contains(got.err, c.err) {
				t.Errorf("exit code %d, want %d\n%s\n%s", got.code, c.code, got.out, got.err)
			}
		})
	}
}

// TestNoGreenWithoutWork expects a check that could not judge what it was to judge to end
// with an exit code of its own, to say what to do, and to have a failed case in JUnit.
func TestNoGreenWithoutWork(t *testing.T) {
	t.Parallel()
	demo := over(t)["stdio"]
	answers := write(t, "answers.yaml", "default: {fault: internal-error}")
	only := []string{"--protocol", "2025-11-25", "--behaviour", "decline"}
	for _, c := range []struct {
		name string
		args []string
		code int
		kind report.ProblemKind
		does string
	}{
		{"all that is named is destructive", append([]string{"delete_files"}, only...), exitNothingTried, report.NothingTried, "--allow-destructive '*' would let in delete_files"},
		{"a named call asks nothing", append([]string{"ask", "who_am_i"}, only...), exitAskedNothing, report.AskedNothing, "--args"},
		{"a call ends in an error", append([]string{"ask", "deploy", "--args", `{"service":7}`}, only...), exitCallBroken, report.CallBroken, "--args"},
		{"an honest call fails", append([]string{"transfer_money", "--answers", answers}, only...), exitHonestFailed, report.HonestFailed, "--answers"},
		{"no behaviour fits", []string{"ask", "--protocol", "2025-11-25", "--behaviour", "drop-stream"}, exitNothingTried, report.NothingTried, "Name a tool that asks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report, got := checked(t, c.args...)
			if got.code != c.code || len(report.Problems) == 0 || report.Problems[0].Kind != c.kind || !strings.Contains(report.Problems[0].Do, c.does) || !strings.Contains(got.err, c.does) {
				t.Fatalf("exit code %d, %+v\n%s", got.code, report.Problems, got.err)
			}
			junit := inspectorRun(t, append(append([]string{"check", "--format", "junit"}, c.args...), demo...)...)
			if junit.code != c.code || !strings.Contains(junit.out, `type="`+string(c.kind)+`"`) {
				t.Errorf("exit code %d\n%s", junit.code, junit.out)
			}
		})
	}
}
