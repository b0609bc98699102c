package elicit

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
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

// AskedIn lists what a message asks of the client, in order: a request asks one thing, an
// input-required result its inputRequests, and error -32042 its elicitations. Any other
// response asks nothing.
func AskedIn(m wire.Message) (list []Asked) {
	switch m.Kind {
	case wire.Request:
		return []Asked{{Method: m.Method, Params: m.Params, Pointer: "/params", MethodPointer: "/method", Via: ByRequest}}
	case wire.Result:
		if rawjson.Text(rawjson.Member(m.Result, "resultType")) != "input_required" {
			return nil
		}
		for key, request := range rawjson.Members(rawjson.Member(m.Result, "inputRequests")) {
			at := rawjson.PointerTo("/result/inputRequests", key)
			list = append(list, Asked{
				Key: key, Method: rawjson.Text(rawjson.Member(request, "method")), Params: rawjson.Member(request, "params"),
				Pointer: at + "/params", MethodPointer: at + "/method", Via: InRound,
			})
		}
	case wire.Error:
		var code float64
		if json.Unmarshal(rawjson.Member(m.Error, "code"), &code) != nil || code != mcp.CodeURLElicitationRequired {
			return nil
		}
		for i, params := range rawjson.Elements(rawjson.Member(m.Error, "data", "elicitations")) {
			at := fmt.Sprintf("/error/data/elicitations/%d", i)
			list = append(list, Asked{Method: mcp.MethodElicit, Params: params, Pointer: at, MethodPointer: at, Via: InError})
		}
	}
	return list
}
