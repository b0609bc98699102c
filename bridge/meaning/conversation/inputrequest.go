package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
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
	// Exact are the params as received, where Params has secrets of sign-ins masked as the log has
	// them; nil where the two are the same.
	Exact json.RawMessage

	ID            json.RawMessage // the exact JSON-RPC id, if the server sent a request
	Lost          bool            // a later input request has the same key, and only the last counts
	CannotRespond bool            // no response can be sent
	TaskID        string          // id of the client's task that the question is; "" if it is none

	Refusal *RPCError // why the person is not asked; nil if the person is asked
}

// Sent returns an answer as it is sent: masked strings of Params become the exact strings again.
func (r *InputRequest) Sent(answer json.RawMessage) json.RawMessage {
	if r.Exact == nil {
		return answer
	}
	return redact.Restored(answer, r.Exact, r.Params)
}

// ParseOrRefuse parses a request, and refuses it if the person cannot be asked in this revision.
// It keeps a refusal that r already has.
func (s ClientSettings) ParseOrRefuse(r *InputRequest, revision string) {
	unread := s.read(r, revision)
	switch {
	case r.Refusal != nil:
	case r.Via == elicit.InError && revision != mcp.Revision20251125:
		r.Refusal = &RPCError{Code: mcp.CodeInvalidRequest, Message: fmt.Sprintf("error %d asks for URLs in revision %s alone, and this session speaks %s",
			mcp.CodeURLElicitationRequired, mcp.Revision20251125, revision)}
	case unread != nil:
		r.Refusal = unread
	case r.Method == "":
		r.Refusal = &RPCError{Code: mcp.CodeInvalidParams, Message: "it is not a request: it has no method"}
	case !mcp.IsInput(r.Method):
		r.Refusal = &RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("%q cannot be asked of a client", r.Method)}
	}
}

// read decodes the params of an elicitation. It returns the refusal if the person cannot
// be asked, else nil.
func (s ClientSettings) read(r *InputRequest, revision string) *RPCError {
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
		return &RPCError{Code: mcp.CodeMethodNotFound, Message: `Method not found: the client has not declared the capability "elicitation"`}
	case err != nil:
		return &RPCError{Code: mcp.CodeInvalidParams, Message: err.Error()}
	case r.Request.Mode != elicit.ModeForm && r.Request.Mode != elicit.ModeURL:
		return &RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("there is no elicitation mode %q", r.Request.Mode)}
	case !s.Allows(string(r.Request.Mode), revision):
		return &RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("the client did not declare elicitation in %s mode", r.Request.Mode)}
	case r.Via == elicit.InError && r.Request.Mode != elicit.ModeURL: // no message can carry the answer
		return &RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("error %d can only ask for URLs", mcp.CodeURLElicitationRequired)}
	}
	return nil
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

// InputRequired is an InputRequiredResult (specification 2026-07-28, Multi
// Round-Trip Requests).
type InputRequired struct {
	Asked []elicit.Asked  // inputRequests, in the order of the bytes
	Asks  bool            // inputRequests is present, though it may be empty
	State json.RawMessage // see StateOf
}

// Empty reports whether the result has neither inputRequests nor requestState. A valid
// result has at least one.
func (r *InputRequired) Empty() bool { return !r.Asks && r.State == nil }

// The resultTypes that the protocol defines (specification 2026-07-28, Overview,
// ResultType).
const (
	completeType      = "complete"
	inputRequiredType = "input_required"
)

// ResultComplete reports whether a result of 2026-07-28 ends its request. An absent resultType
// means that it does. The error says why a client must treat the result as invalid.
func ResultComplete(result json.RawMessage) (bool, error) {
	if t := rawjson.KindOf(result); t != rawjson.Object && t != rawjson.Null {
		return false, fmt.Errorf("the result cannot be read: it is %s, not an object", ContentKind(result))
	}
	kind := rawjson.Member(result, "resultType")
	switch name := rawjson.Text(kind); {
	case kind == nil || name == completeType:
		return true, nil
	case name == inputRequiredType:
		return false, nil
	case rawjson.KindOf(kind) != rawjson.String:
		return false, fmt.Errorf("the result is invalid: its resultType is %s, not a string", ContentKind(kind))
	default:
		return false, fmt.Errorf("the result is invalid: there is no resultType %q, and a client must take one that it does not know as invalid", ShortError(name))
	}
}

// MustComplete returns an error if a result of 2026-07-28 is invalid for a request that
// cannot require input.
func MustComplete(method string, result json.RawMessage) error {
	complete, err := ResultComplete(result)
	if err == nil && !complete {
		return fmt.Errorf("the result of %s cannot require input", method)
	}
	return err
}

// StateOf returns the exact requestState of a result, or of the params of a retry; nil if there
// is none. A state that is null counts as none: libraries write null for what is absent, and a
// request with it would break the schema, in which the state is a string.
func StateOf(object json.RawMessage) json.RawMessage {
	if state := rawjson.Member(object, "requestState"); rawjson.KindOf(state) != rawjson.Null {
		return state
	}
	return nil
}

// ReadInputRequired reads an InputRequiredResult.
func ReadInputRequired(result json.RawMessage) (*InputRequired, error) {
	requests := rawjson.Member(result, "inputRequests")
	if requests != nil && rawjson.KindOf(requests) != rawjson.Object {
		return nil, fmt.Errorf("inputRequests is %s, not an object", ContentKind(requests))
	}
	return &InputRequired{Asked: elicit.AskedIn(wire.Message{Kind: wire.Result, Result: result}), Asks: requests != nil, State: StateOf(result)}, nil
}

// URLProblem returns an error if the data of error -32042 contains no elicitations.
func (e RPCError) URLProblem() error {
	var d struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if len(e.Data) == 0 {
		return errors.New("the error has no data, so there is nothing to visit")
	}
	if e.Data[0] != '{' {
		return fmt.Errorf("data.elicitations cannot be read: the data is %s, not an object", ContentKind(e.Data))
	}
	if err := DecodeResult(e.Data, &d); err != nil {
		return fmt.Errorf("data.elicitations cannot be read: %w", err)
	}
	if len(d.Elicitations) == 0 {
		return errors.New("data.elicitations is empty or missing, so there is nothing to visit")
	}
	return nil
}

// ParamsAt returns the params of everything that a frame asks of the client, by JSON
// pointer into its message.
func ParamsAt(log *wire.Log, seq int64) (map[string][]byte, error) {
	f, err := log.Frame(seq)
	switch {
	case err != nil:
		return nil, err
	case f.Lost:
		return nil, errors.New("its frame is lost, since storage failed")
	}
	params := map[string][]byte{}
	for _, asked := range elicit.AskedIn(f.Message) {
		params[asked.Pointer] = asked.Params // of those that share a key the last counts
	}
	return params, nil
}

// Policy is how a server's questions are handled before a person sees them. It is set
// for each server and lasts until the program ends.
type Policy string

// The policies.
const (
	PolicyAsk      Policy = "ask"      // show questions to the person
	PolicyDefaults Policy = "defaults" // accept a form with its defaults if they are valid, otherwise ask
	PolicyDecline  Policy = "decline"
	PolicyCancel   Policy = "cancel"
	PolicyBlock    Policy = "block" // refuse questions with an error
)

// Policies lists the policies, the default first.
func Policies() []Policy {
	return []Policy{PolicyAsk, PolicyDefaults, PolicyDecline, PolicyCancel, PolicyBlock}
}

// ParsePolicy returns the policy with this name.
func ParsePolicy(name string) (Policy, error) {
	if !slices.Contains(Policies(), Policy(name)) {
		return "", fmt.Errorf("unknown policy %q: want ask, defaults, decline, cancel or block", name)
	}
	return Policy(name), nil
}
