package conversation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// TaskStatus is the status of a task, as the specification names it.
type TaskStatus string

// The statuses of a task (specification 2025-11-25, Tasks, Task Status; the tasks extension has the same).
const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// Terminal reports whether a task with this status has ended.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Known reports whether the specification has this status.
func (s TaskStatus) Known() bool {
	return s == TaskWorking || s == TaskInputRequired || s.Terminal()
}

// TaskSupport says whether a tool is called as a task (specification 2025-11-25, Tasks,
// Tool-Level Negotiation).
type TaskSupport uint8

// The values of execution.taskSupport.
const (
	TaskForbidden TaskSupport = iota // also if it is absent
	TaskOptional
	TaskRequired
)

// TaskState is the state of a task according to one message.
type TaskState struct {
	ID           string
	Status       TaskStatus
	Message      string        // statusMessage
	TTL          time.Duration // how long the task is kept from its creation on; negative for no limit, or if it is not said
	PollInterval time.Duration // wanted pause between two tasks/get; negative if it is not said
	Updated      time.Time     // lastUpdatedAt; zero if it is no time
	// Result and Error answer the request that became the task. The extension of 2026-07-28
	// has them in the task itself; they are nil in 2025-11-25.
	Result, Error json.RawMessage
}

// Overtaken reports whether the state is older than one that an earlier message told, which
// was updated at the time before. Over HTTP, two messages about states of the same time can
// arrive in either order on different streams.
func (t TaskState) Overtaken(before time.Time, over wire.Stream) bool {
	return !t.Updated.IsZero() && (t.Updated.Before(before) || over != wire.StreamNone && t.Updated.Equal(before))
}

// taskIDMost is the greatest length in bytes of a task's id. A longer one is refused,
// since it goes back to the server with every request about the task.
const taskIDMost = 4096

// ReadTask reads a task object of either revision. The error says why a client cannot
// work with it.
func ReadTask(raw json.RawMessage) (TaskState, error) {
	if kind := rawjson.KindOf(raw); kind != rawjson.Object {
		return TaskState{}, fmt.Errorf("the task is %s, not an object", ContentKind(raw))
	}
	id, status := rawjson.Member(raw, "taskId"), rawjson.Member(raw, "status")
	t := TaskState{
		ID: strings.Clone(rawjson.Text(id)), Status: TaskStatus(ShortError(rawjson.Text(status))), Message: ShortError(rawjson.Text(rawjson.Member(raw, "statusMessage"))),
		TTL: milliseconds(raw, "ttl", "ttlMs"), PollInterval: milliseconds(raw, "pollInterval", "pollIntervalMs"),
		Result: rawjson.Member(raw, "result"), Error: rawjson.Member(raw, "error"),
	}
	t.Updated, _ = time.Parse(time.RFC3339, rawjson.Text(rawjson.Member(raw, "lastUpdatedAt"))) // the linter judges it
	switch {
	case id == nil:
		return t, fmt.Errorf("the task has no taskId")
	case rawjson.KindOf(id) != rawjson.String:
		return t, fmt.Errorf("the taskId is %s, not a string", ContentKind(id))
	case t.ID == "":
		return t, fmt.Errorf("the taskId is empty")
	case len(t.ID) > taskIDMost:
		return t, fmt.Errorf("the taskId has %d bytes, and at most %d are taken", len(t.ID), taskIDMost)
	case status == nil:
		return t, fmt.Errorf("the task has no status")
	case !t.Status.Known():
		return t, fmt.Errorf("there is no task status %q", t.Status)
	}
	return t, nil
}

// milliseconds reads the first of the members that is a number; -1 if none is, or if it
// is negative.
func milliseconds(raw json.RawMessage, names ...string) time.Duration {
	for _, name := range names {
		var ms float64
		member := rawjson.Member(raw, name)
		if rawjson.KindOf(member) != rawjson.Number || json.Unmarshal(member, &ms) != nil || ms < 0 {
			continue
		}
		return time.Duration(min(ms, float64(math.MaxInt64/time.Millisecond))) * time.Millisecond
	}
	return -1
}

// CreatedTask returns the task object with which a result says that its request became a
// task, nil for other results. revision is "" if it is unknown.
func CreatedTask(result json.RawMessage, revision string) json.RawMessage {
	if rawjson.Text(rawjson.Member(result, "resultType")) == "task" { // extension tasks of 2026-07-28, Polymorphic Results
		if revision == "" || revision >= mcp.Revision20260728 {
			return result
		}
		return nil
	}
	task := rawjson.Member(result, "task")
	if revision >= mcp.Revision20260728 || rawjson.KindOf(task) != rawjson.Object || rawjson.Member(task, "taskId") == nil || rawjson.Member(result, "content") != nil {
		return nil
	}
	return task
}

// ToldTask returns the task object in a message about a task: the result of tasks/get, of
// tasks/cancel in 2025-11-25, or a notification; nil for other messages.
func ToldTask(f *wire.Frame) json.RawMessage {
	switch {
	case f.Kind == wire.Notification && mcp.TellsTask(f.Method):
		return f.Message.Params
	case f.Kind == wire.Result && f.Method == mcp.MethodGetTask:
		return f.Message.Result
	case f.Kind == wire.Result && f.Method == mcp.MethodCancelTask && rawjson.Member(f.Message.Result, "taskId") != nil:
		return f.Message.Result
	}
	return nil
}

// RelatedTaskID returns the id in the related-task metadata of params or a result, ""
// for none.
func RelatedTaskID(of json.RawMessage) string {
	return rawjson.Text(rawjson.Member(of, "_meta", mcp.RelatedTask, "taskId"))
}

// IsAskedAsTask reports whether params of a request want it to become a task of the
// receiver's (specification 2025-11-25, Tasks, Creating Tasks).
func IsAskedAsTask(params json.RawMessage) bool {
	return rawjson.KindOf(rawjson.Member(params, "task")) == rawjson.Object
}

// TaskKeys holds the keys of the input requests that a task has asked. The value says
// whether tasks/update had an answer.
type TaskKeys map[string]bool

// Inputs returns the input requests of a task that are not asked yet, and remembers their
// keys: a key is unique over the life of a task, and is asked once (extension tasks of
// 2026-07-28, Task Update Requests).
func (k TaskKeys) Inputs(m wire.Message) (list []elicit.Asked) {
	for _, a := range elicit.AskedIn(m) {
		if _, known := k[a.Key]; a.Via == elicit.InTask && !known && len(k) < taskKeysMost {
			k[a.Key] = false
			list = append(list, a)
		}
	}
	return list
}

// Updated remembers what a request tasks/update answers.
func (k TaskKeys) Updated(params json.RawMessage) {
	for key := range rawjson.Members(rawjson.Member(params, "inputResponses")) {
		if _, known := k[key]; known || len(k) < taskKeysMost {
			k[key] = true
		}
	}
}

// Resume forgets the keys without an answer: their questions ended with the session, and
// are asked again in the next one.
func (k TaskKeys) Resume() {
	maps.DeleteFunc(k, func(_ string, answered bool) bool { return !answered })
}

// taskKeysMost bounds how many input requests of one task are asked.
const taskKeysMost = 10_000
