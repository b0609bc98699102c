package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/wire"
)

// questionTask is a question of the server that is a task of the client's (specification
// 2025-11-25, Tasks). The mutex of questionTasks guards it.
type questionTask struct {
	mcp.Task
	question, call, round int
	written               chan struct{} // closed when the latest message with the task's status is written
	response              *Response     // what came of the question; nil until it is settled
	fault                 string        // the fault that says what is told of the task; "" for none
	waiting               []*incoming   // requests tasks/result that wait for it
}

// Bounds on the tasks of one connection.
const (
	ownTasksMost  = 10_000
	ownTTLMost    = 24 * time.Hour
	ownTasksPage  = 100         // of a result of tasks/list
	waitingMost   = 1000        // requests tasks/result that wait for one task
	ownPollPeriod = time.Second // pollInterval
)

// questionTasks are the server's questions that are tasks.
type questionTasks struct {
	outbox    *outbox
	send      func(context.Context, transport.Outgoing) // of notifications
	run       func(func())                              // runs a goroutine
	ctx       context.Context                           // of the session
	cancelled func(question int, reason string)

	table[questionTask]
}

// of returns the task that a question becomes, or why it cannot become one; nil, nil if its
// request does not ask for a task.
func (ts *questionTasks) of(r *conversation.InputRequest) (*questionTask, *conversation.RPCError) {
	wanted := rawjson.Member(r.Params, "task")
	if wanted == nil {
		return nil, nil
	}
	if kind := rawjson.KindOf(wanted); kind != rawjson.Object {
		return nil, &conversation.RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("params.task is %s, not an object", conversation.ContentKind(wanted))}
	}
	ttl := time.Duration(-1)
	if asked := rawjson.Member(wanted, "ttl"); asked != nil {
		var ms float64
		if json.Unmarshal(asked, &ms) != nil || rawjson.KindOf(asked) != rawjson.Number || ms < 0 {
			return nil, &conversation.RPCError{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("params.task.ttl is %s, and not a number of milliseconds from 0 on", conversation.ShortError(string(asked)))}
		}
		ttl = time.Duration(min(ms, float64(ownTTLMost.Milliseconds()))) * time.Millisecond
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.byID) >= ownTasksMost {
		return nil, &conversation.RPCError{Code: mcp.CodeInternalError, Message: fmt.Sprintf("there are %d tasks already", ownTasksMost)}
	}
	now := time.Now()
	task := mcp.Task{ID: rand.Text(), Status: string(conversation.TaskWorking), Created: now, Updated: now, TTL: ttl, Poll: ownPollPeriod}
	return &questionTask{Task: task, question: r.Number, call: r.Call, round: r.Round, written: make(chan struct{})}, nil
}

// announce answers the request of a question that is a task with the task, which then
// waits for the person, and keeps the task until its ttl has passed.
func (ts *questionTasks) announce(id json.RawMessage, t *questionTask) {
	ts.mu.Lock()
	created := fmt.Appendf(nil, `{"task":%s}`, t.JSON(mcp.Revision20251125))
	ts.byID[t.ID] = t
	first := t.written
	ts.mu.Unlock()
	ts.outbox.put(&Response{ID: id, Result: created, Done: func(bool) { close(first) }})
	ts.change(t, conversation.TaskInputRequired, "The person is asked.")
	if t.TTL < 0 {
		return
	}
	ts.run(func() {
		select {
		case <-time.After(t.TTL):
		case <-ts.ctx.Done():
			return
		}
		ts.cancelled(t.question, "the ttl of its task, "+wording.Duration(t.TTL)+", has passed")
		ts.take(t.ID)
	})
}

// change gives a task that has not ended a status, and tells the server. It reports
// whether the task had not ended.
func (ts *questionTasks) change(t *questionTask, status conversation.TaskStatus, message string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if conversation.TaskStatus(t.Status).Terminal() {
		return false
	}
	ts.tell(t, status, message)
	return true
}

// tell gives a task a status, and tells the server. The caller holds the mutex.
func (ts *questionTasks) tell(t *questionTask, status conversation.TaskStatus, message string) {
	t.Status, t.Message, t.Updated = string(status), message, time.Now()
	told := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, mcp.NotificationTaskStatus, t.JSON(mcp.Revision20251125))
	frame := wire.Frame{Raw: told, Question: t.question, Call: t.call, Round: t.round, Fault: t.fault}
	if t.fault != "" {
		frame.Actor = conversation.ByFault
	}
	ts.inOrder(t, func(written func()) {
		ts.send(ts.ctx, transport.Outgoing{Frame: frame})
		written()
	})
}

// inOrder calls send once the earlier messages with the task's status are written, so that the
// task never seems to go back. send calls written after its own message. The caller holds the
// mutex.
func (ts *questionTasks) inOrder(t *questionTask, send func(written func())) {
	before, written := t.written, make(chan struct{})
	t.written = written
	ts.run(func() {
		select {
		case <-before:
		case <-ts.ctx.Done():
		}
		send(func() { close(written) })
	})
}

// respond answers a request about a task with the task as it is now.
func (ts *questionTasks) respond(id json.RawMessage, t *questionTask) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	r := &Response{ID: id, Result: t.JSON(mcp.Revision20251125), Fault: t.fault}
	if t.fault != "" {
		r.Actor = conversation.ByFault
	}
	ts.inOrder(t, func(written func()) {
		r.Done = func(bool) { written() }
		ts.outbox.put(r)
	})
}

// settle ends a task whose question is settled, and gives its response to the requests
// that wait for it.
func (ts *questionTasks) settle(r *Response) {
	t := ts.find(r.Task)
	if t == nil {
		return
	}
	status, message := conversation.TaskCompleted, "The question is answered."
	if r.Error != nil {
		status, message = conversation.TaskFailed, r.Error.Message
	}
	ts.change(t, status, message)
	ts.give(t, r)
}

// give keeps the response to a question that is a task, unless there is one already, and
// answers the requests tasks/result that wait for it.
func (ts *questionTasks) give(t *questionTask, r *Response) {
	ts.mu.Lock()
	if t.response != nil {
		ts.mu.Unlock()
		return
	}
	t.response = r
	waiting := t.waiting
	t.waiting = nil
	ts.mu.Unlock()
	for _, in := range waiting {
		ts.outbox.put(t.result(in))
	}
}

// misbehave carries out a step of a fault for a question that is a task.
func (ts *questionTasks) misbehave(m Misbehaviour, step fault.Step) error {
	ts.mu.Lock()
	t := ts.byID[m.OwnTask]
	if t == nil || t.Status == string(conversation.TaskCancelled) {
		ts.mu.Unlock()
		return errors.New("the server has cancelled the task, or its ttl has passed")
	}
	t.fault = m.Plan.Fault
	if step.Do == fault.TellStatus {
		ts.tell(t, conversation.TaskStatus(step.Status), "")
	}
	ts.mu.Unlock()
	r := &Response{Actor: conversation.ByFault, Fault: m.Plan.Fault}
	switch step.Do {
	case fault.GiveResult:
		answer, err := wire.ParseMessage(step.Raw)
		if err != nil {
			return err
		}
		if r.Result = answer.Result; answer.Kind == wire.Error {
			e, err := conversation.ErrorOf(answer.Error)
			if err != nil {
				return err
			}
			r.Error = &e
		}
		ts.give(t, r)
	case fault.ForgetTask:
		ts.take(t.ID)
		r.Error = &taskNotFound
		ts.give(t, r)
	}
	return nil
}

// taskNotFound refuses a request about a task that is unknown or was forgotten.
var taskNotFound = conversation.RPCError{Code: mcp.CodeInvalidParams, Message: "Task not found: its id is unknown, or its ttl has passed"}

// result returns the response to a request tasks/result: that of the question, with the
// related-task metadata that it must have.
func (t *questionTask) result(in *incoming) *Response {
	r := *t.response
	r.ID, r.Done = in.id, nil
	if r.Error == nil && rawjson.KindOf(r.Result) == rawjson.Object {
		related := object([]Member{{mcp.RelatedTask, object([]Member{{"taskId", rawjson.Quoted(t.ID)}})}})
		r.Result = object(append(membersOf(r.Result), Member{"_meta", related}))
	}
	return &r
}

// forget drops a request tasks/result that waits for the answer.
func (ts *questionTasks) forget(in *incoming) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if in.about != nil {
		in.about.waiting = slices.DeleteFunc(in.about.waiting, func(w *incoming) bool { return w == in })
	}
}

// answer answers a request from the server about the client's tasks.
func (ts *questionTasks) answer(m wire.Message, in *incoming) {
	t := in.about
	refuse := func(code int64, format string, args ...any) {
		ts.outbox.put(&Response{ID: m.ID, Error: &conversation.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}})
	}
	switch {
	case m.Method == mcp.MethodListTasks:
		ts.list(m, refuse)
	case m.Method == mcp.MethodUpdateTask:
		refuse(mcp.CodeMethodNotFound, "Method not found: %s", m.Method)
	case t == nil:
		ts.outbox.put(&Response{ID: m.ID, Error: &taskNotFound})
	case m.Method == mcp.MethodGetTask:
		ts.respond(m.ID, t)
	case m.Method == mcp.MethodCancelTask:
		if !ts.change(t, conversation.TaskCancelled, "Cancelled by request.") {
			refuse(mcp.CodeInvalidParams, "Cannot cancel task: already in terminal status '%s'", t.Status)
			return
		}
		ts.cancelled(t.question, "cancelled by the server, with "+m.Method)
		ts.respond(m.ID, t)
	default: // tasks/result
		ts.mu.Lock()
		ready := t.response != nil
		if !ready {
			t.waiting = append(t.waiting, in)
		}
		full := len(t.waiting) > waitingMost
		ts.mu.Unlock()
		switch {
		case ready:
			ts.outbox.put(t.result(in))
		case full:
			ts.cancelled(t.question, fmt.Sprintf("the server asked for the answer %d times before there was one", waitingMost+1))
		}
	}
}

// list answers tasks/list. The cursor is the number of the first question of the
// page.
func (ts *questionTasks) list(m wire.Message, refuse func(code int64, format string, args ...any)) {
	from := 0
	if cursor := rawjson.Member(m.Params, "cursor"); cursor != nil {
		var err error
		if from, err = strconv.Atoi(rawjson.Text(cursor)); err != nil {
			refuse(mcp.CodeInvalidParams, "Invalid cursor")
			return
		}
	}
	ts.mu.Lock()
	var list []*questionTask
	for _, t := range ts.byID {
		if t.question >= from {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *questionTask) int { return a.question - b.question })
	var members []Member
	if len(list) > ownTasksPage {
		members = append(members, Member{"nextCursor", rawjson.Quoted(strconv.Itoa(list[ownTasksPage].question))})
		list = list[:ownTasksPage]
	}
	var tasks rawjson.ArrayWriter
	for _, t := range list {
		tasks.Add(t.JSON(mcp.Revision20251125))
	}
	ts.mu.Unlock()
	ts.outbox.put(&Response{ID: m.ID, Result: object(append(members, Member{"tasks", tasks.JSON()}))})
}
