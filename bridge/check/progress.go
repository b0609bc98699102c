package check

import (
	"sync"
	"time"
)

// Progress is how far a check has come.
type Progress struct {
	Done, Total int           // trials; more of them come up as calls are found to ask
	Left        time.Duration // until the end, as far as it can be told; 0 if it cannot
	Now         string        // the trial that was begun last
}

// progress counts, and keeps what came of the trials so far.
type progress struct {
	began time.Time

	mu          sync.Mutex
	done, total int
	now         string
	under       map[*trial]time.Time // since when those that go on do
	busy        time.Duration        // all trials that are done took together
	kinds       map[string]*kind     // by behaviour

	results []Result
	untried map[int]string // why calls that asked nothing are not among those, by index
	failed  error          // what went wrong here, and is no matter of the server's
}

// kind is the trials of one behaviour.
type kind struct {
	open, done int
	took       time.Duration // those that are done took together
	guess      time.Duration // how long one takes, as long as none is done; 0 for as long as the others
}

func newProgress() *progress {
	return &progress{began: time.Now(), under: map[*trial]time.Time{}, kinds: map[string]*kind{}, untried: map[int]string{}}
}

// expect adds trials that come up.
func (p *progress) expect(trials []*trial, limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += len(trials)
	for _, t := range trials {
		k := p.kinds[t.Behaviour]
		if k == nil {
			k = new(kind)
			p.kinds[t.Behaviour] = k
		}
		if k.open++; t.waits {
			k.guess = limit
		}
	}
}

func (p *progress) begin(t *trial, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.under[t] = name, time.Now()
}

func (p *progress) end(t *trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.under[t])
	delete(p.under, t)
	p.done++
	p.busy += took
	k := p.kinds[t.Behaviour]
	k.open--
	k.done++
	k.took += took
}

// add adds what came of a trial.
func (p *progress) add(result Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = append(p.results, result)
}

// skip notes why a call is not on trial.
func (p *progress) skip(call int, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.untried[call] = why
}

// trouble notes what went wrong here.
func (p *progress) trouble(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// look is how far it is. The time left is what the trials that are left will take, by
// as many at once as there were so far.
func (p *progress) look() Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := Progress{Done: p.done, Total: p.total, Now: p.now}
	elapsed := time.Since(p.began)
	if p.done == 0 || elapsed == 0 {
		return out
	}
	var left time.Duration
	for _, k := range p.kinds {
		each := p.busy / time.Duration(p.done)
		switch {
		case k.done > 0:
			each = k.took / time.Duration(k.done)
		case k.guess > 0:
			each = k.guess
		}
		left += each * time.Duration(k.open)
	}
	busy := p.busy
	for _, began := range p.under {
		busy += time.Since(began)
		left -= time.Since(began)
	}
	atOnce := max(float64(busy)/float64(elapsed), 1)
	out.Left = max(time.Duration(float64(left)/atOnce), time.Second)
	return out
}

// progressEvery is how often it is told.
const progressEvery = 250 * time.Millisecond

// tell tells how far it is until the returned function is called, and once more then.
func (p *progress) tell(told func(Progress)) (stop func()) {
	if told == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				told(p.look())
			case <-over:
				told(p.look())
				return
			}
		}
	}()
	return func() { close(over); <-ended }
}
