package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity is how binding a broken rule is.
type Severity int

// The severities, most severe first.
const (
	Violation Severity = iota // breaks a MUST, or the protocol's schema
	Should                    // breaks a SHOULD
	Advice                    // breaks no rule, but makes trouble for people or clients
)

var severities = []string{"violation", "should", "advice"}

// String returns the severity as exports have it.
func (s Severity) String() string { return severities[s] }

// Word returns the display name. SHOULD is the word of the specification (RFC 2119).
func (s Severity) Word() string { return []string{"Violation", "Recommendation", "Suggestion"}[s] }

// MarshalText returns the severity as exports have it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities, string(text))
	if i < 0 {
		return fmt.Errorf("there is no severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Finding is a defect of a message, or advice about it.
type Finding struct {
	Rule      string   `json:"rule"` // ID of the rule, such as "secret-in-form"
	Severity  Severity `json:"severity"`
	Text      string   `json:"text"`      // a sentence
	Pointer   string   `json:"pointer"`   // JSON pointer (RFC 6901) into the linted value; "" is the whole value
	Section   string   `json:"section"`   // title of the section with the rule; "" for none
	Reference string   `json:"reference"` // "MCP 2025-11-25, client/elicitation, Safe URL Handling"
}

// GravestFirst returns the findings, most severe first.
func GravestFirst(list []Finding) []Finding {
	return slices.SortedStableFunc(slices.Values(list), func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
}

// Broken returns the finding that a message breaks a rule at a pointer; nil if the
// revision does not have the rule.
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

// find adds the finding that a rule is broken at a pointer, if the revision has the rule.
func (l *linter) find(id, pointer, format string, args ...any) {
	l.note(id, Violation, pointer, fmt.Sprintf(format, args...))
}

// guess adds the finding that a rule may be broken. Its severity is always Advice, and its
// text must read like a guess.
func (l *linter) guess(id, pointer, format string, args ...any) {
	l.note(id, Advice, pointer, fmt.Sprintf(format, args...))
}

const maxFindings = 200

// note adds a finding. Its severity is at most gravest, and at most that of the rule.
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
