// Package exchange puts frames back together into exchanges: one call with all
// its rounds, questions and answers, in every revision of the protocol, whoever
// recorded them. It draws an exchange as a ladder, and writes logs in formats
// that other programs open.
package exchange

import (
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// Exchange is one call of a client, a tool's, a prompt's or a resource's, with
// everything that belongs to it. What a server asks outside of any call is an
// exchange of its own, and so is any other request with its response.
type Exchange struct {
	Number  int // place among the exchanges of the log, from 1; 0 for one that Around made up
	Server  string
	Session string
	Call    int    // the inspector's number for it, 0 if there is none
	Method  string // of the first request
	Name    string // the tool's or prompt's name, or the resource's URI; "" for other methods
	// Arguments are those of the first request; nil if there are none.
	Arguments json.RawMessage

	Frames []wire.Row // in order, without their bytes
	// Omitted counts the notifications that are left out of Frames because there
	// are too many.
	Omitted   int
	Rounds    []Round
	Questions []Question

	State State
	// Result or Error is what the last round brought; both are nil where
	// nothing came, or where it only asks for input.
	Result, Error json.RawMessage
	ResultSeq     int64 // frame of Result or Error, 0 if there is none
	// NoResponse says why the last request has no response where a frame of the
	// log says so, such as a refusal by HTTP status; "" otherwise.
	NoResponse string

	Start, End time.Time // of the first and last frame; zero where frames have no time
	// Spans say who was at work, from Start to the end of the last round or
	// question, without a gap.
	Spans []Span
}

// Took is the time that the spans cover.
func (e *Exchange) Took() time.Duration {
	if len(e.Spans) == 0 {
		return 0
	}
	return e.Spans[len(e.Spans)-1].To.Sub(e.Spans[0].From)
}

// With is how much of that time was with one of the parties.
func (e *Exchange) With(p Party) time.Duration {
	var sum time.Duration
	for _, s := range e.Spans {
		if s.With == p {
			sum += s.To.Sub(s.From)
		}
	}
	return sum
}

// State is where an exchange stands.
type State int

// The states of an exchange.
const (
	Running   State = iota // a request waits for its response
	Waiting                // the server wants input, and no retry has come
	Done                   // a result came
	Unhappy                // a result came that says isError
	Failed                 // an error came
	Cancelled              // the client took the request back
)

func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Waiting:
		return "waiting for input"
	case Done:
		return "done"
	case Unhappy:
		return "done, with isError"
	case Failed:
		return "failed"
	case Cancelled:
		return "cancelled"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Round is one request of an exchange with its response. Revision 2026-07-28
// asks by input-required results, which take several; so does error -32042.
type Round struct {
	Number    int   // from 1
	Request   int64 // frame
	Response  int64 // frame, 0 if there is none
	Began     time.Time
	Ended     time.Time // of the response; zero if there is none
	Questions int       // how many its response asks
}

// Question is what a server asks within an exchange: an elicitation, or a
// request for sampling or roots, which travel the same ways.
type Question struct {
	Number int // the inspector's number for it, 0 if it is not known
	Method string
	Via    elicit.Via
	Key    string // in inputRequests, where it came in a round
	Round  int    // of the exchange, 0 if there is none
	// Guessed: several calls were running, and nothing says to which of them it
	// belongs.
	Guessed bool

	Params json.RawMessage // nil if absent
	Answer json.RawMessage // the result that went back; nil if there is none
	Error  json.RawMessage // the error that went back in place of one
	Action string          // "accept", "decline", "cancel", or what else the answer says
	Actor  string          // who answered, as wire.Frame.Actor; "" if it is not known
	State  QuestionState
	Reason string // of a withdrawal, in the server's words; ""

	Asked, Answered     time.Time // Answered is also when it was withdrawn or the call was made again; zero while it is open
	AskedSeq, AnswerSeq int64     // frames; AnswerSeq is 0 where no answer, error or retry came
	// AskedUnseen and AnswerUnseen: the frame is not among those chosen, and of
	// what it says Params holds no more than the message, and Answer and Error
	// nothing.
	AskedUnseen, AnswerUnseen bool
	// Completed is when the server said that what happened at a URL is over.
	Completed    time.Time
	CompletedSeq int64
}

// QuestionState is where a question stands.
type QuestionState int

// The states of a question.
const (
	Open      QuestionState = iota // no answer
	Answered                       // an answer went back
	Refused                        // an error went back in place of an answer
	Withdrawn                      // the server took it back
	Retried                        // the call was made again; what the person said is not on the wire
	Passed                         // the call was made again without an answer to it
)

func (s QuestionState) String() string {
	switch s {
	case Open:
		return "not answered"
	case Answered:
		return "answered"
	case Refused:
		return "refused"
	case Withdrawn:
		return "withdrawn by the server"
	case Retried:
		return "the call was made again"
	case Passed:
		return "passed over"
	}
	return fmt.Sprintf("QuestionState(%d)", int(s))
}

// Form is the question as a person saw it: the fields, and what stood in them
// in the end, which is the answer, or the defaults where nothing was answered.
// It fails for what is no elicitation, or cannot be read as one.
func (q *Question) Form() (*elicit.Request, elicit.Inputs, error) {
	if q.Method != methodElicit {
		return nil, elicit.Inputs{}, fmt.Errorf("%s is no elicitation", q.Method)
	}
	request, err := elicit.Parse(q.Params)
	if err != nil {
		return nil, elicit.Inputs{}, err
	}
	if content := member(q.Answer, "content"); content != nil && q.Action == "accept" {
		if inputs, err := elicit.InputsOf(request.Fields, content); err == nil {
			return request, inputs, nil
		}
	}
	return request, elicit.Defaults(request.Fields), nil
}

// Party is one of those who take part in an exchange.
type Party int

// The parties.
const (
	Server Party = iota
	Client
	Person
)

func (p Party) String() string {
	switch p {
	case Server:
		return "server"
	case Client:
		return "client"
	case Person:
		return "person"
	}
	return fmt.Sprintf("Party(%d)", int(p))
}

// Span is a time in which an exchange was with one of the parties. A question
// is with the person until it is answered, and a URL that was accepted until
// the server says that it is over or the call goes on. In transcripts that do
// not say who answered, it was the person.
type Span struct {
	From, To time.Time
	With     Party
}

// The methods and notifications that exchanges are made of (MCP 2025-06-18,
// 2025-11-25 and 2026-07-28).
const (
	methodCall      = "tools/call"
	methodPrompt    = "prompts/get"
	methodRead      = "resources/read"
	methodElicit    = "elicitation/create"
	methodSample    = "sampling/createMessage"
	methodRoots     = "roots/list"
	methodInit      = "initialize"
	noteCancelled   = "notifications/cancelled"
	noteComplete    = "notifications/elicitation/complete"
	noteProgress    = "notifications/progress"
	noteMessage     = "notifications/message"
	inputRequired   = "input_required"
	codeURLRequired = -32042 // URLElicitationRequiredError, 2025-11-25 only
)

// calls reports whether requests of this method are calls, which can take
// rounds.
func calls(method string) bool {
	return method == methodCall || method == methodPrompt || method == methodRead
}

// asks reports whether requests of this method ask the client's side something.
func asks(method string) bool {
	return method == methodElicit || method == methodSample || method == methodRoots
}
