package live

import (
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Bounds on the waiting questions of one server. Each server has its own, so that a
// server that floods takes nothing from the others.
const (
	// ShownMost is how many waiting questions are shown. Further ones are held back,
	// even if the rate has no limit.
	ShownMost = 50
	// HeldMost is how many questions are held back. Further ones are refused.
	HeldMost = 10_000
)

// DefaultRate is how many questions of one server may be shown within a minute.
// Questions that our side has settled do not count, so that a person who keeps up with
// a server sees all of them.
const DefaultRate = 10

// serverQueue is the inbox's state for one server.
type serverQueue struct {
	policy     conversation.Policy
	times      []time.Time // when the questions of the last minute were shown
	shown      int         // number of shown questions that wait
	held       int         // number of questions held back
	turnedAway int
}

func (in *Inbox) server(id string) *serverQueue {
	s := in.servers[id]
	if s == nil {
		s = &serverQueue{policy: conversation.PolicyAsk}
		in.servers[id] = s
	}
	return s
}

// Counts returns the counts of a server.
func (in *Inbox) Counts(server string) conversation.QuestionCounts {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.server(server)
	return conversation.QuestionCounts{Policy: s.policy, Held: s.held, TurnedAway: s.turnedAway, Room: s.room()}
}

func (s *serverQueue) room() int { return max(ShownMost-s.shown, 0) }

// Connected restarts the count of a server's questions for the rate.
func (in *Inbox) Connected(server string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.server(server).times = nil
}

func (in *Inbox) show(s *serverQueue, q *question, is bool) {
	if q.onShow != is {
		q.onShow = is
		s.shown += delta(is)
	}
}

func (in *Inbox) hold(s *serverQueue, q *question, is bool) {
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

// holdBack holds a question back, or refuses it, if too many questions of its server
// wait or if it exceeds the rate. It returns false if the question is to be shown. For
// a question held back, the inbox drops the params: Recall reads them again from its
// frame.
func (in *Inbox) holdBack(n *news, s *serverQueue, q *question) bool {
	// Check the room first: a question that is held back for lack of room does not
	// count for the rate.
	switch {
	case s.room() == 0:
	case in.rate <= 0:
		return false
	default:
		s.times = slices.DeleteFunc(s.times, func(t time.Time) bool { return q.Asked.Sub(t) >= time.Minute })
		if len(s.times) < in.rate {
			s.times = append(s.times, q.Asked)
			return false
		}
	}
	n.count(q.Server)
	if s.held < in.most {
		q.Params, q.Request = nil, nil
		in.hold(s, q, true)
		return true
	}
	q.TurnedAway = true
	s.turnedAway++
	in.follow(n, q, refuse(&conversation.RPCError{Code: mcp.CodeServerError, Message: "too many questions are pending"}))
	return true
}

// heldOf lists the oldest questions of a server that are held back, at most that many.
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

// ShowHeld shows the oldest of a server's questions that are held back, as many as
// there is room for.
func (in *Inbox) ShowHeld(server string) {
	list := in.recall(in.heldOf(server, in.Counts(server).Room))
	in.update(func(n *news) {
		s := in.server(server)
		for _, recalled := range list {
			q, err := in.find(recalled.Number)
			if err != nil || !q.Held || s.room() == 0 { // another caller was faster
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

// DeclineHeld declines all questions of a server that are held back.
func (in *Inbox) DeclineHeld(server string) {
	in.settleAll("decline", conversation.Answered, conversation.ByPerson, "declined together with all that were held back", func(q *Question) bool {
		return q.Held && q.Server == server
	})
}

// recall returns questions with their params read again. A question whose params cannot
// be read is refused and left out.
func (in *Inbox) recall(list []Question) []Question {
	var out []Question
	var seq int64
	var params map[string][]byte // of all that the frame asks
	var unread error
	for _, q := range list {
		if q.AskedSeq != seq {
			seq = q.AskedSeq
			params, unread = in.owner.ParamsAt(seq)
		}
		q.Params = params[q.Pointer]
		err := unread
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
				known.Refusal = &conversation.RPCError{Code: mcp.CodeInternalError, Message: why}
				in.settle(n, known, conversation.Refused, conversation.ByPolicy, why)
			}
		})
	}
	return out
}
