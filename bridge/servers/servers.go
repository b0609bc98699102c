// Package servers keeps the servers of an inspection: how each is reached, in what
// state it is, and what it offers. Live ones are connected, connected anew and
// disconnected here, one attempt at a time; recorded ones are read from a transcript.
package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/target"
)

// State is where a connection stands.
type State int

// The states of a server.
const (
	Disconnected State = iota
	Connecting
	Ready
	Failed   // it could not be reached or started
	Ended    // it was ready, and is gone
	Recorded // it is known from a transcript
)

var states = [...]string{"disconnected", "connecting", "ready", "failed", "ended", "recorded"}

func (s State) String() string {
	if s >= 0 && int(s) < len(states) {
		return states[s]
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Errors that the methods of Servers return.
var (
	ErrUnknown  = errors.New("no such server")
	ErrNotReady = errors.New("the server is not connected")
	ErrClosed   = errors.New("the inspection has ended")
)

// Server is a copy of a server's state for readers.
type Server struct {
	ID       string
	Index    int
	Label    string // its name in frames
	Address  string
	Target   string // see [target.Spec.Key]
	How      string
	State    State
	Since    time.Time
	Reason   string
	Session  string // the latest connection, as frames name it; "" before the first
	Stderr   []string
	Settings client.Settings
	Info     session.Info
}

// Owner is told what happens on the connections.
type Owner interface {
	session.Owner
	// Connecting is called when a server is about to be connected.
	Connecting(server string)
}

// Config says what to connect to, and on whose behalf.
type Config struct {
	Targets  []target.Spec
	Settings client.Settings // of every server, until the person changes those of one
	Session  session.Config  // what all sessions have in common
	Owner    Owner
	Changes  *changes.Feed
	Life     context.Context   // of all connections
	Spawn    func(func()) bool // runs a goroutine, unless the inspection has ended
}

// Servers are the live servers of an inspection. All methods are safe for concurrent use.
type Servers struct {
	config Config
	list   []*server // the same for the whole run

	mu       sync.Mutex
	sessions map[string]*session.Session // those that are not closed, by name
	closed   bool
}

// server is one target with its present connection. The fields below turn are
// guarded by Servers.mu.
type server struct {
	all        *Servers
	spec       target.Spec
	configured client.Settings // how it was to be connected when the run began

	// turn is held while the server is connected or disconnected.
	turn chan struct{}

	Server
	session *session.Session // nil unless connecting or ready
	latest  *session.Session // also when it is gone; nil before the first
	catalog catalog.Catalog
	attempt int
	queued  bool // a reconnect waits for the turn, so that further ones need not
}

// New prepares the servers. Nothing is connected before Reconnect.
func New(c Config) *Servers {
	all := &Servers{config: c, sessions: map[string]*session.Session{}}
	for i, spec := range c.Targets {
		all.list = append(all.list, all.newServer(i, spec))
	}
	return all
}

func (all *Servers) newServer(index int, spec target.Spec) *server {
	settings := all.config.Settings
	own, err := client.ParseSettings(spec.Protocol, spec.Elicitation)
	if err != nil && spec.Problem == nil {
		spec.Problem = fmt.Errorf("%s: server %q: %w", spec.From, spec.Name, err)
	}
	// What is set already, on the command line, comes first.
	if settings.Choice == client.ChoiceNone && own.Choice != client.ChoiceNone {
		settings.Protocol, settings.Choice = own.Protocol, own.Choice
	}
	settings.Elicitation = cmp.Or(settings.Elicitation, own.Elicitation)
	return &server{all: all, spec: spec, configured: settings, turn: make(chan struct{}, 1), Server: Server{
		ID: fmt.Sprintf("s%d", index+1), Index: index, Label: spec.Name, Address: spec.Address(), Target: spec.Key(), How: spec.How(),
		Since: time.Now(), Settings: settings,
	}}
}

func (all *Servers) find(id string) (*server, error) {
	for _, s := range all.list {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
}

// view is a copy for readers.
func (s *server) view() Server {
	s.all.mu.Lock()
	out, latest := s.Server, s.latest
	s.all.mu.Unlock()
	out.How = cmp.Or(out.Info.How, out.How)
	if latest != nil {
		out.Session, out.Stderr = latest.Name, latest.LastWords()
	}
	return out
}

// All returns every server, in the order of the configuration.
func (all *Servers) All() []Server {
	out := make([]Server, len(all.list))
	for i, s := range all.list {
		out[i] = s.view()
	}
	return out
}

// Server returns one server by its id.
func (all *Servers) Server(id string) (Server, error) {
	s, err := all.find(id)
	if err != nil {
		return Server{}, err
	}
	return s.view(), nil
}

// IDOf returns the id of the server that frames name so, "" if there is none.
func (all *Servers) IDOf(label string) string {
	for _, s := range all.list {
		if s.spec.Name == label {
			return s.ID
		}
	}
	return ""
}

// Catalog returns what a server offers. The lists are shared and must not be
// changed: there may be very many items.
func (all *Servers) Catalog(id string) (catalog.Catalog, error) {
	s, err := all.find(id)
	if err != nil {
		return catalog.Catalog{}, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return s.catalog, nil
}

// Listed keeps what a server offers, as read on its present session.
func (all *Servers) Listed(of *session.Session, c catalog.Catalog) {
	all.mu.Lock()
	i := slices.IndexFunc(all.list, func(s *server) bool { return s.session == of })
	if i >= 0 {
		all.list[i].catalog = c
	}
	all.mu.Unlock()
	if i >= 0 {
		all.config.Changes.Mark(changes.Change{Kind: changes.Catalog, Server: of.Server})
	}
}

// Session returns the connection with that name, nil if it is closed.
func (all *Servers) Session(name string) *session.Session {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.sessions[name]
}

// Present returns the connection with that name if it is the present one of a server,
// else nil.
func (all *Servers) Present(name string) *session.Session {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, s := range all.list {
		if s.session != nil && s.session.Name == name {
			return s.session
		}
	}
	return nil
}

// Connection returns the session with a server that is ready.
func (all *Servers) Connection(id string) (*session.Session, error) {
	s, err := all.find(id)
	if err != nil {
		return nil, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case all.closed:
		return nil, ErrClosed
	case s.State != Ready || s.session == nil:
		return nil, fmt.Errorf("%w: %s is %s", ErrNotReady, s.Label, s.State)
	}
	return s.session, nil
}

// Close disconnects all servers, and lets none be connected any more. The error says
// which could not be disconnected before ctx ended.
func (all *Servers) Close(ctx context.Context) error {
	all.mu.Lock()
	all.closed = true
	all.mu.Unlock()
	errs := make([]error, len(all.list))
	var ending sync.WaitGroup
	for i, s := range all.list {
		ending.Go(func() { errs[i] = s.disconnect(ctx, "the inspector was closed") })
	}
	ending.Wait()
	return errors.Join(errs...)
}

// Kill ends the connections that are left without any patience. It waits for their
// end, but no longer than patience, and returns how many there were.
func (all *Servers) Kill(patience time.Duration) int {
	all.mu.Lock()
	open := slices.Collect(maps.Values(all.sessions))
	all.mu.Unlock()
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
	case <-time.After(patience):
	}
	return len(open)
}
