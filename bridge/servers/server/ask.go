package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Question is what a server asks its client while it works on a call. The revision of the call says how:
//
//   - up to 2025-11-25 by a request of the server's, [Session.Ask], on the stream of the call, or on that of
//     the task which the call became. The client answers with a response.
//   - since 2026-07-28 by the result of the call, [InputRequired], which is the end of its request. The client
//     answers in the params of the next request for the same call, [Request.Answer].
//   - since 2026-07-28 in a task by its status, [Task.Ask], which the client reads. It answers by tasks/update,
//     [Task.Answer].
type Question struct {
	Key    string // of its answer, since 2026-07-28
	Method string
	Params json.RawMessage // null for none
}

// inputRequests returns the object of inputRequests.
func inputRequests(list []Question) string {
	o := "{}"
	for _, q := range list {
		o = rawjson.WithMember(o, q.Key, withParams(fmt.Sprintf(`{"method":%q}`, q.Method), q.Params))
	}
	return o
}

// InputRequired returns a result that asks questions. The client sends state back with the answers; without questions
// it only makes the call again. An empty state is left out.
func InputRequired(list []Question, state string) string {
	result := `{"resultType":"input_required"}`
	if len(list) > 0 {
		result = rawjson.WithMember(result, "inputRequests", inputRequests(list))
	}
	if state != "" {
		result = rawjson.WithMember(result, "requestState", string(rawjson.Quoted(state)))
	}
	return result
}

// Answer returns the answer that the request has for the question of this key; nil for none.
func (r *Request) Answer(key string) json.RawMessage {
	return rawjson.Member(r.Params, "inputResponses", key)
}

// Pending is a request of the server's. Response gets the frame of its response, unless Forget is called before.
type Pending struct {
	Question
	ID       string
	At       time.Time // when it was sent
	Seq      int64     // the number of its frame
	Of       any       // what it belongs to, for the peer
	Response chan wire.Frame

	session *Session
	over    bool // nothing waits for the response; the session's mutex guards it
}

// pendingMost bounds the requests of a server's that a session remembers.
const pendingMost = 10_000

// Ask sends a question, or another request of the server's, that belongs to of.
func (s *Session) Ask(out Stream, q Question, of any) *Pending {
	p := &Pending{Question: q, At: time.Now(), Of: of, Response: make(chan wire.Frame, 1), session: s}
	s.mu.Lock()
	s.count++
	p.ID = strconv.Itoa(s.count)
	if len(s.asked) >= pendingMost {
		maps.DeleteFunc(s.asked, func(_ string, p *Pending) bool { return p.over })
	}
	s.asked[p.ID] = p
	s.mu.Unlock()
	p.Seq = s.Send(out, withParams(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q}`, p.ID, q.Method), q.Params), false)
	return p
}

// Forget gives up waiting for the response, and reports whether there was none so far.
func (p *Pending) Forget() (open bool) {
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	open, p.over = !p.over, true
	return open
}

// Open lists the requests of the server's that wait for their response.
func (s *Session) Open() (list []*Pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.asked {
		if !p.over {
			list = append(list, p)
		}
	}
	return list
}

// receive gives a response to the request that waits for it, and all else to the peer.
func (s *Session) receive(f wire.Frame) {
	var p *Pending
	if f.Kind.IsResponse() {
		s.mu.Lock()
		p = s.asked[string(f.Message.ID)]
		s.mu.Unlock()
	}
	if p != nil && p.Forget() {
		p.Response <- f // which has room for it
		return
	}
	s.peer.Receive(f, p)
}

// withParams adds params to a message, unless there are none or they are null.
func withParams(message string, params json.RawMessage) string {
	if params == nil || string(params) == "null" {
		return message
	}
	return rawjson.WithMember(message, "params", string(params))
}
