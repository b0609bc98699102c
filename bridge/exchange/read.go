package exchange

import (
	"bytes"
	"encoding/json"

	"elicitation-inspector/bridge/rawjson"
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

// member is one member of a JSON object, nil if there is none.
func member(raw json.RawMessage, name string) json.RawMessage { return rawjson.Member(raw, name) }

// text decodes a JSON string; it is "" for anything else.
func text(raw json.RawMessage) string { return rawjson.Text(raw) }

// asked are the questions in a response: in an input-required result, or in
// error -32042. more says that the server wants the call made again, which an
// input-required result without questions does too.
type asked struct {
	more      bool
	questions []Question          // Method, Key and Params
	state     json.RawMessage     // requestState; nil if absent
	keys      map[string]struct{} // of inputRequests
	ids       []string            // elicitationIds in the error
}

// readResult reads what a result asks.
func readResult(result json.RawMessage) asked {
	m := members(result)
	if text(m["resultType"]) != inputRequired {
		return asked{}
	}
	a := asked{more: true, state: m["requestState"], keys: make(map[string]struct{})}
	for key, request := range rawjson.Members(m["inputRequests"]) {
		r := members(request)
		a.keys[key] = struct{}{}
		a.questions = append(a.questions, Question{Method: text(r["method"]), Key: key, Params: r["params"]})
	}
	return a
}

// readError reads what an error asks.
func readError(object json.RawMessage) asked {
	m := members(object)
	var code int64
	if json.Unmarshal(m["code"], &code) != nil || code != codeURLRequired {
		return asked{}
	}
	var a asked
	var list []json.RawMessage
	if json.Unmarshal(member(m["data"], "elicitations"), &list) != nil {
		return a
	}
	for _, params := range list {
		a.more = true
		a.questions = append(a.questions, Question{Method: methodElicit, Params: params})
		if id := text(member(params, "elicitationId")); id != "" {
			a.ids = append(a.ids, id)
		}
	}
	return a
}

// target is what a call is made of: two calls of the same target and arguments
// are the same call.
func target(method string, params json.RawMessage) (name string, arguments json.RawMessage) {
	m := members(params)
	if method == methodRead {
		return text(m["uri"]), nil
	}
	return text(m["name"]), m["arguments"]
}

// same compares two JSON values by their bytes without white space. Nothing
// and an empty object are the same arguments.
func same(a, b json.RawMessage) bool {
	return bytes.Equal(plain(a), plain(b))
}

func plain(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil || b.String() == "null" {
		return []byte("{}")
	}
	return b.Bytes()
}
