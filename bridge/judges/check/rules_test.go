package check

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/testdata/logtest"
)

// TestCitationsExist expects every section that a rule cites to exist; see the test of the
// linter's rules.
func TestCitationsExist(t *testing.T) {
	raw, err := os.ReadFile("../../meaning/lint/testdata/sections.json")
	if err != nil {
		t.Fatal(err)
	}
	var headings map[string]map[string][]string // section titles, by revision and page
	if err := json.Unmarshal(raw, &headings); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range lint.Rules() {
		seen[r.ID] = true
	}
	for _, r := range report.Rules() {
		if seen[r.ID] || r.Breaks == "" || r.Evidence == "" || r.Unclear == "" {
			t.Errorf("%+v is there twice, or says too little", r)
		}
		seen[r.ID] = true
		for revision, s := range r.Sources {
			if !slices.Contains(headings[revision][s.Page], s.Section) {
				t.Errorf("%s: the page %s of %s has no section %q", r.ID, s.Page, revision, s.Section)
			}
			if v, reference := r.Verdict(revision); (v == report.Inconclusive) != (s.Severity == lint.Advice) || (v == report.Inconclusive) != (reference == "") {
				t.Errorf("%s in %s: %s, %q", r.ID, revision, v, reference)
			}
		}
	}
}

// listed writes a text of one condition as it is, and one of several, which are joined with
// "; or ", as a list.
func listed(text string) string {
	if conditions := strings.Split(text, "; or "); len(conditions) > 1 {
		return "one of\n  - " + strings.Join(conditions, ";\n  - ") + ".\n"
	}
	return text + ".\n"
}

// TestDocumented compares the part of docs/check-rules.md below its mark with the rules;
// -update writes it.
func TestDocumented(t *testing.T) {
	const file, mark = "../../../docs/check-rules.md", "<!-- rules -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), mark)
	var want strings.Builder
	for _, r := range report.Rules() {
		fmt.Fprintf(&want, "\n### `%s`\n\n- **What breaks it:** %s.\n- **Evidence:** %s- **Inconclusive when:** %s", r.ID, r.Breaks, listed(r.Evidence), listed(r.Unclear))
		for _, revision := range mcp.Revisions {
			verdict, reference := r.Verdict(revision)
			if s, exists := r.Sources[revision]; exists && reference == "" {
				reference = s.Reference(revision)
			}
			if reference != "" {
				fmt.Fprintf(&want, "- **%s:** %s (%s).\n", revision, verdict, reference)
			}
		}
	}
	logtest.Golden(t, file, []byte(head+mark+want.String()))
}
