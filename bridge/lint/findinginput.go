package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// judgeInput lints a request for input at a place in a frame. r is the request in whose
// response it came, or the state of the session. It returns the elicitation if it has
// an id.
func (s *session) judgeInput(asked elicit.Asked, place int, r *request) *offer {
	capability := map[string]string{mcp.MethodSample: "sampling", mcp.MethodListRoots: "roots"}[asked.Method]
	if s.greeted && capability != "" && rawjson.Member(r.declared, capability) == nil {
		s.find(place, "", Broken(r.revision, capability+"-undeclared", asked.MethodPointer,
			"%s needs the client capability %q, which this client has not declared; servers must not send it.", asked.Method, capability))
	}
	if asked.Method != mcp.MethodElicit {
		return nil
	}
	question := Input{Params: asked.Params, Revision: r.revision, Via: asked.Via, Declared: []elicit.Mode{elicit.ModeForm, elicit.ModeURL}}
	if s.greeted {
		question.Declared = DeclaredModes(rawjson.Member(r.declared, "elicitation"), r.revision)
	}
	if r.call != nil {
		question.Answered = r.call.given
	}
	if asked.Params == nil {
		asked.Pointer = strings.TrimSuffix(asked.Pointer, "/params")
	}
	id := rawjson.Text(rawjson.Member(asked.Params, "elicitationId"))
	known := s.offers[id]
	if known != nil && known.state == completed {
		s.find(place, asked.Pointer, Broken(r.revision, "id-reused", "/elicitationId", "The elicitation %s is complete; another one needs an id of its own.", wording.Quoted(id)))
		known = nil
	}
	if known != nil {
		question.Offered = known.url
	}
	list := Elicitation(question)
	s.find(place, asked.Pointer, list)
	if known == nil || slices.ContainsFunc(list, func(one Finding) bool { return one.Rule == "id-reused" }) {
		return s.offer(id, asked.Params)
	}
	if known.state == turnedDown {
		known.state = open // the server asks for it again
	}
	return known
}

// offer records an elicitation by its id; it returns nil if there is no id.
func (s *session) offer(id string, params json.RawMessage) *offer {
	if id == "" {
		return nil
	}
	one := &offer{state: ofForm, url: rawjson.Text(rawjson.Member(params, "url"))}
	if mode := rawjson.Text(rawjson.Member(params, "mode")); mode == string(elicit.ModeURL) {
		one.state = open
	}
	if s.offers[id] != nil || len(s.offers) < most {
		s.offers[id] = one
	}
	return one
}
