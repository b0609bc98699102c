//lint:file-ignore SA1019 2026-07-28 deprecates logging, and servers of every revision still use it.

// Package session is one connection to a server: the link, the SDK's client session
// on it, and the tap that sees every unit before the SDK does. The SDK runs the
// protocol; what a person sees and answers is read from the tapped bytes.
package session

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// Owner is told what happens on a connection. Its methods are called without the
// session's mutex, and hold up the connection until they return.
type Owner interface {
	// Numbers reserves numbers in a row for questions whose frame is about to be
	// logged, and returns the first.
	Numbers(count int) int
	// Asked has a question of the server's once its frame is in the log.
	Asked(s *Session, r client.InputRequest)
	// Cancelled says that the server took a question back, which may be settled.
	Cancelled(question int, reason string)
	// FindURL finds the question that the server says to be complete, and its call.
	// They are 0 if there is none.
	FindURL(s *Session, elicitationID string) (question, call int)
	// Completed says that the server said so.
	Completed(question int)
	// Closing lets what waits be answered while that is possible.
	Closing(s *Session, reason string)
	// Released says that what still waits has no answer any more. It may be called
	// more than once.
	Released(s *Session, byServer bool, reason string)
	// Listed has what the server offers, whenever that was read.
	Listed(s *Session, c catalog.Catalog)
}

// Config says what a session connects to, and as what.
type Config struct {
	Server   string // id
	Name     string // session_id in transcripts
	Spec     target.Spec
	Settings client.Settings
	Log      *wire.Log
	Logger   *slog.Logger
	Version  string        // of the inspector, sent as clientInfo.version
	Probe    time.Duration // how long server/discover may go unanswered; 0 means DefaultProbe
	MaxFrame int64
	// Go runs what goes on beside the session's methods. Whoever ends the session's
	// context waits for it.
	Go func(func())
}

// Session is safe for concurrent use. Make it with [New], and end it with Close.
type Session struct {
	Config
	owner   Owner
	life    context.Context // of the responses, which outlast ctx
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ready   chan struct{} // there is something in the outbox; capacity 1
	changed chan struct{} // there is something in stale; capacity 1

	listing chan struct{}           // one list request at a time; see list
	taken   map[string]catalog.Room // by each list, by method; of who has that turn

	mu        sync.Mutex
	link      *target.Link
	sdk       *sdk.ClientSession
	revision  string // negotiated; "" before it is
	handshake handshake
	tickets   map[string]*outgoing // our requests that are about to be sent, by what tells them
	outgoing  map[string]*outgoing // those without a response, by exact id
	stopped   []*outgoing          // the latest that ended without one
	calls     []int                // the latest that made requests
	incoming  map[string]*incoming // the server's requests without a response
	asking    map[int]int          // how many of those are questions, by call
	late      []*incoming          // the latest that had their answer
	outbox    []*Response
	unsent    int             // responses that are not on the wire
	early     map[string]bool // elicitationIds whose questions are about to come: whether they are completed
	strays    int             // responses that nothing asked for
	stderr    []string
	stale     map[string]bool // lists that have changed, by method
	tokens    int
	prepared  map[string]target.Outgoing // by the id under which they go through the SDK
	spoilt    map[string]*outgoing       // requests that are to go out wrong, by what tells them
	ending    string                     // what deliberately ended the connection; "" for nothing
	closing   bool
	released  bool // nothing can be asked or answered any more
	killed    bool
}

// New prepares a session, which lives at most as long as life.
func New(life context.Context, c Config, owner Owner) *Session {
	ctx, cancel := context.WithCancelCause(life)
	return &Session{
		Config: c, owner: owner, life: life, ctx: ctx, cancel: cancel, ready: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		listing: make(chan struct{}, 1), taken: map[string]catalog.Room{},
		tickets: map[string]*outgoing{}, outgoing: map[string]*outgoing{}, incoming: map[string]*incoming{}, asking: map[int]int{},
		early: map[string]bool{}, stale: map[string]bool{}, prepared: map[string]target.Outgoing{}, spoilt: map[string]*outgoing{},
	}
}

// ID names the session in transcripts.
func (s *Session) ID() string { return s.Name }

// Context ends with the session. Its cause is why that ended.
func (s *Session) Context() context.Context { return s.ctx }

// remembered is how many requests that are over are still known, on either side:
// over HTTP what is said of them can be overtaken on another stream.
const remembered = 64

// remember adds to a list of which the oldest are forgotten.
func remember[T any](list []T, one T) []T {
	if len(list) == remembered {
		list = list[1:]
	}
	return append(list, one)
}

// Info is what a server said of itself in the handshake.
type Info struct {
	Name, Title, Version string
	Protocol             string // negotiated revision
	Negotiated           string // how, in words
	Instructions         string
	Capabilities         []string
	How                  string // how it was really reached
}

// info reads the handshake.
func (s *Session) info() Info {
	res := s.sdk.InitializeResult()
	info := Info{Protocol: res.ProtocolVersion, Instructions: res.Instructions, How: s.link.How(), Negotiated: s.negotiated()}
	if res.ServerInfo != nil {
		info.Name, info.Title, info.Version = res.ServerInfo.Name, res.ServerInfo.Title, res.ServerInfo.Version
	}
	c := res.Capabilities
	if c == nil {
		return info
	}
	add := func(is, changes bool, name string) {
		if is && changes {
			name += " (list changes)"
		}
		if is {
			info.Capabilities = append(info.Capabilities, name)
		}
	}
	add(c.Tools != nil, c.Tools != nil && c.Tools.ListChanged, "tools")
	add(c.Prompts != nil, c.Prompts != nil && c.Prompts.ListChanged, "prompts")
	add(c.Resources != nil, c.Resources != nil && c.Resources.ListChanged, "resources")
	add(c.Completions != nil, false, "completions")
	add(c.Logging != nil, false, "logging")
	return info
}

// Revision is the negotiated protocol revision, "" before it is.
func (s *Session) Revision() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// modern reports whether the server makes no requests of its own.
func (s *Session) modern() bool { return s.Revision() >= mcp.Revision20260728 }

// exit says in words how the process ended; "" where there is none, or it runs.
func (s *Session) exit() string {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link == nil {
		return ""
	}
	exit, ok := link.Exit()
	if !ok {
		return ""
	}
	return exit.String()
}

// Judge reads what a response of the server's asks, and refuses what the person
// cannot be asked.
func (s *Session) Judge(r *client.InputRequest) {
	r.Server, r.Session = s.Server, s.Name
	s.Settings.Judge(r, s.Revision())
}

// labelled is a frame with the server and the session that it is of.
func (s *Session) labelled(f wire.Frame, d wire.Direction) wire.Frame {
	f.Server, f.Session, f.Dir, f.Transport = s.Spec.Name, s.Name, d, s.transport()
	return f
}

func (s *Session) transport() string {
	switch s.Spec.How() {
	case "stdio":
		return "stdio"
	case "SSE":
		return "sse"
	case "in process":
		return "memory"
	default:
		return "http"
	}
}

// A failure is explained with the last lines of stderr, each cut to some bytes.
const (
	stderrKept     = 20
	stderrLineMost = 1000
)

// Stderr implements [target.Observer].
func (s *Session) Stderr(line []byte, truncated bool, size int64) {
	s.mu.Lock()
	if len(s.stderr) == stderrKept {
		s.stderr = s.stderr[1:]
	}
	s.stderr = append(s.stderr, string(line[:min(len(line), stderrLineMost)]))
	s.mu.Unlock()
	s.Log.Append(s.labelled(wire.Frame{Raw: line, Truncated: truncated, Size: size}, wire.Stderr))
}

// LastWords are the latest lines of the process's standard error.
func (s *Session) LastWords() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stderr)
}

// Noted implements [target.Observer]. It logs what the inspector itself has to say.
func (s *Session) Noted(f wire.Frame) {
	f = s.labelled(f, wire.Meta)
	s.mu.Lock()
	if out := s.outgoing[string(f.Answers)]; out != nil {
		f.Call, f.Round = out.call, out.round
	}
	s.mu.Unlock()
	s.Log.Append(f)
}
