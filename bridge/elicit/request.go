// Package elicit parses one elicitation: the server's question, its form fields, and the
// person's answer. It works on exact bytes, so the order of properties and the digits of
// numbers stay as the server and the person wrote them. It does no I/O.
package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"sync"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
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

// Parse reads the params of elicitation/create. It fails only if they are no JSON
// object, or if "message", "mode" or "url" is no string; package lint reports all other
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
		r.Fields = fields
		if err != nil {
			r.Trouble = wording.Sentence(err.Error())
		}
	case r.Mode == ModeForm:
		r.Trouble = "The question has no requestedSchema."
	}
	return r, nil
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

// Keywords holds the members of a JSON object, a schema or params, by name, with the
// exact bytes of their values. Of several members with the same name the last counts.
type Keywords map[string]json.RawMessage

// KeywordsOf reads the members of a JSON object. Any other value has none.
func KeywordsOf(schema json.RawMessage) Keywords {
	k := make(Keywords)
	for name, value := range rawjson.Members(schema) {
		k[name] = value
	}
	return k
}

// Text returns a keyword's string, "" if it is absent or not a string.
func (k Keywords) Text(name string) string { return rawjson.Text(k[name]) }

// Number returns the digits of a keyword's number, "" if it is absent or not a number.
func (k Keywords) Number(name string) string {
	if digits := string(k[name]); isNumber(digits) {
		return digits
	}
	return ""
}

// Exact returns a keyword's number without rounding; nil if it is absent, not a number,
// or has too many digits (see computable).
func (k Keywords) Exact(name string) *big.Rat {
	number := k.Number(name)
	if number == "" || !computable(number) {
		return nil
	}
	r, _ := new(big.Rat).SetString(number)
	return r
}

// Count returns a keyword's non-negative whole number, such as minLength; nil if it is
// absent or anything else.
func (k Keywords) Count(name string) *int { return count(k.Number(name)) }

func stringsOf(raw json.RawMessage) []string {
	var list []string
	for _, v := range rawjson.Elements(raw) {
		if rawjson.KindOf(v) == rawjson.String {
			list = append(list, rawjson.Text(v))
		}
	}
	return list
}

// noControl lists the keywords that constrain a value in ways that no form control can
// show, each with its effect in words.
var noControl = []struct{ name, does string }{
	{"$ref", "refers to another schema"},
	{"$dynamicRef", "refers to another schema"},
	{"$recursiveRef", "refers to another schema"},
	{"allOf", "combines several schemas"},
	{"not", "excludes what another schema allows"},
	{"if", "depends on a condition"},
	{"const", "allows one value only"},
	{"prefixItems", "describes a list place by place"},
	{"contains", "describes what a list has to contain"},
	{"properties", "describes a nested object"},
	{"patternProperties", "describes a nested object"},
}

func (k Keywords) beyond(whose string) error {
	for _, b := range noControl {
		if _, ok := k[b.name]; ok {
			return fmt.Errorf("%s %s (%s)", whose, b.does, b.name)
		}
	}
	return nil
}

// isNumber tells whether text is a JSON number (RFC 8259, section 6), without white
// space around it.
func isNumber(text string) bool {
	raw := []byte(text)
	return rawjson.KindOf(raw) == rawjson.Number && len(rawjson.Trim(raw)) == len(raw) && rawjson.Valid(raw)
}

// maxDigits is the length in bytes of the longest number that is computed with.
const maxDigits = 2000

// hugeExponent matches numbers with an exponent of four or more digits. Their exact
// value would take too much memory: 1e1000000000 has a billion digits.
var hugeExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3,}$`)

// computable tells whether a JSON number is small enough for exact arithmetic.
func computable(number string) bool {
	return len(number) <= maxDigits && !hugeExponent.MatchString(number)
}

// count reads a non-negative whole JSON number, such as minLength: 3, 3.0 and 3e0 are
// the same. It returns nil if the number is negative or has a fraction, and at most
// math.MaxInt32, a length that no answer reaches.
func count(number string) *int {
	f, _ := strconv.ParseFloat(number, 64) // infinite where it is out of range
	if !isNumber(number) || f < 0 || f != math.Trunc(f) {
		return nil
	}
	n := int(min(f, math.MaxInt32))
	return &n
}
