// Package lint finds the rules of the specification that an elicitation, or a message
// around it, breaks: in single messages, and, with a [Linter], in the frames of a log in
// their order.
package lint

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
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
	q.lintMessage()
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
