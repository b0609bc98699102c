package response

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// InputRequired is an InputRequiredResult (specification 2026-07-28, Multi
// Round-Trip Requests).
type InputRequired struct {
	Asked []elicit.Asked  // inputRequests, in the order of the bytes
	Asks  bool            // inputRequests is there, though it may ask for nothing
	State json.RawMessage // requestState, exact; nil if absent
}

// Empty reports whether the result has neither inputRequests nor requestState,
// one of which it must have.
func (r *InputRequired) Empty() bool { return !r.Asks && r.State == nil }

// The resultTypes that the protocol defines (specification 2026-07-28, Overview,
// ResultType).
const (
	completeType      = "complete"
	inputRequiredType = "input_required"
)

// Complete reports whether a result of 2026-07-28 ends its request. An absent
// resultType means that it does; the error says why a client must take the result
// as invalid.
func Complete(result json.RawMessage) (bool, error) {
	var r struct {
		Type json.RawMessage `json:"resultType"`
	}
	if err := Decode(result, &r); err != nil {
		return false, fmt.Errorf("the result cannot be read: it is %s, not an object", KindOf(result))
	}
	if r.Type == nil {
		return true, nil
	}
	var name string
	if r.Type[0] != '"' || json.Unmarshal(r.Type, &name) != nil {
		return false, fmt.Errorf("the result is invalid: its resultType is %s, not a string", KindOf(r.Type))
	}
	if name != completeType && name != inputRequiredType {
		return false, fmt.Errorf("the result is invalid: there is no resultType %q, and a client must take one that it does not know as invalid", Shortened(name))
	}
	return name == completeType, nil
}

// MustComplete says why a result of 2026-07-28 is of no use to a request that
// cannot require input.
func MustComplete(method string, result json.RawMessage) error {
	complete, err := Complete(result)
	if err == nil && !complete {
		return fmt.Errorf("the result of %s cannot require input", method)
	}
	return err
}

// ReadInputRequired reads a result that asks for more.
func ReadInputRequired(result json.RawMessage) (*InputRequired, error) {
	var r struct {
		Requests json.RawMessage `json:"inputRequests"`
		State    json.RawMessage `json:"requestState"`
	}
	if err := Decode(result, &r); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	if r.Requests != nil && rawjson.KindOf(r.Requests) != rawjson.Object {
		return nil, fmt.Errorf("inputRequests is %s, not an object", KindOf(r.Requests))
	}
	return &InputRequired{Asked: elicit.AskedInResult(result), Asks: r.Requests != nil, State: r.State}, nil
}

// URLProblem says why the data of error -32042 asks for nothing, nil if it does.
func (e RPCError) URLProblem() error {
	var d struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if len(e.Data) == 0 {
		return errors.New("the error has no data, so there is nothing to visit")
	}
	if e.Data[0] != '{' {
		return fmt.Errorf("data.elicitations cannot be read: the data is %s, not an object", KindOf(e.Data))
	}
	if err := Decode(e.Data, &d); err != nil {
		return fmt.Errorf("data.elicitations cannot be read: %w", err)
	}
	if len(d.Elicitations) == 0 {
		return errors.New("data.elicitations is empty or missing, so there is nothing to visit")
	}
	return nil
}
