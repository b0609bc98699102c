// Package inspection is one running inspection: its connections to servers, the calls, and
// the questions that the servers ask. It does not depend on HTTP servers or HTML, so that
// a page, a script or a test can drive it.
package inspection

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Config configures an inspection: the servers, the limits, and what the client declares.
type Config struct {
	Targets []target.Spec
	Log     *wire.Log
	Logger  *slog.Logger
	// Settings apply to every server until the person changes them for one.
	Settings conversation.ClientSettings
	// Rate limits the questions of one server that are shown per minute; further ones are
	// held back until the person asks for them. 0 means no limit.
	Rate int
	// Held is how many questions of one server are held back; 0 means live.HeldMost.
	Held int
	// Probe is how long to wait for the response to server/discover before trying
	// initialize; 0 means session.DefaultProbe.
	Probe time.Duration
	// CallTimeout limits calls without a timeout of their own. Time in which questions
	// wait for a person does not count. 0 means no limit.
	CallTimeout time.Duration
	// Version is the inspector's own version, sent as clientInfo.version.
	Version string
	// MaxFrame is the maximum size of a message in bytes; longer ones are cut. 0 means
	// wire.DefaultMaxFrame.
	MaxFrame int64
	// SignIns has the sign-ins to servers behind OAuth; nil means a desk of the
	// inspection's own, where nobody can sign in. The caller closes its desk.
	SignIns *signin.Desk
	// JudgeLater keeps the linter from checking frames before [Inspection.Judge] is
	// called.
	JudgeLater bool
	// Traces joins sessions with the traces of others, if it is not nil.
	Traces session.Traces
	// NoLists leaves the lists of what servers offer unread.
	NoLists bool
	// Room limits the lists of one server; zero means conversation.CatalogMost.
	Room conversation.Room
}

// Inspection is one run of the inspector. It connects sessions, calls and questions. It
// is made of five parts, whose methods are its own; a part keeps the other parts that it calls as
// fields. All methods are safe for concurrent use.
type Inspection struct {
	*reader
	*servers
	*calls
	*findings
	*questions
	script   atomic.Pointer[ScriptSource]
	end      context.CancelFunc // of life
	closing  sync.Once
	closeErr error
}

// reader reads calls and questions from the log, and tells subscribers what has changed. It also
// starts the goroutines of the inspection.
type reader struct {
	log          *wire.Log
	logger       *slog.Logger
	conversation *conversation.Conversation
	recent       *live.Reader
	changes      *live.Feed
	replay       *Replay           // the replay that shows the log; nil for a live inspection
	named        map[string]string // the names of servers when the log was last read; only haveRead uses it

	// life is the parent of every goroutine of the inspection; running counts
	// them, so that Close can wait.
	life    context.Context
	running sync.WaitGroup
	mu      sync.Mutex
	closed  bool
}

// New prepares an inspection of all targets. Nothing is started before [Inspection.Start].
func New(c Config) *Inspection {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	in := &Inspection{end: end}
	in.reader = &reader{log: c.Log, logger: c.Logger, life: life, changes: live.NewFeed(), conversation: conversation.New(c.Log)}
	in.recent = live.NewReader(c.Log, in.conversation, in.haveRead)
	in.servers = &servers{reader: in.reader, config: c}
	in.calls = &calls{reader: in.reader, servers: in.servers}
	in.findings = &findings{reader: in.reader, servers: in.servers, calls: in.calls, linter: lint.NewLinter(c.Log, in.conversation), telling: make(chan struct{}, 1)}
	in.questions = &questions{reader: in.reader, servers: in.servers, calls: in.calls, findings: in.findings}
	in.useDesk()
	owner := &wiring{in: in}
	in.inbox = live.NewInbox(owner, in.changes, c.Rate, c.Held)
	owner.Inbox = in.inbox
	in.calls.live = live.NewCalls(in.changes, in.inbox, in.spawn, in.startSession, in.resumeTasks)
	in.servers.live = live.NewServers(live.ServersConfig{
		Targets: in.config.Targets, Settings: c.Settings, Owner: owner, Inbox: in.inbox, Changes: in.changes, Ready: in.resumeTasks, Life: life, Spawn: in.spawn,
		Session: session.Config{Log: c.Log, Conversation: in.conversation, Logger: c.Logger, Version: c.Version, Probe: c.Probe, MaxFrame: c.MaxFrame, NoLists: c.NoLists, Room: c.Room, Traces: c.Traces, Mask: in.signIns.MaskedJSON, Go: in.running.Go},
	})
	in.known, in.connections, in.steering = in.servers.live, in.servers.live, in.calls.live
	in.unwatch = in.signIns.Watch(in.signInChanged)
	return in
}

// Start connects to every server, each in its own goroutine, and returns at once.
func (in *Inspection) Start() {
	if !in.config.JudgeLater {
		in.spawn(func() {
			if err := in.linter.Follow(in.life); err != nil && in.life.Err() == nil {
				in.logger.Error("judging the log", "error", err)
			}
		})
	}
	in.spawn(func() { in.follow(in.life, in.log, tellEvery, func() { _ = in.tellFindings(in.life) }) }) // fails only when life ends
	for _, s := range in.servers.live.All() {
		if err := in.Reconnect(s.ID); err != nil {
			in.logger.Error("connecting", "server", s.Label, "error", err)
		}
	}
}

// Subscribe starts collecting what changes. The caller must Close the subscription.
func (in *reader) Subscribe() *live.Subscription { return in.changes.Subscribe() }

// RecordingChanged tells every subscription that a recording began, ended or failed.
func (in *reader) RecordingChanged() { in.changes.Mark(live.Change{Kind: live.RecordingChanged}) }

// Log returns the log of all frames of this inspection.
func (in *reader) Log() *wire.Log { return in.log }

// Conversation returns the state of calls and questions as read from the log; see its
// Update.
func (in *reader) Conversation() *conversation.Conversation { return in.conversation }

// Time limits of Close: CloseTime for an orderly end, and killedTime for the end of
// killed connections.
const (
	CloseTime  = 10 * time.Second
	killedTime = time.Second
)

// Close ends the inspection: it answers pending questions with cancel, stops calls,
// closes connections and ends processes. It returns when no goroutine of the inspection
// is left.
//
// If ctx ends, and after CloseTime at the latest, Close kills the remaining process
// groups, cuts off other connections, and returns an error within a second. A further
// call waits for the first, and returns the same.
func (in *Inspection) Close(ctx context.Context) error {
	in.closing.Do(func() { in.closeErr = in.close(ctx) })
	return in.closeErr
}

func (in *Inspection) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, CloseTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.mu.Lock()
		in.closed = true
		in.mu.Unlock()
		if err := in.servers.live.Close(ctx); err != nil {
			in.logger.Warn("closing", "error", err)
		}
		in.end()
		in.running.Wait()
		in.unwatch() // no connection needs a token any more
		if in.config.SignIns == nil {
			if err := in.signIns.Close(); err != nil {
				in.logger.Warn("closing", "error", err)
			}
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	return fmt.Errorf("closing the inspection: %w; connections that had to be cut off: %d", ctx.Err(), in.servers.live.Kill(killedTime))
}

// Waits reports whether a request without a response may still get one: neither side has
// cancelled it, and its connection is open.
func (in *Inspection) Waits(seq int64, name string) bool {
	s := in.servers.live.Present(name)
	if s == nil || in.log.Head(seq).Dir == wire.ServerToClient && s.Revision() >= mcp.Revision20260728 {
		return false // requests from the server get no response in that revision
	}
	now := in.read()
	if number := in.conversation.QuestionAt(seq, 1); number != 0 {
		q, err := in.Question(number)
		return err == nil && q.State == conversation.Pending
	}
	place := in.conversation.PlaceOf(seq)
	if place == 0 {
		return true // the request does not belong to a call
	}
	c := now.At(place)
	return c != nil && !c.State.Over()
}

// spawn runs f in a goroutine that Close waits for. It returns false, without running f,
// after the inspection is closed.
func (in *reader) spawn(f func()) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.running.Go(f)
	return true
}

// Now returns the present time, or in a replay the time of the last frame, unless taps append to it.
func (in *reader) Now() time.Time {
	if in.replay != nil && !in.replay.grows {
		return in.recent.View().Now
	}
	return time.Now()
}

// read reads new frames of the log and returns the view of its calls. In a replay only
// [Replay.Refresh] reads.
func (in *reader) read() *live.View {
	if in.replay == nil && in.recent.View().UpTo != in.log.Len() {
		if err := in.recent.Read(context.Background(), false); err != nil && in.life.Err() == nil {
			in.logger.Error("reading the log", "error", err)
		}
	}
	return in.recent.View()
}

// CatchUp reads the frames that the log has by now, and marks what they change.
func (in *reader) CatchUp() { in.read() }

// haveRead makes the inbox forget settled questions that the log has by now, and marks
// the changes for subscribers.
func (in *Inspection) haveRead(now *live.View, changed []live.Change) {
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
	names := in.conversation.Names()
	for label, name := range names {
		if id := in.known.IDOf(label); in.named[label] != name && id != "" {
			changed = append(changed, live.Change{Kind: live.ServerChanged, Server: id})
		}
	}
	in.named = names
	in.changes.Mark(changed...)
}

// tellEvery is the minimum interval between updates of subscribers of a live inspection.
const tellEvery = 10 * time.Millisecond

// follow calls look at once, and then whenever there are more frames in the log or in
// source, or more findings, until ctx ends. Between two calls it pauses for the interval
// every.
func (in *findings) follow(ctx context.Context, source *wire.Log, every time.Duration, look func()) {
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
