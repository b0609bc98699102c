package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/elicit"
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

	// turn is held by whoever connects or disconnects, so that one at a time does.
	turn sync.Mutex

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
	policy   Policy
	findings map[elicit.Severity]int
	shown    []time.Time // when its questions of the last minute were put on show
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
	Held     int // questions that are held back by the rate limit
	Findings map[elicit.Severity]int
}

func newServer(in *Inspection, index int, spec target.Spec, settings Settings) *server {
	settings, err := settings.with(spec)
	if spec.Problem == nil {
		spec.Problem = err
	}
	return &server{
		in: in, id: fmt.Sprintf("s%d", index+1), index: index, spec: spec,
		configured: settings, settings: settings, since: now(), policy: PolicyAsk,
		findings: map[elicit.Severity]int{},
	}
}

func (s *server) snapshot() Server {
	out := Server{
		ID: s.id, Index: s.index, Label: s.spec.Name, Address: s.spec.Address(), Target: s.spec.Key(), How: s.spec.How(),
		State: s.state, Since: s.since, Reason: s.reason, Stderr: slices.Clone(s.stderr),
		Settings: s.settings, Info: s.info, Policy: s.policy, Held: len(s.in.held(s)),
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
	if !in.spawn(func() { s.connect() }) {
		return ErrClosed
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
	s.disconnect(ctx, "disconnected by you")
	return nil
}

// endTime bounds the orderly end of a connection, killing included.
const endTime = 15 * time.Second

func (s *server) disconnect(ctx context.Context, reason string) {
	s.in.mu.Lock()
	session := s.session
	s.in.mu.Unlock()
	if session != nil {
		session.close(ctx, reason) // also interrupts a connect that has the turn
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.in.mu.Lock()
	session = s.session
	s.in.mu.Unlock()
	if session != nil {
		session.close(ctx, reason)
	}
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
	defer cancel()
	s.disconnect(ctx, "reconnecting")

	s.turn.Lock()
	defer s.turn.Unlock()
	s.in.mu.Lock()
	if s.in.closed || s.misconfigured() {
		s.in.mu.Unlock()
		return
	}
	s.attempt++
	session := newSession(s, s.attempt, s.settings)
	s.session = session
	s.info, s.stderr, s.shown = ServerInfo{}, nil, nil
	s.catalog = Catalog{Server: s.id, Loading: true}
	s.enter(Connecting, "")
	s.in.changed(Change{Kind: CatalogChanged, Server: s.id})
	s.in.mu.Unlock()

	if err := session.connect(); err != nil {
		reason := explain(err)
		closing, cancel := context.WithTimeout(context.Background(), endTime)
		session.close(closing, reason)
		cancel()
		s.in.mu.Lock()
		defer s.in.mu.Unlock()
		if exit := session.exit(); exit != "" && !strings.Contains(reason, exit) {
			if session.onlyProbed() {
				reason = exit + " when it was asked " + methodDiscover + ", before the connection stood"
			} else {
				reason = exit + " before the connection stood (" + reason + ")"
			}
		}
		s.catalog.Loading = false
		s.in.changed(Change{Kind: CatalogChanged, Server: s.id})
		if s.session == session {
			s.session = nil
			s.enter(Failed, reason)
			s.in.logger.Warn("the server cannot be used", "server", s.label(), "reason", reason)
		}
		return
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.session != session {
		return
	}
	s.info = session.info()
	s.enter(Ready, "")
	s.in.running.Go(session.watch)
	s.in.running.Go(session.loadCatalog)
}

// misconfigured makes a server a failed one that its file describes wrongly, and
// reports whether it does. The caller holds in.mu.
func (s *server) misconfigured() bool {
	if s.spec.Problem == nil {
		return false
	}
	s.enter(Failed, s.spec.Problem.Error())
	s.in.logger.Warn("the server cannot be used", "server", s.label(), "reason", s.reason)
	return true
}

// ended is called once a ready connection is gone.
func (s *server) ended(session *session, reason string) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.session != session {
		return
	}
	s.session = nil
	s.enter(Ended, reason)
	s.in.logger.Warn("the server has ended", "server", s.label(), "reason", reason)
}

// explain puts an error of connecting into the words that a person needs.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "the connection was given up"
	}
	return err.Error()
}
