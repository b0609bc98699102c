package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

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

// asTask makes of a story one that is told by inTask.
func asTask(tell story) story {
	return func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) { return v.inTask(ctx, tell) }
}

// inTask tells a story as a task, if the call can become one, else at once.
func (v *visit) inTask(ctx context.Context, tell story) (*mcp.CallToolResult, error) {
	if !v.BecomesTask() {
		return tell(ctx, v)
	}
	parent, in := v.server.life, *v
	if !v.Rounds() {
		parent = v.session.Life
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

// asksLater reports whether a question can be a task of the client's: in 2025-11-25, if the client has declared it.
func (r served) asksLater() bool {
	return r.Revision == protocol.Revision20251125 && rawjson.Member(r.Capabilities, "tasks", "requests", "elicitation", "create") != nil && slices.Contains(r.Modes(), "form")
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
			_, _ = v.session.request(v.session.Life, v.Out, protocol.MethodCancelTask, params)
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
