// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/check/report"
)

// checked runs a check of the demo server with the built binary, and returns its report.
func checked(t *testing.T, args ...string) (report.Report, ended) {
	t.Helper()
	got := inspectorRun(t, append(append([]string{"check", "--format", "json"}, args...), over(t)["stdio"]...)...)
	var report report.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("exit code %d: %v\n%s\n%s", got.code, err, got.out, got.err)
	}
	return report, got
}

// TestCheckReproduces checks that the command line in a result reproduces the result.
func TestCheckReproduces(t *testing.T) {
	t.Parallel()
	report, _ := checked(t, "transfer_money", "--behaviour", "missing-field", "--protocol", "2025-11-25")
	if len(report.Results) != 1 {
		t.Fatalf("there are %d results", len(report.Results))
	}
	line, text, _ := strings.Cut(report.Results[0].Reproduce, " <<'EOF'\n")
	if !strings.Contains(line, "--protocol 2025-11-25") || !strings.Contains(line, `--env INSPECTOR_TEST_RUN="$INSPECTOR_TEST_RUN" -- `) {
		t.Errorf("the command line is %s", line)
	}
	answers := write(t, "answers.yaml", strings.TrimSuffix(text, "EOF"))
	stdin, err := os.Open(answers)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	got := inspectorRunWith(t, stdin, append([]string{"call", "transfer_money", "--protocol", "2025-11-25", "--answers", "-"}, over(t)["stdio"]...)...)
	if !strings.Contains(got.err, "(deliberate: missing-field)") {
		t.Errorf("it did not do the same:\n%s", got.err)
	}
}

// TestCheckCallsNothingForbidden checks that a destructive tool is called only if that is
// allowed.
func TestCheckCallsNothingForbidden(t *testing.T) {
	t.Parallel()
	plan := write(t, "plan.yaml", "calls: [{tool: delete_files}, {tool: who_am_i}, {tool: ask}]\nskip: [as*]\n")
	allowing := write(t, "allowing.yaml", "calls: [{tool: delete_files}]\nallowDestructive: [delete_files]\n")
	for _, c := range []struct {
		name    string
		args    []string
		calls   []string
		skipped []string
	}{
		{"a tool that is named", []string{"delete_files"}, nil, []string{"delete_files"}},
		{"a tool that a plan names", []string{"--plan", plan}, nil, []string{"delete_files", "ask"}},
		{"a tool that is allowed", []string{"delete_files", "--allow-destructive", "delete_files"}, []string{"delete_files"}, nil},
		{"a tool that a plan allows", []string{"--plan", allowing}, []string{"delete_files"}, nil},
		{"tools that only read", []string{"ask", "who_am_i", "--read-only"}, nil, []string{"ask"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report, got := checked(t, append(c.args, "--behaviour", "accept", "--protocol", "2025-11-25")...)
			var calls, skipped []string
			for _, call := range report.Calls {
				calls = append(calls, call.Key)
			}
			for _, s := range report.Skipped {
				skipped = append(skipped, s.Key)
				if !strings.Contains(got.err, "will not call tool "+s.Key+": "+s.Why) {
					t.Errorf("it does not say that it will not call %s:\n%s", s.Key, got.err)
				}
			}
			if !slices.Equal(calls, c.calls) || !slices.Equal(skipped, c.skipped) {
				t.Errorf("it called %v and skipped %v", calls, skipped)
			}
		})
	}
}

// TestCheckText checks the matrix and a finding in the report for people.
func TestCheckText(t *testing.T) {
	t.Parallel()
	got := inspectorRun(t, append([]string{"check", "crash_on_decline", "--behaviour", "accept", "--behaviour", "decline"}, over(t)["stdio"]...)...)
	for _, want := range []string{"tool crash_on_decline\n", "2026-07-28  2025-11-25  2025-06-18", "  accept   ok          ok          ok", "  decline  FAIL        FAIL        FAIL", "FAIL crashes and hangs: One answer ends the server", "[process-ended]", "exited with code 3", "\ninspector call crash_on_decline --args '{}' --protocol 2026-07-28"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("it does not say %q:\n%s\n%s", want, got.out, got.err)
		}
	}
}

// TestCheckWithABaseline checks that findings that an earlier report has do not fail the check.
func TestCheckWithABaseline(t *testing.T) {
	t.Parallel()
	args := []string{"check", "crash_on_decline", "--protocol", "2025-11-25", "--behaviour", "decline", "--format", "json"}
	first := inspectorRun(t, append(args, over(t)["stdio"]...)...)
	if first.code != exitFindings {
		t.Fatalf("exit code %d\n%s\n%s", first.code, first.out, first.err)
	}
	args[len(args)-1] = "text"
	args = append(args, "--baseline", write(t, "earlier.json", first.out))
	again := inspectorRun(t, append(args, over(t)["stdio"]...)...)
	if again.code != exitOK || !strings.Contains(again.out, ": 0 new, 0 fixed, ") {
		t.Errorf("the same again: exit code %d\n%s\n%s", again.code, again.out, again.err)
	}
	wrong := inspectorRun(t, append(args, "--baseline", write(t, "wrong.json", `{"format":7}`))...)
	if wrong.code != exitUsage {
		t.Errorf("a baseline that is none: exit code %d\n%s", wrong.code, wrong.err)
	}
}

// TestReportWithoutServer expects a report in the chosen format, also where the server does
// not start, or none is named where there is no terminal.
func TestReportWithoutServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		kind string
	}{
		{[]string{"--", filepath.Join(t.TempDir(), "missing")}, exitConnect, "unreachable"},
		{nil, exitNoTarget, "no-target"},
	} {
		for format, part := range map[string]string{"junit": `type="` + c.kind + `"`, "json": `"kind": "` + c.kind + `"`, "sarif": `"ruleId": "` + c.kind + `"`, "markdown": "Not judged", "html": "Not judged", "text": "not judged"} {
			got := inspectorRun(t, append([]string{"check", "--format", format}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.out, part) {
				t.Errorf("%s of %v: exit code %d\n%s\n%s", format, c.args, got.code, got.out, got.err)
			}
			if c.args == nil && (strings.Contains(got.out, "built in") || strings.Contains(got.out, "Check of") || strings.Contains(got.out, "checked in") || strings.Contains(got.out, "\n. ")) {
				t.Errorf("%s names a server, where none was named:\n%s", format, got.out)
			}
		}
	}
}

// TestAllowsByPattern expects --allow-destructive to take patterns, and to say what they let
// in.
func TestAllowsByPattern(t *testing.T) {
	t.Parallel()
	_, got := checked(t, "delete_files", "--allow-destructive", "delete_*", "--behaviour", "decline", "--protocol", "2025-11-25")
	if got.code != exitOK || !strings.Contains(got.err, "(made up), which is annotated with destructiveHint and allowed") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
}

// TestCheckClients checks that each format of a check says how its questions fit clients, and that this changes no
// exit code.
func TestCheckClients(t *testing.T) {
	t.Parallel()
	for format, has := range map[string][]string{
		"text":     {"1 trial", "As clients show it:", "codex: guard passes unseen", "[guard-key, reported]", "codex is Codex, "},
		"json":     {`"behaviours"`, `"fit": {`, `"verdict": "guard"`, `"evidence": "read, reported"`, `"how": "reported"`, ".jsonl"},
		"junit":    {`<testcase name="accept"`, `<testcase name="codex"`, `type="guard"`, "guard-key, reported"},
		"markdown": {"# Check of", "# Questions as clients show them", "guard-key, reported"},
		"html":     {"As clients show it</h2>", "guard passes unseen", "guard-key, reported"},
		"sarif":    {`"ruleId": "guard-key"`, `"how": "reported"`},
	} {
		args := append([]string{"check", "delete_files", "--behaviour", "accept", "--protocol", "2025-11-25", "--allow-destructive", "*", "--clients", "codex", "--quiet", "--format", format, "--record", t.TempDir()}, over(t)["stdio"]...)
		got := inspectorRun(t, args...)
		if got.code != exitOK {
			t.Errorf("%s: %d: %s", format, got.code, got.err)
		}
		for _, part := range has {
			if !strings.Contains(got.out, part) {
				t.Errorf("%s has no %q:\n%s", format, part, got.out)
			}
		}
		if strings.Count(got.out, `"version": "2.1.0"`) > 1 {
			t.Errorf("%s is two files:\n%s", format, got.out)
		}
	}
	if got := inspectorRun(t, append([]string{"check", "--clients", "kodex"}, over(t)["stdio"]...)...); got.code != exitUsage {
		t.Errorf("an unknown client: %d: %s", got.code, got.err)
	}
}
