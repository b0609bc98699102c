package conversation

import (
	"slices"
	"time"

	"elicitation-inspector/bridge/meaning/elicit"
)

// Party is one of the participants in a call.
type Party int

// The parties.
const (
	ServerParty Party = iota
	ClientParty
	PersonParty
)

func (p Party) String() string { return [...]string{"server", "client", "person"}[p] }

// Span is a period in which a call was with one of the parties. A question is with
// the person until it is settled, an accepted URL until the server reports it done. A
// sign-in is with the person until the browser comes back. A
// question without a recorded answerer counts as answered by the person, who may be a program
// where the call is Foreign.
type Span struct {
	From, To time.Time
	With     Party
}

// boundary is the begin (delta 1) or the end (delta -1) of an activity.
type boundary struct {
	at    time.Time
	what  int
	delta int
}

// Activities in a call: none, a person is asked, a script or fault answers, the server works.
const (
	withNothing = iota
	withAsking
	withScripted
	withServing
	withKinds
)

// Spans returns who was at work, from Start to the end of the call, or if that is not
// known of its last round or question, without a gap. While a question is with the person, the time is the person's,
// whatever else goes on.
func (c *Call) Spans() []Span {
	if c.Start.IsZero() || !c.Start.Before(c.End) {
		return nil
	}
	end := lastEnd(c)
	boundaries := []boundary{{at: c.Start}, {at: end}}
	add := func(what int, from, to time.Time) {
		if to.IsZero() {
			to = c.End
		}
		if from.Before(to) {
			boundaries = append(boundaries, boundary{from, what, 1}, boundary{to, what, -1})
		}
	}
	for _, r := range c.Rounds {
		add(withServing, r.Began, r.Ended)
	}
	if c.Task != nil {
		add(withServing, c.Task.Since, c.Ended)
	}
	for _, q := range c.Questions {
		switch {
		case !q.Personal():
			add(withScripted, q.Asked, q.Ended)
		case q.Action == "accept" && q.Completed.After(q.Ended):
			add(withAsking, q.Asked, q.Completed)
		default:
			add(withAsking, q.Asked, q.Ended)
		}
	}
	for _, signIn := range c.signIns {
		if signIn.To.IsZero() || signIn.To.After(c.Start) {
			from := signIn.From
			if from.Before(c.Start) {
				from = c.Start
			}
			add(withAsking, from, signIn.To)
		}
	}
	slices.SortFunc(boundaries, func(a, b boundary) int { return a.at.Compare(b.at) })
	var out []Span
	var open [withKinds]int
	for i, t := range boundaries[:len(boundaries)-1] {
		open[t.what] += t.delta
		from, to := t.at, boundaries[i+1].at
		if !from.Before(to) || to.After(end) || from.Before(c.Start) {
			continue
		}
		with := ClientParty
		switch {
		case open[withAsking] > 0:
			with = PersonParty
		case open[withScripted] > 0:
		case open[withServing] > 0:
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

// Took returns the time that Spans covers.
func (c *Call) Took() time.Duration {
	if c.Start.IsZero() || !c.Start.Before(c.End) {
		return 0
	}
	return lastEnd(c).Sub(c.Start)
}

// With returns how much of that time was with one of the parties.
func (c *Call) With(p Party) time.Duration {
	var sum time.Duration
	for _, s := range c.Spans() {
		if s.With == p {
			sum += s.To.Sub(s.From)
		}
	}
	return sum
}

// lastEnd returns when the call ended; if that is not known, when its last round or
// question ended, or the time of the last frame if one is open.
func lastEnd(c *Call) time.Time {
	if c.State.Over() && !c.Ended.IsZero() {
		return c.Ended
	}
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
	if c.Task != nil {
		later(c.Ended)
	}
	for _, q := range c.Questions {
		if len(c.Rounds) == 0 || q.Via != elicit.ByRequest || q.State != Pending {
			later(q.Ended)
			if len(c.Rounds) == 0 && q.Completed.After(end) {
				end = q.Completed
			}
		}
	}
	return end
}
