package conversation

import (
	"cmp"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/wire"
)

// event is a frame with what it means to the call that it belongs to.
type event struct {
	seq  uint32
	call uint32 // index in Conversation.calls
	next uint32 // index in Conversation.events of the next event of the call, 0 if there is none yet
	// question counts the questions of the call from 1: the question that the frame asks
	// (the first, if it asks several), answers, settles or cancels; 0 if it is about none.
	question uint32
	kind     eventKind
	guessed  bool // the question's call is a guess, since several were open
	resumed  bool // the task of the call goes on in a new session
}

// eventKind names the part that a frame plays in its call.
type eventKind uint8

// The kinds of event. A further kind of frame needs a constant here, a case in kindOf, one
// in Conversation.apply (to which call and question it belongs), one in reduction.apply
// (how it changes the call), and one in keepsContext if it is read without being chosen.
const (
	noEvent       eventKind = iota
	request                 // the client begins a round
	response                // answers that request, or takes the place of its response
	inputRequired           // a response that asks for another round
	listQuestions           // error -32042 to a list request, which begins a call of its own
	question                // a request of the server that the person answers
	answer                  // the client's response to it
	faultyAnswer            // what a fault sends in place of the answer, or as the answer
	serverRequest           // any other request of the server
	note                    // of the inspector
	stopped                 // the client cancels a request
	cancelled               // the server cancels a question
	urlDone                 // notifications/elicitation/complete
	callTask                // about the task at the server that the call became
	questionTask            // about the task of the client's that a question is
	listChanged
	logMessage
	progress
)

// kindOf returns what a frame is to its call, by the frame's head. Whether a response asks
// for another round depends on its bytes and revision; see Conversation.apply.
func kindOf(f *wire.Frame) eventKind {
	out := f.Dir == wire.ClientToServer
	switch {
	case out && f.Fault != "" && f.Kind != wire.Request && (f.Pair == 0 || f.Question != 0):
		return faultyAnswer
	case f.Dir == wire.Stderr || f.Kind == wire.Noise && f.Pair == 0:
		return noEvent
	case f.Dir == wire.Meta && f.Pair == 0:
		return note
	case mcp.IsTask(f.Method) || mcp.TellsTask(f.Method):
		// Who responds and notifies has the task, and who requests has not.
		if f.Dir == wire.Meta || out == (f.Kind == wire.Request) {
			return callTask
		}
		return questionTask
	case f.Kind == wire.Request && out:
		return request
	case f.Kind == wire.Request && mcp.IsInput(f.Method):
		return question
	case f.Kind == wire.Request:
		return serverRequest
	case f.Kind == wire.Error && !out && mcp.IsList(f.Method) && f.Question != 0:
		// An error without a number asks nothing: each URL in it was being asked for
		// already, or it is unknown whether somebody was asked.
		return listQuestions
	case f.Kind.IsResponse() && out && mcp.IsInput(f.Method):
		return answer
	case f.Kind.IsResponse() || f.Pair != 0:
		return response
	}
	switch f.Method {
	case mcp.NotificationCancelled:
		if out {
			return stopped
		}
		return cancelled
	case mcp.NotificationElicitComplete:
		return urlDone
	case mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged:
		return listChanged
	case mcp.NotificationMessage:
		return logMessage
	case mcp.NotificationProgress:
		return progress
	}
	return noEvent
}

// IsReport reports whether a notification is a log message or reports progress. A call can
// have millions of them.
func IsReport(method string) bool {
	return method == mcp.NotificationProgress || method == mcp.NotificationMessage
}

func isReport(f *wire.Frame) bool {
	return f.Kind == wire.Notification && f.Dir == wire.ServerToClient && IsReport(f.Method)
}

// begin adds a call that starts with a frame, and returns its index.
func (c *attribution) begin(s *session, f *frame) int {
	o := outline{recorded: uint32(f.Call), session: s}
	if f.Dir == wire.ClientToServer {
		o.number = uint32(c.callNumbers.take(f.Call, 1, uint32(f.Seq)))
	}
	c.calls = append(c.calls, o)
	i := len(c.calls) - 1
	if f.Call != 0 {
		s.calls[f.Call] = i
	}
	return i
}

// add makes a frame an event of the call at index i.
func (c *attribution) add(i int, f *frame, kind eventKind, question uint32) *event {
	o := &c.calls[i]
	at := uint32(len(c.events))
	c.events = append(c.events, event{seq: uint32(f.Seq), call: uint32(i), question: question, kind: kind})
	if o.first == 0 {
		o.first = at
	} else {
		c.events[o.last].next = at
	}
	o.last = at
	c.touch(i)
	return &c.events[at]
}

// eventOf returns the event of a frame, nil if the frame is none; reports are none.
func (c *attribution) eventOf(seq int64) *event {
	k, ok := slices.BinarySearchFunc(c.events, uint32(seq), func(e event, seq uint32) int { return cmp.Compare(e.seq, seq) })
	if !ok || k == 0 {
		return nil
	}
	return &c.events[k]
}

// reportRun is a run of reports with the index of their call, or noCall. Frames of other
// kinds may lie between first and last. Runs cost less than an event for each report.
type reportRun struct{ first, last, call uint32 }

const noCall = ^uint32(0)

// addReport adds a report to the call at index i, or to none if that is noCall.
func (c *attribution) addReport(i, seq uint32) {
	if i != noCall {
		c.calls[i].report = seq
		c.touch(int(i))
	}
	if n := len(c.reports); n > 0 && c.reports[n-1].call == i {
		c.reports[n-1].last = seq
		return
	}
	c.reports = append(c.reports, reportRun{seq, seq, i})
}

// reportsFrom returns the runs of reports that end at a frame or later.
func (c *attribution) reportsFrom(seq int64) []reportRun {
	k, _ := slices.BinarySearchFunc(c.reports, seq, func(r reportRun, seq int64) int { return cmp.Compare(int64(r.last), seq) })
	return c.reports[k:]
}

// touch records that the call at index i has changed.
func (c *attribution) touch(i int) {
	place := i + 1
	c.touches++
	c.touched[uint32(place)] = c.touches
	if r := c.watched[place]; r != nil {
		r.stale = true
	}
}
