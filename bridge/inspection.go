// Package bridge is one running inspection: the servers it is connected to, the
// calls that were made, and the questions that came back. It knows nothing of
// HTTP servers or HTML, so that a page, a script or a test can drive it.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/calls"
	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/recent"
	"elicitation-inspector/bridge/scripted"
	"elicitation-inspector/bridge/servers"
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
	closing atomic.Bool // Close was called

	replay *Replay // whose log this shows; nil for a live inspection

	changes      *changes.Feed
	servers      *servers.Servers
	known        knownServers // those, or for a replay the servers of the transcript
	inbox        *inbox.Inbox
	calls        *calls.Calls
	conversation *conversation.Conversation
	recent       *recent.Reader
	linter       *findings.Linter
	script       atomic.Pointer[scripted.Source]
	parsed       elicit.Parsed

	telling chan struct{} // held by the goroutine that uses told
	told    int           // findings that subscribers were told of

	mu     sync.Mutex
	closed bool
}

// knownServers are the servers that an inspection shows.
type knownServers interface {
	All() []servers.Server
	Server(id string) (servers.Server, error)
	Catalog(id string) (catalog.Catalog, error)
	IDOf(label string) string
}

// New prepares an inspection of all targets. Nothing is started before [Inspection.Start].
func New(c Config) *Inspection {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	in := &Inspection{
		config: c, log: c.Log, logger: c.Logger, life: life, end: end, changes: changes.NewFeed(),
		conversation: conversation.New(c.Log), linter: findings.New(c.Log), telling: make(chan struct{}, 1),
	}
	in.recent = recent.New(c.Log, in.conversation, in.haveRead)
	in.inbox = inbox.New(wiring{in}, c.Rate)
	in.calls = calls.New(wiring{in}, in.inbox, in.spawn)
	in.servers = servers.New(servers.Config{
		Targets: c.Targets, Settings: c.Settings, Owner: wiring{in}, Changes: in.changes, Life: life, Spawn: in.spawn,
		Session: session.Config{Log: c.Log, Logger: c.Logger, Version: c.Version, Probe: c.Probe, MaxFrame: c.MaxFrame, Go: in.running.Go},
	})
	in.known = in.servers
	return in
}

// Start connects to every server, each in its own goroutine, and returns at once.
func (in *Inspection) Start() {
	if !in.config.JudgeLater {
		in.spawn(in.judgeLog)
	}
	in.spawn(func() { in.follow(in.life, in.log, tellEvery, func() { _ = in.tellFindings(in.life) }) }) // unless life ends
	for _, s := range in.servers.All() {
		if err := in.Reconnect(s.ID); err != nil {
			in.logger.Error("connecting", "server", s.Label, "error", err)
		}
	}
}

// Subscribe starts collecting what changes. The caller must Close the subscription.
func (in *Inspection) Subscribe() *changes.Subscription { return in.changes.Subscribe() }

// RecordingChanged tells every subscription that a recording began, ended or failed.
func (in *Inspection) RecordingChanged() { in.changes.Mark(changes.Change{Kind: changes.Recording}) }

// Log is the wire log that every frame of this inspection goes to.
func (in *Inspection) Log() *wire.Log { return in.log }

// Conversation is what the frames of the log amount to; see its Update.
func (in *Inspection) Conversation() *conversation.Conversation { return in.conversation }

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
	return fmt.Errorf("closing the inspection: %w; connections that had to be cut off: %d", ctx.Err(), in.servers.Kill(killedTime))
}

// close is Close without a bound.
func (in *Inspection) close(ctx context.Context) {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	if err := in.servers.Close(ctx); err != nil {
		in.logger.Warn("closing", "error", err)
	}
	in.end()
	in.running.Wait()
}

// Waits reports whether a request without a response may still get one: neither
// side has taken it back, and the connection that carried it stands.
func (in *Inspection) Waits(seq int64, name string) bool {
	s := in.servers.Present(name)
	if s == nil || in.log.Head(seq).Dir == wire.ServerToClient && s.Revision() >= mcp.Revision20260728 {
		return false // no request of the server's is answered in that revision
	}
	now := in.read()
	if number := in.conversation.QuestionAt(seq, 1); number != 0 {
		q, err := in.Question(number)
		return err == nil && q.State == conversation.Pending
	}
	place := in.conversation.Of(seq)
	if place == 0 {
		return true // it is no request of a call's
	}
	c := now.At(place)
	if c == nil {
		return false
	}
	own, err := in.calls.Call(c.Number)
	return !c.State.Over() && (err != nil || !own.State.Over())
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
	ErrUnknownServer   = servers.ErrUnknown
	ErrUnknownRevision = servers.ErrUnknownRevision
	ErrReconnect       = servers.ErrReconnect
	ErrNotReady        = servers.ErrNotReady
	ErrClosed          = servers.ErrClosed
	ErrUnknownItem     = errors.New("the server has no such item")
	ErrUnknownCall     = calls.ErrUnknown
	ErrForgottenCall   = calls.ErrForgotten
	ErrUnknownQuestion = inbox.ErrUnknown
	ErrSettled         = inbox.ErrSettled
)

// Now is the time that the inspection is at: the present, or for a replay the
// time of its last frame.
func (in *Inspection) Now() time.Time {
	if in.replay != nil {
		return in.recent.View().Now
	}
	return time.Now()
}

// read returns what the log says now.
func (in *Inspection) read() *recent.View {
	if in.replay == nil && in.recent.View().UpTo != in.log.Len() {
		if err := in.recent.Read(context.Background(), false); err != nil && in.life.Err() == nil {
			in.logger.Error("reading the log", "error", err)
		}
	}
	return in.recent.View()
}

// haveRead has the inbox forget what the log says by now, and tells of what changed.
func (in *Inspection) haveRead(now *recent.View, changed []changes.Change) {
	said := map[int]conversation.Completion{}
	for _, number := range in.inbox.Settled() {
		if _, q := now.Question(number); q != nil && q.State != conversation.Pending {
			said[number] = q.Completion
		}
	}
	in.inbox.Forget(said)
	if in.replay != nil {
		changed = append(in.replay.servers.Update(in.conversation.Servers()), changed...)
	}
	in.changes.Mark(changed...)
}

// tellEvery bounds how often those who have subscribed are told of what the log of
// a live inspection says.
const tellEvery = 10 * time.Millisecond

// follow looks at the log, and again when there are more frames in it or in source, or
// when more of them are judged, until ctx ends. It does so at most every so often.
func (in *Inspection) follow(ctx context.Context, source *wire.Log, every time.Duration, look func()) {
	for ctx.Err() == nil {
		grown, judged, read := in.log.Grown(), in.linter.Changed(), source.Grown()
		look()
		select {
		case <-ctx.Done():
		case <-grown:
		case <-judged:
		case <-read:
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}
