package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// tap observes the link of a session: it logs what goes over it, and acts on it.
type tap struct{ *Session }

// Stderr implements [transport.Observer].
func (t tap) Stderr(line []byte, truncated bool, size int64) {
	t.lastWords.add(line)
	t.Log.Append(t.labelled(wire.Frame{Raw: line, Truncated: truncated, Size: size}, wire.Stderr))
}

// Received implements [transport.Observer]: it logs what the server sent, acts on it, and
// returns the bytes for the SDK, nil for none.
func (t tap) Received(u transport.Tapped) []byte {
	f := t.labelled(u.Frame, wire.ServerToClient)
	if u.Kind == wire.Noise || u.Unread() {
		if u.Message.Kind.IsResponse() {
			t.answered(u.Message, &f)
		}
		waits := u.Kind == wire.Request && !t.modern() && t.outbox.await(&incoming{id: slices.Clone(u.Message.ID)})
		f = t.Log.Append(f)
		if u.Kind == wire.Noise {
			t.noteStray(u, f)
		}
		if waits { // what the request asks for is not known
			t.outbox.put(&Response{ID: u.Message.ID, Error: &conversation.RPCError{Code: mcp.CodeInternalError, Message: "the inspector does not read the request: " + f.Bound()}})
		}
		return nil
	}
	switch u.Message.Kind {
	case wire.Request:
		t.receivedRequest(u, f)
		return nil
	case wire.Result, wire.Error:
		return t.receivedResponse(u, f)
	default:
		return t.receivedNotification(u, f)
	}
}

// carrier returns the call and round of the request in whose response stream a message came; nil if it
// came in none.
func (t tap) carrier(related json.RawMessage) *conversation.Carrier {
	if related == nil {
		return nil
	}
	if out := t.requests.find(string(related)); out != nil {
		return &conversation.Carrier{Call: out.Call, Round: out.Round}
	}
	return &conversation.Carrier{}
}

// surely returns the call and the round that a message belongs to; 0, 0 if that is a guess.
func (t tap) surely(f wire.Frame, related json.RawMessage) (call, round int) {
	call, round, guessed := t.Conversation.Place(&f, t.carrier(related))
	if guessed {
		return 0, 0
	}
	return call, round
}

// receivedRequest logs a request from the server, and asks the person or answers it. The SDK
// never sees the request: it could reject the params, would take some methods for its own, and
// changes ids.
func (t tap) receivedRequest(u transport.Tapped, f wire.Frame) {
	m, modern := u.Message, t.modern()
	in := &incoming{id: slices.Clone(m.ID)}
	switch {
	case t.Settings.AsksPerson(m.Method) || modern && mcp.IsInput(m.Method):
		t.ask(u, f)
		return
	case modern: // a client of this revision sends no responses
		f.Call, f.Round = t.surely(f, u.Related)
		t.Log.Append(f)
		return
	case mcp.IsTask(m.Method) && t.Settings.TakesTasks(t.Revision()):
		if in.isOfTask = true; m.Method != mcp.MethodListTasks {
			in.about = t.ownTasks.find(rawjson.Text(rawjson.Member(m.Params, "taskId")))
		}
		if in.about != nil {
			f.Question, f.Call, f.Round = in.about.question, in.about.call, in.about.round
		}
	}
	waits := t.outbox.await(in)
	t.Log.Append(f)
	switch {
	case !waits: // a response would count as the answer to an earlier request with the same id
	case in.isOfTask:
		t.ownTasks.answer(m, in)
	case m.Method == mcp.MethodPing:
		t.outbox.put(&Response{ID: m.ID, Result: json.RawMessage("{}")})
	default: // also what the client has not declared (specification 2025-11-25, Roots, Error Handling)
		t.outbox.put(&Response{ID: m.ID, Error: &conversation.RPCError{Code: mcp.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", m.Method)}})
	}
}

// ask logs a request from the server that asks the person, and passes it to the owner.
func (t tap) ask(u transport.Tapped, f wire.Frame) {
	m := u.Message
	f.Call, f.Round, f.Guessed = t.Conversation.Place(&f, t.carrier(u.Related))
	f.Question = t.Conversation.Numbers(1)
	r := conversation.InputRequest{
		Call: f.Call, ID: slices.Clone(m.ID),
		Question: conversation.Question{
			Number: f.Question, Place: 1, Of: 1, Method: m.Method, Stream: u.Stream, Pointer: "/params",
			Round: f.Round, Guessed: f.Guessed, Params: m.Params,
		},
	}
	if t.modern() { // a client of this revision sends no responses
		r.CannotRespond, r.Refusal = true, &conversation.RPCError{Code: mcp.CodeMethodNotFound, Message: mcp.RequestsAreGone}
	}
	t.Judge(&r)
	in := &incoming{id: slices.Clone(m.ID), question: r.Number, call: f.Call, round: f.Round, related: slices.Clone(u.Related), of: t.callTasks.find(conversation.RelatedTaskID(m.Params))}
	if r.Refusal == nil && m.Method == mcp.MethodElicit && t.Settings.TakesTasks(t.Revision()) {
		in.about, r.Refusal = t.ownTasks.of(&r)
	}
	if !r.CannotRespond && !t.outbox.await(in) { // an error with this id would count as the answer to the earlier request
		in.about, r.CannotRespond, r.Refusal = nil, true, &conversation.RPCError{Code: mcp.CodeInvalidRequest, Message: "its id is that of an earlier request which still waits, so that nothing can answer it"}
	}
	f = t.Log.Append(f)
	r.AskedSeq, r.Asked = f.Seq, f.Time
	if in.about != nil {
		r.TaskID = in.about.ID
		t.ownTasks.announce(r.ID, in.about)
	}
	t.owner.Asked(t.Session, r)
	if why := in.cancelled.Load(); why != nil { // while the question was being logged
		t.owner.Cancelled(r.Number, *why)
	}
}

func (t tap) receivedResponse(u transport.Tapped, f wire.Frame) []byte {
	m := u.Message
	out := t.answered(m, &f)
	if out == nil {
		t.noteStray(u, t.Log.Append(f))
		return nil // no request has this id: the SDK must not see the response
	}
	if out.listens {
		t.callTasks.refused()
	}
	if out.Call != 0 && m.Kind == wire.Result && out.Method == mcp.MethodCallTool {
		if task, err := conversation.ReadTask(conversation.CreatedTask(m.Result, t.Revision())); err == nil && t.callTasks.find(task.ID) == nil {
			t.ResumeTask(out.Call, out.Round, task.ID, conversation.TaskKeys{})
		}
	}
	var inputs []elicit.Asked
	if out.Method == mcp.MethodGetTask && t.modern() {
		inputs = t.callTasks.inputs(out.TaskID, m)
	}
	if n := t.asks(out, &f, inputs); n > 0 {
		f.Question = t.Conversation.Numbers(n)
	}
	f = t.Log.Append(f)
	if m.Kind == wire.Result && ofHandshake(out.Method) {
		if err := conversation.MustComplete(out.Method, m.Result); out.Method == mcp.MethodDiscover && err != nil {
			t.handshake.update(func(a *agreement) { a.useless = err })
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the result is of no use"}}`, m.ID)
		}
		presented, _, _ := conversation.ReadPresented(m.Result) // the SDK refuses one that cannot be read
		t.handshake.update(func(a *agreement) {
			a.presented, a.declared = presented, slices.Clone(rawjson.Member(m.Result, "capabilities"))
		})
	}
	out.reply.Store(&Reply{Seq: f.Seq, Question: f.Question, Message: m, Inputs: inputs})
	if out.sdkID != nil {
		u.Message.ID = out.sdkID
	}
	return forSDK(out, u)
}

// asks counts the questions in a response to a request. What a list requires is asked
// once, whichever lists require it.
func (t tap) asks(out *outgoing, f *wire.Frame, inputs []elicit.Asked) int {
	switch {
	case out.TaskID != "":
		return len(inputs)
	case out.Call != 0:
		return conversation.Asks(f, t.Revision())
	case f.Kind == wire.Error && t.Revision() == mcp.Revision20251125 && mcp.IsList(out.Method):
		asked := elicit.AskedIn(f.Message)
		isNew := func(a elicit.Asked) bool {
			return !t.owner.IsAsked(t.Session, idOf(a), rawjson.Text(rawjson.Member(a.Params, "url")))
		}
		if slices.ContainsFunc(asked, isNew) {
			return len(asked)
		}
	}
	return 0
}

func idOf(a elicit.Asked) string { return rawjson.Text(rawjson.Member(a.Params, "elicitationId")) }

// answered returns the request that a response answers, nil if there is none, and sets the call
// and round of the response's frame.
func (t tap) answered(m wire.Message, f *wire.Frame) *outgoing {
	out := t.requests.take(string(m.ID))
	if out != nil {
		f.Call, f.Round = out.Call, out.Round
		if out.Method == mcp.MethodListen {
			t.unheard.Store(false)
		}
		if ofHandshake(out.Method) {
			t.handshake.update(func(a *agreement) { a.answers, a.refusal = a.answers+1, slices.Clone(m.Error) })
		}
	}
	return out
}

// forSDK returns a response that the SDK accepts. The inspector reads the response to a
// request of its own from the wire, so the SDK only needs to learn that the request is over.
func forSDK(out *outgoing, u transport.Tapped) []byte {
	m := u.Message
	e := conversation.RPCError{Code: mcp.CodeInternalError, Message: "read from the wire"}
	switch {
	case out.Method == mcp.MethodListTools && m.Kind == wire.Result:
		// The SDK needs the tools' x-mcp-header annotations, to send those headers with
		// calls.
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, conversation.WithHeaders(m.Result))
	case out.ctx != nil: // one of our own
	case m.Kind == wire.Result, out.Method == mcp.MethodDiscover: // in an error of server/discover the SDK finds the revisions to try
		return u.Raw
	default:
		var err error
		if e, err = conversation.ErrorOf(m.Error); err != nil {
			e.Code, e.Message = mcp.CodeInternalError, err.Error()
		}
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, e.Code, rawjson.Quoted(e.Message))
}

func (t tap) receivedNotification(u transport.Tapped, f wire.Frame) []byte {
	m := u.Message
	deliver := u.Raw
	switch m.Method {
	case mcp.NotificationCancelled:
		t.receivedCancelled(m, f)
		return nil
	case mcp.NotificationElicitComplete:
		t.receivedComplete(m.Params, f)
		return nil
	case mcp.NotificationTaskStatus, mcp.NotificationTask:
		task := t.callTasks.find(rawjson.Text(rawjson.Member(m.Params, "taskId")))
		if task != nil {
			f.Call, f.Round = task.call, task.round
		}
		t.Log.Append(f)
		if task != nil {
			t.hasTold.Store(true)
			signal(task.told)
		}
		return nil
	case mcp.NotificationListening:
		t.unheard.Store(false)
	case mcp.NotificationProgress:
		f.Call, f.Round = t.requests.ofToken(m.Params)
		deliver = nil
	case mcp.NotificationMessage:
		f.Call, _ = t.surely(f, u.Related)
		deliver = nil
	case mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged:
		f.Call, _ = t.surely(f, u.Related)
	case mcp.NotificationResourceUpdated:
		deliver = nil
	}
	t.Log.Append(f)
	return deliver
}

// receivedCancelled handles a notifications/cancelled from the server. It tells the
// owner if the cancelled request was a question.
func (t tap) receivedCancelled(m wire.Message, f wire.Frame) {
	id := wire.IDKey(rawjson.Member(m.Params, "requestId"))
	in := cmp.Or(t.outbox.find(id), t.outbox.answered(id))
	if in == nil {
		t.Log.Append(f)
		return
	}
	f.Question, f.Call = in.question, in.call
	if in.isOfTask && in.about != nil {
		f.Question, f.Call = in.about.question, in.about.call
	}
	f = t.Log.Append(f)
	reason := "cancelled by the server"
	if said := rawjson.Text(rawjson.Member(f.Message.Params, "reason")); said != "" {
		reason += ": " + conversation.ShortError(said)
	}
	switch {
	case in.isOfTask:
		t.outbox.take(id)
		t.ownTasks.forget(in)
	case in.question != 0:
		in.cancelled.Store(&reason)
		t.owner.Cancelled(in.question, reason)
	}
}

// receivedComplete handles notifications/elicitation/complete, which only 2025-11-25
// has: the URL with this elicitationId is done. A repeated notification and an unknown
// id have no effect.
func (t tap) receivedComplete(params json.RawMessage, f wire.Frame) {
	id := rawjson.Text(rawjson.Member(params, "elicitationId"))
	if t.Revision() != mcp.Revision20251125 || id == "" {
		t.Log.Append(f)
		return
	}
	f.Question, f.Call = t.Conversation.Completes(f.Server, id)
	t.Log.Append(f)
	if f.Question != 0 {
		t.owner.Completed(f.Question)
	}
}

// straysMost bounds how many stray responses are noted in one connection.
const straysMost = 100

// noteStray notes a response that answers none of our requests: at the running call if
// exactly one runs, else in the log only. Without the note, nothing would say why a
// call still runs although its server believes that it has answered. f is the frame as
// logged.
func (t tap) noteStray(u transport.Tapped, f wire.Frame) {
	id, is := strayID(f)
	if !is || id == nil && u.Status >= 400 {
		return // an HTTP refusal has such a body (specification 2025-11-25, Transports, Sending Messages to the Server)
	}
	if t.strays.Add(1) > straysMost {
		return
	}
	note := &wire.Note{Kind: wire.NoteStrayResponse, Again: f.Duplicate}
	if id != nil {
		note.ID = json.RawMessage(conversation.ShortError(string(id)))
	}
	if running := t.requests.running(0); len(running) == 1 {
		note.Want = running[0].id
	}
	call, _ := t.surely(f, u.Related)
	t.Noted(wire.Frame{Note: note, Call: call})
}

// strayID returns the exact id of a response that answers none of our requests; nil if
// it has no id. It reports false for other messages, and for a late response to a
// request of ours.
func strayID(f wire.Frame) (json.RawMessage, bool) {
	if f.Pair != 0 && !f.Duplicate {
		return nil, false
	}
	if f.Kind.IsResponse() {
		return f.Message.ID, true
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if f.Kind != wire.Noise || json.Unmarshal(f.Raw, &m) != nil {
		return nil, false
	}
	return m.ID, m.Method == nil && (m.Result != nil || m.Error != nil)
}
