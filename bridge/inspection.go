// Package bridge is one running inspection: the servers it is connected to, the
// calls that were made, and the questions that came back. It knows nothing of
// HTTP servers or HTML, so that a page, a script or a test can drive it.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/calls"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Config says what an inspection connects to and how it presents itself.
type Config struct {
	Targets []target.Spec
	Log     *wire.Log
	Logger  *slog.Logger
	// Settings hold for every server until the person changes them for one.
	Settings client.Settings
	// Rate is how many questions a minute one server may put on show; further
	// ones are held back until the person wants to see them. 0 means no limit.
	Rate int
	// Probe is how long server/discover may go unanswered before initialize is
	// tried; 0 means session.DefaultProbe.
	Probe time.Duration
	// CallTimeout is how long a call may take that does not say otherwise,
	// without the time that its questions wait for a person. 0 means no limit.
	CallTimeout time.Duration
	// Version is the inspector's own version, sent as clientInfo.version.
	Version string
	// MaxFrame is the size in bytes past which a message is cut; 0 means the
	// target package's default.
	MaxFrame int64
	// JudgeLater keeps the linter from judging frames before [Inspection.Judge] is called.
	JudgeLater bool
}

// Inspection is one run of the inspector: it joins the connections, the calls and
// the questions. Its methods are safe for concurrent use.
type Inspection struct {
	config Config
	log    *wire.Log
	logger *slog.Logger

	// life is the parent of every goroutine of the inspection; running counts
	// them, so that Close can wait.
	life    context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	replay *Replay // whose log this shows; nil for a live inspection

	changes *changes.Feed
	inbox   *inbox.Inbox
	calls   *calls.Calls
	linter  *findings.Linter
	script  atomic.Pointer[Scripted]
	passing turn        // of whoever takes over what the linter finds
	closing atomic.Bool // Close was called

	conversation *conversation.Conversation
	reading      turn // of whoever changes shown
	forms        forms
	shown        atomic.Pointer[shown]

	servers []*server // which are the same for the whole run

	mu       sync.Mutex
	sessions map[string]*session.Session // those that are not closed, by name
	found    found
	repeats  map[int][]Question // by calls that are made again, what is answered as then
	closed   bool
}

// New prepares an inspection of all targets. Nothing is started before [Inspection.Start].
func New(c Config) *Inspection {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	in := &Inspection{
		config: c, log: c.Log, logger: c.Logger, life: life, end: end, changes: changes.NewFeed(),
		linter: findings.New(c.Log), passing: newTurn(), conversation: conversation.New(c.Log), reading: newTurn(),
		sessions: map[string]*session.Session{}, repeats: map[int][]Question{},
		found: found{at: map[int64][]int{}, count: map[string]map[lint.Severity]int{}},
	}
	in.shown.Store(&shown{})
	in.inbox = inbox.New(wiring{in}, c.Rate)
	in.calls = calls.New(wiring{in}, in.inbox, in.spawn)
	for i, spec := range c.Targets {
		in.servers = append(in.servers, newServer(in, i, spec, c.Settings))
	}
	return in
}

// Start connects to every server, each in its own goroutine, and returns at once.
func (in *Inspection) Start() {
	if !in.config.JudgeLater {
		in.spawn(func() { in.lint(in.life) })
	}
	in.spawn(in.followLog)
	for _, s := range in.servers {
		if err := in.Reconnect(s.id); err != nil {
			in.logger.Error("connecting", "server", s.spec.Name, "error", err)
		}
	}
}

// Subscribe starts collecting what changes. The caller must Close the subscription.
func (in *Inspection) Subscribe() *changes.Subscription { return in.changes.Subscribe() }

// changes.Recording tells every subscription that a recording began, ended or failed.
func (in *Inspection) RecordingChanged() { in.changes.Mark(changes.Change{Kind: changes.Recording}) }

// Log is the wire log that every frame of this inspection goes to.
func (in *Inspection) Log() *wire.Log { return in.log }

// How long Close takes at most: CloseTime for an end in good order, and
// killedTime for the end of what had to be killed.
const (
	CloseTime  = 10 * time.Second
	killedTime = time.Second
)

// Close ends the inspection: pending questions are answered with cancel, calls
// are stopped, connections closed and processes ended. It returns when nothing
// of it runs any more.
//
// It keeps its time whatever hangs: when ctx ends, and after CloseTime at the
// latest, it kills the process groups that are left, cuts off the other
// connections, and returns an error within a second.
func (in *Inspection) Close(ctx context.Context) error {
	if !in.closing.CompareAndSwap(false, true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, CloseTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.close(ctx)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	return fmt.Errorf("closing the inspection: %w; connections that had to be cut off: %d", ctx.Err(), in.kill())
}

// close is Close without a bound.
func (in *Inspection) close(ctx context.Context) {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range in.servers {
		ending.Go(func() {
			if err := s.disconnect(ctx, "the inspector was closed"); err != nil {
				in.logger.Warn("closing", "error", err)
			}
		})
	}
	ending.Wait()
	in.end()
	in.running.Wait()
}

// kill ends all connections without any patience. It waits for their end, but no
// longer than killedTime, and says how many there were.
func (in *Inspection) kill() int {
	in.mu.Lock()
	var open []*session.Session
	for _, s := range in.sessions {
		open = append(open, s)
	}
	in.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range open {
		ending.Go(s.Kill)
	}
	ended := make(chan struct{})
	go func() {
		ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(killedTime):
	}
	return len(open)
}

// Waits reports whether a request without a response may still get one: neither
// side has taken it back, and the connection that carried it stands.
func (in *Inspection) Waits(seq int64, name string) bool {
	in.mu.Lock()
	i := slices.IndexFunc(in.servers, func(s *server) bool { return s.session != nil && s.session.Name == name })
	in.mu.Unlock()
	if i < 0 || in.log.Head(seq).Dir == wire.ServerToClient && in.sessionRevision(name) >= mcp.Revision20260728 {
		return false // no request of the server's is answered in that revision
	}
	s := in.read()
	if number := in.conversation.QuestionAt(seq, 1); number != 0 {
		q, err := in.Question(number)
		return err == nil && q.State == conversation.Pending
	}
	place := in.conversation.Of(seq)
	if place == 0 {
		return true // it is no request of a call's
	}
	c := s.at(place)
	if c == nil {
		return false
	}
	own, err := in.calls.Call(c.Number)
	return !c.State.Over() && (err != nil || !own.State.Over())
}

func (in *Inspection) sessionRevision(name string) string {
	if s := in.session(name); s != nil {
		return s.Revision()
	}
	return ""
}

// idOf is the id of the server that frames name so, "" if there is none.
func (in *Inspection) idOf(s *shown, label string) string {
	if in.replay != nil {
		if server := s.labelled(label); server != nil {
			return server.ID
		}
		return s.further().ID
	}
	for _, server := range in.servers {
		if server.spec.Name == label {
			return server.id
		}
	}
	return ""
}

// spawn runs f as a goroutine that Close waits for. It reports false, and does
// not run f, once the inspection is closed.
func (in *Inspection) spawn(f func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.running.Go(f)
	return true
}

// Errors that the methods of an Inspection return for what a caller may have got wrong.
var (
	ErrUnknownServer   = errors.New("no such server")
	ErrUnknownItem     = errors.New("the server has no such item")
	ErrUnknownCall     = calls.ErrUnknown
	ErrForgottenCall   = calls.ErrForgotten
	ErrUnknownQuestion = inbox.ErrUnknown
	ErrSettled         = inbox.ErrSettled
	ErrNotReady        = errors.New("the server is not connected")
	ErrClosed          = errors.New("the inspection has ended")
)

func (in *Inspection) server(id string) (*server, error) {
	for _, s := range in.servers {
		if s.id == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownServer, id)
}

// Now is the time that the inspection is at: the present, or for a replay the
// time of its last frame.
func (in *Inspection) Now() time.Time {
	if in.replay != nil {
		return in.shown.Load().now
	}
	return time.Now()
}
