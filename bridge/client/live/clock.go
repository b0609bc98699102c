package live

import (
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
)

// clock measures the time of a call without the time in which it waits for a person, and
// ends the call when a limit is reached.
type clock struct {
	limit   time.Duration // 0 for none
	whole   bool          // the time in which the call waits for a person counts, too
	fire    func()
	timer   *time.Timer
	began   time.Time
	open    int           // number of waiting questions
	held    bool          // the call waits for a person without a question: for the visit of a URL, or after many rounds
	signing bool          // the server asks for a sign-in, which takes a person's time
	oldest  time.Time     // start of the present wait
	paused  time.Duration // total time of earlier waits
	stopped bool
}

func (w *clock) start(r Request, began time.Time, fire func()) {
	w.limit, w.whole, w.fire, w.began = max(r.Timeout, 0), r.Whole, fire, began
	w.arm(time.Now())
}

// arm sets the timer to the rest of the limit.
func (w *clock) arm(at time.Time) {
	if w.limit > 0 && !w.stopped {
		counted := at.Sub(w.began)
		if !w.whole {
			counted -= w.waited(at)
		}
		w.timer = time.AfterFunc(w.limit-counted, w.fire)
	}
}

func (w *clock) waited(at time.Time) time.Duration {
	if w.waits() {
		return w.paused + at.Sub(w.oldest)
	}
	return w.paused
}

func (w *clock) waits() bool { return w.open > 0 || w.held || w.signing }

// set changes the number of waiting questions, and whether the call waits for a person
// without a question.
func (w *clock) set(at time.Time, open int, held bool) {
	w.change(at, func() { w.open, w.held = open, held })
}

func (w *clock) change(at time.Time, change func()) {
	before, waited := w.waits(), w.waited(at)
	change()
	switch after := w.waits(); {
	case w.stopped || before == after:
	case after:
		w.oldest = at
		if w.timer != nil && !w.whole {
			w.timer.Stop()
		}
	default:
		if w.paused = waited; !w.whole {
			w.arm(at)
		}
	}
}

func (w *clock) stop(at time.Time) {
	w.paused, w.open, w.held, w.signing = w.waited(at), 0, false, false
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// SigningIn stops the clocks of a server's calls while somebody signs in there, or starts
// them again.
func (cs *Calls) SigningIn(server string, is bool) {
	var changed []int
	cs.mu.Lock()
	for _, c := range cs.calls {
		if c.Request.Server == server && c.endState == conversation.Running && c.clock.signing != is {
			c.clock.change(time.Now(), func() { c.clock.signing = is })
			changed = append(changed, c.Number)
		}
	}
	cs.mu.Unlock()
	cs.changed(changed...)
}

// hold stops the clock while a person is busy with the call without a question, or starts
// it again. paused says whether the call waits for the person's decision to go on.
func (c *call) hold(is, paused bool) {
	c.set(func() {
		c.Paused = paused
		if c.endState == conversation.Running {
			c.clock.set(time.Now(), c.clock.open, is)
		}
	})
	c.calls.changed(c.Number)
}
