package live

import (
	"slices"

	"elicitation-inspector/bridge/conversation"
)

// Question returns one question by its number.
func (in *Inbox) Question(number int) (Question, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.find(number)
	if err != nil {
		return Question{}, err
	}
	return q.Question, nil
}

// Questions returns all questions that are kept, settled ones first.
func (in *Inbox) Questions() []Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make([]Question, 0, len(in.questions))
	for _, q := range slices.Concat(in.settled, in.pending) {
		out = append(out, q.Question)
	}
	return out
}

// OnShow returns the waiting questions that are not held back, and of the settled ones
// that are kept the given number of latest ones, and those whose URL is awaited.
func (in *Inbox) OnShow(settled int) (out []Question) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, q := range slices.Backward(in.settled) {
		if i >= len(in.settled)-settled || q.Completion == conversation.CompletionAwaited {
			out = append(out, q.Question)
		}
	}
	for _, q := range in.pending {
		if !q.Held {
			out = append(out, q.Question)
		}
	}
	return out
}
