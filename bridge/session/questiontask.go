package session

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// questionTask is a question of the server that is a task of the client's (specification
// 2025-11-25, Tasks). The session's mutex guards it.
type questionTask struct {
	id                    string
	question, call, round int
	status                conversation.TaskStatus
	message               string // statusMessage
	created, updated      time.Time
	ttl                   time.Duration // negative for no limit
	written               chan struct{} // closed when the latest message that has the status is written
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

// taskOf returns the task that a request of the server's becomes, with the refusal of a
// request that cannot become one; nil, nil if it wants to be an ordinary request.
func (s *Session) taskOf(r *conversation.InputRequest) (*questionTask, *conversation.RPCError) {
	wanted := rawjson.Member(r.Params, "task")
	if wanted == nil || r.Method != mcp.MethodElicit || !s.Settings.TakesTasks(s.Revision()) {
		return nil, nil // a receiver without the capability ignores the member
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ownTasks) >= ownTasksMost {
		return nil, &conversation.RPCError{Code: mcp.CodeInternalError, Message: fmt.Sprintf("there are %d tasks already", ownTasksMost)}
	}
	now := time.Now()
	return &questionTask{
		id: rand.Text(), question: r.Number, call: r.Call, round: r.Round, status: conversation.TaskWorking,
		created: now, updated: now, ttl: ttl, written: make(chan struct{}),
	}, nil
}

// announce answers the request of a question that is a task with the task, which then
// waits for the person, and keeps the task until its ttl has passed.
func (s *Session) announce(id json.RawMessage, t *questionTask) {
	s.mu.Lock()
	created := fmt.Appendf(nil, `{"task":%s}`, t.json())
	s.ownTasks[t.id] = t
	first := t.written
	s.mu.Unlock()
	s.queue(&Response{ID: id, Result: created, Done: func(bool) { close(first) }})
	s.change(t, conversation.TaskInputRequired, "The person is asked.")
	if t.ttl < 0 {
		return
	}
	s.Go(func() {
		select {
		case <-time.After(t.ttl):
		case <-s.ctx.Done():
			return
		}
		s.owner.Cancelled(t.question, "the ttl of its task, "+wording.Duration(t.ttl)+", has passed")
		s.mu.Lock()
		delete(s.ownTasks, t.id)
		s.mu.Unlock()
	})
}

// change gives a task that has not ended a status, and tells the server. It reports
// whether the task had not ended.
func (s *Session) change(t *questionTask, status conversation.TaskStatus, message string) bool {
	s.mu.Lock()
	if t.status.Terminal() {
		s.mu.Unlock()
		return false
	}
	s.tell(t, status, message)
	s.mu.Unlock()
	return true
}

// tell gives a task a status, and tells the server. The caller holds the session's mutex.
func (s *Session) tell(t *questionTask, status conversation.TaskStatus, message string) {
	t.status, t.message, t.updated = status, message, time.Now()
	told := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, mcp.NotificationTaskStatus, t.json())
	frame := wire.Frame{Raw: told, Question: t.question, Call: t.call, Round: t.round, Fault: t.fault}
	if t.fault != "" {
		frame.Actor = conversation.ByFault
	}
	s.inOrder(t, func(written func()) {
		s.sendPrepared(s.ctx, transport.Outgoing{Frame: frame})
		written()
	})
}

// inOrder calls send, which calls written, once the earlier messages with the task's status are written, so that
// the task never seems to go back. The caller holds the session's mutex.
func (s *Session) inOrder(t *questionTask, send func(written func())) {
	before, written := t.written, make(chan struct{})
	t.written = written
	s.Go(func() {
		select {
		case <-before:
		case <-s.ctx.Done():
		}
		send(func() { close(written) })
	})
}

// respond answers a request about a task with the task as it is now.
func (s *Session) respond(id json.RawMessage, t *questionTask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Response{ID: id, Result: t.json(), Fault: t.fault}
	if t.fault != "" {
		r.Actor = conversation.ByFault
	}
	s.inOrder(t, func(written func()) { r.Done = func(bool) { written() }; s.queue(r) })
}

// json returns the task object. The caller holds the session's mutex.
func (t *questionTask) json() json.RawMessage {
	return mcp.Task{
		ID: t.id, Status: string(t.status), Message: t.message, Created: t.created, Updated: t.updated, TTL: t.ttl, Poll: ownPollPeriod,
	}.JSON(mcp.Revision20251125)
}

// settleTask keeps what came of a question that is a task, and sends it to those who wait
// for it.
func (s *Session) settleTask(r *Response) {
	s.mu.Lock()
	t := s.ownTasks[r.Task]
	s.mu.Unlock()
	if t == nil {
		return
	}
	status, message := conversation.TaskCompleted, "The question is answered."
	if r.Error != nil {
		status, message = conversation.TaskFailed, r.Error.Message
	}
	s.change(t, status, message)
	s.give(t, r)
}

// give keeps the response to a question that is a task, unless there is one already, and
// sends it to those who wait for it.
func (s *Session) give(t *questionTask, r *Response) {
	s.mu.Lock()
	if t.response != nil {
		s.mu.Unlock()
		return
	}
	t.response = r
	waiting := t.waiting
	t.waiting = nil
	s.settledOne(&incoming{call: t.call})
	s.mu.Unlock()
	for _, in := range waiting {
		s.queue(t.result(in))
	}
}

// misbehaveAsTask carries out a step of a fault that concerns the task that a question is.
func (s *Session) misbehaveAsTask(m Misbehaviour, step fault.Step) error {
	s.mu.Lock()
	t := s.ownTasks[m.OwnTask]
	if t == nil || t.status == conversation.TaskCancelled {
		s.mu.Unlock()
		return errors.New("the server has cancelled the task, or its ttl has passed")
	}
	t.fault = m.Plan.Fault
	if step.Do == fault.TellStatus {
		s.tell(t, conversation.TaskStatus(step.Status), "")
	}
	s.mu.Unlock()
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
		s.give(t, r)
	case fault.ForgetTask:
		s.mu.Lock()
		delete(s.ownTasks, t.id)
		s.mu.Unlock()
		r.Error = &taskNotFound
		s.give(t, r)
	}
	return nil
}

// taskNotFound refuses a request about a task that is unknown or was forgotten.
var taskNotFound = conversation.RPCError{Code: mcp.CodeInvalidParams, Message: "Task not found: its id is unknown, or its ttl has passed"}

// result returns the response to a request tasks/result: that of the question, with the
// related-task metadata that it must have.
func (t *questionTask) result(in *incoming) *Response {
	r := *t.response
	r.ID, r.Done = json.RawMessage(in.id), nil
	if r.Error == nil && rawjson.KindOf(r.Result) == rawjson.Object {
		related := object([]Member{{mcp.RelatedTask, object([]Member{{"taskId", rawjson.Quoted(t.id)}})}})
		r.Result = object(append(membersOf(r.Result), Member{"_meta", related}))
	}
	return &r
}

// askedOfTask logs and answers a request of the server's about tasks of the client's.
func (s *Session) askedOfTask(m wire.Message, f wire.Frame) {
	in := &incoming{id: string(m.ID), isOfTask: true}
	s.mu.Lock()
	t := s.ownTasks[rawjson.Text(rawjson.Member(m.Params, "taskId"))]
	if t != nil && m.Method != mcp.MethodListTasks {
		in.about = t
		f.Question, f.Call, f.Round = t.question, t.call, t.round
	}
	s.mu.Unlock()
	if !s.toAnswer(in, f) {
		return
	}
	refuse := func(code int64, format string, args ...any) {
		s.queue(&Response{ID: m.ID, Error: &conversation.RPCError{Code: code, Message: fmt.Sprintf(format, args...)}})
	}
	switch {
	case m.Method == mcp.MethodListTasks:
		s.listTasks(m, refuse)
	case m.Method == mcp.MethodUpdateTask:
		refuse(mcp.CodeMethodNotFound, "Method not found: %s", m.Method)
	case t == nil:
		s.queue(&Response{ID: m.ID, Error: &taskNotFound})
	case m.Method == mcp.MethodGetTask:
		s.respond(m.ID, t)
	case m.Method == mcp.MethodCancelTask:
		if !s.change(t, conversation.TaskCancelled, "Cancelled by request.") {
			refuse(mcp.CodeInvalidParams, "Cannot cancel task: already in terminal status '%s'", t.status)
			return
		}
		s.owner.Cancelled(t.question, "cancelled by the server, with "+m.Method)
		s.respond(m.ID, t)
	default: // tasks/result
		s.mu.Lock()
		ready := t.response != nil
		if !ready {
			t.waiting = append(t.waiting, in)
		}
		full := len(t.waiting) > waitingMost
		s.mu.Unlock()
		switch {
		case ready:
			s.queue(t.result(in))
		case full:
			s.owner.Cancelled(t.question, fmt.Sprintf("the server asked for the answer %d times before there was one", waitingMost+1))
		}
	}
}

// listTasks answers tasks/list. The cursor is the number of the first question of the
// page.
func (s *Session) listTasks(m wire.Message, refuse func(code int64, format string, args ...any)) {
	from := 0
	if cursor := rawjson.Member(m.Params, "cursor"); cursor != nil {
		var err error
		if from, err = strconv.Atoi(rawjson.Text(cursor)); err != nil {
			refuse(mcp.CodeInvalidParams, "Invalid cursor")
			return
		}
	}
	s.mu.Lock()
	var list []*questionTask
	for _, t := range s.ownTasks {
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
		tasks.Add(t.json())
	}
	s.mu.Unlock()
	s.queue(&Response{ID: m.ID, Result: object(append(members, Member{"tasks", tasks.JSON()}))})
}
