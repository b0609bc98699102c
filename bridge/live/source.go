package live

import (
	"time"

	"elicitation-inspector/bridge/conversation"
)

// Source answers questions when they are put in, before the policy of their server
// applies and before a person sees them. Decide is called from several goroutines.
type Source interface {
	Decide(*Question) Decision
}

// Decision is a source's answer to a question. The zero Decision leaves the question to
// the policy and the person.
type Decision struct {
	Answer *Answer
	Delay  time.Duration // wait before Answer; the question is shown meanwhile
	Left   string        // why the question is left to the person, in words
}

// SetSource sets the source for future questions; nil removes it.
func (in *Inbox) SetSource(s Source) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.source = s
}

// consult asks the source, if there is one, to decide a new question.
func (in *Inbox) consult(q *Question) Decision {
	in.mu.Lock()
	source := in.source
	in.mu.Unlock()
	if source == nil || q.State != conversation.Pending || q.Refusal != nil {
		return Decision{}
	}
	return source.Decide(q)
}
