package session

import (
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Sent implements [target.Observer]: it logs what we send and remembers what
// waits for a response. It reports false for a response that must not go out:
// the receiver of a cancellation should not answer any more (specification
// 2025-11-25, Cancellation, Behavior Requirements).
func (s *Session) Sent(u target.Unit) bool {
	if u.Fault != "" && (u.Message.Kind != wire.Request || u.Actor != "") {
		return s.sentDeliberately(u)
	}
	f := s.labelled(u.Frame, wire.ClientToServer)
	switch u.Message.Kind {
	case wire.Request:
		return s.sentRequest(u.Message, f)
	case wire.Result, wire.Error:
		return s.sentResponse(u.Message, f)
	default:
		return !s.probeTakenBack(u.Message) && s.sentNotification(u.Message, f)
	}
}

func (s *Session) sentRequest(m wire.Message, f wire.Frame) bool {
	if (m.Method == mcp.MethodDiscover || m.Method == mcp.MethodInitialize) && !s.begins(m.Method) {
		return false
	}
	s.mu.Lock()
	out := s.tickets[ticketOf(m)]
	if out == nil {
		out = &outgoing{}
	}
	out.id, out.method = string(m.ID), m.Method
	s.outgoing[out.id] = out
	s.mu.Unlock()
	f.Call, f.Round, f.Actor = out.call, out.round, out.actor
	s.Log.Append(f)
	return true
}

// sentNotification logs a notification of ours. It reports false for a
// cancellation that has no place in its revision.
func (s *Session) sentNotification(m wire.Message, f wire.Frame) bool {
	if out := s.takenBack(m); out != nil {
		f.Call = out.call
		s.mu.Lock()
		out.told = true
		s.stop(out)
		s.mu.Unlock()
	}
	if m.Method == mcp.NotificationCancelled && s.transport() == "http" && s.modern() {
		// Closing the stream that its response would have come on cancels a request
		// (specification 2026-07-28, Cancellation, Transport-Specific Cancellation).
		s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteCancelledByClose}, Call: f.Call})
		return false
	}
	s.Log.Append(f)
	return true
}

// incoming is a request of the server's.
type incoming struct {
	id          string // exact
	question    int    // 0 for requests that no person answers
	call, round int
	cancelled   string          // why the server took it back
	response    *Response       // what answers a question
	related     json.RawMessage // the id of our request on whose stream it came; nil for none
	deliberate  bool            // it is answered wrongly on purpose
}

// sentResponse logs a response of ours. It reports false for the answer to a
// question that was cancelled.
func (s *Session) sentResponse(m wire.Message, f wire.Frame) bool {
	id := wire.IDKey(m.ID)
	s.mu.Lock()
	var in incoming
	if known := s.incoming[id]; known != nil && known.question != 0 {
		in = *known
		s.late = remember(s.late, known)
		s.unsent--
		s.settledOne(known)
		if in.response != nil {
			in.response.sent = true
		}
	}
	delete(s.incoming, id)
	s.mu.Unlock()
	if in.cancelled != "" {
		// The cancellation came between the answer and its way out.
		s.undelivered(&in, in.cancelled+", before the answer went out")
		return false
	}
	f.Question, f.Call, f.Round = in.question, in.call, in.round
	if in.response != nil {
		f.Actor, f.Note = in.response.Actor, in.response.Beside
	}
	s.Log.Append(f)
	return true
}

// Undelivered implements [target.Observer].
func (s *Session) Undelivered(u target.Unit, err error) {
	m := u.Message
	if u.Status == 0 { // else the refusal was noted, with what it says
		note := wire.Frame{Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: err.Error()}, Failed: true}
		if m.Kind == wire.Request {
			note.Answers = m.ID
		}
		s.Noted(note)
	}
	if !m.Kind.IsResponse() || u.Fault != "" { // how the server takes that is what was to be seen
		return
	}
	s.mu.Lock()
	var in incoming
	for _, late := range s.late { // the latest counts
		if late.id == string(m.ID) {
			in = *late
		}
	}
	s.mu.Unlock()
	if in.question != 0 {
		s.undelivered(&in, err.Error())
	}
}

// undelivered notes why the answer to a question did not reach the server. What
// only says that there will be no answer is none.
func (s *Session) undelivered(in *incoming, why string) {
	if r := in.response; r != nil && r.Beside != nil && r.Beside.State != conversation.Answered.String() {
		return
	}
	note := &wire.Note{Kind: wire.NoteSettled, State: conversation.Undelivered.String(), Why: why, Pointer: "/params", At: time.Now()}
	f := wire.Frame{Note: note, Call: in.call, Round: in.round, Question: in.question}
	if in.response != nil {
		f.Actor = in.response.Actor
	}
	s.Noted(f)
}

// Response is the answer to a request of the server's.
type Response struct {
	ID     json.RawMessage // of the request, exact
	Result json.RawMessage
	Error  *client.Refusal // nil for a result
	Actor  string          // who answered
	// Beside says in the log what the response does not say; nil for nothing.
	Beside *wire.Note
	// Unsent is called where the response was not sent after all.
	Unsent func()

	sent bool // it was about to be written, or kept back
}

// Respond has a response sent. It does not wait until it is.
func (s *Session) Respond(r Response) {
	s.mu.Lock()
	if in := s.incoming[wire.IDKey(r.ID)]; in != nil {
		in.response = &r
		s.unsent++
	}
	s.outbox = append(s.outbox, &r)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// responsesMost is how many responses of one connection are on their way at a
// time. A server may take its time with each.
const responsesMost = 64

// sendResponses sends what is put into the outbox until the session ends or its
// link has failed, and then what is still in it. It returns once all of that is
// under way.
func (s *Session) sendResponses(link *target.Link, failed <-chan struct{}) {
	slots := make(chan struct{}, responsesMost)
	for ended := false; ; {
		s.mu.Lock()
		list := s.outbox
		s.outbox = nil
		s.mu.Unlock()
		for _, r := range list {
			slots <- struct{}{}
			s.Go(func() {
				defer func() { <-slots }()
				s.sendResponse(link, r)
			})
		}
		if ended {
			return
		}
		select {
		case <-s.ready:
		case <-failed:
			ended = true
		case <-s.ctx.Done():
			ended = true
		}
	}
}

// sendResponse sends one response. Why it fails is what the tap notes.
func (s *Session) sendResponse(link *target.Link, r *Response) {
	var failure *jsonrpc.Error
	if r.Error != nil {
		failure = &jsonrpc.Error{Code: r.Error.Code, Message: r.Error.Message}
	}
	if err := link.Respond(s.life, r.ID, r.Result, failure); err != nil {
		s.Logger.Debug("sending a response", "server", s.Spec.Name, "id", string(r.ID), "error", err)
	}
	s.mu.Lock()
	sent := r.sent
	s.mu.Unlock()
	if !sent {
		r.Unsent()
	}
}
