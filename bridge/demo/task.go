package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// Bounds on tasks.
const (
	tasksMost = 1000 // at the same time
	taskTTL   = 5 * time.Minute
	taskPoll  = 500 * time.Millisecond // wanted between two tasks/get
)

// task is a call that goes on after its request has been answered. The server's mutex guards it.
type task struct {
	id               string
	visit            *visit
	ttl              time.Duration
	created, updated time.Time
	status           conversation.TaskStatus
	message          string
	asked            int               // questions so far, since 2026-07-28
	inputs           []question        // that wait for an answer, since 2026-07-28, with the keys of the inputRequests
	answers          map[string]answer // by the same keys
	result           json.RawMessage
	failure          *jsonrpc.Error
	changed          chan struct{} // closed, and replaced, at each change
}

// taskAsked returns the member task of a tools/call, nil for none. Only 2025-11-25 has it.
func (v *visit) taskAsked() map[string]any {
	asked, _ := v.meta[carriedTask].(map[string]any)
	if v.revision != protocol.Revision20251125 {
		return nil
	}
	return asked
}

// becomesTask reports whether the call can become a task: in 2025-11-25 the client asks for it, and since 2026-07-28 it
// declares the extension.
func (v *visit) becomesTask() bool {
	return v.taskAsked() != nil || v.rounds() && declaresTasks(v.caps)
}

func declaresTasks(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Extensions[protocol.TasksExtension] != nil
}

var errNoTasks = &jsonrpc.Error{
	Code: protocol.CodeMissingCapability, Message: "Missing required client capability",
	Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + protocol.TasksExtension + `":{}}}}`),
}

// admits returns the error for a call that a tool with this task support refuses.
func (v *visit) admits(support string) error {
	switch {
	case support == "required" && v.rounds() && !v.becomesTask():
		return errNoTasks
	case support == "required" && v.revision == protocol.Revision20251125 && !v.becomesTask():
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: v.name + " must be called as a task"}
	case support == "" && v.taskAsked() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: v.name + " cannot be called as a task"}
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
	s, in := v.server, *v
	ctx, cancel := context.WithCancel(s.life)
	in.end = cancel
	in.retold = false
	now := s.options.Now()
	t := &task{
		id: rand.Text(), visit: &in, ttl: taskTTL, created: now, updated: now, status: conversation.TaskWorking,
		answers: map[string]answer{}, changed: make(chan struct{}),
	}
	in.task = t
	if ms, ok := v.taskAsked()["ttl"].(float64); ok && ms >= 0 {
		t.ttl = time.Duration(min(ms, float64(taskTTL.Milliseconds()))) * time.Millisecond
	}
	l := s.linkOf(v.session)
	if err := l.hold(ctx); err != nil {
		cancel()
		return nil, err
	}
	s.mu.Lock()
	full := len(s.tasks) >= tasksMost
	if !full {
		s.tasks[t.id] = t
		s.visits[&in] = struct{}{}
	}
	made := t.json()
	s.mu.Unlock()
	if full {
		l.release()
		cancel()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("there are %d tasks already", tasksMost)}
	}
	time.AfterFunc(t.ttl, func() {
		in.end()
		s.mu.Lock()
		delete(s.tasks, t.id)
		s.mu.Unlock()
	})
	s.work.Go(func() {
		defer in.leave()
		res, err := in.finish(tell(ctx, &in))
		wire := (*jsonrpc.Error)(nil)
		switch {
		case ctx.Err() != nil:
			t.change(conversation.TaskCancelled, "")
		case err == nil && in.rounds():
			t.settle(conversation.TaskCompleted, "", rawjson.WithMember(mustJSON(res), "resultType", `"complete"`), nil)
		case err == nil:
			t.settle(conversation.TaskCompleted, "", mustJSON(res), nil)
		default:
			if !errors.As(err, &wire) {
				wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
			}
			t.settle(conversation.TaskFailed, wire.Message, nil, wire)
		}
	})
	if v.rounds() {
		return nil, &rawResult{json: rawjson.WithMember(made, "resultType", `"task"`)}
	}
	return nil, rawf(`{"task":%s}`, made)
}

// change gives a task that has not ended a status, and notifies a client of 2025-11-25 whose connection can carry that.
func (t *task) change(status conversation.TaskStatus, message string) bool {
	return t.settle(status, message, nil, nil)
}

// settle is change with what the call of the task returns.
func (t *task) settle(status conversation.TaskStatus, message string, result json.RawMessage, failure *jsonrpc.Error) bool {
	s := t.visit.server
	l := s.linkOf(t.visit.session)
	told := l != nil && !t.visit.rounds() && l.hold(s.life) == nil // a client that is gone is told nothing
	if told {
		defer l.release()
	}
	s.mu.Lock()
	if t.status.Terminal() {
		s.mu.Unlock()
		return false
	}
	t.status, t.message, t.updated, t.result, t.failure = status, message, s.options.Now(), result, failure
	close(t.changed)
	t.changed = make(chan struct{})
	params := t.json()
	s.mu.Unlock()
	if told {
		l.notify(s.life, protocol.NotificationTaskStatus, params)
	}
	return true
}

// json returns the task object as the task's revision has it, since 2026-07-28 with what belongs to the status. The
// caller holds the mutex.
func (t *task) json() json.RawMessage {
	o := protocol.Task{ID: t.id, Status: string(t.status), Message: t.message, Created: t.created, Updated: t.updated, TTL: max(time.Millisecond, t.ttl), Poll: taskPoll}
	switch {
	case !t.visit.rounds():
	case t.status == conversation.TaskInputRequired:
		o.Inputs = json.RawMessage(t.visit.requests(t.inputs))
	case t.status == conversation.TaskCompleted:
		o.Result = t.result
	case t.status == conversation.TaskFailed:
		o.Error = mustJSON(t.failure)
	}
	return o.JSON(t.visit.revision)
}

// input asks by the task's inputRequests, and waits for all answers (since 2026-07-28). Each key is used once.
func (t *task) input(ctx context.Context, questions []question) (map[string]answer, error) {
	s := t.visit.server
	asked := slices.Clone(questions)
	s.mu.Lock()
	for i := range asked {
		t.asked++
		asked[i].key = fmt.Sprintf("%s-%d", asked[i].key, t.asked)
	}
	t.inputs = asked
	s.mu.Unlock()
	for t.change(conversation.TaskInputRequired, ""); ; {
		s.mu.Lock()
		open, changed := len(t.inputs), t.changed
		s.mu.Unlock()
		if open == 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	t.change(conversation.TaskWorking, "")
	answers := map[string]answer{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, q := range questions {
		answers[q.key] = t.answers[asked[i].key]
	}
	return answers, nil
}

// update takes answers. Unknown keys, and those that have an answer, are ignored, as the extension wants it.
func (t *task) update(responses map[string]json.RawMessage) error {
	s := t.visit.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, raw := range responses {
		i := slices.IndexFunc(t.inputs, func(q question) bool { return q.key == key })
		if i < 0 {
			continue
		}
		var one mcp.InputResponseMap
		if err := json.Unmarshal(fmt.Appendf(nil, `{"answer":%s}`, raw), &one); err != nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("inputResponses[%q]: %v", key, err)}
		}
		t.answers[key] = answerOf(one["answer"])
		t.inputs = slices.Delete(slices.Clone(t.inputs), i, i+1)
	}
	if len(t.inputs) == 0 {
		close(t.changed)
		t.changed = make(chan struct{})
	}
	return nil
}

// taskParams are the params of the requests about tasks.
type taskParams struct {
	mcp.ParamsBase
	Task      string                     `json:"taskId"`
	Responses map[string]json.RawMessage `json:"inputResponses"`
}

// addTaskMethods makes the SDK's server accept the requests about tasks.
func (s *Server) addTaskMethods() {
	for _, method := range []string{protocol.MethodGetTask, protocol.MethodTaskResult, protocol.MethodListTasks, protocol.MethodUpdateTask, protocol.MethodCancelTask} {
		err := mcp.AddReceivingCustomMethod(s.mcp, method, func(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*rawResult, error) {
			if p == nil {
				p = &taskParams{}
			}
			return s.aboutTask(ctx, method, &mcp.ServerRequest[*taskParams]{Session: ss, Params: p})
		})
		if err != nil {
			panic(fmt.Sprintf("demo: %v", err)) // the SDK has got tasks of its own
		}
	}
}

// aboutTask answers a request about tasks. A client up to 2025-11-25 knows the tasks of its session; since 2026-07-28 the
// id alone gives access.
func (s *Server) aboutTask(ctx context.Context, method string, r *mcp.ServerRequest[*taskParams]) (*rawResult, error) {
	modern, l := revisionOf(r) >= protocol.Revision20260728, s.linkOf(r.Session)
	others := []string{protocol.MethodUpdateTask}
	if modern {
		others = []string{protocol.MethodTaskResult, protocol.MethodListTasks}
	}
	switch {
	case slices.Contains(others, method) || revisionOf(r) < protocol.Revision20251125:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + method}
	case modern && !declaresTasks(r.ClientCapabilities()):
		return nil, errNoTasks
	case method == protocol.MethodListTasks:
		if err := l.hold(ctx); err != nil {
			return nil, err
		}
		return s.listTasks(r.Session), nil
	}
	s.mu.Lock()
	t := s.tasks[r.Params.Task]
	s.mu.Unlock()
	if t == nil || t.visit.rounds() != modern || !modern && t.visit.session != r.Session {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Task not found"}
	}
	done := json.RawMessage(`{"resultType":"complete"}`)
	switch method {
	case protocol.MethodUpdateTask:
		return &rawResult{json: done}, t.update(r.Params.Responses)
	case protocol.MethodCancelTask:
		if !t.change(conversation.TaskCancelled, "Cancelled by request.") && !modern {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Cannot cancel task: it has ended"}
		}
		t.visit.end()
		if modern {
			return &rawResult{json: done}, nil
		}
	case protocol.MethodTaskResult:
		return t.awaited(ctx)
	}
	if err := l.hold(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told := t.json()
	if modern {
		told = rawjson.WithMember(told, "resultType", `"complete"`)
	}
	return &rawResult{json: told}, nil
}

// awaited waits for the end of a task, and returns what its call would have returned.
func (t *task) awaited(ctx context.Context) (*rawResult, error) {
	for {
		t.visit.server.mu.Lock()
		over, result, failure, changed := t.status.Terminal(), t.result, t.failure, t.changed
		t.visit.server.mu.Unlock()
		switch {
		case over && failure != nil:
			return nil, failure
		case over && result == nil:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The task was cancelled."}
		case over:
			r := &rawResult{json: result}
			r.SetMeta(t.related())
			return r, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// related returns the metadata of the messages that belong to the task, up to 2025-11-25.
func (t *task) related() map[string]any {
	return map[string]any{protocol.RelatedTask: map[string]string{"taskId": t.id}}
}

func (s *Server) listTasks(of *mcp.ServerSession) *rawResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*task
	for _, t := range s.tasks {
		if !t.visit.rounds() && t.visit.session == of {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *task) int { return cmp.Or(a.created.Compare(b.created), strings.Compare(a.id, b.id)) })
	told := make([]json.RawMessage, len(list))
	for i, t := range list {
		told[i] = t.json()
	}
	return &rawResult{json: fmt.Appendf(nil, `{"tasks":%s}`, mustJSON(told))}
}

// listen serves a subscription to tasks over a link: it tells of their changes until the client takes the subscription
// back (since 2026-07-28). It tells of nothing else that the subscription asks for.
func (s *Server) listen(ctx context.Context, l *taskLink, r *mcp.SubscriptionsListenRequest) (mcp.Result, error) {
	if !declaresTasks(r.ClientCapabilities()) {
		return nil, errNoTasks
	}
	var of struct {
		ID    json.RawMessage `json:"id"`
		Tasks []string        `json:"tasks"`
	}
	if err := json.Unmarshal(mustJSON(r.Params.Meta[carriedTask]), &of); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "notifications.taskIds is no list of strings"}
	}
	meta := `{"` + mcp.MetaKeySubscriptionID + `":` + string(of.ID) + "}"
	ids, listened := []string{}, []*task(nil)
	s.mu.Lock()
	for _, id := range of.Tasks {
		if t := s.tasks[id]; t != nil && t.visit.rounds() {
			ids, listened = append(ids, id), append(listened, t)
		}
	}
	s.mu.Unlock()
	agreed := fmt.Appendf(nil, `{"_meta":%s,"notifications":{"taskIds":%s}}`, meta, mustJSON(ids))
	if err := l.notify(ctx, protocol.NotificationListening, agreed); err != nil {
		return nil, err
	}
	var telling sync.WaitGroup
	for _, t := range listened {
		telling.Go(func() { t.tell(ctx, l, meta) })
	}
	telling.Wait()
	<-ctx.Done()
	done := &rawResult{json: json.RawMessage(`{"resultType":"complete"}`)}
	done.SetMeta(mcp.Meta{mcp.MetaKeySubscriptionID: of.ID})
	return done, nil
}

// tell notifies a client of the changes of the task, until it has ended or the subscription has.
func (t *task) tell(ctx context.Context, l *taskLink, meta string) {
	s := t.visit.server
	for first := true; l.hold(ctx) == nil; first = false {
		s.mu.Lock()
		told, over, changed := t.json(), t.status.Terminal(), t.changed
		s.mu.Unlock()
		if !first || over {
			l.notify(ctx, protocol.NotificationTask, rawjson.WithMember(told, "_meta", meta)) // if the client is gone, ctx ends
		}
		if l.release(); over {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// report tells how far the story is: by the status message of its task, else by a progress notification.
func (v *visit) report(ctx context.Context, done, total int, message string) {
	if v.task != nil {
		v.task.change(conversation.TaskWorking, message)
		return
	}
	v.progress(ctx, done, total, message)
}
