package wire

import (
	"math"
	"sync/atomic"
)

// Beginning makes a log that shows the first frames of this one: none at
// first, and more by Extend. It is what this log was when it had no more
// frames, save that marks are those of this log. It shares everything with this
// log and takes no memory to speak of, whatever it shows.
//
// It cannot be appended to, and is of no use once this log is closed.
func (l *Log) Beginning() *Log {
	b := &Log{
		of: l, max: l.max, start: l.start, base: l.base, store: l.store, large: l.large, marks: l.marks, huge: l.huge,
	}
	b.recorders.Store(new([]*Recorder))
	return b
}

// Extend makes a log that Beginning made show the first n frames, or as many
// as there are. It never shows fewer than before.
func (l *Log) Extend(n int64) {
	if l.of == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	shown := l.Len()
	n = min(n, l.of.Len())
	if n <= shown {
		return
	}
	// What the other log has now is enough for what it has counted.
	l.index.chunks.Store(l.of.index.chunks.Load())
	// Of names, only those are known that have come up.
	methods, actors, tools, conns := len(l.methods.all()), len(l.actors.all()), len(l.tools.all()), len(l.conns.all())
	for seq := shown + 1; seq <= n; seq++ {
		e := l.index.at(seq)
		if e.method != full {
			methods = max(methods, int(e.method)+1)
		}
		if e.actor != math.MaxUint8 {
			actors = max(actors, int(e.actor)+1)
		}
		if e.tool != full {
			tools = max(tools, int(e.tool)+1)
		}
		if e.conn != full {
			conns = max(conns, int(e.conn)+1)
		}
	}
	first(&l.methods.list, &l.of.methods.list, methods)
	first(&l.actors.list, &l.of.actors.list, actors)
	first(&l.tools.list, &l.of.tools.list, tools)
	first(&l.conns.list, &l.of.conns.list, conns)
	l.index.n.Store(n)
	l.wake()
}

// first makes a list the first n of another.
func first[T any](list, of *atomic.Pointer[[]T], n int) {
	if p := of.Load(); p != nil && n > 0 {
		part := (*p)[:min(n, len(*p)):min(n, len(*p))]
		list.Store(&part)
	}
}
