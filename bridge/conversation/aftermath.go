package conversation

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Settled is a settled question, with the state of its call and its connection.
type Settled struct {
	Question
	Session string // the name of the connection; "" if only the server is known
	Server  string // label
	Lost    string // why the connection ended; "" if it is open, or the end is not known
	Call    int    // 0 if no call is known
	// CallState and CallFailure are the state of the call.
	CallState   State
	CallFailure string

	passed bool // another question was asked or settled since
}

// Next describes what the server did.
type Next struct {
	Text string // for example "answered the call: booked"; "" if the server has done nothing yet
	Seq  int64  // the frame that shows it, 0 if none does

	final bool // later frames do not matter
	gone  bool // Text tells that the connection ended
}

// most is the maximum number of frames that Of reads.
const most = 5000

// Of describes what the server did after the question was settled. What befalls the
// connection after another question was asked or settled belongs to that one.
func Of(log *wire.Log, q Settled) Next {
	var next Next
	seq, end := max(q.AskedSeq, q.AnswerSeq)+1, log.Len()
	for until := seq + most; seq <= end && seq < until && !next.gone && !(next.final && q.passed); seq++ {
		head := log.Head(seq)
		elsewhere := head.Session != q.Session
		if q.Session == "" {
			elsewhere = head.Server != q.Server
		}
		if elsewhere || head.Time.Before(q.Ended) {
			continue
		}
		if !next.final && q.mayShow(&head) {
			if f, err := log.Frame(seq); err == nil {
				if one := q.shownBy(&f); one.Text != "" {
					next = one
				}
			}
		}
		q.passed = q.passed || q.isAnother(&head)
	}
	q.passed = q.passed || seq <= end // what the rest of the log shows is not known
	switch {
	case q.passed && q.Lost != "": // the end belongs to a later question
	case q.Lost != "" && !next.gone:
		next.Text = strings.TrimPrefix(next.Text+"; then "+q.Lost, "; then ")
	case next.Text != "":
	case q.CallState == Stopped && q.CallFailure != "": // the plan stopped the call
		next.Text = "nothing; " + q.CallFailure
	case q.CallState == Stopped:
		next.Text = "nothing until the call was stopped"
	case q.CallState == Failed:
		next.Text = "nothing; the call " + q.CallState.String() + ": " + q.CallFailure
	}
	return next
}

func (q *Settled) isAnother(head *wire.Frame) bool {
	switch head.Dir {
	case wire.ServerToClient:
		return head.Kind == wire.Request && mcp.IsInput(head.Method) || head.AsksInput || head.Kind == wire.Error && head.Question != 0
	case wire.ClientToServer:
		return head.Kind.IsResponse() && mcp.IsInput(head.Method) && head.Pair != q.AskedSeq
	}
	return head.Question != 0 && head.Question != q.Number
}

func (q *Settled) isOf(f *wire.Frame) bool {
	return q.Call != 0 && f.Call == q.Call || f.Question == q.Number
}

func (q *Settled) mayShow(head *wire.Frame) bool {
	switch {
	case head.Dir == wire.ClientToServer, head.Dir == wire.Stderr:
		return false
	case q.passed:
		return q.isOf(head)
	case head.Dir == wire.Meta, head.Kind == wire.Noise, head.Kind == wire.Error:
		return true
	}
	return q.isOf(head)
}

func (q *Settled) shownBy(f *wire.Frame) Next {
	summary := wording.Shorten(strings.TrimPrefix(f.Summary(), "? "), 120)
	said := func(final bool, format string, args ...any) Next {
		return Next{Text: strings.TrimSuffix(fmt.Sprintf(format, args...), ": "), Seq: f.Seq, final: final}
	}
	switch {
	case f.Dir == wire.Meta:
		if f.Note == nil || f.Fault != "" { // the inspector did this deliberately
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
	case f.Kind == wire.Noise:
		return said(false, "sent what is not a message: %s", summary)
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
