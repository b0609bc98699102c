package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/wire"
)

// call is a call with what only its own loop, and what speeds it up, must know.
// What stands below ctx is guarded by Calls.mu, but for what only the loop uses.
type call struct {
	Call
	calls   *Calls
	conn    Connection
	session string // its id
	ctx     context.Context
	stop    context.CancelCauseFunc
	woken   chan struct{} // something that the call waits for may have come

	over     conversation.State // how it ends, once that is known; State follows when its questions are settled
	clock    clock
	round    round              // of the questions that came last
	repeat   *next              // what the person may go on with; nil for nothing
	waits    bool               // between two rounds: the person can want the next one
	retry    bool               // the person wants the next round now
	consents map[consent]string // who gave it
	clocked  map[int]bool       // questions for which the clock stands still
	idle     int                // rounds in a row that asked nothing; of the loop
	states   []json.RawMessage  // requestState of the first round and of the latest two
	restarts bool               // it goes on in a new session; of the loop
}

// next is what the next request of a call carries beyond the first.
type next struct {
	responses []session.Member // in the order of inputRequests; nil leaves them out
	state     json.RawMessage  // requestState, exact; nil leaves it out
	actor     string           // who made the responses; "" if not one alone
	tool      string           // called in place of the call's own; "" for that
	spoilt    *session.Spoilt  // how it is wrong on purpose; nil if it is not
}

// ending is how a call ends.
type ending struct {
	state   conversation.State
	why     string            // why it failed; "" where a result says so
	despite bool              // why is not what the error says that came
	told    session.TakenBack // to the server
	reply   session.Reply     // that ended it; its Seq is 0 if there is none
}

func failed(format string, args ...any) *ending {
	return &ending{state: conversation.Failed, why: fmt.Sprintf(format, args...)}
}

// wake makes the call look again at what it waits for. It never blocks.
func (c *call) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// set changes the call with the mutex held.
func (c *call) set(change func()) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	change()
}

// run makes the request, and makes it again for as long as the server wants
// more of the person.
func (c *call) run(first next) {
	defer c.stop(nil)
	c.finish(*c.converse(first))
	c.noteEnd()
	if c.restarts {
		c.calls.owner.StartSession(c.Number)
	}
}

func (c *call) converse(with next) *ending {
	for round := 1; ; round++ {
		reply, err := c.conn.RoundTrip(c.ctx, session.Request{
			Call: c.Number, Round: round, Kind: c.Request.Kind, Key: cmp.Or(with.tool, c.Request.Key), Arguments: c.Request.Arguments,
			Responses: with.responses, State: with.state, Actor: with.actor, Spoilt: with.spoilt,
		})
		if err != nil {
			return failed("%v", err)
		}
		c.waiting(true)
		more, end := c.wanted(reply, round)
		if end == nil {
			err = c.await()
			if err == nil {
				err = c.mayGoOn(round)
			}
			c.waiting(false)
			c.noteAnswers()
			if err != nil {
				if cause := context.Cause(c.conn.Context()); cause != nil {
					err = cause // which says more
				}
				return failed("%v", err)
			}
			end = c.goOn(more, reply)
		}
		if end != nil {
			end.reply = reply
			return end
		}
		with = *more
	}
}

// wanted puts what a response asks into the inbox, and returns what the next
// request carries beside the answers. Or it returns how the call ends.
func (c *call) wanted(r session.Reply, round int) (*next, *ending) {
	if r.Message.Kind == wire.Error {
		return c.wantedByError(r, round)
	}
	result := r.Message.Result
	if c.conn.Revision() < mcp.Revision20260728 { // no call has further rounds; response.ReadResult says so
		return nil, ofResult(result)
	}
	complete, err := response.Complete(result)
	switch {
	case err != nil:
		return nil, failed("%v", err)
	case complete:
		return nil, ofResult(result)
	}
	required, err := response.ReadInputRequired(result)
	switch {
	case err != nil:
		return nil, failed("%v", err)
	case required.Empty():
		return nil, failed("an input-required result that asks for nothing and has no state to come back with")
	}
	c.remember(required.State)
	c.put(requestsOf(required.Asked, round, r), round)
	more := &next{state: required.State}
	if required.Asks {
		more.responses = []session.Member{} // present, though there may be nothing in it
	}
	return more, c.cannotAnswer(more)
}

// wantedByError is wanted for an error. Only -32042 asks for more.
func (c *call) wantedByError(r session.Reply, round int) (*next, *ending) {
	e, err := response.ErrorOf(r.Message.Error)
	if err != nil {
		return nil, failed("%v", err)
	}
	if e.Code != mcp.CodeURLElicitationRequired || c.conn.Revision() < mcp.Revision20251125 { // which does not know this error
		return nil, failed("%d %s", e.Code, e.Message)
	}
	if err := e.URLProblem(); err != nil {
		end := failed("%d: %v", e.Code, err)
		end.despite = true
		return nil, end
	}
	urls := elicit.AskedInError(e.Raw)
	c.put(requestsOf(urls, round, r), round)
	if refused := c.refused(); len(refused) == len(urls) {
		end := failed("%d: the call was not made again: %s", e.Code, refused[0].Reason)
		end.despite = true
		return nil, end
	}
	return &next{}, nil
}

// ofResult is the end of a call that has a result.
func ofResult(result json.RawMessage) *ending {
	if len(result) > 0 && result[0] != '{' {
		return failed("the result cannot be read: it is %s, not an object", response.KindOf(result))
	}
	return &ending{state: conversation.Done}
}

// errStopped is why an await ends when the call does.
var errStopped = errors.New("the call has ended")

// waiting notes whether the call waits for the person, so that it can be told to
// go on: what was told before belongs to an earlier round.
func (c *call) waiting(is bool) { c.set(func() { c.waits, c.retry = is, false }) }

// finish ends the call, once: what comes second changes nothing. Questions that
// are still open because of it are withdrawn, and the server is told that
// nobody will answer them.
func (c *call) finish(end ending) {
	c.calls.mu.Lock()
	if c.over != conversation.Running {
		c.calls.mu.Unlock()
		return
	}
	c.over, c.Ended = end.state, time.Now()
	c.clock.stop(c.Ended)
	c.Reply = end.reply.Seq
	if end.despite || end.reply.Message.Kind != wire.Error { // else the error says why
		c.Failure = end.why
	}
	c.calls.mu.Unlock()

	if end.told != "" {
		c.stop(end.told)
	}
	c.stop(nil)
	c.withdraw()
	c.calls.mu.Lock()
	c.State = c.over
	forgotten := c.calls.forget(c)
	c.calls.mu.Unlock()
	c.calls.owner.CallChanged(c.Number)
	if forgotten != 0 {
		c.calls.owner.CallChanged(forgotten)
	}
}

// withdraw ends the questions of a call that has ended, and those of which it was
// only guessed if no other call is left that they could be of.
func (c *call) withdraw() {
	c.calls.mu.Lock()
	stopped := c.over == conversation.Stopped
	alone := !c.calls.runs(c.session)
	c.calls.mu.Unlock()
	by, reason := conversation.ByPolicy, fmt.Sprintf("call %d ended", c.Number)
	if stopped {
		by, reason = conversation.ByPerson, fmt.Sprintf("you stopped call %d", c.Number)
	}
	c.calls.inbox.Withdraw(by, reason, true, func(q *inbox.Question) bool {
		if q.Guessed {
			return alone && q.Call != 0 && q.Session == c.session
		}
		return q.Call == c.Number
	})
	c.calls.inbox.Hopeless(func(q *inbox.Question) bool { // a notification with an id can come long after the call
		return q.Call == c.Number && (q.Request == nil || q.Request.ElicitationID == "")
	})
}

// runs reports whether any call runs on a connection.
func (cs *Calls) runs(session string) bool {
	return slices.ContainsFunc(cs.calls, func(c *call) bool {
		return c != nil && c.over == conversation.Running && c.session == session
	})
}

// forget notes that a call has ended, and lets go of the one that ended first, if
// there is one too many. It returns the number of that, 0 for none.
func (cs *Calls) forget(ended *call) int {
	cs.ended = append(cs.ended, ended)
	if len(cs.ended) <= Kept {
		return 0
	}
	c := cs.ended[0]
	cs.ended = slices.Delete(cs.ended, 0, 1)
	cs.calls[c.Number-1] = nil
	return c.Number
}

// noteEnd notes in the log how the call ended, if no response says so.
func (c *call) noteEnd() {
	var note *wire.Note
	c.set(func() {
		if c.Reply == 0 || c.Failure != "" { // what came is no end by itself otherwise
			note = &wire.Note{Kind: wire.NoteEnded, State: "failed", Why: c.Failure, At: c.Ended}
			if c.over == conversation.Stopped {
				note.State = "stopped"
			}
		}
	})
	if note != nil {
		c.conn.Noted(wire.Frame{Note: note, Call: c.Number})
	}
}

// timedOut ends the call because its limit is reached; the server is told.
func (c *call) timedOut() {
	c.calls.mu.Lock()
	limit, waits, waited := c.clock.limit, c.clock.waits(), c.clock.waited(time.Now())
	c.calls.mu.Unlock()
	if waits {
		return
	}
	end := failed("timed out after %s of the server's own time (%s waiting for you not counted)", limit, waited.Round(time.Millisecond))
	end.told = session.TakenBack(fmt.Sprintf("timed out after %s", limit))
	c.finish(*end)
}
