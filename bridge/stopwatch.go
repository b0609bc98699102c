package bridge

import (
	"fmt"
	"time"
)

// stopwatch measures a call's time without the time that its questions wait for
// a person, and ends the call when a limit is reached. It is guarded by
// Inspection.mu.
type stopwatch struct {
	limit   time.Duration // 0: none
	fire    func()
	timer   *time.Timer
	began   time.Time
	open    int           // questions that wait
	oldest  time.Time     // since when at least one has been waiting
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
	if w.open > 0 {
		return w.paused + at.Sub(w.oldest)
	}
	return w.paused
}

func (w *stopwatch) pause(at time.Time) {
	w.open++
	if w.open > 1 {
		return
	}
	w.oldest = at
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *stopwatch) resume(at time.Time) {
	if w.open == 0 {
		return
	}
	if w.open == 1 {
		w.paused = w.waited(at)
	}
	w.open--
	if w.open == 0 {
		w.arm(at)
	}
}

func (w *stopwatch) stop(at time.Time) {
	if w.open > 0 {
		w.paused, w.open = w.waited(at), 0
	}
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

// timedOut ends the call because its limit is reached; the server is told.
func (c *call) timedOut() {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.state != CallRunning || c.watch.open > 0 {
		return
	}
	text := fmt.Sprintf("timed out after %s of the server's own time (%s waiting for you not counted)",
		c.watch.limit, c.watch.waited(now()).Round(time.Millisecond))
	c.failure, c.why = text, fmt.Sprintf("timed out after %s", c.watch.limit)
	c.finish(CallFailed, Step{Kind: StepError, Text: text})
}
