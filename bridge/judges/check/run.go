// Package check tries every behaviour that a client can have on a server. It makes each
// call that asks a question once per behaviour and revision, each time in a session of its
// own, and has package judge judge the recorded frames by the specification.
package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Options configures a check.
type Options struct {
	// Server configures the sessions. The check itself sets the revision, the elicitation
	// capability and the transcript of each trial. The Timeout limits connecting.
	Server headless.Config
	// Wanted holds the calls to check; empty checks everything that the server offers.
	Wanted []Wanted
	// Honest holds further answers files with honest answers; those of a Wanted call come
	// first.
	Honest     []*script.Script
	Revisions  []string      // empty tries all
	Behaviours []string      // names; empty tries all
	Timeout    time.Duration // limit of the server's own time in a call; 0 derives it from honest calls
	Jobs       int           // number of simultaneous trials, not counting those that only wait
	// ReadOnly, AllowDestructive and Skip restrict the calls; see [script.Plan].
	ReadOnly         bool
	AllowDestructive []*script.Text
	Skip             []*script.Text
	// Witness shows the effects of calls; nil for none.
	Witness *script.Witness
	// Reset is a command line that puts the world back, run before each trial; "" for none.
	// The trials are made one at a time then.
	Reset string
	// Record is the folder for the transcripts of trials; "" writes none.
	Record string
	// Command is the server's part of the inspector command lines in the report, quoted
	// for a shell; "" derives it from Server.
	Command string
	// Chosen is called with the calls to make and those to skip, before any call is made.
	Chosen func(calls []report.Call, skipped []report.NotMade)
	// Met is called with the server's name and its revisions, newest first, before Chosen.
	Met func(server string, revisions []string)
	// Ended is called with the result of each trial when the trial has ended, and again
	// when the trials of its call and revision have been compared. The report can still
	// differ. It is called from several goroutines.
	Ended func(report.Result)
	// Asked is called with the log of each honest call that asks something, and the file name of its
	// transcript, "" for none. It is called from several goroutines.
	Asked func(log *wire.Log, transcript string)
	// Progress is called with the progress several times a second.
	Progress func(report.Progress)
}

type runner struct {
	*Options
	*progress
	report    report.Report
	slots     *slots
	shared    bool          // all sessions share one server, so that trials can be in each other's way
	repeat    chan struct{} // holds the repeat under way, if the server is shared
	turn      chan struct{} // holds the trial under way, if the world is put back before each
	runs      atomic.Int64  // number of trials made with looks
	calls     []chosen
	items     []conversation.Item
	offered   map[offer][]string // revisions that offer an item, newest first
	revisions []string           // revisions that the server speaks, newest first
	silent    []*assessed        // calls that asked nothing
	// headers reports that a tool has arguments that clients send as HTTP headers, too.
	headers bool
}

// Run checks a server. If ctx ends, it returns a report of the results so far. The error
// is [headless.ErrConnect] if the server cannot be reached, with a report that says so, and
// [ErrNotOffered] if the server does not offer a wanted call.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	o.Command = cmp.Or(o.Command, o.Server.Target.CommandLine())
	r := &runner{Options: &o, progress: newProgress(), slots: newSlots(max(o.Jobs, 1)), turn: make(chan struct{}, 1), repeat: make(chan struct{}, 1), shared: o.Server.Target.URL != "", report: empty(&o)}
	if err := r.greet(ctx); err != nil {
		r.report.Server = cmp.Or(r.report.Server, o.Server.Target.Name)
		r.report.Problems = []report.Problem{{
			Kind: report.Unreachable, Text: "There was no session with the server: " + err.Error() + ".",
			Do: "See that the command or the address is right, and that the server starts by itself.",
		}}
		r.report.Took = time.Since(r.began).Round(time.Millisecond)
		o.Server.Redaction.Document(&r.report)
		return &r.report, err
	}
	if o.Met != nil {
		o.Met(r.report.Server, r.revisions)
	}
	var skipped []report.NotMade
	var err error
	if r.calls, skipped, err = o.choose(r.items); err != nil {
		return nil, fmt.Errorf("%s (%s) %w", r.report.Server, r.report.Target, err)
	}
	r.report.Skipped = skipped
	if o.Chosen != nil {
		var calls []report.Call
		for _, c := range r.calls {
			calls = append(calls, c.Call)
		}
		o.Chosen(calls, skipped)
	}
	stop := r.tell(o.Progress)
	r.all(ctx)
	stop()
	r.finish(ctx)
	return &r.report, nil
}

// all makes the trials of all calls. Where trials can be in each other's way, the honest
// calls come first, then the trials with a witness, then the others, and then the repeats.
func (r *runner) all(ctx context.Context) {
	groups := make([]*group, len(r.calls)*len(r.revisions))
	watchers := map[*script.Witness]*watcher{} // calls without a witness of their own share one
	for i := range r.calls {
		if c := &r.calls[i]; c.witness != nil {
			if watchers[c.witness] == nil {
				watchers[c.witness] = r.newWatcher(c)
			}
			c.watcher = watchers[c.witness]
		}
	}
	stages := []func(k int){
		func(k int) {
			c := k / len(r.revisions)
			if revision := r.revisions[k%len(r.revisions)]; r.callsIn(revision, r.calls[c].Call) {
				groups[k] = r.prepare(ctx, &r.calls[c], report.Trial{Call: c, Revision: revision})
			}
		},
		func(k int) { r.tryAll(ctx, groups[k]) },
		func(k int) { r.conclude(ctx, groups[k]) },
	}
	each := func(stages ...func(k int)) {
		var running sync.WaitGroup
		for k := range groups {
			running.Go(func() {
				for i, stage := range stages {
					if i == 0 || groups[k] != nil {
						stage(k)
					}
				}
			})
		}
		running.Wait()
	}
	if !r.shared && len(watchers) == 0 {
		each(stages...)
	} else {
		each(stages[0])
		groups = slices.DeleteFunc(groups, func(g *group) bool { return g == nil })
		r.watch(ctx, groups)
		each(stages[1])
		each(stages[2])
	}
	for _, one := range r.silent { // by the trials of revisions in which they ask
		for _, g := range groups {
			if g != nil && g.base.Call == one.Call {
				judge.Unasked(one.Judgement, judgementsOf(g.tried))
			}
		}
		if len(one.Findings) > 0 {
			r.over(r.result(one))
		}
	}
}

// empty returns a report of nothing.
func empty(o *Options) report.Report {
	return report.Report{
		Format: 1, Inspector: o.Server.Version, Target: o.Server.Target.Address(), Began: time.Now().Round(time.Millisecond),
		Revisions: []string{}, Calls: []report.Call{}, Behaviours: []report.Behaviour{}, Results: []report.Result{},
	}
}

// Without returns the report of a check that was given no server.
func Without(o Options) *report.Report {
	r := empty(&o)
	r.Target = ""
	r.Problems = []report.Problem{{
		Kind: report.NoTarget, Text: "No server was named. The built-in demo server is only checked at a terminal.",
		Do: "Name the server: inspector check URL, inspector check -- COMMAND, --config, or target in a plan, which may be demo.",
	}}
	return &r
}

func (r *runner) tries(behaviour string) bool {
	return len(r.Behaviours) == 0 || slices.Contains(r.Behaviours, behaviour)
}

// greet finds out which revisions the server speaks and what it offers.
func (r *runner) greet(ctx context.Context) error {
	revisions := r.Revisions
	if len(revisions) == 0 {
		revisions = mcp.Revisions
	}
	met := make([]greeted, len(revisions))
	r.offered = map[offer][]string{}
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
				r.report.Server = m.server
				r.headers = r.shared && slices.ContainsFunc(m.items, func(item conversation.Item) bool { return bytes.Contains(item.Schema, []byte(`"x-mcp-header"`)) })
			}
			for _, item := range m.items { // those of a newer revision but once
				o := offer{item.Kind, item.Key}
				if r.offered[o] == nil {
					r.items = append(r.items, item)
				}
				r.offered[o] = append(r.offered[o], revisions[i])
			}
		}
	}
	r.report.Revisions = r.revisions
	r.report.Problems = r.unspoken(revisions, met)
	switch {
	case len(r.revisions) > 0:
		return nil
	case len(spoken) > 0:
		return fmt.Errorf("%w: the server speaks %s, and none of %v", headless.ErrConnect, spoken[0], revisions)
	}
	return errs[0]
}

// offer identifies an item of a catalog.
type offer struct {
	kind conversation.Kind
	key  string
}

// callsIn reports whether a call is made in a revision. One that the newest revision offers is
// made in all of them, to see what they make of it, and another one where it is offered.
func (r *runner) callsIn(revision string, c report.Call) bool {
	in := r.offered[offer{c.Kind, c.Key}]
	return len(in) == 0 || in[0] == r.revisions[0] || slices.Contains(in, revision)
}

// greeted holds the name, revision and catalog that a server reports.
type greeted struct {
	server, protocol string
	announced        []string // revisions that the server says it speaks
	items            []conversation.Item
	err              error
}

// meet connects in a revision.
func (r *runner) meet(ctx context.Context, revision string) (m greeted) {
	config := r.config(&trial{Trial: report.Trial{Revision: revision}})
	config.NoLists = false
	s, err := headless.Start(config)
	if err != nil {
		return greeted{err: err}
	}
	defer func() {
		m.announced = announcedIn(s.Log())
		m.err = errors.Join(m.err, s.Close())
	}()
	if err := s.Connected(ctx); err != nil {
		return greeted{err: err}
	}
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

// lintedMost is the number of offered items up to which every honest call reads the lists.
const lintedMost = 200

func (r *runner) config(t *trial) headless.Config {
	c := r.Server
	c.Settings.Protocol, c.Settings.Choice, c.Settings.Elicitation = t.Revision, conversation.ChoiceExplicit, t.Declares
	c.Settings.NoLogs = t.Behaviour != judge.BehaviourOther // one trial asks, the others show what comes unasked
	c.Ask, c.Watch = nil, nil
	// Honest calls read the lists, so that the linter sees them; of very many calls the first one.
	lints := t.Behaviour == judge.BehaviourAccept && (len(r.items) <= lintedMost || t.Call == 0)
	c.NoLists = !lints && t.Behaviour != "other-tool" && !r.headers
	return c
}
