package conversation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Question is a request of a server within a call: elicitation, sampling or roots.
type Question struct {
	Number  int // shown to people
	Place   int // position among the questions of its frame, from 1
	Of      int // how many questions its frame asks
	Round   int // round of the call, 0 if there is none
	Method  string
	Key     string          // in inputRequests, for Via InRound
	Pointer string          // JSON pointer to the params in the frame
	List    string          // method of the list that requires it, "" for none
	Params  json.RawMessage // nil if absent

	// The small fields stand together: thousands of questions can wait.

	Via    elicit.Via
	Stream wire.Stream // of the frame
	// Guessed: several calls were open, and the frame does not say to which of them
	// the question belongs.
	Guessed        bool
	NumberRecorded bool // an inspector asked, which gave the question its number in the frame
	BytesDropped   bool // Params and Answer are only in the log; see Conversation.Watch
	isURL          bool // kept when Params are dropped
	State          QuestionState
	// TurnedAway: it was refused because too many questions of its server were
	// waiting.
	TurnedAway bool
	Completion Completion // known outcome of an accepted URL
	NeverSent  bool       // the call ended before the round was complete whose answers go out together
	// AskedUnseen and AnswerUnseen: the frame is not chosen by Reading.Only. An
	// unseen question has only the message in Params; an unseen answer leaves Answer
	// and Error nil.
	AskedUnseen, AnswerUnseen bool

	By    string // who settled it, as wire.Frame.Actor; "" if unknown
	Fault string // fault of package fault that answered it; "" for an honest answer
	Wrong string // what is wrong with that answer, to be put into a sentence
	// FaultParams are the parameters of the fault, as fault.Params writes them; nil
	// if unknown.
	FaultParams json.RawMessage
	Reason      string          // why it was settled this way, in words; "" for no reason
	Action      string          // "accept", "decline", "cancel", or any other action in the answer
	Answer      json.RawMessage // the result that went back; nil if there is none
	Error       json.RawMessage // the error that went back instead of a result

	Task *QuestionTask // of the client's that the question is; nil for none

	Asked, Ended        time.Time // Ended is zero while it is pending
	waited              time.Time // until the answer was on the wire, or the server withdrew it, if either has happened
	AskedSeq, AnswerSeq int64     // frames; AnswerSeq is 0 without an answer or next round
	SaidSeq             int64     // the note of an answer that is not sent, or not yet; 0 for none
	CancelledSeq        int64     // the server cancels it, perhaps after the answer; 0 for none
	// Completed is when the server reported the end of the visit to the URL.
	Completed    time.Time
	CompletedSeq int64

	nth uint32 // among the questions of its call, from 1
}

// QuestionState is the stage of a question: pending, or how it was settled.
type QuestionState uint8

// The states of a question.
const (
	Pending       QuestionState = iota
	Answered                    // an answer went back, or was given and stays off the wire
	Withdrawn                   // the server cancelled it, or its call ended or went on without an answer
	Refused                     // the person was not asked: an error went back, or nothing
	Undelivered                 // answered, but the answer could not be written
	AnswerUnknown               // the call was made again, but the answer itself is not on the wire
)

var questionStates = []string{"pending", "answered", "withdrawn", "refused", "undelivered", "the call was made again"}

func (s QuestionState) String() string { return questionStates[s] }

func stateNamed(name string) QuestionState {
	if i := slices.Index(questionStates, name); i >= 0 {
		return QuestionState(i)
	}
	return Withdrawn
}

// Completion is the outcome of an accepted URL, as far as it is known.
type Completion uint8

// The outcomes of an accepted URL.
const (
	CompletionNone    Completion = iota // no URL, or not accepted
	CompletionAwaited                   // the server has not reported it done
	CompletionDone                      // notifications/elicitation/complete came
	CompletionMarked                    // the person marked it done
)

// String names an outcome as transcripts do; "" for one that is not known.
func (c Completion) String() string {
	return [...]string{CompletionDone: "completed", CompletionMarked: "marked"}[c]
}

// Values of Question.By.
const (
	ByPerson = "person"
	ByScript = "script"
	ByPolicy = "policy" // a rule that the person set, or the end of the call
	ByFault  = "fault"
	ByServer = "server"
)

// Title is the text of the question for the person: its message, or else its method.
func (q *Question) Title() string {
	if message := q.Message(); message != "" {
		return message
	}
	return q.Method
}

// Carried describes in words the message that carried the question.
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

// Message returns the message of an elicitation, "" if there is none.
func (q *Question) Message() string {
	if q.Method != mcp.MethodElicit {
		return ""
	}
	return rawjson.Text(rawjson.Member(q.Params, "message"))
}

// URL returns the address of a URL-mode elicitation, "" for any other question.
func (q *Question) URL() string {
	m := elicit.KeywordsOf(q.Params)
	if q.Method != mcp.MethodElicit || m.Text("mode") != string(elicit.ModeURL) {
		return ""
	}
	return m.Text("url")
}

// Personal reports whether the question waited for the person until it was settled.
// Answers of scripts and faults do not count. Those of a policy do: it answers at
// once, or when there is nothing left to wait for.
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

// Form returns the fields of the question, and their values: the content of an accepted
// answer, or the defaults if there is none. It fails for methods
// other than elicitation/create and for params that cannot be parsed.
func (q *Question) Form() (*elicit.Request, elicit.Inputs, error) {
	if q.Method != mcp.MethodElicit {
		return nil, elicit.Inputs{}, fmt.Errorf("%s is not an elicitation", q.Method)
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

// SchemaProblems lists why an accepted answer violates the schema of its question. It is nil
// for a valid answer, and for one that cannot be judged.
func (q *Question) SchemaProblems() []elicit.Problem {
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
		return nil // the schema is invalid, so that no answer satisfies it
	}
	for i, p := range problems {
		problems[i].Text = p.Labelled(request.Fields)
	}
	return problems
}

// leftOut reports whether redaction removed a part of raw, so that it cannot be
// judged.
func leftOut(raw json.RawMessage) bool { return strings.Contains(string(raw), redact.Placeholder) }
