package probe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// questionTaskProbes returns the probes of questions that are tasks of the client (specification
// 2025-11-25, Tasks).
func questionTaskProbes() []*Probe {
	return []*Probe{
		{Name: "task-question", Group: Tasks, Title: "A question that is a task", Do: "Enter any text, and accept.", Since: november, Until: november, Mode: elicit.ModeForm, run: func(r *run) finding {
			told, wrong := r.askLater()
			return or(wrong, r.fetchLater(told))
		}},
		{Name: "task-question-list", Group: Tasks, Title: "The client's list of tasks", Do: "Enter any text, and accept.", Since: november, Until: november, Mode: elicit.ModeForm, run: func(r *run) finding {
			if rawjson.Member(r.declared.Tasks, "list") == nil {
				return undeclared("The client does not declare tasks.list.")
			}
			told, wrong := r.askLater()
			if wrong.verdict != "" {
				return wrong
			}
			listed := false
			list := r.exchange(mcp.MethodListTasks, "{}")
			for _, task := range rawjson.Elements(rawjson.Member(list.result, "tasks")) {
				listed = listed || rawjson.Text(rawjson.Member(task, "taskId")) == told.ID
			}
			if !listed && rawjson.Text(rawjson.Member(list.result, "nextCursor")) == "" {
				wrong = fails("The result of tasks/list does not have the task " + wording.Quoted(told.ID) + ".")
			}
			unknown := r.exchange(mcp.MethodGetTask, `{"taskId":"of-nobody"}`)
			if unknown.err == nil || unknown.err.Code != mcp.CodeInvalidParams {
				wrong = or(wrong, fails("A request tasks/get for an unknown task is not refused with error -32602."))
			}
			return or(wrong, r.fetchLater(told))
		}},
		{Name: "task-question-cancelled", Group: Tasks, Title: "A question that is a task and is taken back", Do: "Do nothing: the question is taken back after a moment.", Since: november, Until: november, Mode: elicit.ModeForm, Apart: true, Looks: []string{"Did the dialog close by itself?"}, run: taskTakenBack},
		{Name: "task-undeclared", Group: Tasks, Title: "A question as a task that is not declared", Do: "Enter any text, and accept.", Since: november, Until: november, Mode: elicit.ModeForm, run: func(r *run) finding {
			if r.takesTasks() {
				return undeclared("The client declares that questions can be tasks.")
			}
			a := r.ask(rawjson.WithMember(r.form(r.probe.Do, text, "value"), "task", `{"ttl":600000}`))
			switch {
			case a.err != nil:
				return fails(fmt.Sprintf("It is answered with error %d: %s. A client that does not declare tasks ignores that one is wanted.", a.err.Code, wording.Quoted(a.err.Message)))
			case conversation.CreatedTask(a.result, r.Revision) != nil:
				return fails("It is answered with a task, though the client does not declare that.")
			}
			_, wrong := a.checked()
			return or(wrong, works("It is answered as an ordinary question."))
		}},
	}
}

// laterTask is a task of the client's, with the status that was last reported for it.
type laterTask struct {
	run    *run // nil while the response that makes the task is not read
	status conversation.TaskStatus
	wrong  finding // what was wrong before that; zero for nothing
}

// laterMost bounds the tasks of a client's own in one session.
const laterMost = 256

// laterOf returns a task of the client's by its id. The caller holds the mutex.
func (s *session) laterOf(id string) *laterTask {
	if s.later[id] == nil {
		if len(s.later) >= laterMost {
			clear(s.later)
		}
		s.later[id] = &laterTask{}
	}
	return s.later[id]
}

// toldOfTask handles notifications/tasks/status. A status other than the one that ended the
// task is a fault.
func (s *session) toldOfTask(f wire.Frame) {
	status := conversation.TaskStatus(rawjson.Text(rawjson.Member(f.Message.Params, "status")))
	s.mu.Lock()
	t := s.laterOf(rawjson.Text(rawjson.Member(f.Message.Params, "taskId")))
	before := t.status
	t.status = status
	var back finding
	if before.Terminal() && status != before {
		back = finding{verdict: Fails, how: "The task was " + string(before) + ", which ends it, and is " + wording.Quoted(string(status)) + " now.", cause: causeTaskTold, frames: []int64{f.Seq}}
	}
	r := t.run
	if r == nil {
		t.wrong = or(t.wrong, back)
	}
	s.mu.Unlock()
	if r != nil && back.verdict != "" {
		s.server.amend(r, back)
	}
}

// takesTasks reports whether the client declares that questions can be tasks of its own.
func (r *run) takesTasks() bool {
	return rawjson.Member(r.declared.Tasks, "requests", "elicitation", "create") != nil
}

// exchange sends a request, and waits for the response.
func (r *run) exchange(method, params string) answer {
	return r.await(r.send(r.Out, method, params))
}

// askLater asks a question with one text field, and wants the client to make it a task. It
// returns the task, and a finding if the client makes none, or one that does not begin as working.
func (r *run) askLater() (conversation.TaskState, finding) {
	if !r.takesTasks() {
		return conversation.TaskState{}, undeclared("The client does not declare that questions can be tasks, so none is asked as one.")
	}
	a := r.exchange(mcp.MethodElicit, rawjson.WithMember(r.form(r.probe.Do, text, "value"), "task", `{"ttl":600000}`))
	raw := conversation.CreatedTask(a.result, r.Revision)
	if a.result != nil && raw == nil {
		return conversation.TaskState{}, fails("The question is answered with no task, though the client declares that it can be one.").because(causeNoTask)
	}
	told, wrong := a.told(raw)
	r.session.mu.Lock()
	t := r.session.laterOf(told.ID)
	t.run, t.status = r, cmp.Or(t.status, told.Status)
	wrong = or(wrong, t.wrong)
	r.session.mu.Unlock()
	if wrong.verdict == "" && told.Status != conversation.TaskWorking {
		wrong = fails("The task begins as " + string(told.Status) + ", and has to begin as working.").because(causeTaskTold)
	}
	return told, wrong
}

// told reads the task object in an answer about a task.
func (a answer) told(raw json.RawMessage) (conversation.TaskState, finding) {
	if a.result == nil {
		_, wrong := a.action()
		return conversation.TaskState{}, wrong
	}
	told, err := conversation.ReadTask(raw)
	if err != nil {
		return told, fails(wording.Sentence(err.Error())).because(causeTaskTold)
	}
	for _, name := range []string{"createdAt", "lastUpdatedAt", "ttl"} {
		if rawjson.Member(raw, name) == nil {
			return told, fails("The task has no " + name + ".").because(causeTaskTold)
		}
	}
	return told, finding{}
}

// tell sends a request about a task of the client's, and reads the task in the response.
func (r *run) tell(method, about string) (conversation.TaskState, finding) {
	a := r.exchange(method, about)
	if a.err != nil {
		return conversation.TaskState{}, fails(fmt.Sprintf("%s for a task that the client has made is answered with error %d: %s.", method, a.err.Code, wording.Quoted(a.err.Message))).because(causeTaskTold)
	}
	return a.told(a.result)
}

// fetchLater polls a task of the client's until it no longer works, fetches its result, and
// judges the answer in it and the status of the task.
func (r *run) fetchLater(told conversation.TaskState) finding {
	if told.ID == "" {
		return finding{}
	}
	about, wrong := `{"taskId":`+string(rawjson.Quoted(told.ID))+`}`, finding{}
	for since := time.Now(); told.Status == conversation.TaskWorking && time.Since(since) < r.session.server.options.Patience; {
		select {
		case <-time.After(told.PollPause()):
		case <-r.ctx.Done():
			return r.gaveUp(since)
		}
		id := told.ID
		if told, wrong = r.tell(mcp.MethodGetTask, about); wrong.verdict != "" {
			return wrong
		}
		if told.ID != id {
			return fails("The answer to tasks/get is about the task " + wording.Quoted(told.ID) + ".").because(causeTaskTold)
		}
	}
	a := r.exchange(mcp.MethodTaskResult, about)
	a.params = json.RawMessage(r.form(r.probe.Do, text, "value"))
	if _, wrong = a.checked(); wrong.verdict != "" {
		return wrong
	}
	if conversation.RelatedTaskID(a.result) != told.ID {
		return fails("The result of tasks/result does not name its task in _meta, under " + mcp.RelatedTask + ".").because(causeTaskTold)
	}
	if told, wrong = r.tell(mcp.MethodGetTask, about); wrong.verdict == "" && told.Status != conversation.TaskCompleted {
		wrong = fails("The task is " + string(told.Status) + " after it was answered, and has to be completed.").because(causeTaskTold)
	}
	return or(wrong, works(""))
}

// taskTakenBack asks a question as a task, and cancels it twice.
func taskTakenBack(r *run) finding {
	if rawjson.Member(r.declared.Tasks, "cancel") == nil {
		return undeclared("The client does not declare tasks.cancel.")
	}
	told, wrong := r.askLater()
	if wrong.verdict != "" {
		return wrong
	}
	if !r.rest() {
		return r.gaveUp(r.began)
	}
	about := `{"taskId":` + string(rawjson.Quoted(told.ID)) + `}`
	if told, wrong = r.tell(mcp.MethodGetTask, about); wrong.verdict != "" {
		return wrong
	}
	if told.Status.Terminal() {
		return notSeen("It was answered before it was taken back.")
	}
	if told, wrong = r.tell(mcp.MethodCancelTask, about); wrong.verdict != "" {
		return wrong
	}
	if told.Status != conversation.TaskCancelled {
		return fails("The task is " + string(told.Status) + " after tasks/cancel, and has to be cancelled.")
	}
	if again := r.exchange(mcp.MethodCancelTask, about); again.err == nil || again.err.Code != mcp.CodeInvalidParams {
		return fails("A second tasks/cancel is not refused with error -32602.")
	}
	return works("")
}
