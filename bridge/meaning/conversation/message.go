package conversation

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// same compares two JSON values by their bytes without white space. Absent arguments,
// null and {} are equal.
func same(a, b json.RawMessage) bool { return bytes.Equal(plain(a), plain(b)) }

func plain(raw json.RawMessage) []byte {
	compact, err := rawjson.Compact(raw)
	if err != nil || string(compact) == "null" {
		return []byte("{}")
	}
	return compact
}

// target returns what a call requests: the URI of a resource, or the name and the
// arguments of a tool or prompt.
func target(method string, params json.RawMessage) (name string, arguments json.RawMessage) {
	m := elicit.KeywordsOf(params)
	if method == mcp.MethodReadResource {
		return m.Text("uri"), nil
	}
	return m.Text("name"), m["arguments"]
}

// input holds the input requests and requestState of a response, which the client must
// answer in the next request of the call.
type input struct {
	wanted bool // the server expects another request, even without answers
	asked  []elicit.Asked
	state  json.RawMessage
}

// inputOf reads what a response requires of the next round: from an input-required
// result (2026-07-28) or error -32042 (2025-11-25). It is empty if the revision has
// no such response; revision is "" if unknown.
func inputOf(f *wire.Frame, revision string) (in input) {
	if f.Kind == wire.Error {
		if revision == "" || revision >= mcp.Revision20251125 {
			in.asked = elicit.AskedIn(f.Message)
		}
		in.wanted = len(in.asked) > 0
		return in
	}
	if revision != "" && revision < mcp.Revision20260728 || rawjson.Text(rawjson.Member(f.Message.Result, "resultType")) != "input_required" {
		return in
	}
	return input{wanted: true, state: StateOf(f.Message.Result), asked: elicit.AskedIn(f.Message)}
}

// Asks counts the questions in the response to a call under a revision.
func Asks(f *wire.Frame, revision string) int { return len(inputOf(f, revision).asked) }

// Progress is the content of a progress notification. Total is 0 if unknown.
type Progress struct {
	Value   float64 `json:"progress"`
	Total   float64
	Message string
}

// Words formats the progress for people: "3 of 10 files".
func (p Progress) Words() string {
	words := strconv.FormatFloat(p.Value, 'g', -1, 64)
	if p.Total > 0 {
		words += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	return strings.TrimSpace(words + " " + p.Message)
}

func errorWords(object json.RawMessage) string {
	m := elicit.KeywordsOf(object)
	code, _, _ := strings.Cut(string(m["code"]), ".")
	return strings.TrimSpace(code + " " + m.Text("message"))
}
