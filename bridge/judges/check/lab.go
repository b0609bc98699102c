package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"elicitation-inspector/bridge/judges/check/report"
)

// Errors of a [Lab].
var (
	ErrBusy    = errors.New("another check is running")
	ErrClosed  = errors.New("the inspection is over")
	ErrUnknown = errors.New("this check is not kept any more")
)

// Lab runs checks. All methods are safe for concurrent use.
type Lab struct {
	changed func()
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	latest *report.Live // readers share its slices, so that these only grow or are replaced
	stop   context.CancelFunc
	folder string // transcripts of the latest check
	closed bool
}

// NewLab makes a lab. It calls changed after each change of a check; changed must not block.
func NewLab(changed func()) *Lab {
	life, end := context.WithCancel(context.Background())
	return &Lab{changed: changed, life: life, end: end}
}

// Begin starts a check in the background. The error is [ErrBusy] while another check runs.
// The lab sets Record, Met, Ended and Progress of the options.
func (l *Lab) Begin(s report.Subject, arguments json.RawMessage, o Options) error {
	c := &report.Live{Number: 1, Subject: s, Arguments: arguments, State: report.Running}
	l.mu.Lock()
	switch {
	case l.closed:
		l.mu.Unlock()
		return ErrClosed
	case l.latest != nil && l.latest.State != report.Over:
		defer l.mu.Unlock()
		return fmt.Errorf("%w, of %s; only one is made at a time", ErrBusy, l.latest.Key)
	case l.latest != nil:
		c.Number += l.latest.Number
	}
	ctx, stop := context.WithCancel(l.life)
	before := l.folder
	l.latest, l.stop, l.folder = c, stop, ""
	l.running.Go(func() {
		defer stop()
		l.run(ctx, o, before)
	})
	l.mu.Unlock()
	l.changed()
	return nil
}

// run runs a check after removing the folder of the previous one.
func (l *Lab) run(ctx context.Context, o Options, before string) {
	removed := os.RemoveAll(before)
	folder, err := newFolder()
	l.change(func(*report.Live) { l.folder = folder })
	var made *report.Report
	if err = errors.Join(removed, err); err == nil {
		o.Record = folder
		o.Met = func(server string, revisions []string) {
			l.change(func(c *report.Live) { c.Name, c.Revisions = server, revisions })
		}
		o.Ended = func(r report.Result) { l.change(func(c *report.Live) { told(c, r) }) }
		o.Progress = func(p report.Progress) { l.change(func(c *report.Live) { c.Progress = p }) }
		made, err = Run(ctx, o)
	}
	l.change(func(c *report.Live) {
		c.State, c.Err = report.Over, err
		if made == nil {
			return
		}
		for _, r := range made.Results {
			told(c, r)
		}
		alone := *made // without the names of transcripts, whose folder the lab removes
		alone.Directory, alone.Results = "", slices.Clone(made.Results)
		for i := range alone.Results {
			alone.Results[i].Transcript = ""
		}
		c.Report = &alone
	})
}

// told adds or replaces the result of a trial.
func told(c *report.Live, r report.Result) {
	i := slices.IndexFunc(c.Results, func(one report.Result) bool { return one.Trial == r.Trial })
	if i < 0 {
		r.Number, r.Version = len(c.Results)+1, 1
		c.Results = append(c.Results, r)
		return
	}
	if r.Number, r.Version = i+1, c.Results[i].Version; reflect.DeepEqual(r, c.Results[i]) {
		return
	}
	r.Version++
	c.Results = slices.Clone(c.Results) // readers have the old slice
	c.Results[i] = r
}

func (l *Lab) change(f func(*report.Live)) {
	l.mu.Lock()
	f(l.latest)
	l.mu.Unlock()
	l.changed()
}

// Stop ends a check. Its results so far stay.
func (l *Lab) Stop(number int) error {
	l.mu.Lock()
	stop, known := l.stop, l.latest != nil && l.latest.Number == number
	if known && l.latest.State == report.Running {
		l.latest.State = report.Stopping
	}
	l.mu.Unlock()
	if !known {
		return ErrUnknown
	}
	stop()
	l.changed()
	return nil
}

// Latest returns the latest check; false if there was none.
func (l *Lab) Latest() (report.Live, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		return report.Live{}, false
	}
	return *l.latest, true
}

// Folder returns the folder of a check's transcripts.
func (l *Lab) Folder(number int) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil || l.latest.Number != number || l.folder == "" {
		return "", ErrUnknown
	}
	return l.folder, nil
}

// Close ends the running check and removes its transcripts. No further check can begin.
func (l *Lab) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.end()
	l.running.Wait()
	l.mu.Lock()
	folder := l.folder
	l.mu.Unlock()
	return os.RemoveAll(folder)
}

// newFolder makes a folder for transcripts. It removes the folders of processes that were
// killed.
func newFolder() (string, error) {
	host, err := os.Hostname() // containers that share the folder have process ids of their own
	if err != nil {
		return "", err
	}
	prefix := "inspector-check-" + host + "-"
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		rest, mine := strings.CutPrefix(e.Name(), prefix)
		number, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); mine && err == nil && gone(pid) {
			_ = os.RemoveAll(filepath.Join(os.TempDir(), e.Name())) // it may belong to another user
		}
	}
	return os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
}

func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
