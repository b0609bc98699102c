package calls

import (
	"time"

	"elicitation-inspector/bridge/conversation"
)

// clock measures a call's time without the time that it waits for a person,
// and ends the call when a limit is reached.
type clock struct {
	limit   time.Duration // 0: none
	fire    func()
	timer   *time.Timer
	began   time.Time
	open    int           // questions that wait
	held    bool          // something else waits: a URL is being visited, or there were many rounds
	oldest  time.Time     // since when at least one of them has been waiting
	paused  time.Duration // how long at least one was waiting, up to oldest
	stopped bool
}

func (w *clock) start(limit time.Duration, fire func()) {
	w.limit, w.fire, w.began = max(limit, 0), fire, time.Now()
	w.arm(w.began)
}

// arm sets the timer to what is left of the limit.
func (w *clock) arm(at time.Time) {
	if w.limit > 0 && !w.stopped {
		w.timer = time.AfterFunc(w.limit-(at.Sub(w.began)-w.waited(at)), w.fire)
	}
}

// waited is how long a person has been waited for.
func (w *clock) waited(at time.Time) time.Duration {
	if w.waits() {
		return w.paused + at.Sub(w.oldest)
	}
	return w.paused
}

// waits reports whether a person is waited for.
func (w *clock) waits() bool { return w.open > 0 || w.held }

// set changes what waits for the person: how many questions, and whether anything
// else does.
func (w *clock) set(at time.Time, open int, held bool) {
	before, waited := w.waits(), w.waited(at)
	w.open, w.held = open, held
	switch after := w.waits(); {
	case w.stopped || before == after:
	case after:
		w.oldest = at
		if w.timer != nil {
			w.timer.Stop()
		}
	default:
		w.paused = waited
		w.arm(at)
	}
}

func (w *clock) stop(at time.Time) {
	w.paused, w.open, w.held = w.waited(at), 0, false
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// tell says what the clock shows.
func (w *clock) tell(c *Wait, now time.Time) {
	c.Waiting, c.Yours, c.Waited, c.Timeout = w.open, w.waits(), w.waited(now), w.limit
	if w.open > 0 {
		c.Asked = w.oldest
	}
}

// hold stops the clock of the call for as long as a person is busy with it who has
// no question to answer, or lets it run again.
func (c *call) hold(is bool) { c.holding(is, c.Paused) }

// pause notes whether the person is asked whether to go on.
func (c *call) pause(is bool) { c.holding(is, is) }

func (c *call) holding(is, paused bool) {
	c.set(func() {
		c.Paused = paused
		if c.over == conversation.Running {
			c.clock.set(time.Now(), c.clock.open, is)
		}
	})
	c.calls.owner.CallChanged(c.Number)
}
