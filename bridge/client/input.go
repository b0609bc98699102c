package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
)

// InputRequest is one thing that a server asks of its client: an elicitation, or a
// sampling or roots request, which the person answers in the same place.
type InputRequest struct {
	conversation.Question
	Server   string // id
	Session  string // the connection that it came on
	Call     int    // 0 if it cannot be told
	CallName string
	Request  *elicit.Request // nil where Method is no elicitation or the params cannot be read

	ID   json.RawMessage // JSON-RPC id of a request of the server's own, exact
	Lost bool            // its key stands again further on, and its last request counts
	Mute bool            // nothing can answer it

	Refusal *Refusal // why the person is not asked; nil if they are
}

// Refusal is the JSON-RPC error that a request is refused with.
type Refusal struct {
	Code    int64
	Message string
}

// Judge reads what is asked, and refuses it if the person cannot be asked in this
// revision. A refusal that stands already stays.
func (s Settings) Judge(r *InputRequest, revision string) {
	unread := s.read(r, revision)
	switch {
	case r.Refusal != nil:
	case r.Via == elicit.InError && revision != mcp.Revision20251125:
		r.Refusal = &Refusal{mcp.CodeInvalidRequest, fmt.Sprintf("error %d asks for URLs in revision %s alone, and this session speaks %s",
			mcp.CodeURLElicitationRequired, mcp.Revision20251125, revision)}
	case unread != nil:
		r.Refusal = unread
	case r.Method == "":
		r.Refusal = &Refusal{mcp.CodeInvalidParams, "it is no request: it has no method"}
	case !mcp.IsInput(r.Method):
		r.Refusal = &Refusal{mcp.CodeInvalidParams, fmt.Sprintf("%q cannot be asked of a client", r.Method)}
	}
}

// read decodes the params of an elicitation. It returns why the person cannot be
// asked, or nil.
func (s Settings) read(r *InputRequest, revision string) *Refusal {
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
		return &Refusal{mcp.CodeInvalidParams, err.Error()}
	case r.Request.Mode != elicit.ModeForm && r.Request.Mode != elicit.ModeURL:
		return &Refusal{mcp.CodeInvalidParams, fmt.Sprintf("there is no elicitation mode %q", r.Request.Mode)}
	case !s.Allows(string(r.Request.Mode), revision):
		return &Refusal{mcp.CodeInvalidParams, fmt.Sprintf("the client did not declare elicitation in %s mode", r.Request.Mode)}
	case r.Via == elicit.InError && r.Request.Mode != elicit.ModeURL: // nothing would carry the answer
		return &Refusal{mcp.CodeInvalidParams, fmt.Sprintf("error %d can only ask for URLs", mcp.CodeURLElicitationRequired)}
	}
	return nil
}

// NotDeclared refuses a method of a capability that was not declared, and which
// therefore is not there.
func NotDeclared(capability string) *Refusal {
	return &Refusal{mcp.CodeMethodNotFound, fmt.Sprintf("Method not found: the client has not declared the capability %q", capability)}
}

// Suggestion returns a valid minimal result of a method that is no elicitation; nil for
// any other.
func Suggestion(method string) json.RawMessage {
	switch method {
	case mcp.MethodSample:
		return json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"Yes."},"model":"a-person","stopReason":"endTurn"}`)
	case mcp.MethodListRoots:
		return json.RawMessage(`{"roots":[{"uri":"file:///tmp","name":"tmp"}]}`)
	}
	return nil
}
