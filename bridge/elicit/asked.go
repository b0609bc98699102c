package elicit

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// Via is the kind of message that carried an elicitation from the server.
type Via uint8

// The messages that can carry an elicitation.
const (
	ByRequest Via = iota // a request elicitation/create of its own
	InRound              // one of the inputRequests of an input-required result
	InError              // one of the elicitations of error -32042
)

// Asked is one request for input from the server, in any of the messages that [Via]
// lists.
type Asked struct {
	Key           string // key in inputRequests; "" outside of a round
	Method        string // method of the request; "" if it names none
	Params        json.RawMessage
	Pointer       string // JSON pointer into the message to the params, or to where they should be
	MethodPointer string // JSON pointer to the method
	Via           Via
}

// AskedInResult lists the entries of inputRequests of an input-required result, in
// order. It returns nil for any other result.
func AskedInResult(result json.RawMessage) []Asked {
	if rawjson.Text(rawjson.Member(result, "resultType")) != "input_required" {
		return nil
	}
	var list []Asked
	for key, request := range rawjson.Members(rawjson.Member(result, "inputRequests")) {
		at := rawjson.PointerTo("/result/inputRequests", key)
		a := Asked{
			Key: key, Method: rawjson.Text(rawjson.Member(request, "method")), Params: rawjson.Member(request, "params"),
			Pointer: at + "/params", MethodPointer: at + "/method", Via: InRound,
		}
		list = append(list, a)
	}
	return list
}

// AskedInError lists the elicitations of error -32042, in order. It returns nil for any
// other error.
func AskedInError(object json.RawMessage) []Asked {
	var code float64
	if json.Unmarshal(rawjson.Member(object, "code"), &code) != nil || code != mcp.CodeURLElicitationRequired {
		return nil
	}
	var list []Asked
	for i, params := range rawjson.Elements(rawjson.Member(object, "data", "elicitations")) {
		at := fmt.Sprintf("/error/data/elicitations/%d", i)
		list = append(list, Asked{Method: mcp.MethodElicit, Params: params, Pointer: at, MethodPointer: at, Via: InError})
	}
	return list
}
