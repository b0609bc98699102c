package live

import (
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// round holds the questions of one response, and their states.
type round struct {
	number    int
	via       elicit.Via
	asked     []int                           // numbers of the round's questions, in order
	questions map[int]*Question               // by number
	open      int                             // number of pending questions
	noted     map[int]conversation.Completion // the answers in the log, with the logged completion of their URLs
}

func (r *round) settled(yield func(*Question) bool) {
	for _, number := range r.asked {
		if q := r.questions[number]; q.State != conversation.Pending && !yield(q) {
			return
		}
	}
}

// put puts the questions of a round into the inbox, and refuses at once those that the
// person cannot be asked.
func (c *call) put(requests []conversation.InputRequest, number int) {
	in := c.calls.inbox
	questions := make([]Question, len(requests))
	for i, r := range requests {
		r.Call, r.CallName = c.Number, c.Request.Name
		c.conn.Judge(&r)
		questions[i] = Question{InputRequest: r}
	}
	running := false
	c.set(func() {
		if c.round.via != elicit.InTask { // the questions of a task do not replace each other
			c.round = round{number: number, questions: map[int]*Question{}, noted: map[int]conversation.Completion{}}
		}
		for _, q := range questions {
			c.round.via = q.Via
			c.round.asked = append(c.round.asked, q.Number)
			c.round.questions[q.Number] = new(Question)
			c.round.open++
		}
		running = c.endState == conversation.Running
	})
	for _, q := range questions {
		by := "" // who accepted the URL in an earlier round, if the call retries at an interval
		c.set(func() {
			if c.Every != 0 && q.Via == elicit.InRound && q.IsURL() {
				by = c.consents[consent{q.Key, q.Request.URL}]
			}
		})
		switch {
		case !running:
			q.State = conversation.Withdrawn
			q.By, q.Reason, _ = c.withdrawal()
		case q.Refusal == nil && by != "":
			q.State, q.By, q.Reason = conversation.Answered, by, "the same URL was accepted in an earlier round, and is tried again by the timer"
			q.Answered(Answer{Action: "accept"})
		default:
			c.calls.Asked(q)
		}
		in.Put(q)
	}
	c.set(func() { running = c.endState == conversation.Running })
	if !running { // the call ended meanwhile
		c.withdraw()
	}
}

// consent is a URL that was accepted, and the key of its input request.
type consent struct{ key, url string }

// Pauses before the request that follows a round without questions.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// await waits until all questions of a round are settled and the outcomes of URLs are
// known, or until the person requests the next round. A round without questions is
// followed by a pause, which grows with the number of consecutive such rounds.
//
// To accept a URL says only that the person goes there. A server reports the end of the visit
// with notifications/elicitation/complete, if the question has an elicitationId; many report
// nothing, and find out when they are called again. So the person can say that it is done, or
// have the call made again at an interval.
func (c *call) await() error {
	pause := min(firstPause<<min(c.idle, 10), lastPause)
	c.idle++
	if len(c.round.asked) > 0 {
		pause, c.idle = 0, 0
		// The time of a person who visits a URL does not count as the server's time.
		c.hold(true, false)
		defer c.hold(false, false)
	}
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	for before := time.Duration(0); ; { // what wakes the call leaves a timer as it is, unless its interval changes
		ready, every := c.look()
		c.noteAnswers()
		if ready {
			return nil
		}
		if every == 0 {
			every = pause
		}
		if every != before {
			if timer.Stop(); every > 0 {
				timer.Reset(every)
			}
			before = every
		}
		select {
		case <-timer.C:
			return nil
		case <-c.woken:
		case <-c.ctx.Done():
			return errStopped
		}
	}
}

// look reports whether the next request can be sent: the person requested it, or every
// question is settled and the outcome of every URL is known. If only outcomes are
// missing, every is the interval of retries, 0 for none.
func (c *call) look() (ready bool, every time.Duration) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	if c.retry {
		c.retry = false
		return true, 0
	}
	if c.round.open > 0 {
		return false, 0
	}
	ready = len(c.round.asked) > 0
	for q := range c.round.settled {
		switch {
		case q.Plan != nil: // a deliberate fault waits for nothing
			return true, 0
		case q.State == conversation.Withdrawn:
			return false, 0 // the connection or the call ends
		case q.Completion == conversation.CompletionAwaited:
			ready = false // accepting a URL is only consent; its outcome is not known yet
		}
	}
	return ready, c.Every
}

// roundsUnasked is the number of rounds after which the person is asked whether to go on.
// The specification sets no limit.
const roundsUnasked = 10

// mayGoOn waits after every roundsUnasked rounds until the person wants to go on.
func (c *call) mayGoOn(round int) error {
	if round%roundsUnasked != 0 {
		return nil
	}
	c.hold(true, true)
	defer c.hold(false, false)
	for {
		select {
		case <-c.woken:
		case <-c.ctx.Done():
			return errStopped
		}
		wanted := false
		c.set(func() { wanted, c.retry = c.retry, false })
		if wanted {
			return nil
		}
	}
}

// goOn adds the answers of the round to the next request, or returns how the call ends.
// It withdraws open questions: the next request is sent without their answers. The inbox
// settles those at once, but tells the call of it after it has let go of its own mutex; so
// goOn waits until it was told of all.
func (c *call) goOn(more *next, reply session.Reply) *ending {
	c.calls.inbox.Withdraw(conversation.ByPerson, fmt.Sprintf("call %d went on without it", c.Number), false, func(q *Question) bool {
		return q.Call == c.Number && q.Via != elicit.ByRequest
	})
	open := func() (n int) { c.set(func() { n = c.round.open }); return n }
	for open() > 0 { // an answer is being settled
		select {
		case <-c.woken:
		case <-c.ctx.Done():
			return failed("%v", errStopped)
		}
	}
	c.calls.mu.Lock()
	var plans []session.Misbehaviour
	first, turnedDown := true, false
	for q := range c.round.settled {
		if q.Via == elicit.InError && (q.State == conversation.Refused || q.State == conversation.Answered && q.Action != "accept" && q.Plan == nil) {
			turnedDown = true // repeating the call makes no sense
		}
		if q.State == conversation.Answered && q.Plan != nil {
			plans = append(plans, more.misbehave(q, reply))
			continue
		}
		if q.Via != elicit.InRound || q.State != conversation.Answered {
			continue
		}
		if (q.By == conversation.ByPerson || q.By == conversation.ByScript) && q.Action == "accept" && q.IsURL() {
			c.consents[consent{q.Key, q.Request.URL}] = q.By
		}
		if first {
			more.actor, first = q.By, false
		}
		if more.actor != q.By {
			more.actor = ""
		}
		if !q.TurnedDown && more.responses != nil {
			more.responses = append(more.responses, session.Member{Name: q.Key, Value: q.Answer})
		}
	}
	c.calls.mu.Unlock()
	if turnedDown {
		return failed("the URL was not accepted")
	}
	if len(plans) > 0 {
		more.actor = conversation.ByFault
		if end := c.carryOut(plans, more); end != nil {
			return end
		}
	}
	return c.cannotAnswer(more) // a question that was held back may have been refused since
}

func (c *call) refused() (list []Question) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	for q := range c.round.settled {
		if q.State == conversation.Refused {
			list = append(list, *q)
		}
	}
	return list
}

// cannotAnswer returns the ending of a call if an input request of the last round was
// refused, else nil: a client must construct the requested inputs before it repeats the
// call (specification 2026-07-28, Multi Round-Trip Requests, Client Requirements). The
// person may go on with the request without.
func (c *call) cannotAnswer(without *next) *ending {
	var why []string
	for _, q := range c.refused() {
		if q.Via == elicit.InRound && !q.Lost {
			why = append(why, fmt.Sprintf("%q: %s", conversation.ShortError(q.Key), q.Reason))
		}
	}
	if len(why) == 0 {
		return nil
	}
	c.set(func() { c.repeat = without })
	return failed("round %d cannot be answered, so the call was not made again: %s", c.round.number, strings.Join(why, "; "))
}

// noteAnswers logs answers that no message shows, or only one that is sent later: after
// the call has ended all of them, before that the answers that are never sent, those of a
// round with several questions, and accepted URLs.
func (c *call) noteAnswers() {
	c.noting <- struct{}{}
	defer func() { <-c.noting }()
	var frames []wire.Frame
	ended := c.ctx.Err() != nil
	c.calls.mu.Lock()
	for q := range c.round.settled {
		waits := len(c.round.asked) > 1 || q.Via == elicit.InError || q.Completion != conversation.CompletionNone || q.TurnedDown || ended
		if noted, is := c.round.noted[q.Number]; q.State != conversation.Answered || q.Plan != nil || !waits || is && noted == q.Completion {
			continue
		}
		c.round.noted[q.Number] = q.Completion
		frames = append(frames, q.Frame())
	}
	c.calls.mu.Unlock()
	for _, f := range frames {
		c.conn.Noted(f)
	}
}

// Asked records that a question is about to be put into the inbox. It returns the display
// name of the question's call.
func (cs *Calls) Asked(q Question) (name string) {
	// No call is kept for a question outside of calls, or of a forgotten call.
	_ = cs.update(q.Call, func(c *call) bool {
		name = c.Request.Name
		if c.endState == conversation.Running {
			c.clocked[q.Number] = true
			c.clock.set(q.Asked, c.clock.open+1, c.clock.held)
		}
		return true
	})
	return name
}

// Settled records that a question is settled.
func (cs *Calls) Settled(q Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if c.clocked[q.Number] && c.endState == conversation.Running {
			c.clock.set(q.Ended, max(c.clock.open-1, 0), c.clock.held)
		}
		delete(c.clocked, q.Number)
		if known := c.round.questions[q.Number]; known != nil {
			completion := max(q.Completion, known.Completion)
			*known = q
			known.Completion, known.Answer = completion, q.Sent(q.Answer)
			if known.Params, known.Exact = nil, nil; !q.IsURL() {
				known.Request = nil // the requests of a round can be large
			}
			c.round.open--
		}
		c.wake()
		return true
	})
}

// Changed records that the URL of a question is done.
func (cs *Calls) Changed(q Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if known := c.round.questions[q.Number]; known != nil && q.Completion > known.Completion {
			known.Completion = q.Completion
			c.wake()
		}
		return false
	})
}

// WithdrawLate withdraws a question that was put into the inbox after its call had ended.
func (cs *Calls) WithdrawLate(q Question) {
	var late *call
	_ = cs.update(q.Call, func(c *call) bool {
		if c.endState != conversation.Running {
			late = c
		}
		return false
	})
	if late != nil {
		late.withdraw()
	}
}
