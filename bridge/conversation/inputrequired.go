package conversation

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
	Asks  bool            // inputRequests is present, though it may be empty
	State json.RawMessage // requestState, exact; nil if absent
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

// ReadInputRequired reads an InputRequiredResult.
func ReadInputRequired(result json.RawMessage) (*InputRequired, error) {
	requests := rawjson.Member(result, "inputRequests")
	if requests != nil && rawjson.KindOf(requests) != rawjson.Object {
		return nil, fmt.Errorf("inputRequests is %s, not an object", ContentKind(requests))
	}
	return &InputRequired{Asked: elicit.AskedInResult(result), Asks: requests != nil, State: rawjson.Member(result, "requestState")}, nil
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
