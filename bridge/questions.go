package bridge

import (
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/calls"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
)

// Question is what a server asks of its client, what became of it, and what the
// linter says of it.
type Question struct {
	inbox.Question
	Waited time.Duration // from asked to settled
	// Suggestion is a valid minimal result for a question that is no elicitation.
	Suggestion json.RawMessage
	Findings   []lint.Finding // their pointers lead into the frame that asked
}

// suggestions are valid minimal results of the methods that are no elicitation.
var suggestions = map[string]json.RawMessage{
	mcp.MethodSample:    json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"Yes."},"model":"a-person","stopReason":"endTurn"}`),
	mcp.MethodListRoots: json.RawMessage(`{"roots":[{"uri":"file:///tmp","name":"tmp"}]}`),
}

// views are questions as readers get them.
func (in *Inspection) views(list ...inbox.Question) []Question {
	out := make([]Question, len(list))
	for i, q := range list {
		out[i] = Question{Question: q}
		if q.Origin == elicit.ByRequest {
			out[i].Round = 0
		}
		if q.Request == nil {
			out[i].Suggestion = suggestions[q.Method]
		}
		if q.State != Pending {
			out[i].Waited = q.Ended.Sub(q.Asked)
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, q := range list {
		for _, f := range in.foundAt[q.Seq] {
			if in.found[f].Place == q.Place {
				out[i].Findings = append(out[i].Findings, in.found[f].Finding)
			}
		}
	}
	return out
}

func (in *Inspection) view(q inbox.Question, err error) (Question, error) {
	if q.Number == 0 {
		return Question{}, err
	}
	return in.views(q)[0], err
}

// Questions returns every question of the inspection, oldest first.
func (in *Inspection) Questions() []Question {
	if in.replay != nil {
		return in.replay.shown.Load().questions()
	}
	return in.views(in.inbox.Questions()...)
}

// OnShow returns the questions that a page shows, oldest first: those that wait
// and are not held back, the latest of those that are settled, and of the earlier
// ones those with a URL whose outcome is awaited.
func (in *Inspection) OnShow(settled int) []Question {
	if in.replay != nil {
		return in.replay.shown.Load().onShow(settled)
	}
	return in.views(in.inbox.OnShow(settled)...)
}

// Question returns one question by its number.
func (in *Inspection) Question(number int) (Question, error) {
	if in.replay != nil {
		return in.replay.question(number)
	}
	return in.view(in.inbox.Question(number))
}

// Answer settles a question with a. The first answer wins: for any later one
// the error is [ErrSettled], and the question that is returned says who won.
func (in *Inspection) Answer(number int, a Answer) (Question, error) {
	return in.view(in.inbox.Answer(number, a))
}

// MarkCompleted records the person's word that an accepted URL is done.
func (in *Inspection) MarkCompleted(number int) (Question, error) {
	return in.view(in.inbox.MarkCompleted(number))
}

// SetPolicy changes what becomes of a server's further questions, and of those
// that are held back. Questions that are on show stay.
func (in *Inspection) SetPolicy(id string, p Policy) error {
	_, err := in.server(id)
	if err == nil {
		in.inbox.SetPolicy(id, p)
	}
	return err
}

// Release does with the questions that are held back what the person chose:
// "show" puts as many of them on show as there is room for, the oldest first, and
// "decline" declines all of them.
func (in *Inspection) Release(id, choice string) error {
	_, err := in.server(id)
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

// Calls returns the calls that are kept, oldest first: those that run, and of those
// that have ended the latest [CallsKept].
func (in *Inspection) Calls() []Call {
	if in.replay != nil {
		return in.replay.shown.Load().calls()
	}
	return in.calls.All()
}

// Call returns one call by its number.
func (in *Inspection) Call(number int) (Call, error) {
	if in.replay != nil {
		return in.replay.call(number)
	}
	return in.calls.Call(number)
}

// Begin makes a call and returns at once. Unless it has a limit, it runs until the
// server answers, the connection is lost, or it is stopped.
func (in *Inspection) Begin(r CallRequest) (Call, error) {
	conn, err := in.connection(r.Server)
	if err != nil {
		return Call{}, err
	}
	if r.Timeout == 0 {
		r.Timeout = in.config.CallTimeout
	}
	return in.calls.Begin(conn, r), nil
}

// Repeat goes on with a call that ended because something in its last round was
// refused; see [calls.Calls.Repeat].
func (in *Inspection) Repeat(number int) (Call, error) {
	c, err := in.calls.Call(number)
	if err != nil {
		return Call{}, err
	}
	conn, err := in.connection(c.Request.Server)
	if err != nil {
		return Call{}, err
	}
	return in.calls.Repeat(conn, number)
}

// connection is that of a server which is ready.
func (in *Inspection) connection(id string) (calls.Connection, error) {
	s, err := in.server(id)
	if err != nil {
		return nil, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed:
		return nil, ErrClosed
	case s.State != Ready || s.session == nil:
		return nil, fmt.Errorf("%w: %s is %s", ErrNotReady, s.Label, s.State)
	}
	return s.session, nil
}

// Stop cancels a running call; the server is told. Its questions are withdrawn.
func (in *Inspection) Stop(number int) error { return in.calls.Stop(number) }

// RetryEvery makes a call that waits for a URL's outcome try again every so
// often. 0 ends that.
func (in *Inspection) RetryEvery(number int, every time.Duration) error {
	return in.calls.RetryEvery(number, every)
}

// Retry makes a call that waits for questions or a URL's outcome go on now,
// with the answers that there are.
func (in *Inspection) Retry(number int) error { return in.calls.Retry(number) }
