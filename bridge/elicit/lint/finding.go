package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says how binding the rule is that a message breaks.
type Severity int

// The severities, the gravest first.
const (
	Violation Severity = iota // of a MUST, or of the protocol's own schema
	Should                    // of a SHOULD
	Advice                    // of no rule, but people or clients will stumble
)

var severities = []string{"violation", "should", "advice"}

// String names the severity in a word, as it is exported.
func (s Severity) String() string { return severities[s] }

// Word returns the display name. SHOULD is the word of the specification (RFC 2119).
func (s Severity) Word() string { return []string{"Violation", "SHOULD", "Advice"}[s] }

// MarshalText writes the severity as its word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the severity's word.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities, string(text))
	if i < 0 {
		return fmt.Errorf("there is no severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Finding is one thing that the linter says of a message.
type Finding struct {
	Rule      string   `json:"rule"` // the rule's id, such as "secret-in-form"
	Severity  Severity `json:"severity"`
	Text      string   `json:"text"`      // a sentence in plain words
	Pointer   string   `json:"pointer"`   // JSON pointer (RFC 6901) into what was linted; "" is the whole
	Section   string   `json:"section"`   // heading that the rule stands under; "" where there is none
	Reference string   `json:"reference"` // "MCP 2025-11-25, client/elicitation, Safe URL Handling"
}

// GravestFirst returns the findings by severity.
func GravestFirst(list []Finding) []Finding {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
}

// Broken is the finding that a message of a revision breaks a rule at a place. There
// is none where the revision does not have the rule.
func Broken(revision, rule, pointer, format string, args ...any) []Finding {
	l := newLinter(revision)
	l.find(rule, pointer, format, args...)
	return l.findings
}

type linter struct {
	revision string
	findings []Finding
}

func newLinter(revision string) *linter { return &linter{revision: rulesOf(revision)} }

// find notes that a rule is broken at a place, if the revision has the rule.
func (l *linter) find(id, pointer, format string, args ...any) {
	l.note(id, Violation, pointer, fmt.Sprintf(format, args...))
}

// guess notes that a rule may be broken. However binding the rule is, a guess is
// advice, and its text has to read as one.
func (l *linter) guess(id, pointer, format string, args ...any) {
	l.note(id, Advice, pointer, fmt.Sprintf(format, args...))
}

const maxFindings = 200

// note notes a finding that is no graver than its rule, nor than gravest.
func (l *linter) note(id string, gravest Severity, pointer, text string) {
	source, ok := ruleByID[id].Sources[l.revision]
	if !ok || len(l.findings) == maxFindings {
		return
	}
	l.findings = append(l.findings, Finding{
		Rule: id, Severity: max(source.Severity, gravest), Text: text, Pointer: pointer,
		Section: source.Section, Reference: source.Reference(l.revision),
	})
}

func (l *linter) has(rules ...string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool { return slices.Contains(rules, f.Rule) })
}
