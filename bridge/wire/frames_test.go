package wire

import "math"

// Frames returns the frames whose Seq is at least from and less than from+n, if they
// exist. Neighbouring frames share memory.
func (l *Log) Frames(from int64, n int) ([]Frame, error) {
	seqs := l.clip(from, n)
	out := make([]Frame, 0, len(seqs))
	err := l.lines(seqs, math.MaxUint32, nil, func(e Entry, line []byte, err error) error {
		f, err := e.read(line, err)
		out = append(out, f)
		return err
	})
	return out, err
}

// clip lists the sequence numbers of at most n existing frames from this one on.
func (l *Log) clip(from int64, n int) []int64 {
	last := min(from+int64(max(n, 0))-1, l.Len())
	from = max(from, 1)
	if last < from {
		return nil
	}
	seqs := make([]int64, last-from+1)
	for i := range seqs {
		seqs[i] = from + int64(i)
	}
	return seqs
}
