// Package inbox holds the questions that wait for a person. Each is settled exactly
// once: by an answer, by the policy that the person set for its server, or by being
// withdrawn. Once the log says so, the inbox forgets it.
package inbox

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
)

// Owner is told what happens to questions, after it happened, by whoever made it
// happen. It may call the inbox.
type Owner interface {
	// Settled is called once for each question.
	Settled(Question)
	// Changed is called where anything else of a question has changed.
	Changed(Question)
	// Counted is called where Counts of a server have changed.
	Counted(server string)
	// Recall puts what they asked back into questions that were held back. It
	// returns an error or nil for each.
	Recall([]Question) []error
}

// Errors that the methods of an Inbox return.
var (
	ErrUnknown = errors.New("no such question")
	ErrSettled = errors.New("the question is settled already")
)

// Inbox is safe for concurrent use.
type Inbox struct {
	owner Owner
	rate  int // questions a minute that one server may put on show; 0 for no limit

	mu        sync.Mutex
	last      int               // number that was given out last
	questions map[int]*question // by number
	pending   []*question       // those that are not settled, in order
	settled   []*question       // the others, in the order of their end
	servers   map[string]*server
	source    Source // nil for none
}

// question is a question with what only the inbox knows of it.
type question struct {
	Question
	onShow   bool
	hopeless bool // nobody is left who could tell the outcome of its URL
}

// New makes an empty inbox.
func New(owner Owner, rate int) *Inbox {
	return &Inbox{owner: owner, rate: rate, questions: map[int]*question{}, servers: map[string]*server{}}
}

// news is what the owner is to be told once the mutex is free.
type news struct {
	settled, changed []Question
	counted          []string
}

func (n *news) tell(owner Owner) {
	for _, q := range n.settled {
		owner.Settled(q)
	}
	for _, q := range n.changed {
		owner.Changed(q)
	}
	for _, server := range n.counted {
		owner.Counted(server)
	}
}

func (n *news) count(server string) {
	if !slices.Contains(n.counted, server) {
		n.counted = append(n.counted, server)
	}
}

// update runs change with the mutex held, and then tells the owner what it noted.
func (in *Inbox) update(change func(*news)) {
	var n news
	in.mu.Lock()
	change(&n)
	in.mu.Unlock()
	n.tell(in.owner)
}

// Numbers reserves numbers in a row for questions that are about to be put in, and
// returns the first of them.
func (in *Inbox) Numbers(count int) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.last += count
	return in.last - count + 1
}

// Put puts a question in, under a number that was reserved. It is settled at once if
// it has a State other than Pending, or a Refusal, or the source or its server's policy says so;
// held back if its server has too many that wait or asks too often; and put on show
// otherwise.
func (in *Inbox) Put(q Question) {
	d := in.consult(&q)
	q.Left, q.Delay = d.Left, d.Delay
	if d.Delay > 0 {
		later := *d.Answer
		defer time.AfterFunc(d.Delay, func() { _, _ = in.Answer(q.Number, later) }) // unless it is settled before
	}
	for done := false; !done; {
		policy := in.policyOf(q.Server)
		v := decide(policy, &q)
		in.update(func(n *news) {
			s := in.server(q.Server)
			if done = s.policy == policy; !done {
				return // it was set meanwhile
			}
			one := &question{Question: q}
			in.questions[q.Number] = one
			in.pending = append(in.pending, one)
			switch {
			case d.Delay > 0:
				in.place(n, s, one, verdict{})
			case d.Answer != nil:
				in.answer(n, one, *d.Answer)
			default:
				in.place(n, s, one, v)
			}
		})
	}
}

// place decides what becomes of a new question.
func (in *Inbox) place(n *news, s *server, q *question, v verdict) {
	switch {
	case q.State != conversation.Pending:
		state := q.State
		q.State = conversation.Pending
		in.settle(n, q, state, q.By, q.Reason)
	case v.state != conversation.Pending:
		in.follow(n, q, v)
	default:
		q.Handed = v.handed
		if !in.holdBack(n, s, q) {
			in.show(s, q, true)
			n.changed = append(n.changed, q.Question)
		}
	}
}

// settle moves a question out of those that wait, exactly once. It reports whether
// this was when.
func (in *Inbox) settle(n *news, q *question, state conversation.QuestionState, by, reason string) bool {
	if q.State != conversation.Pending {
		return false
	}
	q.State, q.By, q.Reason, q.Ended = state, by, reason, time.Now()
	if state == conversation.Answered && q.IsURL() && q.Action == "accept" && q.Completion == conversation.CompletionNone { // it may have been completed before the consent
		q.Completion = conversation.CompletionAwaited
	}
	s := in.server(q.Server)
	if s.held > 0 { // there is one less, or room for one more
		n.count(q.Server)
	}
	in.show(s, q, false)
	in.hold(s, q, false)
	if by != conversation.ByServer {
		s.keptUp(q.Asked)
	}
	if i := slices.Index(in.pending, q); i >= 0 {
		in.pending = slices.Delete(in.pending, i, i+1)
	}
	n.settled = append(n.settled, q.Question)
	if in.settled = append(in.settled, q); len(in.settled) > settledMost {
		delete(in.questions, in.settled[0].Number)
		in.settled = slices.Delete(in.settled, 0, 1)
	}
	return true
}

// settledMost bounds how many settled questions are known of which the log does not
// say it, or whose URLs are being visited.
const settledMost = 5000

// Settled lists the settled questions that are known, by their numbers.
func (in *Inbox) Settled() []int {
	in.mu.Lock()
	defer in.mu.Unlock()
	numbers := make([]int, len(in.settled))
	for i, q := range in.settled {
		numbers[i] = q.Number
	}
	return numbers
}

// Forget lets go of settled questions of which the log says all. said is what it says
// of their URLs, by number. Those whose URLs are being visited stay.
func (in *Inbox) Forget(said map[int]conversation.Completion) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.settled = slices.DeleteFunc(in.settled, func(q *question) bool {
		completion, is := said[q.Number]
		is = is && completion >= q.Completion && !q.awaited()
		if is {
			delete(in.questions, q.Number)
		}
		return is
	})
}

// find is a question by its number.
func (in *Inbox) find(number int) (*question, error) {
	q := in.questions[number]
	if q == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknown, number)
	}
	return q, nil
}

// Answer settles a question with a. The first answer wins: for any later one
// the error is [ErrSettled], and the question that is returned says who won.
func (in *Inbox) Answer(number int, a Answer) (out Question, err error) {
	in.update(func(n *news) {
		var q *question
		if q, err = in.find(number); err != nil {
			return
		}
		if q.State != conversation.Pending {
			out, err = q.Question, ErrSettled
			return
		}
		in.answer(n, q, a)
		out = q.Question
	})
	return out, err
}

// answer settles a question that waits with a.
func (in *Inbox) answer(n *news, q *question, a Answer) {
	q.Answered(a)
	reason := ""
	if a.Fault != nil {
		reason = "deliberate: " + a.Fault.Title
	}
	if q.Via == elicit.InRound && q.TurnedDown {
		reason = "nothing is sent for it, since no result of " + q.Method + " can say so"
	}
	in.settle(n, q, conversation.Answered, a.Actor, reason)
}

// Withdraw ends every question that waits and matches. If cancel is set, the server
// is answered with cancel: nobody else tells it that there will be no answer.
func (in *Inbox) Withdraw(by, reason string, cancel bool, matches func(*Question) bool) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if !matches(&q.Question) {
				continue
			}
			if cancel {
				q.Answered(Answer{Action: "cancel"})
			}
			in.settle(n, q, conversation.Withdrawn, by, reason)
		}
	})
}

// Dismiss answers with cancel the requests of a connection's server that wait.
func (in *Inbox) Dismiss(session, reason string) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if q.Session == session && q.Via == elicit.ByRequest {
				q.Answered(Answer{Action: "cancel"})
				in.settle(n, q, conversation.Answered, conversation.ByPolicy, reason)
			}
		}
	})
}

// Cancelled withdraws a question because its server took it back.
func (in *Inbox) Cancelled(number int, reason string) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil {
			in.settle(n, q, conversation.Withdrawn, conversation.ByServer, reason)
		}
	})
}

// amend changes a question, if it is known. change reports whether it did.
func (in *Inbox) amend(number int, change func(*news, *question) bool) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil && change(n, q) {
			n.changed = append(n.changed, q.Question)
		}
	})
}
