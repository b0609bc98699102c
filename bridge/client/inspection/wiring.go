package inspection

import (
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// wiring connects the parts of an inspection: it is the owner of sessions and of the
// inbox, and passes their events on.
type wiring struct {
	*live.Inbox
	in *Inspection
}

// Asked implements [session.Owner].
func (w *wiring) Asked(s *session.Session, r conversation.InputRequest) {
	in := w.in
	q := live.Question{InputRequest: r}
	q.CallName = in.calls.live.Asked(q)
	in.inbox.Put(q)
	if by, reason := s.EndedBy(); by != "" {
		w.Ended(s, by, reason)
	}
	in.calls.live.WithdrawLate(q)
}

// Listed implements [session.Owner].
func (w *wiring) Listed(s *session.Session, c conversation.Catalog) { w.in.servers.live.Listed(s, c) }

// Settled implements [live.InboxOwner].
func (w *wiring) Settled(q live.Question) {
	in := w.in
	s := in.servers.live.Session(q.Session)
	responds := q.Via == elicit.ByRequest && !q.CannotRespond
	ofTask := q.Via == elicit.InTask
	deliberate := q.State == conversation.Answered && q.Plan != nil
	if deliberate {
		question := live.Change{Kind: live.QuestionChanged, Number: q.Number} // its page shows what the server does next
		in.changes.AlsoMark(question, live.Change{Kind: live.CallChanged, Number: q.Call}, live.Change{Kind: live.ServerChanged, Server: q.Server})
	}
	if deliberate || !responds && (q.State != conversation.Answered || q.List != "") { // a question that no call waits for
		note(s, q)
	}
	in.calls.live.Settled(q)
	if (responds || ofTask) && deliberate {
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
	r := session.Response{ID: q.ID, Actor: q.By, Task: q.TaskID, Done: func(sent bool) {
		if !sent {
			note(s, q)
		}
	}}
	r.Result, r.Error = q.Response()
	if q.TaskID != "" {
		note(s, q) // the server may fetch the answer later, or never
	} else if q.State != conversation.Answered || q.Reason != "" {
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
func (w *wiring) Changed(q live.Question) {
	in := w.in
	in.calls.live.Changed(q)
	if q.Via == elicit.ByRequest && q.Completion == conversation.CompletionMarked {
		note(in.servers.live.Session(q.Session), q)
	}
	if q.List != "" && q.Completion > conversation.CompletionAwaited {
		s := in.servers.live.Session(q.Session)
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

// ParamsAt implements [live.InboxOwner].
func (w *wiring) ParamsAt(seq int64) (map[string][]byte, error) {
	return conversation.ParamsAt(w.in.log, seq)
}
