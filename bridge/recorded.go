package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

// recorded is what a log says of the servers in it: how they were reached, what
// they said of themselves and what they offered; and what its notes say.
type recorded struct {
	in  *Inspection
	log *wire.Log

	greetings, lists, notes trail

	known    int // connections of the log that were looked at
	sessions map[conn]*session
	further  *session                   // of all servers past serversMost
	exits    map[string]exit            // by session: the end of its process
	items    map[string]map[string]page // by server id and method
	rooms    map[listOf]*listRoom       // for more of them
	answers  map[place]answered
	ends     map[recordedCall]end
}

// conn names a connection.
type conn struct{ server, session string }

// exit is the note that a process has ended.
type exit struct {
	seq  int64
	at   time.Time
	text string
}

// page is what is known of one list of a server.
type page struct {
	items    []Item
	problems []string
}

// listOf names one list of a server.
type listOf struct{ server, method string }

// recordedCall is a call by the number that it was recorded with.
type recordedCall struct {
	session string
	number  int
}

// place is where a question stands, and answered is the note that says how it
// was answered.
type place struct {
	recordedCall
	round   int
	pointer string
}

type answered struct {
	wire.Note
	seq   int64
	actor Actor
}

// end is the note that says how a call ended without a response.
type end struct {
	wire.Note
	seq int64
}

// trail reads the frames that a filter picks, as they come.
type trail struct {
	view *query.View
	read int64
	most int64 // of many frames at once, the latest
}

func newTrail(l *wire.Log, filter string, most int64) trail {
	return trail{view: query.NewView(l, query.MustParse(filter), nil), most: most}
}

// next lists the frames that are new.
func (t *trail) next(ctx context.Context) ([]int64, error) {
	if err := t.view.Update(ctx); err != nil {
		return nil, err
	}
	all := t.view.Len()
	from := max(t.read, all-t.most)
	t.read = all
	return t.view.Seqs(from, int(all-from)), nil
}

// How many greetings, lists and notes are read at once at most.
const (
	greetingsMost = 2000
	listsMost     = 200
	notesMost     = 5000
	itemsMost     = 10_000 // of one list
)

func newRecorded(in *Inspection, l *wire.Log) *recorded {
	return &recorded{
		in: in, log: l,
		greetings: newTrail(l, "kind:message method:"+methodInit+","+methodDiscover, greetingsMost),
		lists: newTrail(l, "kind:result dir:in method:"+
			strings.Join([]string{methodTools, methodPrompts, methodResources, methodTemplates}, ","), listsMost),
		notes:    newTrail(l, "dir:meta", notesMost),
		sessions: map[conn]*session{}, exits: map[string]exit{},
		items: map[string]map[string]page{}, rooms: map[listOf]*listRoom{}, answers: map[place]answered{}, ends: map[recordedCall]end{},
	}
}

// update reads what was added to the log.
func (r *recorded) update(ctx context.Context) error {
	connections := r.log.Connections()
	for _, c := range connections[min(r.known, len(connections)):] {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.meet(c)
	}
	r.known = len(connections)
	for _, part := range []struct {
		trail *trail
		read  func(wire.Frame)
	}{{&r.greetings, r.greeting}, {&r.lists, r.list}, {&r.notes, r.note}} {
		seqs, err := part.trail.next(ctx)
		if err != nil {
			return err
		}
		for _, seq := range seqs {
			f, err := r.log.Frame(seq)
			if err != nil {
				return err
			}
			part.read(f)
		}
	}
	return nil
}

// serversMost is how many servers of a transcript are shown one by one. The rest
// are shown as one, with one session.
const serversMost = 100

// furtherServers is what the rest of very many servers is called.
const furtherServers = "further servers"

// unnamed is what a server is called whose frames do not say.
const unnamed = "server"

// ways are the words for how a server was reached.
var ways = map[string]string{"stdio": "stdio", "http": "HTTP", "sse": "SSE", "memory": "in process"}

// meet makes a connection's server and session known.
func (r *recorded) meet(c wire.Connection) *session {
	key := conn{c.Server, c.Session}
	if s := r.sessions[key]; s != nil {
		return s
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	name := c.Server
	if name == "" {
		name = unnamed
	}
	i := slices.IndexFunc(r.in.servers, func(s *server) bool { return s.spec.Name == name })
	if i < 0 && len(r.in.servers) > serversMost {
		s := r.further
		r.sessions[key] = s
		return s
	}
	if i < 0 {
		if len(r.in.servers) == serversMost {
			name = furtherServers
		}
		i = len(r.in.servers)
		s := newServer(r.in, i, target.Spec{Name: name}, Settings{})
		s.state, s.since = Recorded, time.Time{}
		r.in.servers = append(r.in.servers, s)
		r.in.changed(Change{Kind: ServerChanged, Server: s.id})
	}
	server := r.in.servers[i]
	if way := ways[c.Transport]; way != "" {
		server.info.How = way
	}
	s := newSession(server, 0, Settings{Elicitation: DeclareNone})
	s.name = c.Session
	r.sessions[key] = s
	if name == furtherServers {
		r.further = s
	}
	return s
}

func (r *recorded) session(f *wire.Frame) *session {
	return r.meet(wire.Connection{Server: f.Server, Session: f.Session, Transport: f.Transport})
}

// declared is what a client says of itself, in initialize or in the _meta of
// each request (specification 2026-07-28).
type declared struct {
	Elicitation json.RawMessage `json:"elicitation"`
	Sampling    json.RawMessage `json:"sampling"`
	Roots       json.RawMessage `json:"roots"`
}

func (d declared) settings() Settings {
	s := Settings{Elicitation: DeclareNone, Sampling: d.Sampling != nil, Roots: d.Roots != nil}
	var modes map[string]json.RawMessage
	if d.Elicitation == nil || json.Unmarshal(d.Elicitation, &modes) != nil || modes == nil {
		return s
	}
	form, url := modes["form"] != nil, modes["url"] != nil
	switch {
	case form && url:
		s.Elicitation = DeclareBoth
	case form:
		s.Elicitation = DeclareForm
	case url:
		s.Elicitation = DeclareURL
	default:
		s.Elicitation = DeclareEmpty
	}
	return s
}

// greeting reads a frame of the handshake.
func (r *recorded) greeting(f wire.Frame) {
	s := r.session(&f)
	switch {
	case f.Kind == wire.Request && f.Dir == wire.ClientToServer:
		var p struct {
			Protocol     string                     `json:"protocolVersion"`
			Capabilities declared                   `json:"capabilities"`
			Meta         map[string]json.RawMessage `json:"_meta"`
		}
		if json.Unmarshal(f.Message.Params, &p) != nil {
			return
		}
		s.methods = append(s.methods, f.Method)
		if f.Method == methodDiscover {
			p.Capabilities = declared{}
			// What cannot be read was not declared.
			_ = json.Unmarshal(p.Meta[mcp.MetaKeyClientCapabilities], &p.Capabilities)
			_ = json.Unmarshal(p.Meta[mcp.MetaKeyProtocolVersion], &p.Protocol)
		}
		s.settings, s.recorded = p.Capabilities.settings(), p.Protocol
	case f.Kind == wire.Result && f.Dir == wire.ServerToClient:
		r.greeted(s, &f)
	}
}

// greeted reads what a server says of itself.
func (r *recorded) greeted(s *session, f *wire.Frame) {
	type person struct{ Name, Title, Version string }
	var p struct {
		Protocol     string                     `json:"protocolVersion"`
		Server       person                     `json:"serverInfo"`
		Instructions string                     `json:"instructions"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Meta         map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(f.Message.Result, &p) != nil {
		return
	}
	if p.Server.Name == "" {
		// What cannot be read was not said.
		_ = json.Unmarshal(p.Meta[mcp.MetaKeyServerInfo], &p.Server)
	}
	if p.Protocol != "" {
		s.recorded = p.Protocol
	}
	info := ServerInfo{
		Name: p.Server.Name, Title: p.Server.Title, Version: p.Server.Version, Protocol: s.recorded,
		Instructions: p.Instructions, How: s.server.info.How, Negotiated: s.negotiated(),
	}
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging"} {
		if p.Capabilities[name] == nil {
			continue
		}
		var c struct {
			ListChanged bool `json:"listChanged"`
		}
		if json.Unmarshal(p.Capabilities[name], &c) == nil && c.ListChanged {
			name += " (list changes)"
		}
		info.Capabilities = append(info.Capabilities, name)
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	s.server.info, s.server.settings, s.server.since = info, s.settings, f.Time
	r.in.changed(Change{Kind: ServerChanged, Server: s.server.id})
}

// list reads a page of what a server offers. What it offered last is shown.
func (r *recorded) list(f wire.Frame) {
	i := slices.IndexFunc(lists, func(l list) bool { return l.method == f.Method })
	if i < 0 {
		return
	}
	s := r.session(&f).server
	if r.items[s.id] == nil {
		r.items[s.id] = map[string]page{}
	}
	key := listOf{s.id, f.Method}
	var all page
	if r.rooms[key] != nil && r.continues(&f) {
		all = r.items[s.id][f.Method]
	} else {
		r.rooms[key] = &listRoom{CatalogBytes / len(lists), itemsMost}
	}
	var left leftOut
	items, _, err := readPage(lists[i], f.Message.Result, func(Item) error { return nil }, &left, r.rooms[key])
	all.items = append(all.items, items...)
	if err := left.and(err); err != nil && len(all.problems) < leftOutShown {
		all.problems = append(all.problems, fmt.Sprintf("%s: %v", f.Method, err))
	}
	r.items[s.id][f.Method] = all
	catalog := Catalog{Server: s.id}
	for _, l := range lists {
		catalog.Items = append(catalog.Items, r.items[s.id][l.method].items...)
		catalog.Errors = append(catalog.Errors, r.items[s.id][l.method].problems...)
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	s.catalog = catalog
	r.in.changed(Change{Kind: CatalogChanged, Server: s.id})
}

// continues reports whether a page was asked for with a cursor.
func (r *recorded) continues(f *wire.Frame) bool {
	request, err := r.log.Frame(f.Pair)
	if f.Pair == 0 || err != nil {
		return false
	}
	var p struct {
		Cursor string `json:"cursor"`
	}
	return json.Unmarshal(request.Message.Params, &p) == nil && p.Cursor != ""
}

// note reads a note: that a process has ended, how it was started, how a
// question was answered, or how a call ended.
func (r *recorded) note(f wire.Frame) {
	if f.Note == nil {
		return
	}
	n := *f.Note
	if n.At.IsZero() {
		n.At = f.Time
	}
	switch n.Kind {
	case wire.NoteProcessExited:
		r.exits[f.Session] = exit{f.Seq, f.Time, n.Exit()}
	case wire.NoteAnswered:
		r.answers[place{recordedCall{f.Session, f.Call}, f.Round, n.Pointer}] = answered{n, f.Seq, Actor(f.Actor)}
	case wire.NoteEnded:
		r.ends[recordedCall{f.Session, f.Call}] = end{n, f.Seq}
	case wire.NoteProcessStarted:
		if len(n.Command) == 0 {
			return
		}
		s := r.session(&f).server
		r.in.mu.Lock()
		defer r.in.mu.Unlock()
		s.spec.Command = n.Command
		r.in.changed(Change{Kind: ServerChanged, Server: s.id})
	}
}
