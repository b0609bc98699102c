package bridge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/exchange"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/wire"
)

// Replay is an inspection without connections: what its servers, calls and
// questions are follows from the frames of a log. The log may be that of a
// transcript, or grow while one is played back; what is shown is the same.
//
// Of a long log the latest exchanges are kept, so that memory is bounded; the
// log has the others.
type Replay struct {
	in     *Inspection
	log    *wire.Log
	source Source
	linter *findings.Linter

	latest   atomic.Int64  // Unix nanoseconds of the last frame; 0 without one
	poked    chan struct{} // look again, though the log has not grown
	followed chan struct{} // closed when Follow has returned
	fresh    atomic.Pointer[chan struct{}]

	// What stands below is the business of the one that has the turn.
	turn     chan struct{}
	index    *exchange.Index
	recorded *recorded
	numbers  []int // of each exchange's call, by exchange; 0 for those that are no call
	calls    numbering
	asked    numbering
	last     int // number of the question that was asked last
	shown    map[int]*shown
	told     int // findings that were passed on
	err      error
}

// Source says how far the log of a Replay has come.
type Source struct {
	// Reading says that the log is still being read from its files, so that it
	// is too early to show what is in it. nil means that it is not.
	Reading func() bool
	// Over says that no frame will come any more, so that what has no answer
	// will never have one. nil means that none will.
	Over func() bool
	// Linter judges the log, or the log whose beginning it is. nil means that the
	// Replay has it judged at each Refresh.
	Linter *findings.Linter
}

// exchangesKept is how many of the latest exchanges a Replay shows.
const exchangesKept = 300

// shown is an exchange that is shown.
type shown struct {
	call      *call // nil for what a server asked outside of any call
	questions []*question
	final     bool // nothing more can come of it
}

// NewReplay prepares an inspection of a log. Follow fills it.
func NewReplay(l *wire.Log, source Source, logger *slog.Logger) *Replay {
	if source.Reading == nil {
		source.Reading = func() bool { return false }
	}
	if source.Over == nil {
		source.Over = func() bool { return true }
	}
	r := &Replay{
		in: New(Config{Log: l, Logger: logger}), log: l, source: source, index: exchange.NewIndex(l),
		poked: make(chan struct{}, 1), followed: make(chan struct{}), turn: make(chan struct{}, 1),
		shown: map[int]*shown{},
	}
	if r.linter = source.Linter; r.linter == nil {
		r.linter = findings.New(l)
	}
	r.recorded = newRecorded(r.in, l)
	r.fresh.Store(new(make(chan struct{})))
	r.in.clock = r.now
	return r
}

// Inspection is what the replay shows. Nothing can be called or answered in it.
func (r *Replay) Inspection() *Inspection { return r.in }

// now is the time of the last frame.
func (r *Replay) now() time.Time {
	if at := r.latest.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Shown says how many of the log's calls and questions are kept, and how many
// there are in all.
type Shown struct {
	Calls, AllCalls         int
	Questions, AllQuestions int
	Err                     error // why there may be more than could be read
}

// Shown says how much of the log is shown.
func (r *Replay) Shown() Shown {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	s := Shown{AllCalls: r.calls.count, AllQuestions: r.asked.count, Err: r.err}
	for _, e := range r.shown {
		if e.call != nil {
			s.Calls++
		}
		s.Questions += len(e.questions)
	}
	return s
}

// CallsAfter counts the calls that are shown with a higher number, up to most.
func (r *Replay) CallsAfter(number, most int) (n int) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	for i := len(r.in.calls); i > number && n < most; i-- {
		if r.in.calls[i-1] != nil {
			n++
		}
	}
	return n
}

// refreshEvery bounds how often a log that grows is looked at.
const refreshEvery = 100 * time.Millisecond

// Follow shows what the log holds, and what is added to it, until ctx ends. It
// is called once.
func (r *Replay) Follow(ctx context.Context) {
	defer close(r.followed)
	for {
		grown, judged := r.log.Grown(), r.linter.Changed()
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.in.logger.Error("showing a transcript", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-grown:
		case <-judged:
		case <-r.poked:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshEvery):
		}
	}
}

// Refreshed returns a channel that is closed by the next Refresh.
func (r *Replay) Refreshed() <-chan struct{} { return *r.fresh.Load() }

// Poke makes Follow look again, because the source has come to its end.
func (r *Replay) Poke() {
	select {
	case r.poked <- struct{}{}:
	default:
	}
}

// Close waits until nothing of the replay runs any more. The context of Follow
// must have ended.
func (r *Replay) Close() {
	<-r.followed
	r.in.mu.Lock()
	r.in.closed = true
	r.in.mu.Unlock()
	r.in.end()
	r.in.running.Wait()
}

// Refresh shows what the log holds now.
func (r *Replay) Refresh(ctx context.Context) (err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	reading, over := r.source.Reading(), r.source.Over()
	defer func() {
		if ctx.Err() == nil {
			r.err = errors.Join(err, r.log.Err())
		}
		close(*r.fresh.Swap(new(make(chan struct{}))))
	}()
	if err := r.index.Update(ctx); err != nil {
		return err
	}
	r.tellTime()
	if err := r.recorded.update(ctx); err != nil || reading {
		return err
	}
	r.count()
	var read []*replayed
	for number := r.first(); number <= len(r.numbers); number++ {
		if s := r.shown[number]; s != nil && s.final {
			continue
		}
		e, err := r.index.Exchange(ctx, number, exchange.Reading{Redact: wire.NoRedaction()})
		if err != nil {
			return err
		}
		if one := r.replay(e, over); one != nil {
			read = append(read, one)
		}
	}
	r.show(read)
	return r.tellFindings(ctx)
}

// tellFindings passes on what the linter finds in the log.
func (r *Replay) tellFindings(ctx context.Context) error {
	if r.source.Linter == nil {
		if err := r.linter.Update(ctx); err != nil {
			return err
		}
	}
	fresh := r.linter.From(r.told, r.log.Len())
	r.told += len(fresh)
	r.in.keepFindings(fresh, func(seq int64) int {
		number, err := r.index.Of(seq)
		if err != nil || number == 0 || number > len(r.numbers) {
			return 0
		}
		return r.numbers[number-1]
	})
	return nil
}

// first is the number of the first exchange that is shown.
func (r *Replay) first() int { return max(1, len(r.numbers)-exchangesKept+1) }

// tellTime looks at the clock of the log.
func (r *Replay) tellTime() {
	if at := r.log.Head(r.log.Len()).Time; !at.IsZero() && at.UnixNano() > r.latest.Load() {
		r.latest.Store(at.UnixNano())
	}
}

// count numbers the calls that are new, and the questions of those that will
// not be shown.
func (r *Replay) count() {
	all := r.index.Len()
	for len(r.numbers) < all {
		for _, o := range r.index.Briefs(len(r.numbers)+1, min(4096, all-len(r.numbers))) {
			number := 0
			if isCall(r.log.Head(o.First).Method) {
				number = r.calls.take(o.Call)
			}
			r.numbers = append(r.numbers, number)
			if o.Number <= all-exchangesKept {
				for range o.Questions {
					r.last = r.asked.after(r.asked.max)
				}
			}
		}
	}
}

func isCall(method string) bool {
	return method == methodCall || method == methodPrompt || method == methodRead
}

// show makes what was read of exchanges the state of the inspection.
func (r *Replay) show(read []*replayed) {
	r.number(read)
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	for _, one := range read {
		s := r.shown[one.exchange]
		if s == nil {
			s = &shown{}
			r.shown[one.exchange] = s
		}
		s.final = one.final
		r.showCall(s, one)
		for i, q := range one.questions {
			r.showQuestion(s, i, q)
		}
	}
	r.forget()
	r.in.sortQuestions()
}

// showCall puts a call in the place of what was known of it. The caller holds in.mu.
func (r *Replay) showCall(s *shown, one *replayed) {
	c := one.call
	if c == nil {
		return
	}
	for len(r.in.calls) < c.number {
		r.in.calls = append(r.in.calls, nil)
	}
	if s.call != nil && reflect.DeepEqual(s.call.snapshot(), c.snapshot()) {
		return
	}
	if s.call == nil {
		s.call = c
		r.in.calls[c.number-1] = c
	} else {
		*s.call = *c // questions know it by its address
	}
	r.in.changed(Change{Kind: CallChanged, Number: c.number})
}

// showQuestion puts a question in the place of what was known of it. The caller
// holds in.mu.
func (r *Replay) showQuestion(s *shown, i int, q *question) {
	q.call = s.call
	if i == len(s.questions) {
		for len(r.in.questions) < q.number {
			r.in.questions = append(r.in.questions, nil)
		}
		s.questions = append(s.questions, q)
		r.in.keepQuestion(q)
		r.in.changed(Change{Kind: QuestionChanged, Number: q.number})
		return
	}
	known := s.questions[i]
	before := known.snapshot()
	known.state, known.answer, known.by, known.reason = q.state, q.answer, q.by, q.reason
	known.ended, known.answerSeq, known.completion = q.ended, q.answerSeq, q.completion
	if !reflect.DeepEqual(before, known.snapshot()) {
		r.in.changed(Change{Kind: QuestionChanged, Number: known.number})
	}
}

// number numbers the questions that are new, and tells the steps of the calls.
func (r *Replay) number(read []*replayed) {
	var fresh []*question
	for _, one := range read {
		var known []*question
		if s := r.shown[one.exchange]; s != nil {
			known = s.questions
		}
		for i, q := range one.questions {
			if i < len(known) {
				q.number = known[i].number
			} else {
				fresh = append(fresh, q)
			}
		}
	}
	slices.SortStableFunc(fresh, func(a, b *question) int { return cmp.Compare(a.seq, b.seq) })
	unknown := map[*question]bool{}
	for _, q := range fresh {
		if unknown[q] = q.number == 0; !unknown[q] {
			q.number = r.asked.take(q.number)
		}
	}
	for _, q := range fresh {
		if unknown[q] {
			q.number = r.asked.after(r.last)
		}
		r.last = q.number
	}
	for _, one := range read {
		if one.call != nil {
			one.finish()
		}
	}
}

// forget drops exchanges that are too old to be shown. The caller holds in.mu.
func (r *Replay) forget() {
	for number, s := range r.shown {
		if number >= r.first() {
			continue
		}
		delete(r.shown, number)
		if s.call != nil {
			r.in.calls[s.call.number-1] = nil
		}
		for _, q := range s.questions {
			r.in.dropQuestion(q.number)
		}
	}
}

// sortQuestions finds anew which questions are pending and which are settled.
// The caller holds in.mu.
func (in *Inspection) sortQuestions() {
	in.pending, in.settled = nil, nil
	for _, q := range in.questions {
		switch {
		case q == nil:
		case q.state == Pending:
			in.pending = append(in.pending, q)
		default:
			in.settled = append(in.settled, q)
		}
	}
	slices.SortStableFunc(in.settled, func(a, b *question) int { return a.ended.Compare(b.ended) })
	for len(in.settled) > settledKept {
		in.settled[0].fade()
		in.settled = in.settled[1:]
	}
}
