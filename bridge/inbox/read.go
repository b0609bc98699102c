package inbox

import "slices"

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
