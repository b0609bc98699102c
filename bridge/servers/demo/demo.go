// Package demo is an MCP server that asks its client every kind of question, each in a small story of everyday work. It
// serves clients of 2025-06-18, 2025-11-25 and 2026-07-28, each by the rules of its revision.
//
// Each story is written once for all revisions. asking.go handles the differences between them, except for the form of
// a message, which is in question.go.
package demo

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire"
)

// Name is the server's name in the handshake.
const Name = "demo"

var implementation = mcp.Implementation{Name: Name, Title: "Demo server", Version: "1.0.0"}

const instructions = "Every tool here asks the person something, and its description says what it shows. " +
	"Start with deploy. Nothing that the stories talk about is real: no money moves, and no file is deleted."

// Options adapt a Server to the program that it runs in. The zero value is ready for use.
type Options struct {
	// Logger receives a line for every message, at level debug; nil discards it.
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

	// Ask is the question that ask_this asks until a client gives it another: the params of elicitation/create; nil for
	// one of the demo's own.
	Ask json.RawMessage

	// Now returns the time in stories; nil is time.Now.
	Now func() time.Time

	// Pause waits for story time to pass, and returns early with the context's error when the call ends; nil waits in
	// real time.
	Pause func(ctx context.Context, d time.Duration) error
}

// Server is a demo server. It can serve any number of sessions, and holds no resources until a session needs them.
type Server struct {
	options Options
	core    *server.Server
	library library
	desk    *desk
	seal    server.Seal // of requestState

	life context.Context // ends when Close is called
	end  context.CancelFunc
	work sync.WaitGroup // goroutines that can outlive a call

	tasks server.Tasks

	mu       sync.Mutex      // guards what the sessions say
	question json.RawMessage // what ask_this was given last; nil for nothing
}

// New returns a server. Close releases its resources.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
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
	s := &Server{options: o, library: stocked, desk: newDesk(o.BaseURL), question: o.Ask, seal: server.NewSeal(), tasks: server.Tasks{Tells: true}}
	if o.Conformance {
		s.library = suite
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.core = server.New(server.Options{
		Name: Name, Info: string(mustJSON(implementation)), Instructions: instructions, Revisions: mcp.SupportedProtocolVersions(), Begin: s.begin,
		Capabilities: `"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true},"tools":{"listChanged":true}`,
		Append: func(f wire.Frame) wire.Frame {
			if f.Dir != wire.Meta {
				f.Identify()
			}
			o.Logger.Debug("message", "direction", f.Dir, "kind", f.Kind, "method", f.Message.Method, "id", string(f.Message.ID), "session", f.Session)
			return f
		}})
	return s
}

// Close ends every call and session and closes the sign-in pages. It returns when nothing of them is left.
func (s *Server) Close() error {
	s.end()
	s.core.Close()
	err := s.desk.close()
	s.work.Wait()
	return err
}

// ServeLines serves one client over newline-delimited JSON, until in ends, the session does, or ctx is done. It returns
// before a blocked read of in does.
func (s *Server) ServeLines(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.core.ServeLines(ctx, in, out)
}

// Handler serves the demo over Streamable HTTP: MCP on every path except those of the sign-in pages.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(signInPath, http.NewCrossOriginProtection().Handler(s.desk))
	mux.Handle("/", s.core)
	return mux
}
