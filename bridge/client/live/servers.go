package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
)

// Errors that the methods of Servers return.
var (
	ErrUnknownServer = errors.New("no such server")
	ErrNotReady      = errors.New("the server is not connected")
	ErrClosed        = errors.New("the inspection has ended")
	ErrNotAdded      = errors.New("only a server that was added on the page can be edited or removed there")
)

// Server is a copy of a server's state.
type Server = conversation.ServerStatus

// ServersConfig configures the live servers of an inspection.
type ServersConfig struct {
	Targets  []target.Spec
	Settings conversation.ClientSettings // settings of every server, until the person changes them for one
	Session  session.Config              // settings that all sessions share
	Owner    session.Owner
	Inbox    *Inbox
	Changes  *Feed
	Ready    func(server string) // is called when a server is ready
	Life     context.Context     // ends all connections
	Spawn    func(func()) bool   // runs a goroutine, unless the inspection has ended
}

// Servers are the live servers of an inspection. All methods are safe for concurrent use.
type Servers struct {
	config ServersConfig
	added  atomic.Pointer[[]*liveServer] // replaced by Put

	mu       sync.Mutex
	sessions map[string]*session.Session // open sessions by name
	closed   bool
}

// liveServer is one target with its present connection. The fields below turn are
// guarded by Servers.mu.
type liveServer struct {
	servers    *Servers
	spec       target.Spec
	names      []string                    // in frames: that of spec, and those before it was edited
	configured conversation.ClientSettings // settings of the server at the start of the run

	// turn is held while the server is connected or disconnected.
	turn chan struct{}

	Server
	session *session.Session // nil unless connecting or ready
	latest  *session.Session // the last session, which may have ended; nil before the first
	catalog conversation.Catalog
	attempt int
	queued  bool   // a reconnect waits for the turn, so that further ones are not needed
	anew    string // why the next session is a new one, if the server has ended the one before
}

// NewServers prepares the servers. Nothing is connected before Reconnect.
func NewServers(c ServersConfig) *Servers {
	servers := &Servers{config: c, sessions: map[string]*session.Session{}}
	var list []*liveServer
	for i, spec := range c.Targets {
		list = append(list, servers.newServer(i, spec))
	}
	servers.added.Store(&list)
	return servers
}

// list returns all servers. The caller must not change it.
func (servers *Servers) list() []*liveServer { return *servers.added.Load() }

// Put adds a server after the others, or replaces the added server with this id and takes over its
// calls and settings. No other server has or had its name. Reconnect connects it.
func (servers *Servers) Put(ctx context.Context, id string, spec target.Spec) (string, error) {
	var before *liveServer
	put := func() error {
		servers.mu.Lock()
		defer servers.mu.Unlock()
		if servers.closed {
			return ErrClosed
		}
		if before != nil && before.State == conversation.ServerRemoved { // or replaced, by somebody else meanwhile
			return ErrUnknownServer
		}
		name := spec.Name
		for n := 2; servers.IDOf(spec.Name) != "" && servers.IDOf(spec.Name) != id; n++ {
			spec.Name = fmt.Sprintf("%s %d", name, n)
		}
		spec.Added = true
		list := slices.Clone(servers.list())
		if before == nil {
			list = append(list, servers.newServer(len(list), spec))
			id = list[len(list)-1].ID
		} else {
			fresh := servers.newServer(before.Index, spec)
			fresh.names, fresh.Settings = append(fresh.names, before.names...), before.Settings
			list[before.Index], before.State = fresh, conversation.ServerRemoved
		}
		servers.added.Store(&list)
		return nil
	}
	if id == "" {
		err := put()
		return id, err
	}
	before, err := servers.addedServer(id)
	if err != nil {
		return "", err
	}
	if late := before.disconnect(ctx, conversation.ServerDisconnected, "edited by a person", func() { err = put() }); late != nil {
		return "", late
	}
	return id, err
}

// Remove disconnects a server that was added, and takes it out of All.
func (servers *Servers) Remove(ctx context.Context, id string) error {
	s, err := servers.addedServer(id)
	if err != nil {
		return err
	}
	return s.disconnect(ctx, conversation.ServerRemoved, "removed by a person", nil)
}

func (servers *Servers) addedServer(id string) (*liveServer, error) {
	s, err := servers.find(id)
	if err == nil && !s.Added {
		return nil, ErrNotAdded
	}
	return s, err
}

func (servers *Servers) newServer(index int, spec target.Spec) *liveServer {
	settings := servers.config.Settings
	own, err := conversation.ParseClientSettings(spec.Protocol, spec.Elicitation)
	if err != nil && spec.Problem == nil {
		spec.Problem = fmt.Errorf("%s: server %q: %w", spec.From, spec.Name, err)
	}
	// Settings of the command line come first.
	if settings.Choice == conversation.ChoiceNone && own.Choice != conversation.ChoiceNone {
		settings.Protocol, settings.Choice = own.Protocol, own.Choice
	}
	settings.Elicitation = cmp.Or(settings.Elicitation, own.Elicitation)
	settings.NoTasks, settings.Apps = settings.NoTasks || own.NoTasks, settings.Apps || own.Apps
	return &liveServer{servers: servers, spec: spec, names: []string{spec.Name}, configured: settings, turn: make(chan struct{}, 1), Server: Server{
		ID: fmt.Sprintf("s%d", index+1), Index: index, Label: spec.Name, Address: spec.Address(), Added: spec.Added, Target: spec.Key(), How: spec.How(), Unusable: spec.Problem != nil,
		Since: time.Now(), Settings: settings,
	}}
}

func (servers *Servers) find(id string) (*liveServer, error) {
	for _, s := range servers.list() {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, ErrUnknownServer // the id is internal: nobody wants to read it
}

// Target returns how a server is reached, for further connections to it.
func (servers *Servers) Target(id string) (target.Spec, error) {
	s, err := servers.find(id)
	if err != nil {
		return target.Spec{}, err
	}
	return s.spec, nil
}

func (s *liveServer) view() Server {
	s.servers.mu.Lock()
	out, latest := s.Server, s.latest
	s.servers.mu.Unlock()
	out.How = cmp.Or(out.Info.How, out.How)
	if latest != nil {
		out.Session = latest.Name
		out.Stderr, out.Cause = latest.LastWords()
		if out.State == conversation.ServerConnecting && time.Since(out.Since) >= session.Moment {
			out.Waits = latest.Waits("")
		}
	}
	return out
}

// All returns every server that was not removed, in the order of the configuration.
func (servers *Servers) All() []Server {
	var out []Server
	for _, s := range servers.list() {
		if one := s.view(); one.State != conversation.ServerRemoved {
			out = append(out, one)
		}
	}
	return out
}

// Server returns one server by its id.
func (servers *Servers) Server(id string) (Server, error) {
	s, err := servers.find(id)
	if err != nil {
		return Server{}, err
	}
	return s.view(), nil
}

// IDOf returns the id of the server with this name in frames, "" if there is no such
// server.
func (servers *Servers) IDOf(label string) string {
	for _, s := range servers.list() {
		if slices.Contains(s.names, label) {
			return s.ID
		}
	}
	return ""
}

// Catalog returns the tools, prompts and resources of a server. The lists are shared and
// must not be changed, because they may be very long.
func (servers *Servers) Catalog(id string) (conversation.Catalog, error) {
	s, err := servers.find(id)
	if err != nil {
		return conversation.Catalog{}, err
	}
	servers.mu.Lock()
	defer servers.mu.Unlock()
	return s.catalog, nil
}

// Listed stores a server's catalog, as read on its present session.
func (servers *Servers) Listed(of *session.Session, c conversation.Catalog) {
	servers.mu.Lock()
	list := servers.list()
	i := slices.IndexFunc(list, func(s *liveServer) bool { return s.session == of })
	if i >= 0 {
		list[i].catalog = c
	}
	servers.mu.Unlock()
	if i >= 0 {
		servers.config.Changes.Mark(Change{Kind: CatalogChanged, Server: of.Server})
	}
}

// Session returns the open connection with this name, nil if it is closed.
func (servers *Servers) Session(name string) *session.Session {
	servers.mu.Lock()
	defer servers.mu.Unlock()
	return servers.sessions[name]
}

// Present returns the connection with this name if it is the present connection of a
// server, else nil.
func (servers *Servers) Present(name string) *session.Session {
	servers.mu.Lock()
	defer servers.mu.Unlock()
	for _, s := range servers.list() {
		if s.session != nil && s.session.Name == name {
			return s.session
		}
	}
	return nil
}

// Connection returns the session of a server that is ready, else an error.
func (servers *Servers) Connection(id string) (*session.Session, error) {
	s, err := servers.find(id)
	if err != nil {
		return nil, err
	}
	servers.mu.Lock()
	defer servers.mu.Unlock()
	switch {
	case servers.closed:
		return nil, ErrClosed
	case s.State != conversation.ServerReady || s.session == nil:
		return nil, fmt.Errorf("%w: %s is %s", ErrNotReady, s.Label, s.State)
	}
	return s.session, nil
}

// Close disconnects all servers, and prevents new connections. The error names the
// servers that could not be disconnected before ctx ended.
func (servers *Servers) Close(ctx context.Context) error {
	servers.mu.Lock()
	servers.closed = true
	servers.mu.Unlock()
	list := servers.list()
	errs := make([]error, len(list))
	var ending sync.WaitGroup
	for i, s := range list {
		ending.Go(func() { errs[i] = s.disconnect(ctx, conversation.ServerDisconnected, "the inspector was closed", nil) })
	}
	ending.Wait()
	return errors.Join(errs...)
}

// Kill kills the open connections, waits until they have ended or patience is over, and
// returns how many were open.
func (servers *Servers) Kill(patience time.Duration) int {
	servers.mu.Lock()
	open := slices.Collect(maps.Values(servers.sessions))
	servers.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range open {
		ending.Go(s.Kill)
	}
	ended, end := context.WithTimeout(context.Background(), patience)
	go func() {
		ending.Wait()
		end()
	}()
	<-ended.Done()
	return len(open)
}
