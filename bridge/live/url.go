package live

import (
	"slices"

	"elicitation-inspector/bridge/conversation"
)

// awaited reports whether an accepted URL may still be reported as done.
func (q *question) awaited() bool {
	return q.Completion == conversation.CompletionAwaited && !q.hopeless
}

// Hopeless marks the accepted URLs of matching questions: nobody can report any more
// that they are done.
func (in *Inbox) Hopeless(matches func(*Question) bool) {
	in.update(func(n *news) {
		for _, q := range in.settled {
			if q.awaited() && matches(&q.Question) {
				q.hopeless = true
				n.changed = append(n.changed, q.Question)
			}
		}
	})
}

// URL returns the number and the call of the question with this elicitationId: the
// latest that waits, or else the latest accepted one that is not done. It returns 0, 0
// if there is none.
func (in *Inbox) URL(server, elicitationID string) (number, call int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, list := range [][]*question{in.settled, in.pending} {
		for _, q := range slices.Backward(list) {
			open := q.State == conversation.Pending || q.Completion == conversation.CompletionAwaited
			if open && q.Server == server && q.asksFor(elicitationID) {
				return q.Number, q.Call
			}
		}
	}
	return 0, 0
}

// Complete records that the server has reported a URL as done. The report may arrive
// before the person has accepted.
func (in *Inbox) Complete(number int) {
	in.amend(number, func(_ *news, q *question) bool {
		if q.State != conversation.Pending && q.Completion == conversation.CompletionNone { // declined or cancelled
			return false
		}
		q.Completion = conversation.CompletionDone
		return true
	})
}

// MarkCompleted records that the person has reported an accepted URL as done.
func (in *Inbox) MarkCompleted(number int) {
	in.amend(number, func(_ *news, q *question) bool {
		if q.Completion != conversation.CompletionAwaited {
			return false
		}
		q.Completion = conversation.CompletionMarked
		return true
	})
}

// IsOpen reports whether a matching question waits for its answer, or for its accepted
// URL to be done.
func (in *Inbox) IsOpen(matches func(*Question) bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	open := func(q *question) bool {
		return (q.State == conversation.Pending || q.awaited()) && matches(&q.Question)
	}
	return slices.ContainsFunc(in.pending, open) || slices.ContainsFunc(in.settled, open)
}
