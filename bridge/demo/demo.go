//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

// Package demo is an MCP server that asks its client every kind of question there is, each in a small story of everyday work.
// It serves clients of 2025-06-18, 2025-11-25 and 2026-07-28, and gives every one of them what its revision prescribes.
//
// A story is told once for all revisions. What differs between them is in asking.go, but for the shape of a message in question.go.
package demo

import (
	"context"
	"crypto/cipher"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Name is how the server introduces itself.
const Name = "demo"

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
	desk    *desk
	seal    cipher.AEAD // of requestState; its key lives and dies with the server

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup // what outlives a call

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
		desk:    newDesk(o.BaseURL),
		seal:    newSeal(),
		visits:  map[*visit]struct{}{},
		levels:  map[*mcp.ServerSession]mcp.LoggingLevel{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: Name, Title: "Demo server", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       o.Logger,
		SetCacheable: cacheable,
	})
	s.mcp.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		s.send = next
		return next
	})
	s.mcp.AddReceivingMiddleware(s.receive)
	for _, t := range tools() {
		s.mcp.AddTool(t.listed(), t.handler(s))
	}
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

// cacheable keeps others from caching what depends on who asks.
func cacheable(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }

// receive adds what the SDK's types cannot say: raw results, the list of tools in order, and the levels of log messages.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if raw := (*rawResult)(nil); errors.As(err, &raw) {
			return raw, nil
		}
		if err != nil {
			return res, err
		}
		switch r := req.(type) {
		case *mcp.ListToolsRequest:
			list := *res.(*mcp.ListToolsResult)
			list.Tools = nil
			opensPages := slices.Contains(modesOf(revisionOf(r), r.ClientCapabilities()), "url")
			for _, t := range tools() {
				if opensPages || !t.URLOnly {
					list.Tools = append(list.Tools, t.listed())
				}
			}
			return &list, nil
		case *mcp.ServerRequest[*mcp.SetLoggingLevelParams]:
			s.setLevel(r.Session, r.Params.Level)
		}
		return res, nil
	}
}

// setLevel notes the least level that a session wants to be told of, and forgets the sessions that have ended.
func (s *Server) setLevel(ss *mcp.ServerSession, level mcp.LoggingLevel) {
	live := slices.Collect(s.mcp.Sessions())
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.levels, func(old *mcp.ServerSession, _ mcp.LoggingLevel) bool { return !slices.Contains(live, old) })
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

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
