package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/server"
)

// task is a task that a call of the client became. What is seen of it is read and changed in Look.
type task struct {
	*server.Task
	run     *run
	polls   []time.Time // of tasks/get
	frames  []int64     // of requests about it
	faults  []finding
	fetched bool // the client has the result, or waits for it
}

const (
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
			switch wrong := t.until(t.cancelled); {
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
	if r.Rounds() && !r.DeclaresTasks() {
		return nil, undeclared("The client does not declare the extension " + mcp.TasksExtension + ", so its calls are no tasks.")
	}
	r.saw(r.Frame.Seq)
	r.over = true
	if !r.Rounds() && !conversation.IsAskedAsTask(r.params) {
		r.saw(r.Fail(mcp.CodeMethodNotFound, r.probe.Name+" must be called as a task", ""))
		return nil, notSeen("It was called, and not as a task: no frame shows that the client has tasks.")
	}
	t := &task{run: r}
	t.Task = &server.Task{Call: r.Request, Seen: t.seen, Cancel: func() {}, Task: mcp.Task{Created: time.Now(), TTL: taskTTL, Poll: max(r.session.server.options.Pause/3, time.Millisecond)}}
	r.saw(r.session.server.tasks.Make(t.Task))
	return t, finding{}
}

func (t *task) cancelled() bool { return t.Status == string(conversation.TaskCancelled) }

// until waits until holds, which is called in Look, returns true. If the client gives up or
// stays silent first, the finding says so; else it is the zero value.
func (t *task) until(holds func() bool) (wrong finding) {
	since, patience := time.Now(), t.run.session.server.options.Patience
	ctx, end := context.WithTimeout(t.run.ctx, patience)
	defer end()
	if t.Await(ctx, holds) == nil {
		return finding{}
	}
	wrong = fails("Nothing came in " + wording.Duration(patience) + ".").because(causeSilent)
	if t.run.ctx.Err() != nil {
		wrong = t.run.gaveUp(since)
	}
	t.Look(func() {
		switch {
		case holds():
			wrong = finding{}
		case len(t.frames) == 0:
			wrong = fails("The client asked nothing about the task. " + wrong.how).because(causeTaskLeft)
		}
	})
	return wrong
}

// ask asks one question for each of params, and waits for the answers. In 2026-07-28 the
// questions are inputRequests of the task under these keys; before, keys are not used.
func (t *task) ask(keys []string, params ...string) []answer {
	r, list := t.run, make([]answer, len(params))
	if !r.Rounds() {
		t.Set(conversation.TaskInputRequired, "", nil, nil)
		for i, p := range params {
			if out, missing := t.stream(); missing.verdict != "" {
				list[i].missing = missing
			} else {
				list[i] = r.await(r.send(out, mcp.MethodElicit, rawjson.WithMember(p, "_meta", t.Related())))
			}
		}
		t.Set(conversation.TaskWorking, "", nil, nil)
		return list
	}
	at := time.Now()
	t.Ask(inputs(keys, params))
	missing := t.until(func() bool { return len(t.Open) == 0 })
	t.Look(func() {
		for i, key := range keys {
			result, f := t.Answer(key)
			list[i] = answer{answered: f.Seq, params: json.RawMessage(params[i]), took: f.Time.Sub(at), result: result}
			if result == nil {
				list[i].missing, list[i].took = missing, time.Since(at)
			}
		}
	})
	return list
}

// stream returns the stream on which a question of the task is sent: the one for messages
// outside of calls, or, if there is none, that of a request tasks/result, for which it waits
// (specification 2025-11-25, Tasks, Input Required Status).
func (t *task) stream() (out server.Stream, missing finding) {
	missing = t.until(func() bool {
		out = t.Stream()
		return out != nil
	})
	if missing.verdict != "" && missing.cause != causeTaskLeft {
		missing = fails("The task waited for input, and the client sent no tasks/result, on whose stream a question would have come.").because(causeTaskLeft)
	}
	return out, missing
}

// end completes the task unless it was cancelled. If f is Works, it also waits until the client
// has fetched the result. It returns f, or what is wrong with the fetching.
func (t *task) end(f finding) finding {
	r, result := t.run, `{"content":[{"type":"text","text":"The task has ended."}]}`
	if r.Rounds() {
		result = rawjson.WithMember(result, "resultType", `"complete"`)
	}
	if t.Set(conversation.TaskCompleted, "", json.RawMessage(result), nil) && f.verdict == Works && context.Cause(r.ctx) != errCancelled {
		if left := t.until(func() bool { return t.fetched }); left.cause == causeTaskLeft {
			f = left
		} else if left.verdict != "" {
			f = partly("The client did not fetch the result of the task.").because(causeTaskLeft)
		}
	}
	t.Look(func() {
		r.frames = append(r.frames, t.frames...)
		r.faults = append(r.faults, t.faults...)
	})
	return f
}

// seen notes what a request about the task shows.
func (t *task) seen(of *server.Task, r *server.Request) {
	if len(t.frames) < framesMost {
		t.frames = append(t.frames, r.Frame.Seq)
	}
	fault := func(why *cause, v Verdict, how string) {
		if len(t.faults) < framesMost {
			t.faults = append(t.faults, finding{verdict: v, how: how, cause: why, frames: []int64{r.Frame.Seq}})
		}
	}
	if r.Rounds() && r.Session.Transport == "http" && r.Frame.Header.Get("Mcp-Name") != of.ID {
		fault(causeTaskHeader, Fails, "A request "+r.Method+" does not have the id of its task in the header Mcp-Name.")
	}
	switch r.Method {
	case mcp.MethodGetTask:
		if t.polls = append(t.polls[max(0, len(t.polls)-framesMost):], r.Frame.Time); len(t.polls) >= stormLeast {
			if took := r.Frame.Time.Sub(t.polls[len(t.polls)-stormLeast]); took < of.Poll {
				fault(causeTaskStorm, Partly, fmt.Sprintf("The client asked %d times in %s, and the task says every %s.", stormLeast, wording.Duration(took), wording.Duration(of.Poll)))
			}
		}
		t.fetched = t.fetched || r.Rounds() && of.Over()
	case mcp.MethodTaskResult:
		t.fetched = true
	case mcp.MethodUpdateTask:
		for key := range rawjson.Members(rawjson.Member(r.Params, "inputResponses")) {
			switch before, asked := of.Asked[key]; {
			case !asked:
				fault(causeTaskKeys, Fails, "tasks/update has an answer under the key "+wording.Quoted(key)+", for which the task has not asked.")
			case before.Seq != 0:
				fault(causeTaskTwice, Partly, "The question with the key "+wording.Quoted(key)+" was answered twice.")
			}
		}
	}
}

// taskPoll lets the client ask about a task four times.
func taskPoll(t *task) finding {
	const wanted = 4
	var polls []time.Time
	waits := false
	enough := time.AfterFunc(2*wanted*t.Poll, func() { t.Look(t.Wake) })
	defer enough.Stop()
	wrong := t.until(func() bool {
		waits = t.fetched && time.Since(t.Created) >= 2*wanted*t.Poll
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
