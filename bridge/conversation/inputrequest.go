package conversation

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
)

// InputRequest is a request of a server for input from its client: an elicitation, or a
// sampling or roots request. The person answers all of them in the same place.
type InputRequest struct {
	Question
	Server   string // id
	Session  string // the name of the connection
	Call     int    // 0 if no call is known
	CallName string
	Request  *elicit.Request // nil if Method is not elicitation/create or the params cannot be read

	ID   json.RawMessage // the exact JSON-RPC id, if the server sent a request
	Lost bool            // a later input request has the same key, and only the last counts
	Mute bool            // no response can be sent

	Refusal *CapabilityRefusal // why the person is not asked; nil if the person is asked
}

// CapabilityRefusal is the JSON-RPC error that refuses a request.
type CapabilityRefusal struct {
	Code    int64
	Message string
}

// Judge parses a request, and refuses it if the person cannot be asked in this revision.
// It keeps a refusal that r already has.
func (s ClientSettings) Judge(r *InputRequest, revision string) {
	unread := s.read(r, revision)
	switch {
	case r.Refusal != nil:
	case r.Via == elicit.InError && revision != mcp.Revision20251125:
		r.Refusal = &CapabilityRefusal{mcp.CodeInvalidRequest, fmt.Sprintf("error %d asks for URLs in revision %s alone, and this session speaks %s",
			mcp.CodeURLElicitationRequired, mcp.Revision20251125, revision)}
	case unread != nil:
		r.Refusal = unread
	case r.Method == "":
		r.Refusal = &CapabilityRefusal{mcp.CodeInvalidParams, "it is no request: it has no method"}
	case !mcp.IsInput(r.Method):
		r.Refusal = &CapabilityRefusal{mcp.CodeInvalidParams, fmt.Sprintf("%q cannot be asked of a client", r.Method)}
	}
}

// read decodes the params of an elicitation. It returns the refusal if the person cannot
// be asked, else nil.
func (s ClientSettings) read(r *InputRequest, revision string) *CapabilityRefusal {
	if r.Method != mcp.MethodElicit {
		return nil
	}
	err := errors.New("elicitation/create has no params")
	if len(r.Params) > 0 {
		if r.Request, err = elicit.Parse(r.Params); err != nil {
			err = fmt.Errorf("the params cannot be read: %w", err)
		}
	}
	switch {
	case s.Declares() == DeclareNone:
		return NotDeclared("elicitation")
	case err != nil:
		return &CapabilityRefusal{mcp.CodeInvalidParams, err.Error()}
	case r.Request.Mode != elicit.ModeForm && r.Request.Mode != elicit.ModeURL:
		return &CapabilityRefusal{mcp.CodeInvalidParams, fmt.Sprintf("there is no elicitation mode %q", r.Request.Mode)}
	case !s.Allows(string(r.Request.Mode), revision):
		return &CapabilityRefusal{mcp.CodeInvalidParams, fmt.Sprintf("the client did not declare elicitation in %s mode", r.Request.Mode)}
	case r.Via == elicit.InError && r.Request.Mode != elicit.ModeURL: // no message can carry the answer
		return &CapabilityRefusal{mcp.CodeInvalidParams, fmt.Sprintf("error %d can only ask for URLs", mcp.CodeURLElicitationRequired)}
	}
	return nil
}

// NotDeclared returns the refusal of a method whose capability was not declared: for the
// server, the method does not exist.
func NotDeclared(capability string) *CapabilityRefusal {
	return &CapabilityRefusal{mcp.CodeMethodNotFound, fmt.Sprintf("Method not found: the client has not declared the capability %q", capability)}
}

// Suggestion returns a valid minimal result for sampling/createMessage and roots/list;
// nil for other methods.
func Suggestion(method string) json.RawMessage {
	switch method {
	case mcp.MethodSample:
		return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"Yes."},"model":"a-person","stopReason":"endTurn"}`)
	case mcp.MethodListRoots:
		return json.RawMessage(`{"roots":[{"uri":"file:///tmp","name":"tmp"}]}`)
	}
	return nil
}
