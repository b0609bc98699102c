package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// call is a call with the state that only its loop (run) and the methods of Calls need.
// Calls.mu guards the fields below ctx, except those that only the loop uses.
type call struct {
	Call
	calls   *Calls
	conn    Connection
	session string // the id of the session
	ctx     context.Context
	stop    context.CancelCauseFunc
	woken   chan struct{} // receives when the loop should check again whether it can go on
	noting  chan struct{} // held by the goroutine that logs answers, so that the log has them before the end

	endState conversation.State // the state in which the call ends, once known; Ended follows when its questions are settled
	clock    clock
	round    round              // the latest round
	repeat   *next              // the next request if the person may go on after a refusal; nil for none
	waits    bool               // the call is between two rounds, so Retry applies
	retry    bool               // the person requested the next round
	consents map[consent]string // who accepted the URL
	clocked  map[int]bool       // questions that stop the clock
	idle     int                // consecutive rounds without questions; used by the loop only
	states   []json.RawMessage  // requestState of the first round and of the latest two
	restarts bool               // the call goes on in a new session; used by the loop only
	task     string             // id of the task that its request became; "" for none
	taskOf   int                // round that became the task
	lost     string             // revision of the session with which the call was lost, and not its task; "" if it was not
	sessions int                // how often the call went on in a new session
	updated  map[int]bool       // questions of the task whose answers were sent with tasks/update
}

// next holds the parts of a follow-up request that the first request does not have:
// inputResponses, requestState and deliberate faults.
type next struct {
	responses []session.Member // in the order of inputRequests; nil leaves them out
	state     json.RawMessage  // requestState, exact; nil leaves it out
	actor     string           // who made the responses; "" for several
	tool      string           // tool to call instead of the call's own; "" for the call's own
	spoilt    *session.Spoilt  // deliberate faults of the request; nil for none
}

// ending describes how a call ends.
type ending struct {
	state    conversation.State
	why      string            // the reason of the failure; "" if there is a result
	despite  bool              // the reason also counts if an error response came, because the error does not say it
	told     session.TakenBack // the reason of the cancellation sent to the server; "" for no cancellation
	cancels  bool              // the task of the call is cancelled at the server
	timedOut bool              // by the limit of the call
	lost     bool              // a request about the task of the call has no response
	reply    session.Reply     // the response that ended the call; its Seq is 0 if there is none
	round    int               // the round that reply answers; 0 for a task
}

func failed(format string, args ...any) *ending {
	return &ending{state: conversation.Failed, why: fmt.Sprintf(format, args...)}
}

// failedBy returns how a call ends with an error response: what was answered with it, and
// its code and message.
func failedBy(what string, raw json.RawMessage) *ending {
	e, err := conversation.ErrorOf(raw)
	if err != nil {
		return failed("%v", err)
	}
	return failed("%s%d %s", what, e.Code, e.Message)
}

// wake makes the loop check again whether the call can go on. It never blocks.
func (c *call) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// set runs change with the mutex held.
func (c *call) set(change func()) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	change()
}

// run makes the call until it ends.
func (c *call) run(until func() *ending) {
	defer c.stop(nil)
	end := until()
	c.finish(*end)
	by, _ := c.conn.EndedBy()
	lost, revision := end.lost && by != conversation.ByFault, c.conn.Revision()
	c.set(func() {
		if lost = lost && c.endState == conversation.Failed; lost {
			c.lost = revision
		}
	})
	switch {
	case c.restarts:
		c.calls.restart(c.Number)
	case lost:
		c.calls.resume(c.Request.Server) // its server may be connected again
	}
}

// converse sends the request, and sends it again as long as the server asks for more input.
func (c *call) converse(with next) *ending {
	mismatched := false // the server has refused the headers once
	for round := 1; ; round++ {
		reply, err := c.conn.RoundTrip(c.ctx, session.Request{
			Call: c.Number, Round: round, Kind: c.Request.Kind, Key: cmp.Or(with.tool, c.Request.Key), Arguments: c.Request.Arguments,
			Responses: with.responses, State: with.state, Task: c.Request.taskMember(), Actor: with.actor, Spoilt: with.spoilt,
		})
		if err != nil {
			return failed("%v", err)
		}
		if c.createdTask(reply) != nil {
			task, err := conversation.ReadTask(c.createdTask(reply))
			if err != nil {
				return failed("the call became a task that nothing can be asked about: %v", err)
			}
			return c.follow(task, reply, round)
		}
		if e, err := conversation.ErrorOf(reply.Message.Error); err == nil && e.Code == mcp.CodeHeaderMismatch && !mismatched && with.spoilt == nil && c.Request.Kind == conversation.Tool {
			if mismatched = true; c.conn.ReadToolsAgain() {
				continue
			}
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
					err = cause // the cause says more
				}
				return failed("%v", err)
			}
			end = c.goOn(more, reply)
		}
		if end != nil {
			end.reply, end.round = reply, round
			return end
		}
		with = *more
	}
}

// wanted puts the input requests of a response into the inbox. It returns the next
// request without the answers, or how the call ends.
func (c *call) wanted(r session.Reply, round int) (*next, *ending) {
	if r.Message.Kind == wire.Error {
		return c.wantedByError(r, round)
	}
	result := r.Message.Result
	if c.conn.Revision() < mcp.Revision20260728 { // these revisions have no further rounds; response.ReadResult reports such a result
		return nil, ofResult(result)
	}
	complete, err := conversation.ResultComplete(result)
	switch {
	case err != nil:
		return nil, failed("%v", err)
	case complete:
		return nil, ofResult(result)
	}
	required, err := conversation.ReadInputRequired(result)
	switch {
	case err != nil:
		return nil, failed("%v", err)
	case required.Empty():
		return nil, failed("an input-required result that asks for nothing and has no state to come back with")
	}
	c.set(func() { // a fault can send an earlier state in a later round
		if len(c.states) > 2 {
			c.states = append(c.states[:1], c.states[2:]...)
		}
		c.states = append(c.states, required.State)
	})
	c.put(r.Requests(required.Asked, round), round)
	more := &next{state: required.State}
	if required.Asks {
		more.responses = []session.Member{} // an empty object, if there are no responses
	}
	return more, c.cannotAnswer(more)
}

// wantedByError is wanted for error responses. Only error -32042 asks for input.
func (c *call) wantedByError(r session.Reply, round int) (*next, *ending) {
	e, err := conversation.ErrorOf(r.Message.Error)
	if err != nil {
		return nil, failed("%v", err)
	}
	if e.Code != mcp.CodeURLElicitationRequired || c.conn.Revision() < mcp.Revision20251125 { // earlier revisions do not define this error
		return nil, failed("%d %s", e.Code, e.Message)
	}
	if err := e.URLProblem(); err != nil {
		end := failed("%d: %v", e.Code, err)
		end.despite = true
		return nil, end
	}
	urls := elicit.AskedIn(r.Message)
	c.put(r.Requests(urls, round), round)
	if refused := c.refused(); len(refused) == len(urls) {
		end := failed("%d: the call was not made again: %s", e.Code, refused[0].Reason)
		end.despite = true
		return nil, end
	}
	return &next{}, nil
}

func ofResult(result json.RawMessage) *ending {
	if len(result) > 0 && result[0] != '{' {
		return failed("the result cannot be read: it is %s, not an object", conversation.ContentKind(result))
	}
	return &ending{state: conversation.Done}
}

// errStopped is the error of await when the call ends.
var errStopped = errors.New("the call has ended")

// waiting records whether the call waits between two rounds. It drops a request for the
// next round, which belonged to an earlier round.
func (c *call) waiting(is bool) { c.set(func() { c.waits, c.retry = is, false }) }

// finish ends the call; further calls of it do nothing. It withdraws open questions, and
// sends a cancellation if end has one. The log has the end before Ended says so.
//
// Several can end a call at the same moment: the response arrives while the person presses
// Stop and the time limit passes. Whoever sets endState first decides, and only then the
// others are told, outside of the mutex: the loop that waits for a response, the server, the
// inbox, the log. Ended is set last, since who sees it reads the rest in the log.
func (c *call) finish(end ending) {
	cancels := c.conn.CanCancelTasks()
	c.calls.mu.Lock()
	if c.endState != conversation.Running {
		c.calls.mu.Unlock()
		return
	}
	now := time.Now()
	c.endState = end.state
	c.clock.stop(now)
	note := &wire.Note{Kind: wire.NoteEnded, State: "failed", At: now}
	switch end.state {
	case conversation.Stopped:
		note.State = "stopped"
	case conversation.Done:
		note.State = "done"
	}
	if end.despite || end.reply.Message.Kind != wire.Error { // otherwise the error response says why
		note.Why = end.why
	}
	unsent := c.waits && end.reply.Seq == 0 // the answers of the round
	task := c.task
	followed := task
	if task == "" || end.told == "" && !end.cancels {
		task = ""
	} else if !cancels {
		task, note.Why = "", wording.Join("; ", note.Why, "the server's task goes on, because it has not declared tasks.cancel")
	}
	c.calls.mu.Unlock()

	c.conn.TaskOver(followed)
	if end.told != "" {
		c.stop(end.told)
	}
	if task != "" {
		c.calls.spawn(func() {
			ctx, done := context.WithTimeout(c.conn.Context(), cancelTime)
			defer done()
			// The log has the response, or a note about why there is none.
			_, _ = c.conn.RoundTrip(ctx, session.Request{Call: c.Number, TaskID: task, Method: mcp.MethodCancelTask})
		})
	}
	c.stop(nil)
	c.withdraw()
	if unsent {
		c.noteAnswers()
	}
	if end.reply.Seq == 0 || note.Why != "" { // otherwise the response says how the call ended
		c.conn.Noted(wire.Frame{Note: note, Call: c.Number, Round: end.round})
	}
	cs := c.calls
	changed := []int{c.Number}
	cs.mu.Lock()
	c.Ended, c.End, c.TimedOut = true, note, end.timedOut
	if cs.ended = append(cs.ended, c); len(cs.ended) > Kept {
		forgotten := cs.ended[0].Number
		cs.ended = slices.Delete(cs.ended, 0, 1)
		if i, kept := cs.place(forgotten); kept {
			cs.calls = slices.Delete(cs.calls, i, i+1)
		}
		changed = append(changed, forgotten)
	}
	cs.mu.Unlock()
	cs.changed(changed...)
}

// withdraw withdraws the open questions of an ended call. Questions with a guessed call
// are withdrawn if no call runs on the connection any more.
func (c *call) withdraw() {
	alone := false
	c.set(func() {
		alone = !slices.ContainsFunc(c.calls.calls, func(other *call) bool {
			return other.endState == conversation.Running && other.session == c.session
		})
	})
	by, reason, connected := c.withdrawal()
	c.calls.inbox.Withdraw(by, reason, connected, func(q *Question) bool {
		if q.Guessed {
			return alone && q.Call != 0 && q.Session == c.session
		}
		return q.Call == c.Number
	})
	c.calls.inbox.CompletionImpossible(func(q *Question) bool { // a notification with an elicitationId can arrive long after the call
		return q.Call == c.Number && (q.Request == nil || q.Request.ElicitationID == "")
	})
}

// withdrawal returns who withdraws the questions of the ended call, and why, and whether
// the connection still stands. The end of the connection also ends the call.
func (c *call) withdrawal() (by, reason string, connected bool) {
	stopped := false
	c.set(func() { stopped = c.endState == conversation.Stopped })
	by, reason = c.conn.EndedBy()
	connected = by == ""
	if stopped {
		by, reason = conversation.ByPerson, fmt.Sprintf("call %d was stopped", c.Number)
	} else if connected {
		by, reason = conversation.ByPolicy, fmt.Sprintf("call %d ended", c.Number)
	}
	return by, reason, connected
}

// timedOut ends the call because of its time limit, and cancels the request.
func (c *call) timedOut() {
	c.calls.mu.Lock()
	clock, waited := c.clock, c.clock.waited(time.Now())
	c.calls.mu.Unlock()
	if clock.waits() && !clock.whole {
		return
	}
	words := "timed out after " + wording.Duration(clock.limit)
	end := failed("%s of the server's own time, by the inspector's clock (%s of waiting for a person not counted)", words, wording.Duration(waited))
	if clock.whole {
		end = failed("%s, by the inspector's clock (all time counts where nobody answers at a terminal)", words)
	}
	end.told, end.timedOut = session.TakenBack(words), true
	c.finish(*end)
}
