package lint

import (
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// taskRules judge servers by the tasks of 2025-11-25, and by the extension tasks of
// 2026-07-28.
var taskRules = []Rule{
	{"task-malformed", "a task without id, status, times or ttl, or with what they cannot be", Sources{november: must(schemaPage, "Task"), july: inExtension(Violation, "Tasks")}},
	{"task-id-again", "a task under the id of an earlier one", Sources{november: must(taskPage, "Task ID Requirements"), july: inExtension(Violation, "Tasks")}},
	{"task-begins-otherwise", "a task that does not begin as working, in 2025-11-25", Sources{november: must(taskPage, "Task Status Lifecycle")}},
	{"task-goes-back", "a task that has another status after it had ended", Sources{november: must(taskPage, "Task Status Lifecycle"), july: inExtension(Advice, "Task Status")}},
	{"task-other", "an answer about another task than the one that was asked about", Sources{november: must(taskPage, "Associating Task-Related Messages"), july: inExtension(Violation, "Task Polling")}},
	{"task-unasked", "a task for a request that does not allow one", Sources{november: must(taskPage, "Creating Tasks"), july: inExtension(Violation, "Capability Negotiation")}},
	{"task-undeclared", "a task of a server that has not declared tasks", Sources{november: must(taskPage, "Task Support and Handling"), july: inExtension(Violation, "Capability Negotiation")}},
	{"task-not-made", "an ordinary result for a call as a task, of a server that has declared them", Sources{november: must(taskPage, "Result Retrieval")}},
	{"task-not-cancelled", "the task in the result of tasks/cancel with another status than cancelled", Sources{november: must(taskPage, "Task Cancellation")}},
	{"task-payload-missing", "a task that has ended without its result or error, or that waits without inputRequests, since 2026-07-28", SinceJuly(inExtension(Violation, "Task Status"))},
	{"task-key-again", "a key of inputRequests that stood for another request of the same task", SinceJuly(inExtension(Violation, "Task Update Requests"))},
	{"task-capability-refused", "error -32021 for want of tasks, though the request declares them", SinceJuly(inExtension(Violation, "Capability Negotiation"))},
	{"related-task-missing", "the result of tasks/result without the related-task metadata of its task", Sources{november: must(taskPage, "Associating Task-Related Messages")}},
	{"related-task-unknown", "a question of a task that there is not", Sources{november: must(taskPage, "Associating Task-Related Messages")}},
	{"question-task-undeclared", "a question as a task to a client that has not declared them", Sources{november: should(taskPage, "Capability Negotiation")}},
}

// clientTaskRules judge clients likewise.
var clientTaskRules = []Rule{
	{"client-task-malformed", "a task of the client's without id, status, times or ttl, or with what they cannot be", Sources{november: must(schemaPage, "Task")}},
	{"client-task-id-again", "a task of the client's under the id of an earlier one", Sources{november: must(taskPage, "Task ID Requirements")}},
	{"client-task-begins-otherwise", "a task of the client's that does not begin as working", Sources{november: must(taskPage, "Task Status Lifecycle")}},
	{"client-task-goes-back", "a task of the client's that has another status after it had ended", Sources{november: must(taskPage, "Task Status Lifecycle")}},
	{"client-task-unasked", "a task for a question that was not asked as one", Sources{november: must(taskPage, "Creating Tasks")}},
	{"client-related-task-missing", "the client's result of tasks/result without the related-task metadata of its task", Sources{november: must(taskPage, "Associating Task-Related Messages")}},
	{"task-call-undeclared", "a call as a task to a server that has not declared them", Sources{november: must(taskPage, "Tool-Level Negotiation")}},
	{"task-input-unknown", "tasks/update with an input that the task has not asked for", SinceJuly(inExtension(Violation, "Task Update Requests"))},
	{"task-input-again", "a second answer to the same input of a task", SinceJuly(inExtension(Should, "Task Update Requests"))},
}

// task is the state of a task, of the server or of the client, as far as the log shows it.
type task struct {
	status   conversation.TaskStatus // "" before it was told
	updated  time.Time               // lastUpdatedAt with the status
	made     bool                    // the response that creates it was seen
	keys     map[string]sum          // its input requests, by key
	answered map[string]bool         // the keys that tasks/update has answered
	question *asked                  // the question that is this task of the client's, until it is answered
}

// taskKey identifies a task by the side that has it and its id.
type taskKey struct {
	ofClient bool
	id       string
}

// taskOf returns the task with an id, and begins to keep it if it is new. It returns nil without an
// id, or if too many are kept.
func (s *session) taskOf(ofClient bool, id string) *task {
	key := taskKey{ofClient, id}
	if s.tasks[key] == nil && id != "" && len(s.tasks) < most {
		s.tasks[key] = &task{keys: make(map[string]sum), answered: make(map[string]bool)}
	}
	return s.tasks[key]
}

// judgeTask judges the task object at a pointer in the frame. made says that the frame creates the
// task. It returns nil if the task cannot be identified.
func (s *session) judgeTask(raw json.RawMessage, at string, ofClient, made bool) *task {
	side, ttl, poll := "", "ttl", "pollInterval"
	if ofClient {
		side = "client-"
	}
	if rulesOf(s.revision) == july {
		ttl, poll = "ttlMs", "pollIntervalMs"
	}
	wrong := func(name, format string, args ...any) {
		place := at
		if rawjson.Member(raw, name) != nil {
			place += "/" + name
		}
		s.broken(0, side+"task-malformed", place, format, args...)
	}
	if !isObject(raw) {
		wrong("", "The task is %s, not an object.", wording.WithArticle(rawjson.KindOf(raw)))
		return nil
	}
	id, status := rawjson.Text(rawjson.Member(raw, "taskId")), conversation.TaskStatus(rawjson.Text(rawjson.Member(raw, "status")))
	for _, name := range []string{"taskId", "status", "createdAt", "lastUpdatedAt"} {
		switch kind := rawjson.KindOf(rawjson.Member(raw, name)); {
		case kind == rawjson.None:
			wrong(name, "The task has no %s.", name)
		case kind != rawjson.String:
			wrong(name, "The %s of the task is %s, not a string.", name, wording.WithArticle(kind))
		case name == "status" && !status.Known():
			wrong(name, "There is no task status %s.", wording.Quoted(wording.Shorten(string(status), 60)))
		}
	}
	for _, name := range []string{ttl, poll} {
		value := rawjson.Member(raw, name)
		switch kind := rawjson.KindOf(value); {
		case kind == rawjson.None && name == ttl:
			wrong(name, "The task has no %s, which is null where the task is kept without limit.", name)
		case kind == rawjson.None, kind == rawjson.Null && name == ttl, kind == rawjson.Number && value[0] != '-':
		default:
			wrong(name, "The %s %s of the task is not a number of milliseconds, 0 or more.", name, wording.Shorten(string(value), 60))
		}
	}
	t := s.taskOf(ofClient, id)
	if t == nil || !status.Known() {
		return t
	}
	now, _ := conversation.ReadTask(raw) // what is wrong with it is found above
	first := made && !t.made             // notifications may come before the response that creates the task
	t.made = t.made || made
	switch {
	case made && !first:
		s.broken(0, side+"task-id-again", at+"/taskId", "The id %s is that of an earlier task; each task has an id of its own.", wording.Quoted(wording.Shorten(id, 60)))
	case made && status != conversation.TaskWorking && rawjson.Text(rawjson.Member(raw, "lastUpdatedAt")) == rawjson.Text(rawjson.Member(raw, "createdAt")): // else it was updated before its response left
		s.broken(0, side+"task-begins-otherwise", at+"/status", "The task begins as %s; a task begins as working.", status)
	case first && t.status != "":
		return t
	case t.status.Terminal() && status != t.status && now.Overtaken(t.updated, s.frame.Stream):
		return t
	case t.status.Terminal() && status != t.status:
		s.broken(0, side+"task-goes-back", at+"/status", "The task was %s, which ends it, and is %s now.", t.status, status)
		return t
	}
	t.status, t.updated = status, now.Updated
	return t
}

// judgeWholeTask judges a task with what it has at its status, as tasks/get and
// notifications tell it.
func (s *session) judgeWholeTask(raw json.RawMessage, at string) {
	t := s.judgeTask(raw, at, false, false)
	if rulesOf(s.revision) != july || !isObject(raw) {
		return
	}
	status := conversation.TaskStatus(rawjson.Text(rawjson.Member(raw, "status")))
	needed := map[conversation.TaskStatus]string{
		conversation.TaskCompleted: "result", conversation.TaskFailed: "error", conversation.TaskInputRequired: "inputRequests",
	}[status]
	if needed != "" && rawjson.KindOf(rawjson.Member(raw, needed)) != rawjson.Object {
		s.broken(0, "task-payload-missing", at, "The task is %s, and has no object %s.", status, needed)
	}
	if t == nil {
		return
	}
	for key, request := range rawjson.Members(rawjson.Member(raw, "inputRequests")) {
		now, known := sumOf(request), t.keys[key]
		switch {
		case known == (sum{}) && len(t.keys) < most:
			t.keys[key] = now
		case known != (sum{}) && known != now:
			s.broken(0, "task-key-again", rawjson.PointerTo(at+"/inputRequests", key), "The key %s stood for another request of this task; a key stands for one request as long as the task lives.", wording.Quoted(wording.Shorten(key, 60)))
		}
	}
}

// judgeTaskResult judges what the response to a request r of the client's says of tasks.
func (s *session) judgeTaskResult(f *wire.Frame, r *request) {
	modern := rulesOf(r.revision) == july
	offered := rawjson.Member(s.offered, "tasks", "requests", "tools", "call") != nil
	if modern {
		offered = rawjson.Member(s.offered, "extensions", mcp.TasksExtension) != nil
	}
	declares := rawjson.Member(r.declared, "extensions", mcp.TasksExtension) != nil
	if f.Kind == wire.Error {
		const lacks = "/error/data/requiredCapabilities"
		if modern && s.greeted && declares && rawjson.Member(rawjson.At(f.Raw, lacks), "extensions", mcp.TasksExtension) != nil {
			s.broken(0, "task-capability-refused", lacks, "The request declares the extension %s, and the server says that this is missing.", mcp.TasksExtension)
		}
		return
	}
	result := f.Message.Result
	created := conversation.CreatedTask(result, r.revision)
	switch {
	case f.Method == mcp.MethodCallTool && created != nil:
		at := "/result/task"
		if modern {
			at = "/result"
		}
		s.judgeTask(created, at, false, true)
		switch {
		case !modern && r.seq > 0 && !r.asTask:
			s.broken(0, "task-unasked", at, "The call did not ask for a task, so its result has to be that of the tool.")
		case modern && s.greeted && !declares:
			s.broken(0, "task-unasked", at, "The call does not declare the extension %s, so the server must not answer it with a task.", mcp.TasksExtension)
		case s.offered != nil && !offered:
			s.broken(0, "task-undeclared", at, "The server has not declared that calls can be tasks.")
		}
	case f.Method == mcp.MethodCallTool && r.asTask && offered && !modern && string(rawjson.Member(result, "isError")) != "true":
		s.broken(0, "task-not-made", "/result", "The call was to be a task, and the server has declared that it can be; the result is that of the tool.")
	case f.Method == mcp.MethodGetTask, f.Method == mcp.MethodCancelTask && !modern:
		s.judgeWholeTask(result, "/result")
		id, status := rawjson.Text(rawjson.Member(result, "taskId")), rawjson.Text(rawjson.Member(result, "status"))
		if id != "" && r.task != "" && id != r.task {
			s.broken(0, "task-other", "/result/taskId", "The request was about the task %s, and the answer is about %s.", wording.Quoted(wording.Shorten(r.task, 60)), wording.Quoted(wording.Shorten(id, 60)))
		}
		if f.Method == mcp.MethodCancelTask && status != "" && status != string(conversation.TaskCancelled) {
			s.broken(0, "task-not-cancelled", "/result/status", "The task is %s in answer to tasks/cancel; it has to be cancelled before the answer, or the request has to fail.", wording.Shorten(status, 60))
		}
	case f.Method == mcp.MethodTaskResult && r.task != "" && isObject(result) && conversation.RelatedTaskID(result) != r.task:
		s.broken(0, "related-task-missing", "/result", "The result does not name its task, in _meta under %s.", mcp.RelatedTask)
	}
}

// judgeTaskQuestion judges what a question of the server's says of tasks.
func (s *session) judgeTaskQuestion(params json.RawMessage) {
	if s.greeted && conversation.IsAskedAsTask(params) && rawjson.Member(s.declared, "tasks", "requests", "elicitation", "create") == nil {
		s.broken(1, "question-task-undeclared", "/params/task", "The client has not declared that questions can be tasks, so the server should not ask one as a task.")
	}
	if id := conversation.RelatedTaskID(params); id != "" && s.greeted && s.tasks[taskKey{false, id}] == nil && len(s.tasks) < most &&
		!s.runs(func(r *request) bool { return r.asTask }) { // before the response that creates a task, a question of it may come
		s.broken(1, "related-task-unknown", "/params/_meta", "There is no task %s in this session that the question could be of.", wording.Quoted(wording.Shorten(id, 60)))
	}
}

// runs reports whether the client waits for the response to such a request.
func (s *session) runs(is func(*request) bool) bool {
	for _, r := range s.requests {
		if is(r) {
			return true
		}
	}
	return false
}

// judgeTaskRequest judges a request of the client's that asks for a task, or is about one.
func (s *session) judgeTaskRequest(f *wire.Frame) {
	params := f.Message.Params
	if f.Method == mcp.MethodCallTool && s.offered != nil && conversation.IsAskedAsTask(params) && rawjson.Member(s.offered, "tasks", "requests", "tools", "call") == nil {
		s.broken(0, "task-call-undeclared", "/params/task", "The server has not declared that calls can be tasks, so a client must not call a tool as one.")
	}
	t := s.tasks[taskKey{false, rawjson.Text(rawjson.Member(params, "taskId"))}]
	if f.Method != mcp.MethodUpdateTask || t == nil || t.status == "" {
		return
	}
	for key := range rawjson.Members(rawjson.Member(params, "inputResponses")) {
		at, named := rawjson.PointerTo("/params/inputResponses", key), wording.Quoted(wording.Shorten(key, 60))
		switch {
		case t.keys[key] == (sum{}):
			if s.greeted && len(t.keys) < most {
				s.broken(0, "task-input-unknown", at, "The task has not asked for an input with the key %s.", named)
			}
		case t.answered[key]:
			s.broken(0, "task-input-again", at, "The input with the key %s was answered before; a client should answer it once.", named)
		}
		if len(t.answered) < most {
			t.answered[key] = true
		}
	}
}

// judgeTaskReply judges a result of the client's that is about a task of its own, and
// reports whether it is. The answer to a question that is a task is judged when the server
// fetches it.
func (s *session) judgeTaskReply(f *wire.Frame, answers *asked) bool {
	result := f.Message.Result
	switch {
	case mcp.IsInput(answers.method) && rawjson.Member(result, "task") != nil && rawjson.Member(result, "action") == nil:
		t := s.judgeTask(rawjson.Member(result, "task"), "/result/task", true, true)
		if !answers.asTask {
			s.broken(1, "client-task-unasked", "/result/task", "The question was not asked as a task, so the client has to answer it itself.")
		}
		if t != nil && t.question == nil {
			question := *answers
			t.question = &question
			answers.params = nil // they stay with the task
		}
	case answers.method == mcp.MethodGetTask, answers.method == mcp.MethodCancelTask:
		s.judgeTask(result, "/result", true, false)
	case answers.method == mcp.MethodTaskResult:
		if isObject(result) && conversation.RelatedTaskID(result) != answers.task {
			s.broken(0, "client-related-task-missing", "/result", "The result does not name its task, in _meta under %s.", mcp.RelatedTask)
		}
		if t := s.tasks[taskKey{true, answers.task}]; t != nil && t.question != nil {
			s.judgeAnswer(t.question, result, "/result", 1)
			s.answered(t.question, result)
			s.client.dropParams(t.question)
			t.question = nil
		}
	default:
		return false
	}
	return true
}

// allRules are the rules about servers and those about clients, each with those about tasks
// at the end.
var allRules = slices.Concat(rules, taskRules, clientRules, clientTaskRules)
