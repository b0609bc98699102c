package conversation

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// members are the members of a JSON object; nil for anything else. Of a member
// that stands twice the last counts.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// same compares two JSON values by their bytes without white space. Nothing and
// an empty object are the same arguments.
func same(a, b json.RawMessage) bool { return bytes.Equal(plain(a), plain(b)) }

func plain(raw json.RawMessage) []byte {
	compact, err := rawjson.Compact(raw)
	if err != nil || string(compact) == "null" {
		return []byte("{}")
	}
	return compact
}

// target is what a call is made of: two calls of the same target and arguments
// are the same call.
func target(method string, params json.RawMessage) (name string, arguments json.RawMessage) {
	m := members(params)
	if method == mcp.MethodReadResource {
		return rawjson.Text(m["uri"]), nil
	}
	return rawjson.Text(m["name"]), m["arguments"]
}

// input is what a response wants before its call is made again.
type input struct {
	wanted bool // the call is to be made again, be it without any answer
	asked  []elicit.Asked
	state  json.RawMessage
}

// inputOf reads what the response to a call wants: in an input-required result
// (2026-07-28), or in error -32042 (2025-11-25). In a revision that has no such
// response it wants nothing; revision is "" where it is not known.
func inputOf(f *wire.Frame, revision string) (in input) {
	if f.Kind == wire.Error {
		if revision == "" || revision >= mcp.Revision20251125 {
			in.asked = elicit.AskedInError(f.Message.Error)
		}
		in.wanted = len(in.asked) > 0
		return in
	}
	if revision != "" && revision < mcp.Revision20260728 || rawjson.Text(rawjson.Member(f.Message.Result, "resultType")) != "input_required" {
		return in
	}
	in.wanted, in.state = true, rawjson.Member(f.Message.Result, "requestState")
	in.asked = elicit.AskedInResult(f.Message.Result)
	return in
}

// Asks counts the questions in the response to a call, in a revision.
func Asks(f *wire.Frame, revision string) int { return len(inputOf(f, revision).asked) }

// Progress is what a progress notification says. Total is 0 where it is not known.
type Progress struct {
	Value, Total float64
	Message      string
}

func progressOf(params json.RawMessage) Progress {
	var p struct {
		Progress, Total float64
		Message         string
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return Progress{Message: "the progress cannot be read"}
	}
	return Progress{p.Progress, p.Total, wording.Shorten(p.Message, stepMost)}
}

// Words say it in a few words: "3 of 10 files".
func (p Progress) Words() string {
	words := strconv.FormatFloat(p.Value, 'g', -1, 64)
	if p.Total > 0 {
		words += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	return strings.TrimSpace(words + " " + p.Message)
}

// errorWords are the code and the message of a JSON-RPC error.
func errorWords(object json.RawMessage) string {
	m := members(object)
	code, _, _ := strings.Cut(string(m["code"]), ".")
	return strings.TrimSpace(code + " " + rawjson.Text(m["message"]))
}
