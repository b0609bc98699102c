package views

import (
	"strconv"
	"time"
)

// path is the address of what can be done with a call.
func (c Call) path(what string) string { return "/calls/" + strconv.Itoa(c.Number) + "/" + what }

// openOf says how many of a round's questions wait, and what becomes of those
// when the round is sent before they are answered.
func openOf(open, all int) string {
	if open == all {
		return "none of " + plural(all, "question", "questions") + " is answered yet. What is not answered is left out."
	}
	return strconv.Itoa(all-open) + " of " + plural(all, "question", "questions") + " answered. What is not answered is left out."
}

// reaction is shorter than any person takes to answer: a call that waited no
// longer than this was answered by a policy.
const reaction = 10 * time.Millisecond

// began is when a call that runs was made, by the clock of the present.
func (c Call) began() time.Time { return c.Started.Add(c.Behind) }

// spent is how long a call has taken so far, or in all.
func (c Call) spent() time.Duration {
	if c.State == CallRunning {
		return now().Sub(c.began())
	}
	return c.Duration
}
