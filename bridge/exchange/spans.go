package exchange

import (
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
)

// stretch is a time in which something held.
type stretch struct{ from, to time.Time }

func (s stretch) covers(t time.Time) bool { return !t.Before(s.from) && t.Before(s.to) }

// spans divides the time of an exchange among those who take part. Where a
// question is with the person, it is the person's, whatever else goes on.
func spans(e *Exchange) []Span {
	if e.Start.IsZero() || !e.Start.Before(e.End) {
		return nil
	}
	var serving, asking, scripted []stretch
	var cuts []time.Time
	add := func(list *[]stretch, from, to time.Time) {
		if to.IsZero() {
			to = e.End
		}
		if from.Before(to) {
			*list = append(*list, stretch{from, to})
			cuts = append(cuts, from, to)
		}
	}
	for _, r := range e.Rounds {
		add(&serving, r.Began, r.Ended)
	}
	for i := range e.Questions {
		q := &e.Questions[i]
		to := q.Answered
		if q.personal() && q.Action == "accept" && q.Completed.After(to) {
			to = q.Completed
		}
		if q.personal() {
			add(&asking, q.Asked, to)
		} else {
			add(&scripted, q.Asked, to)
		}
	}
	end := lastEnd(e)
	cuts = append(cuts, e.Start, end)
	slices.SortFunc(cuts, time.Time.Compare)
	var out []Span
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		if !from.Before(to) || to.After(end) || from.Before(e.Start) {
			continue
		}
		with := Client
		switch {
		case anyCovers(asking, from):
			with = Person
		case anyCovers(scripted, from):
		case anyCovers(serving, from):
			with = Server
		}
		if n := len(out); n > 0 && out[n-1].With == with {
			out[n-1].To = to
			continue
		}
		out = append(out, Span{from, to, with})
	}
	return out
}

// lastEnd is when the last round or question ended; the time of the last frame
// if one is open.
func lastEnd(e *Exchange) time.Time {
	end := e.Start
	later := func(t time.Time) {
		if t.IsZero() {
			t = e.End
		}
		if t.After(end) {
			end = t
		}
	}
	for _, r := range e.Rounds {
		later(r.Ended)
	}
	for i := range e.Questions {
		if q := &e.Questions[i]; len(e.Rounds) == 0 || q.Via != elicit.ByRequest || q.State != Open {
			later(q.Answered)
			if len(e.Rounds) == 0 && q.Completed.After(end) {
				end = q.Completed
			}
		}
	}
	return end
}

// personal reports whether the question was with a person, until somebody
// answered. What scripts and faults answer is not. A policy answers at once, or
// because there is nothing left to wait for.
func (q *Question) personal() bool {
	switch q.Actor {
	case "person", "policy":
		return true
	case "":
		return q.Method == methodElicit
	}
	return false
}

func anyCovers(list []stretch, t time.Time) bool {
	return slices.ContainsFunc(list, func(s stretch) bool { return s.covers(t) })
}
