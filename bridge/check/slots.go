package check

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slots limits the number of simultaneous trials. Trials that only wait for the server
// have a higher limit than those that work.
type slots struct {
	waiting chan struct{} // one place for each trial that is expected to wait
	parked  chan struct{} // one place for each other trial that turned out to wait

	mu   sync.Mutex
	free int // number of free places to work
	// urgent and others are the queues for a place to work. urgent goes first: trials that
	// last long in any case, and trials whose results other trials need.
	urgent, others []chan struct{}
}

// Number of waiting trials for each trial that works.
const (
	waitingFor = 10
	parkedFor  = 3
)

func newSlots(jobs int) *slots {
	return &slots{waiting: make(chan struct{}, waitingFor*jobs), parked: make(chan struct{}, parkedFor*jobs), free: jobs}
}

// enter waits for a place to work.
func (s *slots) enter(ctx context.Context, urgent bool) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn, queue := make(chan struct{}), &s.others
	if urgent {
		queue = &s.urgent
	}
	*queue = append(*queue, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(*queue, turn)
	if i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 { // exit of another trial has already given it the place
		s.exit()
	}
	return ctx.Err()
}

// exit passes a place to work on to the next trial in the queues.
func (s *slots) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := &s.urgent
	if len(*queue) == 0 {
		queue = &s.others
	}
	if len(*queue) == 0 {
		s.free++
		return
	}
	close((*queue)[0])
	*queue = (*queue)[1:]
}

// slot is the place of one trial. Only one goroutine uses it.
type slot struct {
	of    *slots
	works bool
	waits chan struct{} // the channel of slots that it has a place in; nil for none
}

// take waits for a place. A trial that is expected to wait long first needs a place among
// those, and is urgent.
func (s *slots) take(ctx context.Context, waits, urgent bool) (*slot, error) {
	p := &slot{of: s}
	if waits {
		select {
		case s.waiting <- struct{}{}:
			p.waits = s.waiting
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := s.enter(ctx, waits || urgent); err != nil {
		p.leave()
		return nil, err
	}
	p.works = true
	return p, nil
}

// worksFor is how long a trial counts as working after its call began. After that it
// counts as waiting for the server.
const worksFor = 50 * time.Millisecond

// during runs f. If f takes longer than worksFor, another trial may work meanwhile.
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

// park notes that the trial only waits from now on, so that another one may work. If too
// many trials wait already, it keeps its place to work.
func (p *slot) park() {
	if !p.works {
		return
	}
	if p.waits == nil {
		select {
		case p.of.parked <- struct{}{}:
			p.waits = p.of.parked
		default:
			return
		}
	}
	p.of.exit()
	p.works = false
}

// leave frees the place.
func (p *slot) leave() {
	if p.works {
		p.of.exit()
	}
	if p.waits != nil {
		<-p.waits
	}
	p.works, p.waits = false, nil
}
