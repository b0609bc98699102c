package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// RecordOptions says how a Recorder writes.
type RecordOptions struct {
	Redact Redactor // removes secrets; nil removes nothing
	New    bool     // an existing file is refused, not continued
	Lags   bool     // Append does not wait for the write
	// Patience is how long one write may take before the recording ends with an
	// error; 0 means defaultPatience.
	Patience time.Duration
}

const defaultPatience = 10 * time.Second

// Recorder writes the frames of one log to a transcript as they are appended;
// Log.Record attaches it. docs/transcript.md describes the lines.
//
// A recorder reads the frames from the log in order, removes their secrets, and
// writes them, all in a goroutine of its own. Unless RecordOptions.Lags is set, Append
// returns only after its line was handed to the operating system, so that a killed process
// loses at most the lines that were being written: with one frame at a time, one line.
// Lines of concurrent Appends are written together.
//
// A write that fails, or takes longer than RecordOptions.Patience, ends the
// recording: Err returns the reason, Missed counts the frames that are not in
// the file, and the log continues.
type Recorder struct {
	redact Redactor
	lags   bool
	name   string // for errors
	w      io.Writer
	file   *os.File // w, if OpenRecorder opened it
	// patience is RecordOptions.Patience; overdue fires when a write exceeds
	// it.
	patience time.Duration
	overdue  *time.Timer
	work     chan struct{} // signals frames to write; closed by Close

	checked time.Time // used by the writer: time of the last call of present
	size    int64     // used by the writer: bytes that the file must at least hold

	begun sync.Once    // the writer
	log   *Log         // set by Record, with from
	from  int64        // number of the first frame to write
	last  atomic.Int64 // number of the last frame to write

	mu       sync.Mutex
	changed  *sync.Cond // the fields below have changed
	closed   bool
	ended    bool // the writer has ended and closed the file
	stuck    bool // a write took too long
	closeErr error
	err      error
	failed   chan struct{} // closed when err is set
	done     int64         // number of the last frame that was written
	lines    int64
}

// NewRecorder makes a recorder that writes to w; each Write holds whole lines.
func NewRecorder(w io.Writer, o RecordOptions) *Recorder {
	return newRecorder(w, nil, "the transcript", o)
}

func newRecorder(w io.Writer, file *os.File, name string, o RecordOptions) *Recorder {
	r := &Recorder{
		redact: o.Redact, lags: o.Lags, name: name, w: w, file: file, patience: cmp.Or(o.Patience, defaultPatience),
		work: make(chan struct{}, 1), failed: make(chan struct{}),
	}
	r.changed = sync.NewCond(&r.mu)
	r.last.Store(math.MaxInt64)
	r.overdue = time.AfterFunc(r.patience, func() { // a write hangs
		err := fmt.Errorf("the disk has not taken a write for %s", r.patience)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stuck = r.fail(err)
	})
	r.overdue.Stop()
	return r
}

// OpenRecorder makes a recorder that writes to a regular file. A missing file
// is created with mode 0600. An existing file is continued: nothing in it is
// changed, except that an incomplete last line gets a newline. With
// RecordOptions.New an existing file is an fs.ErrExist error. A file that
// another process records to is refused, if the system has advisory locks.
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

// regular returns an error that says what the file is, unless it is a regular
// file.
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

// endLastLine adds a newline to a last line that a killed process left
// incomplete. The reader reports that line, and finds the lines after it.
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

// Record writes the frames that are appended from now on to r, until stop is
// called. The caller closes r after stop. A Recorder is attached to one log, once,
// and before any other method is called.
func (l *Log) Record(r *Recorder) (stop func()) {
	l.changeRecorders(func(now []*Recorder) []*Recorder {
		r.log, r.from, r.done = l, l.Len()+1, l.Len()
		return append(now, r)
	})
	r.begun.Do(func() { go r.run() })
	return func() {
		l.changeRecorders(func(now []*Recorder) []*Recorder {
			r.last.CompareAndSwap(math.MaxInt64, l.Len())
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

// Err returns why the recording failed, nil if it did not.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Failed returns a channel that is closed when the recording fails.
func (r *Recorder) Failed() <-chan struct{} { return r.failed }

// fail ends the recording with err, and reports whether this was the first
// failure. A nil error changes nothing. The caller holds r.mu.
func (r *Recorder) fail(err error) bool {
	if err == nil || r.err != nil {
		return false
	}
	r.err = fmt.Errorf("recording to %s: %w", r.name, err)
	close(r.failed)
	r.changed.Broadcast()
	return true
}

// Lines returns the number of frames written so far.
func (r *Recorder) Lines() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines
}

// Missed returns the number of frames that could not be written.
func (r *Recorder) Missed() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil || r.log == nil {
		return 0
	}
	return r.due() - r.from + 1 - r.lines
}

// due returns the number of the last frame that r has to write so far.
func (r *Recorder) due() int64 { return min(r.log.Len(), r.last.Load()) }

// Name returns the path that was given to OpenRecorder.
func (r *Recorder) Name() string { return r.name }

// Close writes the lines that are not written yet, and closes the file that OpenRecorder opened.
// It returns Err, or the error of closing the file. It waits for a hanging
// write no longer than RecordOptions.Patience.
func (r *Recorder) Close() error {
	r.begun.Do(func() { go r.run() })
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		if r.log != nil {
			r.last.CompareAndSwap(math.MaxInt64, r.log.Len())
		}
		close(r.work)
	}
	for !r.ended && !r.stuck {
		r.changed.Wait()
	}
	return cmp.Or(r.err, r.closeErr)
}

// wait has the frame written. It returns when that is done, or when the recording has failed
// or ended; at once, if the recorder lags.
func (r *Recorder) wait(seq int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.done < seq && r.err == nil && !r.ended {
		if !r.closed {
			select {
			case r.work <- struct{}{}:
			default:
			}
		}
		if r.lags {
			return
		}
		r.changed.Wait()
	}
}

const presence = time.Second

// run is the writer: the only goroutine that uses the file, so that no other
// goroutine blocks on a disk that hangs.
func (r *Recorder) run() {
	tick := time.NewTicker(presence)
	defer tick.Stop()
	for working := true; working; {
		select {
		case _, working = <-r.work:
			for next := r.next(); next > 0; next = r.next() {
				r.failIf(r.write(next, r.due()))
			}
		case <-tick.C:
			if r.Err() == nil {
				r.timed(r.present)
			}
		}
	}
	var err error
	if r.file != nil {
		err = r.file.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = true; err != nil {
		r.closeErr = fmt.Errorf("closing the transcript %s: %w", r.name, err)
	}
	r.changed.Broadcast()
}

// next returns the number of the next frame to write, 0 if there is none by now.
func (r *Recorder) next() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log == nil || r.err != nil || r.done >= r.due() {
		return 0
	}
	return r.done + 1
}

func (r *Recorder) failIf(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(err)
}

// timed runs a disk operation under the recorder's patience, and records its
// error.
func (r *Recorder) timed(do func() error) {
	r.overdue.Reset(r.patience)
	err := do()
	r.overdue.Stop()
	r.failIf(err)
}

func (r *Recorder) write(from, to int64) error {
	if from == r.from && r.redact != nil { // what earlier frames say is secret
		if err := r.redact.Learn(context.Background(), r.log); err != nil {
			return err
		}
	}
	var some []byte
	done, lines := from-1, int64(0)
	flush := func() error {
		// In one operation, so that lines do not mix with those that others append to
		// the file.
		r.timed(func() error {
			if time.Since(r.checked) > presence {
				if err := r.present(); err != nil {
					return err
				}
			}
			n, err := r.w.Write(some)
			r.size += int64(n)
			return err
		})
		some = some[:0]
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.lines += lines
			r.done, lines = done, 0
			r.changed.Broadcast()
		}
		return r.err
	}
	err := eachLine(r.log, between(from, to), r.redact, func(seq int64, line []byte) error {
		some = append(append(some, line...), '\n')
		done, lines = seq, lines+1
		if len(some) < blockSize {
			return nil
		}
		return flush()
	})
	if err == nil && lines > 0 {
		err = flush()
	}
	return err
}

// present returns an error if the file is no longer at its path, or holds less
// than was written to it. Writes to a removed file would be lost.
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
