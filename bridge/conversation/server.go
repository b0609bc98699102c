package conversation

import (
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Server is what a log says of a server: how it was reached, what it said of
// itself, and where it said what it offers.
type Server struct {
	Label     string
	Transport string // as wire.Frame.Transport
	Command   []string

	Name, Title, Version string
	Instructions         string
	Capabilities         []string
	Handshake
	Since time.Time // of its last greeting

	// Lists are the frames of the results that list what the server offers, by
	// method: all that may be pages of the list that it gave last. A page that was
	// not asked for with a cursor begins a list.
	Lists map[string][]int64
}

// Handshake is how a client and a server came together.
type Handshake struct {
	Methods  []string  // of the requests that were made for it, in order
	Protocol string    // the revision, "" where it is not known
	Declared *Declared // nil where the log does not say
}

// exit is the end of a server's process.
type exit struct {
	seq   int64
	at    time.Time
	words string
}

// Declared is what a client says that it can be asked, in initialize or in the
// _meta of each request (specification 2026-07-28). What is nil was not declared.
type Declared struct {
	Elicitation json.RawMessage `json:"elicitation"`
	Sampling    json.RawMessage `json:"sampling"`
	Roots       json.RawMessage `json:"roots"`
}

// Bounds on what is kept of servers: so many are known one by one, the rest as one
// that is named FurtherServers.
const (
	serversMost    = 100
	pagesMost      = 200 // of one list
	FurtherServers = "further servers"
	Unnamed        = "server" // what a server is called whose frames do not say
)

// Servers lists the servers in the log, in the order in which they came.
func (c *Conversation) Servers() []Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Server, len(c.servers))
	for i, s := range c.servers {
		out[i] = *s
		out[i].Lists = make(map[string][]int64, len(s.Lists))
		for method, seqs := range s.Lists {
			out[i].Lists[method] = slices.Clone(seqs)
		}
	}
	return out
}

// serverOf is the server that a frame is of.
func (c *Conversation) serverOf(f *clue) *Server {
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

// facts are what a call has to know of its session.
func (s *session) facts() facts {
	return facts{protocol: s.handshake.Protocol, exit: s.exit}
}

// greeted applies a frame of the handshake.
func (c *Conversation) greeted(s *session, f *clue) {
	switch {
	case f.Kind == wire.Request && f.Dir == wire.ClientToServer:
		if f.Method == mcp.MethodInitialize {
			s.open, s.asked = nil, nil // whatever was open before has ended with its connection
		}
		var p struct {
			Protocol     string    `json:"protocolVersion"`
			Capabilities *Declared `json:"capabilities"`
			Meta         struct {
				Protocol     string    `json:"io.modelcontextprotocol/protocolVersion"`
				Capabilities *Declared `json:"io.modelcontextprotocol/clientCapabilities"`
			} `json:"_meta"`
		}
		if json.Unmarshal(f.Message.Params, &p) != nil {
			return
		}
		if f.Method == mcp.MethodDiscover {
			p.Protocol, p.Capabilities = p.Meta.Protocol, p.Meta.Capabilities
		}
		if p.Capabilities == nil {
			p.Capabilities = new(Declared)
		}
		s.handshake.Methods = append(slices.Clone(s.handshake.Methods), f.Method)
		s.handshake.Protocol, s.handshake.Declared = p.Protocol, p.Capabilities
	case f.Kind == wire.Result && f.Dir == wire.ServerToClient:
		s.presented(f)
	}
}

// presented applies what a server says of itself.
func (s *session) presented(f *clue) {
	type person struct{ Name, Title, Version string }
	var p struct {
		Protocol     string                     `json:"protocolVersion"`
		Server       person                     `json:"serverInfo"`
		Instructions string                     `json:"instructions"`
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Meta         struct {
			Server json.RawMessage `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if json.Unmarshal(f.Message.Result, &p) != nil {
		return
	}
	if p.Server.Name == "" && p.Meta.Server != nil {
		// What cannot be read was not said.
		_ = json.Unmarshal(p.Meta.Server, &p.Server)
	}
	if p.Protocol != "" {
		s.handshake.Protocol = p.Protocol
	}
	v := s.server
	v.Name, v.Title, v.Version, v.Instructions = p.Server.Name, p.Server.Title, p.Server.Version, p.Instructions
	v.Handshake, v.Since, v.Capabilities = s.handshake, f.Time, nil
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging"} {
		if p.Capabilities[name] == nil {
			continue
		}
		if string(rawjson.Member(p.Capabilities[name], "listChanged")) == "true" {
			name += " (list changes)"
		}
		v.Capabilities = append(v.Capabilities, name)
	}
}

// isList reports whether the results of a method list what a server offers.
func isList(method string) bool {
	switch method {
	case mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates:
		return true
	}
	return false
}

// listed notes a page of a list.
func (c *Conversation) listed(s *session, f *clue) {
	pages := append(s.server.Lists[f.Method], f.Seq)
	s.server.Lists[f.Method] = pages[max(0, len(pages)-pagesMost):]
}
