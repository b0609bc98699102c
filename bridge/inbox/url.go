package inbox

import (
	"slices"

	"elicitation-inspector/bridge/conversation"
)

// awaited reports whether the outcome of an accepted URL is still open.
func (q *question) awaited() bool {
	return q.Completion == conversation.CompletionAwaited && !q.hopeless
}

// Hopeless says of which accepted URLs nobody can tell the outcome any more.
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

// URL finds the question whose URL has this elicitationId: the latest that waits, or
// whose outcome is open. It returns 0 for the number if there is none.
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

// Complete notes that the server says of an accepted URL that it is done. It may
// say so before the person has accepted.
func (in *Inbox) Complete(number int) {
	in.amend(number, func(_ *news, q *question) bool {
		if q.State != conversation.Pending && q.Completion == conversation.CompletionNone { // it was turned down
			return false
		}
		q.Completion = conversation.CompletionDone
		return true
	})
}

// MarkCompleted records the person's word that an accepted URL is done.
func (in *Inbox) MarkCompleted(number int) {
	in.amend(number, func(_ *news, q *question) bool {
		if q.Completion != conversation.CompletionAwaited {
			return false
		}
		q.Completion = conversation.CompletionMarked
		return true
	})
}

// IsOpen reports whether a question that matches waits for its answer, or for the
// outcome of its URL.
func (in *Inbox) IsOpen(matches func(*Question) bool) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	open := func(q *question) bool {
		return (q.State == conversation.Pending || q.awaited()) && matches(&q.Question)
	}
	return slices.ContainsFunc(in.pending, open) || slices.ContainsFunc(in.settled, open)
}
