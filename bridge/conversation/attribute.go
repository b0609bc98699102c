package conversation

import (
	"cmp"
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// apply assigns a frame to its call, and updates sessions and outlines. The caller
// holds c.mu and has the turn.
func (c *Conversation) apply(f *clue) {
	out := f.Dir == wire.ClientToServer
	if f.Dir == wire.ServerToClient && (f.Kind == wire.Noise || f.Kind.IsResponse() && (f.Pair == 0 || f.Duplicate)) {
		if s := c.sessions[connection{f.Server, f.Session}]; s != nil {
			s.stray = uint32(f.Seq)
		}
	}
	switch {
	case out && f.Fault != "" && f.Pair == 0 && f.Kind != wire.Request: // a fault sent in place of an answer
		s := c.sessionOf(f)
		if i, ok := s.calls[f.Call]; ok {
			c.join(i, f.Seq)
		} else if i, ok := s.alone[f.Question]; ok {
			c.join(i, f.Seq)
		}
	case f.Dir == wire.Stderr || f.Kind == wire.Noise && f.Pair == 0:
	case f.Dir == wire.Meta && f.Pair == 0:
		c.noted(c.sessionOf(f), f)
	case f.Method == mcp.MethodInitialize || f.Method == mcp.MethodDiscover:
		c.greeted(c.sessionOf(f), f)
	case f.Kind == wire.Request && out && mcp.AsksForInput(f.Method):
		s := c.sessionOf(f)
		i, found := c.retryOf(s, f)
		if found {
			c.join(i, f.Seq)
		} else {
			i = c.begin(s, f)
		}
		s.open = append(s.open, pending{call: i, seq: f.Seq})
	case f.Kind == wire.Request && !out && mcp.IsInput(f.Method):
		c.question(c.sessionOf(f), f)
	case f.Call != 0 && !out && (f.Kind == wire.Request || changesList(f.Method)):
		if i, ok := c.sessionOf(f).calls[f.Call]; ok {
			c.join(i, f.Seq)
		}
	case f.Kind != wire.Request && !out && mcp.AsksForInput(f.Method):
		c.response(c.sessionOf(f), f)
	case f.Kind.IsResponse() && out && mcp.IsInput(f.Method):
		c.answer(c.sessionOf(f), f)
	case f.Kind == wire.Result && !out && mcp.IsList(f.Method):
		s := c.sessionOf(f)
		pages := append(s.server.Lists[f.Method], f.Seq)
		s.server.Lists[f.Method] = pages[max(0, len(pages)-pagesMost):]
	case required(&f.Frame):
		s := c.sessionOf(f)
		n := len(f.input.asked)
		if n == 0 {
			return
		}
		i := c.begin(s, f)
		for k := range n {
			s.alone[f.Question+k] = i
		}
		c.ask(i, f)
	case f.Method == mcp.NotificationCancelled:
		c.tookBack(c.sessionOf(f), f, out)
	case f.Method == mcp.NotificationElicitComplete && !out:
		s := c.sessionOf(f)
		i, ok := c.visits[visit{f.Server, f.visit}]
		if !ok {
			i, ok = s.calls[f.Call]
		}
		if ok {
			c.join(i, f.Seq)
		}
	case tells(&f.Frame):
		c.tell(c.sessionOf(f), f)
	}
}

// OnlyTells reports whether a notification is a progress report or a log message.
func OnlyTells(method string) bool {
	return method == mcp.NotificationProgress || method == mcp.NotificationMessage
}

func tells(f *wire.Frame) bool {
	return f.Kind == wire.Notification && f.Dir == wire.ServerToClient && OnlyTells(f.Method)
}

func changesList(method string) bool {
	switch method {
	case mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged:
		return true
	}
	return false
}

func (c *Conversation) sessionOf(f *clue) *session {
	key := connection{f.Server, f.Session}
	s := c.sessions[key]
	if s == nil {
		s = &session{connection: key, server: c.serverOf(f), calls: make(map[int]int), alone: make(map[int]int)}
		c.sessions[key] = s
	}
	return s
}

// begin adds a call that starts with a frame, and returns its index in outlines.
func (c *Conversation) begin(s *session, f *clue) int {
	o := outline{first: uint32(f.Seq), recorded: uint32(f.Call), session: s}
	if f.Dir == wire.ClientToServer {
		o.number = uint32(c.calls.take(f.Call, 1))
	}
	c.outlines = append(c.outlines, o)
	i := len(c.outlines) - 1
	c.touch(i)
	if f.Call != 0 {
		s.calls[f.Call] = i
	}
	return i
}

func (c *Conversation) join(i int, seq int64) {
	c.members = append(c.members, membership{uint32(seq), uint32(i)})
	c.outlines[i].more = append(c.outlines[i].more, uint32(seq))
	c.touch(i)
}

// of returns the index of the call that a frame belongs to, unless the frame only tells.
func (c *Conversation) of(seq int64) (int, bool) {
	if k, ok := slices.BinarySearchFunc(c.members, uint32(seq), func(m membership, seq uint32) int { return cmp.Compare(m.seq, seq) }); ok {
		return int(c.members[k].call), true
	}
	return slices.BinarySearchFunc(c.outlines, uint32(seq), func(o outline, seq uint32) int { return cmp.Compare(o.first, seq) })
}

// toldFrom returns the index of the first run in told that ends at a frame or later.
func (c *Conversation) toldFrom(seq int64) int {
	k, _ := slices.BinarySearchFunc(c.told, seq, func(t telling, seq int64) int { return cmp.Compare(int64(t.last), seq) })
	return k
}

func (c *Conversation) retryOf(s *session, f *clue) (int, bool) {
	if f.Call != 0 {
		i, ok := s.calls[f.Call]
		return i, ok && f.Round > 1
	}
	list := c.waiting[f.Server]
	for k := len(list) - 1; k >= 0; k-- {
		if list[k].by(s, f) {
			i := list[k].call
			c.waiting[f.Server] = slices.Delete(list, k, k+1)
			return i, true
		}
	}
	return 0, false
}

// by reports whether the request f is the next round of the call: it carries the
// requestState; if the call has none, it answers only keys that were asked; after
// error -32042 it repeats the first request.
func (r *retry) by(s *session, f *clue) bool {
	if r.method != f.Method || r.name != f.name {
		return false
	}
	state := f.input.state
	switch {
	case r.byError:
		return r.session == s && state == nil && f.answers == nil && same(r.arguments, f.arguments)
	case r.state != nil:
		return state != nil && (same(r.state, state) || rawjson.Text(r.state) != "" && rawjson.Text(r.state) == rawjson.Text(state))
	}
	for _, key := range f.answers {
		if !slices.ContainsFunc(r.asked, func(a elicit.Asked) bool { return a.Key == key }) {
			return false
		}
	}
	return r.session == s && state == nil && len(f.answers) > 0
}

func (c *Conversation) response(s *session, f *clue) {
	i, ok := c.of(f.Pair)
	if f.Pair == 0 || !ok {
		return
	}
	o := &c.outlines[i]
	c.touch(i)
	s.open = slices.DeleteFunc(s.open, func(p pending) bool { return p.seq == f.Pair })
	if f.Pair != int64(o.first) || f.Duplicate {
		c.join(i, f.Seq)
	}
	if f.Duplicate {
		return
	}
	o.final = uint32(f.Seq)
	if !f.input.wanted {
		return
	}
	c.ask(i, f)
	if f.Call == 0 {
		list := append(c.waiting[f.Server], retry{
			call: i, session: s, method: f.Method, name: f.name, arguments: f.arguments,
			input: f.input, byError: f.Kind == wire.Error,
		})
		c.waiting[f.Server] = list[max(0, len(list)-waitingMost):]
	}
}

func (c *Conversation) tookBack(s *session, f *clue, out bool) {
	i := answered
	if k := slices.IndexFunc(s.open, func(p pending) bool { return p.seq == f.about }); !out {
		i = s.settled(f.about)
	} else if k >= 0 {
		i = s.open[k].call
		s.open = slices.Delete(s.open, k, k+1)
	}
	if i == answered {
		// The request may already have a response; its late cancellation still belongs to the call.
		i, ok := s.calls[f.Call]
		if f.Call == 0 {
			i, ok = s.alone[f.Question]
		}
		if ok && !out && f.Question != 0 {
			c.join(i, f.Seq)
		}
		return
	}
	c.join(i, f.Seq)
}

// tell assigns a progress notification or a log message to its recorded call, or to
// the call with its progress token. A log message without a recorded call belongs to
// the only open call.
func (c *Conversation) tell(s *session, f *clue) {
	i, ok := s.calls[f.Call]
	switch {
	case f.Call != 0:
	case f.Method == mcp.NotificationMessage:
		if ok = len(s.open) == 1; ok {
			i = s.open[0].call
		}
	default:
		i, ok = c.of(f.about)
	}
	seq, call := uint32(f.Seq), uint32(nobody)
	if ok {
		call = uint32(i)
		c.outlines[i].told = seq
		c.touch(i)
	}
	if n := len(c.told); n > 0 && c.told[n-1].call == call {
		c.told[n-1].last = seq
		return
	}
	c.told = append(c.told, telling{seq, seq, call})
}

// noted applies a note that is not paired with a request. A note with a call or
// question joins that call; the others concern the connection.
func (c *Conversation) noted(s *session, f *clue) {
	i, ok := s.calls[f.Call]
	if f.Call == 0 {
		i, ok = s.alone[f.Question]
	}
	if ok && f.Call+f.Question != 0 {
		c.join(i, f.Seq)
		if s.stray != 0 { // the note may be about that response
			c.strays[uint32(f.Seq)] = s.stray
		}
		return
	}
	n := f.Note
	switch {
	case n == nil:
	case n.Kind == wire.NoteProcessExited, n.Kind == wire.NoteServerLost:
		s.exit = &exit{f.Seq, f.Time, n.Exit()}
		for place := range c.watched {
			if c.outlines[place-1].session == s {
				c.touch(place - 1)
			}
		}
	case n.Kind == wire.NoteProcessStarted && len(n.Command) > 0:
		s.server.Started = n
	case n.Kind == wire.NoteStreamRequested && n.Of == "":
		s.stream = f.URL
	case n.Kind == wire.NoteEndpoint:
		s.legacy = true
	case n.Kind == wire.NoteSignIn:
		s.server.SignedIn = true
		s.signedIn(n.SignIn.Step, f.Time)
	}
}

// signedIn notes when a sign-in was with the person: from the exchange before the browser
// is sent to the authorization server until it comes back.
func (s *session) signedIn(step wire.Step, at time.Time) {
	n := len(s.signIns)
	open := n > 0 && s.signIns[n-1].To.IsZero()
	switch {
	case open && step != wire.StepAuthorization:
		s.signIns = slices.Clone(s.signIns)
		s.signIns[n-1].To = at
	case !open && (step == wire.StepAuthorization || step == wire.StepRedirect):
		span := Span{From: at, With: PersonParty}
		if !s.exchanged.IsZero() {
			span.From = s.exchanged
		}
		if step == wire.StepRedirect {
			span.To = at
		}
		s.signIns = append(s.signIns[max(0, n+1-signInsMost):n:n], span)
	}
	if s.exchanged = at; step == wire.StepRedirect {
		s.exchanged = time.Time{}
	}
}

// signInsMost bounds how many sign-ins of a connection count for the times of its calls.
const signInsMost = 100
