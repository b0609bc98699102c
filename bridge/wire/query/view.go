package query

import (
	"context"
	"math/bits"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"elicitation-inspector/bridge/wire"
)

// View is the list of a log's frames that a filter picks, in order. It grows
// with the log, when Update is called; each frame is judged once. It takes a
// bit of memory for each frame.
//
// All methods are safe for concurrent use.
type View struct {
	log    *wire.Log
	filter *Filter
	hooks  Hooks
	busy   chan struct{} // held by the one that judges

	mu     sync.RWMutex
	judged int64    // frames judged so far: the first ones
	count  int64    // of them match
	set    []uint64 // bit seq-1: it matches
	ranks  []int64  // matches before each rankBits of set
}

// rankBits is how many bits of View.set lie between two ranks.
const rankBits = 512

// pieceLen is how many frames are judged at a time.
const pieceLen = 8192

// NewView makes a view in which no frame is judged yet.
func NewView(l *wire.Log, f *Filter, h Hooks) *View {
	return &View{log: l, filter: f, hooks: h, busy: make(chan struct{}, 1)}
}

// Progress says how far Update has got.
type Progress struct {
	Judged  int64 // frames judged
	Total   int64 // frames to be judged
	Matches int64
}

// Update judges the frames that were appended since the last Update, and
// returns when it has judged all that are in the log at the time of the call,
// or when ctx ends. What is judged can be read meanwhile, and stays. progress,
// if not nil, is called now and then, with the log in order from the front.
//
// A filter that the index can answer takes some milliseconds for a million
// frames; one that needs the frames' bytes reads them, on all processors.
func (v *View) Update(ctx context.Context, progress func(Progress)) error {
	select {
	case v.busy <- struct{}{}:
		defer func() { <-v.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	total := v.log.Len()
	from := v.Judged()
	if v.filter.root == nil {
		v.mu.Lock()
		v.judged, v.count = total, total
		v.mu.Unlock()
		return nil
	}
	pieces := (total - from + pieceLen - 1) / pieceLen
	piece := func(i int64) (first, last int64) {
		first = from + i*pieceLen + 1
		return first, min(first+pieceLen-1, total)
	}
	merge := func(i int64, set []uint64) {
		first, last := piece(i)
		matches := v.extend(first, last, set)
		if progress != nil {
			progress(Progress{Judged: last, Total: total, Matches: matches})
		}
	}
	if pieces <= 1 {
		if pieces == 0 {
			return ctx.Err()
		}
		set, err := v.newWorker().judge(ctx, from+1, total)
		if err == nil {
			merge(0, set)
		}
		return err
	}
	return v.parallel(ctx, pieces, piece, merge)
}

// parallel judges pieces on all processors and merges them in order.
func (v *View) parallel(ctx context.Context, pieces int64, piece func(int64) (int64, int64), merge func(int64, []uint64)) error {
	type result struct {
		i   int64
		set []uint64
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan result)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), pieces) {
		workers.Go(func() {
			w := v.newWorker()
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= pieces {
					return
				}
				first, last := piece(i)
				set, err := w.judge(ctx, first, last)
				select {
				case results <- result{i, set, err}:
				case <-ctx.Done():
				}
			}
		})
	}
	defer workers.Wait()
	defer cancel()
	waiting := make(map[int64][]uint64)
	for merged := int64(0); merged < pieces; {
		if err := ctx.Err(); err != nil {
			return err // though there may be results as well
		}
		select {
		case r := <-results:
			if r.err != nil {
				return r.err
			}
			waiting[r.i] = r.set
			for set, ok := waiting[merged]; ok && ctx.Err() == nil; set, ok = waiting[merged] {
				delete(waiting, merged)
				merge(merged, set)
				merged++
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// worker judges pieces for one goroutine.
type worker struct {
	log   *wire.Log
	test  test
	maybe []int64
}

func (v *View) newWorker() *worker {
	return &worker{log: v.log, test: v.filter.root(newScope(v.log, v.hooks))}
}

// judge judges the frames from first to last: bit i of the set is for frame
// first+i.
func (w *worker) judge(ctx context.Context, first, last int64) ([]uint64, error) {
	set := make([]uint64, (last-first)/64+1)
	w.maybe = w.maybe[:0]
	var c candidate // one for all: it would be allocated each time
	for seq := first; seq <= last; seq++ {
		c.Entry = w.log.Entry(seq)
		switch w.test(&c) {
		case yes:
			set[(seq-first)/64] |= 1 << ((seq - first) % 64)
		case maybe:
			w.maybe = append(w.maybe, seq)
		}
	}
	err := ctx.Err()
	if len(w.maybe) > 0 && err == nil {
		err = w.log.Bodies(ctx, w.maybe, func(seq int64, raw []byte) {
			c = candidate{w.log.Entry(seq), raw, true}
			if w.test(&c) == yes {
				set[(seq-first)/64] |= 1 << ((seq - first) % 64)
			}
		})
	}
	return set, err
}

// extend adds what was judged of the frames from first to last, and returns
// how many match in all.
func (v *View) extend(first, last int64, set []uint64) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	for int64(len(v.set))*64 < last {
		v.set = append(v.set, 0)
	}
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			at := first - 1 + int64(i)*64 + int64(bits.TrailingZeros64(word))
			for int64(len(v.ranks)) <= at/rankBits {
				v.ranks = append(v.ranks, v.count)
			}
			v.set[at/64] |= 1 << (at % 64)
			v.count++
		}
	}
	v.judged = last
	return v.count
}

// Filter is what the view was made with.
func (v *View) Filter() *Filter { return v.filter }

// Judged is the number of frames that have been judged: those up to this Seq.
func (v *View) Judged() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.judged
}

// Len is the number of frames in the view, of those judged so far.
func (v *View) Len() int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.count
}

// Seqs are the frames of the view from index from on, counted from 0, n at
// most.
func (v *View) Seqs(from int64, n int) []int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	from = max(from, 0)
	n = int(min(int64(max(n, 0)), v.count-from))
	if n <= 0 {
		return nil
	}
	out := make([]int64, 0, n)
	if v.filter.root == nil {
		for i := range int64(n) {
			out = append(out, from+i+1)
		}
		return out
	}
	block := sort.Search(len(v.ranks), func(i int) bool { return v.ranks[i] > from }) - 1
	skip := from - v.ranks[block]
	for i := block * (rankBits / 64); len(out) < n; i++ {
		word := v.set[i]
		if ones := int64(bits.OnesCount64(word)); skip >= ones {
			skip -= ones
			continue
		}
		for ; word != 0 && len(out) < n; word &= word - 1 {
			if skip > 0 {
				skip--
				continue
			}
			out = append(out, int64(i)*64+int64(bits.TrailingZeros64(word))+1)
		}
	}
	return out
}

// Index is the place of a frame in the view, counted from 0. For a frame that
// is not in the view, ok is false and index is the place of the next one that
// is.
func (v *View) Index(seq int64) (index int64, ok bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.index(seq)
}

// Extent says how far the view has come: how many frames have been judged, and
// how many of them that match are up to a frame, and after it. All three are of
// the same moment.
func (v *View) Extent(since int64) (judged, upTo, after int64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	upTo, _ = v.index(since + 1)
	return v.judged, upTo, v.count - upTo
}

// index is Index. The caller holds v.mu.
func (v *View) index(seq int64) (index int64, ok bool) {
	at := seq - 1
	switch {
	case at < 0:
		return 0, false
	case at >= v.judged:
		return v.count, false
	case v.filter.root == nil:
		return at, true
	}
	block := at / rankBits
	if block >= int64(len(v.ranks)) {
		return v.count, false
	}
	index = v.ranks[block]
	for i := block * (rankBits / 64); i < at/64; i++ {
		index += int64(bits.OnesCount64(v.set[i]))
	}
	word := v.set[at/64]
	index += int64(bits.OnesCount64(word & (1<<(at%64) - 1)))
	return index, word>>(at%64)&1 != 0
}
