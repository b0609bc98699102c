package wire

import (
	"cmp"
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
	Redact Redactor // leaves secrets out; nil leaves nothing out
	New    bool     // an existing file is refused, not continued
	// Patience is how long one write may take before the recording is given up;
	// 0 means defaultPatience.
	Patience time.Duration
}

// defaultPatience is how long a recorder waits for a disk that does not answer.
const defaultPatience = 10 * time.Second

// Recorder writes frames to a transcript as they are appended to the log that
// it is given to with Log.Record. docs/transcript.md describes the lines.
//
// A line is handed to the operating system before the Append that made it
// returns, so that a process that is killed loses at most the lines that were
// being written, and with one frame at a time only the one line. Appends that
// come together are written together.
//
// A write that fails, or takes longer than RecordOptions.Patience, ends the
// recording: Err says why, Missed counts what is not in the file, and the logs
// go on.
type Recorder struct {
	redact Redactor
	name   string // for errors
	w      io.Writer
	file   *os.File // w, where it is a file of our own
	// patience is that of RecordOptions, and overdue fires when it is exhausted.
	patience time.Duration
	overdue  *time.Timer
	work     chan struct{} // something is queued; closed when nothing will be any more
	ended    chan struct{} // the writer has ended, and the file is closed
	stuck    chan struct{} // closed when a write took too long

	checked  time.Time // by the writer: when the file was last seen in its place
	size     int64     // by the writer: the least that the file must hold
	closeErr error     // by the writer, before ended

	begun  sync.Once   // the writer
	mu     *sync.Mutex // that of the log which it is given to, once it is
	queue  []*batch
	closed bool
	err    error
	failed chan struct{} // closed with the first err
	lines  int64
	missed int64
}

// batch is one or several lines that are written at once.
type batch struct {
	data    []byte
	lines   int64
	written chan struct{} // closed when the lines were written, or could not be
}

// NewRecorder writes to w, each line in one Write.
func NewRecorder(w io.Writer, o RecordOptions) *Recorder {
	return newRecorder(w, nil, "the transcript", o)
}

func newRecorder(w io.Writer, file *os.File, name string, o RecordOptions) *Recorder {
	r := &Recorder{
		redact: o.Redact, name: name, w: w, file: file, patience: cmp.Or(o.Patience, defaultPatience),
		work: make(chan struct{}, 1), ended: make(chan struct{}), stuck: make(chan struct{}), failed: make(chan struct{}),
		mu: new(sync.Mutex),
	}
	r.overdue = time.AfterFunc(r.patience, r.giveUp)
	r.overdue.Stop()
	return r
}

// OpenRecorder writes to a regular file, which is made with mode 0600 if there
// is none. An existing one is continued: nothing in it is changed, except that a
// last line that was cut off is ended. With RecordOptions.New an existing file
// is an error that is fs.ErrExist. A file that another process records to is
// refused, where the system has advisory locks.
func OpenRecorder(path string, o RecordOptions) (*Recorder, error) {
	flags := os.O_RDWR | os.O_CREATE | os.O_APPEND
	if o.New {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(path, flags|nonblock, 0o600)
	if err != nil {
		if o.New && errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("recording to a new file: %w", err)
		}
		return nil, fmt.Errorf("opening the transcript: %w", err)
	}
	err = regular(file)
	if err == nil {
		err = lockFile(file)
	}
	if err == nil {
		err = endLastLine(file)
	}
	info, statErr := file.Stat()
	if err = cmp.Or(err, statErr); err != nil {
		return nil, errors.Join(fmt.Errorf("continuing the transcript %q: %w", path, err), file.Close())
	}
	r := newRecorder(file, file, path, o)
	r.size = info.Size()
	return r, nil
}

// regular says what a file is, if it is none that holds what is written to it.
func regular(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errors.New("it is a folder")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a pipe, and not a regular file")
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device, and not a regular file")
	default:
		return errors.New("it is not a regular file")
	}
}

// endLastLine ends the line that a killed process left unfinished. It stays:
// the reader reports it, and finds the lines that follow.
func endLastLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
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
// called. Whoever made r closes it, after stop. A Recorder is given to one log
// alone, before anything else is done with it: from then on they share a lock.
func (l *Log) Record(r *Recorder) (stop func()) {
	r.begun.Do(func() {
		r.mu = &l.mu
		go r.run()
	})
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

// fail ends the recording because of err, and reports whether it was the first
// to do so. A nil error changes nothing.
func (r *Recorder) fail(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || r.err != nil {
		return false
	}
	r.err = fmt.Errorf("recording to %s: %w", r.name, err)
	close(r.failed)
	return true
}

// giveUp ends the recording while the writer waits for a write that does not end.
func (r *Recorder) giveUp() {
	if r.fail(fmt.Errorf("the disk has not taken a write for %s", r.patience)) {
		close(r.stuck)
	}
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
// It returns Err, or what went wrong in closing. A write that does not end is
// not waited for longer than RecordOptions.Patience.
func (r *Recorder) Close() error {
	r.begun.Do(func() { go r.run() })
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.work)
	}
	r.mu.Unlock()
	select {
	case <-r.ended:
		return cmp.Or(r.Err(), r.closeErr)
	case <-r.stuck:
		return r.Err()
	}
}

// add queues a frame whose line is given, or another line where secrets are
// left out of it. A large line is not copied. The channel is for wait. The caller
// holds r.mu.
func (r *Recorder) add(f *Frame, line []byte) <-chan struct{} {
	if r.redact != nil {
		if out := r.redact.Frame(f); out != f {
			line, _ = appendLine(nil, out)
		}
	}
	if r.err != nil || r.closed {
		r.missed++
		return nil
	}
	var last *batch
	if n := len(r.queue); n > 0 {
		last = r.queue[n-1]
	}
	if last == nil || len(last.data) > blockSize || len(line) >= largeLine {
		last = &batch{written: make(chan struct{})}
		r.queue = append(r.queue, last)
	}
	if len(line) >= largeLine {
		last.data = line
	} else {
		last.data = append(last.data, line...)
	}
	last.lines++
	select {
	case r.work <- struct{}{}:
	default:
	}
	return last.written
}

// wait returns when what was added is written, or never will be.
func (r *Recorder) wait(written <-chan struct{}) {
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-r.failed:
	}
}

// presence is how often the writer looks whether the file is in its place.
const presence = time.Second

// run is the writer: the only goroutine that touches the file, so that nobody
// else waits for a disk that does not answer.
func (r *Recorder) run() {
	defer close(r.ended)
	tick := time.NewTicker(presence)
	defer tick.Stop()
	for working := true; working; {
		select {
		case _, working = <-r.work:
			r.drain()
		case <-tick.C:
			if r.Err() == nil {
				r.timed(r.present)
			}
		}
	}
	if r.file == nil {
		return
	}
	if err := r.file.Close(); err != nil {
		r.closeErr = fmt.Errorf("closing the transcript %s: %w", r.name, err)
	}
}

// timed does what may take as long as the disk likes.
func (r *Recorder) timed(do func() error) {
	r.overdue.Reset(r.patience)
	err := do()
	r.overdue.Stop()
	r.fail(err)
}

func (r *Recorder) drain() {
	for {
		r.mu.Lock()
		queue := r.queue
		r.queue = nil
		r.mu.Unlock()
		if len(queue) == 0 {
			return
		}
		for _, b := range queue {
			if r.Err() == nil {
				r.timed(func() error { return r.write(b) })
			}
			r.mu.Lock()
			if r.err == nil {
				r.lines += b.lines
			} else {
				r.missed += b.lines
			}
			r.mu.Unlock()
			close(b.written)
		}
	}
}

// write writes one batch in one operation, so that the lines of whoever else
// appends to the file stay whole.
func (r *Recorder) write(b *batch) error {
	if time.Since(r.checked) > presence {
		if err := r.present(); err != nil {
			return err
		}
	}
	n, err := r.w.Write(b.data)
	r.size += int64(n)
	return err
}

// present says whether the file is still where it was opened, and holds what was
// written to it: what is written to a file without a name is lost.
func (r *Recorder) present() error {
	if r.file == nil {
		return nil
	}
	r.checked = time.Now()
	opened, err := r.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(r.name)
	switch {
	case err != nil:
		return fmt.Errorf("the file is gone: %w", err)
	case !os.SameFile(opened, there):
		return errors.New("the file was replaced by another")
	case opened.Size() < r.size:
		return fmt.Errorf("the file was cut to %d bytes, and %d had been written", opened.Size(), r.size)
	}
	return nil
}
