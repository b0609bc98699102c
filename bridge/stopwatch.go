package bridge

import (
	"fmt"
	"time"
)

// stopwatch measures a call's time without the time that it waits for a person,
// and ends the call when a limit is reached. It is guarded by Inspection.mu.
type stopwatch struct {
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

func (w *stopwatch) start(limit time.Duration, fire func()) {
	w.limit, w.fire, w.began = max(limit, 0), fire, now()
	w.arm(w.began)
}

// arm sets the timer to what is left of the limit.
func (w *stopwatch) arm(at time.Time) {
	if w.limit > 0 && !w.stopped {
		w.timer = time.AfterFunc(w.limit-(at.Sub(w.began)-w.waited(at)), w.fire)
	}
}

// waited is how long a person has been waited for.
func (w *stopwatch) waited(at time.Time) time.Duration {
	if w.waits() {
		return w.paused + at.Sub(w.oldest)
	}
	return w.paused
}

// waits reports whether a person is waited for.
func (w *stopwatch) waits() bool { return w.open > 0 || w.held }

func (w *stopwatch) pause(at time.Time) { w.set(at, w.open+1, w.held) }

func (w *stopwatch) resume(at time.Time) { w.set(at, max(w.open-1, 0), w.held) }

// hold pauses for something that is no question, or resumes.
func (w *stopwatch) hold(at time.Time, is bool) { w.set(at, w.open, is) }

// set changes what waits for the person.
func (w *stopwatch) set(at time.Time, open int, held bool) {
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

func (w *stopwatch) stop(at time.Time) {
	w.paused, w.open, w.held = w.waited(at), 0, false
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// asked notes that a question of the call waits for the person. The caller holds in.mu.
func (c *call) asked(q *question) {
	if c.state == CallRunning && q.state == Pending {
		q.clocked = true
		c.watch.pause(q.asked)
	}
	c.step(Step{At: q.asked, Kind: StepAsked, Text: q.title(), Question: q.number})
}

// resumed notes that a question of the call is settled. The caller holds in.mu.
func (c *call) resumed(q *question) {
	if c.state == CallRunning && q.clocked {
		c.watch.resume(q.ended)
	}
	c.wake()
}

// hold stops the clock of the call for as long as a person is busy with it who has
// no question to answer, or lets it run again.
func (c *call) hold(is bool) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.state == CallRunning {
		c.watch.hold(now(), is)
		c.in.changed(Change{Kind: CallChanged, Number: c.number})
	}
}

// timedOut ends the call because its limit is reached; the server is told.
func (c *call) timedOut() {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.state != CallRunning || c.watch.waits() {
		return
	}
	text := fmt.Sprintf("timed out after %s of the server's own time (%s waiting for you not counted)",
		c.watch.limit, c.watch.waited(now()).Round(time.Millisecond))
	c.failure, c.why = text, fmt.Sprintf("timed out after %s", c.watch.limit)
	c.finish(CallFailed, Step{Kind: StepError, Text: text})
}
