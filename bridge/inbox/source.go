package inbox

import (
	"time"

	"elicitation-inspector/bridge/conversation"
)

// Source answers questions as they are put, before their server's policy does, and
// before a person sees them. It may be called from several goroutines.
type Source interface {
	Decide(*Question) Decision
}

// Decision is what a source does with a question. The zero Decision leaves it to
// the policy and the person.
type Decision struct {
	Answer *Answer
	Delay  time.Duration // before an Answer; the question is on show meanwhile
	Left   string        // why it is left to the person, in words
}

// SetSource has further questions answered by a source; nil ends that.
func (in *Inbox) SetSource(s Source) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.source = s
}

// consult asks the source, if there is one, about a question that is about to be put.
func (in *Inbox) consult(q *Question) Decision {
	in.mu.Lock()
	source := in.source
	in.mu.Unlock()
	if source == nil || q.State != conversation.Pending || q.Refusal != nil {
		return Decision{}
	}
	return source.Decide(q)
}
