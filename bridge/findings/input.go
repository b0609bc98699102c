package findings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// input is one request for input, however it travelled.
type input struct {
	key      string // in inputRequests
	method   string // "" for what is no request
	params   json.RawMessage
	at       string // JSON pointer to the params, or to where they are missing, in the frame
	methodAt string // JSON pointer to the method
	via      elicit.Via
}

// inputsOfResult lists what an input-required result asks, in order; nothing for
// another result.
func inputsOfResult(result json.RawMessage) []input {
	if kind := rawjson.Text(rawjson.Member(result, "resultType")); kind != "input_required" {
		return nil
	}
	var list []input
	for key, request := range rawjson.Members(rawjson.Member(result, "inputRequests")) {
		at := rawjson.PointerTo("/result/inputRequests", key)
		in := input{key: key, params: rawjson.Member(request, "params"), at: at + "/params", methodAt: at + "/method", via: elicit.InRound}
		in.method = rawjson.Text(rawjson.Member(request, "method"))
		if rawjson.KindOf(in.params) == rawjson.Null { // which decoders take for an absent member
			in.params = nil
		}
		list = append(list, in)
	}
	return list
}

// inputsOfError lists the elicitations of error -32042, in order; nothing for
// another error.
func inputsOfError(object json.RawMessage) []input {
	var code float64
	if json.Unmarshal(rawjson.Member(object, "code"), &code) != nil || code != mcp.CodeURLElicitationRequired {
		return nil
	}
	var list []input
	for i, params := range rawjson.Elements(rawjson.Member(object, "data", "elicitations")) {
		at := fmt.Sprintf("/error/data/elicitations/%d", i)
		list = append(list, input{method: mcp.MethodElicit, params: params, at: at, methodAt: at, via: elicit.InError})
	}
	return list
}

// judgeInput says what is to be found in a request for input that stands at a place
// of a frame and came with r. It returns the elicitation if it has an id.
func (s *session) judgeInput(in input, place int, r *request) *offer {
	if s.greeted {
		capability := ""
		switch {
		case in.method == mcp.MethodSample && !r.declared.sampling:
			capability = "sampling"
		case in.method == mcp.MethodListRoots && !r.declared.roots:
			capability = "roots"
		}
		if capability != "" {
			s.find(place, "", lint.Broken(r.revision, capability+"-undeclared", in.methodAt,
				"%s needs the client capability %q, which this client has not declared; servers must not send it.", in.method, capability))
		}
	}
	if in.method != mcp.MethodElicit {
		return nil
	}
	question := lint.Input{Params: in.params, Revision: r.revision, Via: in.via, Declared: []elicit.Mode{elicit.ModeForm, elicit.ModeURL}}
	if s.greeted {
		question.Declared = lint.DeclaredModes(r.declared.elicitation, r.revision)
	}
	if r.call != nil {
		question.Answered = r.call.given
	}
	if in.params == nil {
		in.at = strings.TrimSuffix(in.at, "/params")
	}
	id := rawjson.Text(rawjson.Member(in.params, "elicitationId"))
	known := s.offers[id]
	if known != nil && known.state == completed {
		s.find(place, in.at, lint.Broken(r.revision, "id-reused", "/elicitationId", "The elicitation %s is complete; another one needs an id of its own.", wording.Quoted(id)))
		known = nil
	}
	if known != nil {
		question.Offered = []lint.Offered{{ID: id, URL: known.url}}
	}
	list := lint.Elicitation(question)
	s.find(place, in.at, list)
	if known == nil || slices.ContainsFunc(list, func(one lint.Finding) bool { return one.Rule == "id-reused" }) {
		return s.offer(id, in.params)
	}
	if known.state == turnedDown {
		known.state = open // it is offered once more
	}
	return known
}

// offer notes an elicitation under its id; it returns nil for one without.
func (s *session) offer(id string, params json.RawMessage) *offer {
	if id == "" {
		return nil
	}
	one := &offer{state: ofForm}
	if mode := rawjson.Text(rawjson.Member(params, "mode")); mode == string(elicit.ModeURL) {
		one.state = open
	}
	one.url = rawjson.Text(rawjson.Member(params, "url"))
	if s.offers[id] != nil || len(s.offers) < most {
		s.offers[id] = one
	}
	return one
}
