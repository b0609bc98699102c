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

	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Config says what an inspection connects to and how it presents itself.
type Config struct {
	Targets []target.Spec
	Log     *wire.Log
	Logger  *slog.Logger
	// Settings hold for every server until the person changes them for one.
	Settings Settings
	// Rate is how many questions a minute one server may put on show; further
	// ones are held back until the person wants to see them. 0 means no limit.
	Rate int
	// Probe is how long server/discover may go unanswered before initialize is
	// tried; 0 means DefaultProbe.
	Probe time.Duration
	// CallTimeout is how long a call may take that does not say otherwise,
	// without the time that its questions wait for a person. 0 means no limit.
	CallTimeout time.Duration
	// Version is the inspector's own version, sent as clientInfo.version.
	Version string
	// MaxFrame is the size in bytes past which a message is cut; 0 means the
	// target package's default.
	MaxFrame int64
}

// Inspection is one run of the inspector: it owns the connections and all that
// happened on them. Its methods are safe for concurrent use.
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

	linter  *findings.Linter // of a live inspection
	passing chan struct{}    // held by the one that takes over what the linter finds
	passed  int              // findings that were taken over; by the one that holds passing
	closing atomic.Bool      // Close was called
	links   links            // those that are open

	mu        sync.Mutex
	servers   []*server
	calls     []*call     // by number; nil for those that are not kept
	ended     []*call     // those that have ended, in the order of their end; not of a replay
	questions []*question // likewise
	pending   []*question // those that are not settled, in order
	settled   []*question // those that are, in the order of their end
	faded     []int       // numbers of those settled long ago, in the same order
	found     []Found
	foundAt   map[int64][]int       // indexes into found, by frame
	askedBy   map[int64][]*question // by the frame that asked
	over      map[int64]bool        // frames of requests that will have no response any more
	subs      map[*Subscription]struct{}
	noting    noting
	closed    bool
}

// New prepares an inspection of all targets. Nothing is started before [Inspection.Start].
func New(c Config) *Inspection {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	in := &Inspection{
		config: c, log: c.Log, logger: c.Logger,
		life: life, end: end,
		linter: findings.New(c.Log), passing: make(chan struct{}, 1),
		subs: map[*Subscription]struct{}{}, over: map[int64]bool{},
		foundAt: map[int64][]int{}, askedBy: map[int64][]*question{},
	}
	for i, spec := range c.Targets {
		in.servers = append(in.servers, newServer(in, i, spec, c.Settings))
	}
	return in
}

// Start connects to every server, each in its own goroutine, and returns at once.
func (in *Inspection) Start() {
	in.spawn(func() { in.lint(in.life) })
	for _, s := range in.servers {
		if err := in.Reconnect(s.id); err != nil {
			in.logger.Error("connecting", "server", s.spec.Name, "error", err)
		}
	}
}

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
// connections, and returns an error within a second. It takes no lock by itself
// that anything else could hold on to.
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
	cut := in.links.kill(killedTime)
	return fmt.Errorf("closing the inspection: %w; connections that had to be cut off: %d", ctx.Err(), cut)
}

// close is Close without a bound.
func (in *Inspection) close(ctx context.Context) {
	in.mu.Lock()
	in.closed = true
	servers := in.servers
	in.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range servers {
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

// Waits reports whether a request without a response may still get one: neither
// side has taken it back, and the connection that carried it stands.
func (in *Inspection) Waits(seq int64, session string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.over[seq] {
		return false
	}
	for _, s := range in.servers {
		if s.session != nil && s.session.name == session {
			return true
		}
	}
	return false
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
	ErrUnknownCall     = errors.New("no such call")
	ErrForgottenCall   = errors.New("only the frames are left of call")
	ErrUnknownQuestion = errors.New("no such question")
	ErrNotReady        = errors.New("the server is not connected")
	ErrClosed          = errors.New("the inspection has ended")
)

func (in *Inspection) server(id string) (*server, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
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
		return in.replay.shown.Load().now
	}
	return now()
}

// now is the wall clock with the precision that the page shows.
func now() time.Time { return time.Now() }
