package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/server"
)

// Times of tasks.
const (
	taskTTL  = 5 * time.Minute
	taskPoll = 500 * time.Millisecond // wanted between two tasks/get
)

// becomesTask reports whether the call can become a task: in 2025-11-25 the client asks for it, and since 2026-07-28 it
// declares the extension.
func (r served) becomesTask() bool {
	return r.DeclaresTasks() || r.Revision == protocol.Revision20251125 && conversation.IsAskedAsTask(r.Params)
}

// admits returns the error for a call that a tool with this task support refuses.
func (r served) admits(support string) error {
	switch becomes := r.becomesTask(); {
	case support == "required" && r.Rounds() && !becomes:
		return missingCapability("Missing required client capability", `{"extensions":{"`+protocol.TasksExtension+`":{}}}`)
	case support == "required" && r.Revision == protocol.Revision20251125 && !becomes:
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: r.Target() + " must be called as a task"}
	case support == "" && becomes && !r.Rounds():
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: r.Target() + " cannot be called as a task"}
	}
	return nil
}

// asTask makes of a story one that is told by inTask.
func asTask(tell story) story {
	return func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) { return v.inTask(ctx, tell) }
}

// inTask tells a story as a task, if the call can become one, else at once.
func (v *visit) inTask(ctx context.Context, tell story) (*mcp.CallToolResult, error) {
	if !v.becomesTask() {
		return tell(ctx, v)
	}
	parent, in := v.server.life, *v
	if !v.Rounds() {
		parent = v.session.ctx
	}
	ctx, cancel := context.WithCancel(parent)
	t := &task{Task: server.Task{Call: v.Request, Cancel: cancel, Task: protocol.Task{Created: time.Now(), TTL: taskTTL, Poll: taskPoll}}}
	if ms, err := strconv.ParseFloat(string(rawjson.Member(v.Params, "task", "ttl")), 64); err == nil && ms >= 0 {
		t.TTL = max(time.Millisecond, time.Duration(min(ms, float64(taskTTL.Milliseconds())))*time.Millisecond)
	}
	in.task, in.retold = t, false
	if v.server.tasks.Make(&t.Task); t.ID == "" {
		cancel()
		return nil, raw(nil)
	}
	v.server.work.Go(func() {
		defer cancel()
		res, err := in.finish(tell(ctx, &in))
		switch {
		case ctx.Err() != nil:
			t.Set(conversation.TaskCancelled, "", nil, nil)
		case err == nil:
			t.Set(conversation.TaskCompleted, "", v.complete(mustJSON(res)), nil)
		default:
			failure := responseError(err)
			t.Set(conversation.TaskFailed, failure.Message, nil, mustJSON(failure))
		}
	})
	return nil, raw(nil) // it is answered with the task
}

// task is a call that goes on after its request has been answered.
type task struct {
	server.Task
	asked int // questions so far, since 2026-07-28
}

// input asks by the task's inputRequests, and waits for all answers (since 2026-07-28). Each key is used once.
func (t *task) input(ctx context.Context, questions []question) (map[string]answer, error) {
	asked := slices.Clone(questions)
	for i := range asked {
		t.asked++
		asked[i].key = fmt.Sprintf("%s-%d", asked[i].key, t.asked)
	}
	t.Ask(inputs(t.Call.Revision, asked))
	if err := t.Await(ctx, func() bool { return len(t.Open) == 0 }); err != nil {
		return nil, err
	}
	answers, err := map[string]answer{}, error(nil)
	t.Look(func() {
		for i, q := range questions {
			result, _ := t.Answer(asked[i].key)
			a, wrong := q.answerOf(result)
			answers[q.key], err = a, cmp.Or(err, wrong)
		}
	})
	return answers, err
}

// listen serves a subscription to tasks: it tells of their changes until the client takes the subscription back (since
// 2026-07-28). The lists, which it may ask for, too, never change.
func (r served) listen(ctx context.Context) (any, error) {
	meta := fmt.Sprintf(`{%q:%s}`, mcp.MetaKeySubscriptionID, r.ID)
	wanted := rawjson.Member(r.Params, "notifications")
	agreed := json.RawMessage(`{}`)
	for name, value := range rawjson.Members(wanted) {
		if strings.HasSuffix(name, "ListChanged") && string(value) == "true" {
			agreed = rawjson.WithMember(agreed, name, "true")
		}
	}
	var listened []*server.Task
	if asked := rawjson.Member(wanted, "taskIds"); asked != nil {
		if !r.DeclaresTasks() {
			return nil, r.admits("required")
		}
		listened = r.server.tasks.Find(r.Request, rawjson.Strings(asked))
		ids := make([]string, len(listened))
		for i, t := range listened {
			ids[i] = t.ID
		}
		agreed = rawjson.WithMember(agreed, "taskIds", string(mustJSON(ids)))
	}
	r.session.Notify(r.Out, protocol.NotificationListening, fmt.Appendf(nil, `{"_meta":%s,"notifications":%s}`, meta, agreed))
	var telling sync.WaitGroup
	for _, t := range listened {
		telling.Go(func() { r.follow(ctx, t, meta) })
	}
	telling.Wait()
	<-ctx.Done()
	return nil, ctx.Err()
}

// follow notifies the client of the changes of a task, until it has ended or the subscription has. What only wakes those
// who wait, such as a request about the task, changes nothing that a client is told.
func (r served) follow(ctx context.Context, t *server.Task, meta string) {
	var known json.RawMessage // by the client
	for first := true; ; first = false {
		var changed <-chan struct{}
		over := false
		r.session.InTurn(func() {
			var told json.RawMessage
			t.Look(func() { told, over, changed = t.Told(), t.Over(), t.Changed() })
			if !bytes.Equal(told, known) && (!first || over) {
				r.session.Notify(r.Out, protocol.NotificationTask, rawjson.WithMember(told, "_meta", meta))
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

// asksLater reports whether a question can be a task of the client's: in 2025-11-25, if the client has declared it.
func (r served) asksLater() bool {
	return r.Revision == protocol.Revision20251125 && rawjson.Member(r.Capabilities, "tasks", "requests", "elicitation", "create") != nil && slices.Contains(r.modes(), "form")
}

// askLater asks a question as a task of the client's, and asks for the answer once the client says that there is one
// (2025-11-25). The client must have declared that it takes elicitations as tasks.
func (v *visit) askLater(ctx context.Context, q question) (answer, error) {
	created, err := v.session.request(ctx, v.Out, q.requestMethod(), rawjson.WithMember(q.encode(v.Revision), "task", `{"ttl":600000}`))
	if err != nil {
		return answer{}, refusal(err)
	}
	told := rawjson.Member(created, "task")
	params := json.RawMessage(`{"taskId":` + string(mustJSON(rawjson.Text(rawjson.Member(told, "taskId")))) + `}`)
	for {
		if status := conversation.TaskStatus(rawjson.Text(rawjson.Member(told, "status"))); status == conversation.TaskInputRequired || status.Terminal() {
			break
		}
		err := v.pause(ctx, taskPoll)
		if err == nil {
			told, err = v.session.request(ctx, v.Out, protocol.MethodGetTask, params)
		}
		if err != nil {
			return answer{}, refusal(err)
		}
	}
	result, err := v.session.request(ctx, v.Out, protocol.MethodTaskResult, params)
	if err != nil {
		if ctx.Err() != nil {
			// An error means that the question has ended, or the connection: nobody waits for either.
			_, _ = v.session.request(v.session.ctx, v.Out, protocol.MethodCancelTask, params)
		}
		return answer{}, refusal(err)
	}
	a, err := q.answerOf(result)
	if err != nil {
		return answer{}, problem("The answer could not be read: %v", err)
	}
	return a, q.check(a)
}

// report tells how far the story is: by the status message of its task, else by a progress notification.
func (v *visit) report(done, total int, message string) {
	if v.task != nil {
		v.task.Set(conversation.TaskWorking, message, nil, nil)
		return
	}
	v.progress(done, total, message)
}
