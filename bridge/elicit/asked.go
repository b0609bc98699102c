package elicit

import (
	"encoding/json"
	"fmt"
	"math/big"
)

// Via is how an elicitation travelled.
type Via int

// The ways of an elicitation.
const (
	ByRequest Via = iota // a request elicitation/create of its own
	InRound              // one of the inputRequests of an input-required result
	InError              // one of the elicitations of error -32042
)

// Asked is one request for input that a response carries.
type Asked struct {
	Key     string // in inputRequests
	Method  string // "" for what is no request
	Params  json.RawMessage
	Pointer string // JSON pointer to the params, or to where they are missing, in the response
	// MethodPointer leads to the method.
	MethodPointer string
	Via           Via
}

// AskedInResult lists what an input-required result asks, in order; nothing for
// another result.
func AskedInResult(result json.RawMessage) []Asked {
	if kind, _ := StringAt(result, "resultType"); kind != "input_required" {
		return nil
	}
	var list []Asked
	for key, request := range members(member(result, "inputRequests")) {
		at := pointer("/result/inputRequests", key)
		a := Asked{Key: key, Params: nonNull(member(request, "params")), Pointer: at + "/params", MethodPointer: at + "/method", Via: InRound}
		a.Method, _ = unquote(member(request, "method"))
		list = append(list, a)
	}
	return list
}

// AskedInError lists the elicitations of error -32042, in order; nothing for
// another error.
func AskedInError(object json.RawMessage) []Asked {
	if !urlRequired(object) {
		return nil
	}
	var list []Asked
	for i, params := range elements(ValueAt(object, "data", "elicitations")) {
		at := fmt.Sprintf("/error/data/elicitations/%d", i)
		list = append(list, Asked{Method: "elicitation/create", Params: params, Pointer: at, MethodPointer: at, Via: InError})
	}
	return list
}

// nonNull is nil for null, which decoders take for an absent member.
func nonNull(raw json.RawMessage) json.RawMessage {
	if typeOf(raw) == typeNull {
		return nil
	}
	return raw
}

// urlRequired reports whether an error object is URLElicitationRequiredError
// (specification 2025-11-25).
func urlRequired(object json.RawMessage) bool {
	if valid(object) != nil {
		return false
	}
	code := exact(string(member(object, "code")))
	return code != nil && code.Cmp(big.NewRat(-32042, 1)) == 0
}

// ValueAt is the value that a path of names leads to, from object to object;
// nil if there is none, or raw is no JSON.
func ValueAt(raw json.RawMessage, path ...string) json.RawMessage {
	if valid(raw) != nil {
		return nil
	}
	for _, name := range path {
		raw = member(raw, name)
	}
	return raw
}

// StringAt decodes the string that a path of names leads to. It reports false
// for anything else.
func StringAt(raw json.RawMessage, path ...string) (string, bool) {
	value := ValueAt(raw, path...)
	if typeOf(value) != typeString {
		return "", false
	}
	s, _ := unquote(value)
	return s, true
}

// NamesAt lists the members of the object that a path of names leads to.
func NamesAt(raw json.RawMessage, path ...string) []string {
	var names []string
	for name := range members(ValueAt(raw, path...)) {
		names = append(names, name)
	}
	return names
}

// Pointed is the value that a JSON pointer names; nil if there is none, or raw
// is no JSON.
func Pointed(raw json.RawMessage, ptr string) json.RawMessage {
	if valid(raw) != nil {
		return nil
	}
	return at(raw, ptr)
}
