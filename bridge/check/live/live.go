// Package live makes one check at a time beside an inspection, and keeps what came of
// the latest while it goes on and after it is over.
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

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/check"
)

// Subject is what is checked: one thing that a server offers.
type Subject struct {
	Server string // its id
	Kind   catalog.Kind
	Key    string
}

// State says where a check stands.
type State string

// The states of a check.
const (
	Running  State = "running"
	Stopping State = "stopping" // the trials that go on are being ended
	Over     State = "over"
)

// Check is a check as it stands.
type Check struct {
	Number int // from 1
	Subject
	Arguments json.RawMessage
	State     State
	Name      string   // of the server, as it says
	Revisions []string // that it speaks, the newest first; nil until that is known
	Progress  check.Progress
	Trials    []Trial       // in the order in which they ended
	Report    *check.Report // once the check is over; nil if there is none
	Err       error         // why there is no report
}

// Trial is what came of a trial.
type Trial struct {
	check.Result
	Version int // counts how often something else was said of it
}

// Errors of a [Lab].
var (
	ErrBusy    = errors.New("another check is running")
	ErrClosed  = errors.New("the inspection is over")
	ErrUnknown = errors.New("this check is not kept any more")
)

// Lab makes checks. All methods are safe for concurrent use.
type Lab struct {
	changed func()
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	latest *Check // its slices only grow, or are replaced
	stop   context.CancelFunc
	folder string // of the latest check's transcripts
	closed bool
}

// New makes a lab. changed is called when a check is not as it was; it must not block.
func New(changed func()) *Lab {
	life, end := context.WithCancel(context.Background())
	return &Lab{changed: changed, life: life, end: end}
}

// Begin begins a check in the background. The error is [ErrBusy] while another goes on.
// Where its transcripts are, and who is told of it, is the lab's business.
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

// begin makes c the latest check, which run makes.
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

// run makes a check, in place of that whose transcripts are in the folder before.
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

// ofItself is a report without the transcripts, which go with the lab.
func ofItself(report *check.Report) *check.Report {
	out := *report
	out.Directory, out.Results = "", slices.Clone(out.Results)
	for i := range out.Results {
		out.Results[i].Transcript = ""
	}
	return &out
}

// told takes in what is said of a trial.
func (c *Check) told(r check.Result) {
	i := slices.IndexFunc(c.Trials, func(t Trial) bool { return t.Trial == r.Trial })
	if i < 0 {
		c.Trials = append(c.Trials, Trial{Result: r, Version: 1})
		return
	}
	if reflect.DeepEqual(r, c.Trials[i].Result) {
		return
	}
	c.Trials = slices.Clone(c.Trials) // readers have the old one
	c.Trials[i] = Trial{Result: r, Version: c.Trials[i].Version + 1}
}

// change changes the latest check.
func (l *Lab) change(f func(*Check)) {
	l.mu.Lock()
	f(l.latest)
	l.mu.Unlock()
	l.changed()
}

// Stop ends a check. What was found until then stays.
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

// Latest is the check that was begun last; false if there was none.
func (l *Lab) Latest() (Check, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		return Check{}, false
	}
	return *l.latest, true
}

// Folder is where the transcripts of a check are.
func (l *Lab) Folder(number int) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil || l.latest.Number != number || l.folder == "" {
		return "", ErrUnknown
	}
	return l.folder, nil
}

// Close ends the check that goes on, and removes its transcripts. No further one begins.
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
