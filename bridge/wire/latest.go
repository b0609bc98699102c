package wire

// Bounds on the frames that a log keeps as they were appended.
const (
	latestMost      = 32
	latestBytesMost = 64 << 10 // of one frame
)

// latest are the latest messages of a log, as Append returned them. Those who follow the log read
// a frame moments after it was appended, and need not parse it again. The mutex of the log guards
// them.
type latest [latestMost]Frame

func (l *latest) add(f *Frame) {
	one := &l[f.Seq%latestMost]
	if *one = (Frame{}); f.Kind.IsMessage() && len(f.Raw) <= latestBytesMost {
		*one = *f
	}
}

// latestFrame returns a message that is kept, and reports whether it is.
func (l *Log) latestFrame(seq int64) (Frame, bool) {
	if l.spool == nil {
		return Frame{}, false
	}
	e := l.Entry(seq)
	l.mu.Lock()
	f := l.latest[seq%latestMost]
	kept := f.Seq == seq && l.spool.keeps(e.off)
	l.mu.Unlock()
	if !kept {
		return Frame{}, false
	}
	now := e.head()
	f.Pair, f.Latency = now.Pair, now.Latency // a response may have come since
	return f, true
}
