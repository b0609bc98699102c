package playback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Recording writes the frames of an inspection to transcripts, at most one at a time.
type Recording struct {
	// Lags lets frames be written some time after they are in the log; set it before Begin.
	Lags bool

	log      *wire.Log
	logger   *slog.Logger
	redact   *redact.Redaction
	changed  func()        // called when State changes other than by more frames
	turn     chan struct{} // a lock, held while a recording begins or ends
	watching sync.WaitGroup

	mu     sync.Mutex
	now    *watched // nil if there is no recording
	latest *watched // now, or the recording that has ended last
}

// RecordingState is the state of a Recording.
type RecordingState struct {
	File   string // path of the transcript; "" if there is no recording
	Since  time.Time
	Lines  int64 // number of frames written
	Missed int64 // number of frames that could not be written
	Err    error // why the recording has failed, nil if it has not
	// Doubts says where redacted values may still be in the file; see [redact.Redaction.Doubts].
	// Without a recording, it is of the latest one.
	Doubts []string
}

// Errors of Begin and BeginNamed that a person can resolve.
var (
	ErrUnderWay   = errors.New("a recording is under way")
	ErrFileName   = errors.New("this is not a plain file name")
	ErrFileExists = errors.New("the file already exists")
	ErrNoRecord   = errors.New("the file is not a transcript, so the recording cannot continue it")
)

// ErrIncomplete is the error of End and Close if frames are missing in the file.
var ErrIncomplete = errors.New("the transcript is not complete")

// NewRecording returns a Recording of a log. r redacts the frames; nil means the default. logger
// may be nil. changed is called when a recording has begun, ended or failed.
func NewRecording(log *wire.Log, logger *slog.Logger, r *redact.Redaction, changed func()) *Recording {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if r == nil {
		r, _ = redact.New() // without rules, there is no error
	}
	return &Recording{log: log, logger: logger, redact: r, changed: changed, turn: make(chan struct{}, 1)}
}

// Begin starts recording to a file. It appends to an existing transcript, or returns an
// error if fresh is set; it refuses any other file. The recording fails if the file can
// no longer be written or is deleted; then another one can begin.
func (r *Recording) Begin(path string, fresh bool) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if w := r.current(); w != nil {
		if w.file.Err() == nil {
			return fmt.Errorf("%w: to %s", ErrUnderWay, w.file.Name())
		}
		// The failure was reported already.
		_ = r.end(w)
	}
	if !fresh {
		if err := isTranscript(path); err != nil {
			return err
		}
	}
	// The recorder learns the rest: what comes before it is attached. This is most of
	// the work, and the connections need not wait for it.
	if err := r.redact.Learn(context.Background(), r.log); err != nil {
		return err
	}
	file, err := wire.OpenRecorder(path, wire.RecordOptions{Redact: r.redact, New: fresh, Lags: r.Lags})
	if err != nil {
		return err
	}
	w := &watched{file: file, since: time.Now(), first: r.log.Len() + 1, over: make(chan struct{})}
	w.detach = r.log.Record(file)
	r.mu.Lock()
	r.now, r.latest = w, w
	r.mu.Unlock()
	r.watching.Go(func() { r.watch(w) })
	r.changed()
	return nil
}

// lookEvery is the interval at which watch looks whether more is in doubt.
const lookEvery = time.Second

// watched is one recording, for watch.
type watched struct {
	file   *wire.Recorder
	since  time.Time
	detach func()
	first  int64         // the number of its first frame
	over   chan struct{} // closed when the recording has ended
	doubts []string      // under Recording.mu
}

// watch reports when the recording fails, even if no frame comes, and where values that
// should be left out may be in the file.
func (r *Recording) watch(w *watched) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.tellDoubts(w, r.redact.Doubts())
		case <-w.file.Failed():
			r.logger.Error("the recording has stopped", "error", w.file.Err())
			r.changed()
			return
		case <-w.over:
			r.tellDoubts(w, slices.Concat(r.redact.Doubts(), r.early(w)))
			return
		}
	}
}

// earlyMost is the greatest size in bytes of a recording through which early looks.
const earlyMost = 64 << 20

// early looks, at the end of a recording, for values that came up after its first frame: it
// says which stand in what was written before.
func (r *Recording) early(w *watched) []string {
	if r.redact.Latest() <= w.first {
		return nil
	}
	const unknown = "a value may stand in frames that were written before it came up"
	info, err := os.Stat(w.file.Name())
	if err != nil || !info.Mode().IsRegular() || info.Size() > earlyMost {
		return []string{unknown}
	}
	file, err := os.Open(w.file.Name())
	if err != nil {
		return []string{unknown}
	}
	defer file.Close()
	list, err := r.redact.Early(file)
	if err != nil {
		return []string{unknown}
	}
	return list
}

// tellDoubts logs a warning for each new doubt about the file.
func (r *Recording) tellDoubts(w *watched, doubts []string) {
	r.mu.Lock()
	told := w.doubts
	w.doubts = doubts
	r.mu.Unlock()
	if len(doubts) == len(told) {
		return
	}
	for _, doubt := range doubts {
		if !slices.Contains(told, doubt) {
			r.logger.Warn("the recording may have values that should be left out: "+doubt, "file", w.file.Name())
		}
	}
	r.changed()
}

// End ends the recording. The error is [ErrIncomplete], and says why.
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

// end ends a recording. The caller has the turn.
func (r *Recording) end(w *watched) error {
	w.detach()
	err := w.file.Close()
	close(w.over)
	r.mu.Lock()
	r.now = nil
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return nil
}

func (r *Recording) current() *watched {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Close ends the recording and waits for its watch.
func (r *Recording) Close() error {
	err := r.End()
	r.watching.Wait()
	return err
}

// State returns the state of the recording.
func (r *Recording) State() RecordingState {
	var state RecordingState
	r.mu.Lock()
	w := r.now
	if r.latest != nil {
		state.Doubts = r.latest.doubts
	}
	r.mu.Unlock()
	if w != nil {
		state.File, state.Since, state.Lines, state.Missed, state.Err = w.file.Name(), w.since, w.file.Lines(), w.file.Missed(), w.file.Err()
	}
	return state
}

// transcriptEnd is the extension of transcripts.
const transcriptEnd = ".jsonl"

// nameMost is the longest file name in bytes on most systems.
const nameMost = 255

// BeginNamed is like Begin for a file name from the page: a plain name in the folder
// dir, with the extension of transcripts added if it is missing. It never changes a
// file that is not a transcript.
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
		fresh = true // so that a file that appears meanwhile is refused
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
	case strings.ContainsAny(name, `/\:*?"<>|`) || filepath.Base(name) != name || !filepath.IsLocal(name),
		strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\ufffd' }):
		return fmt.Errorf("%w: %q", ErrFileName, name)
	case strings.HasPrefix(name, "."):
		return fmt.Errorf("%w: %q begins with a dot", ErrFileName, name)
	}
	return nil
}

// isTranscript returns an error if the first line of a file is no frame. A missing or
// empty file is accepted, and so is one that is no regular file, such as a pipe,
// because it cannot be read in advance.
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
	switch begun, err := wire.BeginsTranscript(file); {
	case err != nil:
		return fmt.Errorf("looking into the transcript: %w", err)
	case !begun:
		return fmt.Errorf("%w: %s", ErrNoRecord, path)
	}
	return nil
}
