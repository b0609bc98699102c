package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// shownServer is a server with what it offers.
type shownServer struct {
	Server
	catalog *catalog.Catalog
	lists   map[string][]int64 // the frames that the catalog was read from
}

// labelled is the server that frames name so, nil if it is not shown by itself.
func (s *shown) labelled(label string) *shownServer {
	for _, server := range s.servers {
		if server.Label == cmp.Or(label, conversation.Unnamed) {
			return server
		}
	}
	return nil
}

// recordedServers are the servers as readers get them.
func (in *Inspection) recordedServers() []Server {
	s := in.shown.Load()
	out := make([]Server, len(s.servers))
	for i, server := range s.servers {
		out[i] = server.Server
		out[i].Findings = in.severities(server.Label)
	}
	return out
}

// server is the one with that id.
func (s *shown) server(id string) (*shownServer, error) {
	for _, server := range s.servers {
		if server.ID == id {
			return server, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownServer, id)
}

// further stands for the servers that are not shown one by one.
func (s *shown) further() *shownServer {
	if len(s.servers) == 0 {
		return &shownServer{}
	}
	return s.servers[len(s.servers)-1]
}

// ways are the words for how a server was reached.
var ways = map[string]string{"stdio": "stdio", "http": "HTTP", "sse": "SSE", "memory": "in process"}

// servers are those in the log.
func (r *Replay) servers(before *shown) []*shownServer {
	var out []*shownServer
	for i, s := range r.in.conversation.Servers() {
		spec := target.Spec{Name: s.Label, Command: s.Command}
		server := &shownServer{Server: Server{
			ID: fmt.Sprintf("s%d", i+1), Index: i, Label: s.Label, Address: spec.Address(), Target: spec.Key(), How: ways[s.Transport],
			State: Recorded, Since: s.Since, Policy: inbox.PolicyAsk, Room: inbox.ShownMost,
			Info: session.Info{
				Name: s.Name, Title: s.Title, Version: s.Version, Protocol: s.Protocol, Instructions: s.Instructions,
				Capabilities: s.Capabilities, How: ways[s.Transport], Negotiated: session.Negotiated(s.Methods, ""),
			},
		}, lists: s.Lists}
		if s.Declared != nil {
			server.Settings = settingsOf(s.Declared)
		}
		if i < len(before.servers) && maps.EqualFunc(before.servers[i].lists, s.Lists, slices.Equal) {
			server.catalog = before.servers[i].catalog
		} else {
			server.catalog = r.catalog(server.ID, s.Lists)
		}
		out = append(out, server)
	}
	return out
}

// settingsOf are the settings under which a client declares this.
func settingsOf(d *conversation.Declared) client.Settings {
	s := client.Settings{Elicitation: client.DeclareNone, Sampling: d.Sampling != nil, Roots: d.Roots != nil}
	var modes map[string]json.RawMessage
	if d.Elicitation == nil || json.Unmarshal(d.Elicitation, &modes) != nil || modes == nil {
		return s
	}
	form, url := modes["form"] != nil, modes["url"] != nil
	switch {
	case form && url:
		s.Elicitation = client.DeclareBoth
	case form:
		s.Elicitation = client.DeclareForm
	case url:
		s.Elicitation = client.DeclareURL
	default:
		s.Elicitation = client.DeclareEmpty
	}
	return s
}

// itemsMost bounds a list of a recorded server.
const itemsMost = 10_000

// catalog reads what a server offers from the frames that list it.
func (r *Replay) catalog(id string, from map[string][]int64) *catalog.Catalog {
	parts := map[string]catalog.Part{}
	for _, l := range catalog.Lists {
		read := catalog.Reader{List: l}
		var problem error
		for _, seq := range from[l.Method] {
			f, err := r.in.log.Frame(seq)
			if err != nil {
				problem = err
				continue
			}
			if !r.continues(&f) {
				read, problem = catalog.Reader{List: l, Room: catalog.Room{Bytes: catalog.MostBytes / len(catalog.Lists), Items: itemsMost}}, nil
			}
			if _, err := read.Page(f.Message.Result); err != nil {
				problem = err
			}
		}
		parts[l.Method] = read.Part(problem)
	}
	return new(catalog.Join(id, parts))
}

// continues reports whether a page was asked for with a cursor.
func (r *Replay) continues(page *wire.Frame) bool {
	request, err := r.in.log.Frame(page.Pair)
	if page.Pair == 0 || err != nil {
		return false
	}
	var p struct {
		Cursor string `json:"cursor"`
	}
	return json.Unmarshal(request.Message.Params, &p) == nil && p.Cursor != ""
}
