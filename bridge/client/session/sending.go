package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Sending implements [transport.Observer]: it logs what the client sends, and records
// requests that wait for a response. It returns false for a message that must not be
// sent, such as the response to a cancelled request (specification 2025-11-25,
// Cancellation, Behavior Requirements).
func (t tap) Sending(ctx context.Context, u transport.Tapped) bool {
	f := t.labelled(u.Frame, wire.ClientToServer)
	switch kind := u.Message.Kind; {
	case u.Fault != "" && (kind != wire.Request || u.Actor != ""):
		// Bytes of a fault, unless they are a spoilt request, which sentRequest logs.
		id := wire.IDKey(u.Message.ID)
		if in := t.outbox.find(id); kind.IsResponse() && in != nil && in.question == f.Question {
			t.outbox.beginSending(id)
		}
		t.Log.Append(f)
		return true
	case kind == wire.Request:
		return t.sentRequest(outgoingOf(ctx), u.Message, f)
	case kind.IsResponse():
		return t.sentResponse(u.Message, f)
	default:
		return t.sentNotification(outgoingOf(ctx), u.Message, f)
	}
}

// sentRequest logs a request from the client. It returns false for one that is of no use any
// more.
func (t tap) sentRequest(out *outgoing, m wire.Message, f wire.Frame) bool {
	if ofHandshake(m.Method) {
		t.handshake.update(func(a *agreement) { a.methods = append(a.methods, m.Method) })
		if t.agreed().useless != nil { // initialize would be of no use either
			return false
		}
	}
	if !t.requests.begin(out, m) {
		return false
	}
	if m.Method == mcp.MethodListen {
		t.unheard.Store(true)
	}
	f.Call, f.Round, f.Actor = out.Call, out.Round, out.Actor
	t.Log.Append(f)
	t.requests.await(out)
	return true
}

// sentNotification logs a notification from the client. It returns false for a
// cancellation of which the server need not know, and over Streamable HTTP of 2026-07-28,
// where closing the stream takes its place.
func (t tap) sentNotification(out *outgoing, m wire.Message, f wire.Frame) bool {
	if m.Method == mcp.NotificationCancelled {
		if !t.requests.cancel(out) {
			return false
		}
		f.Call = out.Call
		if t.Spec.OfFrames() == "http" && t.modern() {
			// Closing the stream of a request's response cancels the request (specification
			// 2026-07-28, Cancellation, Transport-Specific Cancellation).
			t.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteCancelledByClose}, Call: f.Call})
			return false
		}
	}
	t.Log.Append(f)
	return true
}

// sentResponse logs a response from the client. It returns false for the answer to a
// cancelled question.
func (t tap) sentResponse(m wire.Message, f wire.Frame) bool {
	in := t.outbox.beginSending(wire.IDKey(m.ID))
	if in != nil {
		f.Question, f.Call, f.Round = in.question, in.call, in.round
		if of := in.about; of != nil { // the response is the task, or about it
			f.Question, f.Call, f.Round = of.question, of.call, of.round
		} else if why := in.cancelled.Load(); why != nil { // after the answer was given and before it was sent
			t.undelivered(in, *why+", before the answer went out")
			return false
		}
		if in.response != nil {
			f.Actor, f.Fault, f.Note = in.response.Actor, in.response.Fault, in.response.Beside
		}
	}
	t.Log.Append(f)
	return true
}

// Undelivered implements [transport.Observer].
func (t tap) Undelivered(u transport.Tapped, err error) {
	m := u.Message
	if out := t.requests.find(string(m.ID)); m.Kind == wire.Request && out != nil && out.listens {
		t.callTasks.refused()
	}
	if m.Method == mcp.MethodDiscover && errors.As(err, new(*signin.Error)) { // another request would lead to the same sign-in
		t.handshake.update(func(a *agreement) { a.useless = err })
	}
	if u.Status == 0 { // an HTTP refusal is noted already, with its text
		note := wire.Frame{Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: err.Error()}, Failed: true}
		if m.Kind == wire.Request {
			note.Answers = m.ID
		}
		t.Noted(note)
	}
	if !m.Kind.IsResponse() || u.Fault != "" { // whether the server takes what a fault sends is for the person to see
		return
	}
	if in := t.outbox.answered(wire.IDKey(m.ID)); in != nil {
		t.undelivered(in, err.Error())
	}
}

// undelivered notes why the answer to a question did not reach the server. It notes
// nothing for a response that only says that there will be no answer.
func (t tap) undelivered(in *incoming, why string) {
	if r := in.response; r != nil && r.Beside != nil && r.Beside.State != conversation.Answered.String() {
		return
	}
	note := &wire.Note{Kind: wire.NoteSettled, State: conversation.Undelivered.String(), Why: why, Pointer: "/params", At: time.Now()}
	f := wire.Frame{Note: note, Call: in.call, Round: in.round, Question: in.question}
	if in.response != nil {
		f.Actor = in.response.Actor
	}
	t.Noted(f)
}

// outgoingFor returns what is sent in place of a message from the SDK: a spoilt request, a
// reworded cancellation, an initialize request that declares tasks, or the message itself.
func (s *Session) outgoingFor(ctx context.Context, raw []byte) transport.Outgoing {
	out := outgoingOf(ctx)
	m, err := wire.ParseMessage(raw)
	switch {
	case err != nil: // the tap logs it as noise
	case m.Kind == wire.Request && out.Spoilt != nil:
		return s.spoil(out, m, raw)
	case m.Method == mcp.MethodInitialize:
		raw = declaringTasks(s.Settings, m, raw)
	case m.Method == mcp.NotificationCancelled:
		raw = s.reworded(out, m, raw)
	}
	if s.Traces != nil && err == nil && m.Kind == wire.Request {
		raw = withMeta(raw, s.Traces.Context(s.Log, s.labelled(wire.Frame{Call: out.Call, Round: out.Round, Message: m}, wire.ClientToServer), s.Settings.Traces))
	}
	return transport.Outgoing{Frame: wire.Frame{Raw: raw}}
}

// withMeta returns a request with members in the _meta of its params.
func withMeta(raw []byte, added []Member) []byte {
	if len(added) == 0 {
		return raw
	}
	params, meta := rawjson.Member(raw, "params"), rawjson.Member(raw, "params", "_meta")
	for _, m := range added {
		meta = object(append(without(meta, m.Name), m))
	}
	params = object(append([]Member{{"_meta", meta}}, without(params, "_meta")...))
	return object(append(without(raw, "params"), Member{"params", params}))
}

// without lists the members of an object but for those of a name.
func without(object json.RawMessage, name string) []Member {
	return slices.DeleteFunc(membersOf(object), func(m Member) bool { return m.Name == name })
}

// reworded returns a cancellation of the SDK's with a reason for people who read the server's log.
// The reason that the SDK gives is the error of a context.
func (s *Session) reworded(out *outgoing, m wire.Message, raw []byte) []byte {
	id := rawjson.Member(m.Params, "requestId")
	var why TakenBack
	if (out.ctx == nil || !errors.As(context.Cause(out.ctx), &why)) && (s.closing.Load() || s.ctx.Err() != nil) {
		why = "the client disconnects"
	}
	if why == "" || id == nil {
		return raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%q}}`, mcp.NotificationCancelled, id, why)
}

// declaringTasks returns an initialize request with the capability to take elicitations
// as tasks, which the SDK has no field for, and without the extension for tasks, which only
// later revisions have.
func declaringTasks(settings conversation.ClientSettings, m wire.Message, raw []byte) []byte {
	declared := rawjson.Member(m.Params, "capabilities")
	var members []Member
	for name, value := range rawjson.Members(declared) {
		if name == "extensions" {
			if value = rawjson.Member(value, mcp.AppsExtension); value == nil {
				continue
			}
			value = object([]Member{{mcp.AppsExtension, value}})
		}
		members = append(members, Member{name, value})
	}
	if settings.TakesTasks(rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))) {
		members = append(members, Member{"tasks", json.RawMessage(conversation.DeclaredTasks)})
	}
	return bytes.Replace(raw, declared, object(members), 1)
}
