package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/session"
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

var serverStates = [...]string{"disconnected", "connecting", "ready", "failed", "ended", "recorded"}

func (s ServerState) String() string {
	if s >= 0 && int(s) < len(serverStates) {
		return serverStates[s]
	}
	return fmt.Sprintf("ServerState(%d)", int(s))
}

// server is one target with its present connection. What stands below turn is
// guarded by Inspection.mu.
type server struct {
	in         *Inspection
	id         string
	spec       target.Spec
	configured client.Settings // how it was to be connected when the run began

	// turn is had by whoever connects or disconnects, so that one at a time does.
	turn turn

	Server
	session *session.Session // nil unless connecting or ready
	latest  *session.Session // also when it is gone; nil before the first
	catalog catalog.Catalog
	attempt int
	queued  bool // a reconnect waits for its turn, and does what others want meanwhile
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
	Settings client.Settings
	Info     session.Info
	Policy   inbox.Policy
	Held     int // questions that are held back
	Room     int // how many of those can be shown now
	// TurnedAway is how many questions were refused because too many wait.
	TurnedAway int
	Findings   map[lint.Severity]int
}

func newServer(in *Inspection, index int, spec target.Spec, settings client.Settings) *server {
	own, err := client.ParseSettings(spec.Protocol, spec.Elicitation)
	if err != nil && spec.Problem == nil {
		spec.Problem = fmt.Errorf("%s: server %q: %w", spec.From, spec.Name, err)
	}
	// What is set already, on the command line, comes first.
	if settings.Choice == client.ChoiceNone && own.Choice != client.ChoiceNone {
		settings.Protocol, settings.Choice = own.Protocol, own.Choice
	}
	settings.Elicitation = cmp.Or(settings.Elicitation, own.Elicitation)
	id := fmt.Sprintf("s%d", index+1)
	return &server{in: in, id: id, spec: spec, configured: settings, turn: newTurn(), Server: Server{
		ID: id, Index: index, Label: spec.Name, Address: spec.Address(), Target: spec.Key(), How: spec.How(),
		Since: time.Now(), Settings: settings,
	}}
}

// view is a copy for readers.
func (s *server) view() Server {
	s.in.mu.Lock()
	out, latest := s.Server, s.latest
	s.in.mu.Unlock()
	out.Findings = s.in.severities(s.spec.Name)
	out.How = cmp.Or(out.Info.How, out.How)
	if latest != nil {
		out.Stderr = latest.LastWords()
	}
	counts := s.in.inbox.Counts(s.id)
	out.Policy, out.Held, out.Room, out.TurnedAway = counts.Policy, counts.Held, counts.Room, counts.TurnedAway
	return out
}

// Servers returns every server, in the order of the configuration.
func (in *Inspection) Servers() []Server {
	if in.replay != nil {
		return in.recordedServers()
	}
	out := make([]Server, len(in.servers))
	for i, s := range in.servers {
		out[i] = s.view()
	}
	return out
}

// Server returns one server by its id.
func (in *Inspection) Server(id string) (Server, error) {
	if in.replay != nil {
		s, err := in.shown.Load().server(id)
		if err != nil {
			return Server{}, err
		}
		out := s.Server
		out.Findings = in.severities(s.Label)
		return out, nil
	}
	s, err := in.server(id)
	if err != nil {
		return Server{}, err
	}
	return s.view(), nil
}

// update changes a server's state.
func (s *server) update(change func()) {
	s.in.mu.Lock()
	change()
	s.in.mu.Unlock()
	s.in.changes.Mark(changes.Change{Kind: changes.Server, Server: s.id})
}

// enter changes the state, within update.
func (s *server) enter(state ServerState, reason string) {
	s.State, s.Reason, s.Since = state, reason, time.Now()
}

// leave ends the present state, if it is of this session. It reports whether it is.
func (s *server) leave(of *session.Session, state ServerState, reason string) (current bool) {
	s.update(func() {
		if current = s.session == of; current {
			s.session = nil
			s.enter(state, reason)
		}
	})
	return current
}

// Reconnect ends a server's connection, if it has one, and connects anew. It
// returns before the connection stands; the server's state tells how it goes.
func (in *Inspection) Reconnect(id string) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	in.mu.Lock()
	queued := s.queued
	s.queued = true
	in.mu.Unlock()
	if !queued && !in.spawn(s.connect) {
		return ErrClosed
	}
	return nil
}

// ReconnectWith is Reconnect under other settings.
func (in *Inspection) ReconnectWith(id string, settings client.Settings) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	s.update(func() { s.Settings = settings })
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

// disconnect ends the connection. It fails where it has to wait for its turn
// until ctx ends.
func (s *server) disconnect(ctx context.Context, reason string) error {
	s.interrupt(ctx, reason)
	select {
	case s.turn <- struct{}{}:
		defer s.turn.give()
	case <-ctx.Done():
		return fmt.Errorf("ending the connection to %s: %w", s.spec.Name, ctx.Err())
	}
	s.hangUp(ctx, reason)
	return nil
}

// interrupt closes the present session, also under the hands of a connect that
// has the turn.
func (s *server) interrupt(ctx context.Context, reason string) {
	s.in.mu.Lock()
	current := s.session
	s.in.mu.Unlock()
	if current != nil {
		s.in.closeSession(ctx, current, reason)
	}
}

// hangUp leaves the server without a session. The caller has the turn.
func (s *server) hangUp(ctx context.Context, reason string) {
	s.interrupt(ctx, reason)
	s.update(func() {
		s.session = nil
		if s.State != Disconnected {
			s.enter(Disconnected, reason)
		}
	})
}

// connect makes a new connection and, once it is ready, reads what the server
// offers. It returns when the server is ready or has failed.
func (s *server) connect() {
	ctx, cancel := context.WithTimeout(context.Background(), session.EndTime)
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
	ctx, cancel = context.WithTimeout(context.Background(), session.EndTime)
	s.hangUp(ctx, "reconnecting")
	cancel()

	if s.spec.Problem != nil { // its file describes it wrongly
		s.update(func() { s.enter(Failed, s.spec.Problem.Error()) })
		s.in.logger.Warn("the server cannot be used", "server", s.spec.Name, "reason", s.spec.Problem)
		return
	}
	fresh := s.begin()
	if fresh == nil {
		return
	}
	info, err := fresh.Connect()
	if err != nil {
		s.failed(fresh, err)
		return
	}
	current := false
	s.update(func() {
		if current = s.session == fresh; current {
			s.Info = info
			s.enter(Ready, "")
		}
	})
	if current {
		s.in.running.Go(func() { s.watch(fresh) })
		s.in.running.Go(fresh.FollowCatalog)
	}
}

// begin gives the server a new session, or returns nil once the inspection is
// closed. The caller has the turn.
func (s *server) begin() *session.Session {
	fresh := s.in.newSession(s, s.Settings, "")
	if fresh == nil {
		return nil
	}
	s.in.inbox.Connected(s.id)
	s.update(func() {
		s.session, s.latest, s.Info = fresh, fresh, session.Info{}
		s.catalog = catalog.Catalog{Server: s.id, Loading: true}
		s.enter(Connecting, "")
	})
	s.in.changes.Mark(changes.Change{Kind: changes.Catalog, Server: s.id})
	return fresh
}

// newSession prepares a session with a server, or returns nil once the inspection is
// closed. close ends it.
func (in *Inspection) newSession(s *server, settings client.Settings, suffix string) *session.Session {
	in.mu.Lock()
	s.attempt++
	name := fmt.Sprintf("%s-%d-%d%s", s.id, time.Now().UnixMilli(), s.attempt, suffix)
	in.mu.Unlock()
	fresh := session.New(in.life, session.Config{
		Server: s.id, Name: name, Spec: s.spec, Settings: settings, Log: in.log, Logger: in.logger, Version: in.config.Version,
		Probe: in.config.Probe, MaxFrame: in.config.MaxFrame, Go: in.running.Go,
	}, wiring{in})
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return nil
	}
	in.sessions[name] = fresh
	return fresh
}

// closeSession closes a session, and forgets it.
func (in *Inspection) closeSession(ctx context.Context, s *session.Session, reason string) {
	s.Close(ctx, reason)
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.sessions, s.Name)
}

// failed ends a session that could not be made.
func (s *server) failed(of *session.Session, err error) {
	reason := err.Error()
	if errors.Is(err, context.Canceled) {
		reason = "the connection was given up"
	}
	ctx, cancel := context.WithTimeout(context.Background(), session.EndTime)
	s.in.closeSession(ctx, of, reason)
	cancel()
	reason = of.Explain(reason)
	s.update(func() { s.catalog.Loading = false })
	s.in.changes.Mark(changes.Change{Kind: changes.Catalog, Server: s.id})
	if s.leave(of, Failed, reason) {
		s.in.logger.Warn("the server cannot be used", "server", s.spec.Name, "reason", reason)
	}
}

// watch waits for the end of a ready connection.
func (s *server) watch(of *session.Session) {
	reason, byItself := of.Wait()
	if !byItself {
		return
	}
	of.Release(true, reason)
	if s.leave(of, Ended, reason) {
		s.in.logger.Warn("the server has ended", "server", s.spec.Name, "reason", reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), session.EndTime)
	defer cancel()
	s.in.closeSession(ctx, of, reason)
}

// Catalog returns what a server offers. The lists are shared and must not be
// changed: there may be very many items.
func (in *Inspection) Catalog(id string) (catalog.Catalog, error) {
	if in.replay != nil {
		s, err := in.shown.Load().server(id)
		if err != nil {
			return catalog.Catalog{}, err
		}
		return *s.catalog, nil
	}
	s, err := in.server(id)
	if err != nil {
		return catalog.Catalog{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return s.catalog, nil
}

// Item returns one thing that a server offers.
func (in *Inspection) Item(id string, kind catalog.Kind, key string) (catalog.Item, error) {
	all, err := in.Catalog(id)
	if err != nil {
		return catalog.Item{}, err
	}
	for _, item := range all.Items {
		if item.Kind == kind && item.Key == key {
			return item, nil
		}
	}
	return catalog.Item{}, fmt.Errorf("%w: %s %q", ErrUnknownItem, kind, key)
}
