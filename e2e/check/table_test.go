package check

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/demo/faulty"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// Everything that is planted in the faulty server is found, and nothing else.
func TestFaultyServer(t *testing.T) {
	compare(t, checked(t, inspector.Binary, "demo", "--faulty"), faulty.Planted())
}

// In the demo server, too.
func TestDemo(t *testing.T) {
	compare(t, checked(t, inspector.Binary, "demo"), faulty.PlantedInDemo())
}

// Servers that are right get no fail and no warning.
func TestRightServersAreClean(t *testing.T) {
	for name, command := range servers.Right(t) {
		t.Run(name, func(t *testing.T) { compare(t, checked(t, command...), nil) })
	}
}

// checked is the report of `inspector check` on a server.
func checked(t *testing.T, command ...string) check.Report {
	t.Helper()
	out, code := run(t, append([]string{"check", "-q", "--format", "json", "--allow-destructive", "delete_files", "--"}, command...)...)
	var report check.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("exit code %d: reading the report: %v", code, err)
	}
	if report.Stopped != "" || len(report.Calls) == 0 {
		t.Fatalf("%d calls were checked; stopped: %q", len(report.Calls), report.Stopped)
	}
	t.Logf("%d trials in %v", len(report.Results), report.Took)
	return report
}

// compare says what was found though it is not planted, and what is planted and was not
// found.
func compare(t *testing.T, report check.Report, plants []faulty.Plant) {
	t.Helper()
	seen := map[string]bool{}
	ran := map[string]bool{}
	for _, r := range report.Results {
		tool := report.Calls[r.Call].Key
		ran[key(tool, r.Revision, r.Behaviour)] = true
		for _, f := range r.Findings {
			if f.Verdict != check.Fail && f.Verdict != check.Warn {
				continue
			}
			i := slices.IndexFunc(plants, func(p faulty.Plant) bool { return p.Tool == tool && covers(p, r, f) })
			if i < 0 {
				t.Errorf("%s, %s, %s (question %d, field %q): %s %s: %s\n%s", tool, r.Revision, r.Behaviour, r.Question, r.Field, f.Verdict, f.Rule, f.Text, r.Reproduce)
				continue
			}
			seen[key(tool, r.Revision, r.Behaviour, string(f.Verdict), strings.Join(plants[i].Rules, "|"))] = true
		}
	}
	for _, p := range plants {
		for _, revision := range p.Revisions {
			tried := false
			for _, b := range p.Behaviours {
				if !ran[key(p.Tool, revision, b)] {
					continue
				}
				tried = true
				if rules := strings.Join(p.Rules, "|"); !seen[key(p.Tool, revision, b, p.Verdict, rules)] {
					t.Errorf("%s, %s, %s: no %s %s", p.Tool, revision, b, p.Verdict, rules)
				}
			}
			if !tried {
				t.Errorf("%s, %s: none of %s was tried", p.Tool, revision, p.Behaviours)
			}
		}
	}
}

func covers(p faulty.Plant, r check.Result, f check.Finding) bool {
	shows := slices.Contains(p.Behaviours, r.Behaviour) || slices.Contains(p.May, r.Behaviour) || slices.Contains(p.May, "*")
	return shows && string(f.Verdict) == p.Verdict && slices.Contains(p.Rules, f.Rule) && slices.Contains(p.Revisions, r.Revision)
}

func key(parts ...string) string { return strings.Join(parts, " ") }
