package conversation

import (
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// CallTask is the task at the server that a request of a call became.
type CallTask struct {
	TaskState           // as it was told last, without Result and Error
	Since     time.Time // of the response that created it
	Changed   time.Time // of its latest change of status
	Polls     int       // requests tasks/get
	Told      int       // notifications about it
	// Problem says what is wrong with the task object that the server sent; "" for nothing.
	Problem string
	implied bool // the server has not told Status: the response to tasks/result implies it
}

// Expires returns when the server may delete the task; false if it does not say.
func (t *CallTask) Expires() (time.Time, bool) {
	return t.Since.Add(t.TTL), t.TTL >= 0
}

// Bounds on the pause between two requests tasks/get, whatever the server wants.
const (
	pollLeast   = 100 * time.Millisecond
	pollDefault = time.Second // if the server does not say
	pollMost    = time.Minute
)

// PollPause returns the pause between two requests about a task.
func (t TaskState) PollPause() time.Duration {
	if t.PollInterval < 0 {
		return pollDefault
	}
	return min(max(t.PollInterval, pollLeast), pollMost)
}

// Polled says how often the task is polled, and what the server wanted if that is another
// interval, as the end of a sentence.
func (t TaskState) Polled() string {
	text := ", every " + wording.Duration(t.PollPause())
	if t.PollInterval >= 0 && t.PollInterval != t.PollPause() {
		text += " and not every " + wording.Duration(t.PollInterval) + " as the server wants"
	}
	return text
}

// QuestionTask is the task of the client's that a question is (specification 2025-11-25,
// Tasks). Its values are immutable.
type QuestionTask struct {
	ID      string
	Status  TaskStatus
	TTL     time.Duration // negative for no limit
	Polls   int           // how often the server asked for the status, with tasks/get
	Fetches int           // how often it asked for the result, with tasks/result
}

// taskID identifies a task by its id and the side that has it. The session is "" for the
// latest task of the server with this id.
type taskID struct {
	server, session, id string
	ofClient            bool
}

// taskOf is a task of the log: of the call at an index, or of a question of it.
type taskOf struct {
	questionOf
	round int // as recorded
	keys  TaskKeys
}

// readTask reads the id and the questions of a task from the bytes of a frame. The caller has the
// turn.
func (c *attribution) readTask(f *frame) error {
	switch {
	case f.MakesTask && f.Dir == wire.ServerToClient:
		if t, err := ReadTask(CreatedTask(f.Message.Result, "")); err == nil {
			f.task = t.ID
		}
		return nil
	case f.MakesTask:
		f.task = rawjson.Text(rawjson.Member(f.Message.Result, "task", "taskId"))
		return nil
	case f.Kind != wire.Request && f.Kind != wire.Notification && f.Pair != 0: // a response may name no task
		request, err := c.log.Frame(f.Pair)
		if err != nil {
			return err
		}
		f.task = rawjson.Text(rawjson.Member(request.Message.Params, "taskId"))
	default:
		f.task = rawjson.Text(rawjson.Member(f.Message.Params, "taskId"))
	}
	t, _ := c.taskOf(f)
	s := c.sessions[connection{f.Server, f.Session}]
	switch {
	case t == nil:
	case f.AsksInput && (s == nil || s.handshake.Protocol == "" || s.handshake.Protocol >= mcp.Revision20260728):
		f.input.asked = t.keys.Inputs(f.Message)
	case f.Kind == wire.Request && f.Method == mcp.MethodUpdateTask:
		t.keys.Updated(f.Message.Params)
	}
	return nil
}

// taskOf returns the task that a frame is about, nil if it is not known. earlier says that
// only an earlier session of the server had to do with it.
func (c *attribution) taskOf(f *frame) (t *taskOf, earlier bool) {
	id := f.taskID()
	if t = c.tasks[id]; t != nil {
		return t, false
	}
	id.session = ""
	t = c.tasks[id]
	return t, t != nil
}

func (f *frame) taskID() taskID {
	ofClient := f.MakesTask && f.Dir == wire.ClientToServer || !f.MakesTask && kindOf(&f.Frame) == questionTask
	return taskID{f.Server, f.Session, f.task, ofClient}
}

// makesTask remembers the task that a response creates, of a question of the call or of
// the call itself.
func (c *attribution) makesTask(f *frame, of questionOf) {
	if id := f.taskID(); f.task != "" {
		t := &taskOf{of, f.Round, TaskKeys{}}
		c.tasks[id] = t
		id.session = ""
		c.tasks[id] = t
	}
}

// ofTask adds a frame about a task to its call. A call of an earlier session goes on in the
// session in which the client asks for its task.
func (c *attribution) ofTask(f *frame, kind eventKind) {
	s := c.sessionOf(f)
	t, earlier := c.taskOf(f)
	i, question, ok := s.named(f)
	if kind == callTask {
		question = 0
	}
	if t != nil && (!ok || kind == questionTask) {
		i, question, ok = t.call, t.question, true
	}
	if !ok {
		return
	}
	resumed := earlier && kind == callTask && f.Kind == wire.Request && f.Method != mcp.MethodCancelTask
	if resumed {
		c.tasks[f.taskID()], c.calls[i].session = t, s
		if t.keys.Resume(); f.Call != 0 {
			s.calls[f.Call] = i
		}
	}
	if n := len(f.input.asked); n > 0 {
		question = c.asks(s, i, f, n)
	}
	c.add(i, f, kind, question).resumed = resumed
}

// resumed continues a call that had ended with its session, because its task still runs.
func (r *reduction) resumed(f *wire.Frame) {
	c := &r.call
	r.taskInputs.Resume()
	for i, q := range c.Questions {
		if q.State == Pending {
			q = c.edit(i)
			q.By = ByServer
			r.settle(q, Withdrawn, "the session was lost")
		}
	}
	if c.State == Failed && c.ResultSeq == 0 {
		c.State, c.Failure, c.Ended, r.ended = Running, "", time.Time{}, false
	}
	c.step(Step{At: r.clock, Kind: StepTask, Text: "goes on in a new session", Seq: f.Seq})
}

// becameTask records that a response made the call a task. It is not the end of the call.
func (r *reduction) becameTask(f *wire.Frame) {
	c := &r.call
	t, err := ReadTask(CreatedTask(f.Message.Result, r.revision))
	c.Task = &CallTask{TaskState: t, Since: r.clock, Changed: r.clock}
	c.ResultSeq = 0
	words := string(t.Status)
	if err != nil {
		c.Task.Problem = err.Error()
		words = err.Error()
	} else if t.Status != TaskWorking && r.revision < mcp.Revision20260728 {
		c.Task.Problem = "it did not begin as working"
	}
	c.step(Step{At: r.clock, Kind: StepTask, Word: "task", Text: wording.Join(": ", words, t.Message), Seq: f.Seq})
}

// callTask changes the call by a frame about its task.
func (r *reduction) callTask(f *wire.Frame, e item) {
	c := &r.call
	if c.Task == nil { // the response that created it is not in the log
		c.Task = &CallTask{TaskState: TaskState{Status: TaskWorking, TTL: -1, PollInterval: -1}, Since: r.clock, Changed: r.clock}
	}
	t := *c.Task
	c.Task = &t
	if f.Kind == wire.Request {
		switch f.Method {
		case mcp.MethodGetTask:
			t.Polls++
		case mcp.MethodUpdateTask:
			r.taskInputs.Updated(f.Message.Params)
			responses := elicit.KeywordsOf(rawjson.Member(f.Message.Params, "inputResponses"))
			for i, q := range c.Questions {
				if answer := responses[q.Key]; q.Via == elicit.InTask && answer != nil && q.AnswerSeq == 0 {
					r.carried(i, answer, f)
				}
			}
		case mcp.MethodCancelTask:
			c.step(Step{At: r.clock, Kind: StepTask, Word: f.Method, Seq: f.Seq})
		}
		*c.Task = t
		return
	}
	if f.Kind == wire.Notification {
		t.Told++
	}
	if e.question != 0 {
		r.ask(f, max(1, len(c.Rounds)), e, r.taskInputs.Inputs(f.Message))
	}
	task := ToldTask(f)
	now, err := ReadTask(task)
	over := c.State.Over() || r.ended
	switch {
	case task == nil && f.Method == mcp.MethodTaskResult && !over:
		if !t.Status.Terminal() { // it blocks until the task has ended (2025-11-25, Tasks, Result Retrieval)
			t.Status, t.Changed, t.implied = TaskCompleted, r.clock, true
			if f.Kind == wire.Error {
				t.Status = TaskFailed
			}
		}
		*c.Task = t
		if r.shown {
			c.ResultSeq = f.Seq
		}
		r.over(f)
		return
	case task == nil && f.Kind == wire.Error:
		c.step(Step{At: r.clock, Kind: StepTask, Word: f.Method, Text: errorWords(f.Message.Error), Seq: f.Seq})
	case task == nil:
	case err != nil:
		t.Problem = err.Error()
	case t.ID != "" && now.ID != t.ID:
		t.Problem = "the server told of another task"
	case now.Status != t.Status && t.Status.Terminal() && now.Overtaken(t.Updated, f.Stream): // the end is the later state
	case now.Status != t.Status && t.Status.Terminal() && !t.implied:
		t.Problem = "it went from " + string(t.Status) + " to " + string(now.Status) + ", though that had ended it"
		c.step(Step{At: r.clock, Kind: StepTask, Text: t.Problem, Seq: f.Seq})
	default:
		if now.Status != t.Status || now.Message != t.Message {
			c.step(Step{At: r.clock, Kind: StepTask, Word: string(now.Status), Text: now.Message, Seq: f.Seq})
		}
		if now.Status != t.Status {
			t.Changed = r.clock
		}
		t.TaskState, t.implied = now, false
		t.Result, t.Error = nil, nil
	}
	*c.Task = t
	if err == nil && task != nil && !over && r.revision >= mcp.Revision20260728 && now.Status.Terminal() && (now.Result != nil || now.Error != nil) {
		if r.shown {
			c.ResultSeq = f.Seq
		}
		end := *f
		end.Message = Final(f)
		end.Kind = end.Message.Kind
		r.over(&end)
	}
}

// Final returns the response that ends a call, of the frame that has it: the message
// itself, or a response with the result or error in the task that it tells of.
func Final(f *wire.Frame) wire.Message {
	m := f.Message
	task := ToldTask(f)
	result, failure := rawjson.Member(task, "result"), rawjson.Member(task, "error")
	switch {
	case failure != nil && TaskStatus(rawjson.Text(rawjson.Member(task, "status"))) == TaskFailed:
		m.Kind, m.Result, m.Error = wire.Error, nil, failure
	case result != nil:
		m.Kind, m.Result, m.Error = wire.Result, result, nil
	}
	return m
}

// questionTask changes a question by a frame about the task that it is.
func (r *reduction) questionTask(f *wire.Frame, e item) {
	i, ok := r.find(e.question)
	if !ok {
		return
	}
	if f.Kind.IsResponse() && f.Method == mcp.MethodTaskResult {
		r.answer(f, e)
		return
	}
	q := r.call.edit(i)
	t := QuestionTask{Status: TaskWorking, TTL: -1}
	if q.Task != nil {
		t = *q.Task
	}
	told := f.Message.Params
	switch {
	case f.MakesTask:
		told = rawjson.Member(f.Message.Result, "task")
		r.call.step(Step{At: r.clock, Kind: StepTask, Text: "the question is a task of the client's", Seq: f.Seq, Question: q.Number})
	case f.Kind == wire.Result:
		told = f.Message.Result
	case f.Kind == wire.Request && f.Method == mcp.MethodGetTask:
		t.Polls++
	case f.Kind == wire.Request && f.Method == mcp.MethodTaskResult:
		t.Fetches++
	}
	if now, err := ReadTask(told); err == nil && f.Kind != wire.Request {
		t.ID, t.Status, t.TTL = now.ID, now.Status, now.TTL
	}
	q.Task = &t
	if t.Status == TaskCancelled && q.State == Pending {
		q.By = strings.Clone(ByServer)
		r.settle(q, Withdrawn, "cancelled by the server, with "+mcp.MethodCancelTask)
	}
}
