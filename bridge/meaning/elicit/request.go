// Package elicit parses one elicitation: the server's question, its form fields, and the
// person's answer. It works on exact bytes, so the order of properties and the digits of
// numbers stay as the server and the person wrote them. It does no I/O.
package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Mode is the elicitation mode. A value other than [ModeForm] and [ModeURL] is kept as
// the server wrote it.
type Mode string

// The modes of the specification (client/elicitation).
const (
	ModeForm Mode = "form" // a form in the client; also the meaning of an absent "mode"
	ModeURL  Mode = "url"  // a page that the person opens, since revision 2025-11-25
)

// Request is the parameters of one elicitation.
type Request struct {
	Mode          Mode
	Message       string
	URL           string
	ElicitationID string          // revision 2025-11-25 only
	Params        json.RawMessage // the exact bytes that were parsed
	Schema        json.RawMessage // exact bytes of "requestedSchema"; nil if absent
	Fields        []Field         // one per property, in the schema's own order
	Trouble       string          // why Schema cannot be shown as a form, in words; "" if it can
}

// Parse reads the params of elicitation/create. It fails only if they are not a JSON
// object, or if "message", "mode" or "url" is not a string; package lint reports all other
// mistakes.
func Parse(params json.RawMessage) (*Request, error) {
	if len(rawjson.Trim(params)) == 0 {
		return nil, errors.New("the elicitation has no params")
	}
	if err := checkObject("the elicitation's params are", params); err != nil {
		return nil, err
	}
	k := KeywordsOf(params)
	for _, name := range []string{"mode", "message", "url"} {
		if t := rawjson.KindOf(k[name]); t != rawjson.None && t != rawjson.String {
			return nil, fmt.Errorf("the elicitation's %q is %s, not a string", name, wording.WithArticle(t))
		}
	}
	r := &Request{
		Mode: ModeForm, Message: k.Text("message"), URL: k.Text("url"), ElicitationID: k.Text("elicitationId"),
		Params: params, Schema: k["requestedSchema"],
	}
	if k["mode"] != nil {
		r.Mode = Mode(k.Text("mode"))
	}
	switch {
	case r.Schema != nil:
		fields, err := FieldsOf(r.Schema)
		for i := range fields {
			fields[i].Restricted = true
		}
		r.Fields = fields
		if err != nil {
			r.Trouble = wording.Sentence(err.Error())
		}
	case r.Mode == ModeForm:
		r.Trouble = "The question has no requestedSchema."
	}
	return r, nil
}

// App returns the URI of the resource of the app with which the server would draw the
// question itself (draft SEP-3118); "" for none.
func (r *Request) App() string {
	return rawjson.Text(rawjson.Member(r.Params, "_meta", "ui", "resourceUri"))
}

// Via is the kind of message that carried an elicitation from the server.
type Via uint8

// The messages that can carry an elicitation.
const (
	ByRequest Via = iota // a request elicitation/create of its own
	InRound              // one of the inputRequests of an input-required result
	InError              // one of the elicitations of error -32042
	InTask               // one of the inputRequests of a task (extension tasks of 2026-07-28)
)

// String names what carried the elicitation: "request", "result", "error" or "task".
func (v Via) String() string { return []string{"request", "result", "error", "task"}[v] }

// MarshalText writes the name.
func (v Via) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

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
// input-required result or task its inputRequests, and error -32042 its elicitations. Any
// other message asks nothing.
func AskedIn(m wire.Message) (list []Asked) {
	switch m.Kind {
	case wire.Request:
		return []Asked{{Method: m.Method, Params: m.Params, Pointer: "/params", MethodPointer: "/method", Via: ByRequest}}
	case wire.Result:
		switch inputRequired := "input_required"; {
		case rawjson.Text(rawjson.Member(m.Result, "resultType")) == inputRequired:
			return inputRequests(m.Result, InRound)
		case rawjson.Text(rawjson.Member(m.Result, "status")) == inputRequired && rawjson.Member(m.Result, "taskId") != nil:
			return inputRequests(m.Result, InTask)
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

func inputRequests(result json.RawMessage, via Via) (list []Asked) {
	for key, request := range rawjson.Members(rawjson.Member(result, "inputRequests")) {
		at := rawjson.PointerTo("/result/inputRequests", key)
		list = append(list, Asked{
			Key: key, Method: rawjson.Text(rawjson.Member(request, "method")), Params: rawjson.Member(request, "params"),
			Pointer: at + "/params", MethodPointer: at + "/method", Via: via,
		})
	}
	return list
}

// parsedMost is how many parsed questions are kept: more than a page shows.
const parsedMost = 300

// Parsed keeps questions parsed, by their numbers, since a page draws many of them anew
// whenever one changes. The zero value is ready for use, by several goroutines.
type Parsed struct {
	mu       sync.Mutex
	requests map[int]*Request
}

// Of parses the params of a question, unless that was done before. It returns nil for
// what cannot be parsed.
func (p *Parsed) Of(number int, params json.RawMessage) *Request {
	p.mu.Lock()
	request, known := p.requests[number]
	p.mu.Unlock()
	if known {
		return request
	}
	request, _ = Parse(params)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests == nil || len(p.requests) == parsedMost {
		p.requests = map[int]*Request{}
	}
	p.requests[number] = request
	return request
}
