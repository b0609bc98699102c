package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/target"
)

// ServerState is where a connection stands.
type ServerState int

// The states of a server.
const (
	Disconnected ServerState = iota
	Connecting
	Ready
	Failed   // it could not be reached or started
	Ended    // it was ready, and is gone
	Recorded // it is known from a transcript
)

func (s ServerState) String() string {
	switch s {
	case Disconnected:
		return "disconnected"
	case Connecting:
		return "connecting"
	case Ready:
		return "ready"
	case Failed:
		return "failed"
	case Ended:
		return "ended"
	case Recorded:
		return "recorded"
	default:
		return fmt.Sprintf("ServerState(%d)", int(s))
	}
}

// A failure is explained with the last lines of stderr, each cut to some bytes.
const (
	stderrKept     = 20
	stderrLineMost = 1000
)

// server is one target with its present connection. Everything below spec is
// guarded by Inspection.mu.
type server struct {
	in    *Inspection
	id    string
	index int
	spec  target.Spec

	// turn is had by whoever connects or disconnects, so that one at a time does.
	turn turn

	// configured is how the server was to be connected when the run began. It never changes.
	configured Settings

	settings Settings
	state    ServerState
	since    time.Time
	reason   string
	stderr   []string
	session  *session // nil unless connecting or ready
	info     ServerInfo
	catalog  Catalog
	attempt  int
	queued   bool // a reconnect waits for its turn, and does what others want meanwhile
	policy   Policy
	findings map[lint.Severity]int
	shown    []time.Time // when its questions of the last minute were put on show

	shownNow, heldNow int // its questions that wait, on show and held back
	turnedAway        int // those that were refused because too many wait
}

// ServerInfo is what a server said of itself.
type ServerInfo struct {
	Name, Title, Version string
	Protocol             string // negotiated revision
	Negotiated           string // how, in words
	Instructions         string
	Capabilities         []string
	How                  string // how it was really reached
}

// Server is a copy of a server's state for readers.
type Server struct {
	ID       string
	Index    int
	Label    string
	Address  string
	Target   string // see [target.Spec.Key]
	How      string
	State    ServerState
	Since    time.Time
	Reason   string
	Stderr   []string
	Settings Settings
	Info     ServerInfo
	Policy   Policy
	Held     int // questions that are held back
	Room     int // how many of those can be shown now
	// TurnedAway is how many questions were refused because too many wait.
	TurnedAway int
	Findings   map[lint.Severity]int
}

func newServer(in *Inspection, index int, spec target.Spec, settings Settings) *server {
	settings, err := settings.with(spec)
	if spec.Problem == nil {
		spec.Problem = err
	}
	return &server{
		in: in, id: fmt.Sprintf("s%d", index+1), index: index, spec: spec,
		configured: settings, settings: settings, since: now(), policy: PolicyAsk, turn: newTurn(),
		findings: map[lint.Severity]int{},
	}
}

func (s *server) snapshot() Server {
	out := Server{
		ID: s.id, Index: s.index, Label: s.spec.Name, Address: s.spec.Address(), Target: s.spec.Key(), How: s.spec.How(),
		State: s.state, Since: s.since, Reason: s.reason, Stderr: slices.Clone(s.stderr),
		Settings: s.settings, Info: s.info, Policy: s.policy, Held: s.heldNow, TurnedAway: s.turnedAway, Room: max(ShownMost-s.shownNow, 0),
		Findings: maps.Clone(s.findings),
	}
	if s.info.How != "" || s.state == Recorded {
		out.How = s.info.How
	}
	return out
}

// label is what the server is called in the wire log.
func (s *server) label() string { return s.spec.Name }

// Servers returns every server, in the order of the configuration.
func (in *Inspection) Servers() []Server {
	if in.replay != nil {
		return in.replay.shown.Load().all()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	out := make([]Server, len(in.servers))
	for i, s := range in.servers {
		out[i] = s.snapshot()
	}
	return out
}

// Server returns one server by its id.
func (in *Inspection) Server(id string) (Server, error) {
	if in.replay != nil {
		s, err := in.replay.shown.Load().server(id)
		if err != nil {
			return Server{}, err
		}
		return s.Server, nil
	}
	s, err := in.server(id)
	if err != nil {
		return Server{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return s.snapshot(), nil
}

// enter changes the state. The caller holds in.mu.
func (s *server) enter(state ServerState, reason string) {
	s.state, s.reason, s.since = state, reason, now()
	s.in.changed(Change{Kind: ServerChanged, Server: s.id})
}

// Reconnect ends a server's connection, if it has one, and connects anew. It
// returns before the connection stands; the server's state tells how it goes.
func (in *Inspection) Reconnect(id string) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrClosed
	}
	if !s.queued {
		s.queued = true
		in.running.Go(s.connect)
	}
	return nil
}

// ReconnectWith is Reconnect under other settings.
func (in *Inspection) ReconnectWith(id string, settings Settings) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	in.mu.Lock()
	s.settings = settings
	in.changed(Change{Kind: ServerChanged, Server: s.id})
	in.mu.Unlock()
	return in.Reconnect(id)
}

// Disconnect ends a server's connection in an orderly way.
func (in *Inspection) Disconnect(ctx context.Context, id string) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	return s.disconnect(ctx, "disconnected by you")
}

// endTime bounds the orderly end of a connection, killing included.
const endTime = 15 * time.Second

// disconnect ends the connection. It fails where it has to wait for its turn
// until ctx ends.
func (s *server) disconnect(ctx context.Context, reason string) error {
	s.interrupt(ctx, reason)
	select {
	case s.turn <- struct{}{}:
		defer s.turn.give()
	case <-ctx.Done():
		return fmt.Errorf("ending the connection to %s: %w", s.label(), ctx.Err())
	}
	s.hangUp(ctx, reason)
	return nil
}

// interrupt closes the present session, also under the hands of a connect that
// has the turn.
func (s *server) interrupt(ctx context.Context, reason string) {
	s.in.mu.Lock()
	session := s.session
	s.in.mu.Unlock()
	if session != nil {
		session.close(ctx, reason)
	}
}

// hangUp leaves the server without a session. The caller has the turn.
func (s *server) hangUp(ctx context.Context, reason string) {
	s.interrupt(ctx, reason)
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.session = nil
	if s.state != Disconnected {
		s.enter(Disconnected, reason)
	}
}

// connect makes a new connection and, once it is ready, reads what the server
// offers. It returns when the server is ready or has failed.
func (s *server) connect() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.in.life), endTime)
	s.interrupt(ctx, "reconnecting")
	cancel()
	select {
	case s.turn <- struct{}{}:
		defer s.turn.give()
	case <-s.in.life.Done():
		return
	}
	s.in.mu.Lock()
	s.queued = false
	s.in.mu.Unlock()
	ctx, cancel = context.WithTimeout(context.WithoutCancel(s.in.life), endTime)
	s.hangUp(ctx, "reconnecting")
	cancel()

	if s.misconfigured() {
		return
	}
	session := s.begin()
	if session == nil {
		return
	}
	if err := session.connect(); err != nil {
		s.failed(session, explain(err))
		return
	}
	info := session.info()
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.session != session {
		return
	}
	s.info = info
	s.enter(Ready, "")
	s.in.running.Go(session.watch)
	s.in.running.Go(session.loadCatalog)
}

// begin gives the server a new session, or returns nil once the inspection is
// closed. The caller has the turn.
func (s *server) begin() *session {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.in.closed {
		return nil
	}
	s.attempt++
	session := newSession(s, s.attempt, s.settings)
	s.session = session
	s.info, s.stderr, s.shown = ServerInfo{}, nil, nil
	s.catalog = Catalog{Server: s.id, Loading: true}
	s.enter(Connecting, "")
	s.in.changed(Change{Kind: CatalogChanged, Server: s.id})
	return session
}

// failed ends a session that could not be made.
func (s *server) failed(session *session, reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	session.close(ctx, reason)
	cancel()
	if exit := session.exit(); exit != "" && !strings.Contains(reason, exit) && !session.answeredAll() {
		if session.onlyProbed() {
			reason = exit + " when it was asked " + methodDiscover + ", before the connection stood"
		} else {
			reason = exit + " before the connection stood (" + reason + ")"
		}
	}
	s.in.mu.Lock()
	s.catalog.Loading = false
	s.in.changed(Change{Kind: CatalogChanged, Server: s.id})
	current := s.session == session
	if current {
		s.session = nil
		s.enter(Failed, reason)
	}
	s.in.mu.Unlock()
	if current {
		s.in.logger.Warn("the server cannot be used", "server", s.label(), "reason", reason)
	}
}

// misconfigured makes a server a failed one that its file describes wrongly, and
// reports whether it does.
func (s *server) misconfigured() bool {
	if s.spec.Problem == nil {
		return false
	}
	reason := s.spec.Problem.Error()
	s.in.mu.Lock()
	s.enter(Failed, reason)
	s.in.mu.Unlock()
	s.in.logger.Warn("the server cannot be used", "server", s.label(), "reason", reason)
	return true
}

// ended is called once a ready connection is gone.
func (s *server) ended(session *session, reason string) {
	s.in.mu.Lock()
	current := s.session == session
	if current {
		s.session = nil
		s.enter(Ended, reason)
	}
	s.in.mu.Unlock()
	if !current {
		return
	}
	s.in.logger.Warn("the server has ended", "server", s.label(), "reason", reason)
}

// explain puts an error of connecting into the words that a person needs.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the connection was given up"
	}
	return err.Error()
}
