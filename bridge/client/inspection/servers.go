package inspection

import (
	"context"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// servers has the connections to servers, what these offer, and how to sign in.
type servers struct {
	*reader
	connections
	config  Config
	live    *live.Servers
	known   knownServers // the field live, or the servers of the transcript in a replay
	signIns *signin.Desk
	unwatch func() // stops watching signIns
}

// connections has the methods of [live.Servers] that an Inspection passes on unchanged.
type connections interface {
	Reconnect(id string) error
	ReconnectWith(id string, settings conversation.ClientSettings) error
	Disconnect(ctx context.Context, id string) error
	Remove(ctx context.Context, id string) error
	Target(id string) (target.Spec, error)
	Recall(id, revision string) error
}

// knownServers provides the servers that an inspection shows.
type knownServers interface {
	All() []live.Server
	Server(id string) (live.Server, error)
	Catalog(id string) (conversation.Catalog, error)
	IDOf(label string) string
}

// Server is the state of a server, with the counts of its waiting questions and of its
// findings by severity.
type Server struct {
	conversation.ServerStatus
	conversation.QuestionCounts
	Findings lint.Tally
}

// Servers returns every server, in the order of the configuration.
func (in *questions) Servers() []Server {
	found, names := in.findings.bySeverity(), in.names()
	all := in.servers.known.All()
	out := make([]Server, len(all))
	for i, s := range all {
		s.Display = names[s.Label]
		out[i] = Server{s, in.inbox.Counts(s.ID), found[s.ID]}
	}
	return out
}

// Server returns one server by its id.
func (in *questions) Server(id string) (Server, error) {
	s, err := in.servers.known.Server(id)
	if err != nil {
		return Server{}, err
	}
	s.Display = in.names()[s.Label]
	return Server{s, in.inbox.Counts(id), in.findings.bySeverity()[id]}, nil
}

// names returns what people read instead of labels, as the log says by now.
func (in *reader) names() map[string]string {
	in.read()
	return in.conversation.Names()
}

// Put connects to another server, under a name that no other has; or to this one in place of
// the added server with the id.
func (in *servers) Put(ctx context.Context, id string, spec target.Spec) error {
	id, err := in.live.Put(ctx, id, in.withAccess(spec))
	if err != nil {
		return err
	}
	return in.Reconnect(id)
}

// Catalog returns the tools, prompts and resources of a server. The lists are shared and
// must not be changed, because they may be very long.
func (in *servers) Catalog(id string) (conversation.Catalog, error) { return in.known.Catalog(id) }

// Item returns one tool, prompt or resource of a server.
func (in *servers) Item(id string, kind conversation.Kind, key string) (conversation.Item, error) {
	all, err := in.Catalog(id)
	if err != nil {
		return conversation.Item{}, err
	}
	return all.Find(kind, key)
}

// Ping sends a ping to a connected server and waits for its response.
func (in *servers) Ping(ctx context.Context, server string) error {
	conn, err := in.live.Connection(server)
	if err != nil {
		return err
	}
	return conn.Ping(ctx)
}
