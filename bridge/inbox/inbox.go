// Package inbox holds the questions that wait for a person, and those that were
// settled lately. Each is settled exactly once: by an answer, by the policy that the
// person set for its server, or by being withdrawn.
package inbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
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
	questions []*question           // by number; nil for those that are not kept
	asked     map[int64][]*question // the same, by the frame that asked
	pending   []*question           // those that are not settled, in order
	settled   []*question           // the latest that are, in the order of their end
	faded     []int                 // numbers of those settled long ago, in the same order
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
	return &Inbox{owner: owner, rate: rate, servers: map[string]*server{}, asked: map[int64][]*question{}}
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

// Number reserves a number for a question that is about to be put in.
func (in *Inbox) Number() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.questions = append(in.questions, nil)
	return len(in.questions)
}

// Put puts a question in, under a number that was reserved. It is settled at once if
// it has a State other than Pending, or a Refusal, or the source or its server's policy says so;
// held back if its server has too many that wait or asks too often; and put on show
// otherwise.
func (in *Inbox) Put(q Question) {
	d := in.consult(&q)
	q.Handed, q.Delay = d.Handed, d.Delay
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
			in.questions[q.Number-1] = one
			in.asked[q.Seq] = append(in.asked[q.Seq], one)
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
	case q.State != Pending:
		state := q.State
		q.State = Pending
		in.settle(n, q, state, q.By, q.Reason)
	case v.state != Pending:
		in.follow(n, q, v)
	default:
		q.Handed = cmp.Or(v.handed, q.Handed)
		if !in.holdBack(n, s, q) {
			in.show(s, q, true)
			n.changed = append(n.changed, q.view())
		}
	}
}

// settle moves a question out of those that wait, exactly once. It reports whether
// this was when.
func (in *Inbox) settle(n *news, q *question, state State, by Actor, reason string) bool {
	if q.State != Pending {
		return false
	}
	q.State, q.By, q.Reason, q.Ended = state, by, reason, time.Now()
	if state == Answered && q.IsURL() && q.Answer.Action == "accept" && q.Completion == CompletionNone { // it may have been completed before the consent
		q.Completion = CompletionAwaited
	}
	s := in.server(q.Server)
	if s.held > 0 { // there is one less, or room for one more
		n.count(q.Server)
	}
	in.show(s, q, false)
	in.hold(s, q, false)
	if by != ByServer {
		s.keptUp(q.Asked)
	}
	if i := slices.Index(in.pending, q); i >= 0 {
		in.pending = slices.Delete(in.pending, i, i+1)
	}
	n.settled = append(n.settled, q.view())
	if q.TurnedAway {
		in.drop(q.Number) // there may be any number of them
		return true
	}
	in.settled = append(in.settled, q)
	in.forget()
	return true
}

// settledKept is how many settled questions keep what was asked and answered.
// Of older ones the frames in the wire log are left.
const settledKept = 300

// fadedKept is about how many of the older ones are known at all.
const fadedKept = 5000

// forget lets go of the oldest settled questions of which nothing is expected any
// more.
func (in *Inbox) forget() {
	for over := len(in.settled) - settledKept; over > 0; over-- {
		i := slices.IndexFunc(in.settled, func(q *question) bool { return !q.awaited() })
		if i < 0 || len(in.settled)-i < settledKept/2 {
			i = 0 // that many URLs are not being visited
		}
		q := in.settled[i]
		q.Request, q.Params, q.Answer.Content, q.Answer.Result = nil, nil, nil, nil
		if plan := q.Answer.Fault; plan != nil {
			q.Answer.Fault = &fault.Plan{Fault: plan.Fault, Field: plan.Field, Title: plan.Title}
		}
		in.faded = append(in.faded, q.Number)
		in.settled = slices.Delete(in.settled, i, i+1)
	}
	if over := len(in.faded) - fadedKept; over >= fadedKept { // not each time
		for _, number := range in.faded[:over] {
			in.drop(number)
		}
		in.faded = slices.Clone(in.faded[over:])
	}
}

// drop ends that a question is known.
func (in *Inbox) drop(number int) {
	q := in.questions[number-1]
	in.questions[number-1] = nil
	in.asked[q.Seq] = slices.DeleteFunc(in.asked[q.Seq], func(other *question) bool { return other == q })
	if len(in.asked[q.Seq]) == 0 {
		delete(in.asked, q.Seq)
	}
}

// find is a question by its number.
func (in *Inbox) find(number int) (*question, error) {
	if number < 1 || number > len(in.questions) || in.questions[number-1] == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknown, number)
	}
	return in.questions[number-1], nil
}

// Answer settles a question with a. The first answer wins: for any later one
// the error is [ErrSettled], and the question that is returned says who won.
func (in *Inbox) Answer(number int, a Answer) (out Question, err error) {
	in.update(func(n *news) {
		var q *question
		if q, err = in.find(number); err != nil {
			return
		}
		if q.State != Pending {
			out, err = q.view(), ErrSettled
			return
		}
		in.answer(n, q, a)
		out = q.view()
	})
	return out, err
}

// answer settles a question that waits with a.
func (in *Inbox) answer(n *news, q *question, a Answer) {
	q.Answer = a
	reason := ""
	if a.Fault != nil {
		reason = "deliberate: " + a.Fault.Title
	}
	if q.Origin == elicit.InRound && q.TurnedDown() {
		reason = "nothing is sent for it, since no result of " + q.Method + " can say so"
	}
	in.settle(n, q, Answered, a.Actor, reason)
}

// Withdraw ends every question that waits and matches. If cancel is set, the server
// is answered with cancel: nobody else tells it that there will be no answer.
func (in *Inbox) Withdraw(by Actor, reason string, cancel bool, matches func(*Question) bool) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if !matches(&q.Question) {
				continue
			}
			if cancel {
				q.Answer = Answer{Action: "cancel", Actor: ByPolicy}
			}
			in.settle(n, q, Withdrawn, by, reason)
		}
	})
}

// Dismiss answers with cancel the requests of a connection's server that wait.
func (in *Inbox) Dismiss(session, reason string) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if q.Session == session && q.Origin == elicit.ByRequest {
				q.Answer = Answer{Action: "cancel", Actor: ByPolicy}
				in.settle(n, q, Answered, ByPolicy, reason)
			}
		}
	})
}

// Cancelled withdraws a question because its server took it back. One that was
// withdrawn before, because its call had ended, gets the server's reason: over HTTP
// the end of the call and the cancellation come on two streams, in any order.
func (in *Inbox) Cancelled(number int, reason string) {
	in.amend(number, func(n *news, q *question) bool {
		if in.settle(n, q, Withdrawn, ByServer, reason) || q.State != Withdrawn || q.By != ByPolicy {
			return false
		}
		q.By, q.Reason = ByServer, reason
		return true
	})
}

// Undelivered notes that an answer did not reach the server. It reports false if
// there was none.
func (in *Inbox) Undelivered(number int, reason string) (undelivered bool) {
	in.amend(number, func(_ *news, q *question) bool {
		undelivered = q.State == Answered
		if undelivered {
			q.State, q.Reason = Undelivered, reason
		}
		return undelivered
	})
	return undelivered
}

// Sent notes the frame that answers a question.
func (in *Inbox) Sent(number int, seq int64) {
	in.amend(number, func(_ *news, q *question) bool {
		if q.Answer.Fault != nil && q.AnswerSeq != 0 {
			return false // what goes out more than once
		}
		q.AnswerSeq = seq
		return true
	})
}

// amend changes a question, if it is known. change reports whether it did.
func (in *Inbox) amend(number int, change func(*news, *question) bool) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil && change(n, q) {
			n.changed = append(n.changed, q.view())
		}
	})
}
