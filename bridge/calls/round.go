package calls

import (
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/wire"
)

// round is what one response asks, and what became of that.
type round struct {
	number    int
	asked     []int                           // numbers of its questions, in order
	questions map[int]*inbox.Question         // by number
	open      int                             // how many are not settled
	noted     map[int]conversation.Completion // answers that stand in the log, with what was known of their URLs
}

// settled are the questions that are, in order.
func (r *round) settled(yield func(*inbox.Question) bool) {
	for _, number := range r.asked {
		if q := r.questions[number]; q.State != conversation.Pending && !yield(q) {
			return
		}
	}
}

// requestsOf are what a response asks.
func requestsOf(asked []elicit.Asked, round int, r session.Reply) []client.InputRequest {
	list := make([]client.InputRequest, len(asked))
	last := map[string]int{}
	for i, a := range asked {
		list[i] = client.InputRequest{Question: conversation.Question{
			Number: r.Question + i, Place: i + 1, Of: len(asked), Method: a.Method, Via: a.Via, Key: a.Key, Pointer: a.Pointer,
			Round: round, Params: a.Params, Asked: time.Now(), AskedSeq: r.Seq,
		}}
		if a.Via == elicit.InError {
			continue
		}
		if before, again := last[a.Key]; again {
			list[before].Lost = true
			list[before].Refusal = &client.Refusal{
				Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("the key %q stands again among the input requests, and only the last counts", a.Key),
			}
		}
		last[a.Key] = i
	}
	return list
}

// put puts what a round asks into the inbox. What cannot be put to a person is
// refused at once.
func (c *call) put(requests []client.InputRequest, number int) {
	in := c.calls.inbox
	fresh := round{number: number, open: len(requests), questions: map[int]*inbox.Question{}, noted: map[int]conversation.Completion{}}
	questions := make([]inbox.Question, len(requests))
	for i, r := range requests {
		r.Call, r.CallName = c.Number, c.Request.Name
		c.conn.Judge(&r)
		questions[i] = inbox.Question{InputRequest: r}
		fresh.asked = append(fresh.asked, questions[i].Number)
		fresh.questions[questions[i].Number] = new(inbox.Question)
	}
	running := false
	c.set(func() { c.round, running = fresh, c.over == conversation.Running })
	for _, q := range questions {
		by := c.consented(&q)
		switch {
		case !running:
			q.State, q.By, q.Reason = conversation.Withdrawn, conversation.ByPolicy, fmt.Sprintf("call %d ended", c.Number)
		case q.Refusal == nil && by != "":
			q.State, q.By, q.Reason = conversation.Answered, by, "the same URL was accepted in an earlier round, and is tried again by the clock"
			q.Answered(inbox.Answer{Action: "accept"})
		default:
			c.calls.Asked(q)
		}
		in.Put(q)
		if c.conn.Overtaken(q.Request) {
			in.Complete(q.Number)
		}
	}
	c.set(func() { running = c.over == conversation.Running })
	if !running { // it ended meanwhile
		c.withdraw()
	}
}

// consent is a URL that the person has accepted, with its key.
type consent struct{ key, url string }

// consented says who has accepted the URL that a question asks for, in an earlier round
// of a call that tries again by the clock; "" for nobody. That is one consent, however
// often the server asks for it.
func (c *call) consented(q *inbox.Question) string {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	if q.Request == nil || c.Every == 0 || q.Via != elicit.InRound || !q.IsURL() {
		return ""
	}
	return c.consents[consent{q.Key, q.Request.URL}]
}

// Pauses before a round that nothing but requestState asks for.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// await waits until nothing of a round is open any more, or until the person
// wants the next round now. A round that asks nothing is followed by the next after
// a pause, which grows with the number of such rounds in a row.
func (c *call) await() error {
	pause := min(firstPause<<min(c.idle, 10), lastPause)
	c.idle++
	if len(c.round.asked) > 0 {
		pause, c.idle = 0, 0
		// Who has accepted a URL is busy there: that is their time, not the server's.
		c.hold(true)
		defer c.hold(false)
	}
	for {
		ready, every := c.look()
		c.noteAnswers()
		if ready {
			return nil
		}
		var tick <-chan time.Time
		if every == 0 {
			every = pause
		}
		if every > 0 {
			timer := time.NewTimer(every)
			defer timer.Stop()
			tick = timer.C
		}
		select {
		case <-tick:
			return nil
		case <-c.woken:
		case <-c.ctx.Done():
			return errStopped
		}
	}
}

// look reports whether the next round can go out: the person wants it, or every
// question is settled and every URL's outcome is known. Where only outcomes are
// waited for, every is how often the person wants to try anyway, 0 for not.
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
		case q.Plan != nil: // which waits for nothing
			return true, 0
		case q.State == conversation.Withdrawn:
			return false, 0 // since the connection or the call ends
		case q.Completion == conversation.CompletionAwaited:
			ready = false // accepting a URL only means consent
		}
	}
	return ready, c.Every
}

// roundsUnasked is after how many rounds the person is asked whether to go on.
// The specification sets no limit.
const roundsUnasked = 10

// mayGoOn asks the person, after every so many rounds, whether there should be
// more of them.
func (c *call) mayGoOn(round int) error {
	if round%roundsUnasked != 0 {
		return nil
	}
	c.pause(true)
	defer c.pause(false)
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

// goOn adds the answers of the round to what the next request carries, or says why
// the call ends here. What is still open can no longer be answered: the round goes
// out without it.
func (c *call) goOn(more *next, reply session.Reply) *ending {
	c.calls.inbox.Withdraw(conversation.ByPerson, fmt.Sprintf("you went on with call %d without it", c.Number), false, func(q *inbox.Question) bool {
		return q.Call == c.Number && q.Via != elicit.ByRequest
	})
	open := func() (n int) { c.set(func() { n = c.round.open }); return n }
	for open() > 0 { // an answer is on its way here
		select {
		case <-c.woken:
		case <-c.ctx.Done():
			return failed("%v", errStopped)
		}
	}
	if c.turnedDown() {
		return failed("the URL was not accepted")
	}
	c.calls.mu.Lock()
	var plans []session.Misbehaviour
	first := true
	for q := range c.round.settled {
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
	if len(plans) > 0 {
		more.actor = conversation.ByFault
		if end := c.carryOut(plans, more); end != nil {
			return end
		}
	}
	return c.cannotAnswer(more) // something may have been refused since, while it was held back
}

// turnedDown reports whether a question that came with error -32042 was not
// accepted, so that there is no sense in trying again.
func (c *call) turnedDown() bool {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	for q := range c.round.settled {
		if q.Via == elicit.InError && (q.State == conversation.Refused || q.State == conversation.Answered && q.Action != "accept" && q.Plan == nil) {
			return true
		}
	}
	return false
}

// refused are the questions of the round that were not put to the person.
func (c *call) refused() (list []inbox.Question) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	for q := range c.round.settled {
		if q.State == conversation.Refused {
			list = append(list, *q)
		}
	}
	return list
}

// cannotAnswer is the end of a call of whose last round something was refused, nil
// where nothing was: a client must construct the requested inputs before it makes
// the call again (specification 2026-07-28, Multi Round-Trip Requests, Client
// Requirements). The person may go on without it.
func (c *call) cannotAnswer(without *next) *ending {
	var why []string
	for _, q := range c.refused() {
		if q.Via == elicit.InRound && !q.Lost {
			why = append(why, fmt.Sprintf("%q: %s", response.Shortened(q.Key), q.Reason))
		}
	}
	if len(why) == 0 {
		return nil
	}
	c.set(func() { c.repeat = without })
	return failed("round %d cannot be answered, so the call was not made again: %s", c.round.number, strings.Join(why, "; "))
}

// noteAnswers notes in the log how questions were answered whose answers are not
// on the wire: all of them when the call has ended, else those that travel by no
// other way, or wait for what happens at a URL.
func (c *call) noteAnswers() {
	var frames []wire.Frame
	ended := c.ctx.Err() != nil
	c.calls.mu.Lock()
	for q := range c.round.settled {
		waits := q.Via == elicit.InError || q.Completion != conversation.CompletionNone || q.TurnedDown || ended
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
