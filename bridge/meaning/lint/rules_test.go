package lint

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCitationsExist expects every cited section to exist. testdata/sections.json has the
// headings of the specification's pages in each revision, as modelcontextprotocol.io shows
// them.
func TestCitationsExist(t *testing.T) {
	raw, err := os.ReadFile("testdata/sections.json")
	if err != nil {
		t.Fatal(err)
	}
	var headings map[string]map[string][]string // by revision and page
	if err := json.Unmarshal(raw, &headings); err != nil {
		t.Fatal(err)
	}
	documents := map[string][]string{
		taskExtension:    {"Capability Negotiation", "Tasks", "Task Status", "Task Polling", "Task Update Requests"},
		rfc6750:          {"3. The WWW-Authenticate Response Header Field"},
		rfc8259:          {"4. Objects", "8.1. Character Encoding"},
		rfc8414:          {"3.2. Authorization Server Metadata Response", "3.3. Authorization Server Metadata Validation"},
		rfc9207:          {"2.4. Validating the Issuer Identifier"},
		rfc9728:          {"3.2. Protected Resource Metadata Response", "3.3. Protected Resource Metadata Validation"},
		sep2356:          {"Backward Compatibility"},
		schemaValidation: {"6.1.2. enum", "6.3.3. pattern", "9.2. default"},
	}
	seen := map[string]bool{}
	for _, r := range slices.Concat(Rules(), probeRules) {
		if seen[r.ID] || r.Breaks == "" || len(r.Sources) == 0 {
			t.Errorf("%+v is there twice, or says too little", r)
		}
		seen[r.ID] = true
		for revision, s := range r.Sources {
			pages, known := headings[revision]
			sections, exists := pages[s.Page]
			switch {
			case !known:
				t.Errorf("%s: there is no revision %s", r.ID, revision)
			case (s.Link(revision) == "") != (s.Document == "" && s.Page == ""):
				t.Errorf("%s: the link is %q", r.ID, s.Link(revision))
			case s.Document != "":
				if s.Page != "" || !slices.Contains(documents[s.Document], s.Section) {
					t.Errorf("%s: %s has no section %q", r.ID, s.Document, s.Section)
				}
			case s.Page == "":
				if s.Section != "" || s.Severity != Advice {
					t.Errorf("%s in %s: nothing backs a %s", r.ID, revision, s.Severity)
				}
			case !exists:
				t.Errorf("%s: revision %s has no page %s", r.ID, revision, s.Page)
			case s.Section != introduction && !slices.Contains(sections, s.Section):
				t.Errorf("%s: the page %s of %s has no section %q", r.ID, s.Page, revision, s.Section)
			}
		}
	}
}

// TestRuleWithoutSource expects no finding of a rule in a revision without a source for
// it.
func TestRuleWithoutSource(t *testing.T) {
	for _, r := range Rules() {
		for _, revision := range []string{june, nov, july} {
			l := newLinter(revision)
			l.find(r.ID, "", "Broken.")
			s, exists := r.Sources[revision]
			if exists != (len(l.findings) == 1) {
				t.Fatalf("%s in %s: %+v", r.ID, revision, l.findings)
			}
			if exists && (l.findings[0].Severity != s.Severity || l.findings[0].Section != s.Section || !strings.Contains(l.findings[0].Reference, s.Section)) {
				t.Errorf("%s in %s: %+v", r.ID, revision, l.findings[0])
			}
		}
	}
}
