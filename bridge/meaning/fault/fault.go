// Package fault is the catalogue of answers that are wrong on purpose, and plans the
// bytes and steps of each. It does no I/O: other packages carry the plans out.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Group is the kind of a fault.
type Group string

// The groups, in the order in which they are offered.
const (
	Content    Group = "content"
	File       Group = "file"
	Result     Group = "result"
	Error      Group = "error"
	Bytes      Group = "bytes"
	Time       Group = "time"
	Connection Group = "connection"
	Round      Group = "round"
	URL        Group = "url"
	Task       Group = "task"
)

// Groups lists the groups in order.
func Groups() []Group {
	return []Group{Content, File, Result, Error, Bytes, Time, Connection, Round, URL, Task}
}

// Title returns the group's heading.
func (g Group) Title() string {
	return map[Group]string{
		Content: "Content that breaks the schema", File: "Another file than was asked for", Result: "An invalid result", Error: "A JSON-RPC error",
		Bytes: "Broken bytes", Time: "Time", Connection: "The connection", Round: "The round", URL: "The URL", Task: "The task",
	}[g]
}

// Fault is one deliberate misbehaviour.
type Fault struct {
	Name  string // never changes
	Group Group
	Title string // title in menus
	Does  string // the bytes or messages that the client sends, in a sentence
	Good  string // how a good server reacts, in a sentence
	// Section is the section of the specification for Good, by revision; "" in revisions
	// without one.
	Section map[string]string
	Params  []string // the JSON names of the members of Params that the fault uses
	Field   string   // field of the form that the fault is about; "" for none
}

// Takes reports whether the fault uses a parameter.
func (f Fault) Takes(param string) bool { return slices.Contains(f.Params, param) }

// Facts are the facts about a question that faults depend on.
type Facts struct {
	Revision  string
	Transport string // as wire.Frame.Transport
	Via       elicit.Via
	Method    string
	Request   *elicit.Request // nil if the question is not an elicitation
	ID        json.RawMessage // exact id of the server's request; nil if there is no request
	Key       string          // key in inputRequests
	InCall    bool            // the call of the question is known and runs
	Streamed  bool            // the question came on an HTTP stream that is open
	State     json.RawMessage // exact requestState of the round; nil if absent
	Earlier   json.RawMessage // a different requestState of an earlier round of the call; nil for none
	Tool      string          // name or URI that the call requests
	Others    []string        // other names or URIs that can be requested in the same way
	Task      string          // id of the server's task that the question belongs to; "" for none
	OwnTask   bool            // the question is a task of the client's (2025-11-25)
	Honest    json.RawMessage // a valid result, if the question is not an elicitation
}

func (f *Facts) form() bool { return f.Request != nil && f.Request.Mode == elicit.ModeForm }
func (f *Facts) url() bool  { return f.Request != nil && f.Request.Mode == elicit.ModeURL }

// responds reports whether the answer is a JSON-RPC response to the question's request.
func (f *Facts) responds() bool { return f.Via == elicit.ByRequest && !f.OwnTask }

// inRound reports whether the answer travels in the next request of the call.
func (f *Facts) inRound() bool { return f.Via == elicit.InRound }

// Params are the parameters that a person or a script gives for a fault. Omitted ones get
// a suitable value.
type Params struct {
	Field   string          `json:"field,omitempty"`
	Seconds *float64        `json:"seconds,omitempty"`
	Code    *int64          `json:"code,omitempty"`
	Message *string         `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`   // content, result or state to send
	Tool    string          `json:"tool,omitempty"`   // tool to send the answer to
	Answer  json.RawMessage `json:"answer,omitempty"` // the result to spoil, delay or repeat
}

// Encode returns the parameters in the format of transcripts.
func (p Params) Encode() json.RawMessage {
	raw, err := rawjson.Encode(p)
	if err != nil {
		return nil // a part is not JSON, which no plan accepts
	}
	return raw
}

// ErrUnknown is the error for an unknown name of a fault.
var ErrUnknown = errors.New("unknown fault")

// entry is a fault with the functions that plan it.
type entry struct {
	Fault
	fits func(*Facts) bool
	// fields reports whether the fault can be about a field; nil if the fault is not
	// about a field.
	fields func(elicit.Field) bool
	build  func(*builder) error
	late   bool // the client answers after the end of the question's call
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

// AnswersLate reports whether the fault of this name answers a question after the end of
// its call, so that the end of the call does not mean that the answer is on the wire.
func AnswersLate(name string) bool {
	e, _ := find(name) // the zero entry for an unknown name
	return e.late
}

func find(name string) (entry, error) {
	i := slices.IndexFunc(catalogue, func(e entry) bool { return e.Name == name })
	if i < 0 {
		return entry{}, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	return catalogue[i], nil
}

// For lists the faults that fit a question, in order. A fault about a field is listed
// once for each field that it fits.
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

// about lists the fields for which a fault fits a question; one empty name if the fault
// fits and is not about a field.
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

// Build plans a fault. It returns an error if the name is unknown, or if the fault does
// not fit the question or the parameters.
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
	b := &builder{Facts: &facts, Params: params}
	title := e.Title
	if title[1] < 'A' || title[1] > 'Z' { // else an abbreviation such as JSON or URL begins it
		title = strings.ToLower(title[:1]) + title[1:]
	}
	b.plan = Plan{Fault: name, Title: title, Task: facts.Task, Params: params}
	if e.fields != nil {
		b.plan.Field = params.Field
		b.plan.Title = strings.Replace(b.plan.Title, "a field", fmt.Sprintf("“%s”", params.Field), 1)
	}
	if err := e.build(b); err != nil {
		return Plan{}, fmt.Errorf("%s: %w", name, err)
	}
	return b.plan, nil
}

// needs describes the condition that a question does not meet for a fault.
func (e entry) needs(facts *Facts) string {
	probe := func(change func(*Facts)) bool {
		other := *facts
		change(&other)
		return e.fits(&other)
	}
	switch {
	case e.fields != nil && facts.form() && e.fits(facts):
		return "none of its fields has such a limit"
	case probe(func(f *Facts) { f.OwnTask = true }):
		return "it needs a question that is a task"
	case probe(func(f *Facts) { f.Task = "1" }), probe(func(f *Facts) { f.Via = elicit.InTask }):
		return "it needs a question of a task, in the revision that has such answers"
	case probe(func(f *Facts) { f.Via, f.InCall, f.OwnTask = elicit.ByRequest, true, false }):
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

// Plan describes what the client does instead of an honest answer.
type Plan struct {
	Fault string // name of the fault
	Field string // field that the fault is about; "" for none
	Title string // title inside a sentence: "wrong id"
	// Params are the parameters that the plan was built with.
	Params Params
	Task   string // id of the server's task that the question belongs to; "" for none
	// Result is the result to send, even if only in part; nil for none.
	Result json.RawMessage
	// Steps are carried out in order. For a question in a round they come before the next
	// request of the call.
	Steps []Step
	// Retry describes how the next request of the call differs from an honest one. It is
	// nil if the answer is a response, or if there is no next request.
	Retry *Retry
}

// Do is the kind of a step.
type Do int

// The steps.
const (
	Send            Do = iota // write Raw
	Wait                      // wait for Time
	AwaitWithdrawal           // wait until the server cancels the question, or its call is over
	CancelCall                // cancel the call of the question
	CloseConnection           // close the connection without a message, and see whether the server ends
	Kill                      // kill the server's process
	DropStream                // close the HTTP stream that carried the question
	StartSession              // end the session, and start a new one
	UpdateTask                // send tasks/update with Raw as inputResponses
	PollTask                  // send tasks/get Times times at once, and await the responses
	CancelTask                // send tasks/cancel for the task of the call
	LeaveTask                 // end the call, and never ask for its task or the result again
	TellStatus                // give the task that the question is Status
	GiveResult                // answer tasks/result with the result or error of the response Raw
	ForgetTask                // refuse every request about the task that the question is
)

// Step is one step of a plan.
type Step struct {
	Do     Do
	Raw    []byte        // for Send: the bytes, without the framing of the transport
	Pace   Pace          // for Send
	Time   time.Duration // for Wait
	Times  int           // for PollTask
	Status string        // for TellStatus, as the specification names it
}

// Pace describes how slowly bytes are written. The zero Pace means at once.
type Pace struct {
	Pieces int           // number of pieces
	Total  time.Duration // total time of the pauses between pieces
}

// EachByte is Pace.Pieces for one byte at a time.
const EachByte = -1

// Split cuts bytes into pieces, and returns the pause between two of them.
func (p Pace) Split(raw []byte) (pieces [][]byte, pause time.Duration) {
	n := p.Pieces
	if n == EachByte {
		n = len(raw)
	}
	if n < 2 {
		return [][]byte{raw}, 0
	}
	size := (len(raw) + n - 1) / n
	for piece := range slices.Chunk(raw, size) {
		pieces = append(pieces, piece)
	}
	return pieces, p.Total / time.Duration(max(len(pieces)-1, 1))
}

// Retry describes how the request that answers a round differs from an honest one.
type Retry struct {
	// Value is the value of the question's key in inputResponses; nil omits the key.
	Value json.RawMessage
	Extra []Member // further members of inputResponses
	// State replaces requestState if ChangeState is set; nil omits it.
	State       json.RawMessage
	ChangeState bool
	Tool        string // tool to call instead of the call's own; "" for the call's own
	SameID      bool   // use the id of the previous request
	Cut         bool   // omit the last byte of the message
	Twice       bool   // send the same bytes twice
	AtOnce      bool   // do not wait for the outcome of a URL
	Pace        Pace
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}
