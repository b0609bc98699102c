package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"elicitation-inspector/bridge/aftermath"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/scripted"
	"elicitation-inspector/bridge/servers"
)

// Question is what the log says of a question, and what surrounds it.
type Question struct {
	conversation.Question
	Server   string          // id
	Session  string          // the connection that it came on
	Call     int             // 0 if it belongs to none
	CallName string          // what people call the call
	Request  *elicit.Request // nil where Method is no elicitation or the params cannot be read
	Waited   time.Duration   // from asked to settled
	Awaited  bool            // the outcome of its URL can still come
	Handed   string          // why its server's policy left it to the person, "" if it did not
	Left     string          // why the script left it to the person, "" if it did not
	Held     bool            // not on show, because its server asks too often
	Delay    time.Duration   // after which a script answers it, 0 if none does
	// Suggestion is a valid minimal result for a question that is no elicitation.
	Suggestion json.RawMessage
	Findings   []lint.Finding // their pointers lead into the frame that asked
}

// Content is that of an accepted form, nil if there is none.
func (q *Question) Content() json.RawMessage {
	if q.Method != mcp.MethodElicit {
		return nil
	}
	return rawjson.Member(q.Answer, "content")
}

// candidate is a question with what is known of it, by the log and by the inbox.
type candidate struct {
	said *conversation.Question // nil as long as the log has none
	call *conversation.Call     // that said belongs to
	own  *inbox.Question        // nil where the log says all
}

// state is how the question stands: what the inbox has of it, it has because the
// log does not say so yet.
func (c *candidate) state() *conversation.Question {
	if c.own != nil {
		return &c.own.Question
	}
	return c.said
}

// ofQuestion puts together what is known of a question.
func (in *Inspection) ofQuestion(c candidate) Question {
	q := Question{Question: *c.state()}
	if c.call != nil {
		q.Server, q.Session, q.Call, q.CallName = in.known.IDOf(c.call.Server), c.call.Session, c.call.Number, in.nameOf(c.call)
	}
	if c.own != nil {
		q.Server, q.Session, q.Call, q.CallName = c.own.Server, c.own.Session, c.own.Call, c.own.CallName
		q.Request, q.Handed, q.Left, q.Held, q.Delay = c.own.Request, c.own.Handed, c.own.Left, c.own.Held, c.own.Delay
		if c.said != nil {
			q.AnswerSeq = c.said.AnswerSeq
		}
	}
	in.fill(&q)
	if q.Request == nil {
		q.Suggestion = client.Suggestion(q.Method)
	}
	switch {
	case q.Via == elicit.ByRequest:
		q.Round = 0
	case q.Via == elicit.InError:
		q.AnswerSeq = 0 // the call is only made again
	}
	if q.State == conversation.Unheard {
		q.Reason = q.State.String() + "; " + q.Reason
		q.State, q.Action = conversation.Answered, "accept"
	}
	if q.State != conversation.Pending {
		q.Waited = q.Ended.Sub(q.Asked)
	}
	q.Awaited = in.awaits(&q, c.call)
	for _, f := range in.linter.At(q.AskedSeq) {
		if f.Place == q.Place {
			q.Findings = append(q.Findings, f.Finding)
		}
	}
	return q
}

// askedMost is the size in bytes of the largest question or answer that is shown
// once it is settled. What is larger stands in the log.
const askedMost = 1 << 20

// fill reads what was asked from the log where it was let go of, and takes it
// apart.
func (in *Inspection) fill(q *Question) {
	if q.LetGo {
		params, err := conversation.ParamsAt(in.log, q.AskedSeq)
		if err == nil {
			q.Params = params[q.Pointer]
		}
		if f, err := in.log.Frame(q.AnswerSeq); err == nil && q.Via == elicit.ByRequest {
			q.Answer = f.Message.Result
		}
	}
	if q.State != conversation.Pending {
		q.Params, q.Answer = small(q.Params), small(q.Answer)
	}
	if q.Method == mcp.MethodElicit && q.Request == nil && q.Params != nil {
		q.Request = in.parsed.Of(q.Number, q.Params)
	}
}

func small(raw json.RawMessage) json.RawMessage {
	if len(raw) > askedMost {
		return nil
	}
	return raw
}

// awaits reports whether the outcome of an accepted URL can still come: a
// notification with an id can come long after the call, but only on the
// connection that asked.
func (in *Inspection) awaits(q *Question, c *conversation.Call) bool {
	if q.Completion != conversation.CompletionAwaited {
		return false
	}
	if in.replay == nil && c != nil && in.servers.Session(c.Session) == nil {
		return false
	}
	return q.Request != nil && q.Request.ElicitationID != "" || c != nil && c.Number != 0 && !c.State.Over()
}

// candidates are the questions that are known, by number. The log is read before
// the inbox, which then has nothing that the log says, and once more after it, since
// the inbox forgets what the log says by then.
func (in *Inspection) candidates() map[int]candidate {
	in.read()
	own := in.inbox.Questions()
	all := make(map[int]candidate, len(own))
	for _, c := range in.read().Calls {
		for _, q := range c.Questions {
			if !q.TurnedAway && in.isTold(q) {
				all[q.Number] = candidate{said: q, call: c}
			}
		}
	}
	for i := range own {
		if q := &own[i]; !q.TurnedAway {
			all[q.Number] = candidate{all[q.Number].said, all[q.Number].call, q}
		}
	}
	return all
}

// isTold reports whether a question that the inbox does not have is told of. One
// that waits is in the inbox, or about to be put there.
func (in *Inspection) isTold(q *conversation.Question) bool {
	return in.replay != nil || q.State != conversation.Pending
}

// assembled puts together what is known of questions, oldest first.
func (in *Inspection) assembled(list []candidate) []Question {
	out := make([]Question, len(list))
	for i, c := range list {
		out[i] = in.ofQuestion(c)
	}
	slices.SortFunc(out, func(a, b Question) int { return a.Number - b.Number })
	return out
}

// Questions returns the questions that are kept, oldest first.
func (in *Inspection) Questions() []Question {
	return in.assembled(slices.Collect(maps.Values(in.candidates())))
}

// OnShow returns the questions that a page shows, oldest first: those that wait
// and are not held back, the latest of those that are settled, and of the earlier
// ones those with a URL whose outcome is awaited.
func (in *Inspection) OnShow(settled int) []Question {
	var list, past []candidate
	for _, c := range in.candidates() {
		switch q := c.state(); {
		case q.State != conversation.Pending:
			past = append(past, c)
		case c.own != nil && c.own.Held:
		default:
			list = append(list, c)
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

// Question returns one question by its number.
func (in *Inspection) Question(number int) (Question, error) {
	var c candidate
	in.read()
	if own, err := in.inbox.Question(number); err == nil {
		c.own = &own
	}
	c.call, c.said = in.read().Question(number)
	if c.own == nil && (c.said == nil || !in.isTold(c.said)) {
		return Question{}, fmt.Errorf("%w: %d", ErrUnknownQuestion, number)
	}
	return in.ofQuestion(c), nil
}

// Answer settles a question with a. The first answer wins: for any later one
// the error is [ErrSettled], and the question that is returned says who won.
func (in *Inspection) Answer(number int, a inbox.Answer) (Question, error) {
	_, err := in.inbox.Answer(number, a)
	q, unknown := in.Question(number)
	switch {
	case unknown != nil:
		return Question{}, unknown
	case errors.Is(err, ErrUnknownQuestion):
		return q, ErrSettled // and forgotten, since the log says so
	}
	return q, err
}

// MarkCompleted records the person's word that an accepted URL is done.
func (in *Inspection) MarkCompleted(number int) (Question, error) {
	in.inbox.MarkCompleted(number)
	return in.Question(number)
}

// SetPolicy changes what becomes of a server's further questions, and of those
// that are held back. Questions that are on show stay.
func (in *Inspection) SetPolicy(id string, p inbox.Policy) error {
	_, err := in.servers.Server(id)
	if err == nil {
		in.inbox.SetPolicy(id, p)
	}
	return err
}

// Release does with the questions that are held back what the person chose:
// "show" puts as many of them on show as there is room for, the oldest first, and
// "decline" declines all of them.
func (in *Inspection) Release(id, choice string) error {
	_, err := in.servers.Server(id)
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

// Next says what a server did after a question was settled.
func (in *Inspection) Next(q Question) aftermath.Next {
	if q.State == conversation.Pending {
		return aftermath.Next{}
	}
	settled := aftermath.Settled{Question: q.Question, Session: q.Session, Call: q.Call}
	if s, err := in.known.Server(q.Server); err == nil {
		settled.Server = s.Label
		if s.State == servers.Ended && s.Session == q.Session {
			settled.Lost = s.Reason
		}
	}
	if c, err := in.calls.Call(q.Call); err == nil {
		settled.CallState, settled.CallFailure = c.State, c.Failure
	}
	return aftermath.Of(in.log, settled)
}

// Scripted returns the script that answers; nil for none.
func (in *Inspection) Scripted() *scripted.Source { return in.script.Load() }

// AnswerBy has further questions answered by a script; nil ends that.
func (in *Inspection) AnswerBy(s *scripted.Source) {
	if in.script.Store(s); s == nil {
		in.inbox.SetSource(nil)
	} else {
		s.Inspection = in
		in.inbox.SetSource(s)
	}
	in.changes.Mark(changes.Change{Kind: changes.Script})
}
