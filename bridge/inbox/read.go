package inbox

import (
	"cmp"
	"slices"
)

// view is a copy for readers.
func (q *question) view() Question {
	out := q.Question
	out.Awaited = q.awaited()
	return out
}

// Question returns one question by its number.
func (in *Inbox) Question(number int) (Question, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.find(number)
	if err != nil {
		return Question{}, err
	}
	return q.view(), nil
}

// At returns the number and the call of the question at a place among what a frame
// asks. They are 0 if none is known.
func (in *Inbox) At(seq int64, place int) (number, call int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, q := range in.asked[seq] {
		if q.Place == place {
			return q.Number, q.Call
		}
	}
	return 0, 0
}

// Questions returns every question that is known, oldest first.
func (in *Inbox) Questions() []Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	out := []Question{} // not with room for all numbers: few of very many may be known
	for _, q := range in.questions {
		if q != nil {
			out = append(out, q.view())
		}
	}
	return out
}

// OnShow returns the questions that a page shows, oldest first: those that wait
// and are not held back, the latest of those that are settled, and of the earlier
// ones those with a URL whose outcome is awaited.
func (in *Inbox) OnShow(settled int) []Question {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Question
	for i, q := range in.settled {
		if i >= len(in.settled)-settled || settled > 0 && q.awaited() {
			out = append(out, q.view())
		}
	}
	for _, q := range in.pending {
		if !q.Held {
			out = append(out, q.view())
		}
	}
	slices.SortFunc(out, func(a, b Question) int { return cmp.Compare(a.Number, b.Number) })
	return out
}
