// Package recording writes the frames of a log to transcripts, from when a
// person begins it until they end it, and says what becomes of that.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Recording writes what happens in an inspection to transcripts: to none or one
// at a time, from when the person begins it until they end it.
type Recording struct {
	log      *wire.Log
	logger   *slog.Logger
	redact   *redact.Redaction
	changed  func()        // called when State has changed otherwise than by more frames
	turn     chan struct{} // is full while somebody begins or ends
	watching sync.WaitGroup

	mu      sync.Mutex
	now     *watched // nil if nothing is recorded
	latest  *watched // whose remains are shown
	remains []string
}

// State says where a Recording stands.
type State struct {
	File   string // path of the transcript; "" if nothing is recorded
	Since  time.Time
	Lines  int64 // frames that have been written
	Missed int64 // frames that could not be written
	Err    error // why the recording has failed, nil if it has not
	// Remains says in words which values that are left out stand in the file all
	// the same; of the latest recording where there is none.
	Remains []string
}

// Errors of Start that a person can do something about.
var (
	ErrUnderWay   = errors.New("a recording is under way")
	ErrFileName   = errors.New("this is no plain file name")
	ErrFileExists = errors.New("the file exists already")
	ErrNoRecord   = errors.New("the file is no transcript, so it is not continued")
)

// New prepares to record a log. r says what is left out; nil means the default.
// A nil logger is told nothing. changed is called when a recording was begun, has ended
// or has failed.
func New(log *wire.Log, logger *slog.Logger, r *redact.Redaction, changed func()) *Recording {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if r == nil {
		r, _ = redact.New() // without rules, none can be wrong
	}
	return &Recording{log: log, logger: logger, redact: r, changed: changed, turn: make(chan struct{}, 1)}
}

// Begin records to a file from now on. An existing transcript is continued, or
// refused where fresh is wanted; any other file is refused. The recording fails by itself when the file
// cannot be written any more, or is gone; a new one can be begun then.
func (r *Recording) Begin(path string, fresh bool) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if w := r.current(); w != nil {
		if w.file.Err() == nil {
			return fmt.Errorf("%w: to %s", ErrUnderWay, w.file.Name())
		}
		// It has said why it failed.
		_ = r.end(w)
	}
	if !fresh {
		if err := isTranscript(path); err != nil {
			return err
		}
	}
	file, err := wire.OpenRecorder(path, wire.RecordOptions{Redact: r.redact, New: fresh})
	if err != nil {
		return err
	}
	w := &watched{file: file, since: time.Now(), first: r.log.Len() + 1, over: make(chan struct{})}
	w.detach = r.log.Record(file)
	r.mu.Lock()
	r.now, r.latest, r.remains = w, w, nil
	r.mu.Unlock()
	// What is secret in the frames before is secret in those that come.
	if err := r.redact.Learn(context.Background(), r.log); err != nil {
		r.logger.Warn("what earlier frames say is secret is not known to the recording", "error", err)
	}
	r.watching.Go(func() { r.watch(w) })
	r.changed()
	return nil
}

// lookEvery is how often it is looked for values that turned out to be secrets.
const lookEvery = time.Second

// watched is one recording, as watch sees it.
type watched struct {
	file        *wire.Recorder
	since       time.Time
	detach      func()
	first, last int64         // frames that are written; last is set when over is closed
	over        chan struct{} // closed when nothing is written any more
	known       int64         // values that were looked for when remains were last told
	told        map[string]string
}

// watch tells when a recording fails, be there frames or not, and when a value
// that is left out stands in the file all the same.
func (r *Recording) watch(w *watched) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if known := r.redact.Known(); known != w.known {
				w.known = known
				tick.Reset(max(lookEvery, 10*r.tellRemains(w, r.log.Len())))
			}
		case <-w.file.Failed():
			r.logger.Error("the recording has stopped", "error", w.file.Err())
			r.changed()
			return
		case <-w.over:
			r.tellRemains(w, w.last)
			if n := r.redact.Forgotten(); n > 0 {
				r.logger.Warn("values were too many or too long to be left out elsewhere", "values", n, "file", w.file.Name())
			}
			return
		}
	}
}

// remainsTime bounds the search for what remains.
const remainsTime = 5 * time.Second

// tellRemains warns of values that are left out and still stand in the file, as
// far as that was not said yet. It returns how long the search took.
func (r *Recording) tellRemains(w *watched, last int64) time.Duration {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), remainsTime)
	defer cancel()
	remains, err := r.redact.Remaining(ctx, r.log, func(yield func(int64) bool) {
		for seq := w.first; seq <= last && yield(seq); seq++ {
		}
	}, true)
	if err != nil {
		r.logger.Warn("the recording was not looked through for values that are left out", "error", err)
	}
	if w.told == nil {
		w.told = make(map[string]string)
	}
	for _, left := range remains {
		text := left.String()
		select {
		case <-w.over: // the last word
		default:
			if w.told[left.Rule] != "" {
				continue // how many there are in the end is said then
			}
		}
		if w.told[left.Rule] != text {
			w.told[left.Rule] = text
			r.logger.Warn("the recording is not rid of what is left out: "+text, "file", w.file.Name())
		}
	}
	r.show(w)
	return time.Since(began)
}

// show puts on the page what w has told.
func (r *Recording) show(w *watched) {
	if len(w.told) == 0 {
		return
	}
	r.mu.Lock()
	latest := r.latest == w
	if latest {
		r.remains = slices.Sorted(maps.Values(w.told))
	}
	r.mu.Unlock()
	if latest {
		r.changed()
	}
}

// End ends the recording. Its error is why not all frames are in the file.
func (r *Recording) End() error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	w := r.current()
	if w == nil {
		return nil
	}
	err := r.end(w)
	r.changed()
	return err
}

// end ends the recording. The caller has the turn.
func (r *Recording) end(w *watched) error {
	w.detach()
	w.last = r.log.Len()
	close(w.over)
	err := w.file.Close()
	r.mu.Lock()
	r.now = nil
	r.mu.Unlock()
	return err
}

// current is what is recorded, nil if nothing is.
func (r *Recording) current() *watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Close ends the recording for good.
func (r *Recording) Close() error {
	err := r.End()
	r.watching.Wait()
	return err
}

// State says where the recording stands.
func (r *Recording) State() State {
	r.mu.Lock()
	w, remains := r.now, r.remains
	r.mu.Unlock()
	if w == nil {
		return State{Remains: remains}
	}
	return State{Remains: remains, File: w.file.Name(), Since: w.since, Lines: w.file.Lines(), Missed: w.file.Missed(), Err: w.file.Err()}
}

// transcriptEnd is the ending of the names of transcripts.
const transcriptEnd = ".jsonl"

// nameMost is how many bytes the name of a file can have on most systems.
const nameMost = 255

// BeginNamed is Begin for a name that a person typed on the page: a plain file
// name, which gets the ending of a transcript if it has none, in the folder dir.
// It never touches what is no transcript, whatever the name.
func (r *Recording) BeginNamed(dir, name string, fresh bool) error {
	name = strings.TrimSpace(name)
	if !strings.HasSuffix(strings.ToLower(name), transcriptEnd) {
		name += transcriptEnd
	}
	if err := plainName(name); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fresh = true // and if it comes to be meanwhile, it is not ours
	case err != nil:
		return fmt.Errorf("looking for the transcript: %w", err)
	case fresh:
		return fmt.Errorf("%w: %s", ErrFileExists, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s", ErrNoRecord, path)
	}
	err = r.Begin(path, fresh)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrFileExists, path)
	}
	return err
}

func plainName(name string) error {
	switch {
	case name == transcriptEnd:
		return fmt.Errorf("%w: it is empty", ErrFileName)
	case len(name) > nameMost:
		return fmt.Errorf("%w: it is longer than %d bytes", ErrFileName, nameMost)
	case strings.ContainsAny(name, `/\:*?"<>|`) || filepath.Base(name) != name || !filepath.IsLocal(name):
		return fmt.Errorf("%w: %q", ErrFileName, name)
	case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\ufffd' }):
		return fmt.Errorf("%w: %q", ErrFileName, name)
	case strings.HasPrefix(name, "."):
		return fmt.Errorf("%w: %q begins with a dot", ErrFileName, name)
	}
	return nil
}

// isTranscript refuses a file whose first line is no frame. One that does not
// exist or is empty may become a transcript, and what is no regular file, such as
// a pipe, cannot be looked into.
func isTranscript(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("looking into the transcript: %w", err)
	}
	defer file.Close()
	begun, err := wire.BeginsTranscript(file)
	if err != nil {
		return fmt.Errorf("looking into the transcript: %w", err)
	}
	if !begun {
		return fmt.Errorf("%w: %s", ErrNoRecord, path)
	}
	return nil
}
