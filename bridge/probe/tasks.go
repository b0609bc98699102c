package probe

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// task is a task that a call of the client became. The session's mutex guards it.
type task struct {
	mcp.Task
	run       *run
	result    string   // of the call, once the task has completed
	keys      []string // of the inputRequests that are open, with their params (2026-07-28)
	params    []string
	answers   map[string]wire.Frame // by key, tasks/update; the zero value until it comes
	waiting   []retry               // requests tasks/result that wait for the end (2025-11-25)
	polls     []time.Time           // of tasks/get
	frames    []int64               // of requests about it
	faults    []finding
	fetched   bool // the client has the result
	cancelled bool // by tasks/cancel
	changed   chan struct{}
}

// Bounds on tasks of one session.
const (
	tasksMost  = 256
	stormLeast = 10 // requests tasks/get within one pollInterval that are too many
	taskTTL    = time.Hour
)

// callTaskProbes returns the probes of calls that are tasks of the server.
func callTaskProbes() []*Probe {
	return []*Probe{
		{Name: "task-call", Group: Tasks, Title: "A call that is a task, and asks", Do: "Call this tool as a task. Enter any text, and accept.", Since: november, Mode: elicit.ModeForm, Apart: true, asTask: true, run: inTask(func(t *task) finding {
			_, wrong := t.ask([]string{"question"}, t.run.form("Enter any text, and accept.", text, "value"))[0].checked()
			return or(wrong, works(""))
		})},
		{Name: "task-poll", Group: Tasks, Title: "How often the client asks about a task", Do: "Call this tool as a task. Nothing is asked: the client asks for the status now and then.", Since: november, Apart: true, asTask: true, run: inTask(taskPoll)},
		{Name: "task-cancel", Group: Tasks, Title: "A task that is cancelled", Do: "Call this tool as a task, and stop the call. It goes on until then.", Since: november, Apart: true, asTask: true, run: inTask(func(t *task) finding {
			switch wrong := t.until(func() bool { return t.cancelled }); {
			case wrong.verdict == "":
				return works("It was cancelled by tasks/cancel.")
			case context.Cause(t.run.ctx) == errCancelled:
				return fails("It was cancelled by notifications/cancelled, and a task must be by tasks/cancel.")
			}
			return notSeen("Nobody stopped the call.")
		})},
		{Name: "task-keys", Group: Tasks, Title: "Keys of a task's questions", Do: "Call this tool as a task. Choose the only value of each question, and accept.", Since: july, Mode: elicit.ModeForm, Apart: true, asTask: true, run: inTask(func(t *task) finding {
			form := func(n int) string {
				return t.run.form(fmt.Sprintf("Question %d of three. Choose the only value, and accept.", n), only(fmt.Sprint("answer ", n)), "value")
			}
			var wrong finding
			for _, a := range append(t.ask([]string{"a b", "größe/0"}, form(1), form(2)), t.ask([]string{"__proto__"}, form(3))...) {
				_, one := a.checked()
				wrong = or(wrong, one)
			}
			return or(wrong, works(""))
		})},
	}
}

// inTask returns the function of a probe that makes the call a task, runs in it, and ends it.
func inTask(does func(t *task) finding) func(*run) finding {
	return func(r *run) finding {
		t, wrong := r.becomeTask()
		if t == nil {
			return wrong
		}
		return t.end(does(t))
	}
}

// becomeTask answers the call with a task; nil if the call cannot be one.
func (r *run) becomeTask() (*task, finding) {
	modern, s := hasRounds(r.revision), r.session
	if modern && rawjson.Member(r.declared.Extensions, mcp.TasksExtension) == nil {
		return nil, notSeen("The client does not declare the extension " + mcp.TasksExtension + ", so its calls are no tasks.")
	}
	r.saw(r.request.Seq)
	if !modern && !conversation.IsAskedAsTask(r.params) {
		r.over = true
		r.saw(r.fail(mcp.CodeMethodNotFound, r.probe.Name+" must be called as a task", ""))
		return nil, notSeen("It was called, and not as a task: no frame shows that the client has tasks.")
	}
	now := time.Now()
	t := &task{run: r, answers: map[string]wire.Frame{}, changed: make(chan struct{}, 1)}
	t.Task = mcp.Task{
		ID: rand.Text(), Status: string(conversation.TaskWorking), Created: now, Updated: now, TTL: taskTTL, Poll: max(s.server.options.Pause/3, time.Millisecond),
	}
	s.mu.Lock()
	if len(s.tasks) >= tasksMost { // the eldest that have ended go first
		for _, old := range s.tasksByAge()[:tasksMost/2] {
			if old.over() {
				delete(s.tasks, old.ID)
			}
		}
	}
	s.tasks[t.ID] = t
	s.mu.Unlock()
	r.over = true
	if modern {
		r.saw(r.reply(rawjson.WithMember(string(t.JSON(r.revision)), "resultType", `"task"`)))
	} else {
		r.saw(r.reply(`{"task":` + string(t.JSON(r.revision)) + `}`))
	}
	return t, finding{}
}

// tasksByAge returns the tasks of the session, eldest first. The caller has the mutex.
func (s *session) tasksByAge() []*task {
	return slices.SortedFunc(maps.Values(s.tasks), func(a, b *task) int { return a.Created.Compare(b.Created) })
}

// over reports whether the task has ended. The caller has the mutex.
func (t *task) over() bool { return conversation.TaskStatus(t.Status).Terminal() }

// change changes the task under the mutex, and wakes its run.
func (t *task) change(change func()) {
	t.run.session.mu.Lock()
	change()
	t.Updated = time.Now()
	t.run.session.mu.Unlock()
	t.wake()
}

func (t *task) wake() {
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// until waits until holds, which is called with the mutex held, returns true. If the client
// gives up or stays silent first, the finding says so; else it is the zero value.
func (t *task) until(holds func() bool) finding {
	s, since := t.run.session, time.Now()
	patience := time.NewTimer(s.server.options.Patience)
	defer patience.Stop()
	for last := (finding{}); ; {
		s.mu.Lock()
		done, asked := holds(), len(t.frames) > 0
		s.mu.Unlock()
		switch {
		case done:
			return finding{}
		case last.verdict != "" && !asked:
			return fails("The client asked nothing about the task. " + last.how).because(causeTaskLeft)
		case last.verdict != "":
			return last
		}
		select {
		case <-t.changed:
		case <-t.run.ctx.Done():
			last = t.run.gaveUp(since)
		case <-patience.C:
			last = fails("Nothing came in " + wording.Duration(s.server.options.Patience) + ".").because(causeSilent)
		}
	}
}

// ask asks one question for each of params, and waits for the answers. In 2026-07-28 the
// questions are inputRequests of the task under these keys; before, keys are not used.
func (t *task) ask(keys []string, params ...string) []answer {
	r, list := t.run, make([]answer, len(params))
	if !hasRounds(r.revision) {
		t.change(func() { t.become(conversation.TaskInputRequired) })
		related := `{"` + mcp.RelatedTask + `":{"taskId":"` + t.ID + `"}}`
		for i, p := range params {
			if out, missing := t.stream(); missing.verdict != "" {
				list[i].missing = missing
			} else {
				q := r.session.request(r, out, mcp.MethodElicit, json.RawMessage(rawjson.WithMember(p, "_meta", related)))
				r.saw(q.seq)
				list[i] = r.await(q)
				r.saw(list[i].answered)
			}
		}
		t.change(func() { t.become(conversation.TaskWorking) })
		return list
	}
	at := time.Now()
	t.change(func() {
		t.keys, t.params = slices.Clone(keys), slices.Clone(params)
		t.waitForInput()
		for _, key := range keys {
			t.answers[key] = wire.Frame{}
		}
	})
	missing := t.until(func() bool { return len(t.keys) == 0 })
	t.change(func() {
		for i, key := range keys {
			f := t.answers[key]
			list[i] = answer{answered: f.Seq, params: json.RawMessage(params[i]), took: f.Time.Sub(at)}
			if list[i].result = rawjson.Member(f.Message.Params, "inputResponses", key); list[i].result == nil {
				list[i].missing, list[i].took = missing, time.Since(at)
			}
		}
	})
	return list
}

// waitForInput makes the task input_required if it has open questions, else working. The
// caller has the mutex.
func (t *task) waitForInput() {
	if t.Inputs = nil; len(t.keys) == 0 {
		t.become(conversation.TaskWorking)
	} else if t.become(conversation.TaskInputRequired) {
		t.Inputs = inputRequests(t.keys, t.params)
	}
}

// become gives the task a status unless it has ended, and reports whether it has that status
// now. The caller has the mutex.
func (t *task) become(status conversation.TaskStatus) bool {
	if !t.over() {
		t.Status = string(status)
	}
	return t.Status == string(status)
}

// stream returns the stream on which a question of the task is sent: the one for messages
// outside of calls, or, if there is none, that of a request tasks/result, for which it waits
// (specification 2025-11-25, Tasks, Input Required Status).
func (t *task) stream() (out stream, missing finding) {
	if out = t.run.session.outside(); out == nil {
		missing = t.until(func() bool {
			if n := len(t.waiting); n > 0 {
				out = t.waiting[n-1].out
			}
			return out != nil
		})
		if missing.verdict != "" && missing.cause != causeTaskLeft {
			missing = fails("The task waited for input, and the client sent no tasks/result, on whose stream a question would have come.").because(causeTaskLeft)
		}
	}
	return out, missing
}

// end completes the task unless it was cancelled. If f is Works, it also waits until the client
// has fetched the result. It returns f, or what is wrong with the fetching.
func (t *task) end(f finding) finding {
	r, cancelled := t.run, false
	t.change(func() {
		if cancelled = t.cancelled; !cancelled {
			t.Status, t.Inputs, t.result = string(conversation.TaskCompleted), nil, `{"content":[{"type":"text","text":"The task has ended."}]}`
			if hasRounds(r.revision) {
				t.Result = json.RawMessage(rawjson.WithMember(t.result, "resultType", `"complete"`))
			}
		}
	})
	t.answerWaiting()
	if f.verdict == Works && !cancelled && context.Cause(r.ctx) != errCancelled {
		if left := t.until(func() bool { return t.fetched }); left.cause == causeTaskLeft {
			f = left
		} else if left.verdict != "" {
			f = partly("The client did not fetch the result of the task.").because(causeTaskLeft)
		}
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.frames = append(r.frames, t.frames...)
	r.faults = append(r.faults, t.faults...)
	return f
}

// answerWaiting answers the requests tasks/result of a task that has ended.
func (t *task) answerWaiting() {
	s := t.run.session
	s.mu.Lock()
	list := t.waiting
	t.waiting, t.fetched = nil, t.fetched || len(list) > 0
	s.mu.Unlock()
	for _, one := range list {
		t.reply(one)
	}
}

// reply answers a request tasks/result of a task that has ended.
func (t *task) reply(one retry) {
	c := &call{session: t.run.session, request: one.request, out: one.out}
	if t.cancelled {
		c.fail(mcp.CodeInternalError, "The task was cancelled.", "")
		return
	}
	c.reply(rawjson.WithMember(t.result, "_meta", `{"`+mcp.RelatedTask+`":{"taskId":"`+t.ID+`"}}`))
}

// aboutTask answers a request of the client about a task.
func (s *session) aboutTask(f wire.Frame, out stream, revision string) {
	m, modern, one := f.Message, hasRounds(revision), retry{f, out}
	c := &call{session: s, request: f, out: out}
	if revision < november || modern && (m.Method == mcp.MethodTaskResult || m.Method == mcp.MethodListTasks) || !modern && m.Method == mcp.MethodUpdateTask {
		c.fail(mcp.CodeMethodNotFound, "Method not found", "")
		return
	}
	id := rawjson.Text(rawjson.Member(m.Params, "taskId"))
	s.mu.Lock()
	if m.Method == mcp.MethodListTasks {
		list := []string{}
		for _, t := range s.tasksByAge() {
			list = append(list, string(t.JSON(revision)))
		}
		s.mu.Unlock()
		c.reply(`{"tasks":[` + strings.Join(list, ",") + `]}`)
		return
	}
	t := s.tasks[id]
	if t == nil {
		s.mu.Unlock()
		c.fail(mcp.CodeInvalidParams, "Task not found", "")
		return
	}
	if len(t.frames) < framesMost {
		t.frames = append(t.frames, f.Seq)
	}
	fault := func(why cause, v Verdict, how string) {
		if len(t.faults) < framesMost {
			t.faults = append(t.faults, finding{verdict: v, how: how, cause: why, frames: []int64{f.Seq}})
		}
	}
	if modern && s.transport == "http" && f.Header.Get("Mcp-Name") != id {
		fault(causeTaskHeader, Fails, "A request "+m.Method+" does not have the id of its task in the header Mcp-Name.")
	}
	was, reply := t.over(), ""
	switch m.Method {
	case mcp.MethodGetTask:
		if t.polls = append(t.polls[max(0, len(t.polls)-framesMost):], f.Time); len(t.polls) >= stormLeast {
			if took := f.Time.Sub(t.polls[len(t.polls)-stormLeast]); took < t.Poll {
				fault(causeTaskStorm, Partly, fmt.Sprintf("The client asked %d times in %s, and the task says every %s.", stormLeast, wording.Duration(took), wording.Duration(t.Poll)))
			}
		}
		t.fetched = t.fetched || modern && was
		reply = string(t.JSON(revision))
	case mcp.MethodTaskResult:
		if t.fetched = t.fetched || was; !was {
			t.waiting = append(t.waiting, one)
		}
	case mcp.MethodCancelTask:
		if !was {
			t.Status, t.cancelled, t.Updated = string(conversation.TaskCancelled), true, f.Time
		}
		if reply = "{}"; !modern {
			reply = string(t.JSON(revision))
		}
	case mcp.MethodUpdateTask:
		reply = "{}"
		for key := range rawjson.Members(rawjson.Member(m.Params, "inputResponses")) {
			switch before, asked := t.answers[key]; {
			case !asked:
				fault(causeTaskKeys, Fails, "tasks/update has an answer under the key "+wording.Quoted(key)+", for which the task has not asked.")
			case before.Seq != 0:
				fault(causeTaskKeys, Partly, "The question with the key "+wording.Quoted(key)+" was answered twice.")
			default:
				t.answers[key] = f
				i := slices.Index(t.keys, key)
				t.keys, t.params = slices.Delete(t.keys, i, i+1), slices.Delete(t.params, i, i+1)
			}
		}
		t.waitForInput()
	}
	s.mu.Unlock()
	switch {
	case m.Method == mcp.MethodTaskResult && was:
		t.reply(one)
	case m.Method == mcp.MethodCancelTask && was && !modern:
		c.fail(mcp.CodeInvalidParams, "The task has ended", "")
	case modern:
		c.reply(rawjson.WithMember(reply, "resultType", `"complete"`))
	case reply != "":
		c.reply(reply)
	}
	if m.Method == mcp.MethodCancelTask && !was {
		t.answerWaiting()
	}
	t.wake()
}

// taskPoll lets the client ask about a task four times.
func taskPoll(t *task) finding {
	const wanted = 4
	var polls []time.Time
	waits := false
	enough := time.AfterFunc(2*wanted*t.Poll, t.wake)
	defer enough.Stop()
	wrong := t.until(func() bool {
		waits = len(t.waiting) > 0 && time.Since(t.Created) >= 2*wanted*t.Poll
		polls = slices.Clone(t.polls)
		return len(polls) >= wanted || waits
	})
	switch {
	case wrong.verdict != "":
		return wrong
	case waits:
		return notSeen("The client waits for the result with tasks/result, and does not ask for the status.")
	}
	each := polls[wanted-1].Sub(polls[0]) / (wanted - 1)
	if each < t.Poll/2 {
		return partly(fmt.Sprintf("The client asked every %s, and the task says every %s.", wording.Duration(each), wording.Duration(t.Poll)))
	}
	return works("The client asked every " + wording.Duration(each) + ".")
}
