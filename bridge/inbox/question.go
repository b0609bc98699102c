package inbox

import (
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// State is where a question stands. It is in exactly one.
type State int

// The states of a question.
const (
	Pending     State = iota
	Answered          // an answer was given; see Question.AnswerSeq for its frame
	Withdrawn         // the server cancelled it or died, or its call ended
	Refused           // the person was never asked
	Undelivered       // answered, but the answer could not be written
)

var stateNames = [...]string{"pending", "answered", "withdrawn", "refused", "undelivered"}

func (s State) String() string {
	if s >= 0 && int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Actor is who settled a question.
type Actor string

// Who can settle a question.
const (
	ByPerson Actor = "person"
	ByScript Actor = "script"
	ByPolicy Actor = "policy" // a rule that the person set, or the end of the inspection
	ByFault  Actor = "fault"  // something deliberately wrong; see Answer.Fault
	ByServer Actor = "server"
)

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

// Answer is what goes back to the server.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // with accept of a form: the exact bytes; nil leaves it out
	// Result, where set, is the whole result, for questions that are no
	// elicitation and for answers that are wrong on purpose.
	Result json.RawMessage
	Actor  Actor
	// Fault is what goes out in place of all that, where it is wrong on purpose; nil
	// where it is not. Its Actor is ByFault.
	Fault *fault.Plan
}

// Misbehave is the answer that a plan amounts to.
func Misbehave(plan fault.Plan) Answer {
	return Answer{Action: rawjson.Text(rawjson.Member(plan.Result, "action")), Result: plan.Result, Actor: ByFault, Fault: &plan}
}

// JSON is the exact result that the answer amounts to.
func (a Answer) JSON() json.RawMessage {
	if a.Result != nil {
		return a.Result
	}
	if a.Content == nil {
		return fmt.Appendf(nil, `{"action":%q}`, a.Action)
	}
	return fmt.Appendf(nil, `{"action":%q,"content":%s}`, a.Action, a.Content)
}

// Question is what a server asks of its client, and what became of it.
type Question struct {
	client.InputRequest
	Number int
	State  State

	Answer     Answer
	By         Actor // who settled it
	Reason     string
	Ended      time.Time // when it was settled
	AnswerSeq  int64     // frame of the answer
	Completion Completion
	Awaited    bool          // the outcome of its URL can still come
	Handed     string        // why its server's policy left it to the person, "" if it did not
	Delay      time.Duration // after which a source answers it, 0 if none does
	Held       bool          // not on show, because its server asks too often
	TurnedAway bool          // refused, because too many of its server's wait; it is not kept
}

// Title is what a question is called where there is room for a few words.
func (q *Question) Title() string {
	if q.Request != nil && q.Request.Message != "" {
		return q.Request.Message
	}
	return q.Method
}

// IsURL reports whether the question asks to visit a URL.
func (q *Question) IsURL() bool { return q.Request != nil && q.Request.Mode == elicit.ModeURL }

// AsksFor reports whether the question is about a URL with this elicitationId.
func (q *Question) asksFor(elicitationID string) bool {
	return q.IsURL() && q.Request.ElicitationID == elicitationID
}

// TurnedDown reports whether a request that is no elicitation was declined or
// cancelled, which no result can say.
func (q *Question) TurnedDown() bool {
	return q.Method != mcp.MethodElicit && q.Answer.Result == nil && q.Answer.Fault == nil
}

// Outcome is what became of a settled question, in a few words.
func (q *Question) Outcome() string {
	text := q.State.String()
	if q.State == Answered && q.Answer.Action != "" {
		text = q.Answer.Action
	}
	if q.Reason != "" {
		text += ": " + q.Reason
	}
	return text
}

// codeRejected is what a client answers where the person turned down a request
// that is no elicitation (specification 2025-11-25, Sampling, Error Handling).
const codeRejected = -1

// Response is what is sent for a settled question: a result, or else an error.
func (q *Question) Response() (json.RawMessage, *client.Refusal) {
	switch {
	case q.State == Answered && q.TurnedDown():
		return nil, &client.Refusal{Code: codeRejected, Message: "User rejected " + q.Method}
	case q.State == Answered, q.State == Withdrawn && q.Answer.Action != "":
		return q.Answer.JSON(), nil
	case q.State == Refused && q.Refusal != nil:
		return nil, q.Refusal
	default:
		return nil, &client.Refusal{Code: mcp.CodeInternalError, Message: fmt.Sprintf("question %s: %s", q.State, q.Reason)}
	}
}

// Note is what a transcript says of a settled question where no message says it: how
// it was answered, if that does not travel, or not yet; or how it ended.
func (q *Question) Note() *wire.Note {
	switch {
	case q.State != Answered:
		return q.EndNote()
	case q.Answer.Fault != nil:
		return &wire.Note{Kind: wire.NoteMisbehaved, Why: q.Answer.Fault.Title, Answer: q.Answer.Result, Pointer: q.Pointer, At: q.Ended}
	}
	return &wire.Note{Kind: wire.NoteAnswered, Answer: q.Answer.JSON(), Pointer: q.Pointer, Completion: q.Completion.String(), At: q.Ended}
}

// EndNote is what a transcript says of where a question stands in the end.
func (q *Question) EndNote() *wire.Note {
	return &wire.Note{Kind: wire.NoteSettled, State: q.State.String(), Why: q.Reason, Pointer: q.Pointer, At: q.Ended}
}
