//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

// Package demo is an MCP server that asks its client every kind of question, each in a small story of everyday work. It
// serves clients of 2025-06-18, 2025-11-25 and 2026-07-28, each by the rules of its revision.
//
// Each story is written once for all revisions. asking.go handles the differences between them, except for the form of
// a message, which is in question.go.
package demo

import (
	"context"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// Name is the server's name in the handshake.
const Name = "demo"

const instructions = "Every tool here asks the person something, and its description says what it shows. " +
	"Start with deploy. Nothing that the stories talk about is real: no money moves, and no file is deleted."

// Options adapt a Server to the program that it runs in. The zero value is ready for use.
type Options struct {
	// Logger receives the SDK's log; nil discards it.
	Logger *slog.Logger

	// Exit is called by crash_on_decline; it is os.Exit for a server with its own process. If it returns, the tool
	// waits for its session to end. nil is for a server inside another program: only the session ends, and the call is
	// never answered.
	Exit func(code int)

	// BaseURL is the base URL of Handler, such as "http://127.0.0.1:8080", which then also serves the sign-in pages. If
	// it is empty, the pages get a listener on a free loopback port with the first question that needs one.
	BaseURL string

	// Conformance offers the tools and the prompt that the official conformance suite calls, in place of the stories.
	Conformance bool

	// Now returns the time in stories; nil is time.Now.
	Now func() time.Time

	// Pause waits for story time to pass, and returns early with the context's error when the call ends; nil waits in
	// real time.
	Pause func(ctx context.Context, d time.Duration) error
}

// Server is a demo server. It can serve any number of sessions, and holds no resources until a session needs them.
type Server struct {
	options Options
	mcp     *mcp.Server
	send    mcp.MethodHandler // sends a message without the SDK's checks of elicitations
	desk    *desk
	seal    cipher.AEAD // encrypts requestState; its key exists only in this server

	life context.Context // ends when Close is called
	end  context.CancelFunc
	work sync.WaitGroup // goroutines that can outlive a call

	mu     sync.Mutex
	visits map[*visit]struct{}                     // the requests being served
	levels map[*mcp.ServerSession]mcp.LoggingLevel // levels set by logging/setLevel, before 2026-07-28
	tasks  map[string]*task                        // by id, until their ttl has passed
	links  map[string]*taskLink                    // the connections that Connect has made, by id
}

// New returns a server. Close releases its resources.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	s := &Server{
		options: o,
		desk:    newDesk(o.BaseURL),
		seal:    newSeal(),
		visits:  map[*visit]struct{}{},
		levels:  map[*mcp.ServerSession]mcp.LoggingLevel{},
		tasks:   map[string]*task{},
		links:   map[string]*taskLink{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Demo server", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Logger,
		Capabilities: &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Extensions: map[string]any{protocol.TasksExtension: struct{}{}}},
		// Lists depend on the client.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	s.mcp.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		s.send = next
		return next
	})
	s.mcp.AddReceivingMiddleware(s.receive)
	s.addTaskMethods()
	for _, t := range s.tools() {
		s.mcp.AddTool(t.listed(), t.handler(s))
	}
	if o.Conformance {
		s.addSuitePrompt()
	} else {
		s.addLibrary()
	}
	return s
}

func (s *Server) tools() []tool {
	if s.options.Conformance {
		return conformance
	}
	return tools()
}

// MCP returns the SDK's server, for more middleware.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Close ends every call and session and closes the sign-in pages. It returns when nothing of them is left.
func (s *Server) Close() error {
	s.end()
	for ss := range s.mcp.Sessions() {
		ss.Close() // an error means that the connection has ended already
	}
	err := s.desk.close()
	s.work.Wait()
	return err
}

// receive is middleware for what the SDK's types cannot express: raw results, the tools in their order, tasks, and the
// levels of log messages.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if r, ok := req.(*mcp.SubscriptionsListenRequest); ok && r.Params.Meta[carriedTask] != nil {
			if l := s.linkOf(r.Session); l != nil {
				return s.listen(ctx, l, r)
			}
		}
		res, err := next(ctx, method, req)
		if raw := (*rawResult)(nil); errors.As(err, &raw) {
			return raw, nil
		}
		if err != nil {
			return res, err
		}
		switch r := req.(type) {
		case *mcp.ServerRequest[*mcp.InitializeParams]:
			return withTasks(res.(*mcp.InitializeResult)), nil
		case *mcp.ListToolsRequest:
			list, november := *res.(*mcp.ListToolsResult), []json.RawMessage{} // the latter with what the SDK's type lacks
			list.Tools = nil
			opensPages := slices.Contains(modesOf(revisionOf(r), r.ClientCapabilities()), "url")
			for _, t := range s.tools() {
				if !opensPages && t.URLOnly || t.AsksLater && !s.asksLater(r.Session) {
					continue
				}
				list.Tools = append(list.Tools, t.listed())
				one := mustJSON(t.listed())
				if t.Task != "" {
					one = rawjson.WithMember(one, "execution", `{"taskSupport":"`+t.Task+`"}`)
				}
				november = append(november, one)
			}
			if revisionOf(r) == protocol.Revision20251125 {
				return &rawResult{json: fmt.Appendf(nil, `{"tools":%s}`, mustJSON(november))}, nil
			}
			return &list, nil
		case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
			live := slices.Collect(s.mcp.Sessions())
			s.mu.Lock()
			maps.DeleteFunc(s.levels, func(old *mcp.ServerSession, _ mcp.LoggingLevel) bool { return !slices.Contains(live, old) })
			s.levels[r.Session] = r.Params.Level
			s.mu.Unlock()
		}
		return res, nil
	}
}

// Handler serves the demo over Streamable HTTP: MCP on every path except those of the sign-in pages.
//
// Revisions up to 2025-11-25 need a session, and 2026-07-28 must not have one,
// so each has a handler of its own, chosen by the MCP-Protocol-Version header.
func (s *Server) Handler() http.Handler {
	get := func(*http.Request) *mcp.Server { return s.mcp }
	sessions := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Logger: s.options.Logger})
	requests := mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
		Logger:                       s.options.Logger,
		Stateless:                    true,
		PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(signInPath, s.desk)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= protocol.Revision20260728 {
			requests.ServeHTTP(w, r)
			return
		}
		if session := r.Header.Get("Mcp-Session-Id"); r.Method == http.MethodDelete && session != "" {
			// The SDK only ends a session after its last call.
			s.mu.Lock()
			visits := slices.Collect(maps.Keys(s.visits))
			s.mu.Unlock()
			for _, v := range visits {
				if v.session.ID() == session {
					v.end()
				}
			}
		}
		sessions.ServeHTTP(w, r)
	})
	return http.NewCrossOriginProtection().Handler(carrying(mux))
}
