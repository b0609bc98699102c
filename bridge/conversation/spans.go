package conversation

import (
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
)

// Party is one of those who take part in a call.
type Party int

// The parties.
const (
	ServerParty Party = iota
	ClientParty
	PersonParty
)

func (p Party) String() string {
	switch p {
	case ServerParty:
		return "server"
	case ClientParty:
		return "client"
	case PersonParty:
		return "person"
	}
	return fmt.Sprintf("Party(%d)", int(p))
}

// Span is a time in which a call was with one of the parties. A question is with
// the person until it is settled, and a URL that was accepted until the server
// says that it is over or the call goes on. In transcripts that do not say who
// answered, it was the person.
type Span struct {
	From, To time.Time
	With     Party
}

// stretch is a time in which something held.
type stretch struct{ from, to time.Time }

func anyCovers(list []stretch, t time.Time) bool {
	return slices.ContainsFunc(list, func(s stretch) bool { return !t.Before(s.from) && t.Before(s.to) })
}

// spans divides the time of a call among those who take part. Where a question is
// with the person, it is the person's, whatever else goes on.
func spans(c *Call) []Span {
	if c.Start.IsZero() || !c.Start.Before(c.End) {
		return nil
	}
	var serving, asking, scripted []stretch
	var cuts []time.Time
	add := func(list *[]stretch, from, to time.Time) {
		if to.IsZero() {
			to = c.End
		}
		if from.Before(to) {
			*list = append(*list, stretch{from, to})
			cuts = append(cuts, from, to)
		}
	}
	for _, r := range c.Rounds {
		add(&serving, r.Began, r.Ended)
	}
	for i := range c.Questions {
		q := &c.Questions[i]
		to := q.Ended
		if q.Personal() && q.Action == "accept" && q.Completed.After(to) {
			to = q.Completed
		}
		if q.Personal() {
			add(&asking, q.Asked, to)
		} else {
			add(&scripted, q.Asked, to)
		}
	}
	end := lastEnd(c)
	cuts = append(cuts, c.Start, end)
	slices.SortFunc(cuts, time.Time.Compare)
	var out []Span
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		if !from.Before(to) || to.After(end) || from.Before(c.Start) {
			continue
		}
		with := ClientParty
		switch {
		case anyCovers(asking, from):
			with = PersonParty
		case anyCovers(scripted, from):
		case anyCovers(serving, from):
			with = ServerParty
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
func lastEnd(c *Call) time.Time {
	end := c.Start
	later := func(t time.Time) {
		if t.IsZero() {
			t = c.End
		}
		if t.After(end) {
			end = t
		}
	}
	for _, r := range c.Rounds {
		later(r.Ended)
	}
	for i := range c.Questions {
		if q := &c.Questions[i]; len(c.Rounds) == 0 || q.Via != elicit.ByRequest || q.State != Pending {
			later(q.Ended)
			if len(c.Rounds) == 0 && q.Completed.After(end) {
				end = q.Completed
			}
		}
	}
	return end
}
