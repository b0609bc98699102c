package wire

// Beginning makes a log that shows the first frames of l: none at first, and
// more with each Extend. It reads as l did when it had only these frames,
// except that marks are always the current ones of l. Both logs share their
// storage, so that a Beginning takes next to no memory, however many frames it
// shows.
//
// Nothing can be appended to it, and it is unusable once l is closed.
func (l *Log) Beginning() *Log {
	b := &Log{of: l, index: l.index, names: l.names, store: l.store, large: l.large, marks: l.marks, huge: l.huge}
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
	if n = min(n, l.of.Len()); n > l.Len() {
		l.n.Store(n)
		l.wake()
	}
}
