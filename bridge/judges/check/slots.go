package check

import (
	"context"
	"time"
)

// Number of trials for each one that works, which at most wait for the server: of those
// that are expected to wait long or that others need, and of the others.
const (
	urgentFor = 10
	plainFor  = 4
)

// slots limits the number of simultaneous trials: those that are under way, by urgency, and
// of all these the ones that work.
type slots struct{ urgent, plain, work chan struct{} }

func newSlots(jobs int) *slots {
	return &slots{make(chan struct{}, urgentFor*jobs), make(chan struct{}, plainFor*jobs), make(chan struct{}, jobs)}
}

// slot is the place of one trial. Only one goroutine uses it.
type slot struct {
	held, work chan struct{}
	works      bool
}

// take waits for a place. Urgent trials do not queue behind the others: they last long in
// any case, or other trials need their results.
func (s *slots) take(ctx context.Context, urgent bool) (*slot, error) {
	p := &slot{held: s.plain, work: s.work}
	if urgent {
		p.held = s.urgent
	}
	for _, place := range []chan struct{}{p.held, p.work} {
		select {
		case place <- struct{}{}:
		case <-ctx.Done():
			if place == p.work {
				<-p.held
			}
			return nil, ctx.Err()
		}
	}
	p.works = true
	return p, nil
}

// worksFor is how long a trial counts as working after its call began. After that it
// counts as waiting for the server.
const worksFor = 50 * time.Millisecond

// during runs f. If f takes longer than worksFor, another trial may work meanwhile.
func (p *slot) during(f func()) {
	if !p.works {
		f()
		return
	}
	waits := time.AfterFunc(worksFor, func() { <-p.work })
	f()
	p.works = waits.Stop()
}

func (p *slot) leave() {
	if p.works {
		<-p.work
	}
	<-p.held
}
