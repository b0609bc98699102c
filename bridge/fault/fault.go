// Package fault is the catalogue of answers that are wrong on purpose, and plans what
// goes out for each. It does no I/O: a plan is carried out by who has the connection.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// Group is what a fault does wrong.
type Group string

// The groups, in the order in which they are offered.
const (
	Content    Group = "content"
	Result     Group = "result"
	Error      Group = "error"
	Bytes      Group = "bytes"
	Time       Group = "time"
	Connection Group = "connection"
	Round      Group = "round"
	URL        Group = "url"
)

// Groups lists the groups in order.
func Groups() []Group {
	return []Group{Content, Result, Error, Bytes, Time, Connection, Round, URL}
}

// Title is the group's heading.
func (g Group) Title() string {
	return map[Group]string{
		Content: "Content that breaks the schema", Result: "A result that is none", Error: "A JSON-RPC error",
		Bytes: "Broken bytes", Time: "Time", Connection: "The connection", Round: "The round", URL: "The URL",
	}[g]
}

// Fault is one deliberate misbehaviour.
type Fault struct {
	Name  string // never changes
	Group Group
	Title string // what a menu says
	Does  string // what goes out, in a sentence
	Good  string // what a good server does then, in a sentence
	// Section is where the specification says so, by revision; it is "" in a
	// revision that does not.
	Section map[string]string
	Params  []string // the JSON names of the members of Params that it looks at
	Field   string   // of a question's form, where the fault is about one
}

// Takes reports whether the fault looks at a parameter.
func (f Fault) Takes(param string) bool { return slices.Contains(f.Params, param) }

// Facts are what is to be known of a question before one can misbehave.
type Facts struct {
	Revision  string
	Transport string // as wire.Frame.Transport
	Via       elicit.Via
	Method    string
	Request   *elicit.Request // nil for what is no elicitation
	ID        json.RawMessage // of the request, exact; nil where it is none
	Key       string          // in inputRequests
	InCall    bool            // it is known to which call it belongs
	Streamed  bool            // it came on an HTTP stream that is open
	State     json.RawMessage // requestState that came with the round, exact; nil if none did
	Earlier   json.RawMessage // one of an earlier round of the call; nil if there is none
	Tool      string          // what is called
	Others    []string        // what else can be called in the same way
	Honest    json.RawMessage // a valid result, for what is no elicitation
}

func (f *Facts) form() bool { return f.Request != nil && f.Request.Mode == elicit.ModeForm }
func (f *Facts) url() bool  { return f.Request != nil && f.Request.Mode == elicit.ModeURL }

// responds reports whether the answer is a response of its own.
func (f *Facts) responds() bool { return f.Via == elicit.ByRequest }

// inRound reports whether the answer travels in the next request of the call.
func (f *Facts) inRound() bool { return f.Via == elicit.InRound }

// Params are what a person or a script says besides the name. What is left out is
// chosen.
type Params struct {
	Field   string          `json:"field,omitempty"`
	Seconds *float64        `json:"seconds,omitempty"`
	Code    *int64          `json:"code,omitempty"`
	Message *string         `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`   // content, a result or a state, as it is to be sent
	Tool    string          `json:"tool,omitempty"`   // that the answer is sent to
	Answer  json.RawMessage `json:"answer,omitempty"` // the result that is spoilt, delayed or repeated
}

// Encode writes the parameters as transcripts have them.
func (p Params) Encode() json.RawMessage {
	raw, err := rawjson.Encode(p)
	if err != nil {
		return nil // a part that is no JSON, which no plan takes
	}
	return raw
}

// ErrUnknown is for a name that no fault has.
var ErrUnknown = errors.New("unknown fault")

// entry is a fault with what makes it.
type entry struct {
	Fault
	fits func(*Facts) bool
	// fields are those that the fault can be about; nil where it is about none.
	fields func(elicit.Field) bool
	build  func(*builder) error
}

// All lists the whole catalogue in order.
func All() []Fault {
	list := make([]Fault, len(catalogue))
	for i, e := range catalogue {
		list[i] = e.Fault
	}
	return list
}

// Find finds a fault by its name.
func Find(name string) (Fault, error) {
	e, err := find(name)
	return e.Fault, err
}

func find(name string) (entry, error) {
	i := slices.IndexFunc(catalogue, func(e entry) bool { return e.Name == name })
	if i < 0 {
		return entry{}, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	return catalogue[i], nil
}

// For lists the faults that fit a question, in order. One that is about a field
// stands there once for each field that it fits.
func For(facts Facts) []Fault {
	var list []Fault
	for _, e := range catalogue {
		for _, field := range e.about(&facts) {
			f := e.Fault
			if f.Field = field; field != "" {
				f.Title = strings.Replace(f.Title, "a field", fmt.Sprintf("“%s”", field), 1)
			}
			list = append(list, f)
		}
	}
	return list
}

// about lists the fields for which a fault fits a question; one empty name where it
// fits and is about no field.
func (e entry) about(facts *Facts) []string {
	switch {
	case !e.fits(facts):
		return nil
	case e.fields == nil:
		return []string{""}
	}
	var names []string
	for _, f := range facts.Request.Fields {
		if e.fields(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Build plans a fault. It fails if there is none of that name, or it does not fit the
// question or its parameters.
func Build(facts Facts, name string, params Params) (Plan, error) {
	e, err := find(name)
	if err != nil {
		return Plan{}, err
	}
	fields := e.about(&facts)
	switch {
	case len(fields) == 0:
		return Plan{}, fmt.Errorf("%q does not fit this question: %s", name, e.needs(&facts))
	case params.Field == "":
		params.Field = fields[0]
	case e.fields != nil && !slices.Contains(fields, params.Field):
		return Plan{}, fmt.Errorf("%q does not fit the field %q: it fits %s", name, params.Field, strings.Join(fields, ", "))
	}
	b := &builder{Facts: &facts, Params: params, name: name}
	b.plan = Plan{Fault: name, Title: lowered(e.Title), Params: params}
	if e.fields != nil {
		b.plan.Field = params.Field
		b.plan.Title = strings.Replace(b.plan.Title, "a field", fmt.Sprintf("“%s”", params.Field), 1)
	}
	if err := e.build(b); err != nil {
		return Plan{}, fmt.Errorf("%s: %w", name, err)
	}
	return b.plan, nil
}

// needs says what a question would have to be for a fault to fit it.
func (e entry) needs(facts *Facts) string {
	probe := func(change func(*Facts)) bool {
		other := *facts
		change(&other)
		return e.fits(&other)
	}
	switch {
	case e.fields != nil && facts.form() && e.fits(facts):
		return "none of its fields has such a limit"
	case probe(func(f *Facts) { f.Via, f.InCall = elicit.ByRequest, true }):
		return "it needs a question that is a request of its own"
	case probe(func(f *Facts) {
		f.Via, f.State, f.Earlier, f.Others = elicit.InRound, []byte(`""`), []byte(`""`), []string{""}
	}):
		return "it needs a round of " + mcp.Revision20260728 + ", with what it changes"
	case probe(func(f *Facts) { f.Transport = "stdio" }):
		return "it needs a process"
	case probe(func(f *Facts) { f.Transport, f.Streamed, f.Via = "http", true, elicit.ByRequest }):
		return "it needs a question on an HTTP stream"
	}
	return "it is meant for another mode"
}

// lowered begins a title inside a sentence.
func lowered(title string) string {
	if len(title) > 1 && title[1] >= 'A' && title[1] <= 'Z' { // JSON, URL
		return title
	}
	return strings.ToLower(title[:1]) + title[1:]
}
