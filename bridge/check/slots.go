package check

import (
	"context"
	"time"
)

// slots bounds how many trials go on at once: those that work, and those that only wait
// for the server, of which there can be more.
type slots struct{ working, waiting chan struct{} }

// waitingFor is how many trials may wait for each that works.
const waitingFor = 8

func newSlots(jobs int) *slots {
	return &slots{make(chan struct{}, jobs), make(chan struct{}, waitingFor*jobs)}
}

// slot is the place of one trial. It is for one goroutine.
type slot struct {
	of             *slots
	works, waiting bool
}

// take waits for a place. A trial that is known to wait for long has its place among
// those before it begins.
func (s *slots) take(ctx context.Context, waits bool) (*slot, error) {
	p := &slot{of: s}
	if waits {
		if err := enter(ctx, s.waiting); err != nil {
			return nil, err
		}
		p.waiting = true
	}
	if err := enter(ctx, s.working); err != nil {
		p.leave()
		return nil, err
	}
	p.works = true
	return p, nil
}

func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// worksFor is how long a trial is taken to work after it has made its call. What takes
// longer is the server's waiting.
const worksFor = 50 * time.Millisecond

// during runs f, and lets another trial work once f only waits.
func (p *slot) during(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(worksFor):
		p.park()
		<-done
	}
}

// park notes that the trial only waits from now on, so that another may work. Where too
// many wait already, it keeps its place.
func (p *slot) park() {
	if !p.works {
		return
	}
	if !p.waiting {
		select {
		case p.of.waiting <- struct{}{}:
			p.waiting = true
		default:
			return
		}
	}
	<-p.of.working
	p.works = false
}

// leave gives the place back.
func (p *slot) leave() {
	if p.works {
		<-p.of.working
	}
	if p.waiting {
		<-p.of.waiting
	}
	p.works, p.waiting = false, false
}
