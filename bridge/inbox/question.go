package inbox

import (
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Answer is what goes back to the server.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // with accept of a form: the exact bytes; nil leaves it out
	// Result, where set, is the whole result, for questions that are no
	// elicitation and for answers that are wrong on purpose.
	Result json.RawMessage
	Actor  string // who gave it, as Question.By
	// Fault is what goes out in place of all that, where it is wrong on purpose; nil
	// where it is not. Its Actor is conversation.ByFault.
	Fault *fault.Plan
}

// Misbehave is the answer that a plan amounts to.
func Misbehave(plan fault.Plan) Answer {
	return Answer{Action: rawjson.Text(rawjson.Member(plan.Result, "action")), Result: plan.Result, Actor: conversation.ByFault, Fault: &plan}
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

// Question is a question that waits, or how it was settled as long as the log does
// not say so.
type Question struct {
	client.InputRequest
	Plan       *fault.Plan   // how it is answered wrongly on purpose, nil if it is not
	TurnedDown bool          // it is no elicitation, and was declined or cancelled, which no result can say
	Handed     string        // why its server's policy left it to the person, "" if it did not
	Left       string        // why the source of answers left it to the person, "" if it did not, or there is none
	Delay      time.Duration // after which a source answers it, 0 if none does
	Held       bool          // not on show, because its server asks too often
}

// Answered notes the answer to the question.
func (q *Question) Answered(a Answer) {
	q.Answer, q.Action = a.JSON(), a.Action
	if a.Result != nil {
		q.Action = rawjson.Text(rawjson.Member(a.Result, "action"))
	}
	q.TurnedDown = q.Method != mcp.MethodElicit && a.Result == nil && a.Fault == nil
	if q.Plan = a.Fault; a.Fault != nil {
		q.Answer, q.Fault, q.Wrong, q.FaultParams = a.Result, a.Fault.Fault, a.Fault.Title, a.Fault.Params.Encode()
	}
}

// IsURL reports whether the question asks to visit a URL.
func (q *Question) IsURL() bool { return q.Request != nil && q.Request.Mode == elicit.ModeURL }

// asksFor reports whether the question is about a URL with this elicitationId.
func (q *Question) asksFor(elicitationID string) bool {
	return q.IsURL() && q.Request.ElicitationID == elicitationID
}

// codeRejected is what a client answers where the person turned down a request
// that is no elicitation (specification 2025-11-25, Sampling, Error Handling).
const codeRejected = -1

// Response is what is sent for a settled question: a result, or else an error.
func (q *Question) Response() (json.RawMessage, *client.Refusal) {
	switch {
	case q.State == conversation.Answered && q.TurnedDown:
		return nil, &client.Refusal{Code: codeRejected, Message: "User rejected " + q.Method}
	case q.State == conversation.Answered, q.State == conversation.Withdrawn && q.Action != "":
		return q.Answer, nil
	case q.State == conversation.Refused && q.Refusal != nil:
		return nil, q.Refusal
	default:
		return nil, &client.Refusal{Code: mcp.CodeInternalError, Message: fmt.Sprintf("question %s: %s", q.State, q.Reason)}
	}
}

// Note is what a transcript says of a settled question where no message says it: how
// it was answered, if that does not travel, or not yet; or how it ended.
func (q *Question) Note() *wire.Note {
	switch {
	case q.State != conversation.Answered:
		return q.EndNote()
	case q.Plan != nil:
		return &wire.Note{Kind: wire.NoteMisbehaved, Why: q.Plan.Title, Params: q.FaultParams, Answer: q.Plan.Result, Pointer: q.Pointer, At: q.Ended}
	}
	return &wire.Note{Kind: wire.NoteAnswered, Why: q.Reason, Answer: q.Answer, Pointer: q.Pointer, Completion: q.Completion.String(), At: q.Ended}
}

// EndNote is what a transcript says of where a question stands in the end.
func (q *Question) EndNote() *wire.Note {
	return &wire.Note{Kind: wire.NoteSettled, State: q.State.String(), Why: q.Reason, TurnedAway: q.TurnedAway, Pointer: q.Pointer, At: q.Ended}
}
