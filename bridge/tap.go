package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Notifications of the server's that the tap itself understands.
const (
	noteCancelled   = "notifications/cancelled"
	noteProgress    = "notifications/progress"
	noteMessage     = "notifications/message"
	noteComplete    = "notifications/elicitation/complete"
	noteUpdated     = "notifications/resources/updated"
	noteTools       = "notifications/tools/list_changed"
	notePrompts     = "notifications/prompts/list_changed"
	noteResources   = "notifications/resources/list_changed"
	methodDiscover  = "server/discover"
	methodInit      = "initialize"
	methodCall      = "tools/call"
	methodPrompt    = "prompts/get"
	methodRead      = "resources/read"
	methodTools     = "tools/list"
	methodPrompts   = "prompts/list"
	methodResources = "resources/list"
	methodTemplates = "resources/templates/list"
)

// Sent implements [target.Observer]: it logs what we send and remembers what
// waits for a response. It reports false for a response that must not go out:
// the receiver of a cancellation should not answer any more (specification
// 2025-11-25, Cancellation, Behavior Requirements).
func (s *session) Sent(u target.Unit) bool {
	f := s.labelled(u.Frame, wire.ClientToServer)
	id := string(u.Message.ID) // of a request of ours
	switch u.Message.Kind {
	case wire.Request:
		out := &outgoing{method: u.Message.Method}
		switch out.method {
		case methodDiscover, methodInit:
			s.mu.Lock()
			s.methods = append(s.methods, out.method)
			useless := s.useless != nil
			s.mu.Unlock()
			if useless {
				return false // the server is a modern one, which has no initialize
			}
		case methodCall, methodPrompt, methodRead:
			out.ticket = progressToken(u.Message.Params)
			out.call, out.round = s.in.callOf(out.ticket)
			if out.call != nil {
				f.Call, f.Round = out.call.number, out.round
				f.Actor = string(out.call.answeredBy(out.round - 1))
			}
		case methodTools, methodPrompts, methodResources, methodTemplates:
			out.ticket = out.method
		}
		s.mu.Lock()
		s.outgoing[id] = out
		s.mu.Unlock()
		seq := s.in.log.Append(f).Seq
		s.mu.Lock()
		out.seq = seq
		s.mu.Unlock()
		if out.call != nil {
			s.in.mu.Lock()
			out.call.sent(out.round, seq)
			s.in.mu.Unlock()
		}
	case wire.Result, wire.Error:
		id := wire.IDKey(u.Message.ID)
		s.mu.Lock()
		in := s.incoming[id]
		delete(s.incoming, id)
		if in != nil && in.question != nil {
			s.late = remember(s.late, in)
		}
		s.mu.Unlock()
		if in == nil || in.question == nil {
			s.in.log.Append(f)
			return true
		}
		return s.sentAnswer(in, f)
	default:
		if s.probeTakenBack(u.Message) {
			return false
		}
		return s.sentNotification(u, f)
	}
	return true
}

// sentNotification logs a notification of ours. It reports false for a
// cancellation that has no place in its revision.
func (s *session) sentNotification(u target.Unit, f wire.Frame) bool {
	if c := s.cancelledCall(u.Message); c != nil {
		f.Call = c.number
		s.in.mu.Lock()
		c.told = true
		s.in.mu.Unlock()
	}
	if u.Message.Method != noteCancelled || !s.closesStreams() {
		s.in.log.Append(f)
		return true
	}
	s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteCancelledByClose}, Call: f.Call})
	return false
}

// closesStreams reports whether a request is cancelled by closing the stream
// that its response would have come on, so that no notification says so
// (specification 2026-07-28, Cancellation, Transport-Specific Cancellation).
func (s *session) closesStreams() bool {
	return s.transport() == "http" && s.revision() >= Revision20260728
}

// sentAnswer logs the response to a question. It reports false for one that was
// cancelled.
func (s *session) sentAnswer(in *incoming, f wire.Frame) bool {
	q := in.question
	s.in.mu.Lock()
	if in.reason != "" {
		if q.state == Answered { // the cancellation came between the answer and its way out
			q.state, q.reason, q.told = Undelivered, in.reason+", before the answer went out", false
			s.in.over[q.seq] = true
			s.in.changed(Change{Kind: QuestionChanged, Number: q.number})
		}
		s.in.mu.Unlock()
		return false
	}
	f.Question = q.number
	if q.call != nil {
		f.Call, f.Round = q.call.number, q.round
	}
	f.Actor = string(q.by)
	if q.told = true; q.state != Answered || q.reason != "" {
		f.Note = q.endNote()
	}
	s.in.mu.Unlock()
	seq := s.in.log.Append(f).Seq
	s.in.mu.Lock()
	q.answerSeq = seq
	s.in.changed(Change{Kind: QuestionChanged, Number: q.number})
	s.in.mu.Unlock()
	return true
}

// Undelivered implements [target.Observer].
func (s *session) Undelivered(u target.Unit, err error) {
	if u.Status == 0 { // else the refusal was noted, with what it says
		note := wire.Frame{Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: err.Error()}, Failed: true}
		if u.Message.Kind == wire.Request {
			note.Answers = u.Message.ID
		}
		s.Noted(note)
	}
	if u.Message.Kind != wire.Result && u.Message.Kind != wire.Error {
		return
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	for _, q := range slices.Backward(s.in.settled) {
		if q.session == s && q.id == string(u.Message.ID) && q.origin == OriginRequest && q.state == Answered {
			q.state, q.reason, q.told = Undelivered, err.Error(), false
			s.in.noteEnd(q)
			s.in.changed(Change{Kind: QuestionChanged, Number: q.number})
			return
		}
	}
}

// Received implements [target.Observer]: it logs what the server sent, acts on
// it, and returns what the SDK is to see of it.
func (s *session) Received(u target.Unit) []byte {
	f := s.labelled(u.Frame, wire.ServerToClient)
	if u.Kind == wire.Noise || u.Truncated {
		if u.Message.Kind.IsResponse() {
			s.answered(u.Message.ID, &f)
		}
		f = s.in.log.Append(f)
		if u.Kind == wire.Noise {
			s.unasked(u, f)
		}
		return nil
	}
	switch u.Message.Kind {
	case wire.Request:
		return s.receivedRequest(u, f)
	case wire.Result, wire.Error:
		return s.receivedResponse(u, f)
	default:
		return s.receivedNotification(u, f)
	}
}

// attribute finds the call that a message of the server's belongs to: the one
// whose POST carried it, else the only one that runs. Where several run, stdio
// and the GET stream do not tell, and it is a guess (sure is false): the latest
// call that has no question waiting, or the latest. It returns nil where none runs.
func (s *session) attribute(related json.RawMessage) (c *call, round int, sure bool) {
	if related != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if out := s.outgoing[string(related)]; out != nil && out.call != nil {
			return out.call, out.round, true
		}
		return nil, 0, false
	}
	running := s.running()
	switch len(running) {
	case 0:
		return nil, 0, false
	case 1:
		return running[0].call, running[0].round, true
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	slices.SortFunc(running, func(a, b *outgoing) int { return b.call.number - a.call.number })
	for _, out := range running {
		if out.call.watch.open == 0 {
			return out.call, out.round, false
		}
	}
	return running[0].call, running[0].round, false
}

// running are the requests of calls that wait for a response.
func (s *session) running() []*outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var running []*outgoing
	for _, out := range s.outgoing {
		if out.call != nil {
			running = append(running, out)
		}
	}
	return running
}

func (s *session) receivedRequest(u target.Unit, f wire.Frame) []byte {
	id, method := string(u.Message.ID), u.Message.Method
	in := &incoming{id: id, method: method}
	without := s.revision() >= Revision20260728 // the revision has no requests of the server's
	if asksPerson(method, s.settings) || without && isQuestion(method) {
		call, round, sure := s.attribute(u.Related)
		in.question = &question{
			session: s, server: s.server, call: call, sure: sure, round: round, origin: OriginRequest,
			carried: carriedOn(u.Stream), method: method, params: u.Message.Params, asked: now(), id: id,
			pointer: "/params", place: 1,
		}
	}
	if without {
		s.passOver(in.question, u, f)
		s.asksInVain(method, u.Related) // once the frame that says so is in the log
		return nil                      // a client of this revision sends no responses
	}
	s.mu.Lock()
	taken := s.incoming[wire.IDKey(u.Message.ID)] != nil
	if !taken {
		s.incoming[wire.IDKey(u.Message.ID)] = in
	}
	s.mu.Unlock()
	switch {
	case in.question == nil:
		s.in.log.Append(f)
		return u.Raw
	case taken:
		// An error under this id would be taken for the answer to the earlier one.
		in.question.mute = true
		s.ask(in.question, f, &rpcError{codeInvalidRequest, "its id is that of an earlier request which still waits, so that nothing can answer it"})
	default:
		s.ask(in.question, f, nil)
	}
	return nil
}

// isQuestion reports whether requests of this method are questions to the person.
func isQuestion(method string) bool {
	return method == MethodElicit || method == MethodSampling || method == MethodRoots
}

// requestsAreGone is why a server's request is not answered since 2026-07-28
// (specification, stdio, Receiving Messages; Streamable HTTP, Receiving Messages).
const requestsAreGone = "since 2026-07-28 a server must not send requests, and a client must not send responses: nothing is answered; the server has to ask in an input-required result"

// passOver shows a request in a revision whose servers send none, and answers
// nothing. q is nil for what is no question.
func (s *session) passOver(q *question, u target.Unit, f wire.Frame) {
	method := u.Message.Method
	if q != nil {
		q.mute = true
		s.ask(q, f, &rpcError{codeMethodNotFound, requestsAreGone})
		return
	}
	c, round, sure := s.attribute(u.Related)
	if sure {
		f.Call, f.Round = c.number, round
	}
	f = s.in.log.Append(f)
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.in.over[f.Seq] = true
	if sure {
		c.step(Step{At: f.Time, Kind: StepAsked, Text: method + ", which is not answered: " + requestsAreGone, Seq: f.Seq})
	}
}

// codeInvalidRequest is JSON-RPC 2.0's error for what is no request to be handled.
const codeInvalidRequest = -32600

// asksPerson reports whether requests of this method are put to the person.
func asksPerson(method string, settings Settings) bool {
	switch method {
	case MethodElicit:
		return true
	case MethodSampling:
		return settings.Sampling
	case MethodRoots:
		return settings.Roots
	default:
		return false
	}
}

func carriedOn(s wire.Stream) string {
	switch s {
	case wire.StreamPostSSE:
		return "request on the POST event stream"
	case wire.StreamGetSSE:
		return "request on the GET event stream"
	case wire.StreamPost:
		return "request in a POST answer"
	default:
		return "request"
	}
}

// ask puts a request of the server's into the inbox and its frame into the log.
// The SDK never sees it: what the server sent could be more than the SDK takes,
// and a goroutine of the SDK's would have to wait for the answer. A refusal says
// why the person is not asked, nil that it depends on what is asked.
func (s *session) ask(q *question, f wire.Frame, refusal *rpcError) {
	if unread := q.read(s.settings, s.revision()); refusal == nil {
		refusal = unread
	}
	s.in.mu.Lock()
	s.in.add(q)
	f.Question = q.number
	if q.call != nil {
		f.Call, f.Round = q.call.number, q.round
	}
	s.in.mu.Unlock()
	f = s.in.log.Append(f)
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	q.seq, q.asked = f.Seq, f.Time
	s.in.keepQuestion(q)
	if q.mute {
		s.in.over[q.seq] = true
	}
	s.in.announce(q, refusal)
}

// read decodes the params of an elicitation. It returns why the person cannot
// be asked, or nil.
func (q *question) read(settings Settings, revision string) *rpcError {
	if q.method != MethodElicit {
		return nil
	}
	var request *elicit.Request
	err := errors.New("elicitation/create has no params")
	if len(q.params) > 0 {
		if request, err = elicit.Parse(q.params); err != nil {
			err = fmt.Errorf("the params cannot be read: %w", err)
		}
	}
	q.request = request
	switch {
	case settings.Declares() == DeclareNone:
		return notDeclared("elicitation")
	case err != nil:
		return &rpcError{codeInvalidParams, err.Error()}
	case request.Mode != elicit.ModeForm && request.Mode != elicit.ModeURL:
		return &rpcError{codeInvalidParams, fmt.Sprintf("there is no elicitation mode %q", request.Mode)}
	case !settings.allows(string(request.Mode), revision):
		return &rpcError{codeInvalidParams, fmt.Sprintf("the client did not declare elicitation in %s mode", request.Mode)}
	case q.origin == OriginError && request.Mode != elicit.ModeURL: // nothing would carry the answer
		return &rpcError{codeInvalidParams, fmt.Sprintf("error %d can only ask for URLs", codeURLRequired)}
	}
	return nil
}

// notDeclared refuses a method of a capability that was not declared, and which
// therefore is not there.
func notDeclared(capability string) *rpcError {
	return &rpcError{codeMethodNotFound, fmt.Sprintf("Method not found: the client has not declared the capability %q", capability)}
}

// codeInvalidParams is JSON-RPC 2.0's error for params that cannot be used.
const codeInvalidParams = -32602

func (s *session) receivedResponse(u target.Unit, f wire.Frame) []byte {
	out := s.answered(u.Message.ID, &f)
	if out != nil && u.Message.Kind == wire.Error {
		s.announce(u.Message.Error)
	}
	f = s.in.log.Append(f)
	seq := f.Seq
	if out == nil {
		s.unasked(u, f)
		return nil // it answers nothing: the SDK must not see it
	}
	if out.method == methodDiscover && s.ofNoUse(u.Message) {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the result is of no use"}}`, u.Message.ID)
	}
	if out.call != nil {
		s.saysUnsent(out.call, u.Message)
	}
	if out.ticket != "" {
		s.mu.Lock()
		s.replies[out.ticket] = reply{seq: seq, message: u.Message}
		s.mu.Unlock()
	}
	return forSDK(out.method, u)
}

// ofNoUse notes why a DiscoverResult is of no use, if it is. What answers
// server/discover with a result is a modern server, so that initialize is no way
// out.
func (s *session) ofNoUse(m wire.Message) bool {
	if m.Kind != wire.Result {
		return false
	}
	err := complete(methodDiscover, m.Result)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.useless = err
	return err != nil
}

// answered takes the request that a response answers off the list, and notes
// its call in the response's frame. It returns nil if there is no such request.
func (s *session) answered(id json.RawMessage, f *wire.Frame) *outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(id)]
	delete(s.outgoing, string(id))
	if out != nil && out.call != nil {
		f.Call, f.Round = out.call.number, out.round
	}
	if out != nil && out.method == methodDiscover {
		s.discovered = true
	}
	if out != nil && (out.method == methodDiscover || out.method == methodInit) {
		s.shaken++
	}
	return out
}

// forSDK is a response as the SDK can take it. What a call brought back is read
// from the wire, so the SDK only needs to learn that it is over.
func forSDK(method string, u target.Unit) []byte {
	if u.Message.Kind == wire.Error {
		code, message, _, err := rpcErrorOf(u.Message.Error)
		if err != nil {
			code, message = -32603, err.Error()
		}
		text, _ := json.Marshal(message)
		if method == methodDiscover {
			return u.Raw // its data tells the SDK which revisions it may try
		}
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, u.Message.ID, code, text)
	}
	var result string
	switch method {
	case methodCall:
		result = `{"content":[]}`
	case methodPrompt:
		result = `{"messages":[]}`
	case methodRead:
		result = `{"contents":[]}`
	case methodPrompts:
		result = `{"prompts":[]}`
	case methodResources:
		result = `{"resources":[]}`
	case methodTemplates:
		result = `{"resourceTemplates":[]}`
	case methodTools:
		// The SDK keeps tools, to send the headers that their schemas ask for.
		result = toolsForSDK(u.Message.Result)
	default:
		return u.Raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, u.Message.ID, result)
}

func (s *session) receivedNotification(u target.Unit, f wire.Frame) []byte {
	m := u.Message
	deliver := u.Raw
	var act func() // runs with in.mu held, after the frame is in the log
	switch m.Method {
	case noteMessage:
		deliver = nil
		if c, _, sure := s.attribute(u.Related); sure {
			f.Call = c.number
			act = func() { c.logged(f.Summary(), f.Seq) }
		}
	case noteProgress:
		deliver = nil
		if c, round := s.in.callOf(progressTokenOf(m.Params)); c != nil && c.session == s {
			f.Call, f.Round = c.number, round
			p := progressOf(m.Params)
			act = func() { c.progressed(p, f.Seq) }
		}
	case noteCancelled:
		in, reason := s.cancelledRequest(m.Params)
		if in == nil || in.question != nil {
			deliver = nil
		}
		if in != nil && in.question != nil {
			f.Question = in.question.number
			if c := in.question.call; c != nil {
				f.Call = c.number
			}
			act = func() {
				in.reason, in.question.told = reason, true
				if !s.in.settle(in.question, Withdrawn, ByServer, reason) {
					s.in.overtaken(in.question, reason)
				}
			}
		}
	case noteComplete:
		deliver = nil
		q := s.completed(m.Params)
		if q != nil {
			f.Question = q.number
			if q.call != nil {
				f.Call = q.call.number
			}
			act = func() {
				if q.state == Pending || q.completion != CompletionNone { // not of a URL that was turned down
					s.in.complete(q, CompletionDone)
				}
			}
		}
	case noteUpdated:
		deliver = nil
	case noteTools, notePrompts, noteResources:
		if c, _, sure := s.attribute(u.Related); sure {
			f.Call = c.number
			act = func() { c.step(Step{At: f.Time, Kind: StepList, Text: m.Method, Seq: f.Seq}) }
		}
	}
	f = s.in.log.Append(f)
	if act != nil {
		s.in.mu.Lock()
		act()
		s.in.mu.Unlock()
	}
	return deliver
}

// cancelledRequest finds the server's own request that a cancellation names,
// and words the reason. It returns nil for requests that we do not know.
func (s *session) cancelledRequest(params json.RawMessage) (*incoming, string) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil, ""
	}
	reason := "cancelled by the server"
	if p.Reason != "" {
		reason += ": " + shortened(p.Reason)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := wire.IDKey(p.RequestID)
	if in := s.incoming[id]; in != nil {
		return in, reason
	}
	for _, in := range slices.Backward(s.late) {
		if wire.IDKey(json.RawMessage(in.id)) == id {
			return in, reason
		}
	}
	return nil, ""
}

// overtaken notes why the server took back a question that was withdrawn before,
// because its call had ended: over HTTP the end of the call and the cancellation
// come on two streams, in any order. The caller holds in.mu.
func (in *Inspection) overtaken(q *question, reason string) {
	if q.state != Withdrawn || q.by != ByPolicy {
		return
	}
	q.by, q.reason = ByServer, reason
	in.changed(Change{Kind: QuestionChanged, Number: q.number})
	if q.call == nil {
		return
	}
	for i, step := range slices.Backward(q.call.steps) {
		if step.Kind == StepAnswered && step.Question == q.number {
			q.call.steps[i].Text = q.state.String() + ": " + reason
			in.changed(Change{Kind: CallChanged, Number: q.call.number})
			return
		}
	}
}

// reworded is a message of the SDK's as it goes out. The SDK says why it cancels
// a request in the words of a context; people who read a server's log want ours.
func (s *session) reworded(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+noteCancelled+`"`)) {
		return raw
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Notification || m.Method != noteCancelled {
		return raw
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	reason := s.cancelReason(s.cancelledCall(m))
	if reason == "" || json.Unmarshal(m.Params, &p) != nil || p.RequestID == nil {
		return raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%q}}`, noteCancelled, p.RequestID, reason)
}

// cancelReason says why we take a request back, "" where nothing is known. c is
// nil for what is no call.
func (s *session) cancelReason(c *call) string {
	if c != nil {
		s.in.mu.Lock()
		why := c.why
		s.in.mu.Unlock()
		if why != "" {
			return why
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.ctx.Err() != nil {
		return "the client disconnects"
	}
	return ""
}

// cancelledCall finds our own call that a cancellation of ours names.
func (s *session) cancelledCall(m wire.Message) *call {
	if m.Method != noteCancelled {
		return nil
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out := s.outgoing[string(p.RequestID)]; out != nil {
		return out.call
	}
	// The SDK sends the cancellation once the call is over for us.
	for _, over := range slices.Backward(s.stopped) {
		if over.id == string(p.RequestID) {
			return over.call
		}
	}
	return nil
}

// completed finds the accepted or pending URL question that a
// notifications/elicitation/complete names. Second notifications change nothing,
// and neither do those with an id that no URL has. Only 2025-11-25 has completions.
func (s *session) completed(params json.RawMessage) *question {
	var p struct {
		ElicitationID string `json:"elicitationId"`
	}
	if s.revision() != Revision20251125 || json.Unmarshal(params, &p) != nil || p.ElicitationID == "" {
		return nil
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	// Where an id was used again, what waits comes before what is over.
	var over *question
	for _, list := range [][]*question{s.in.settled, s.in.pending} {
		for _, q := range slices.Backward(list) {
			if q.server != s.server || q.request == nil || q.request.Mode != elicit.ModeURL || q.request.ElicitationID != p.ElicitationID {
				continue
			}
			switch {
			case q.completion == CompletionDone: // this one says it again
			case q.state == Pending || q.completion == CompletionAwaited:
				return q
			case over == nil:
				over = q
			}
		}
	}
	if _, announced := s.early[p.ElicitationID]; announced {
		s.early[p.ElicitationID] = true
	}
	return over
}

// announce notes the elicitationIds in error -32042. A completion can overtake
// the questions of the error, which are known only once it has been understood.
func (s *session) announce(object json.RawMessage) {
	code, _, data, err := rpcErrorOf(object)
	if err != nil || code != codeURLRequired {
		return
	}
	list, _ := requiredURLs(data)
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	for _, params := range list {
		var p struct {
			ElicitationID string `json:"elicitationId"`
		}
		if json.Unmarshal(params, &p) == nil && p.ElicitationID != "" && len(s.early) < earlyKept {
			s.early[p.ElicitationID] = false
		}
	}
}

// earlyKept bounds how many ids are noted whose questions never come.
const earlyKept = 1000

// progressToken reads _meta.progressToken, under which we know our requests.
func progressToken(params json.RawMessage) string {
	var p struct {
		Meta struct {
			Token string `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.Meta.Token
}

func progressTokenOf(params json.RawMessage) string {
	var p struct {
		Token string `json:"progressToken"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.Token
}

func progressOf(params json.RawMessage) Progress {
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if err := decode(params, &p); err != nil {
		return Progress{Message: "the progress cannot be read: " + err.Error()}
	}
	return Progress{Value: p.Progress, Total: p.Total, Message: shortened(p.Message)}
}

// textMost is how much of a text of a server's is shown where there is room for
// a few words. All of it stands in the log.
const textMost = 500

// shortened is the beginning of a text. It looks no further.
func shortened(text string) string {
	n := 0
	for i := range text {
		if n++; n > textMost {
			return text[:i] + "…"
		}
	}
	return text
}
