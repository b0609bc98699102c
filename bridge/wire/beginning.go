package wire

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
	for seq := shown + 1; seq <= n; seq++ {
		e := l.index.at(seq)
		l.methods.show(&l.of.methods, e.method)
		l.actors.show(&l.of.actors, uint16(e.actor))
		l.tools.show(&l.of.tools, e.tool)
		l.conns.show(&l.of.conns, e.conn)
	}
	l.index.n.Store(n)
	l.wake()
}
