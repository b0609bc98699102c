// Package lint says which rules of the specification an elicitation, or what is
// around it on the wire, breaks. It judges single messages, and does no I/O.
package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// Severity says how binding the rule is that a request breaks.
type Severity int

// The severities, the gravest first.
const (
	Violation Severity = iota // of a MUST, or of the protocol's own schema
	Should                    // of a SHOULD
	Advice                    // of no rule, but people or clients will stumble
)

// String names the severity in a word, as it is exported.
func (s Severity) String() string {
	switch s {
	case Violation:
		return "violation"
	case Should:
		return "should"
	case Advice:
		return "advice"
	}
	return "unknown"
}

// MarshalText writes the severity as its word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the severity's word.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, known := range []Severity{Violation, Should, Advice} {
		if known.String() == string(text) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("there is no severity %q", text)
}

// Finding is one thing that the linter says of a request.
type Finding struct {
	Rule      string   `json:"rule"` // the rule's id, such as "secret-in-form"
	Severity  Severity `json:"severity"`
	Text      string   `json:"text"`      // a sentence in plain words
	Pointer   string   `json:"pointer"`   // JSON pointer (RFC 6901) into what was linted; "" is the whole
	Section   string   `json:"section"`   // heading that the rule stands under; "" where there is none
	Reference string   `json:"reference"` // "MCP 2025-11-25, client/elicitation, Safe URL Handling"
}

// Input is one elicitation and what has to be known around it.
type Input struct {
	Params   json.RawMessage // exact bytes of the elicitation's params
	Revision string          // negotiated protocol revision; "" counts as 2025-11-25
	Via      elicit.Via
	Declared []elicit.Mode // what the client declared, see DeclaredModes
	Offered  []Offered     // questions in URL mode that came earlier in the session
	Answered []string      // the questions that were accepted earlier in the same call, see QuestionKey
}

// Offered is a question in URL mode that a session has seen.
type Offered struct{ ID, URL string }

// QuestionKey is the same for two elicitations in form mode that ask the same thing
// in the same words. It is "" for params that ask nothing.
func QuestionKey(params json.RawMessage) string {
	message, schema := member(params, "message"), member(params, "requestedSchema")
	if message == nil || schema == nil {
		return ""
	}
	var key bytes.Buffer
	for _, part := range []json.RawMessage{message, schema} {
		if json.Compact(&key, part) != nil {
			return ""
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(key.Bytes()))
}

// The protocol revisions with rules of their own.
const (
	rev2025June     = "2025-06-18"
	rev2025November = "2025-11-25"
	rev2026July     = "2026-07-28"
)

// knownRevision is the revision whose rules hold: revisions are dates, and one that
// is not known here is judged by the last before it.
func knownRevision(revision string) string {
	switch {
	case revision == "":
		return rev2025November
	case revision < rev2025November:
		return rev2025June
	case revision < rev2026July:
		return rev2025November
	}
	return rev2026July
}

// DeclaredModes are the modes that a client's elicitation capability declares:
// none where it is absent, and form alone where it is empty or the revision has
// no modes yet.
func DeclaredModes(capability json.RawMessage, revision string) []elicit.Mode {
	if valid(capability) != nil || typeOf(capability) != typeObject {
		return nil
	}
	form, url := member(capability, "form") != nil, member(capability, "url") != nil
	var modes []elicit.Mode
	if form || !url || knownRevision(revision) == rev2025June {
		modes = append(modes, elicit.ModeForm)
	}
	if url && knownRevision(revision) != rev2025June {
		modes = append(modes, elicit.ModeURL)
	}
	return modes
}

// Bounds on one run of the linter.
const (
	maxFindings = 200
	patternTime = 500 * time.Millisecond // for all patterns of a request together
)

// linter is one run over one text.
type linter struct {
	revision string
	findings []Finding
	deadline time.Time // for patterns
}

func newLinter(revision string) *linter {
	return &linter{revision: knownRevision(revision), deadline: time.Now().Add(patternTime)}
}

// find notes that a rule is broken at a place, if the rule exists in the revision.
func (l *linter) find(id, ptr, format string, args ...any) {
	if source, ok := rules[ruleIndex[id]].Sources[l.revision]; ok {
		l.note(id, source, ptr, fmt.Sprintf(format, args...))
	}
}

// guess notes that a rule may be broken. However binding the rule is, a guess is
// advice, and its text has to read as one.
func (l *linter) guess(id, ptr, format string, args ...any) {
	if source, ok := rules[ruleIndex[id]].Sources[l.revision]; ok {
		source.Severity = Advice
		l.note(id, source, ptr, fmt.Sprintf(format, args...))
	}
}

func (l *linter) note(id string, source Source, ptr, text string) {
	if len(l.findings) == maxFindings {
		return
	}
	l.findings = append(l.findings, Finding{
		Rule: id, Severity: source.Severity, Text: text, Pointer: ptr,
		Section: source.Section, Reference: source.Reference(l.revision),
	})
}

// found tells whether the schema at a place, or below it, has been found to be
// wrong.
func (l *linter) found(ptr string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool {
		return f.Severity != Advice && !slices.Contains([]string{"secret-in-form", "url-in-form", "text-not-string"}, f.Rule) && (f.Pointer == ptr || strings.HasPrefix(f.Pointer, ptr+"/"))
	})
}

// has tells whether a rule has been broken at just that place.
func (l *linter) has(rule, ptr string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool { return f.Rule == rule && f.Pointer == ptr })
}

// Elicitation says what a server's author should know about an elicitation. The rules
// are those of the revision; [Rules] lists them. It takes about as long as
// reading the request, and at most half a second longer where patterns are hard.
func Elicitation(in Input) []Finding {
	l := newLinter(in.Revision)
	if err := valid(in.Params); err != nil || typeOf(in.Params) != typeObject {
		l.find("params-malformed", "", "The elicitation's params are not an object, so there is nothing to ask.")
		return l.findings
	}
	q := question{linter: l, in: in, mode: elicit.ModeForm}
	l.lintSpelling("", in.Params, paramNames)
	for name, value := range members(in.Params) {
		switch name {
		case "mode":
			q.modeRaw = value
		case "message":
			q.message = value
		case "url":
			q.url = value
		case "elicitationId":
			q.id = value
		case "requestedSchema":
			q.schema = value
		}
	}
	if typeOf(q.modeRaw) == typeString {
		mode, _ := unquote(q.modeRaw)
		q.mode = elicit.Mode(mode)
	}
	q.lintTravel()
	q.lintMode()
	q.lintMessage()
	if q.mode == elicit.ModeURL && q.revision != rev2025June {
		q.lintURL()
	} else {
		q.lintForm()
	}
	l.lintDuplicates(in.Params)
	return l.findings
}

// lintDuplicates finds members that stand twice in one object.
func (l *linter) lintDuplicates(raw json.RawMessage) {
	budget := 100_000 // members looked at
	var walk func(raw json.RawMessage, ptr string)
	walk = func(raw json.RawMessage, ptr string) {
		switch typeOf(raw) {
		case typeObject:
			var few []string // most objects are small, and there may be thousands of them
			var many map[string]bool
			for name, value := range members(raw) {
				if budget--; budget < 0 {
					return
				}
				if many[name] || many == nil && slices.Contains(few, name) {
					l.find("duplicate-member", pointer(ptr, name), "%s stands twice in one object; whoever reads it keeps one of the two.", wording.Quoted(name))
				}
				switch few = append(few, name); {
				case many != nil:
					many[name] = true
				case len(few) == 16:
					many = make(map[string]bool)
					for _, n := range few {
						many[n] = true
					}
				}
				if t := typeOf(value); t == typeObject || t == typeArray {
					walk(value, pointer(ptr, name))
				}
			}
		case typeArray:
			for i, value := range elements(raw) {
				if budget--; budget < 0 {
					return
				}
				if t := typeOf(value); t == typeObject || t == typeArray {
					walk(value, fmt.Sprintf("%s/%d", ptr, i))
				}
			}
		}
	}
	walk(raw, "")
}
