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
	all        *Servers
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
	all := &Servers{config: c, sessions: map[string]*session.Session{}}
	var list []*liveServer
	for i, spec := range c.Targets {
		list = append(list, all.newServer(i, spec))
	}
	all.added.Store(&list)
	return all
}

// list returns all servers. The caller must not change it.
func (all *Servers) list() []*liveServer { return *all.added.Load() }

// Put adds a server after the others, or replaces the added one with this id, whose calls and
// settings it takes over. Its name is one that no other server has or had. It is not
// connected before Reconnect.
func (all *Servers) Put(ctx context.Context, id string, spec target.Spec) (string, error) {
	var before *liveServer
	put := func() error {
		all.mu.Lock()
		defer all.mu.Unlock()
		if all.closed {
			return ErrClosed
		}
		if before != nil && before.State == conversation.ServerRemoved { // or replaced, by somebody else meanwhile
			return ErrUnknownServer
		}
		name := spec.Name
		for n := 2; all.IDOf(spec.Name) != "" && all.IDOf(spec.Name) != id; n++ {
			spec.Name = fmt.Sprintf("%s %d", name, n)
		}
		spec.Added = true
		list := slices.Clone(all.list())
		if before == nil {
			list = append(list, all.newServer(len(list), spec))
			id = list[len(list)-1].ID
		} else {
			fresh := all.newServer(before.Index, spec)
			fresh.names, fresh.Settings = append(fresh.names, before.names...), before.Settings
			list[before.Index], before.State = fresh, conversation.ServerRemoved
		}
		all.added.Store(&list)
		return nil
	}
	if id == "" {
		err := put()
		return id, err
	}
	before, err := all.addedServer(id)
	if err != nil {
		return "", err
	}
	if late := before.disconnect(ctx, conversation.ServerDisconnected, "edited by a person", func() { err = put() }); late != nil {
		return "", late
	}
	return id, err
}

// Remove disconnects a server that was added, and takes it out of All.
func (all *Servers) Remove(ctx context.Context, id string) error {
	s, err := all.addedServer(id)
	if err != nil {
		return err
	}
	return s.disconnect(ctx, conversation.ServerRemoved, "removed by a person", nil)
}

func (all *Servers) addedServer(id string) (*liveServer, error) {
	s, err := all.find(id)
	if err == nil && !s.Added {
		return nil, ErrNotAdded
	}
	return s, err
}

func (all *Servers) newServer(index int, spec target.Spec) *liveServer {
	settings := all.config.Settings
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
	return &liveServer{all: all, spec: spec, names: []string{spec.Name}, configured: settings, turn: make(chan struct{}, 1), Server: Server{
		ID: fmt.Sprintf("s%d", index+1), Index: index, Label: spec.Name, Address: spec.Address(), Added: spec.Added, Target: spec.Key(), How: spec.How(), Unusable: spec.Problem != nil,
		Since: time.Now(), Settings: settings,
	}}
}

func (all *Servers) find(id string) (*liveServer, error) {
	for _, s := range all.list() {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, ErrUnknownServer // the id is internal: nobody wants to read it
}

// Target returns how a server is reached, for further connections to it.
func (all *Servers) Target(id string) (target.Spec, error) {
	s, err := all.find(id)
	if err != nil {
		return target.Spec{}, err
	}
	return s.spec, nil
}

func (s *liveServer) view() Server {
	s.all.mu.Lock()
	out, latest := s.Server, s.latest
	s.all.mu.Unlock()
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
func (all *Servers) All() []Server {
	var out []Server
	for _, s := range all.list() {
		if one := s.view(); one.State != conversation.ServerRemoved {
			out = append(out, one)
		}
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

// IDOf returns the id of the server with this name in frames, "" if there is no such
// server.
func (all *Servers) IDOf(label string) string {
	for _, s := range all.list() {
		if slices.Contains(s.names, label) {
			return s.ID
		}
	}
	return ""
}

// Catalog returns the tools, prompts and resources of a server. The lists are shared and
// must not be changed, because they may be very long.
func (all *Servers) Catalog(id string) (conversation.Catalog, error) {
	s, err := all.find(id)
	if err != nil {
		return conversation.Catalog{}, err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return s.catalog, nil
}

// Listed stores a server's catalog, as read on its present session.
func (all *Servers) Listed(of *session.Session, c conversation.Catalog) {
	all.mu.Lock()
	list := all.list()
	i := slices.IndexFunc(list, func(s *liveServer) bool { return s.session == of })
	if i >= 0 {
		list[i].catalog = c
	}
	all.mu.Unlock()
	if i >= 0 {
		all.config.Changes.Mark(Change{Kind: CatalogChanged, Server: of.Server})
	}
}

// Session returns the open connection with this name, nil if it is closed.
func (all *Servers) Session(name string) *session.Session {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.sessions[name]
}

// Present returns the connection with this name if it is the present connection of a
// server, else nil.
func (all *Servers) Present(name string) *session.Session {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, s := range all.list() {
		if s.session != nil && s.session.Name == name {
			return s.session
		}
	}
	return nil
}

// Connection returns the session of a server that is ready, else an error.
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
	case s.State != conversation.ServerReady || s.session == nil:
		return nil, fmt.Errorf("%w: %s is %s", ErrNotReady, s.Label, s.State)
	}
	return s.session, nil
}

// Close disconnects all servers, and prevents new connections. The error names the
// servers that could not be disconnected before ctx ended.
func (all *Servers) Close(ctx context.Context) error {
	all.mu.Lock()
	all.closed = true
	all.mu.Unlock()
	list := all.list()
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
func (all *Servers) Kill(patience time.Duration) int {
	all.mu.Lock()
	open := slices.Collect(maps.Values(all.sessions))
	all.mu.Unlock()
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
