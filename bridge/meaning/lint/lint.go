// Package lint finds the rules of the specification that an elicitation, or a message
// around it, breaks: in single messages, and, with a [Linter], in the frames of a log in
// their order.
package lint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Input is an elicitation with the facts that its rules depend on.
type Input struct {
	Params   json.RawMessage // exact bytes of the elicitation's params
	Revision string          // negotiated protocol revision; "" counts as 2025-11-25
	Via      elicit.Via
	Declared []elicit.Mode // modes that the client declared; see DeclaredModes
	Offered  string        // URL of an earlier elicitation of the session with the same elicitationId; "" for none
	Answered []string      // QuestionKey of each question that was accepted earlier in the same call
}

// QuestionKey returns equal keys for form-mode elicitations with the same message and
// schema; "" for params that lack one of them.
func QuestionKey(params json.RawMessage) string {
	var key bytes.Buffer
	for _, name := range []string{"message", "requestedSchema"} {
		if part := rawjson.Member(params, name); part == nil || json.Compact(&key, part) != nil {
			return ""
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(key.Bytes()))
}

// The revisions with different rules.
const (
	june     = mcp.Revision20250618
	november = mcp.Revision20251125
	july     = mcp.Revision20260728
)

// rulesOf returns the revision whose rules apply to a revision. Revisions are dates: the
// rules of the latest known revision before an unknown one apply.
func rulesOf(revision string) string {
	switch {
	case revision == "":
		return november
	case revision < november:
		return june
	case revision < july:
		return november
	}
	return july
}

// DeclaredModes returns the modes of a client's elicitation capability: none if it is
// absent, and only form if it is empty or the revision has no modes.
func DeclaredModes(capability json.RawMessage, revision string) []elicit.Mode {
	if !isObject(capability) {
		return nil
	}
	form, url := rawjson.Member(capability, "form") != nil, rawjson.Member(capability, "url") != nil
	switch {
	case !url || rulesOf(revision) == june:
		return []elicit.Mode{elicit.ModeForm}
	case !form:
		return []elicit.Mode{elicit.ModeURL}
	}
	return []elicit.Mode{elicit.ModeForm, elicit.ModeURL}
}

func isObject(raw json.RawMessage) bool {
	return rawjson.Valid(raw) && rawjson.KindOf(raw) == rawjson.Object
}

// patternTime limits the time for all patterns of an elicitation together.
const patternTime = 500 * time.Millisecond

// question is the elicitation that is being linted.
type question struct {
	*linter
	in       Input
	params   elicit.Keywords
	mode     elicit.Mode
	fields   []elicit.Field // of the schema's properties
	deadline time.Time      // for patterns
}

// Elicitation returns the findings for an elicitation by the rules of its revision;
// [Rules] lists them. It takes about as long as parsing the request, plus at most
// patternTime for its patterns.
func Elicitation(in Input) []Finding {
	l := newLinter(in.Revision)
	if !isObject(in.Params) {
		l.find("params-malformed", "", "The elicitation's params are not an object, so there is nothing to ask.")
		return l.findings
	}
	q := question{linter: l, in: in, params: elicit.KeywordsOf(in.Params), mode: elicit.ModeForm, deadline: time.Now().Add(patternTime)}
	if mode := q.params["mode"]; rawjson.KindOf(mode) == rawjson.String {
		q.mode = elicit.Mode(rawjson.Text(mode))
	}
	l.lintSpelling("", in.Params, paramNames)
	if in.Via == elicit.ByRequest && l.revision == july {
		q.find("request-removed", "", "Since 2026-07-28 a server asks inside an input-required result; elicitation/create is no longer a request of its own.")
	}
	q.lintMode()
	switch t := rawjson.KindOf(q.params["message"]); {
	case t == rawjson.None:
		q.find("message-missing", "", "The question has no message that says why it is asked.")
	case t != rawjson.String:
		q.find("message-missing", "/message", "The message is %s, not a string.", wording.WithArticle(t))
	case strings.TrimSpace(q.params.Text("message")) == "":
		q.find("message-empty", "/message", "The message is empty, so nobody can tell why the question is asked.")
	}
	if q.mode == elicit.ModeURL && q.revision != june {
		q.lintURL()
	} else {
		q.lintForm()
	}
	members := 100_000
	l.lintDuplicates(in.Params, "", &members)
	return l.findings
}

// lintDuplicates finds members with the same name in one object. It examines at most most
// members and elements, and lowers most by their number.
func (l *linter) lintDuplicates(raw json.RawMessage, ptr string, most *int) {
	seen := make(map[string]bool)
	for name, value := range rawjson.Members(raw) {
		at := rawjson.PointerTo(ptr, name)
		if seen[name] {
			l.find("duplicate-member", at, "%s stands twice in one object; whoever reads it keeps one of the two.", wording.Quoted(name))
		}
		seen[name] = true
		if *most--; *most < 0 {
			return
		}
		l.lintDuplicates(value, at, most)
	}
	for i, value := range rawjson.Elements(raw) {
		if *most--; *most < 0 {
			return
		}
		l.lintDuplicates(value, fmt.Sprintf("%s/%d", ptr, i), most)
	}
}

// Severity is how binding a broken rule is.
type Severity int

// The severities, most severe first.
const (
	Violation Severity = iota // breaks a MUST, or the protocol's schema
	Should                    // breaks a SHOULD
	Advice                    // breaks no rule, but makes trouble for people or clients
)

var severities = []string{"violation", "should", "advice"}

// String returns the severity as JSON has it.
func (s Severity) String() string { return severities[s] }

// Word returns the severity as people read it: the word of the specification (RFC 2119) that
// is broken, or "advice".
func (s Severity) Word() string { return [...]string{"MUST", "SHOULD", "advice"}[s] }

// Tally is the number of findings of each severity.
type Tally map[Severity]int

// TallyOf counts findings.
func TallyOf(list []Finding) Tally {
	t := Tally{}
	for _, f := range list {
		t[f.Severity]++
	}
	return t
}

// Total returns the number of all findings.
func (t Tally) Total() (n int) {
	for _, count := range t {
		n += count
	}
	return n
}

// Worst returns the name of the gravest severity, "" if there are no findings.
func (t Tally) Worst() string {
	if len(t) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(t))).String()
}

// Words says how many findings there are of each severity: "2 MUST · 1 SHOULD · 3 advice",
// "3 pieces of advice", "" for none.
func (t Tally) Words() string {
	if n := t[Advice]; n > 0 && len(t) == 1 {
		return wording.Count(n, "piece of advice", "pieces of advice")
	}
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(t)) {
		parts = append(parts, wording.Grouped(int64(t[s]))+" "+s.Word())
	}
	return strings.Join(parts, " · ")
}

// Sum says how many findings there are, and of which severities: "1 finding (advice)",
// "3 findings: 2 MUST · 1 SHOULD".
func (t Tally) Sum() string {
	findings := wording.Plural(t.Total(), "finding")
	if len(t) == 1 {
		return findings + " (" + slices.Collect(maps.Keys(t))[0].Word() + ")"
	}
	return findings + ": " + t.Words()
}

// MarshalText returns the severity as exports have it.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText. It reads "must", too.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities, string(text))
	if string(text) == "must" {
		i = int(Violation)
	}
	if i < 0 {
		return fmt.Errorf("there is no severity %q", text)
	}
	*s = Severity(i)
	return nil
}

// Finding is a defect of a message, or advice about it.
type Finding struct {
	Rule      string   `json:"rule"` // ID of the rule, such as "secret-in-form"
	Judges    Party    `json:"judges"`
	Severity  Severity `json:"severity"`
	Text      string   `json:"text"`           // a sentence
	Pointer   string   `json:"pointer"`        // JSON pointer (RFC 6901) into the linted value; "" is the whole value
	Section   string   `json:"section"`        // title of the section with the rule; "" for none
	Reference string   `json:"reference"`      // "MCP 2025-11-25, client/elicitation, Safe URL Handling"
	Link      string   `json:"link,omitempty"` // address of that section; "" for none
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
	source, ok := ruleByID()[id].Sources[l.revision]
	if !ok || len(l.findings) == maxFindings {
		return
	}
	l.findings = append(l.findings, Finding{
		Rule: id, Judges: ruleByID()[id].Judges(), Severity: max(source.Severity, gravest), Text: text, Pointer: pointer,
		Section: source.Section, Reference: source.Reference(l.revision), Link: source.Link(l.revision),
	})
}

func (l *linter) has(rules ...string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool { return slices.Contains(rules, f.Rule) })
}
