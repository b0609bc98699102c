package inbox

import (
	"slices"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
)

// Bounds on the questions of one server that wait. They are each server's own, so
// that one that floods takes nothing from the others.
const (
	// ShownMost is how many of them are on show. Further ones are held back, also
	// where the rate has no limit.
	ShownMost = 50
	// HeldMost is how many are held back. Further ones are refused.
	HeldMost = 10_000
)

// DefaultRate is how many questions a minute one server may put on show, not
// counting those that are settled by our side: who keeps up with a server is
// not flooded by it.
const DefaultRate = 10

// server is what the inbox knows of one server.
type server struct {
	policy     Policy
	times      []time.Time // when its questions of the last minute were put on show
	shown      int         // how many are on show
	held       int         // how many are held back
	turnedAway int
}

func (in *Inbox) server(id string) *server {
	s := in.servers[id]
	if s == nil {
		s = &server{policy: PolicyAsk}
		in.servers[id] = s
	}
	return s
}

// Counts is what waits of one server's, and what becomes of more.
type Counts struct {
	Policy     Policy
	Held       int // questions that are held back
	Room       int // how many of those can be shown now
	TurnedAway int // questions that were refused because too many wait
}

// Counts returns what waits of a server's.
func (in *Inbox) Counts(server string) Counts {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.server(server)
	return Counts{Policy: s.policy, Held: s.held, TurnedAway: s.turnedAway, Room: s.room()}
}

func (s *server) room() int { return max(ShownMost-s.shown, 0) }

// Connected begins to count a server's rate anew.
func (in *Inbox) Connected(server string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.server(server).times = nil
}

func (in *Inbox) show(s *server, q *question, is bool) {
	if q.onShow != is {
		q.onShow = is
		s.shown += delta(is)
	}
}

func (in *Inbox) hold(s *server, q *question, is bool) {
	if q.Held != is {
		q.Held = is
		s.held += delta(is)
	}
}

func delta(more bool) int {
	if more {
		return 1
	}
	return -1
}

const tooMany = "too many questions are pending"

// holdBack holds a question back, or refuses it, where its server has too many
// that wait or asks too often. It reports whether it did. Of a question that is
// held back no more is kept than leads to its frame.
func (in *Inbox) holdBack(n *news, s *server, q *question) bool {
	// What keeps a question off the page must not count for the rate.
	if s.room() > 0 && !s.overRate(in.rate, q.Asked) {
		return false
	}
	n.count(q.Server)
	if s.held < HeldMost {
		q.Params, q.Request = nil, nil
		in.hold(s, q, true)
		return true
	}
	q.TurnedAway = true
	s.turnedAway++
	in.follow(n, q, refuse(&client.Refusal{Code: mcp.CodeServerError, Message: tooMany}))
	return true
}

// overRate notes a question that is to be shown, and reports whether it is one
// too many within a minute.
func (s *server) overRate(rate int, at time.Time) bool {
	if rate <= 0 {
		return false
	}
	s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return at.Sub(t) >= time.Minute })
	if len(s.times) >= rate {
		return true
	}
	s.times = append(s.times, at)
	return false
}

// keptUp notes that our side settled a question that was shown at a time.
func (s *server) keptUp(at time.Time) {
	if i := slices.Index(s.times, at); i >= 0 {
		s.times = slices.Delete(s.times, i, i+1)
	}
}

// heldOf lists the first questions of a server that are held back.
func (in *Inbox) heldOf(server string, most int) []Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Question
	for _, q := range in.pending {
		if q.Held && q.Server == server && len(out) < most {
			out = append(out, q.Question)
		}
	}
	return out
}

// ShowHeld puts as many of a server's questions that are held back on show as there
// is room for, the oldest first.
func (in *Inbox) ShowHeld(server string) {
	list := in.recall(in.heldOf(server, in.Counts(server).Room))
	in.update(func(n *news) {
		s := in.server(server)
		for _, recalled := range list {
			q, err := in.find(recalled.Number)
			if err != nil || !q.Held || s.room() == 0 { // somebody was faster
				continue
			}
			q.Params, q.Request = recalled.Params, recalled.Request
			in.hold(s, q, false)
			in.show(s, q, true)
			n.changed = append(n.changed, q.Question)
		}
		n.count(server)
	})
}

// DeclineHeld declines all of a server's questions that are held back.
func (in *Inbox) DeclineHeld(server string) {
	in.update(func(n *news) {
		for _, q := range slices.Clone(in.pending) {
			if q.Held && q.Server == server {
				q.Answered(Answer{Action: "decline"})
				in.settle(n, q, conversation.Answered, conversation.ByPerson, "declined together with all that were held back")
			}
		}
		n.count(server)
	})
}

// recall has what questions asked read again. Those that cannot be read are refused,
// and left out.
func (in *Inbox) recall(list []Question) []Question {
	var out []Question
	for i, err := range in.owner.Recall(list) {
		q := list[i]
		if err == nil && q.Method == mcp.MethodElicit {
			q.Request, err = elicit.Parse(q.Params)
		}
		if err == nil {
			out = append(out, q)
			continue
		}
		why := "it was held back, and cannot be read again: " + err.Error()
		in.update(func(n *news) {
			if known, err := in.find(q.Number); err == nil && known.Held {
				known.Refusal = &client.Refusal{Code: mcp.CodeInternalError, Message: why}
				in.settle(n, known, conversation.Refused, conversation.ByPolicy, why)
			}
		})
	}
	return out
}
