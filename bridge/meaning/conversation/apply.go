package conversation

import (
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// apply works out which call and which question a frame belongs to, and adds it there. It
// is the only place that does. The caller holds c.mu and has the turn.
//
// A call that asks once, over stdio in revision 2025-11-25, is four frames:
//
//	1 → tools/call, id 7            request   begins a call, which is open now
//	2 ← elicitation/create, id 1    question  names no call: it belongs to the one that is likely
//	3 → result of id 1              answer    belongs where frame 2 belongs
//	4 ← result of id 7              response  belongs where frame 1 belongs; nothing is open any more
//
// In revision 2026-07-28 the server asks in a result, and the client calls again:
//
//	1 → tools/call, id 7            request   begins a call
//	2 ← result with inputRequests   response  asks the question; the call waits for its next round
//	3 → tools/call, id 8            request   goes on with that call: retryOf knows it by the state
//	4 ← result of id 8              response  ends it
//
// Our own sessions write the number of the call on each frame, so that nothing is guessed. The
// rest is for logs of others: taps, transcripts of other tools, and our own that were cut.
func (c *attribution) apply(f *frame) {
	kind := kindOf(&f.Frame)
	incoming := f.Dir == wire.ServerToClient
	if incoming && (f.Kind == wire.Noise || f.Kind.IsResponse() && (f.Pair == 0 || f.Duplicate)) {
		if s := c.sessions[connection{f.Server, f.Session}]; s != nil {
			s.stray = uint32(f.Seq)
		}
	}
	switch kind {
	case noEvent:
	case note:
		s := c.sessionOf(f)
		if i, question, ok := s.named(f); ok {
			c.add(i, f, kind, question)
			if f.Note != nil {
				c.ends(s, f.Note.Kind, i, question)
			}
			if s.stray != 0 && f.Kind != wire.SpanFrame { // the note may be about that response
				c.strays[uint32(f.Seq)] = s.stray
			}
		} else if f.Call+f.Question == 0 && f.Note != nil {
			c.noted(s, f)
		}
	case request:
		if isHandshake(f.Method) {
			c.greeted(c.sessionOf(f), f)
		} else if mcp.AsksForInput(f.Method) {
			s := c.sessionOf(f)
			i, found := c.retryOf(s, f)
			if !found {
				i = c.begin(s, f)
			}
			c.add(i, f, kind, 0)
			s.open = append(s.open, pending{call: i, seq: f.Seq, round: f.Round})
		}
	case response:
		switch {
		case !incoming && f.Dir != wire.Meta:
		case isHandshake(f.Method):
			c.greeted(c.sessionOf(f), f)
		case mcp.AsksForInput(f.Method):
			c.responded(c.sessionOf(f), f)
		case f.Kind == wire.Result && mcp.IsList(f.Method):
			s := c.sessionOf(f)
			pages := append(s.server.Lists[f.Method], f.Seq)
			s.server.Lists[f.Method] = pages[max(0, len(pages)-pagesMost):]
		}
	case listQuestions:
		if s := c.sessionOf(f); len(f.input.asked) > 0 {
			i := c.begin(s, f)
			c.add(i, f, kind, c.asks(s, i, f, len(f.input.asked)))
		}
	case question:
		s := c.sessionOf(f)
		// Before 2026-07-28, sampling and roots are put to the person only if the client
		// declared them; an unknown declaration counts as declared.
		if d := s.handshake.Declared; d != nil && s.handshake.Protocol < mcp.Revision20260728 && ClientSettingsOf(d).Undeclared(f.Method) {
			return
		}
		i, ok := s.calls[f.Call]
		guessed := f.Guessed
		if t, _ := c.taskOf(f); t != nil && (f.Call == 0 || !ok) {
			i, ok = t.call, true
		} else if f.Call == 0 || !ok {
			var p pending
			p, guessed, ok = c.likely(s)
			i = p.call
		}
		if !ok {
			i = c.begin(s, f)
		}
		nth := c.asks(s, i, f, 1)
		c.add(i, f, kind, nth).guessed = guessed
		for _, p := range s.open { // it may be the question of any of them
			if o := &c.calls[p.call]; guessed && o.guessed == 0 {
				o.guessed = uint32(f.Seq)
			}
		}
		s.asked[f.Seq] = pending{call: i, question: nth, id: wire.IDKey(f.Message.ID)}
		c.calls[i].waiting++
	case callTask, questionTask:
		c.ofTask(f, kind)
	case answer: // also a refusal, which is an error response
		e := c.eventOf(f.Pair)
		if s := c.sessionOf(f); e != nil {
			if !f.MakesTask || f.Question == 0 { // of a task of ours, a note says that it is settled
				c.settled(s, f.Pair)
			}
			if f.MakesTask {
				kind = questionTask
				c.makesTask(f, questionOf{call: int(e.call), question: e.question})
			}
			c.add(int(e.call), f, kind, e.question)
		}
	case faultyAnswer: // a fault sends it, and its pair alone does not say what it answers
		s := c.sessionOf(f)
		c.settled(s, f.Pair)
		if i, question, ok := s.named(f); ok {
			c.add(i, f, kind, question)
		}
	case serverRequest, listChanged:
		if f.Call != 0 && incoming {
			if i, ok := c.sessionOf(f).calls[f.Call]; ok {
				c.add(i, f, kind, 0)
			}
		}
	case stopped:
		s := c.sessionOf(f)
		if k := slices.IndexFunc(s.open, func(p pending) bool { return p.seq == f.about }); k >= 0 {
			c.add(s.open[k].call, f, kind, 0)
			s.open = slices.Delete(s.open, k, k+1)
		}
	case cancelled:
		s := c.sessionOf(f)
		id, about := wire.IDKey(rawjson.Member(f.Message.Params, "requestId")), int64(0)
		for seq, p := range s.asked { // of several with this id, the earliest
			if p.id == id && (about == 0 || seq < about) {
				about = seq
			}
		}
		if p, ok := c.settled(s, about); ok {
			c.add(p.call, f, kind, p.question)
		} else if i, question, ok := s.named(f); ok && f.Question != 0 {
			c.add(i, f, kind, question) // the question has an answer already
		}
	case urlDone:
		if !incoming {
			return
		}
		s := c.sessionOf(f)
		if of, ok := c.urls[urlID{f.Server, f.elicitationID}]; ok {
			c.add(of.call, f, kind, of.question)
		} else if i, question, ok := s.named(f); ok && f.Call != 0 {
			c.add(i, f, kind, question)
		}
	case logMessage, progress:
		if !isReport(&f.Frame) {
			return
		}
		s, of := c.sessionOf(f), noCall
		if i, ok := s.calls[f.Call]; ok {
			of = uint32(i)
		} else if f.Call != 0 {
			// its call is not in the log
		} else if e := c.eventOf(f.about); e != nil { // by its progress token
			of = e.call
		} else if kind == logMessage && len(s.open) == 1 {
			of = uint32(s.open[0].call)
		}
		c.addReport(of, uint32(f.Seq))
	}
}

// LikelyCall returns the open call to which a question that names no call belongs: the latest one
// without an open question, else the latest one. The calls are in the order in which they began.
// guessed reports that several calls are open, and ok that at least one is.
func LikelyCall[C any](open []C, asks func(C) bool) (call C, guessed, ok bool) {
	if len(open) == 0 {
		return call, false, false
	}
	call = open[len(open)-1]
	for _, one := range slices.Backward(open) {
		if !asks(one) {
			call = one
			break
		}
	}
	return call, len(open) > 1, true
}

// named returns the call that a frame names by its recorded number, or by that of its
// question, and that question. It reports false if the frame names no call that is known.
func (s *session) named(f *frame) (call int, question uint32, ok bool) {
	of, known := s.questions[f.Question]
	if f.Call == 0 {
		return of.call, of.question, known
	}
	if call, ok = s.calls[f.Call]; known && of.call == call {
		question = of.question
	}
	return call, question, ok
}

// asks records that a frame asks n questions in the call at index i, and returns the
// number of the first of them within the call.
func (c *attribution) asks(s *session, i int, f *frame, n int) uint32 {
	o := &c.calls[i]
	first := o.questions + 1
	o.questions += uint32(n)
	c.fresh = append(c.fresh, unnumbered{int(f.Seq), n, f.Question})
	for k := range n {
		of := questionOf{call: i, question: first + uint32(k)}
		if f.Question != 0 {
			of.number = uint32(f.Question + k)
			s.questions[f.Question+k] = of
		}
		id := f.elicitationID
		if f.Kind == wire.Error {
			id = rawjson.Text(rawjson.Member(f.input.asked[k].Params, "elicitationId"))
		}
		if id != "" {
			c.urls[urlID{f.Server, id}] = of
		}
	}
	return first
}

// responded adds the response to a request of a call, or what takes its place.
func (c *attribution) responded(s *session, f *frame) {
	e := c.eventOf(f.Pair)
	if e == nil {
		return
	}
	i := int(e.call)
	s.open = slices.DeleteFunc(s.open, func(p pending) bool { return p.seq == f.Pair })
	if f.Duplicate || !f.input.wanted {
		c.add(i, f, response, 0)
		if f.MakesTask && !f.Duplicate {
			c.makesTask(f, questionOf{call: i})
		}
		return
	}
	first := uint32(0)
	if n := len(f.input.asked); n > 0 {
		first = c.asks(s, i, f, n)
	}
	c.add(i, f, inputRequired, first)
	if f.Call == 0 {
		list := append(c.waiting[f.Server], retry{
			call: i, session: s, method: f.Method, name: f.name, arguments: f.arguments,
			input: f.input, byError: f.Kind == wire.Error,
		})
		c.waiting[f.Server] = list[max(0, len(list)-waitingMost):]
	}
}

// retry is a call that waits for its next round.
type retry struct {
	call         int
	session      *session
	method, name string
	arguments    json.RawMessage
	input
	byError bool // error -32042 asked for the next round
}

// waitingMost bounds how many calls of a server can wait for their next round.
const waitingMost = 256

// retryOf returns the call whose next round the request f is. A recorded call and round
// say so; else the request carries the requestState; if the call has none, it answers only
// keys that were asked; after error -32042 it repeats the first request.
func (c *attribution) retryOf(s *session, f *frame) (int, bool) {
	if f.Call != 0 {
		i, ok := s.calls[f.Call]
		return i, ok && f.Round > 1
	}
	list := c.waiting[f.Server]
	for k := len(list) - 1; k >= 0; k-- {
		r, state := &list[k], f.input.state
		is := r.method == f.Method && r.name == f.name
		switch {
		case !is:
		case r.byError:
			is = r.session == s && state == nil && f.answers == nil && same(r.arguments, f.arguments)
		case r.state != nil:
			is = state != nil && (same(r.state, state) || rawjson.Text(r.state) != "" && rawjson.Text(r.state) == rawjson.Text(state))
		default:
			asked := func(key string) bool {
				return slices.ContainsFunc(r.asked, func(a elicit.Asked) bool { return a.Key == key })
			}
			is = r.session == s && state == nil && len(f.answers) > 0 && !slices.ContainsFunc(f.answers, func(key string) bool { return !asked(key) })
		}
		if is {
			call := r.call
			c.waiting[f.Server] = slices.Delete(list, k, k+1)
			return call, true
		}
	}
	return 0, false
}

// settled removes a request of the server from those that wait, and returns it; false if
// it is not there.
func (c *attribution) settled(s *session, seq int64) (p pending, ok bool) {
	if p, ok = s.asked[seq]; ok {
		delete(s.asked, seq)
		c.calls[p.call].waiting--
	}
	return p, ok
}

// ends applies a note that says how a call or a question has ended: no later message belongs to it
// because it waits.
func (c *attribution) ends(s *session, how wire.NoteKind, call int, question uint32) {
	switch how {
	case wire.NoteEnded:
		for k := range s.open {
			s.open[k].over = s.open[k].over || s.open[k].call == call
		}
	case wire.NoteAnswered, wire.NoteSettled, wire.NoteMisbehaved:
		for seq, p := range s.asked {
			if p.call == call && p.question == question {
				c.settled(s, seq)
			}
		}
	}
}

// noted applies a note that concerns a connection.
func (c *attribution) noted(s *session, f *frame) {
	switch n := f.Note; {
	case n.Kind == wire.NoteProcessExited, n.Kind == wire.NoteServerLost:
		s.exit = &exit{f.Seq, f.Time, n.Exit()}
		for place := range c.watched {
			if c.calls[place-1].session == s {
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
