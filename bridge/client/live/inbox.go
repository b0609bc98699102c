// Package live holds what is under way: the servers, connected or not; the calls, made
// round after round; and the questions that wait for a person. It decides and sends, and
// tells in a [Feed] what is no longer as it was.
package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// InboxOwner is notified of changes to questions, in the goroutine that made the change and
// after it. It may call the inbox.
type InboxOwner interface {
	// Settled is called once for each question.
	Settled(Question)
	// Changed is called when a question has changed without being settled.
	Changed(Question)
	// ParamsAt reads the params of everything that a frame asks, by JSON pointer.
	ParamsAt(seq int64) (map[string][]byte, error)
}

// Errors that the methods of an Inbox return.
var (
	ErrUnknownQuestion = errors.New("no such question")
	ErrSettled         = errors.New("the question is already settled")
)

// Inbox is safe for concurrent use.
type Inbox struct {
	owner   InboxOwner
	changes *Feed
	rate    int // how many questions of one server may be shown within a minute; 0 for no limit
	most    int // how many questions of one server are held back

	mu        sync.Mutex
	questions map[int]*question // by number
	pending   []*question       // waiting questions, in the order in which they were put in
	settled   []*question       // settled questions, in the order of their end
	servers   map[string]*serverQueue
	early     map[int]bool // the numbers of questions whose URLs are done, and which are not put in yet
	source    Source       // answers questions before a policy does; nil for none
}

// question is a question and its state inside the inbox.
type question struct {
	Question
	onShow               bool
	completionImpossible bool    // nobody can report any more that its URL is done
	later                *Answer // waits for the question's Delay; nil for none
}

// NewInbox returns an empty inbox, which holds back at most held questions of one server; 0 means
// HeldMost. It marks a server whose Counts have changed in feed.
func NewInbox(owner InboxOwner, feed *Feed, rate, held int) *Inbox {
	return &Inbox{owner: owner, changes: feed, rate: rate, most: cmp.Or(held, HeldMost), questions: map[int]*question{}, servers: map[string]*serverQueue{}, early: map[int]bool{}}
}

// news collects the notifications for the owner, which are sent after the mutex is
// unlocked.
type news struct {
	settled, changed []Question
	counted          []Change
}

func (n *news) count(server string) {
	if c := (Change{Kind: ServerChanged, Server: server}); !slices.Contains(n.counted, c) {
		n.counted = append(n.counted, c)
	}
}

// update runs change with the mutex held, and then sends the collected news to the
// owner.
func (in *Inbox) update(change func(*news)) {
	var n news
	in.mu.Lock()
	change(&n)
	in.mu.Unlock()
	for _, q := range n.settled {
		in.owner.Settled(q)
	}
	for _, q := range n.changed {
		in.owner.Changed(q)
	}
	in.changes.Mark(n.counted...)
}

// Put adds a question under a reserved number. Four can decide it, in this order: the client,
// which must refuse what it has not declared; the source of answers, a script; the policy of
// the server; and the person. The question is settled at once if it
// has a State other than Pending or a Refusal, or if the source or its server's policy
// decides it. It is held back if too many questions of its server wait or the rate is
// exceeded. Otherwise it is shown.
func (in *Inbox) Put(q Question) {
	in.mu.Lock()
	source := in.source
	in.mu.Unlock()
	var d Decision
	if source != nil && q.State == conversation.Pending && q.Refusal == nil {
		d = source.Decide(&q)
	}
	q.Left, q.Delay = d.Left, d.Delay
	var later *Answer
	if d.Delay > 0 {
		later = d.Answer
		defer time.AfterFunc(d.Delay, func() { in.Hasten(q.Number) })
	}
	for done := false; !done; {
		policy := in.Counts(q.Server).Policy
		v := decide(policy, &q)
		in.update(func(n *news) {
			s := in.server(q.Server)
			if done = s.policy == policy; !done {
				return // the policy has changed in between: decide again
			}
			one := &question{Question: q, later: later}
			in.questions[q.Number] = one
			in.pending = append(in.pending, one)
			if in.early[q.Number] {
				delete(in.early, q.Number)
				if q.IsURL() {
					one.Completion = conversation.CompletionDone
				}
			}
			switch {
			case later != nil:
				in.admit(n, s, one, verdict{})
			case d.Answer != nil:
				in.answer(n, one, *d.Answer)
			default:
				in.admit(n, s, one, v)
			}
		})
	}
}

// admit settles, holds back or shows a new question.
func (in *Inbox) admit(n *news, s *serverQueue, q *question, v verdict) {
	switch {
	case q.State != conversation.Pending:
		state := q.State
		q.State = conversation.Pending
		in.settle(n, q, state, q.By, q.Reason)
	case v.state != conversation.Pending:
		in.follow(n, q, v)
	default:
		q.LeftByPolicy = v.handed
		if !in.holdBack(n, s, q) {
			in.show(s, q, true)
			n.changed = append(n.changed, q.Question)
		}
	}
}

// settle settles a waiting question. It returns false if the question was settled
// before.
func (in *Inbox) settle(n *news, q *question, state conversation.QuestionState, by, reason string) bool {
	if q.State != conversation.Pending {
		return false
	}
	q.State, q.By, q.Reason, q.Ended = state, by, reason, time.Now()
	if state == conversation.Answered && q.IsURL() && q.Action == "accept" && q.Completion == conversation.CompletionNone { // a completion can arrive before the consent
		q.Completion = conversation.CompletionAwaited
	}
	s := in.server(q.Server)
	if s.held > 0 { // a held question is gone, or there is room to show one
		n.count(q.Server)
	}
	in.show(s, q, false)
	in.hold(s, q, false)
	if i := slices.Index(s.times, q.Asked); i >= 0 && by != conversation.ByServer { // the rate does not count what our side has settled
		s.times = slices.Delete(s.times, i, i+1)
	}
	for i, known := range slices.Backward(in.pending) { // a question that is turned away is the last
		if known == q {
			in.pending = slices.Delete(in.pending, i, i+1)
			break
		}
	}
	n.settled = append(n.settled, q.Question)
	if q.TurnedAway { // nobody is shown it
		delete(in.questions, q.Number)
		return true
	}
	if in.settled = append(in.settled, q); len(in.settled) > settledMost {
		delete(in.questions, in.settled[0].Number)
		in.settled = slices.Delete(in.settled, 0, 1)
	}
	return true
}

// settledMost bounds how many settled questions are kept until their end is in the log,
// or until their URL is done.
const settledMost = 5000

// Settled returns the numbers of the settled questions that are kept.
func (in *Inbox) Settled() []int {
	in.mu.Lock()
	defer in.mu.Unlock()
	numbers := make([]int, len(in.settled))
	for i, q := range in.settled {
		numbers[i] = q.Number
	}
	return numbers
}

// Forget drops settled questions whose end is in the log. said maps their numbers to
// the completion of their URLs in the log. A question whose URL may still be reported
// as done stays.
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

func (in *Inbox) find(number int) (*question, error) {
	q := in.questions[number]
	if q == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknownQuestion, number)
	}
	return q, nil
}

// Answer settles a question with a. The first answer wins: a later one gets [ErrSettled].
func (in *Inbox) Answer(number int, a Answer) (err error) {
	in.update(func(n *news) {
		var q *question
		switch q, err = in.find(number); {
		case err != nil:
		case q.State != conversation.Pending:
			err = ErrSettled
		default:
			in.answer(n, q, a)
		}
	})
	return err
}

// Hasten gives a question the answer that waits for its Delay. It has no effect if the
// question is settled, or has no such answer.
func (in *Inbox) Hasten(number int) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil && q.State == conversation.Pending && q.later != nil {
			in.answer(n, q, *q.later)
		}
	})
}

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

// Withdraw withdraws every waiting question that matches. With cancel, the response to
// the server is cancel, because nothing else tells it that there will be no answer.
func (in *Inbox) Withdraw(by, reason string, cancel bool, matches func(*Question) bool) {
	action := ""
	if cancel {
		action = "cancel"
	}
	in.settleAll(action, conversation.Withdrawn, by, reason, matches)
}

// settleAll settles every waiting question that matches, with the answer unless action is "".
func (in *Inbox) settleAll(action string, state conversation.QuestionState, by, reason string, matches func(*Question) bool) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if !matches(&q.Question) {
				continue
			}
			if action != "" {
				q.Answered(Answer{Action: action})
			}
			in.settle(n, q, state, by, reason)
		}
	})
}

// Closing implements [session.Owner]: it answers the session's waiting elicitation
// requests with cancel.
func (in *Inbox) Closing(s *session.Session, reason string) {
	in.settleAll("cancel", conversation.Answered, conversation.ByPolicy, reason, func(q *Question) bool {
		return q.Session == s.Name && q.Via == elicit.ByRequest
	})
}

// Ended implements [session.Owner].
func (in *Inbox) Ended(s *session.Session, by, reason string) {
	its := func(q *Question) bool { return q.Session == s.Name }
	in.Withdraw(by, reason, false, its)
	in.CompletionImpossible(its)
}

// Cancelled withdraws a question because its server has cancelled it.
func (in *Inbox) Cancelled(number int, reason string) {
	in.update(func(n *news) {
		if q, err := in.find(number); err == nil {
			in.settle(n, q, conversation.Withdrawn, conversation.ByServer, reason)
		}
	})
}

// Question returns one question by its number.
func (in *Inbox) Question(number int) (Question, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.find(number)
	if err != nil {
		return Question{}, err
	}
	return q.Question, nil
}

// Questions returns the questions that are kept, settled ones first, with or without those
// that are held back.
func (in *Inbox) Questions(held bool) (out []Question) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, list := range [][]*question{in.settled, in.pending} {
		for _, q := range list {
			if held || !q.Held {
				out = append(out, q.Question)
			}
		}
	}
	return out
}
