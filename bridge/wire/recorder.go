package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// RecordOptions says how a Recorder writes.
type RecordOptions struct {
	Redact *Redaction // what is left out; nil means the default
	New    bool       // an existing file is refused, not continued
}

// Recorder writes frames to a transcript as they are appended to the logs
// that it is given to with Log.Record. docs/transcript.md describes the lines.
//
// A line is handed to the operating system before the Append that made it
// returns, unless another Append is writing just then: that one goes on with
// it. So a process that is killed loses at most the lines being written, and
// with one frame at a time only the one line. It costs a copy and a write to
// the page cache, a few microseconds; that is cheap enough that no goroutine
// and no loss stand between the wire and the file. No lock is held while
// writing. Where the disk is slow, one Append waits for it while the others
// go on, until 8 MiB wait to be written; then all wait.
//
// A failed write ends the recording: Err says why, Missed counts what is not
// in the file, and the logs go on.
type Recorder struct {
	redact *Redaction
	name   string // for errors
	w      io.Writer
	file   *os.File // w, where it is a file of our own

	mu      sync.Mutex
	changed *sync.Cond // something was written
	queue   []record
	waiting int64 // bytes in queue that are copies
	writing bool  // a goroutine is in flush
	closed  bool
	err     error
	failed  chan struct{} // closed with the first err
	lines   int64
	missed  int64
	checked time.Time // by the goroutine in flush: when the file was last seen in its place
}

// record is one or several lines to be written.
type record struct {
	data     []byte
	borrowed [][]byte      // instead of data
	written  chan struct{} // closed when borrowed is not needed any more
	lines    int64
}

// NewRecorder writes to w, each line in one Write unless it is large.
func NewRecorder(w io.Writer, o RecordOptions) *Recorder {
	r := &Recorder{redact: o.Redact.orDefault(), name: "the transcript", w: w, failed: make(chan struct{})}
	r.changed = sync.NewCond(&r.mu)
	return r
}

// OpenRecorder writes to a file, which is made with mode 0600 if there is
// none. An existing one is continued: nothing in it is changed, except that a
// last line that was cut off is ended. With RecordOptions.New an existing file
// is an error that is fs.ErrExist.
func OpenRecorder(path string, o RecordOptions) (*Recorder, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if o.New {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		if o.New && errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("recording to a new file: %w", err)
		}
		return nil, fmt.Errorf("opening the transcript: %w", err)
	}
	if err := endLastLine(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("continuing the transcript %q: %w", path, err)
	}
	r := NewRecorder(file, o)
	r.file, r.name = file, path
	return r, nil
}

// endLastLine ends the line that a killed process left unfinished. It stays:
// the reader reports it, and finds the lines that follow.
func endLastLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err = file.Write([]byte{'\n'})
	return err
}

// Record gives the frames that are appended from now on to r, until stop is
// called. Whoever made r closes it, after stop.
func (l *Log) Record(r *Recorder) (stop func()) {
	l.changeRecorders(func(now []*Recorder) []*Recorder { return append(now, r) })
	return func() {
		l.changeRecorders(func(now []*Recorder) []*Recorder {
			return slices.DeleteFunc(now, func(other *Recorder) bool { return other == r })
		})
	}
}

func (l *Log) changeRecorders(f func([]*Recorder) []*Recorder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := f(slices.Clone(*l.recorders.Load()))
	l.recorders.Store(&now)
}

// Err is why the recording failed, nil if it did not.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Failed is closed when the recording fails.
func (r *Recorder) Failed() <-chan struct{} { return r.failed }

// fail ends the recording because of err, if it is not nil. The caller holds r.mu.
func (r *Recorder) fail(err error) {
	if err != nil && r.err == nil {
		r.err = err
		close(r.failed)
	}
}

// Check looks whether the file is still in its place, which a Recorder only
// does by itself when it writes. It returns Err.
func (r *Recorder) Check() error {
	r.mu.Lock()
	if r.file == nil || r.err != nil || r.closed || r.writing {
		defer r.mu.Unlock()
		return r.err
	}
	r.writing = true // not to look at a file that is being closed
	r.mu.Unlock()
	err := r.present()
	r.mu.Lock()
	r.fail(err)
	r.writing = false
	r.changed.Broadcast()
	r.mu.Unlock()
	r.flush() // what came meanwhile was left to this goroutine
	return r.Err()
}

// Lines is the number of frames written so far.
func (r *Recorder) Lines() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines
}

// Missed is the number of frames that could not be written.
func (r *Recorder) Missed() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missed
}

// Name is the file's path as it was given to OpenRecorder.
func (r *Recorder) Name() string { return r.name }

// Close writes what is waiting and closes the file that OpenRecorder opened.
// It returns Err, or what went wrong in closing.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closed {
		defer r.mu.Unlock()
		return r.err
	}
	r.closed = true
	for r.writing {
		r.changed.Wait()
	}
	r.mu.Unlock()
	r.flush()
	if r.file == nil {
		return r.Err()
	}
	if err := r.file.Close(); err != nil && r.Err() == nil {
		return fmt.Errorf("closing the transcript %s: %w", r.name, err)
	}
	return r.Err()
}

// room waits until there is room for another line.
func (r *Recorder) room() {
	r.mu.Lock()
	for r.waiting > maxWaiting && r.err == nil && !r.closed {
		r.changed.Wait()
	}
	r.mu.Unlock()
}

// add queues a frame whose line is given, or another line where secrets are
// left out of it.
func (r *Recorder) add(f *Frame, line []byte) {
	if out := r.redact.frame(f); out != f {
		line, _ = appendLine(nil, f.line, out, formOf(out))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.closed {
		r.missed++
		return
	}
	n := len(r.queue)
	if n == 0 || r.queue[n-1].borrowed != nil || len(r.queue[n-1].data) > blockSize {
		r.queue = append(r.queue, record{})
		n++
	}
	last := &r.queue[n-1]
	last.data = append(last.data, line...)
	last.lines++
	r.waiting += int64(len(line))
}

// addLarge queues a frame whose line is head, the frame's bytes and lineEnd,
// without copying it. Head and bytes must not change before the returned
// channel is closed.
func (r *Recorder) addLarge(f *Frame, head []byte) <-chan struct{} {
	rec := record{borrowed: [][]byte{head, f.Raw, lineEnd}, written: make(chan struct{}), lines: 1}
	if out := r.redact.frame(f); out != f {
		line, _ := appendLine(nil, f.line, out, formOf(out))
		rec.borrowed = [][]byte{line}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.closed {
		r.missed++
		close(rec.written)
		return rec.written
	}
	r.queue = append(r.queue, rec)
	return rec.written
}

// flush writes what is queued, unless another goroutine is at it.
func (r *Recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writing {
		return
	}
	r.writing = true
	for len(r.queue) > 0 {
		queue := r.queue
		r.queue, r.waiting = nil, 0
		for i := range queue {
			rec := &queue[i]
			if r.err == nil {
				r.mu.Unlock()
				err := r.write(rec)
				r.mu.Lock()
				r.fail(err)
			}
			if r.err == nil {
				r.lines += rec.lines
			} else {
				r.missed += rec.lines
			}
			if rec.written != nil {
				close(rec.written)
			}
		}
		r.changed.Broadcast()
	}
	r.writing = false
	r.changed.Broadcast()
}

// write writes one record, without a lock.
func (r *Recorder) write(rec *record) error {
	if r.file != nil {
		if now := time.Now(); now.Sub(r.checked) > time.Second {
			r.checked = now
			if err := r.present(); err != nil {
				return err
			}
		}
	}
	parts := rec.borrowed
	if parts == nil {
		parts = [][]byte{rec.data}
	}
	for _, part := range parts {
		if _, err := r.w.Write(part); err != nil {
			return fmt.Errorf("recording to %s: %w", r.name, err)
		}
	}
	return nil
}

// present says whether the file is still where it was opened: what is written
// to a file without a name is lost.
func (r *Recorder) present() error {
	opened, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("recording to %s: %w", r.name, err)
	}
	there, err := os.Stat(r.name)
	switch {
	case err != nil:
		return fmt.Errorf("recording to %s: the file is gone: %w", r.name, err)
	case !os.SameFile(opened, there):
		return fmt.Errorf("recording to %s: the file was replaced by another", r.name)
	}
	return nil
}
