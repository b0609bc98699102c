package live

import (
	"context"
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

const (
	// cancelTime bounds how long tasks/cancel may stay unanswered.
	cancelTime = 10 * time.Second
	// toldPause is the least time from one tasks/get to the next that a notification causes: a
	// server may send a notification for every tasks/get.
	toldPause = 100 * time.Millisecond
)

// createdTask returns the task that a response says its request became; nil for other
// responses.
func (c *call) createdTask(r session.Reply) []byte {
	if r.Message.Kind != wire.Result || c.Request.Kind != conversation.Tool { // only tools/call can become a task
		return nil
	}
	return conversation.CreatedTask(r.Message.Result, c.conn.Revision())
}

// follow follows the task that a request of the call became, and returns how the call
// ends: it polls the task, has the questions of the task answered, and takes its result.
// created is the response that says so; empty for a task that goes on in a new session.
func (c *call) follow(task conversation.TaskState, created session.Reply, round int) *ending {
	c.set(func() { c.task, c.taskOf = task.ID, round })
	request := session.Request{Call: c.Number, Round: round, TaskID: task.ID, Method: mcp.MethodGetTask}
	fetches := c.conn.Revision() < mcp.Revision20260728 // tasks/result has the result; later the task itself
	told := c.conn.TaskTold(task.ID)
	results := make(chan response, 1)
	var fetched conversation.TaskStatus // the status in which tasks/result was sent last; "" if it was not, or has failed
	reply := created
	var asked time.Time
	for {
		switch {
		case task.Status == conversation.TaskCancelled:
			return failed("the server cancelled the task%s", wording.After(": ", task.Message))
		case task.Status.Terminal() && !fetches && reply.Seq != created.Seq: // only tasks/get has the result
			return c.ofTask(task, reply)
		case fetches && fetched == "" && (task.Status.Terminal() || task.Status == conversation.TaskInputRequired):
			fetched = task.Status
			request := request
			request.Method = mcp.MethodTaskResult
			if !c.calls.spawn(func() {
				reply, err := c.conn.RoundTrip(c.ctx, request)
				results <- response{reply, err}
			}) {
				return failed("%v", errStopped)
			}
		}
		if len(reply.Inputs) > 0 {
			c.put(reply.Requests(reply.Inputs, round), round)
			reply.Inputs = nil
		}
		if end := c.update(request); end != nil {
			return end
		}
		var poll <-chan time.Time
		switch {
		case !task.Status.Terminal():
			poll = time.After(task.PollPause())
		case !fetches:
			poll = time.After(0)
		}
		select {
		case r := <-results:
			if r.error == nil {
				end := ofResult(r.Message.Result)
				if r.Message.Kind == wire.Error {
					end = failedBy("", r.Message.Error)
				}
				end.reply = r.Reply
				return end
			}
			if task.Status.Terminal() || fetched.Terminal() {
				return c.stoppedBy(fmt.Errorf("tasks/result has no response: %w", r.error))
			}
			fetched = ""
			select { // an error before the task has ended: the task goes on
			case <-poll:
			case <-c.ctx.Done():
			}
		case <-poll:
		case <-told:
			select {
			case <-time.After(time.Until(asked.Add(toldPause))):
			case <-c.ctx.Done():
				return c.stopped()
			}
		case <-c.woken:
			continue
		case <-c.ctx.Done():
			return c.stopped()
		}
		select {
		case <-told: // the response tells what the notification did
		default:
		}
		asked = time.Now()
		var err error
		if reply, err = c.conn.RoundTrip(c.ctx, request); err != nil {
			return c.stoppedBy(err)
		}
		if reply.Message.Kind == wire.Error {
			return failedBy("the task is lost: "+mcp.MethodGetTask+" was answered with ", reply.Message.Error)
		}
		now, err := conversation.ReadTask(reply.Message.Result)
		switch {
		case err != nil:
			return failed("%s: %v", mcp.MethodGetTask, err)
		case now.ID != task.ID:
			return failed("%s was answered with another task, %s", mcp.MethodGetTask, wording.Quoted(conversation.ShortError(now.ID)))
		}
		task = now
	}
}

// response is the outcome of a request about a task.
type response struct {
	session.Reply
	error
}

// ofTask returns how the call ends with a task of 2026-07-28, which has the result or the
// error of the request in itself.
func (c *call) ofTask(task conversation.TaskState, reply session.Reply) *ending {
	if task.Status == conversation.TaskCompleted {
		if task.Result == nil {
			return failed("the task is completed and has no result")
		}
		end := ofResult(task.Result)
		end.reply = reply
		return end
	}
	if task.Error == nil {
		return failed("the task has failed and has no error")
	}
	if _, err := conversation.ErrorOf(task.Error); err != nil {
		return failed("%v", err)
	}
	return &ending{state: conversation.Failed, reply: reply} // the task says why
}

// update sends with tasks/update the answers that are given and not sent yet: all
// together once none is open, or each at once if the call answers each by itself, or the
// person wants it. It returns how the call ends if a question cannot be answered.
func (c *call) update(request session.Request) *ending {
	c.noteAnswers()
	var refused []string
	var sent []int
	request.Method = mcp.MethodUpdateTask
	c.set(func() {
		c.waits = c.round.open > 0
		now := c.round.open == 0 || c.Request.Each || c.retry
		c.retry = false
		for q := range c.round.settled {
			switch {
			case q.Via != elicit.InTask || c.updated[q.Number]:
			case q.State == conversation.Refused:
				refused = append(refused, fmt.Sprintf("%q: %s", conversation.ShortError(q.Key), q.Reason))
			case q.State == conversation.Answered && q.TurnedDown:
				refused = append(refused, fmt.Sprintf("%q: %s was turned down, for which there is no result", conversation.ShortError(q.Key), q.Method))
			case !now || q.State != conversation.Answered || q.Plan != nil: // a fault sends its answer by itself
			default:
				if len(sent) == 0 {
					request.Actor = q.By
				} else if request.Actor != q.By {
					request.Actor = ""
				}
				sent = append(sent, q.Number)
				request.Responses = append(request.Responses, session.Member{Name: q.Key, Value: q.Answer})
				c.updated[q.Number] = true
			}
		}
	})
	if len(refused) > 0 {
		end := failed("the task cannot be answered: %s", strings.Join(refused, "; "))
		end.cancels = true
		return end
	}
	if len(sent) == 0 {
		return nil
	}
	reply, err := c.conn.RoundTrip(c.ctx, request)
	switch {
	case err != nil:
		c.set(func() {
			for _, number := range sent {
				delete(c.updated, number)
			}
		})
		return c.stoppedBy(err)
	case reply.Message.Kind == wire.Error:
		end := failedBy(request.Method+" was answered with ", reply.Message.Error)
		end.cancels = true
		return end
	}
	return nil
}

// stoppedBy returns how a call ends whose request about its task has no response.
func (c *call) stoppedBy(err error) *ending {
	if c.ctx.Err() != nil {
		return c.stopped()
	}
	end := failed("%v", err)
	end.lost = true
	return end
}

// stopped returns how a call ends whose context has ended. If the call was stopped, it
// has ended before, and this says nothing.
func (c *call) stopped() *ending {
	end := failed("%v", errStopped)
	if cause := context.Cause(c.conn.Context()); cause != nil {
		end = failed("%v", cause) // says more
		end.lost = true
	}
	return end
}
