// Package mock is an MCP server made from recordings of another one. It asks again, for real: it waits
// for the client's answer, and goes on along the recording that has this answer.
package mock

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire/redact"
)

// Options configure a mock.
type Options struct {
	Paced bool // it works as long as the server did
	// BaseURL is where ServeHTTP is reached, such as "http://127.0.0.1:8080". Without it, the pages that people are
	// sent to get a listener on a free loopback port with the first question that needs one.
	BaseURL string
}

// Server is a mock. It can serve any number of sessions.
type Server struct {
	options Options
	library atomic.Pointer[library]
	core    *server.Server
	tasks   server.Tasks
	seal    server.Seal // of requestState
	pages   pages
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup

	mu        sync.Mutex
	used      map[string]bool // states that were sent back
	unmatched []string
}

// usedMost bounds the states that are remembered. One that is forgotten could be used twice.
const usedMost = 100_000

// New returns a mock of the server of the recordings. Close ends it.
func New(ctx context.Context, recordings []Recording, o Options) (*Server, error) {
	l, err := read(ctx, recordings)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, tasks: server.Tasks{Tells: true}, seal: server.NewSeal(), pages: pages{base: o.BaseURL}, used: map[string]bool{}}
	s.library.Store(l)
	s.life, s.end = context.WithCancel(context.Background())
	s.core = server.New(server.Options{
		Name: "mock", Info: string(l.info), Instructions: l.presented.Instructions, Revisions: mcp.Revisions, Begin: s.begin,
		Offers: func(revision string) string { return s.library.Load().offers(revision) },
	})
	return s, nil
}

// Read replaces the recordings, for calls that begin from now on.
func (s *Server) Read(ctx context.Context, recordings []Recording) error {
	l, err := read(ctx, recordings)
	if err == nil {
		s.library.Store(l)
	}
	return err
}

// Close ends every call and session.
func (s *Server) Close() {
	s.end()
	s.core.Close()
	s.pages.close()
	s.work.Wait()
}

// Unmatched lists what was asked and is in no recording.
func (s *Server) Unmatched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unmatched)
}

// ServeLines serves one client over newline-delimited JSON, as [server.Server.ServeLines] does.
func (s *Server) ServeLines(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.core.ServeLines(ctx, in, out)
}

// ServeHTTP serves Streamable HTTP, and at /visit the pages that people are sent to.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == pagePath {
		s.pages.ServeHTTP(w, r)
	} else {
		s.core.ServeHTTP(w, r)
	}
}

// session is one client's connection.
type session struct {
	*server.Session
	*server.Calls
	server *Server

	mu   sync.Mutex
	made map[string]progress // by server.CallKey
}

// progress is how far a session is with calls that are alike.
type progress struct {
	begun   int
	refused int // refusals with -32042 of the one that goes on
}

func (s *Server) begin(of *server.Session) server.Peer {
	return &session{Session: of, Calls: server.NewCalls(s.life, &s.work), server: s, made: map[string]progress{}}
}

// Close ends the calls of the session.
func (s *session) Close() { s.Calls.Close() }

// List returns the recorded list.
func (s *session) List(r *server.Request) string {
	i := slices.IndexFunc(conversation.Lists, func(l conversation.List) bool { return l.Method == r.Method })
	return cmp.Or(s.server.library.Load().lists[r.Method], fmt.Sprintf("%q:[]", conversation.Lists[i].Member))
}

// Serve answers a request as the recordings have it.
func (s *session) Serve(r *server.Request) (left func()) {
	return s.Go(r.ID, func(ctx context.Context) { s.serve(ctx, r) })
}

func (s *session) serve(ctx context.Context, r *server.Request) {
	l := s.server.library.Load()
	switch {
	case mcp.AsksForInput(r.Method):
		s.tell(ctx, r, l)
	case mcp.IsTask(r.Method):
		s.server.tasks.Serve(r)
	case r.Method == mcp.MethodComplete:
		result := l.completions[string(server.Canonical(rawjson.Without(r.Params, "_meta")))]
		if result == nil {
			result = json.RawMessage(`{"completion":{"values":[]}}`)
		}
		r.Reply(string(s.server.result(r, result, nil)))
	case r.Method == mcp.MethodSetLevel && !r.Rounds(), r.Method == "resources/subscribe", r.Method == "resources/unsubscribe":
		r.Reply(`{}`)
	case r.Method == mcp.MethodListen && r.Rounds():
		s.server.tasks.Listen(ctx, r)
	default:
		r.Fail(mcp.CodeMethodNotFound, "Method not found: "+r.Method, "")
	}
}

// result returns a recorded result as one of the revision of the request. Its _meta says which recording it is from,
// and whether that leaves out a part of it.
func (s *Server) result(r *server.Request, recorded json.RawMessage, from *branch) json.RawMessage {
	kept := rawjson.Without(recorded, "resultType", "ttlMs", "cacheScope", "_meta")
	meta := foreign(rawjson.Member(recorded, "_meta"))
	origin := `{}`
	if from != nil {
		origin = fmt.Sprintf(`{"file":%s,"call":%d,"redacted":%t}`, rawjson.Quoted(from.file), from.Number, strings.Contains(string(recorded), redact.Placeholder))
	}
	meta = rawjson.WithMember(meta, mcp.MetaMock, origin)
	if r.Rounds() {
		for name, value := range rawjson.Members([]byte(s.core.Meta())) {
			meta = rawjson.WithMember(meta, name, string(value))
		}
		kept = rawjson.WithMember(kept, "resultType", `"complete"`)
		if r.Method == mcp.MethodReadResource {
			kept = rawjson.WithMember(rawjson.WithMember(kept, "ttlMs", "0"), "cacheScope", `"private"`)
		}
	}
	return rawjson.WithMember(kept, "_meta", string(meta))
}

// foreign returns a recorded _meta without what the protocol and mocks have in it.
func foreign(meta json.RawMessage) json.RawMessage {
	if meta == nil {
		return json.RawMessage(`{}`)
	}
	return rawjson.Without(meta, mcp.RelatedTask, mcp.MetaMock, metaServer, "progressToken")
}
