package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// ask adds the questions in a message; round is 0 if it belongs to no call.
func (r *reduction) ask(f *wire.Frame, round int, e item, all []elicit.Asked) {
	list := ""
	if mcp.IsList(f.Method) {
		list = f.Method
	}
	for k, asked := range all {
		if r.shown {
			r.put(Question{
				Number: e.number + k, Place: k + 1, Of: len(all), Method: asked.Method, Via: asked.Via, Stream: f.Stream, List: list, NumberRecorded: f.Question != 0,
				Key: asked.Key, Pointer: asked.Pointer, Round: round, Params: r.part(asked.Params), AskedSeq: f.Seq, nth: e.question + uint32(k),
			})
		}
	}
}

func (r *reduction) put(q Question) {
	c := &r.call
	q.Asked, q.isURL = r.clock, q.URL() != ""
	c.Questions = append(c.Questions, &q)
	c.step(Step{At: r.clock, Kind: StepAsked, Text: q.Title(), Question: q.Number})
	r.kept += len(q.Params)
}

func (r *reduction) question(f *wire.Frame, e item) {
	q := Question{
		Number: e.number, Place: 1, Of: 1, Method: f.Method, Via: elicit.ByRequest, Stream: f.Stream, Pointer: "/params",
		Guessed: e.guessed, NumberRecorded: f.Question != 0, Params: r.part(f.Message.Params), AskedSeq: f.Seq, AskedUnseen: !r.shown,
		nth: e.question,
	}
	for _, round := range r.call.Rounds {
		if round.Response == 0 {
			q.Round = round.Number
		}
	}
	if words := rawjson.Member(f.Message.Params, "message"); !r.shown && f.Method == mcp.MethodElicit && words != nil && len(words) <= partMost {
		q.Params = slices.Concat([]byte(`{"message":`), words, []byte("}"))
	}
	r.put(q)
}

func (r *reduction) answer(f *wire.Frame, e item) {
	i, ok := r.find(e.question)
	if !ok || r.call.Questions[i].AnswerSeq != 0 {
		return
	}
	q := r.call.edit(i)
	q.AnswerSeq, q.AnswerUnseen = f.Seq, !r.shown
	q.waitedUntil(r.clock)
	open := q.State == Pending
	if open {
		q.By = strings.Clone(f.Actor)
	}
	if f.Kind == wire.Error {
		q.Error = r.part(f.Message.Error)
	} else {
		q.Answer, q.Action = r.part(f.Message.Result), rawjson.Text(rawjson.Member(f.Message.Result, "action"))
		r.kept += len(q.Answer)
	}
	switch {
	case !open:
	case r.shown && f.Note != nil && f.Note.Kind == wire.NoteSettled:
		r.settled(q, f)
	case f.Kind == wire.Error && f.Actor == ByPerson: // a person declines sampling or roots by an error
		q.Action = "decline"
		r.settle(q, Answered, "")
	case f.Kind == wire.Error:
		r.settle(q, Refused, rawjson.Text(rawjson.Member(f.Message.Error, "message")))
	// When a call ends, the inspector cancels its open questions; such a cancel settles nothing.
	case f.Actor == "" || q.Action != "cancel" || q.Guessed || !r.call.State.Over():
		r.settle(q, Answered, "")
	}
}

func (r *reduction) settled(q *Question, f *wire.Frame) {
	n := f.Note
	at := n.At
	if at.IsZero() || f.Dir != wire.Meta { // an answer on the wire has the time of its frame
		at = r.clock
	}
	q.By, q.TurnedAway = strings.Clone(f.Actor), n.TurnedAway
	r.call.settle(q, stateNamed(n.State), n.Why, at)
}

func (r *reduction) noted(f *wire.Frame, e item) {
	n := f.Note
	if n == nil || !r.shown {
		return
	}
	at := n.At
	if at.IsZero() {
		at = r.clock
	}
	switch n.Kind {
	case wire.NoteEnded:
		switch c, last := &r.call, len(r.call.Rounds)-1; {
		case f.Round != 0 && last >= 0: // the response of that round, which the client could not go on with
			c.ResultSeq = c.Rounds[last].Response
		case c.State != Done && c.State != ToolFailed || n.State != "failed":
			c.ResultSeq, c.Result = 0, nil
		}
		r.call.EndBy(n, at)
		r.ended = true
	case wire.NoteStrayResponse:
		r.call.step(Step{At: at, Kind: StepStray, Text: n.Words(f), Seq: cmp.Or(e.stray, f.Seq)})
	case wire.NoteAnswered:
		if q := r.notedQuestion(f, e); q != nil {
			switch n.Completion {
			case "completed":
				q.Completion = CompletionDone
			case "marked":
				q.Completion = CompletionMarked
			}
			if q.State != Pending && (q.State != Withdrawn || q.By != "") {
				return
			}
			q.By, q.SaidSeq = strings.Clone(f.Actor), f.Seq
			q.Answer, q.Action = r.part(n.Answer), rawjson.Text(rawjson.Member(n.Answer, "action"))
			r.call.settle(q, Answered, n.Why, at)
		}
	case wire.NoteMisbehaved:
		if q := r.notedQuestion(f, e); q != nil {
			if q.State != Pending {
				return
			}
			q.By, q.Fault, q.Wrong, q.FaultParams = ByFault, strings.Clone(f.Fault), f.Note.Why, r.part(f.Note.Params)
			q.Answer, q.Action = r.part(f.Note.Answer), rawjson.Text(rawjson.Member(f.Note.Answer, "action"))
			r.call.settle(q, Answered, "deliberate: "+f.Note.Why, at)
		}
	case wire.NoteSettled:
		if q := r.notedQuestion(f, e); q != nil {
			r.settled(q, f)
		}
	}
}

// EndBy ends the call at a time as a note says.
func (c *Call) EndBy(n *wire.Note, at time.Time) {
	c.Steps = slices.DeleteFunc(slices.Clone(c.Steps), func(s Step) bool {
		return s.Kind == StepResult || s.Kind == StepToolError || s.Kind == StepError || s.Kind == StepStopped
	})
	if c.Failure, c.Ended = n.Why, at; at.After(c.End) {
		c.End = at
	}
	step := Step{At: at, Kind: StepError, Text: n.Why, Seq: c.ResultSeq}
	switch c.State = Failed; n.State {
	case "stopped":
		c.State, step.Kind, step.Text = Stopped, StepStopped, cmp.Or(n.Why, "stopped")
	case "done": // no log has such a note
		c.State, step.Kind = Done, StepResult
	}
	c.step(step)
}

// notedQuestion returns a copy of the question that a note refers to, for changes; nil if
// none matches. A note that has no number of a question has its round and pointer.
func (r *reduction) notedQuestion(f *wire.Frame, e item) *Question {
	if q := r.edit(e.question); q != nil {
		return q
	}
	for i, q := range r.call.Questions {
		if q.Via != elicit.ByRequest && q.Round == f.Round && q.Pointer == f.Note.Pointer {
			return r.call.edit(i)
		}
	}
	return nil
}
