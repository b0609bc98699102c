package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// Received implements [transport.Observer]: it logs what the server sent, acts on it, and
// returns the bytes for the SDK, nil for none.
func (s *Session) Received(u transport.Unit) []byte {
	f := s.labelled(u.Frame, wire.ServerToClient)
	if u.Kind == wire.Noise || u.Truncated {
		if u.Message.Kind.IsResponse() {
			s.answered(u.Message, &f)
		}
		f = s.Log.Append(f)
		if u.Kind == wire.Noise {
			s.unasked(u, f)
		}
		return nil
	}
	switch u.Message.Kind {
	case wire.Request:
		s.receivedRequest(u, f)
		return nil
	case wire.Result, wire.Error:
		return s.receivedResponse(u, f)
	default:
		return s.receivedNotification(u, f)
	}
}

// belongs holds the call and the round that a message from the server belongs to.
type belongs struct {
	call, round int
	guessed     bool
	task        *callTask // the task of the call that the message names; nil for none
}

func (b belongs) sure() int {
	if b.guessed {
		return 0
	}
	return b.call
}

// attribute finds the call that a message from the server belongs to: the call of the task
// that the message names, else the call whose POST carried the message, else by
// [conversation.LikelyCall], since stdio and the GET stream do not tell which of several
// calls it is.
func (s *Session) attribute(m wire.Message, related json.RawMessage) belongs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.callTasks[conversation.RelatedTaskID(m.Params)]; t != nil {
		return belongs{t.call, t.round, false, t}
	}
	if related != nil {
		if out := s.outgoing[string(related)]; out != nil {
			return belongs{out.call, out.round, false, nil}
		}
		return belongs{}
	}
	// No message belongs to a request that is not sent.
	sent := slices.DeleteFunc(s.running(), func(out *outgoing) bool { return out.unlogged })
	out, guessed, ok := conversation.LikelyCall(sent, func(out *outgoing) bool { return s.asking[out.call] > 0 })
	if !ok {
		return belongs{}
	}
	return belongs{out.call, out.round, guessed, nil}
}

// receivedRequest logs a request from the server, and asks the person or answers it. The SDK
// never sees the request: it could reject the params, would take some methods for its own, and
// changes ids.
func (s *Session) receivedRequest(u transport.Unit, f wire.Frame) {
	m, modern := u.Message, s.modern()
	switch {
	case mcp.IsTask(m.Method) && s.Settings.TakesTasks(s.Revision()):
		s.askedOfTask(m, f)
	case s.Settings.AsksPerson(m.Method) || modern && mcp.IsInput(m.Method):
		s.ask(u, f, s.attribute(m, u.Related))
	case modern: // a client of this revision sends no responses
		if b := s.attribute(m, u.Related); b.sure() != 0 {
			f.Call, f.Round = b.call, b.round
		}
		s.Log.Append(f)
	case !s.toAnswer(&incoming{id: string(m.ID)}, f):
	case m.Method == mcp.MethodPing:
		s.queue(&Response{ID: m.ID, Result: json.RawMessage("{}")})
	default: // also what the client has not declared (specification 2025-11-25, Roots, Error Handling)
		s.queue(&Response{ID: m.ID, Error: &conversation.RPCError{Code: mcp.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", m.Method)}})
	}
}

// toAnswer logs a request that asks nobody. It reports whether to answer it: an answer to one
// with the id of an earlier request that waits would count as the answer to that.
func (s *Session) toAnswer(in *incoming, f wire.Frame) bool {
	id := wire.IDKey(json.RawMessage(in.id))
	s.mu.Lock()
	taken := s.incoming[id] != nil
	if !taken {
		s.incoming[id] = in
	}
	s.mu.Unlock()
	s.Log.Append(f)
	return !taken
}

// ask logs a request from the server that asks the person, and passes it to the owner.
func (s *Session) ask(u transport.Unit, f wire.Frame, b belongs) {
	m := u.Message
	r := conversation.InputRequest{
		Server: s.Server, Session: s.Name, Call: b.call, ID: slices.Clone(m.ID),
		Question: conversation.Question{
			Number: s.owner.Numbers(1), Place: 1, Of: 1, Method: m.Method, Stream: u.Stream, Pointer: "/params",
			Round: b.round, Guessed: b.guessed, Params: m.Params,
		},
	}
	number := r.Number
	in := &incoming{id: string(m.ID), question: number, call: b.call, round: b.round, related: slices.Clone(u.Related), of: b.task}
	id := wire.IDKey(m.ID)
	s.mu.Lock()
	taken := s.incoming[id] != nil
	modern := s.revision >= mcp.Revision20260728
	if !taken && !modern {
		s.incoming[id] = in
		s.asking[in.call]++
	}
	s.mu.Unlock()
	switch {
	case modern: // a client of this revision sends no responses
		r.Mute, r.Refusal = true, &conversation.RPCError{Code: mcp.CodeMethodNotFound, Message: mcp.RequestsAreGone}
	case taken: // an error with this id would count as the answer to the earlier request
		r.Mute, r.Refusal = true, &conversation.RPCError{Code: mcp.CodeInvalidRequest, Message: "its id is that of an earlier request which still waits, so that nothing can answer it"}
	}
	s.Settings.Judge(&r, s.Revision())
	var task *questionTask
	if r.Refusal == nil {
		if task, r.Refusal = s.taskOf(&r); task != nil {
			r.TaskID = task.id
		}
	}
	s.mu.Lock()
	in.about = task
	s.mu.Unlock()
	f.Question, f.Call, f.Round, f.Guessed = number, b.call, b.round, b.guessed
	f = s.Log.Append(f)
	r.AskedSeq, r.Asked = f.Seq, f.Time
	if task != nil {
		s.announce(r.ID, task)
	}
	s.owner.Asked(s, r)
	s.mu.Lock()
	cancelled := in.cancelled
	s.mu.Unlock()
	if cancelled != "" { // the server cancelled while the question was being logged
		s.owner.Cancelled(number, cancelled)
	}
}

func (s *Session) receivedResponse(u transport.Unit, f wire.Frame) []byte {
	m := u.Message
	out := s.answered(m, &f)
	if out != nil && m.Kind == wire.Error {
		// A completion can arrive before the questions of the error, which become known
		// only after the error has been processed.
		s.mu.Lock()
		for _, asked := range elicit.AskedIn(m) {
			if id := idOf(asked); id != "" && len(s.early) < earlyKept {
				s.early[id] = false
			}
		}
		s.mu.Unlock()
	}
	if out != nil {
		s.mu.Lock()
		if out.listens {
			s.refusedToTell()
		}
		if out.call != 0 && m.Kind == wire.Result && out.method == mcp.MethodCallTool {
			if t, err := conversation.ReadTask(conversation.CreatedTask(m.Result, s.revision)); err == nil && s.callTasks[t.ID] == nil {
				s.addTask(t.ID, out.call, out.round, conversation.TaskKeys{})
			}
		}
		s.mu.Unlock()
	}
	if n := s.asks(out, &f); n > 0 {
		f.Question = s.owner.Numbers(n)
	}
	f = s.Log.Append(f)
	if out == nil {
		s.unasked(u, f)
		return nil // no request has this id: the SDK must not see the response
	}
	if err := conversation.MustComplete(out.method, m.Result); out.method == mcp.MethodDiscover && m.Kind == wire.Result && err != nil {
		s.mu.Lock()
		s.handshake.useless = err
		s.mu.Unlock()
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the result is of no use"}}`, m.ID)
	}
	s.mu.Lock()
	out.reply = &Reply{Seq: f.Seq, Question: f.Question, Message: m, Inputs: out.inputs}
	if m.Kind == wire.Result && (out.method == mcp.MethodInitialize || out.method == mcp.MethodDiscover) {
		s.presented, _, _ = conversation.ReadPresented(m.Result) // the SDK refuses one that cannot be read
	}
	s.mu.Unlock()
	if out.sdkID != nil {
		u.Message.ID = out.sdkID
	}
	return forSDK(out, u)
}

// asks counts the questions in a response to a request. What a list requires is asked
// once, whichever lists require it.
func (s *Session) asks(out *outgoing, f *wire.Frame) int {
	switch {
	case out == nil:
		return 0
	case out.task != "":
		s.mu.Lock()
		defer s.mu.Unlock()
		if t := s.callTasks[out.task]; t != nil && out.method == mcp.MethodGetTask && s.revision >= mcp.Revision20260728 {
			out.inputs = t.keys.Inputs(f.Message)
		}
		return len(out.inputs)
	case out.call != 0:
		return conversation.Asks(f, s.Revision())
	case f.Kind == wire.Error && s.Revision() == mcp.Revision20251125 && mcp.IsList(out.method):
		asked := elicit.AskedIn(f.Message)
		isNew := func(a elicit.Asked) bool {
			return !s.owner.IsAsked(s, idOf(a), rawjson.Text(rawjson.Member(a.Params, "url")))
		}
		if slices.ContainsFunc(asked, isNew) {
			return len(asked)
		}
	}
	return 0
}

func idOf(a elicit.Asked) string { return rawjson.Text(rawjson.Member(a.Params, "elicitationId")) }

// answered removes the request that a response answers from s.outgoing, and sets Call
// and Round of the response's frame. It returns nil if there is no such request.
func (s *Session) answered(m wire.Message, f *wire.Frame) *outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(m.ID)]
	if out == nil {
		return nil
	}
	delete(s.outgoing, out.id)
	f.Call, f.Round = out.call, out.round
	if out.method == mcp.MethodDiscover || out.method == mcp.MethodInitialize {
		s.handshake.answered++
	}
	return out
}

// forSDK returns a response that the SDK accepts. The inspector reads the response to a
// request of its own from the wire, so the SDK only needs to learn that the request is over.
func forSDK(out *outgoing, u transport.Unit) []byte {
	m := u.Message
	e := conversation.RPCError{Code: mcp.CodeInternalError, Message: "read from the wire"}
	switch {
	case out.method == mcp.MethodListTools && m.Kind == wire.Result:
		// The SDK needs the tools' x-mcp-header annotations, to send those headers with
		// calls.
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, conversation.WithHeaders(m.Result))
	case out.ctx != nil: // one of our own
	case m.Kind == wire.Result, out.method == mcp.MethodDiscover: // whose error lists the revisions that the SDK may try
		return u.Raw
	default:
		var err error
		if e, err = conversation.ErrorOf(m.Error); err != nil {
			e.Code, e.Message = mcp.CodeInternalError, err.Error()
		}
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, e.Code, rawjson.Quoted(e.Message))
}

func (s *Session) receivedNotification(u transport.Unit, f wire.Frame) []byte {
	m := u.Message
	switch m.Method {
	case mcp.NotificationCancelled:
		s.receivedCancelled(m, f)
		return nil
	case mcp.NotificationElicitComplete:
		s.receivedComplete(m.Params, f)
		return nil
	case mcp.NotificationProgress:
		f.Call, f.Round = s.callOf(m.Params)
	case mcp.NotificationMessage, mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged:
		f.Call = s.attribute(u.Message, u.Related).sure()
	case mcp.NotificationTaskStatus, mcp.NotificationTask:
		s.toldOfTask(m.Params, f)
		return nil
	}
	s.Log.Append(f)
	switch m.Method {
	case mcp.NotificationMessage, mcp.NotificationProgress, mcp.NotificationResourceUpdated:
		return nil
	}
	return u.Raw
}

// receivedCancelled handles a notifications/cancelled from the server. It tells the
// owner if the cancelled request was a question.
func (s *Session) receivedCancelled(m wire.Message, f wire.Frame) {
	id := wire.IDKey(rawjson.Member(m.Params, "requestId"))
	s.mu.Lock()
	in := s.incoming[id]
	for i := len(s.late) - 1; i >= 0 && in == nil; i-- {
		if wire.IDKey(json.RawMessage(s.late[i].id)) == id {
			in = s.late[i]
		}
	}
	question := 0
	if in != nil {
		question = in.question
		f.Question, f.Call = question, in.call
		if in.isOfTask && in.about != nil {
			f.Question, f.Call = in.about.question, in.about.call
		}
	}
	s.mu.Unlock()
	s.Log.Append(f)
	if in != nil && in.isOfTask {
		s.mu.Lock()
		delete(s.incoming, id)
		if in.about != nil { // it may be a request tasks/result that waits
			in.about.waiting = slices.DeleteFunc(in.about.waiting, func(w *incoming) bool { return w == in })
		}
		s.mu.Unlock()
	}
	if question == 0 {
		return
	}
	reason := "cancelled by the server"
	if said := rawjson.Text(rawjson.Member(m.Params, "reason")); said != "" {
		reason += ": " + conversation.ShortError(said)
	}
	s.mu.Lock()
	in.cancelled = reason
	s.mu.Unlock()
	s.owner.Cancelled(question, reason)
}

// receivedComplete handles notifications/elicitation/complete, which only 2025-11-25
// has: the URL with this elicitationId is done. A repeated notification and an unknown
// id have no effect.
func (s *Session) receivedComplete(params json.RawMessage, f wire.Frame) {
	id := rawjson.Text(rawjson.Member(params, "elicitationId"))
	if s.Revision() != mcp.Revision20251125 || id == "" {
		s.Log.Append(f)
		return
	}
	question, call := s.owner.FindURL(s, id)
	f.Question, f.Call = question, call
	s.Log.Append(f)
	if question != 0 {
		s.owner.Completed(question)
		return
	}
	s.mu.Lock()
	_, expected := s.early[id]
	if expected {
		s.early[id] = true
	}
	s.mu.Unlock()
	if !expected { // its question may have become known in between
		if question, _ := s.owner.FindURL(s, id); question != 0 {
			s.owner.Completed(question)
		}
	}
}

// earlyKept bounds how many elicitationIds wait in s.early for their questions, which
// may never come.
const earlyKept = 1000

// Overtaken reports whether the completion of a URL arrived before its question was
// known. It returns true only once for each id.
func (s *Session) Overtaken(r *elicit.Request) bool {
	if r == nil || r.Mode != elicit.ModeURL {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.early[r.ElicitationID]
	delete(s.early, r.ElicitationID)
	return done
}

// straysMost bounds how many stray responses are noted in one connection.
const straysMost = 100

// unasked notes a response that answers none of our requests: at the running call if
// exactly one runs, else in the log only. Without the note, nothing would say why a
// call still runs although its server believes that it has answered. f is the frame as
// logged.
func (s *Session) unasked(u transport.Unit, f wire.Frame) {
	id, is := strayID(f)
	if !is || id == nil && u.Status >= 400 {
		return // an HTTP refusal has such a body (specification 2025-11-25, Transports, Sending Messages to the Server)
	}
	s.mu.Lock()
	s.strays++
	tell := s.strays <= straysMost
	s.mu.Unlock()
	if !tell {
		return
	}
	note := &wire.Note{Kind: wire.NoteStrayResponse, Again: f.Duplicate}
	if id != nil {
		note.ID = json.RawMessage(conversation.ShortError(string(id)))
	}
	s.Noted(wire.Frame{Note: note, Call: s.attribute(u.Message, u.Related).sure()})
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
