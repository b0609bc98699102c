//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

// Package demo is an MCP server that asks its client every kind of question there is, each in a small story of everyday work.
// It serves clients of 2025-06-18, 2025-11-25 and 2026-07-28, and gives every one of them what its revision prescribes.
package demo

import (
	"context"
	"crypto/cipher"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Name and Version are how the server introduces itself.
const (
	Name    = "demo"
	Version = "1.0.0"
)

const instructions = "Every tool here asks the person something, and its description says what it shows. " +
	"Start with deploy. Nothing that the stories talk about is real: no money moves, and no file is deleted."

// Options say how a Server fits into the program that it runs in. The zero value is ready for use.
type Options struct {
	// Logger is told what the SDK does; nil means nobody is.
	Logger *slog.Logger

	// Exit is what crash_on_decline does to its process, os.Exit for a server of its own.
	// It may return; the tool then waits for its session to end.
	// nil is for a server inside another program: only the session ends, and the call is never answered.
	Exit func(code int)

	// BaseURL is where Handler is reached, such as "http://127.0.0.1:8080", so that the sign-in pages are part of it.
	// Without it the pages have a listener of their own, on a free loopback port, from the first question that needs one.
	BaseURL string

	// Now is the clock that stories tell the day by; nil is time.Now.
	Now func() time.Time

	// Pause lets story time pass, and returns early with the context's error when the call ends; nil really waits.
	Pause func(ctx context.Context, d time.Duration) error
}

// Server is one demo server. It may serve any number of sessions, and holds no resources until a session needs them.
type Server struct {
	options Options
	mcp     *mcp.Server
	send    mcp.MethodHandler // sends what it is given, without the SDK's judgement of elicitations
	order   map[string]int    // the tools' places in the list, by name
	links   map[string]bool   // the tools that are of no use to a client without URL mode
	desk    *desk

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // what outlives a call

	sealOnce sync.Once
	seal     cipher.AEAD // of requestState

	mu     sync.Mutex
	visits map[*visit]struct{}                     // the calls being served
	levels map[*mcp.ServerSession]mcp.LoggingLevel // as set by logging/setLevel, before 2026-07-28
}

// New makes a server. Close releases what it comes to hold.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	s := &Server{
		options: o,
		order:   map[string]int{},
		links:   map[string]bool{},
		visits:  map[*visit]struct{}{},
		levels:  map[*mcp.ServerSession]mcp.LoggingLevel{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.desk = newDesk(o.BaseURL)
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Demo server", Version: Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Logger,
		SetCacheable: cacheable,
	})
	s.mcp.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		s.send = next
		return next
	})
	s.mcp.AddReceivingMiddleware(s.receive)
	s.addWork()
	s.addFields()
	s.addLinks()
	s.addRounds()
	s.addTrouble()
	s.addRules()
	s.addResults()
	s.addLibrary()
	return s
}

// MCP returns the server for the SDK to connect to a transport.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Close ends every call and session, closes the sign-in pages, and returns when nothing of them is left.
func (s *Server) Close() error {
	s.end()
	for ss := range s.mcp.Sessions() {
		ss.Close() // its error is about a connection that is gone
	}
	err := s.desk.close()
	s.work.Wait()
	return err
}

// receive passes on what the SDK's types cannot say: raw results, the list of tools in order, and the levels of log messages.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case methodCallTool, methodGetPrompt, methodReadResource:
			var raw mcp.Result
			res, err := next(context.WithValue(ctx, rawKey{}, &raw), method, req)
			if err == nil && raw != nil {
				return raw, nil
			}
			return res, err
		case "tools/list":
			res, err := next(ctx, method, req)
			list, ok := res.(*mcp.ListToolsResult)
			if r, isList := req.(*mcp.ListToolsRequest); ok && isList {
				return s.arrange(list, modesOf(revisionOf(r), r.ClientCapabilities()).url), err
			}
			return res, err
		case "logging/setLevel":
			res, err := next(ctx, method, req)
			if p, ok := req.GetParams().(*mcp.SetLoggingLevelParams); ok && err == nil {
				s.setLevel(req.GetSession().(*mcp.ServerSession), p.Level)
			}
			return res, err
		}
		return next(ctx, method, req)
	}
}

// arrange returns the list in the order of the stories rather than of the alphabet,
// and without the tools that only lead to a page for a client that does not open pages.
func (s *Server) arrange(list *mcp.ListToolsResult, opensPages bool) *mcp.ListToolsResult {
	l := *list
	l.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *mcp.Tool) bool { return s.links[t.Name] && !opensPages })
	slices.SortStableFunc(l.Tools, func(a, b *mcp.Tool) int { return s.order[a.Name] - s.order[b.Name] })
	return &l
}

// cacheable keeps others from caching what depends on who asks.
func cacheable(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// setLevel notes the least level that a session wants to be told of, and forgets the sessions that have ended.
func (s *Server) setLevel(ss *mcp.ServerSession, level mcp.LoggingLevel) {
	live := slices.Collect(s.mcp.Sessions())
	s.mu.Lock()
	defer s.mu.Unlock()
	for old := range s.levels {
		if !slices.Contains(live, old) {
			delete(s.levels, old)
		}
	}
	s.levels[ss] = level
}

// level returns the least level that a session of 2025-11-25 or before wants to be told of.
// A server may choose for a client that has not said.
func (s *Server) level(ss *mcp.ServerSession) mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.levels[ss]; ok {
		return l
	}
	return "info"
}

// Handler serves the demo over Streamable HTTP: MCP on every path but those of the sign-in pages.
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
		switch {
		case r.Method == http.MethodPost && r.Header.Get("Mcp-Protocol-Version") >= rev20260728:
			requests.ServeHTTP(w, r)
		case r.Method == http.MethodDelete:
			s.leave(r.Header.Get("Mcp-Session-Id"))
			fallthrough
		default:
			sessions.ServeHTTP(w, r)
		}
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// leave ends the calls of a session, because the SDK ends a session only after its last call.
func (s *Server) leave(session string) {
	if session == "" {
		return
	}
	s.mu.Lock()
	visits := slices.Collect(maps.Keys(s.visits))
	s.mu.Unlock()
	for _, v := range visits {
		if v.session.ID() == session {
			v.end()
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
