package bridge

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Next is what a server did after its question was settled.
type Next struct {
	Text string // "answered the call: booked"; "" where it has done nothing yet
	Seq  int64  // the frame that says so, 0 if none does
	Over bool   // nothing else will be said of it
	ends bool   // it says that the server is gone
}

// nextMost bounds how many frames are looked at.
const nextMost = 5000

// Next looks for what a server did after a question was settled.
func (in *Inspection) Next(q Question) Next {
	if q.State == conversation.Pending {
		return Next{}
	}
	from := max(q.AskedSeq, q.AnswerSeq) + 1
	var told Next // what is no answer yet
	for seq := from; seq < from+nextMost && seq <= in.Log().Len(); seq++ {
		h := in.Log().Head(seq)
		elsewhere := h.Session != q.Session
		if q.Session == "" { // of a transcript
			elsewhere = h.Server != in.label(q.Server)
		}
		if elsewhere || h.Time.Before(q.Ended) {
			continue
		}
		next := in.nextOf(q, h)
		switch {
		case next.Over:
			return in.andThen(q, next)
		case next.Text != "":
			told = next
		}
	}
	return in.andThen(q, told)
}

// label is what frames call a server, "" where it is not known.
func (in *Inspection) label(id string) string {
	if s, err := in.Server(id); err == nil {
		return s.Label
	}
	return ""
}

// nextOf says what one frame tells of the question's end. h has no bytes yet.
func (in *Inspection) nextOf(q Question, h wire.Frame) Next {
	own := q.Call != 0 && h.Call == q.Call || h.Question == q.Number
	interesting := h.Dir == wire.Meta || h.Kind == wire.Noise || h.Kind == wire.Error || own
	if h.Dir == wire.ClientToServer || h.Dir == wire.Stderr || !interesting {
		return Next{}
	}
	f, err := in.Log().Frame(h.Seq)
	if err != nil {
		return Next{}
	}
	summary := wording.Shorten(f.Summary(), 120)
	said := func(over bool, format string, args ...any) Next {
		return Next{Text: strings.TrimSuffix(fmt.Sprintf(format, args...), ": "), Seq: f.Seq, Over: over}
	}
	switch {
	case f.Dir == wire.Meta:
		return nextNoted(f, said)
	case f.Kind == wire.Noise:
		return said(false, "sent what is no message: %s", summary)
	case f.Kind == wire.Request && mcp.IsInput(f.Method):
		return said(true, "asked again: %s", summary)
	case f.Method == mcp.NotificationCancelled:
		return said(q.Fault == "" || f.Question == q.Number, "took the question back: %s", summary)
	case f.Kind == wire.Notification:
		return said(false, "sent %s: %s", f.Method, summary)
	case f.Kind == wire.Error && !own:
		return said(false, "sent an error that answers nothing: %s", summary)
	case f.Kind == wire.Error:
		return said(true, "ended the call with an error: %s", summary)
	case f.Orphan:
		return said(false, "sent a response that answers nothing: %s", summary)
	case f.AsksInput:
		return said(true, "asked for more: %s", summary)
	case f.Failed:
		return said(true, "failed the call: %s", strings.TrimPrefix(summary, "error: "))
	default:
		return said(true, "answered the call: %s", summary)
	}
}

// nextNoted says what a note tells of it.
func nextNoted(f wire.Frame, said func(over bool, format string, args ...any) Next) Next {
	if f.Note == nil || f.Fault != "" { // which is our own doing
		return Next{}
	}
	words := wording.Shorten(f.Note.Words(&f), 120)
	switch f.Note.Kind {
	case wire.NoteProcessExited, wire.NoteServerLost:
		next := said(true, "%s", words)
		next.ends = true
		return next
	case wire.NoteStillRuns, wire.NoteNotDelivered, wire.NoteStreamBroken, wire.NoteStreamEnded, wire.NoteRequestFailed:
		return said(false, "%s", words)
	case wire.NoteHTTPStatus:
		if f.Failed {
			return said(false, "%s", words)
		}
	}
	return Next{}
}

// andThen adds how the connection has ended since, or that nothing has come yet.
func (in *Inspection) andThen(q Question, next Next) Next {
	s, err := in.server(q.Server)
	if err != nil || in.replay != nil {
		return next
	}
	in.mu.Lock()
	ended := s.latest != nil && s.latest.Name == q.Session && s.State == Ended
	reason := s.Reason
	in.mu.Unlock()
	c, err := in.calls.Call(q.Call)
	switch {
	case ended && !next.ends:
		next.Text, next.Over = strings.TrimPrefix(next.Text+"; then "+reason, "; then "), true
	case next.Text == "" && err == nil && c.State == conversation.Stopped && c.Failure != "": // by the plan itself
		next.Text = "nothing; " + c.Failure
	case next.Text == "" && err == nil && c.State == conversation.Stopped:
		next.Text, next.Over = "nothing until the call was stopped", true
	case next.Text == "" && err == nil && c.State == conversation.Failed:
		next.Text, next.Over = "nothing; the call "+c.State.String()+": "+c.Failure, true
	}
	return next
}
