package query

import (
	"cmp"
	"context"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/wire"
)

// View lists the frames of a log that a filter selects, in order. It grows with the log
// when Update is called; each frame is judged once. It takes four bytes of memory for each
// frame that it lists.
//
// All methods are safe for concurrent use.
type View struct {
	log    *wire.Log
	filter *Filter
	rules  func(seq int64) []string
	busy   chan struct{} // a lock, held during Update

	mu      sync.RWMutex
	judged  int64    // number of judged frames
	picked  []uint32 // selected frames
	sorted  *View    // the latest that Sorted returned; its filter is nil
	since   int64    // of Sorted, as longest
	longest bool
	waiting map[int64]piece // results for later frames, by piece.first
}

// NewView returns a view in which no frame is judged yet. rules returns the rules with
// findings in a frame, for filters on findings; nil means that there are none. Several
// goroutines call it at once.
func NewView(l *wire.Log, f *Filter, rules func(seq int64) []string) *View {
	return &View{log: l, filter: f, rules: rules, busy: make(chan struct{}, 1)}
}

const pieceLen = 8192

// piece holds the selected frames among those after first up to last.
type piece struct {
	first, last int64
	picks       []uint32
}

// Update judges the frames that were appended since the last Update, on all processors.
// It returns when it has judged all frames that were in the log at the call, or when
// ctx ends. Results can be read meanwhile, and are kept.
func (v *View) Update(ctx context.Context) error {
	select {
	case v.busy <- struct{}{}:
		defer func() { <-v.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	from, total := v.Judged(), v.log.Len()
	v.waiting = make(map[int64]piece)
	var next atomic.Int64
	next.Store(from)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := func() {
		test := v.filter.test(newScope(v.log, v.rules))
		for ctx.Err() == nil {
			p := piece{first: next.Add(pieceLen) - pieceLen}
			if p.first >= total {
				return
			}
			p.last = min(p.first+pieceLen, total)
			err := v.judge(ctx, test, &p)
			v.add(p)
			if err != nil {
				stop(err)
				return
			}
		}
	}
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), (total-from+pieceLen-1)/pieceLen) {
		workers.Go(work)
	}
	workers.Wait()
	return context.Cause(ctx)
}

// judge judges the frames of a piece. If it ends early, it sets p.last to the last
// judged frame.
func (v *View) judge(ctx context.Context, test test, p *piece) error {
	var c candidate
	var open []int64 // frames with the verdict maybe
	for seq := p.first + 1; seq <= p.last; seq++ {
		c.Entry = v.log.Entry(seq)
		switch test(&c) {
		case yes:
			p.picks = append(p.picks, uint32(seq))
		case maybe:
			open = append(open, seq)
		}
	}
	read := 0
	err := v.log.Bodies(ctx, open, func(seq int64, raw []byte) {
		c = candidate{v.log.Entry(seq), raw, true}
		if test(&c) == yes {
			p.picks = append(p.picks, uint32(seq))
		}
		read++
	})
	slices.Sort(p.picks)
	if read < len(open) {
		p.last = open[read] - 1
		later, _ := slices.BinarySearch(p.picks, uint32(p.last+1))
		p.picks = p.picks[:later]
	}
	return err
}

// add adds a piece to the results if all earlier pieces are there, and then the later
// pieces that waited for it.
func (v *View) add(p piece) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting[p.first] = p
	for p, ok := v.waiting[v.judged]; ok; p, ok = v.waiting[v.judged] {
		delete(v.waiting, p.first)
		v.picked = append(v.picked, p.picks...)
		v.judged = p.last
	}
}

// Judged returns the number of judged frames, which is the Seq of the last one.
func (v *View) Judged() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.judged
}

// Len returns the number of selected frames so far.
func (v *View) Len() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return int64(len(v.picked))
}

// Seqs returns at most n frames of the view, from index from on, counted from 0.
func (v *View) Seqs(from int64, n int) (out []int64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	from = min(max(from, 0), int64(len(v.picked)))
	for _, seq := range v.picked[from:min(from+int64(max(n, 0)), int64(len(v.picked)))] {
		out = append(out, int64(seq))
	}
	return out
}

// All yields the frames of the view.
func (v *View) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		const window = 1024
		for from := int64(0); ; from += window {
			seqs := v.Seqs(from, window)
			for _, seq := range seqs {
				if !yield(seq) {
					return
				}
			}
			if len(seqs) < window {
				return
			}
		}
	}
}

// Index returns the index of a frame in the view, counted from 0. For a frame that is
// not in the view, ok is false and index is that of the next frame in the view.
func (v *View) Index(seq int64) (index int64, ok bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.index(seq)
}

// index is Index with v.mu held.
func (v *View) index(seq int64) (index int64, ok bool) {
	if v.filter == nil {
		i := slices.Index(v.picked, uint32(seq))
		return int64(max(i, 0)), i >= 0
	}
	i, ok := slices.BinarySearchFunc(v.picked, seq, func(picked uint32, seq int64) int { return cmp.Compare(int64(picked), seq) })
	return int64(i), ok
}

// Extent returns the number of judged frames, the number of selected frames up to
// since, and the number after it, all at the same moment.
func (v *View) Extent(since int64) (judged, upTo, after int64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	upTo, _ = v.index(since + 1)
	return v.judged, upTo, int64(len(v.picked)) - upTo
}

// Sorted returns a view of the frames after since up to upTo, which must be judged, by how long
// their exchanges took: the shortest first, or the longest. Frames that end no exchange come
// last. It never changes, and v keeps the latest one.
func (v *View) Sorted(since, upTo int64, longest bool) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.sorted; s != nil && s.since == since && s.judged == upTo && s.longest == longest {
		return s
	}
	type exchange struct {
		took time.Duration
		seq  uint32
	}
	from, _ := v.index(since + 1)
	to, _ := v.index(upTo + 1)
	var all []exchange
	for _, seq := range v.picked[from:max(from, to)] {
		took, ok := v.log.Entry(int64(seq)).Latency()
		if longest {
			took = -took
		}
		if !ok {
			took = math.MaxInt64
		}
		all = append(all, exchange{took, seq})
	}
	slices.SortFunc(all, func(a, b exchange) int { return cmp.Or(cmp.Compare(a.took, b.took), cmp.Compare(a.seq, b.seq)) })
	v.sorted = &View{judged: upTo, since: since, longest: longest}
	for _, e := range all {
		v.sorted.picked = append(v.sorted.picked, e.seq)
	}
	return v.sorted
}
