// Package lint says which rules of the specification an elicitation, or what is
// around it on the wire, breaks. It judges single messages, and does no I/O.
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

// Input is one elicitation and what has to be known around it.
type Input struct {
	Params   json.RawMessage // exact bytes of the elicitation's params
	Revision string          // negotiated protocol revision; "" counts as 2025-11-25
	Via      elicit.Via
	Declared []elicit.Mode // what the client declared, see DeclaredModes
	Offered  string        // the URL that had the same elicitationId earlier in the session, "" if none
	Answered []string      // the questions that were accepted earlier in the same call, see QuestionKey
}

// QuestionKey is the same for two elicitations in form mode that ask the same thing
// in the same words. It is "" for params that ask nothing.
func QuestionKey(params json.RawMessage) string {
	var key bytes.Buffer
	for _, name := range []string{"message", "requestedSchema"} {
		if part := rawjson.Member(params, name); part == nil || json.Compact(&key, part) != nil {
			return ""
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(key.Bytes()))
}

// The revisions with rules of their own, by their month.
const (
	june     = mcp.Revision20250618
	november = mcp.Revision20251125
	july     = mcp.Revision20260728
)

// rulesOf is the revision whose rules hold: revisions are dates, and one that is not
// known here is judged by the last before it.
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

// DeclaredModes are the modes that a client's elicitation capability declares:
// none where it is absent, and form alone where it is empty or the revision has
// no modes yet.
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

// patternTime bounds the time for all patterns of an elicitation together.
const patternTime = 500 * time.Millisecond

// question is one elicitation under the linter.
type question struct {
	*linter
	in       Input
	params   elicit.Keywords
	mode     elicit.Mode
	fields   []elicit.Field // of the schema's properties
	deadline time.Time      // for patterns
}

// Elicitation says what a server's author should know about an elicitation. The
// rules are those of the revision; [Rules] lists them. It takes about as long as
// reading the request, and at most half a second longer where patterns are hard.
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

// lintDuplicates finds members that stand twice in one object, among so many at most.
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
