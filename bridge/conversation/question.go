package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Question is what a server asks within a call: an elicitation, or a request for
// sampling or roots, which travel the same ways.
type Question struct {
	Number  int // what people know it by
	Place   int // among what its frame asks, from 1
	Of      int // how many that are
	Method  string
	Via     elicit.Via
	Stream  wire.Stream // that carried the frame
	Key     string      // in inputRequests, where it came in a round
	Pointer string      // JSON pointer to the params in the frame
	Round   int         // of the call, 0 if there is none
	List    string      // method of the list that requires it, "" for none
	// Guessed: several calls were running, and nothing says to which of them it
	// belongs.
	Guessed bool
	Params  json.RawMessage // nil if absent
	LetGo   bool            // Params and Answer are only in the log; see Conversation.Watch

	State QuestionState
	By    string // who settled it, as wire.Frame.Actor; "" if it is not known
	Fault string // by which fault of package fault; "" where it is not wrong on purpose
	Wrong string // what is wrong then, inside a sentence
	// FaultParams are the parameters of the fault, as fault.Params writes them; nil where
	// none are known.
	FaultParams json.RawMessage
	// TurnedAway: it was refused because too many of its server's waited.
	TurnedAway bool
	Reason     string          // why it was settled so, in words; "" if there is nothing to say
	Action     string          // "accept", "decline", "cancel", or what else the answer says
	Answer     json.RawMessage // the result that went back; nil if there is none
	Error      json.RawMessage // the error that went back in place of one
	// Completion says what is known of the outcome of a URL that was accepted.
	Completion Completion

	Asked, Ended        time.Time // Ended is zero while it is pending
	AskedSeq, AnswerSeq int64     // frames; AnswerSeq is 0 where neither answer nor retry came
	// AskedUnseen and AnswerUnseen: the frame is not among those chosen, and of
	// what it says Params holds no more than the message, and Answer and Error
	// nothing.
	AskedUnseen, AnswerUnseen bool
	// Completed is when the server said that what happened at a URL is over.
	Completed    time.Time
	CompletedSeq int64

	isURL bool   // also where Params were let go of
	id    string // of the request, as wire.IDKey
}

// QuestionState is where a question stands.
type QuestionState int

// The states of a question.
const (
	Pending     QuestionState = iota
	Answered                  // an answer went back, or was given and does not travel
	Withdrawn                 // the server took it back, or its call ended or went on without an answer
	Refused                   // nobody was asked: an error went back, or nothing
	Undelivered               // answered, but the answer could not be written
	Unheard                   // the call was made again; what was said is not on the wire
)

func (s QuestionState) String() string {
	switch s {
	case Pending:
		return "pending"
	case Answered:
		return "answered"
	case Withdrawn:
		return "withdrawn"
	case Refused:
		return "refused"
	case Undelivered:
		return "undelivered"
	case Unheard:
		return "the call was made again"
	}
	return fmt.Sprintf("QuestionState(%d)", int(s))
}

// stateNamed is the inverse of String; Withdrawn for a name that is not known.
func stateNamed(name string) QuestionState {
	for s := Pending; s <= Unheard; s++ {
		if s.String() == name {
			return s
		}
	}
	return Withdrawn
}

// Completion says what is known of an accepted URL's outcome.
type Completion int

// The outcomes of an accepted URL.
const (
	CompletionNone    Completion = iota // no URL, or not accepted
	CompletionAwaited                   // the server has not said that it is done
	CompletionDone                      // notifications/elicitation/complete came
	CompletionMarked                    // the person says that it is done
)

// String names an outcome that is known, as transcripts do.
func (c Completion) String() string {
	switch c {
	case CompletionDone:
		return "completed"
	case CompletionMarked:
		return "marked"
	}
	return ""
}

// Who can settle a question.
const (
	ByPerson = "person"
	ByScript = "script"
	ByPolicy = "policy" // a rule that the person set, or the end of the call
	ByFault  = "fault"
	ByServer = "server"
)

// Title is what a person is asked, in one text.
func (q *Question) Title() string {
	if message := q.Message(); message != "" {
		return message
	}
	return q.Method
}

// Carried says in words on what the question came.
func (q *Question) Carried() string {
	switch {
	case q.Via == elicit.InRound:
		return fmt.Sprintf("round %d, %q", q.Round, q.Key)
	case q.List != "":
		return fmt.Sprintf("error %d to %s, elicitation %d of %d", mcp.CodeURLElicitationRequired, q.List, q.Place, q.Of)
	case q.Via == elicit.InError:
		return fmt.Sprintf("error %d, elicitation %d of %d", mcp.CodeURLElicitationRequired, q.Place, q.Of)
	case q.Stream == wire.StreamPostSSE:
		return "request on the POST event stream"
	case q.Stream == wire.StreamGetSSE:
		return "request on the GET event stream"
	case q.Stream == wire.StreamPost:
		return "request in a POST answer"
	}
	return "request"
}

// Message is the text that goes with an elicitation, "" if there is none.
func (q *Question) Message() string {
	if q.Method != mcp.MethodElicit {
		return ""
	}
	return rawjson.Text(rawjson.Member(q.Params, "message"))
}

// URL is the address that a person is asked to visit, "" for another question.
func (q *Question) URL() string {
	m := members(q.Params)
	if q.Method != mcp.MethodElicit || rawjson.Text(m["mode"]) != string(elicit.ModeURL) {
		return ""
	}
	return rawjson.Text(m["url"])
}

// Personal reports whether the question was with a person until somebody
// answered. What scripts and faults answer is not. A policy answers at once, or
// because there is nothing left to wait for.
func (q *Question) Personal() bool {
	switch q.By {
	case ByPerson, ByPolicy:
		return true
	case "":
		return q.Method == mcp.MethodElicit
	case ByServer:
		return q.State == Withdrawn && q.Method == mcp.MethodElicit
	}
	return false
}

// Form is the question as a person saw it: the fields, and what stood in them
// in the end, which is the answer, or the defaults where nothing was answered.
// It fails for what is no elicitation, or cannot be read as one.
func (q *Question) Form() (*elicit.Request, elicit.Inputs, error) {
	if q.Method != mcp.MethodElicit {
		return nil, elicit.Inputs{}, fmt.Errorf("%s is no elicitation", q.Method)
	}
	request, err := elicit.Parse(q.Params)
	if err != nil {
		return nil, elicit.Inputs{}, err
	}
	if content := rawjson.Member(q.Answer, "content"); content != nil && q.Action == "accept" {
		if inputs, err := elicit.InputsOf(request.Fields, content); err == nil {
			return request, inputs, nil
		}
	}
	return request, elicit.Defaults(request.Fields), nil
}

// Anyway lists why an accepted answer does not satisfy the schema that it was
// asked for with: whoever gave it sent it anyway. It is nil for an answer that
// does, and for one that cannot be judged.
func (q *Question) Anyway() []elicit.Problem {
	if q.Method != mcp.MethodElicit || q.Action != "accept" || q.Answer == nil || q.Params == nil || leftOut(q.Params) || leftOut(q.Answer) {
		return nil
	}
	request, err := elicit.Parse(q.Params)
	if err != nil || request.Mode != elicit.ModeForm || request.Schema == nil {
		return nil
	}
	content := rawjson.Member(q.Answer, "content")
	if content == nil {
		return []elicit.Problem{{Field: -1, Text: "It has no content."}}
	}
	problems, err := elicit.Check(request.Schema, content)
	if err != nil {
		return nil // no answer satisfies a schema that is none
	}
	for i, p := range problems {
		if p.Field >= 0 && p.Field < len(request.Fields) {
			problems[i].Text = request.Fields[p.Field].Label + ": " + p.Text
		}
	}
	return problems
}

// leftOut reports whether redaction took something out of a part of a message,
// so that it cannot be judged.
func leftOut(raw json.RawMessage) bool { return strings.Contains(string(raw), redact.Placeholder) }
