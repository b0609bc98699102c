package inspection_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// life is a test case: the messages that a scripted server sends about one task, and the
// expected state of the call. The members of task objects are written as JSON, in which {form},
// {link} and {sample} stand for input requests, and {answers} for the answers that the server
// received.
type life struct {
	name    string
	created string   // members of the task at first; a task that works if empty
	pushed  []string // notifications that follow
	told    []string // what each tasks/get tells, the last for all further: members, a raw result after "=", an error after "!"
	late    []string // notifications after the last
	only    string   // revision; "" for both

	state   conversation.State
	says    string // a part of the result, the error or the failure
	status  conversation.TaskStatus
	problem string // a part of what is said about the task; "" for nothing
	asked   int    // questions
}

const (
	isDone  = `"status":"completed","result":{"content":[{"type":"text","text":{answers}}]}`
	isGone  = `!{"code":-32602,"message":"Task not found"}`
	asksOne = `"status":"input_required","inputRequests":{"a":{form}}`
	asksTwo = `"status":"input_required","inputRequests":{"a":{form},"b":{form}}`
	works   = `"status":"working"`

	everySecond = `,"pollInterval":1000,"pollIntervalMs":1000`

	november, july = mcp.Revision20251125, mcp.Revision20260728

	done, bad                   = conversation.Done, conversation.Failed
	working, completed, unlucky = conversation.TaskWorking, conversation.TaskCompleted, conversation.TaskFailed
	cancelledTask               = conversation.TaskCancelled
)

var lives = []life{
	// Paths of the status.
	{name: "works", told: []string{works, works, isDone}, state: done, says: "map[]", status: completed},
	{name: "at-once", told: []string{isDone}, state: done, says: "map[]", status: completed},
	{name: "begins-done", only: july, created: `"status":"completed"`, told: []string{isDone}, state: done, says: "map[]", status: completed},
	{name: "begins-too-far", only: november, created: `"status":"completed"`, told: []string{isDone}, state: done, says: "map[]", status: completed, problem: "did not begin as working"},
	{name: "begins-asking", created: `"status":"input_required"`, told: []string{asksOne, isDone}, state: done, says: `"a":1`, status: completed, asked: 1, only: july},
	{name: "fails", told: []string{works, `"status":"failed","statusMessage":"no luck","error":{"code":-32603,"message":"It broke."}`}, state: bad, says: "It broke.", status: unlucky},
	{name: "fails-silently", told: []string{`"status":"failed"`}, only: july, state: bad, says: "the task has failed and has no error", status: unlucky},
	{name: "fails-badly", told: []string{`"status":"failed","error":"no"`}, only: july, state: bad, says: "error", status: unlucky},
	{name: "nothing", told: []string{`"status":"completed"`}, only: july, state: bad, says: "the task is completed and has no result", status: completed},
	{name: "is-error", told: []string{`"status":"completed","result":{"isError":true,"content":[{"type":"text","text":"No."}]}`}, state: conversation.ToolFailed, says: "No.", status: completed},
	{name: "cancelled", told: []string{works, `"status":"cancelled","statusMessage":"no time"`}, state: bad, says: "the server cancelled the task: no time", status: cancelledTask},
	{name: "cancelled-silently", told: []string{`"status":"cancelled"`}, state: bad, says: "the server cancelled the task", status: cancelledTask},
	{name: "after-the-end", told: []string{isDone}, late: []string{works}, state: done, says: "map[]", status: completed, problem: "it went from completed to working"},
	{name: "repeats-the-end", told: []string{isDone}, late: []string{isDone, isDone}, state: done, says: "map[]", status: completed},
	// Notifications.
	{name: "notifies", created: works + `,"pollInterval":60000,"pollIntervalMs":60000`, pushed: []string{isDone}, told: []string{isDone}, state: done, says: "map[]", status: completed},
	{name: "notifies-badly", problem: "no task status", pushed: []string{`"status":7`, `"status":"working","taskId":"unknown"`, `"status":"working","taskId":5`}, told: []string{works, isDone}, state: done, says: "map[]", status: completed},
	{name: "notifies-often", pushed: []string{works, works, works, works, works}, told: []string{works, isDone}, state: done, says: "map[]", status: completed},
	// Questions.
	{name: "asks", told: []string{works, asksOne, isDone}, state: done, says: `"a":1`, status: completed, asked: 1},
	{name: "asks-and-works", told: []string{asksOne, works, isDone}, state: done, says: `"a":1`, status: completed, asked: 1},
	{name: "asks-twice", told: []string{asksOne, asksTwo, isDone}, state: done, says: `"b":1`, status: completed, asked: 2},
	{name: "asks-between", told: []string{asksOne, works, `"status":"input_required","inputRequests":{"b":{form}}`, isDone}, state: done, says: `"b":1`, status: completed, asked: 2},
	{name: "asks-together", told: []string{asksTwo, isDone}, state: done, says: `"b":1`, status: completed, asked: 2},
	{name: "asks-again", told: []string{asksOne, asksOne, asksOne, isDone}, state: done, says: `"a":1`, status: completed, asked: 1},
	{name: "asks-for-a-page", told: []string{`"status":"input_required","inputRequests":{"a":{link}}`, isDone}, state: done, says: `"action":"accept"`, status: completed, asked: 1},
	{name: "asks-a-model", told: []string{`"status":"input_required","inputRequests":{"a":{sample}}`, isDone}, only: july, state: bad, says: "the task cannot be answered", status: cancelledTask, asked: 1},
	{name: "asks-nothing", told: []string{`"status":"input_required"`, works, isDone}, state: done, says: "map[]", status: completed},
	{name: "asks-null", told: []string{`"status":"input_required","inputRequests":null`, isDone}, state: done, says: "map[]", status: completed},
	{name: "asks-and-fails", told: []string{asksOne, `"status":"failed","error":{"code":-32603,"message":"It broke."}`}, state: bad, says: "It broke.", status: unlucky, asked: 1},
	{name: "asks-in-a-crowd", created: works + everySecond, told: []string{works + everySecond, `"status":"input_required"` + everySecond + `,"inputRequests":{"a":{form}}`, isDone}, state: done, says: `"a":1`, status: completed, asked: 1},
	// Bad tasks.
	{name: "strange", told: []string{`"status":"dancing"`}, state: bad, says: `there is no task status "dancing"`, status: working, problem: "dancing"},
	{name: "another", told: []string{works + `,"taskId":"another"`}, state: bad, says: `answered with another task, "another"`, status: working, problem: "another task"},
	{name: "lost", told: []string{works, isGone}, state: bad, says: "the task is lost: tasks/get was answered with -32602 Task not found", status: working},
	{name: "expires", created: works + `,"ttl":1,"ttlMs":1`, told: []string{works + `,"ttl":1,"ttlMs":1`, isGone}, state: bad, says: "the task is lost", status: working},
	{name: "no-object", told: []string{`=null`}, state: bad, says: "not an object", status: working, problem: "not an object"},
	{name: "no-id", told: []string{`={"status":"working"}`}, state: bad, says: "no taskId", status: working, problem: "no taskId"},
	{name: "no-status", told: []string{`"x":1`}, state: bad, says: "no status", status: working, problem: "no status"},
	{name: "odd-status", told: []string{`"status":[{}]`}, state: bad, says: "status", status: working, problem: "status"},
	{name: "id-is-a-number", created: works + `,"taskId":5`, told: []string{works}, state: bad, says: "the taskId is a number, not a string", problem: "a number", status: working},
	{name: "id-is-empty", created: works + `,"taskId":""`, told: []string{works}, state: bad, says: "the taskId is empty", problem: "empty", status: working},
	{name: "id-is-long", created: works + `,"taskId":"` + strings.Repeat("x", 5000) + `"`, told: []string{works}, state: bad, says: "5000 bytes", problem: "5000 bytes", status: working},
	// Times.
	{name: "ttl-is-negative", told: []string{works + `,"ttl":-5,"ttlMs":-5`, isDone}, state: done, says: "map[]", status: completed},
	{name: "ttl-is-huge", told: []string{works + `,"ttl":1e300,"ttlMs":1e300`, isDone}, state: done, says: "map[]", status: completed},
	{name: "ttl-is-text", told: []string{works + `,"ttl":"long","ttlMs":{}`, isDone}, state: done, says: "map[]", status: completed},
	{name: "interval-is-negative", created: works + `,"pollInterval":-9,"pollIntervalMs":-9`, told: []string{isDone}, state: done, says: "map[]", status: completed},
	{name: "interval-is-zero", created: works + `,"pollInterval":0,"pollIntervalMs":0`, told: []string{works + `,"pollInterval":0,"pollIntervalMs":0`, isDone}, state: done, says: "map[]", status: completed},
	{name: "interval-is-huge", created: works + `,"pollInterval":1e300,"pollIntervalMs":1e300`, pushed: []string{works}, told: []string{isDone}, state: done, says: "map[]", status: completed},
	{name: "talks", told: []string{works + `,"statusMessage":"` + strings.Repeat("word ", 100_000) + `"`, isDone}, state: done, says: "map[]", status: completed},
	{name: "forever", told: []string{works + `,"pollInterval":0,"pollIntervalMs":0`}, state: conversation.Stopped, status: cancelledTask},
}

// The call of each task ends as it should, all at the same time, and what is live, opened
// and exported says the same. Over HTTP the questions come on each stream that can carry them.
func TestLivesOfTasks(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]struct {
		revision string
		http     bool
		asksOn   string // see taskStreams
		stream   wire.Stream
	}{
		november:                         {revision: november},
		july:                             {revision: july},
		"on the stream of the call":      {november, true, mcp.MethodCallTool, wire.StreamPostSSE},
		"on the stream of tasks/result":  {november, true, mcp.MethodTaskResult, wire.StreamPostSSE},
		"on the stream of a GET request": {november, true, "", wire.StreamGetSSE},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *bench
			if run.http {
				b = startInspection(t, inspection.Config{Targets: []target.Spec{{Name: "tasks", URL: serveTasks(t, run.asksOn), Transport: target.TransportHTTP}}})
			} else {
				b = start(t, "tasks-"+run.revision, conversation.ClientSettings{})
			}
			calls := map[int]life{}
			for _, l := range lives {
				if (l.only == "" || l.only == run.revision) && (l.asked > 0 || !run.http) {
					calls[b.callAsTask(l.name)] = l
				}
			}
			b.until("the answers and the ends", func() bool {
				for _, q := range b.in.Questions() {
					if a := accept(`{"` + q.Key + `":1}`); q.State == conversation.Pending {
						if a.Content = []byte(`{"a":1,"b":1}`); q.Request != nil && q.Request.URL != "" {
							a.Content = nil
						}
						b.answer(q.Number, a)
					}
				}
				for number, l := range calls {
					c, err := b.in.Call(number)
					if l.name == "forever" && err == nil && c.Task != nil && c.Task.Polls > 2 {
						_ = b.in.Stop(number) // once it is stopped, this does nothing
					}
					if err != nil || !c.State.Over() || c.Task == nil || c.Task.Status != l.status && l.name != "forever" || !strings.Contains(c.Task.Problem, l.problem) {
						return false
					}
				}
				return true
			})
			if err := b.in.Disconnect(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
			reports := map[string]string{}
			for _, report := range strings.Split(b.markdown(b.log), "\n## ") {
				title, _, _ := strings.Cut(report, "\n")
				reports[title[strings.LastIndex(title, " ")+1:]] = report
			}
			for number, l := range calls {
				c, text := b.done(number)
				n := 0
				for _, q := range b.in.Questions() {
					if q.Call == number && !q.Guessed {
						n++
						if q.Stream != run.stream {
							t.Errorf("%s: question %d came by %s", l.name, q.Number, q.Stream)
						}
					}
				}
				if l.state == conversation.Stopped {
					l.says = c.Failure
				}
				if c.State != l.state || !strings.Contains(text, l.says) || n != l.asked || (c.Task.Problem == "") != (l.problem == "") || len(c.Task.Message) > 1000 {
					t.Errorf("%s: %s, %.300q, %d questions, task %+v", l.name, c.State, text, n, c.Task)
				}
				report := reports["`"+l.name+"`"]
				for _, want := range []string{"UTC. " + wording.Capital(l.state.String()) + " after", l.says, " is " + string(c.Task.Status), l.problem} {
					if !strings.Contains(strings.ToLower(report), strings.ToLower(want)) {
						t.Errorf("%s: the report does not say %q:\n%.3000s", l.name, want, report)
					}
				}
				if asked := strings.Count(report, "\n### Question"); asked != l.asked {
					t.Errorf("%s: the report has %d questions:\n%.3000s", l.name, asked, report)
				}
			}
			b.compareOpened(slices.Collect(maps.Keys(calls)))
		})
	}
}

// compareOpened compares what is said of calls and their tasks with what the opened
// export says.
func (b *bench) compareOpened(calls []int) {
	b.Helper()
	var text bytes.Buffer
	if err := (export.Document{Log: b.log, Redact: redact.Nothing()}).Write(b.Context(), &text, export.JSONL); err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "flow.jsonl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	opened := replayOf(b.T, file).Inspection()
	for _, number := range calls {
		c, err := b.in.Call(number)
		again, openedErr := opened.Call(number)
		if err != nil || openedErr != nil || taskSaid(c.Call) != taskSaid(again.Call) {
			b.Errorf("live (%v)\n%s\nopened (%v)\n%s", err, taskSaid(c.Call), openedErr, taskSaid(again.Call))
		}
	}
	if live := b.markdown(b.log); live != b.markdown(opened.Log()) {
		b.Errorf("the report of the opened log is another than that of the live one:\n%s", live)
	}
}

// markdown returns a log as it is exported for people.
func (b *bench) markdown(l *wire.Log) string {
	b.Helper()
	var text strings.Builder
	if err := (export.Document{Log: l, Redact: redact.Nothing()}).Write(b.Context(), &text, export.Markdown); err != nil {
		b.Fatal(err)
	}
	return text.String()
}

// taskSaid returns the state of a call and its task as text, for comparison.
func taskSaid(c conversation.Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s #%d %q", c.Name, c.State, c.ResultSeq, c.Failure)
	if t := c.Task; t != nil {
		fmt.Fprintf(&b, ", task %s %s %q, ttl %v, interval %v, %d polls, %d notifications, %q", t.ID, t.Status, t.Message, t.TTL, t.PollInterval, t.Polls, t.Told, t.Problem)
	}
	for _, s := range c.Steps {
		fmt.Fprintf(&b, "\n\t%s %s %s #%d, question %d", s.Kind, s.Word, s.Text, s.Seq, s.Question)
	}
	return b.String()
}
