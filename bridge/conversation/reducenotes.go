package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// settled applies a note that records how a question ended.
func (r *reduction) settled(q *Question, f *wire.Frame) {
	n := f.Note
	at := n.At
	if at.IsZero() || f.Dir != wire.Meta { // an answer on the wire has the time of its frame
		at = r.clock
	}
	q.By, q.TurnedAway = strings.Clone(f.Actor), n.TurnedAway
	r.call.settle(q, stateNamed(n.State), n.Why, at)
}

// noted applies a note that the inspector made about the call.
func (r *reduction) noted(f *wire.Frame, a about) {
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
		r.end(n, at)
	case wire.NoteStrayResponse:
		r.call.step(Step{At: at, Kind: StepStray, Text: n.Words(f), Seq: cmp.Or(a.stray, f.Seq)})
	case wire.NoteAnswered:
		if q := r.about(f); q != nil {
			r.answeredOff(q, f, at)
		}
	case wire.NoteMisbehaved:
		if q := r.about(f); q != nil {
			r.misbehaved(q, f, at)
		}
	case wire.NoteSettled:
		if q := r.about(f); q != nil {
			r.settled(q, f)
		}
	}
}

// answeredOff applies a note that records an answer which is not on the wire, or not
// yet.
func (r *reduction) answeredOff(q *Question, f *wire.Frame, at time.Time) {
	n := f.Note
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

// misbehaved applies a note that records a deliberately wrong answer.
func (r *reduction) misbehaved(q *Question, f *wire.Frame, at time.Time) {
	if q.State != Pending {
		return
	}
	q.By, q.Fault, q.Wrong, q.FaultParams = ByFault, strings.Clone(f.Fault), f.Note.Why, r.part(f.Note.Params)
	q.Answer, q.Action = r.part(f.Note.Answer), rawjson.Text(rawjson.Member(f.Note.Answer, "action"))
	r.call.settle(q, Answered, "deliberate: "+f.Note.Why, at)
}

// deliberate records the first deliberately wrong frame that was sent in place of an
// answer. It reports whether f is such a frame.
func (r *reduction) deliberate(f *wire.Frame) bool {
	if f.Fault == "" || f.Dir != wire.ClientToServer || f.Question == 0 {
		return false
	}
	if i, ok := r.known[f.Question]; ok && r.call.Questions[i].AnswerSeq == 0 {
		q := r.call.edit(i)
		q.AnswerSeq, q.AnswerUnseen = f.Seq, !r.shown
		if f.Kind == wire.Error {
			q.Error = r.part(f.Message.Error)
		}
	}
	return true
}

// end ends the call as a note of kind NoteEnded says.
func (r *reduction) end(n *wire.Note, at time.Time) {
	c := &r.call
	c.Steps = slices.DeleteFunc(c.Steps, func(s Step) bool {
		return s.Kind == StepResult || s.Kind == StepToolError || s.Kind == StepError || s.Kind == StepStopped
	})
	if c.State != Done && c.State != ToolFailed || n.State != "failed" {
		c.ResultSeq, c.Result = 0, nil
	}
	c.Failure, c.Ended, r.ended = n.Why, at, true
	step := Step{At: at, Kind: StepError, Text: n.Why, Seq: c.ResultSeq}
	if c.State = Failed; n.State == "stopped" {
		c.State, step.Kind, step.Text = Stopped, StepStopped, cmp.Or(n.Why, "stopped")
	}
	c.step(step)
}

// about returns a copy of the question that a note refers to, for changes; nil if
// none matches.
func (r *reduction) about(f *wire.Frame) *Question {
	if i, ok := r.known[f.Question]; ok {
		return r.call.edit(i)
	}
	for i, q := range r.call.Questions {
		if q.Via != elicit.ByRequest && q.Round == f.Round && q.Pointer == f.Note.Pointer {
			return r.call.edit(i)
		}
	}
	return nil
}
