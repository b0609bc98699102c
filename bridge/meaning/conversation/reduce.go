package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// reduction works out one call by applying its frames in order.
type reduction struct {
	call    Call
	applied int64 // frames up to this one were applied
	rows    bool  // fill Call.Frames
	bare    bool  // as in Reading

	watched bool  // it is kept for Watch, so that it must not grow without bound
	latest  *Call // last result of conclude; nil before the first
	stale   bool  // the call has frames that latest does not include
	kept    int   // bytes of what was asked and answered
	letGo   int   // how many questions had their Params and Answer dropped

	begun       bool
	shown       bool           // the frame being applied is chosen
	clock       time.Time      // latest time of the frames
	alive       int64          // last frame that the server sent, or that began a round
	last        int64          // last frame that was applied
	latestEvent uint32         // index in Conversation.events of the last event that was applied
	opened      int            // index of the first question that the latest response asked
	reports     int            // progress notifications
	taskInputs  TaskKeys       // that its task has asked so far
	revision    string         // of its session, "" if unknown
	serverSpans []ServerSpan   // as they came
	sentSpans   map[string]int // the rounds whose requests are these spans
	local       bool           // the spans are of a process of this machine
	ended       bool           // a note says how the call ended; later responses change nothing
}

func newReduction(place int) *reduction {
	return &reduction{call: Call{Place: place}, taskInputs: TaskKeys{}}
}

// partMost bounds the size in bytes of arguments, questions, answers and results that
// are copied into a call. Larger ones are only in the log.
const partMost = 16 << 20

// part copies a part of a message; nil if it is absent, too large, or in a frame that
// is not chosen.
func (r *reduction) part(raw json.RawMessage) json.RawMessage {
	if raw == nil || len(raw) > partMost || !r.shown {
		return nil
	}
	return slices.Clone(raw)
}

// keptMost bounds the bytes of Params and Answer that a watched call keeps.
const keptMost = 1 << 20

// bound drops the oldest Params and Answer of a watched call above keptMost.
func (r *reduction) bound() {
	for r.watched && r.kept > keptMost && r.letGo < len(r.call.Questions)-1 {
		q := r.call.edit(r.letGo)
		r.kept -= len(q.Params) + len(q.Answer)
		q.Params, q.Answer, q.BytesDropped = nil, nil, true
		r.letGo++
	}
}

// begin takes the server, method, name and arguments of the call from its first
// frame.
func (r *reduction) begin(f *wire.Frame) {
	c := &r.call
	r.begun = true
	c.Server, c.Method, c.Start = f.Server, f.Method, f.Time
	if f.Kind == wire.Request && mcp.AsksForInput(f.Method) {
		name, arguments := target(f.Method, f.Message.Params)
		c.Name, c.Arguments = strings.Clone(name), r.part(arguments)
	}
	if c.Recorded == 0 {
		c.Recorded = f.Call
	}
}

// apply changes the call by one of its events.
func (r *reduction) apply(f *wire.Frame, e item) {
	defer r.bound()
	c := &r.call
	if f.Kind == wire.SpanFrame { // it comes late, and is no part of what either side says
		r.serverSpan(f)
		return
	}
	r.last = f.Seq
	if f.Time.After(r.clock) {
		r.clock = f.Time
	}
	c.End = r.clock
	if f.Dir == wire.ServerToClient || f.Dir == wire.ClientToServer && f.Kind == wire.Request {
		r.alive = f.Seq
	}
	if e.resumed {
		r.resumed(f)
	}
	if r.bare && (e.kind == logMessage || e.kind == progress) {
		return
	}
	switch e.kind {
	case request:
		r.request(f)
	case response, inputRequired:
		r.response(f, e)
	case listQuestions:
		r.ask(f, 0, e, elicit.AskedIn(f.Message))
	case question:
		r.question(f, e)
	case callTask:
		r.callTask(f, e)
	case questionTask:
		r.questionTask(f, e)
	case answer:
		r.answer(f, e)
	case faultyAnswer: // a note settles its question
		if q := r.edit(e.question); q != nil && q.AnswerSeq == 0 {
			q.AnswerSeq, q.AnswerUnseen = f.Seq, !r.shown
			q.waitedUntil(r.clock)
			if f.Kind == wire.Error {
				q.Error = r.part(f.Message.Error)
			}
		}
	case serverRequest:
		if r.revision < mcp.Revision20260728 {
			return
		}
		if f.Method == mcp.MethodPing {
			c.Unsent = f.Method
		}
		c.step(Step{At: r.clock, Kind: StepAsked, Text: f.Method + ", which is not answered: " + mcp.RequestsAreGone, Seq: f.Seq})
	case note:
		r.noted(f, e)
	case stopped:
		if c.State == Running && !r.ended {
			c.State, c.Ended = Stopped, r.clock
			c.step(Step{At: r.clock, Kind: StepStopped, Text: "stopped"})
		}
	case cancelled:
		i, ok := r.find(e.question)
		if ok {
			q := c.edit(i)
			q.CancelledSeq = f.Seq
			q.waitedUntil(r.clock)
		}
		if !ok || c.Questions[i].State != Pending && (c.Questions[i].State != Withdrawn || c.Questions[i].By != ByPolicy) {
			return
		}
		q := c.edit(i)
		reason := "cancelled by the server"
		if why := rawjson.Text(rawjson.Member(f.Message.Params, "reason")); r.shown && why != "" {
			reason += ": " + why
		}
		q.By = ByServer
		r.settle(q, Withdrawn, reason)
	case urlDone:
		if i, ok := r.find(e.question); ok && c.Questions[i].CompletedSeq == 0 {
			q := c.edit(i)
			q.Completed, q.CompletedSeq = r.clock, f.Seq
			q.foresee()
		}
	case listChanged:
		c.step(Step{At: f.Time, Kind: StepList, Text: f.Method, Seq: f.Seq})
	case logMessage:
		if c.Logs++; c.Logs <= reportStepsMost {
			c.step(Step{At: f.Time, Kind: StepLog, Text: f.Summary(), Seq: f.Seq})
		}
	case progress:
		var p Progress
		if json.Unmarshal(f.Message.Params, &p) != nil {
			p = Progress{Message: "the progress cannot be read"}
		}
		p.Message = wording.Shorten(p.Message, stepMost)
		c.Progress = &p
		if r.reports++; r.reports <= reportStepsMost {
			c.step(Step{At: f.Time, Kind: StepProgress, Text: p.Words(), Seq: f.Seq})
		}
	}
}

// find returns the index in Questions of a question of the call, which the events count
// from 1. It is missing if its frame is not chosen.
func (r *reduction) find(nth uint32) (int, bool) {
	return slices.BinarySearchFunc(r.call.Questions, nth, func(q *Question, nth uint32) int { return cmp.Compare(q.nth, nth) })
}

// edit returns a copy of a question for changes, nil if it is missing.
func (r *reduction) edit(nth uint32) *Question {
	if i, ok := r.find(nth); ok {
		return r.call.edit(i)
	}
	return nil
}

// request begins a round. Its inputResponses answer the questions of the round
// before. Since an answer goes out only when all of them are settled, a note has said most
// times what each of them is, and when; then the request adds where on the wire it went.
func (r *reduction) request(f *wire.Frame) {
	c := &r.call
	responses := elicit.KeywordsOf(rawjson.Member(f.Message.Params, "inputResponses"))
	for i := r.opened; i < len(c.Questions) && len(c.Rounds) > 0; i++ {
		if q := c.Questions[i]; q.Via != elicit.ByRequest {
			r.carried(i, responses[q.Key], f)
		}
	}
	r.opened = len(c.Questions)
	c.Rounds = append(c.Rounds, Round{Number: len(c.Rounds) + 1, Request: f.Seq, Began: r.clock})
	r.sentSpan(f, len(c.Rounds))
	if !f.Duplicate || !c.State.Over() { // a copy that is sent after the response lets no call go on
		c.State, c.Result, c.Error, c.ResultSeq, c.Failure, c.Ended = Running, nil, nil, 0, "", time.Time{}
	}
	step := Step{At: r.clock, Kind: StepCalled, Text: c.Name, Seq: f.Seq}
	if n := len(c.Rounds); n > 1 {
		step.Kind, step.Word, step.Text = StepRetry, fmt.Sprintf("round %d", n), ""
	}
	c.step(step)
}

// carried settles question i by the request of the next round. If a note has settled
// it already, the request only adds the answer as sent.
func (r *reduction) carried(i int, answer json.RawMessage, f *wire.Frame) {
	q := r.call.edit(i)
	if q.State == Withdrawn || q.State == Refused {
		return
	}
	q.AnswerSeq, q.AnswerUnseen = f.Seq, !r.shown
	q.waitedUntil(r.clock)
	known := q.State == Answered
	switch {
	case answer != nil:
		q.Answer, q.Action = r.part(answer), rawjson.Text(rawjson.Member(answer, "action"))
		r.kept += len(q.Answer)
		if known {
			return
		}
		q.By = strings.Clone(f.Actor)
		r.settle(q, Answered, "")
	case known:
	case q.Via == elicit.InError:
		r.settle(q, AnswerUnknown, "what was said to this is not on the wire")
	default:
		r.settle(q, Withdrawn, "the call went on without an answer")
	}
}

func (r *reduction) settle(q *Question, state QuestionState, reason string) {
	r.call.settle(q, state, reason, r.clock)
}

// settle ends a question at a time and adds a step. A later settle replaces the
// outcome and the step of an earlier one: a question can be answered in the inspector, which
// a note says at once, and then its server cancels it before the answer is on the wire.
func (c *Call) settle(q *Question, state QuestionState, reason string, at time.Time) {
	again := q.State != Pending
	q.State, q.Reason, q.Ended = state, wording.Shorten(reason, stepMost), at
	q.foresee()
	step := Step{At: at, Kind: StepAnswered, Word: state.String(), Text: reason, Question: q.Number}
	switch {
	case state != Answered:
	case q.Fault != "" && reason != "":
		step.Word, step.Text = "deliberate", q.Wrong
	case q.Fault != "":
		step.Word = ""
	case q.Action != "":
		step.Word = q.Action
	}
	if again {
		for i := range slices.Backward(c.Steps) {
			if c.Steps[i].Kind == StepAnswered && c.Steps[i].Question == q.Number {
				c.Steps[i] = step
				return
			}
		}
	}
	c.step(step)
}

func (r *reduction) response(f *wire.Frame, e item) {
	c := &r.call
	i := len(c.Rounds) - 1
	for i >= 0 && c.Rounds[i].Request != f.Pair {
		i--
	}
	if i < 0 || c.Rounds[i].Response != 0 {
		return
	}
	round := &c.Rounds[i]
	round.Response, round.Ended = f.Seq, r.clock
	r.opened = len(c.Questions)
	if e.kind == inputRequired {
		asked := elicit.AskedIn(f.Message)
		round.Questions = len(asked)
		r.ask(f, round.Number, e, asked)
	}
	if c.State == Stopped || r.ended { // the client gave up before, and the server may not have noticed
		return
	}
	if r.shown {
		c.ResultSeq = f.Seq
	}
	switch {
	case e.kind == inputRequired && f.Kind == wire.Result:
		c.State, c.ResultSeq = Waiting, 0
	case e.kind == inputRequired:
		c.State, c.Error = Waiting, r.part(f.Message.Error)
	case f.MakesTask:
		r.becameTask(f)
	default:
		r.over(f)
	}
}

// over ends the call with its response, or with another frame that is paired with its
// request.
func (r *reduction) over(f *wire.Frame) {
	c := &r.call
	c.Ended = r.clock
	step := Step{At: r.clock, Kind: StepResult, Seq: f.Seq}
	switch {
	case !f.Kind.IsResponse():
		c.State, c.ResultSeq, c.Failure = Failed, 0, "it has no response"
		if r.shown {
			c.Failure = f.Summary()
		}
		step.Kind, step.Text = StepError, c.Failure
	case f.Kind == wire.Error:
		c.State, c.Error = Failed, r.part(f.Message.Error)
		step.Kind, step.Text = StepError, errorWords(f.Message.Error)
	default:
		c.State, c.Result = Done, r.part(f.Message.Result)
		if string(rawjson.Member(f.Message.Result, "isError")) == "true" {
			c.State, step.Kind, step.Text = ToolFailed, StepToolError, "the tool says that it failed"
		}
	}
	c.step(step)
}
