package conversation

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Settled is a settled question, with its call and its connection.
type Settled struct {
	Question
	Session string // the name of the connection; "" if only the server is known
	Server  string // label
	Call    Call   // the zero value if none is known

	talk   *Conversation
	place  int  // of its call
	passed bool // another question was asked or settled since
}

// Next describes what the server did.
type Next struct {
	Text string // for example "answered the call: booked"; "" if the server has done nothing yet
	Seq  int64  // the frame that shows it, 0 if none does

	final bool // later frames do not matter, but for the end of the connection
	gone  bool // Text tells that the connection ended
}

// most is the maximum number of frames that After reads.
const most = 5000

// After describes what the server did after the question was settled. What befalls the
// connection after another question was asked or settled belongs to that one.
func (c *Conversation) After(q Settled) Next {
	var next Next
	q.talk, q.place = c, c.PlaceOf(q.AskedSeq)
	seq, end := max(q.AskedSeq, q.AnswerSeq)+1, c.log.Len()
	for until := seq + most; seq <= end && seq < until && !next.gone && !(next.final && q.passed); seq++ {
		head := c.log.Head(seq)
		elsewhere := head.Session != q.Session
		if q.Session == "" {
			elsewhere = head.Server != q.Server
		}
		if elsewhere || head.Time.Before(q.Ended) {
			continue
		}
		if q.mayShow(&head) && (!next.final || head.Dir == wire.Meta) {
			if f, err := c.log.Frame(seq); err == nil {
				one := q.shownBy(&f)
				switch {
				case one.Text == "":
				case !next.final:
					next = one
				case one.gone && f.Note.By != wire.ByInspector && (f.Note.Code == nil || *f.Note.Code != 0):
					// With code 0 a process also ends because its input was closed.
					next.Text, next.gone = next.Text+"; then "+one.Text, true
				}
			}
		}
		q.passed = q.passed || q.isAnother(&head)
	}
	switch state, failure := q.Call.State, q.Call.Failure; {
	case next.Text != "":
	case state == Stopped && failure != "": // the plan stopped the call
		next.Text = "nothing; " + failure
	case state == Stopped:
		next.Text = "nothing until the call was stopped"
	case state == Failed:
		next.Text = wording.Join(": ", "nothing; the call "+state.String(), failure)
	}
	return next
}

// isAnother reports whether another question is asked or answered in a frame. One that ends
// without a message, as with its connection, is none that the server could react to.
func (q *Settled) isAnother(head *wire.Frame) bool {
	switch head.Dir {
	case wire.ServerToClient:
		return head.Kind == wire.Request && mcp.IsInput(head.Method) || head.AsksInput || head.Kind == wire.Error && head.Question != 0
	case wire.ClientToServer:
		return head.Kind.IsResponse() && mcp.IsInput(head.Method) && head.Pair != q.AskedSeq
	}
	if head.Question == 0 || head.Question == q.Number {
		return false
	}
	f, err := q.talk.log.Frame(head.Seq)
	return err == nil && f.Note != nil && f.Note.Kind != wire.NoteSettled
}

// isOf reports whether a frame belongs to the question or to its call. A frame that belongs
// to no call, such as a stray response, can name one.
func (q *Settled) isOf(f *wire.Frame) bool {
	if place := q.talk.PlaceOf(f.Seq); place != 0 {
		return place == q.place
	}
	return f.Question == q.Number || f.Call != 0 && f.Call == q.Call.Recorded
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
	ofTask := kindOf(f) == callTask
	if ofTask && f.Seq == q.Call.ResultSeq { // it has the response to the call
		end := *f
		end.Message, end.Method = Final(f), q.Call.Method
		end.Kind, end.Failed = end.Message.Kind, q.Call.State == ToolFailed
		f, ofTask = &end, false
	}
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
	case ofTask && f.Kind == wire.Error:
		return said(false, "answered %s with an error: %s", f.Method, summary)
	case ofTask && q.talk.QuestionAt(f.Seq, 1) == 0: // the task goes on
		return Next{}
	case f.MakesTask:
		return said(false, "made the call a task: %s", summary)
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
