package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/wire"
)

// Answer is the answer to a question.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // content of an accepted form, exact bytes; nil omits it
	// Result, if set, is the whole result: for questions that are no elicitation, and
	// for deliberately wrong answers.
	Result json.RawMessage
	Actor  string // who answered, like Question.By
	// Fault is the plan of a deliberately wrong answer, which is carried out in place
	// of the rest; nil for other answers. Its Actor is conversation.ByFault.
	Fault *fault.Plan
}

// Misbehave returns the answer for a fault's plan.
func Misbehave(plan fault.Plan) Answer {
	return Answer{Action: rawjson.Text(rawjson.Member(plan.Result, "action")), Result: plan.Result, Actor: conversation.ByFault, Fault: &plan}
}

// JSON returns the exact result for the server.
func (a Answer) JSON() json.RawMessage {
	if a.Result != nil {
		return a.Result
	}
	if a.Content == nil {
		return fmt.Appendf(nil, `{"action":%q}`, a.Action)
	}
	return fmt.Appendf(nil, `{"action":%q,"content":%s}`, a.Action, a.Content)
}

// Question is a question that waits, or that was settled and whose end is not in the
// log yet.
type Question struct {
	conversation.InputRequest
	Handling
	Plan       *fault.Plan // the fault that answers it; nil for none
	TurnedDown bool        // a request other than an elicitation was declined or cancelled, for which there is no result
}

// Handling says what was done with a question before a person decides it.
type Handling struct {
	LeftByPolicy string        // why the policy of its server left it to the person, "" if it did not
	Left         string        // why the source left it to the person, "" if it did not or there is no source
	Held         bool          // held back, because the server asks too often
	Delay        time.Duration // time until the source answers it, 0 if it does not
}

// Answered sets the fields of the answer. It does not settle the question.
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

// codeRejected is the error code for a request other than an elicitation that the
// person has turned down (specification 2025-11-25, Sampling, Error Handling).
const codeRejected = -1

// Response returns the response to a settled question: a result, or else an error.
func (q *Question) Response() (json.RawMessage, *conversation.RPCError) {
	switch {
	case q.State == conversation.Answered && q.TurnedDown:
		return nil, &conversation.RPCError{Code: codeRejected, Message: "User rejected " + q.Method}
	case q.State == conversation.Answered, q.State == conversation.Withdrawn && q.Action != "":
		return q.Sent(q.Answer), nil
	case q.State == conversation.Refused && q.Refusal != nil:
		return nil, q.Refusal
	default:
		return nil, &conversation.RPCError{Code: mcp.CodeInternalError, Message: fmt.Sprintf("question %s: %s", q.State, q.Reason)}
	}
}

// Note returns the note for a settled question, for the case that no message in the
// transcript has its answer or its end.
func (q *Question) Note() *wire.Note {
	switch {
	case q.State != conversation.Answered:
		return q.EndNote()
	case q.Plan != nil:
		return &wire.Note{Kind: wire.NoteMisbehaved, Why: q.Plan.Title, Params: q.FaultParams, Answer: q.Plan.Result, Pointer: q.Pointer, At: q.Ended}
	}
	return &wire.Note{Kind: wire.NoteAnswered, Why: q.Reason, Answer: q.Answer, Pointer: q.Pointer, Completion: q.Completion.String(), At: q.Ended}
}

// Frame returns the frame with that note, for the connection that asked.
func (q *Question) Frame() wire.Frame {
	f := wire.Frame{Question: q.Number, Actor: q.By, Note: q.Note(), Call: q.Call, Round: q.Round}
	if q.Plan != nil {
		f.Fault = q.Plan.Fault
	}
	return f
}

// EndNote returns the note of the question's final state.
func (q *Question) EndNote() *wire.Note {
	return &wire.Note{Kind: wire.NoteSettled, State: q.State.String(), Why: q.Reason, TurnedAway: q.TurnedAway, Pointer: q.Pointer, At: q.Ended}
}

// awaited reports whether an accepted URL may still be reported as done.
func (q *question) awaited() bool {
	return q.Completion == conversation.CompletionAwaited && !q.completionImpossible
}

// CompletionImpossible marks the accepted URLs of matching questions: nobody can report any more
// that they are done.
func (in *Inbox) CompletionImpossible(matches func(*Question) bool) {
	in.update(func(n *news) {
		for _, q := range in.settled {
			if q.awaited() && matches(&q.Question) {
				q.completionImpossible = true
				n.changed = append(n.changed, q.Question)
			}
		}
	})
}

// IsAsked implements [session.Owner].
func (in *Inbox) IsAsked(s *session.Session, elicitationID, url string) bool {
	return in.IsOpen(func(q *Question) bool {
		same := q.IsURL() && q.Request.ElicitationID == elicitationID && (elicitationID != "" || q.Request.URL == url)
		return q.List != "" && q.Server == s.Server && same
	})
}

// earlyKept bounds how many completions wait for their questions, which may never come.
const earlyKept = 1000

// Completed records that the server has reported a URL as done. The report may arrive before the
// person has accepted, and even before the question is put in: those of an error are put in once
// the response is read.
func (in *Inbox) Completed(number int) {
	in.update(func(n *news) {
		q, err := in.find(number)
		switch {
		case err != nil: // of a question that was settled long ago, too
			if len(in.early) == earlyKept {
				clear(in.early)
			}
			in.early[number] = true
		case !q.IsURL(), q.State != conversation.Pending && q.Completion == conversation.CompletionNone: // a form, or declined or cancelled
		default:
			q.Completion = conversation.CompletionDone
			n.changed = append(n.changed, q.Question)
		}
	})
}

// MarkCompleted records that the person has reported an accepted URL as done.
func (in *Inbox) MarkCompleted(number int) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil && q.Completion == conversation.CompletionAwaited {
			q.Completion = conversation.CompletionMarked
			n.changed = append(n.changed, q.Question)
		}
	})
}

// IsOpen reports whether a matching question waits for its answer, or for its accepted
// URL to be done.
func (in *Inbox) IsOpen(matches func(*Question) bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	open := func(q *question) bool {
		return (q.State == conversation.Pending || q.awaited()) && matches(&q.Question)
	}
	return slices.ContainsFunc(in.pending, open) || slices.ContainsFunc(in.settled, open)
}
