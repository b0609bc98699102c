package check

import (
	"sync"
	"time"

	"elicitation-inspector/bridge/judges/check/report"
)

// progress counts the trials, and keeps the results so far.
type progress struct {
	began time.Time

	mu          sync.Mutex
	done, total int
	spare       int // trials of total that are reserved for looks at a witness
	now         string
	under       map[*trial]time.Time // start times of the running trials
	busy        time.Duration        // total duration of the ended trials
	kinds       map[string]*kind     // by behaviour

	results  []report.Result
	asked    map[int]bool             // calls that asked something, by index
	problems map[int][]report.Problem // by index of the call
	failed   error                    // the first error that the server did not cause
}

// kind counts the trials of one behaviour.
type kind struct {
	open, done int
	took       time.Duration // total duration of the ended trials
	guess      time.Duration // estimated duration while no trial has ended; 0 for the average of all
}

func newProgress() *progress {
	return &progress{began: time.Now(), under: map[*trial]time.Time{}, kinds: map[string]*kind{}, asked: map[int]bool{}, problems: map[int][]report.Problem{}}
}

func (p *progress) expect(trials []*trial, limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := min(p.spare, len(trials))
	p.spare -= taken
	p.total += len(trials) - taken
	for _, t := range trials {
		k := p.kinds[t.Behaviour]
		if k == nil {
			k = new(kind)
			p.kinds[t.Behaviour] = k
		}
		if k.open++; t.Lasts {
			k.guess = limit
		}
	}
}

// reserve counts n trials that are still to be made with looks at a witness, in place of those
// that it counted before.
func (p *progress) reserve(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += n - p.spare
	p.spare = n
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

// trouble notes an error that the server did not cause.
func (p *progress) trouble(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

// look returns the progress. It estimates the remaining time from the durations of ended
// trials and from the average number of simultaneous trials.
func (p *progress) look() report.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := report.Progress{Done: p.done, Total: p.total, Now: p.now}
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
	left += p.busy / time.Duration(p.done) * time.Duration(p.spare)
	busy := p.busy
	for _, began := range p.under {
		busy += time.Since(began)
		left -= time.Since(began)
	}
	atOnce := max(float64(busy)/float64(elapsed), 1)
	out.Left = max(time.Duration(float64(left)/atOnce), time.Second)
	return out
}

const progressEvery = 250 * time.Millisecond

// tell reports the progress at intervals until stop is called, and then a last time.
func (p *progress) tell(told func(report.Progress)) (stop func()) {
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
