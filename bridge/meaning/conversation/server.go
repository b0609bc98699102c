package conversation

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Server is a server as the log shows it: how it was reached, how it presented
// itself, and which frames list its tools, prompts and resources.
type Server struct {
	Label     string
	Transport string     // as wire.Frame.Transport
	Started   *wire.Note // that says how its process was started; nil if there is none
	URL       string     // that its connections were opened with; "" if there is none
	Legacy    bool       // it speaks HTTP+SSE
	LeftOut   []string   // names of the headers that a transcript left out of its handshake
	SignedIn  bool       // its log has a sign-in

	Presented
	Handshake
	Since time.Time // time of its latest handshake result

	// Lists holds, by method, the frames of the results that list what the server
	// offers: all that can be pages of the latest list. A page that was requested
	// without a cursor begins a list.
	Lists map[string][]int64
}

// Presented is a server's description of itself in the handshake.
type Presented struct {
	Name, Title, Version string
	Instructions         string
	Capabilities         []string // in words
	Tasks                ServerTasks
}

// ServerTasks has the capabilities for tasks that a server declares (specification 2025-11-25, Tasks, Server
// Capabilities; extension tasks of 2026-07-28, Capability Negotiation).
type ServerTasks struct {
	Calls  bool // tools can be called as tasks
	Cancel bool // tasks/cancel is accepted
	// Offered says that the server declares the extension of 2026-07-28, so that it may
	// answer any call with a task.
	Offered bool
}

// Handshake records how a client and a server agreed on a revision.
type Handshake struct {
	Methods  []string  // of the handshake requests, in order
	Protocol string    // the revision, "" if unknown
	Declared *Declared // nil if the log does not have it
	Client   string    // name and version of the client, "" if unknown
}

// exit is the end of a server's process, or of what else a session ends with.
type exit struct {
	seq   int64
	at    time.Time
	words string
}

// ended reports whether the exit came before the end of a call whose last frame is last.
// Frames of the same moment tell by their order.
func (e *exit) ended(call time.Time, last int64) bool {
	return e != nil && (e.at.Before(call) || e.at.Equal(call) && e.seq < last)
}

// Declared are the client capabilities in initialize, or in the _meta of each request
// (specification 2026-07-28). A nil capability was not declared.
type Declared struct {
	Elicitation json.RawMessage `json:"elicitation"`
	Sampling    json.RawMessage `json:"sampling"`
	Roots       json.RawMessage `json:"roots"`
	Tasks       json.RawMessage `json:"tasks"`      // 2025-11-25
	Extensions  json.RawMessage `json:"extensions"` // since 2026-07-28
}

// The first serversMost servers are kept one by one. All others count as one server,
// FurtherServers.
const (
	serversMost    = 100
	pagesMost      = 200 // of one list
	FurtherServers = "further servers"
	Unnamed        = "server" // label of a server whose frames have none
)

// Servers lists the servers in the log, in the order of their first frames.
func (c *Conversation) Servers() []Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Server, len(c.servers))
	for i, s := range c.servers {
		out[i] = *s
		out[i].Lists = maps.Clone(s.Lists) // whose elements are only appended to
	}
	return out
}

// NameOf returns what people read for the server with this label.
func (c *Conversation) NameOf(label string) string { return cmp.Or(c.Names()[label], label) }

// Names returns what people read instead of labels: where nobody named the server, its own name.
// No server passes for another: where an own name is also said of another server, the label follows.
func (c *Conversation) Names() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, said := map[string]string{}, map[string]int{}
	with := func(own, label string) string { return own + " (" + label + ")" }
	for _, s := range c.servers {
		words := map[string]bool{strings.ToLower(s.Label): true}
		if own := s.own(); own != "" {
			words[strings.ToLower(own)], words[strings.ToLower(with(own, s.Label))] = true, true
			names[s.Label] = own
		}
		for word := range words {
			said[word]++
		}
	}
	for label, own := range names {
		if said[strings.ToLower(own)] > 1 {
			names[label] = with(own, label)
		}
	}
	return names
}

// own returns the title or else the name that a server gives itself, in one line without hidden
// characters; "" if there is none, or if a person named the server.
func (s *Server) own() string {
	derived := s.Started != nil && s.Started.Derived
	if u, err := url.Parse(s.URL); s.Started == nil && err == nil && u.Host != "" {
		number, ok := strings.CutPrefix(s.Label, u.Host) // as in "example.com 2"
		derived = ok && strings.Trim(number, " 0123456789") == ""
	}
	if !derived {
		return ""
	}
	line := func(text string) string {
		return wording.EscapeLine(strings.Join(strings.Fields(wording.Shorten(text, ownMost)), " "))
	}
	return cmp.Or(line(s.Title), line(s.Name))
}

// ownMost bounds the characters of a server's own name where it stands for the label.
const ownMost = 60

func (c *attribution) serverOf(f *frame) *Server {
	label := f.Server
	if label == "" {
		label = Unnamed
	}
	i := slices.IndexFunc(c.servers, func(s *Server) bool { return s.Label == label })
	if i < 0 && len(c.servers) > serversMost {
		i = serversMost
	}
	if i < 0 {
		if i = len(c.servers); i == serversMost {
			label = FurtherServers
		}
		c.servers = append(c.servers, &Server{Label: label, Lists: make(map[string][]int64)})
	}
	s := c.servers[i]
	if f.Transport != "" {
		s.Transport = f.Transport
	}
	return s
}

func (c *attribution) greeted(s *session, f *frame) {
	switch {
	case f.Kind == wire.Request && f.Dir == wire.ClientToServer:
		if f.Method == mcp.MethodInitialize {
			s.open = nil // whatever was open before has ended with its connection
			clear(s.asked)
		}
		s.server.URL, s.server.Legacy = f.URL, s.legacy
		if s.legacy { // which posts to another address
			s.server.URL = s.stream
		}
		s.server.LeftOut = nil
		for name, values := range f.Header {
			if slices.Contains(values, redact.Placeholder) {
				s.server.LeftOut = append(s.server.LeftOut, name)
			}
		}
		slices.Sort(s.server.LeftOut)
		var p struct {
			Protocol     string    `json:"protocolVersion"`
			Capabilities *Declared `json:"capabilities"`
			Client       person    `json:"clientInfo"`
			Meta         struct {
				Client       person    `json:"io.modelcontextprotocol/clientInfo"`
				Protocol     string    `json:"io.modelcontextprotocol/protocolVersion"`
				Capabilities *Declared `json:"io.modelcontextprotocol/clientCapabilities"`
			} `json:"_meta"`
		}
		if json.Unmarshal(f.Message.Params, &p) != nil {
			return
		}
		if f.Method == mcp.MethodDiscover {
			p.Protocol, p.Capabilities, p.Client = p.Meta.Protocol, p.Meta.Capabilities, p.Meta.Client
		}
		if p.Capabilities == nil {
			p.Capabilities = new(Declared)
		}
		s.handshake.Methods = append(slices.Clone(s.handshake.Methods), f.Method)
		s.handshake.Protocol, s.handshake.Declared = p.Protocol, p.Capabilities
		s.handshake.Client = wording.Join(" ", wording.Shorten(p.Client.Name, clientMost), wording.Shorten(p.Client.Version, clientMost))
	case f.Kind == wire.Result && f.Dir == wire.ServerToClient:
		presented, protocol, err := ReadPresented(f.Message.Result)
		if err != nil {
			return
		}
		if protocol != "" {
			s.handshake.Protocol = protocol
		}
		s.server.Presented, s.server.Handshake, s.server.Since = presented, s.handshake, f.Time
	}
}

// clientMost bounds the characters of the client's name, and of its version.
const clientMost = 100

// person is how a client or a server names itself in the handshake.
type person struct{ Name, Title, Version string }

// ReadPresented reads the server's result in the handshake. protocol is the revision in it,
// "" for none.
func ReadPresented(result json.RawMessage) (v Presented, protocol string, err error) {
	var p struct {
		Protocol     string                     `json:"protocolVersion"`
		Server       person                     `json:"serverInfo"`
		Instructions string                     `json:"instructions"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Meta         struct {
			Server json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(result, &p); err != nil {
		return v, "", err
	}
	if p.Server.Name == "" && p.Meta.Server != nil {
		// An unreadable serverInfo counts as absent.
		_ = json.Unmarshal(p.Meta.Server, &p.Server)
	}
	v.Name, v.Title, v.Version, v.Instructions = p.Server.Name, p.Server.Title, p.Server.Version, p.Instructions
	tasks := p.Capabilities["tasks"]
	v.Tasks = ServerTasks{
		Calls:  rawjson.Member(tasks, "requests", "tools", "call") != nil,
		Cancel: rawjson.Member(tasks, "cancel") != nil, Offered: rawjson.Member(p.Capabilities["extensions"], mcp.TasksExtension) != nil,
	}
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging", "tasks"} {
		if p.Capabilities[name] == nil {
			continue
		}
		if string(rawjson.Member(p.Capabilities[name], "listChanged")) == "true" {
			name += " (list changes)"
		}
		v.Capabilities = append(v.Capabilities, name)
	}
	return v, p.Protocol, nil
}

// ServerState is the state of a server's connection.
type ServerState int

// The states of a server.
const (
	ServerDisconnected ServerState = iota
	ServerConnecting
	ServerReady
	ServerFailed   // the server could not be reached or started
	ServerEnded    // the server was ready, and its connection ended
	ServerRecorded // the server is part of a transcript
	ServerTapped   // a tap stands before the server, between it and another client
	ServerRemoved  // a person removed the server, and only its calls are still on show
)

func (s ServerState) String() string {
	return [...]string{"disconnected", "connecting", "ready", "failed", "ended", "recorded", "tapped", "removed"}[s]
}

// ServerStatus is a copy of the state of a server of an inspection.
type ServerStatus struct {
	ID       string // stable for the run, safe in element ids: "s1"
	Index    int    // 0-based
	Label    string // the server's name in frames
	Display  string // what people read instead of Label; "" for Label itself
	Address  string // the command line or URL, for people
	Added    bool   // a person added the server to an inspection that was running
	Target   string // an id of the target that is the same in every run; "" if there is no target
	How      string // "stdio", "HTTP", "SSE", "in process"
	State    ServerState
	Unusable bool // its entry in a file has mistakes, so nothing was tried
	Since    time.Time
	Reason   string         // why the connection failed or ended, in words
	Refused  bool           // it has answered, with an error to the handshake
	Waits    string         // the requests of a slow handshake that it has not answered, in words; "" for none
	Session  string         // the name of the latest connection; "" before the first
	Stderr   []string       // last lines of stderr, oldest first
	Cause    string         // the line of stderr that says why the process crashed; "" if none does
	Settings ClientSettings // settings of the present connection, or of the next one
	Info     ServerInfo
}

// DisplayName is the name of the server for people.
func (s *ServerStatus) DisplayName() string { return cmp.Or(s.Display, s.Label) }

// ServerInfo describes a server after its handshake.
type ServerInfo struct {
	Presented
	Protocol   string // negotiated revision
	Negotiated string // how the revision was negotiated, in words
	How        string // how the server was reached: "stdio", "HTTP"; "" if that is unknown
	Client     string // name and version of the client, in a log; "" if unknown
	Spans      string // the endpoint where its spans are received, by OTLP over HTTP; "" for none
}

// QuestionCounts is the policy for one server's questions, and how many of them are held
// back or were refused.
type QuestionCounts struct {
	Policy     Policy
	Held       int // questions held back because the server asks too often
	Room       int // how many of the questions held back can be shown now
	TurnedAway int // questions refused because too many waited
}
