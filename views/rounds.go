package views

import (
	"strconv"
	"time"
)

// path is the address of what can be done with a call.
func (c Call) path(what string) string { return "/calls/" + strconv.Itoa(c.Number) + "/" + what }

// openOf says how many of a round's questions wait.
func openOf(open, all int) string {
	if open == all {
		return plural(all, "question is open.", "questions are open.")
	}
	return strconv.Itoa(open) + " of " + plural(all, "question", "questions") + " open."
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
