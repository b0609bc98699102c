package conversation

import (
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/elicit"
)

// facts are the states of the session and of the log that decide how a call ends.
type facts struct {
	protocol string
	exit     *exit
	signIns  []Span
	over     bool // the log is complete
	now      time.Time
}

// Reasons why a call or question has no end of its own.
const (
	noResponse = "The transcript has no response."
	noAnswer   = "the transcript has no answer"
)

// conclude returns the state of the call by now: what its frames say, and what
// follows from the end of its process, its log, or the call itself.
//
// Most ends are never said on the wire. A server that crashes withdraws no question, and one
// whose call ends without an answer forgets it; nobody reports that to the client. So the
// reduction keeps what the frames say, which later frames can still change, and what only
// follows is worked out on a copy each time somebody asks.
func (r *reduction) conclude(what facts) *Call {
	c := r.call
	if r.watched { // later frames are applied to what r has
		c.Rounds, c.Questions, c.Steps = slices.Clone(c.Rounds), slices.Clone(c.Questions), slices.Clone(c.Steps)
	}
	if what.exit != nil && what.exit.seq <= r.alive {
		what.exit = nil // of an earlier process
	}
	c.signIns = what.signIns
	byItself := c.State.Over() // otherwise only the end of its process or log ends it
	if len(c.Rounds) > 0 && !byItself {
		c.breakOff(what)
	}
	for i, q := range c.Questions {
		switch {
		case q.State == Answered && q.SaidSeq != 0 && q.AnswerSeq == 0 && q.Via != elicit.InError && (byItself || what.exit != nil):
			c.edit(i).NeverSent = true
		case q.State != Pending:
		case byItself && !what.exit.ended(c.Ended, r.last):
			q = c.edit(i)
			q.By = ByPolicy
			reason := fmt.Sprintf("call %d ended", c.Number)
			if c.State == Stopped {
				reason = fmt.Sprintf("call %d was stopped", c.Number)
			}
			c.settle(q, Withdrawn, reason, c.Ended)
		case what.exit != nil:
			q = c.edit(i)
			q.By = ByServer
			c.settle(q, Withdrawn, what.exit.words, what.exit.at)
		case what.over:
			c.settle(c.edit(i), Withdrawn, noAnswer, what.now)
		}
	}
	if len(c.Rounds) == 0 {
		c.unasked()
	}
	c.Unsent = c.unsent(what.protocol)
	c.served(r.serverSpans, r.sentSpans, r.local)
	return &c
}

func (q *Question) foresee() {
	switch {
	case q.State != Answered || q.Action != "accept" || !q.isURL || q.Completion > CompletionAwaited:
	case q.CompletedSeq != 0:
		q.Completion = CompletionDone
	default:
		q.Completion = CompletionAwaited
	}
}

// breakOff ends a call that its frames leave open and that cannot go on: its URL was
// not accepted, its process exited, or its log is complete.
func (c *Call) breakOff(what facts) {
	last := len(c.Rounds)
	declined := slices.IndexFunc(c.Questions, func(q *Question) bool {
		return q.Via == elicit.InError && q.Round == last && (q.State == Refused || q.State == Answered && q.Action != "accept")
	})
	step := Step{Kind: StepError, Seq: c.ResultSeq}
	switch {
	case declined >= 0:
		step.At, step.Text = c.Questions[declined].Ended, "the URL was not accepted"
	case what.exit != nil:
		c.Failure = what.exit.words
		step.At, step.Text, step.Seq = what.exit.at, what.exit.words, 0
	case what.over:
		c.Failure = noResponse
		step.At, step.Text = what.now, noResponse
	default:
		return
	}
	c.State, c.Ended = Failed, step.At
	c.step(step)
}

func (c *Call) unasked() {
	if len(c.Questions) == 0 {
		c.State = Done // no question is open
		return
	}
	switch c.Questions[0].State {
	case Answered:
		c.State = Done
	case Refused, Undelivered:
		c.State = Failed
	case Withdrawn:
		c.State = Stopped
	}
}

// unsent returns the method of a request that the server could not make because its
// revision has no server requests; "" for none.
func (c *Call) unsent(revision string) (method string) {
	if revision < mcp.Revision20260728 || len(c.Rounds) == 0 {
		return ""
	}
	if method, _ = Unsent(c.Result, c.Error, revision); method == "" {
		method = c.Unsent
	}
	for _, q := range c.Questions {
		if q.Via == elicit.ByRequest {
			method = q.Method
		}
	}
	return method
}
