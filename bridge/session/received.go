package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Received implements [target.Observer]: it logs what the server sent, acts on
// it, and returns what the SDK is to see of it.
func (s *Session) Received(u target.Unit) []byte {
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
		return s.receivedRequest(u, f)
	case wire.Result, wire.Error:
		return s.receivedResponse(u, f)
	default:
		return s.receivedNotification(u, f)
	}
}

// belongs is the call that a message of the server's belongs to.
type belongs struct {
	call, round int
	guessed     bool
}

// sure is the call if it is no guess, else 0.
func (b belongs) sure() int {
	if b.guessed {
		return 0
	}
	return b.call
}

// attribute finds the call that a message of the server's belongs to: the one
// whose POST carried it, else the only one that runs. Where several run, stdio
// and the GET stream do not tell, and it is a guess: the latest call that has no
// question waiting, or the latest.
func (s *Session) attribute(related json.RawMessage) belongs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if related != nil {
		if out := s.outgoing[string(related)]; out != nil {
			return belongs{out.call, out.round, false}
		}
		return belongs{}
	}
	running := 0
	var best *outgoing
	for _, out := range s.outgoing {
		if out.call == 0 {
			continue
		}
		running++
		if best == nil || s.better(out, best) {
			best = out
		}
	}
	if best == nil {
		return belongs{}
	}
	return belongs{best.call, best.round, running > 1}
}

// better reports whether a call is a better guess than another.
func (s *Session) better(a, b *outgoing) bool {
	if one, other := s.asking[a.call] > 0, s.asking[b.call] > 0; one != other {
		return other
	}
	return a.call > b.call
}

func (s *Session) receivedRequest(u target.Unit, f wire.Frame) []byte {
	m, modern := u.Message, s.modern()
	asks := s.Settings.AsksPerson(m.Method) || modern && mcp.IsInput(m.Method)
	if !asks && !modern {
		s.mu.Lock()
		if id := wire.IDKey(m.ID); s.incoming[id] == nil {
			s.incoming[id] = &incoming{id: string(m.ID)}
		}
		s.mu.Unlock()
		s.Log.Append(f)
		return u.Raw
	}
	b := s.attribute(u.Related)
	if asks {
		s.ask(u, f, b)
	} else {
		if b.sure() != 0 {
			f.Call, f.Round = b.call, b.round
		}
		s.Log.Append(f)
	}
	return nil // a client of this revision sends no responses
}

// ask puts a request of the server's into the inbox and its frame into the log.
// The SDK never sees it: what the server sent could be more than the SDK takes,
// and a goroutine of the SDK's would have to wait for the answer.
func (s *Session) ask(u target.Unit, f wire.Frame, b belongs) {
	m := u.Message
	r := client.InputRequest{
		Server: s.Server, Session: s.Name, Call: b.call, ID: slices.Clone(m.ID),
		Question: conversation.Question{
			Number: s.owner.Numbers(1), Place: 1, Of: 1, Method: m.Method, Stream: u.Stream, Pointer: "/params",
			Round: b.round, Guessed: b.guessed, Params: m.Params,
		},
	}
	number := r.Number
	in := &incoming{id: string(m.ID), question: number, call: b.call, round: b.round, related: slices.Clone(u.Related)}
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
		r.Mute, r.Refusal = true, &client.Refusal{Code: mcp.CodeMethodNotFound, Message: mcp.RequestsAreGone}
	case taken: // an error under this id would be taken for the answer to the earlier one
		r.Mute, r.Refusal = true, &client.Refusal{Code: mcp.CodeInvalidRequest, Message: "its id is that of an earlier request which still waits, so that nothing can answer it"}
	}
	s.Settings.Judge(&r, s.Revision())
	f.Question, f.Call, f.Round, f.Guessed = number, b.call, b.round, b.guessed
	f = s.Log.Append(f)
	r.AskedSeq, r.Asked = f.Seq, f.Time
	s.owner.Asked(s, r)
	s.mu.Lock()
	cancelled, released := in.cancelled, s.released
	s.mu.Unlock()
	if cancelled != "" { // meanwhile
		s.owner.Cancelled(number, cancelled)
	}
	if released {
		s.owner.Released(s, false, "the connection was about to end")
	}
}

func (s *Session) receivedResponse(u target.Unit, f wire.Frame) []byte {
	m := u.Message
	out := s.answered(m, &f)
	if out != nil && m.Kind == wire.Error {
		s.expectURLs(m.Error)
	}
	if out != nil && out.call != 0 {
		if n := conversation.Asks(&f, s.Revision()); n > 0 {
			f.Question = s.owner.Numbers(n)
		}
	}
	f = s.Log.Append(f)
	if out == nil {
		s.unasked(u, f)
		return nil // it answers nothing: the SDK must not see it
	}
	if out.method == mcp.MethodDiscover && s.ofNoUse(m) {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the result is of no use"}}`, m.ID)
	}
	s.mu.Lock()
	out.reply = &Reply{Seq: f.Seq, Question: f.Question, Message: m}
	s.mu.Unlock()
	if out.sdkID != nil {
		u.Message.ID = out.sdkID
	}
	return forSDK(out.method, u)
}

// answered takes the request that a response answers off the list, and notes
// its call in the response's frame. It returns nil if there is no such request.
func (s *Session) answered(m wire.Message, f *wire.Frame) *outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(m.ID)]
	if out == nil {
		return nil
	}
	delete(s.outgoing, out.id)
	f.Call, f.Round = out.call, out.round
	switch out.method {
	case mcp.MethodDiscover:
		s.handshake.discovered = true
		s.handshake.answered++
	case mcp.MethodInitialize:
		s.handshake.answered++
	}
	return out
}

// forSDK is a response as the SDK can take it. What a call brought back is read
// from the wire, so the SDK only needs to learn that it is over.
func forSDK(method string, u target.Unit) []byte {
	m := u.Message
	if m.Kind == wire.Error {
		if method == mcp.MethodDiscover {
			return u.Raw // its data tells the SDK which revisions it may try
		}
		e, err := response.ErrorOf(m.Error)
		if err != nil {
			e.Code, e.Message = mcp.CodeInternalError, err.Error()
		}
		text, _ := json.Marshal(e.Message) // it can hold any string
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, e.Code, text)
	}
	var result string
	switch method {
	case mcp.MethodCallTool:
		result = `{"content":[]}`
	case mcp.MethodGetPrompt:
		result = `{"messages":[]}`
	case mcp.MethodReadResource:
		result = `{"contents":[]}`
	case mcp.MethodListPrompts:
		result = `{"prompts":[]}`
	case mcp.MethodListResources:
		result = `{"resources":[]}`
	case mcp.MethodListTemplates:
		result = `{"resourceTemplates":[]}`
	case mcp.MethodListTools:
		// The SDK keeps tools, to send the headers that their schemas ask for.
		result = catalog.WithHeaders(m.Result)
	default:
		return u.Raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (s *Session) receivedNotification(u target.Unit, f wire.Frame) []byte {
	m := u.Message
	switch m.Method {
	case mcp.NotificationMessage:
		f.Call = s.attribute(u.Related).sure()
		s.Log.Append(f)
		return nil
	case mcp.NotificationProgress:
		f.Call, f.Round = s.callOf(m.Params)
		s.Log.Append(f)
		return nil
	case mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged:
		f.Call = s.attribute(u.Related).sure()
		s.Log.Append(f)
		return u.Raw
	case mcp.NotificationCancelled:
		return s.receivedCancelled(u, f)
	case mcp.NotificationElicitComplete:
		s.receivedComplete(m.Params, f)
		return nil
	case mcp.NotificationResourceUpdated:
		s.Log.Append(f)
		return nil
	default:
		s.Log.Append(f)
		return u.Raw
	}
}

// receivedCancelled takes back a request of the server's. The SDK learns of those
// that it has seen.
func (s *Session) receivedCancelled(u target.Unit, f wire.Frame) []byte {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	}
	if json.Unmarshal(u.Message.Params, &p) != nil {
		s.Log.Append(f)
		return nil
	}
	id := wire.IDKey(p.RequestID)
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
	}
	s.mu.Unlock()
	s.Log.Append(f)
	switch {
	case in == nil:
		return nil
	case question == 0:
		return u.Raw
	}
	reason := "cancelled by the server"
	if p.Reason != "" {
		reason += ": " + response.Shortened(p.Reason)
	}
	s.mu.Lock()
	in.cancelled = reason
	s.mu.Unlock()
	s.owner.Cancelled(question, reason)
	return nil
}

// receivedComplete notes that a URL is done. A second notification changes nothing,
// and neither does one with an id that no URL has. Only 2025-11-25 has completions.
func (s *Session) receivedComplete(params json.RawMessage, f wire.Frame) {
	var p struct {
		ElicitationID string `json:"elicitationId"`
	}
	if s.Revision() != mcp.Revision20251125 || json.Unmarshal(params, &p) != nil || p.ElicitationID == "" {
		s.Log.Append(f)
		return
	}
	question, call := s.owner.FindURL(s, p.ElicitationID)
	f.Question, f.Call = question, call
	s.Log.Append(f)
	if question != 0 {
		s.owner.Completed(question)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, expected := s.early[p.ElicitationID]; expected {
		s.early[p.ElicitationID] = true
	}
}

// earlyKept bounds how many ids are noted whose questions never come.
const earlyKept = 1000

// expectURLs notes the elicitationIds in error -32042. A completion can overtake
// the questions of the error, which are known only once it has been understood.
func (s *Session) expectURLs(object json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, asked := range elicit.AskedInError(object) {
		id := rawjson.Text(rawjson.Member(asked.Params, "elicitationId"))
		if id != "" && len(s.early) < earlyKept {
			s.early[id] = false
		}
	}
}

// Overtaken reports whether the server has said that a URL is done before it was
// known that it asks for it. It is said once.
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
