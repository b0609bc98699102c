package wire

// Beginning makes a log that shows the first frames of l: none at first, and
// more with each Extend. It reads as l did when it had only these frames,
// except that marks are always the current ones of l. Both logs share their
// storage, so that a Beginning takes next to no memory, however many frames it
// shows.
//
// Nothing can be appended to it, and it is unusable once l is closed.
func (l *Log) Beginning() *Log {
	b := &Log{
		of: l, max: l.max, start: l.start, base: l.base, store: l.store, large: l.large, marks: l.marks, huge: l.huge,
	}
	b.recorders.Store(new([]*Recorder))
	return b
}

// Extend shows the first n frames, or all frames if there are fewer. It never
// hides a frame again, and does nothing for a log that Beginning has not made.
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
	// The lists of the other log hold at least the n frames that it has
	// counted.
	l.index.chunks.Store(l.of.index.chunks.Load())
	l.index.questions.Store(l.of.index.questions.Load())
	// Names are shown only once a frame with them is shown.
	for seq := shown + 1; seq <= n; seq++ {
		e := l.index.at(seq)
		l.methods.show(&l.of.methods, e.method)
		l.details.show(&l.of.details, e.detail)
		about, _ := l.details.at(e.detail)
		l.tools.show(&l.of.tools, about.tool)
		l.conns.show(&l.of.conns, e.conn)
	}
	l.index.n.Store(n)
	l.wake()
}
