package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// Sending implements [transport.Observer]: it logs what the client sends, and records
// requests that wait for a response. It returns false for a message that must not be
// sent, such as the response to a cancelled request (specification 2025-11-25,
// Cancellation, Behavior Requirements).
func (s *Session) Sending(ctx context.Context, u transport.Unit) bool {
	f := s.labelled(u.Frame, wire.ClientToServer)
	if u.Fault != "" && (u.Message.Kind != wire.Request || u.Actor != "") {
		// Bytes of a fault, unless they are a spoilt request, which sentRequest logs.
		s.mu.Lock()
		if in := s.incoming[wire.IDKey(u.Message.ID)]; u.Message.Kind.IsResponse() && in != nil && in.question == f.Question {
			delete(s.incoming, wire.IDKey(u.Message.ID))
			s.late = remember(s.late, in)
		}
		s.mu.Unlock()
		s.Log.Append(f)
		return true
	}
	switch u.Message.Kind {
	case wire.Request:
		return s.sentRequest(outgoingOf(ctx), u.Message, f)
	case wire.Result, wire.Error:
		return s.sentResponse(u.Message, f)
	default:
		return s.sentNotification(outgoingOf(ctx), u.Message, f)
	}
}

// sentRequest logs a request from the client. It returns false for one that is of no use any
// more.
func (s *Session) sentRequest(out *outgoing, m wire.Message, f wire.Frame) bool {
	s.mu.Lock()
	if m.Method == mcp.MethodDiscover || m.Method == mcp.MethodInitialize {
		s.handshake.methods = append(s.handshake.methods, m.Method)
		if s.handshake.useless != nil { // a server that answers server/discover is modern and has no initialize
			s.mu.Unlock()
			return false
		}
	}
	if out.over { // such as one whose call has ended meanwhile
		s.mu.Unlock()
		return false
	}
	out.id, out.method = string(m.ID), m.Method
	s.outgoing[out.id], out.unlogged = out, true
	s.mu.Unlock()
	f.Call, f.Round, f.Actor = out.call, out.round, out.actor
	s.Log.Append(f)
	s.mu.Lock()
	out.unlogged = false
	s.mu.Unlock()
	return true
}

// sentNotification logs a notification from the client. It returns false for a
// cancellation of a request that was not sent; of server/discover, since a server that did
// not answer it should only receive initialize; and over Streamable HTTP of 2026-07-28,
// where closing the stream takes its place.
func (s *Session) sentNotification(out *outgoing, m wire.Message, f wire.Frame) bool {
	if m.Method != mcp.NotificationCancelled {
		s.Log.Append(f)
		return true
	}
	s.mu.Lock()
	sent := out.id != "" && out.method != mcp.MethodDiscover
	if f.Call = out.call; sent {
		out.told = true
		s.stop(out)
	}
	s.mu.Unlock()
	if !sent {
		return false
	}
	if s.transport() == "http" && s.modern() {
		// Closing the stream of a request's response cancels the request (specification
		// 2026-07-28, Cancellation, Transport-Specific Cancellation).
		s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteCancelledByClose}, Call: f.Call})
		return false
	}
	s.Log.Append(f)
	return true
}

// incoming is a request from the server.
type incoming struct {
	id          string // exact id
	question    int    // number of the question; 0 if the request does not ask the person
	call, round int
	cancelled   string          // why the server cancelled the request; "" if it did not
	response    *Response       // the answer to a question; nil until there is one
	related     json.RawMessage // id of our request whose stream carried it; nil for none
	deliberate  bool            // a fault answers the request
	isOfTask    bool            // the request is about tasks of the client's
	of          *callTask       // the task of the call that the question belongs to; nil for none
	about       *questionTask   // the task that it is about; nil for none
}

// sentResponse logs a response from the client. It returns false for the answer to a
// cancelled question.
func (s *Session) sentResponse(m wire.Message, f wire.Frame) bool {
	id := wire.IDKey(m.ID)
	s.mu.Lock()
	var in incoming
	if known := s.incoming[id]; known != nil {
		if known.question != 0 {
			s.late = remember(s.late, known)
		}
		if t := known.about; t != nil { // the response is the task, or about it
			in = incoming{question: t.question, call: t.call, round: t.round, response: known.response}
		} else if known.question != 0 {
			in = *known
			s.unsent--
			s.settledOne(known)
			if in.response != nil {
				in.response.sent = true
			}
		}
	}
	delete(s.incoming, id)
	s.mu.Unlock()
	if in.cancelled != "" {
		// The cancellation arrived after the answer was given and before it was sent.
		s.undelivered(&in, in.cancelled+", before the answer went out")
		return false
	}
	f.Question, f.Call, f.Round = in.question, in.call, in.round
	if in.response != nil {
		f.Actor, f.Fault, f.Note = in.response.Actor, in.response.Fault, in.response.Beside
	}
	s.Log.Append(f)
	return true
}

// Undelivered implements [transport.Observer].
func (s *Session) Undelivered(u transport.Unit, err error) {
	m := u.Message
	s.mu.Lock()
	if out := s.outgoing[string(m.ID)]; m.Kind == wire.Request && out != nil && out.listens {
		s.refusedToTell()
	}
	if m.Method == mcp.MethodDiscover && errors.As(err, new(*signin.Error)) { // another request would lead to the same sign-in
		s.handshake.useless = err
	}
	s.mu.Unlock()
	if u.Status == 0 { // an HTTP refusal is noted already, with its text
		note := wire.Frame{Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: err.Error()}, Failed: true}
		if m.Kind == wire.Request {
			note.Answers = m.ID
		}
		s.Noted(note)
	}
	if !m.Kind.IsResponse() || u.Fault != "" { // whether the server takes what a fault sends is for the person to see
		return
	}
	s.mu.Lock()
	var in incoming
	for _, late := range s.late { // the latest match counts
		if late.id == string(m.ID) {
			in = *late
		}
	}
	s.mu.Unlock()
	if in.question != 0 {
		s.undelivered(&in, err.Error())
	}
}

// undelivered notes why the answer to a question did not reach the server. It notes
// nothing for a response that only says that there will be no answer.
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

// Response is the response to a request from the server.
type Response struct {
	ID     json.RawMessage // exact id of the request
	Result json.RawMessage
	Error  *conversation.RPCError // nil for a result
	Actor  string                 // who made the answer
	Fault  string                 // the fault that made it; "" for none
	// Beside is a note for the log about the response; nil for none.
	Beside *wire.Note
	// Done is called when the response is written, or cannot be; nil for nothing to call. It
	// is told whether the response was sent.
	Done func(sent bool)
	// Task is the id of the task that the question is; "" if it is none. The response is
	// kept until the server fetches it.
	Task string

	sent bool // Sent was called for the response, whether it allowed the response or not
}

// json returns the response as it is sent.
func (r *Response) json() json.RawMessage {
	outcome := Member{"result", r.Result}
	if r.Error != nil {
		outcome = Member{"error", object([]Member{
			{"code", fmt.Append(nil, r.Error.Code)}, {"message", rawjson.Quoted(r.Error.Message)}, {"data", r.Error.Data},
		})}
	}
	outcome.Value = rawjson.AppendCompact(nil, outcome.Value) // a line feed would end the message over stdio
	return object([]Member{{"jsonrpc", json.RawMessage(`"2.0"`)}, {"id", r.ID}, outcome})
}

// Respond queues a response to be sent, and does not wait until it is sent.
func (s *Session) Respond(r Response) {
	if r.Task != "" {
		s.settleTask(&r)
		return
	}
	s.queue(&r)
}

func (s *Session) queue(r *Response) {
	s.mu.Lock()
	if in := s.incoming[wire.IDKey(r.ID)]; in != nil {
		in.response = r
		if in.question != 0 && in.about == nil {
			s.unsent++
		}
	}
	s.outbox = append(s.outbox, r)
	s.mu.Unlock()
	signal(s.ready)
}

// responsesMost bounds how many responses of one connection are sent at the same time.
// A server may be slow to accept each of them.
const responsesMost = 64

// sendResponses sends the responses in the outbox until the session ends or failed is
// closed, then those that are left, and returns when each is sent.
func (s *Session) sendResponses(link *transport.Link, failed <-chan struct{}) {
	var sending errgroup.Group
	sending.SetLimit(responsesMost)
	for ended := false; ; {
		s.mu.Lock()
		list := s.outbox
		s.outbox = nil
		s.mu.Unlock()
		for _, r := range list {
			sending.Go(func() error {
				if err := link.Send(s.life, transport.Outgoing{Frame: wire.Frame{Raw: r.json()}}); err != nil {
					s.Logger.Debug("sending a response", "server", s.Spec.Name, "id", string(r.ID), "error", err)
				}
				s.mu.Lock()
				sent := r.sent
				s.mu.Unlock()
				if r.Done != nil {
					r.Done(sent)
				}
				return nil
			})
		}
		if ended {
			_ = sending.Wait() // there are no errors
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
