package check

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slots bounds how many trials go on at once: those that work, and those that only wait
// for the server, of which there can be more.
type slots struct {
	waiting chan struct{} // those that are known to wait before they begin
	parked  chan struct{} // others, which are found to wait

	mu   sync.Mutex
	free int // places to work
	// urgent and others wait for a place to work, in turn. What is urgent comes first:
	// what takes long however much else goes on, and what others wait for.
	urgent, others []chan struct{}
}

// How many trials may wait for each that works.
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
	if i < 0 { // it has the place already
		s.exit()
	}
	return ctx.Err()
}

// exit gives a place to work to the next trial.
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

// slot is the place of one trial. It is for one goroutine.
type slot struct {
	of    *slots
	works bool
	waits chan struct{} // of the slots, that it has a place in; nil for none
}

// take waits for a place. A trial that is known to wait for long has its place among
// those before it begins, and begins before others, as does what is urgent.
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

// leave gives the place back.
func (p *slot) leave() {
	if p.works {
		p.of.exit()
	}
	if p.waits != nil {
		<-p.waits
	}
	p.works, p.waits = false, nil
}
