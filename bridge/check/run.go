package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/headless"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/script"
)

// Options say what is checked, and how.
type Options struct {
	// Server is what to connect to. The check itself chooses what of its settings differs
	// between trials: the revision, what is declared of elicitation, and the transcript.
	// Its Timeout bounds connecting.
	Server headless.Config
	// Wanted is what is called; empty for everything that the server offers.
	Wanted []Wanted
	// Honest are answers files of honest answers, after those of a call.
	Honest     []*script.Script
	Revisions  []string      // to try; empty for all
	Behaviours []string      // by name; empty for all
	Timeout    time.Duration // of the server's own time in a call; 0 for what fits the call
	Jobs       int           // how many trials at once, without those that only wait
	// ReadOnly, AllowDestructive and Skip say what must not be called; see [script.Plan].
	ReadOnly         bool
	AllowDestructive []string
	Skip             []*script.Text
	// Record is the folder that a transcript of each trial is written to; "" for none.
	Record string
	// Command names the server in a command line of the inspector, as a shell has it; ""
	// to say how Server has it.
	Command string
	// Chosen is told what will be called and what will not, before anything is.
	Chosen func(calls []Call, skipped []Skipped)
	// Met is told what the server calls itself, and which revisions it speaks, the newest
	// first. It is called before Chosen.
	Met func(server string, revisions []string)
	// Ended is told what came of a trial as soon as it is over, and again once all trials of
	// its call and revision are and are judged by each other too. The report has the last
	// word. It is called by several goroutines.
	Ended func(Result)
	// Progress is told how far the check is, several times a second.
	Progress func(Progress)
}

// runner runs one check.
type runner struct {
	*Options
	*progress
	report    Report
	slots     *slots
	calls     []chosen
	items     []catalog.Item
	revisions []string // that the server speaks, the newest first
}

// Run checks a server. If ctx ends, the report is what was found so far. The error is
// [headless.ErrConnect] for a server that cannot be reached, and [ErrNotOffered] for a
// call that there is not.
func Run(ctx context.Context, o Options) (*Report, error) {
	o.Command = cmp.Or(o.Command, o.Server.Target.CommandLine())
	r := &runner{Options: &o, progress: newProgress(), slots: newSlots(max(o.Jobs, 1))}
	r.report = Report{
		Format: 1, Inspector: o.Server.Version, Target: o.Server.Target.Address(), Began: r.began.Round(time.Millisecond),
		Calls: []Call{}, Behaviours: []Behaviour{}, Results: []Result{},
	}
	if err := r.greet(ctx); err != nil {
		return nil, err
	}
	if o.Met != nil {
		o.Met(r.report.Server, r.revisions)
	}
	var skipped []Skipped
	var err error
	if r.calls, skipped, err = o.choose(r.items); err != nil {
		return nil, err
	}
	r.report.Skipped = skipped
	if o.Chosen != nil {
		var calls []Call
		for _, c := range r.calls {
			calls = append(calls, c.Call)
		}
		o.Chosen(calls, skipped)
	}
	stop := r.tell(o.Progress)
	var groups sync.WaitGroup
	for i := range r.calls {
		for _, revision := range r.revisions {
			groups.Go(func() { r.group(ctx, &r.calls[i], Trial{Call: i, Revision: revision}) })
		}
	}
	groups.Wait()
	stop()
	r.finish(ctx)
	return &r.report, nil
}

// tries reports whether a behaviour is to be tried.
func (r *runner) tries(behaviour string) bool {
	return len(r.Behaviours) == 0 || slices.Contains(r.Behaviours, behaviour)
}

// greet finds out which revisions the server speaks, and what it offers.
func (r *runner) greet(ctx context.Context) error {
	revisions := r.Revisions
	if len(revisions) == 0 {
		revisions = mcp.Revisions
	}
	met := make([]greeted, len(revisions))
	var meeting sync.WaitGroup
	for i, revision := range revisions {
		meeting.Go(func() { met[i] = r.meet(ctx, revision) })
	}
	meeting.Wait()
	var errs []error
	var spoken []string
	for i, m := range met {
		switch {
		case m.err != nil:
			errs = append(errs, m.err)
		case m.protocol != revisions[i]:
			spoken = append(spoken, m.protocol)
		default:
			r.revisions = append(r.revisions, revisions[i])
			if r.report.Server == "" {
				r.report.Server, r.items = m.server, m.items
			}
		}
	}
	r.report.Revisions = r.revisions
	switch {
	case len(r.revisions) > 0:
		return nil
	case len(spoken) > 0:
		return fmt.Errorf("%w: the server speaks %s, and none of %v", headless.ErrConnect, spoken[0], revisions)
	}
	return errs[0]
}

// greeted is what a server says of itself.
type greeted struct {
	server, protocol string
	items            []catalog.Item
	err              error
}

// meet connects in a revision.
func (r *runner) meet(ctx context.Context, revision string) (m greeted) {
	s, err := headless.Open(ctx, r.config(&trial{Trial: Trial{Revision: revision}}))
	if err != nil {
		return greeted{err: err}
	}
	defer func() { m.err = errors.Join(m.err, s.Close()) }()
	c, err := s.Catalog(ctx)
	if err != nil {
		return greeted{err: err}
	}
	server, err := s.Server()
	if err != nil {
		return greeted{err: err}
	}
	name := cmp.Or(server.Info.Name, server.Label)
	if server.Info.Version != "" {
		name += " " + server.Info.Version
	}
	return greeted{server: name, protocol: server.Info.Protocol, items: c.Items}
}

// config is how the session of a trial is made.
func (r *runner) config(t *trial) headless.Config {
	c := r.Server
	c.Settings.Protocol, c.Settings.Choice, c.Settings.Elicitation = t.Revision, client.ChoiceExplicit, t.declared
	c.Ask, c.Watch = nil, nil
	return c
}
