package conversation

import (
	"context"
	"slices"

	"elicitation-inspector/bridge/wire"
)

// Carrier is the call and the round of the request whose response carries a message; both are 0 if
// it is of no call, or over.
type Carrier struct{ Call, Round int }

// Place returns the call and the round that a message from a server belongs to, before it is in
// the log. A session logs the message with both, so that a transcript says what was known then:
//
//   - A message that names a task belongs to the call that became the task.
//   - Over HTTP, the response to a request carries the message, which belongs to the call of that
//     request: carrier.
//   - Stdio and the stream that GET opens have no carrier; see [LikelyCall].
//
// Both are 0 if the message belongs to no call.
func (c *Conversation) Place(f *wire.Frame, carrier *Carrier) (call, round int, guessed bool) {
	_ = acquire(context.Background(), c.turn)
	defer release(c.turn)              // to read a frame writes the ids of the requests that are open
	_ = c.update(context.Background()) // who reads the log reports that a frame cannot be read
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[connection{f.Server, f.Session}]
	if s == nil {
		return 0, 0, false
	}
	of := frame{Frame: *f, task: RelatedTaskID(f.Message.Params)}
	if t, _ := c.taskOf(&of); of.task != "" && t != nil {
		return int(c.calls[t.call].recorded), t.round, false
	}
	if carrier != nil {
		return carrier.Call, carrier.Round, false
	}
	p, guessed, ok := c.likely(s)
	if !ok {
		return 0, 0, false
	}
	return int(c.calls[p.call].recorded), p.round, guessed
}

// Numbers reserves count consecutive numbers for questions whose frame is about to be logged, and
// returns the first.
func (c *Conversation) Numbers(count int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved += count
	return c.reserved - count + 1
}

// Completes returns the question that is done by a completion with an elicitationId, and its call;
// 0, 0 if the server has asked no such question.
func (c *Conversation) Completes(server, elicitationID string) (question, call int) {
	_ = c.Update(context.Background()) // as in Place
	c.mu.Lock()
	defer c.mu.Unlock()
	of, ok := c.urls[urlID{server, elicitationID}]
	if !ok {
		return 0, 0
	}
	return int(of.number), int(c.calls[of.call].recorded)
}

// likely returns the likely call of a question of a session that names none.
func (c *attribution) likely(s *session) (p pending, guessed, ok bool) {
	var open []pending
	for _, p := range s.open {
		if !p.over && !slices.ContainsFunc(open, func(other pending) bool { return other.call == p.call }) {
			open = append(open, p)
		}
	}
	return LikelyCall(open, func(p pending) bool { return c.calls[p.call].waiting > 0 })
}
