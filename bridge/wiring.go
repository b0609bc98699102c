package bridge

import (
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/session"
)

// wiring connects the parts of an inspection: it is the owner of sessions, of the inbox
// and of the calls, and passes their events to each other.
type wiring struct{ in *Inspection }

// Numbers implements [session.Owner].
func (w wiring) Numbers(count int) int { return w.in.inbox.Numbers(count) }

// IsAsked implements [session.Owner].
func (w wiring) IsAsked(s *session.Session, elicitationID, url string) bool {
	return w.in.inbox.IsOpen(func(q *live.Question) bool {
		same := q.IsURL() && q.Request.ElicitationID == elicitationID && (elicitationID != "" || q.Request.URL == url)
		return q.List != "" && q.Server == s.Server && same
	})
}

// Asked implements [session.Owner].
func (w wiring) Asked(s *session.Session, r conversation.InputRequest) {
	in := w.in
	q := live.Question{InputRequest: r}
	q.CallName = in.calls.Asked(q)
	in.inbox.Put(q)
	if s.Overtaken(r.Request) {
		in.inbox.Complete(q.Number)
	}
	if by, reason := s.Released(); by != "" {
		w.Released(s, by, reason)
	}
	in.calls.WithdrawLate(q)
}

// Cancelled implements [session.Owner].
func (w wiring) Cancelled(question int, reason string) { w.in.inbox.Cancelled(question, reason) }

// FindURL implements [session.Owner].
func (w wiring) FindURL(s *session.Session, elicitationID string) (question, call int) {
	return w.in.inbox.URL(s.Server, elicitationID)
}

// Completed implements [session.Owner].
func (w wiring) Completed(question int) { w.in.inbox.Complete(question) }

// Closing implements [session.Owner].
func (w wiring) Closing(s *session.Session, reason string) { w.in.inbox.Dismiss(s.Name, reason) }

// Released implements [session.Owner].
func (w wiring) Released(s *session.Session, by, reason string) {
	its := func(q *live.Question) bool { return q.Session == s.Name }
	w.in.inbox.Withdraw(by, reason, false, its)
	w.in.inbox.Hopeless(its)
}

// Listed implements [session.Owner].
func (w wiring) Listed(s *session.Session, c conversation.Catalog) { w.in.servers.Listed(s, c) }

// Connecting implements [live.ServersOwner].
func (w wiring) Connecting(server string) { w.in.inbox.Connected(server) }

// Settled implements [live.InboxOwner].
func (w wiring) Settled(q live.Question) {
	in := w.in
	s := in.servers.Session(q.Session)
	responds := q.Via == elicit.ByRequest && !q.Mute
	deliberate := q.State == conversation.Answered && q.Plan != nil
	if deliberate {
		question := live.Change{Kind: live.QuestionChanged, Number: q.Number} // its page shows what the server does next
		in.changes.Tie(question, live.Change{Kind: live.CallChanged, Number: q.Call}, live.Change{Kind: live.ServerChanged, Server: q.Server})
	}
	if deliberate || !responds && (q.State != conversation.Answered || q.List != "") { // a question that no call waits for
		note(s, q)
	}
	in.calls.Settled(q)
	if responds && deliberate {
		in.misbehave(s, q)
	} else if responds { // last, because the server may continue as soon as it gets the response
		respond(s, q)
	}
	if !q.TurnedAway {
		in.changes.Mark(live.Change{Kind: live.QuestionChanged, Number: q.Number})
	}
}

// respond sends the response to a request from the server.
func respond(s *session.Session, q live.Question) {
	if s == nil {
		return
	}
	r := session.Response{ID: q.ID, Actor: q.By, Unsent: func() { note(s, q) }}
	r.Result, r.Error = q.Response()
	if q.State != conversation.Answered || q.Reason != "" {
		r.Beside = q.EndNote()
	}
	s.Respond(r)
}

// note logs how a question ended, for ends that no message shows.
func note(s *session.Session, q live.Question) {
	if s != nil {
		s.Noted(q.Frame())
	}
}

// Changed implements [live.InboxOwner].
func (w wiring) Changed(q live.Question) {
	in := w.in
	in.calls.Changed(q)
	if q.Via == elicit.ByRequest && q.Completion == conversation.CompletionMarked {
		note(in.servers.Session(q.Session), q)
	}
	if q.List != "" && q.Completion > conversation.CompletionAwaited {
		s := in.servers.Session(q.Session)
		note(s, q)
		if s != nil && !in.inbox.IsOpen(func(other *live.Question) bool {
			return other.Session == q.Session && other.List == q.List
		}) {
			s.ListChanged(q.List) // the server may now return the list
		}
	}
	in.changes.Mark(live.Change{Kind: live.QuestionChanged, Number: q.Number})
	in.repeat(&q)
}

// Counted implements [live.InboxOwner].
func (w wiring) Counted(server string) {
	w.in.changes.Mark(live.Change{Kind: live.ServerChanged, Server: server})
}

// ParamsAt implements [live.InboxOwner].
func (w wiring) ParamsAt(seq int64) (map[string][]byte, error) {
	return conversation.ParamsAt(w.in.log, seq)
}

// CallChanged implements [live.CallsOwner].
func (w wiring) CallChanged(number int) {
	w.in.changes.Mark(live.Change{Kind: live.CallChanged, Number: number})
}
