package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// finding is one object of /findings.json.
type finding struct {
	Server, Rule, Severity, Text, Pointer, Section, Reference, Link string
	Frame                                                           int64
	Question, Call                                                  int
}

// findings returns the linter's findings so far, from the export.
func (s *session) findings() []finding {
	s.t.Helper()
	res, err := s.Client().Get(s.Base + "/findings.json")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET /findings.json: %s %v\n%s", res.Status, err, body)
	}
	var all []finding
	if err := json.Unmarshal(body, &all); err != nil {
		s.t.Fatalf("GET /findings.json: %v\n%s", err, body)
	}
	return all
}

// rules returns the ids of the broken rules, each once, in order.
func rules(all []finding) []string {
	var ids []string
	for _, f := range all {
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// foundAll waits until the findings are of exactly these rules.
func (s *session) foundAll(want ...string) []finding {
	s.t.Helper()
	var got []finding
	slices.Sort(want)
	s.page.Until(
		func() string {
			return "the rules found are " + strings.Join(want, " ") + "; they are " + strings.Join(rules(got), " ")
		},
		func() bool { got = s.findings(); return slices.Equal(rules(got), want) })
	return got
}

// breaks calls the demo's tool that breaks a rule.
func (s *session) breaks(rule string) {
	s.t.Helper()
	call := s.choose("Tools", "rule_breaker")
	call.Field("Rule").Choose(rule)
	call.Button("Call").Click()
}

// A finding is shown on the card, in the row of the wire log, in the frame's detail and
// in the server's panel, and can be exported.
func TestFindings(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25", "--name", "careless")
	s.breaks("secret")
	q := s.question("Which one would you like?").Contains("1 MUST at its field").Contains("secret-in-form")
	list := s.foundAll("secret-in-form")
	f := list[0]
	if f.Server != "careless" || f.Severity != "violation" || f.Question != 1 || f.Call != 1 ||
		f.Pointer != "/params/requestedSchema/properties/password" || f.Section == "" || !strings.HasPrefix(f.Reference, "MCP 2025-11-25") ||
		f.Link != "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#form-mode-security" {
		t.Errorf("exported is %+v", f)
	}
	q.Contains(f.Text).Link(f.Reference).HasAttr("href", f.Link)
	asked := s.Wire().Requests("s2c", "elicitation/create")
	if len(asked) != 1 || asked[0].Seq != f.Frame {
		t.Errorf("the finding is of frame %d, the question is %+v", f.Frame, asked)
	}

	// The row has a mark with a text, and the frame's detail has the whole finding.
	grid := s.page.Region("Wire log").Role("grid", "Frames")
	at := 0
	s.page.Until(func() string { return "the question's row says that a MUST is broken" }, func() bool {
		for i, r := range rows(s) {
			if line := strings.Join(r.cells, " "); strings.Contains(line, "elicitation/create") && strings.Contains(line, "1 finding (MUST)") {
				at = i + 1
				return true
			}
		}
		return false
	})
	grid.Role("row", "").All().Nth(at).Click()
	detail := s.page.Role("group", "Frame")
	detail.TabNamed("Findings 1").Click()
	detail.Contains("secret-in-form").Contains(f.Text)
	q.Button("Decline").Click()
	s.result("The answer was decline.")

	// Many at once are folded under their counts.
	s.breaks("many_at_once")
	q = s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait()
	q.Matches("counts its findings", func(shown string) bool {
		return strings.Contains(shown, "MUST · ") && strings.Contains(shown, "SHOULD · ") && strings.Contains(shown, "advice")
	})
	if shown := q.Text(); strings.Contains(shown, "default-rejected") {
		t.Errorf("the findings are not folded: %q", shown)
	}

	// The chip opens the panel, which has the same finding once, with its call, its frames
	// and the section of the specification, and which closes.
	q.Button("Decline").Click()
	s.breaks("secret")
	s.question("Which one would you like?").Button("Decline").Click()
	chip := s.page.Region("Servers").Button("").All().Having("data-findings", "s1")
	chip.Wait().Click()
	panel := s.page.Region("Findings of careless").Contains("A field or a message that asks for a secret").Contains("rule_breaker")
	panel.Link(f.Reference).HasAttr("href", f.Link)
	if got := page.Call[int](panel, "function() { return this.querySelectorAll('[data-rule]').length }"); got != len(rules(s.findings())) {
		t.Errorf("the panel has %d rules, the export %d", got, len(rules(s.findings())))
	}
	panel.Link("Export findings").HasAttr("download", "") // the answer names the file
	s.page.Until(func() string { return "the secret of two questions stands once" }, func() bool {
		return strings.Count(panel.Text(), f.Text) == 1
	})
	panel.Button("Close").Click()
	panel.Gone()
	s.serverDetails().Button("Findings").Click()
	s.page.Region("Findings of careless").Contains("secret-in-form")
	s.page.Press(page.Escape)
	panel.Gone()
}

// Findings depend on the revision, and are made in requests, rounds, errors and results.
func TestFindingsByRevision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol, breach string
		asks             int    // questions to decline
		rule             string // rule of the finding
	}{
		{"2025-11-25", "reused_elicitation_id", 2, "id-reused"},
		{"2025-11-25", "malformed_required_error", 0, "error-malformed"},
		{"2026-07-28", "left_over_elicitation_id", 1, "id-removed"},
		{"2026-07-28", "nothing_required", 0, "input-required-empty"},
		{"2026-07-28", "no_result_type", 0, "result-type-missing"},
		{"2026-07-28", "left_over_request", 0, "request-removed"},
	} {
		t.Run(c.protocol+" "+c.breach, func(t *testing.T) {
			t.Parallel()
			s := open(t, "--protocol", c.protocol)
			s.breaks(c.breach)
			for n := range c.asks {
				q := s.page.Region("Questions").Article("").All().Having("data-number", strconv.Itoa(n+1)).Wait()
				q.Button("Decline").Click()
			}
			var got []string
			s.page.Until(
				func() string { return fmt.Sprintf("%s is found; found are %q", c.rule, got) },
				func() bool { got = rules(s.findings()); return slices.Contains(got, c.rule) })
		})
	}
}
