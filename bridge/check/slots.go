package check

import (
	"context"
	"time"
)

// slots limits the number of simultaneous trials. Trials that only wait for the server
// have a higher limit than those that work.
type slots struct{ plain, urgent places }

// places limits trials of one sort: how many work, and how many more only wait.
type places struct{ work, wait chan struct{} }

// Number of waiting trials for each trial that works: of those that are expected to wait,
// and of the others.
const (
	waitingFor = 10
	parkedFor  = 3
)

func newSlots(jobs int) *slots {
	return &slots{
		plain:  places{make(chan struct{}, jobs), make(chan struct{}, parkedFor*jobs)},
		urgent: places{make(chan struct{}, max(jobs/2, 1)), make(chan struct{}, waitingFor*jobs)},
	}
}

// slot is the place of one trial. Only one goroutine uses it.
type slot struct {
	places
	works, waits bool // which places it has
}

// take waits for a place. Urgent trials do not queue behind the others: they last long in
// any case, or other trials need their results.
func (s *slots) take(ctx context.Context, urgent bool) (*slot, error) {
	p := &slot{places: s.plain}
	if urgent {
		p.places = s.urgent
		select {
		case p.wait <- struct{}{}:
			p.waits = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case p.work <- struct{}{}:
		p.works = true
		return p, nil
	case <-ctx.Done():
		p.leave()
		return nil, ctx.Err()
	}
}

// worksFor is how long a trial counts as working after its call began. After that it
// counts as waiting for the server.
const worksFor = 50 * time.Millisecond

// during runs f. If f takes longer than worksFor, another trial may work meanwhile, unless
// too many wait already.
func (p *slot) during(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return
	case <-time.After(worksFor):
	}
	if p.works && !p.waits {
		select {
		case p.wait <- struct{}{}:
			p.waits = true
		default:
		}
	}
	if p.works && p.waits {
		<-p.work
		p.works = false
	}
	<-done
}

// leave frees the place.
func (p *slot) leave() {
	if p.works {
		<-p.work
	}
	if p.waits {
		<-p.wait
	}
	p.works, p.waits = false, false
}
