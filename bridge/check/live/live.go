// Package live runs one check at a time during an inspection, and keeps the results of the
// latest one.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/conversation"
)

// Subject is the tool, prompt or resource that a check calls.
type Subject struct {
	Server string // id of the server
	Kind   conversation.Kind
	Key    string
}

// State is the stage of a check.
type State string

// The states of a check.
const (
	Running  State = "running"
	Stopping State = "stopping" // the running trials are being ended
	Over     State = "over"
)

// Check is the state of a check.
type Check struct {
	Number int // from 1
	Subject
	Arguments json.RawMessage
	State     State
	Name      string   // name that the server reports
	Revisions []string // revisions that the server speaks, newest first; nil until they are known
	Progress  check.Progress
	Trials    []Trial       // in the order in which they ended
	Report    *check.Report // nil until the check is over, or if it failed
	Err       error         // the reason why there is no report
}

// Trial is the result of a trial so far.
type Trial struct {
	check.Result
	Version int // counts the changes of the result, from 1
}

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
	latest *Check // readers share its slices, so that these only grow or are replaced
	stop   context.CancelFunc
	folder string // transcripts of the latest check
	closed bool
}

// New makes a lab. It calls changed after each change of a check; changed must not block.
func New(changed func()) *Lab {
	life, end := context.WithCancel(context.Background())
	return &Lab{changed: changed, life: life, end: end}
}

// Begin starts a check in the background. The error is [ErrBusy] while another check runs.
// The lab sets Record, Met, Ended and Progress of the options.
func (l *Lab) Begin(s Subject, arguments json.RawMessage, o check.Options) error {
	ctx, stop := context.WithCancel(l.life)
	err := l.begin(&Check{Number: 1, Subject: s, Arguments: arguments, State: Running}, stop, func(before string) {
		defer stop()
		l.run(ctx, o, before)
	})
	if err != nil {
		stop()
		return err
	}
	l.changed()
	return nil
}

// begin makes c the latest check, and starts run with the folder of the previous check.
func (l *Lab) begin(c *Check, stop context.CancelFunc, run func(before string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrClosed
	case l.latest != nil && l.latest.State != Over:
		return fmt.Errorf("%w, of %s; only one is made at a time", ErrBusy, l.latest.Key)
	case l.latest != nil:
		c.Number += l.latest.Number
	}
	before := l.folder
	l.latest, l.stop, l.folder = c, stop, ""
	l.running.Go(func() { run(before) })
	return nil
}

// run runs a check after removing the folder of the previous one.
func (l *Lab) run(ctx context.Context, o check.Options, before string) {
	removed := os.RemoveAll(before)
	folder, err := newFolder()
	l.change(func(*Check) { l.folder = folder })
	var report *check.Report
	if err = errors.Join(removed, err); err == nil {
		o.Record = folder
		o.Met = func(server string, revisions []string) {
			l.change(func(c *Check) { c.Name, c.Revisions = server, revisions })
		}
		o.Ended = func(r check.Result) { l.change(func(c *Check) { c.told(r) }) }
		o.Progress = func(p check.Progress) { l.change(func(c *Check) { c.Progress = p }) }
		report, err = check.Run(ctx, o)
	}
	l.change(func(c *Check) {
		c.State, c.Err = Over, err
		if report == nil {
			return
		}
		for _, r := range report.Results {
			c.told(r)
		}
		c.Report = ofItself(report)
	})
}

// ofItself returns the report without the names of transcripts, whose folder the lab
// removes.
func ofItself(report *check.Report) *check.Report {
	out := *report
	out.Directory, out.Results = "", slices.Clone(out.Results)
	for i := range out.Results {
		out.Results[i].Transcript = ""
	}
	return &out
}

// told adds or replaces the result of a trial.
func (c *Check) told(r check.Result) {
	i := slices.IndexFunc(c.Trials, func(t Trial) bool { return t.Trial == r.Trial })
	if i < 0 {
		c.Trials = append(c.Trials, Trial{Result: r, Version: 1})
		return
	}
	if reflect.DeepEqual(r, c.Trials[i].Result) {
		return
	}
	c.Trials = slices.Clone(c.Trials) // readers have the old slice
	c.Trials[i] = Trial{Result: r, Version: c.Trials[i].Version + 1}
}

// change changes the latest check, and calls changed.
func (l *Lab) change(f func(*Check)) {
	l.mu.Lock()
	f(l.latest)
	l.mu.Unlock()
	l.changed()
}

// Stop ends a check. Its results so far stay.
func (l *Lab) Stop(number int) error {
	stop, err := l.stopping(number)
	if err == nil {
		stop()
		l.changed()
	}
	return err
}

func (l *Lab) stopping(number int) (stop context.CancelFunc, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil || l.latest.Number != number {
		return nil, ErrUnknown
	}
	if l.latest.State == Running {
		l.latest.State = Stopping
	}
	return l.stop, nil
}

// Latest returns the latest check; false if there was none.
func (l *Lab) Latest() (Check, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		return Check{}, false
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
