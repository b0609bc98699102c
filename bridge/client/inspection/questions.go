package inspection

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
)

// questions shows the questions of the servers, and answers them.
type questions struct {
	*reader
	servers  *servers
	calls    *calls
	findings *findings
	inbox    *live.Inbox
	parsed   elicit.Parsed
}

// Question is the state of a question, from the log and the inbox, with its server,
// session, call and findings. A pending question of a playback has an answer while it is
// shown being given.
type Question struct {
	conversation.InputRequest
	live.Handling
	Waited  time.Duration // from asked to settled
	Awaited bool          // the outcome of the question's URL can still arrive
	// Suggestion is a valid minimal result for a question other than an elicitation.
	Suggestion json.RawMessage
	Findings   []lint.Finding // their pointers are relative to the frame that asked, or that answered
}

// Content returns the content of an accepted form, nil for none.
func (q *Question) Content() json.RawMessage {
	if q.Method != mcp.MethodElicit {
		return nil
	}
	return rawjson.Member(q.Answer, "content")
}

// candidate is a question as known from the log and from the inbox.
type candidate struct {
	said *conversation.Question // nil while the log does not have the question
	call *conversation.Call     // the call of said
	own  *live.Question         // nil if the inbox does not have the question
}

// state returns the state of the question. The inbox comes first, until it has settled the
// question and the log has all of that.
func (c *candidate) state() *conversation.Question {
	own, said := c.own, c.said
	if own == nil || own.State != conversation.Pending && said != nil && said.State != conversation.Pending && said.Completion >= own.Completion {
		return said
	}
	return &own.Question
}

// ofQuestion assembles a Question from the log, the inbox and the linter.
func (in *questions) ofQuestion(c candidate) Question {
	var q Question
	if c.own != nil {
		q.InputRequest, q.Handling = c.own.InputRequest, c.own.Handling
	} else if c.call != nil {
		q.Server, q.Session, q.Call, q.CallName = in.servers.known.IDOf(c.call.Server), c.call.Session, c.call.Number, in.calls.nameOf(c.call)
	}
	q.Question = *c.state()
	if c.said != nil { // times are those of frames
		q.AnswerSeq, q.Asked, q.Task = c.said.AnswerSeq, c.said.Asked, c.said.Task
	}
	in.fill(&q)
	if q.Request == nil {
		q.Suggestion = conversation.Suggestion(q.Method)
	}
	switch {
	case q.Via == elicit.ByRequest:
		q.Round = 0
	case q.Via == elicit.InError:
		q.AnswerSeq = 0 // the answer is never sent; the client repeats the call
	}
	if q.State == conversation.AnswerUnknown {
		q.Reason = q.State.String() + "; " + q.Reason
		q.State, q.Action = conversation.Answered, "accept"
	}
	if q.State != conversation.Pending {
		q.Waited = q.Ended.Sub(q.Asked)
	}
	// The outcome of an accepted URL can still arrive while its call runs. A notification with
	// an elicitationId can arrive long after the call, but only on the connection that asked.
	if q.Completion == conversation.CompletionAwaited {
		connected := in.replay != nil || c.call == nil || in.servers.live.Session(c.call.Session) != nil
		runs := c.call != nil && c.call.Number != 0 && !c.call.State.Over()
		q.Awaited = connected && (q.Request != nil && q.Request.ElicitationID != "" || runs)
	}
	if in.replay != nil && in.replay.player != nil && q.State == conversation.Pending { // it is pending while its answer is being given
		s := in.replay.player.State()
		for _, given := range s.Asked {
			if s.Giving != 0 && given.Answered == s.Giving && given.Asked == q.AskedSeq && given.Place == q.Place {
				q.Action, q.Answer = given.Action, given.Answer
			}
		}
	}
	response := int64(0)
	if c.call != nil {
		response = c.call.ResultSeq
	}
	for _, f := range lint.OfQuestion(&q.Question, response, in.findings.linter.At) {
		q.Findings = append(q.Findings, f.Finding)
	}
	return q
}

// askedMost is the maximum size in bytes of a settled question's params or answer for
// showing them. The log has larger ones.
const askedMost = 1 << 20

// fill reads params and answer from the log if they are not in memory, drops large ones
// of settled questions, and parses the elicitation.
func (in *questions) fill(q *Question) {
	if q.BytesDropped {
		params, err := conversation.ParamsAt(in.log, q.AskedSeq)
		if err == nil {
			q.Params = params[q.Pointer]
		}
		if f, err := in.log.Frame(q.AnswerSeq); err == nil && q.Via == elicit.ByRequest {
			q.Answer = f.Message.Result
		}
	}
	if q.State != conversation.Pending {
		for _, raw := range []*json.RawMessage{&q.Params, &q.Answer} {
			if len(*raw) > askedMost {
				*raw = nil
			}
		}
	}
	if q.Method == mcp.MethodElicit && q.Request == nil && q.Params != nil {
		q.Request = in.parsed.Of(q.Number, q.Params)
	}
}

// candidates returns the known questions, in no order. With latest it leaves out those
// that OnShow does not need, so that its cost does not grow with the settled questions,
// except in a replay.
func (in *questions) candidates(latest bool) (list []candidate) {
	own := map[int]*live.Question{}
	for _, q := range in.inbox.Questions(!latest) {
		own[q.Number] = &q
	}
	now := in.read() // after the inbox, which forgets what the log has
	add := func(call *conversation.Call, said *conversation.Question) {
		c := candidate{said, call, own[said.Number]}
		if delete(own, said.Number); !said.TurnedAway && in.isKnown(&c) {
			list = append(list, c)
		}
	}
	if latest && in.replay == nil {
		for _, q := range now.Settled {
			if call, said := now.Question(q.Number); said != nil {
				add(call, said)
			}
		}
	} else {
		for _, call := range now.Calls {
			for _, said := range call.Questions {
				add(call, said)
			}
		}
	}
	for number, q := range own {
		call, said := now.Question(number)
		list = append(list, candidate{said, call, q})
	}
	return list
}

// isKnown reports whether to show a question. In a live inspection, one that is pending in
// the log alone is about to be put into the inbox.
func (in *questions) isKnown(c *candidate) bool {
	return c.own != nil || c.said != nil && (in.replay != nil || c.said.State != conversation.Pending)
}

// assembled returns the Questions of candidates, oldest first.
func (in *questions) assembled(list []candidate) []Question {
	out := make([]Question, len(list))
	for i, c := range list {
		out[i] = in.ofQuestion(c)
	}
	slices.SortFunc(out, func(a, b Question) int { return a.Number - b.Number })
	return out
}

// Questions returns all questions that are kept, oldest first.
func (in *questions) Questions() []Question {
	return in.assembled(in.candidates(false))
}

// OnShow returns the questions for the page, oldest first: the pending ones that are not
// held back, the given number of latest settled ones, and earlier ones that wait for the
// outcome of a URL.
func (in *questions) OnShow(settled int) []Question {
	var list, past []candidate
	for _, c := range in.candidates(true) {
		if c.state().State == conversation.Pending {
			list = append(list, c)
		} else {
			past = append(past, c)
		}
	}
	slices.SortFunc(past, func(a, b candidate) int {
		return cmp.Or(b.state().Ended.Compare(a.state().Ended), b.state().Number-a.state().Number)
	})
	for i, c := range past {
		if i < settled || settled > 0 && c.state().Completion == conversation.CompletionAwaited && in.ofQuestion(c).Awaited {
			list = append(list, c)
		}
	}
	return in.assembled(list)
}

// candidate returns a question by its number.
func (in *questions) candidate(number int) (c candidate, err error) {
	if own, err := in.inbox.Question(number); err == nil {
		c.own = &own
	}
	c.call, c.said = in.read().Question(number) // after the inbox, which forgets what the log has
	if !in.isKnown(&c) {
		err = fmt.Errorf("%w: %d", live.ErrUnknownQuestion, number)
	}
	return c, err
}

// Question returns one question by its number.
func (in *questions) Question(number int) (Question, error) {
	c, err := in.candidate(number)
	if err != nil {
		return Question{}, err
	}
	return in.ofQuestion(c), nil
}

// Standing returns the call of a question, 0 if none is known, and whether the question
// waits. It is much faster than Question.
func (in *questions) Standing(number int) (call int, waits bool) {
	c, err := in.candidate(number)
	switch {
	case err != nil:
		return 0, false
	case c.own != nil:
		call = c.own.Call
	case c.call != nil:
		call = c.call.Number
	}
	return call, c.state().State == conversation.Pending
}

// Answer settles a question with a. Only the first answer counts: later ones get the
// error [live.ErrSettled].
func (in *questions) Answer(number int, a live.Answer) error {
	if err := in.inbox.Answer(number, a); !errors.Is(err, live.ErrUnknownQuestion) {
		return err
	}
	return in.settled(number)
}

// Hasten gives a question the answer of the script that waits for its delay.
func (in *questions) Hasten(number int) { in.inbox.Hasten(number) }

// settled returns [live.ErrSettled] for a question that the inbox does not have: the log has
// its end by then. If the log does not have it either, it is unknown.
func (in *questions) settled(number int) error {
	if _, err := in.candidate(number); err != nil {
		return err
	}
	return live.ErrSettled
}

// MarkCompleted records that the person marked an accepted URL as done.
func (in *questions) MarkCompleted(number int) error {
	in.inbox.MarkCompleted(number)
	_, err := in.candidate(number)
	return err
}

// SetPolicy sets the policy for a server's further questions, and for those that are held
// back. It does not affect questions on show.
func (in *questions) SetPolicy(id string, p conversation.Policy) error {
	_, err := in.servers.live.Server(id)
	if err == nil {
		in.inbox.SetPolicy(id, p)
	}
	return err
}

// Release handles the questions that are held back: "show" shows the oldest of them, as
// many as fit, and "decline" declines all of them.
func (in *questions) Release(id, choice string) error {
	_, err := in.servers.live.Server(id)
	switch {
	case err != nil:
		return err
	case choice == "show":
		in.inbox.ShowHeld(id)
	case choice == "decline":
		in.inbox.DeclineHeld(id)
	default:
		return fmt.Errorf("unknown choice %q: want show or decline", choice)
	}
	return nil
}

// Next describes what a server did after a question was settled.
func (in *questions) Next(q Question) conversation.Next {
	if q.State == conversation.Pending {
		return conversation.Next{}
	}
	settled := conversation.Settled{Question: q.Question, Session: q.Session}
	if s, err := in.servers.known.Server(q.Server); err == nil {
		settled.Server = s.Label
	}
	if c, err := in.calls.Call(q.Call); err == nil {
		settled.Call = c.Call
	}
	return in.conversation.After(settled)
}
