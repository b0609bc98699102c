package conversation

import (
	"cmp"
	"slices"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

// question assigns a request of the server that is put to the person. Before 2026-07-28,
// sampling and roots are only if the client declared them; an unknown declaration counts
// as declared.
func (c *Conversation) question(s *session, f *clue) {
	if d := s.handshake.Declared; d != nil && s.handshake.Protocol < mcp.Revision20260728 && ClientSettingsOf(d).Undeclared(f.Method) != "" {
		return
	}
	i, ok := s.calls[f.Call]
	if f.Call == 0 || !ok {
		i, ok = c.guess(s, f.Seq)
	} else if f.Guessed {
		c.guessed[uint32(f.Seq)] = true
	}
	if ok {
		c.join(i, f.Seq)
	} else {
		i = c.begin(s, f)
		s.alone[f.Question] = i
	}
	c.fresh = append(c.fresh, asking{int(f.Seq), 1, f.Question})
	s.asked = append(s.asked, pending{call: i, seq: f.Seq, id: wire.IDKey(f.Message.ID)})
	if f.visit != "" {
		c.visits[visit{f.Server, f.visit}] = i
	}
}

// guess returns the call for a question whose frame names none: the latest open call
// without an open question, else the latest open call. It marks the question as
// guessed if several calls are open.
func (c *Conversation) guess(s *session, seq int64) (int, bool) {
	if len(s.open) == 0 {
		return 0, false
	}
	if len(s.open) > 1 {
		c.guessed[uint32(seq)] = true
	}
	for _, p := range slices.Backward(s.open) {
		if !slices.ContainsFunc(s.asked, func(q pending) bool { return q.call == p.call }) {
			return p.call, true
		}
	}
	return s.open[len(s.open)-1].call, true
}

func (c *Conversation) answer(s *session, f *clue) {
	i, ok := c.of(f.Pair)
	if f.Pair == 0 || !ok {
		return
	}
	s.settled(f.Pair)
	o := &c.outlines[i]
	c.touch(i)
	if f.Pair == int64(o.first) && !f.Duplicate {
		o.final = uint32(f.Seq)
		return
	}
	c.join(i, f.Seq)
}

// answered marks a call in session.asked that has its answer.
const answered = -1

// settled removes a request of the server from asked, and returns its call; answered if it
// is not there. It leaves a gap until half of the list are gaps, so that many answers take
// no longer than many questions.
func (s *session) settled(seq int64) (call int) {
	at, ok := slices.BinarySearchFunc(s.asked, seq, func(p pending, seq int64) int { return cmp.Compare(p.seq, seq) })
	if !ok || s.asked[at].call == answered {
		return answered
	}
	call, s.asked[at].call = s.asked[at].call, answered
	if s.gaps++; 2*s.gaps > len(s.asked) {
		s.asked, s.gaps = slices.DeleteFunc(s.asked, func(p pending) bool { return p.call == answered }), 0
	}
	return call
}

// required reports whether a frame asks for URLs in an error to a list request, which
// belongs to no call. An error without a number asks nothing: each URL in it was being
// asked for already, or it is unknown whether somebody was asked.
func required(f *wire.Frame) bool {
	return f.Kind == wire.Error && f.Dir == wire.ServerToClient && mcp.IsList(f.Method) && f.Question != 0
}

func (c *Conversation) ask(i int, f *clue) {
	if n := len(f.input.asked); n > 0 {
		c.fresh = append(c.fresh, asking{int(f.Seq), n, f.Question})
	}
	for _, id := range f.visits {
		c.visits[visit{f.Server, id}] = i
	}
}

// numbers assigns the numbers of calls or of questions: the recorded number where
// possible, so that it matches the log, else a free one. A continued transcript
// counts from 1 again; its numbers then follow the highest number so far.
type numbers struct {
	used  []bool // whether n+1 is assigned
	base  int    // added to recorded numbers
	max   int    // highest number assigned
	last  int    // given out last
	count int
}

// recordedMost bounds how far a recorded number may lie above all others: every
// number costs memory, and a transcript can hold any number.
const recordedMost = 1 << 20

// take assigns wanted consecutive numbers, starting at base plus the recorded one if
// that is valid, and returns the first.
func (n *numbers) take(recorded, wanted int) int {
	if recorded < 1 || recorded > n.max-n.base+recordedMost {
		return n.next(wanted)
	}
	if n.has(n.base + recorded) {
		n.base = n.max
	}
	n.last = n.base + recorded - 1
	return n.next(wanted)
}

// next assigns the first wanted consecutive free numbers after last, and returns the
// first.
func (n *numbers) next(wanted int) int {
	first := n.last + 1
	for k := 0; k < wanted; k++ {
		if n.has(first + k) {
			first, k = first+k+1, -1
		}
	}
	n.last = first + wanted - 1
	n.max = max(n.max, n.last)
	n.count += wanted
	n.used = append(n.used, make([]bool, n.max-len(n.used))...)
	for k := range wanted {
		n.used[first+k-1] = true
	}
	return first
}

func (n *numbers) has(number int) bool { return number <= len(n.used) && n.used[number-1] }
