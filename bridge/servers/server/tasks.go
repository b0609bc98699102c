package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// tasksMost bounds the tasks at the same time. Those that have ended make room.
const tasksMost = 1000

// Tasks holds the tasks of a server. The zero value is ready for use.
type Tasks struct {
	Tells bool // clients of 2025-11-25 are notified of each status

	mu   sync.Mutex
	list []*Task // the newest last
}

// Task is a call that goes on after its request has been answered. Its status, its result, Open and Asked change while
// it runs: they may be read and changed only in a function that Look calls.
type Task struct {
	mcp.Task
	Call   *Request              // that became it
	Seen   func(*Task, *Request) // is called in Look for each request about it, before that has an effect; nil for nothing to call
	Cancel context.CancelFunc    // is called when the client has cancelled it, or its TTL is over
	Open   []Question            // questions that wait for an answer, since 2026-07-28
	Asked  map[string]wire.Frame // all of them so far by their keys, with the request that has the answer; the zero frame for none

	tasks   *Tasks
	waiting []*Request    // tasks/result, for its end (2025-11-25)
	changed chan struct{} // closed, and replaced, at each change
}

// Make answers the call t.Call with a new task, and returns the number of the frame. The caller fills in t, and Make its
// id, its status, which is working, and its times. If there are too many tasks, Make answers with an error, and returns
// 0.
func (ts *Tasks) Make(t *Task) int64 {
	t.ID, t.Status, t.Updated = rand.Text(), string(conversation.TaskWorking), t.Created
	t.tasks, t.Asked, t.changed = ts, map[string]wire.Frame{}, make(chan struct{})
	ts.mu.Lock()
	if len(ts.list) >= tasksMost {
		ts.list = slices.DeleteFunc(ts.list, (*Task).Over)
	}
	full := len(ts.list) >= tasksMost
	if !full {
		ts.list = append(ts.list, t)
	}
	ts.mu.Unlock()
	if full {
		t.Call.Fail(mcp.CodeInternalError, "There are too many tasks already", "")
		return 0
	}
	time.AfterFunc(t.TTL, func() {
		ts.mu.Lock()
		ts.list = slices.DeleteFunc(ts.list, func(one *Task) bool { return one == t })
		ts.mu.Unlock()
		t.Cancel()
	})
	made := string(t.Told())
	if t.Call.Rounds() {
		return t.Call.Reply(rawjson.WithMember(made, "resultType", `"task"`))
	}
	return t.Call.Reply(`{"task":` + made + `}`)
}

// Look calls f with the lock that guards what changes in the task. f must not wait.
func (t *Task) Look(f func()) {
	t.tasks.mu.Lock()
	defer t.tasks.mu.Unlock()
	f()
}

// Over reports whether the task has ended. It is called in Look, as are Told, Wake and Stream.
func (t *Task) Over() bool { return conversation.TaskStatus(t.Status).Terminal() }

// Told returns the task as an object of the revision in which the call was made.
func (t *Task) Told() json.RawMessage {
	o := t.Task
	switch {
	case !t.Call.Rounds():
		o.Result, o.Error = nil, nil
	case t.Status == string(conversation.TaskInputRequired):
		o.Inputs = json.RawMessage(inputRequests(t.Open))
	}
	return o.JSON(t.Call.Revision)
}

// Wake tells those who wait that something has changed.
func (t *Task) Wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Await waits until holds, which is called in Look, returns true. It returns the cause if ctx ends before.
func (t *Task) Await(ctx context.Context, holds func() bool) error {
	for {
		var done bool
		var changed <-chan struct{}
		t.Look(func() { done, changed = holds(), t.changed })
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Set gives a task that has not ended a status, with what the call returns if it ends, and reports whether it did.
func (t *Task) Set(status conversation.TaskStatus, message string, result, failure json.RawMessage) (did bool) {
	tells := t.tasks.Tells && !t.Call.Rounds()
	set := func() {
		var told json.RawMessage
		t.Look(func() {
			if did = !t.Over(); did {
				t.Status, t.Message, t.Updated, t.Result, t.Error = string(status), message, time.Now(), result, failure
				told = t.Told()
				t.Wake()
			}
		})
		if did && tells {
			t.Call.Session.Notify(t.Call.Session.Outside(), mcp.NotificationTaskStatus, told)
		}
	}
	if !tells {
		set()
	} else {
		t.Call.Session.InTurn(set)
	}
	if did && status.Terminal() {
		var list []*Request
		t.Look(func() { list, t.waiting = t.waiting, nil })
		for _, r := range list {
			t.end(r)
		}
	}
	return did
}

// Ask asks by the task's inputRequests, each under a new key (since 2026-07-28).
func (t *Task) Ask(list []Question) {
	t.Look(func() {
		t.Open = list
		for _, q := range list {
			t.Asked[q.Key] = wire.Frame{}
		}
	})
	t.Set(conversation.TaskInputRequired, "", nil, nil)
}

// Answer returns the answer for the question of this key, nil for none, and the request that had it. It is called in
// Look.
func (t *Task) Answer(key string) (json.RawMessage, wire.Frame) {
	f := t.Asked[key]
	return rawjson.Member(f.Message.Params, "inputResponses", key), f
}

// Stream returns the stream for a request that belongs to the task, up to 2025-11-25: the one outside of requests, or
// that of a request tasks/result (Tasks, Input Required Status); nil for none.
func (t *Task) Stream() Stream {
	out := t.Call.Session.Outside()
	if n := len(t.waiting); out == nil && n > 0 {
		out = t.waiting[n-1].Out
	}
	return out
}

// Related returns the member _meta of messages that belong to the task, up to 2025-11-25.
func (t *Task) Related() string { return `{"` + mcp.RelatedTask + `":{"taskId":"` + t.ID + `"}}` }

// DeclaresTasks reports whether a client declares the extension of 2026-07-28.
func (c Client) DeclaresTasks() bool {
	return mcp.HasRounds(c.Revision) && rawjson.Member(c.Capabilities, "extensions", mcp.TasksExtension) != nil
}

// BecomesTask reports whether a call can become a task: in 2025-11-25 the client asks for it, and since 2026-07-28 it
// declares the extension.
func (r *Request) BecomesTask() bool {
	return r.DeclaresTasks() || r.Revision == mcp.Revision20251125 && conversation.IsAskedAsTask(r.Params)
}

// RefusesTask reports whether a tool with this support of tasks does not take the call as it is made, and then answers
// it with the error.
func (r *Request) RefusesTask(support string) bool {
	switch becomes := r.BecomesTask(); {
	case support == "required" && r.Rounds() && !becomes:
		r.failTasks()
	case support == "required" && r.Revision == mcp.Revision20251125 && !becomes:
		r.Fail(mcp.CodeMethodNotFound, r.Target()+" must be called as a task", "")
	case support != "required" && support != "optional" && becomes && !r.Rounds():
		r.Fail(mcp.CodeMethodNotFound, r.Target()+" cannot be called as a task", "")
	default:
		return false
	}
	return true
}

func (r *Request) failTasks() {
	r.Fail(mcp.CodeMissingCapability, "Missing required client capability", `{"requiredCapabilities":{"extensions":{"`+mcp.TasksExtension+`":{}}}}`)
}

// find returns the task of an id. A client up to 2025-11-25 knows the tasks of its session; since 2026-07-28 the id
// alone gives access.
func (ts *Tasks) find(r *Request, id string) *Task {
	for _, t := range ts.list {
		if t.ID == id && t.Call.Rounds() == r.Rounds() && (r.Rounds() || t.Call.Session == r.Session) {
			return t
		}
	}
	return nil
}

// Find returns the tasks of these ids that the client knows.
func (ts *Tasks) Find(r *Request, ids []string) (list []*Task) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, id := range ids {
		if t := ts.find(r, id); t != nil {
			list = append(list, t)
		}
	}
	return list
}

// Serve answers a request about tasks.
func (ts *Tasks) Serve(r *Request) {
	modern := r.Rounds()
	switch {
	case r.Revision < mcp.Revision20251125, modern && (r.Method == mcp.MethodTaskResult || r.Method == mcp.MethodListTasks), !modern && r.Method == mcp.MethodUpdateTask:
		r.Fail(mcp.CodeMethodNotFound, "Method not found: "+r.Method, "")
		return
	case modern && !r.DeclaresTasks():
		r.failTasks()
		return
	case r.Method == mcp.MethodListTasks:
		r.Session.InTurn(func() { r.Reply(ts.listed(r)) })
		return
	}
	if modern && r.Method == mcp.MethodGetTask { // the client is told what was seen: once it knows the end, it may not ask again
		r.Session.InTurn(func() {
			if _, told := ts.about(r); told != nil {
				r.Reply(rawjson.WithMember(string(told), "resultType", `"complete"`))
			}
		})
		return
	}
	t, told := ts.about(r)
	if t == nil {
		return
	}
	switch r.Method {
	case mcp.MethodTaskResult:
		return
	case mcp.MethodCancelTask:
		if !t.Set(conversation.TaskCancelled, "Cancelled by request.", nil, nil) && !modern {
			r.Fail(mcp.CodeInvalidParams, "Cannot cancel task: it has ended", "")
			return
		}
		t.Cancel()
	}
	if modern {
		r.Reply(`{"resultType":"complete"}`)
		return
	}
	r.Session.InTurn(func() {
		t.Look(func() { told = t.Told() })
		r.Reply(string(told))
	})
}

// about finds the task that a request names, and returns it with its state. An update is applied before; a request
// for the result waits until the task has ended. If there is no such task, the request is answered with an error.
func (ts *Tasks) about(r *Request) (*Task, json.RawMessage) {
	ts.mu.Lock()
	t := ts.find(r, r.Target())
	if t == nil {
		ts.mu.Unlock()
		r.Fail(mcp.CodeInvalidParams, "Task not found", "")
		return nil, nil
	}
	if t.Seen != nil {
		t.Seen(t, r)
	}
	over, told := t.Over(), t.Told()
	switch {
	case r.Method == mcp.MethodTaskResult && !over:
		t.waiting = append(t.waiting, r)
	case r.Method == mcp.MethodUpdateTask:
		t.take(r)
	}
	t.Wake()
	ts.mu.Unlock()
	if r.Method == mcp.MethodTaskResult && over {
		t.end(r)
	}
	return t, told
}

// Listen serves a subscription: it tells of the changes of tasks until ctx ends, with which the client takes the
// subscription back (since 2026-07-28). The lists, which it may ask for, too, never change.
func (ts *Tasks) Listen(ctx context.Context, r *Request) {
	meta := fmt.Sprintf(`{"io.modelcontextprotocol/subscriptionId":%s}`, r.ID)
	wanted := rawjson.Member(r.Params, "notifications")
	agreed := json.RawMessage(`{}`)
	for name, value := range rawjson.Members(wanted) {
		if strings.HasSuffix(name, "ListChanged") && string(value) == "true" {
			agreed = rawjson.WithMember(agreed, name, "true")
		}
	}
	var listened []*Task
	if asked := rawjson.Member(wanted, "taskIds"); asked != nil {
		if r.RefusesTask("required") {
			return
		}
		var ids rawjson.ArrayWriter
		listened = ts.Find(r, rawjson.Strings(asked))
		for _, t := range listened {
			ids.Add(rawjson.Quoted(t.ID))
		}
		agreed = rawjson.WithMember(agreed, "taskIds", string(ids.JSON()))
	}
	r.Notify(mcp.NotificationListening, fmt.Sprintf(`{"_meta":%s,"notifications":%s}`, meta, agreed))
	var telling sync.WaitGroup
	for _, t := range listened {
		telling.Go(func() { t.follow(ctx, r, meta) })
	}
	telling.Wait()
	<-ctx.Done()
}

// follow notifies the client of the changes of a task, until it has ended or the subscription has. What only wakes those
// who wait, such as a request about the task, changes nothing that a client is told.
func (t *Task) follow(ctx context.Context, r *Request, meta string) {
	var known json.RawMessage // by the client
	for first := true; ; first = false {
		var changed <-chan struct{}
		over := false
		r.Session.InTurn(func() {
			var told json.RawMessage
			t.Look(func() { told, over, changed = t.Told(), t.Over(), t.changed })
			if !bytes.Equal(told, known) && (!first || over) {
				r.Notify(mcp.NotificationTask, string(rawjson.WithMember(told, "_meta", meta)))
			}
			known = told
		})
		if over {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// take takes the answers of tasks/update. Unknown keys, and those that have an answer, are ignored, as the extension
// wants it. The caller is in Look.
func (t *Task) take(r *Request) {
	for key := range rawjson.Members(rawjson.Member(r.Params, "inputResponses")) {
		if i := slices.IndexFunc(t.Open, func(q Question) bool { return q.Key == key }); i >= 0 {
			t.Asked[key] = r.Frame
			t.Open = slices.Delete(slices.Clone(t.Open), i, i+1)
		}
	}
	if len(t.Open) == 0 && t.Status == string(conversation.TaskInputRequired) {
		t.Status, t.Updated = string(conversation.TaskWorking), time.Now()
	}
}

// end answers a request tasks/result of a task that has ended.
func (t *Task) end(r *Request) {
	switch {
	case t.Error != nil:
		e := conversation.ReadError(t.Error)
		r.Fail(e.Code, e.Message, string(e.Data))
	case t.Result == nil:
		r.Fail(mcp.CodeInternalError, "The task was cancelled.", "")
	default:
		r.Reply(rawjson.WithMember(string(t.Result), "_meta", t.Related()))
	}
}

// listed returns the tasks of a session.
func (ts *Tasks) listed(r *Request) string {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var list []string
	for _, t := range ts.list {
		if !t.Call.Rounds() && t.Call.Session == r.Session {
			list = append(list, string(t.Told()))
		}
	}
	return `{"tasks":[` + strings.Join(list, ",") + `]}`
}
