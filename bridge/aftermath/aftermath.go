// Package aftermath says what a server did after a question of its was settled, in a few
// words, as the next frames on its connection show.
package aftermath

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Settled is a question that is settled, with what is known of its call and its
// connection besides the frames.
type Settled struct {
	conversation.Question
	Session string // the connection that it came on; "" if only its server is known
	Server  string // label
	Lost    string // why the connection ended; "" if it stands, or that is not known
	Call    int    // 0 if it belongs to none
	// CallState and CallFailure are how the call stands.
	CallState   conversation.State
	CallFailure string
}

// Next is what the server did.
type Next struct {
	Text string // "answered the call: booked"; "" if it has done nothing yet
	Seq  int64  // the frame that shows it, 0 if none does

	final bool // nothing that comes later belongs to it
	gone  bool // it says that the connection ended
}

// most bounds how many frames are looked at.
const most = 5000

// Of looks for what the server did.
func Of(log *wire.Log, q Settled) Next {
	from := max(q.AskedSeq, q.AnswerSeq) + 1
	var next Next
	for seq := from; seq < from+most && seq <= log.Len() && !next.final; seq++ {
		head := log.Head(seq)
		elsewhere := head.Session != q.Session
		if q.Session == "" {
			elsewhere = head.Server != q.Server
		}
		if elsewhere || head.Time.Before(q.Ended) || !q.mayShow(&head) {
			continue
		}
		if f, err := log.Frame(seq); err == nil {
			if one := q.shownBy(&f); one.Text != "" {
				next = one
			}
		}
	}
	return q.andThen(next)
}

// isOf reports whether a frame belongs to the question or to its call.
func (q *Settled) isOf(f *wire.Frame) bool {
	return q.Call != 0 && f.Call == q.Call || f.Question == q.Number
}

// mayShow reports whether the frame with this head can show what the server did.
func (q *Settled) mayShow(head *wire.Frame) bool {
	switch {
	case head.Dir == wire.ClientToServer, head.Dir == wire.Stderr:
		return false
	case head.Dir == wire.Meta, head.Kind == wire.Noise, head.Kind == wire.Error:
		return true
	}
	return q.isOf(head)
}

// shownBy says what one frame shows.
func (q *Settled) shownBy(f *wire.Frame) Next {
	summary := wording.Shorten(f.Summary(), 120)
	said := func(final bool, format string, args ...any) Next {
		return Next{Text: strings.TrimSuffix(fmt.Sprintf(format, args...), ": "), Seq: f.Seq, final: final}
	}
	switch {
	case f.Dir == wire.Meta:
		return noted(f)
	case f.Kind == wire.Noise:
		return said(false, "sent what is no message: %s", summary)
	case f.Kind == wire.Request && mcp.IsInput(f.Method):
		return said(true, "asked again: %s", summary)
	case f.Method == mcp.NotificationCancelled:
		return said(q.Fault == "" || f.Question == q.Number, "took the question back: %s", summary)
	case f.Kind == wire.Notification:
		return said(false, "sent %s: %s", f.Method, summary)
	case f.Kind == wire.Error && !q.isOf(f):
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

// noted says what a note of the inspector's shows.
func noted(f *wire.Frame) Next {
	if f.Note == nil || f.Fault != "" { // which is our own doing
		return Next{}
	}
	next := Next{Text: wording.Shorten(f.Note.Words(f), 120), Seq: f.Seq}
	switch f.Note.Kind {
	case wire.NoteProcessExited, wire.NoteServerLost:
		next.final, next.gone = true, true
		return next
	case wire.NoteStillRuns, wire.NoteNotDelivered, wire.NoteStreamBroken, wire.NoteStreamEnded, wire.NoteRequestFailed:
		return next
	case wire.NoteHTTPStatus:
		if f.Failed {
			return next
		}
	}
	return Next{}
}

// andThen adds how the connection ended, or that nothing came before the call did.
func (q *Settled) andThen(next Next) Next {
	switch {
	case q.Lost != "" && !next.gone:
		next.Text = strings.TrimPrefix(next.Text+"; then "+q.Lost, "; then ")
	case next.Text != "":
	case q.CallState == conversation.Stopped && q.CallFailure != "": // by the plan itself
		next.Text = "nothing; " + q.CallFailure
	case q.CallState == conversation.Stopped:
		next.Text = "nothing until the call was stopped"
	case q.CallState == conversation.Failed:
		next.Text = "nothing; the call " + q.CallState.String() + ": " + q.CallFailure
	}
	return next
}
