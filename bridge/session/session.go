//lint:file-ignore SA1019 2026-07-28 deprecates logging, and servers of every revision still use it.

// Package session holds one connection to a server: the link, the SDK's client session
// on it, and the tap that sees every unit before the SDK does. The SDK runs the
// protocol; questions and answers are read from the tapped bytes.
package session

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Owner receives the events of a session. Its methods are called without the session's
// mutex, and the connection waits until they return.
type Owner interface {
	// Numbers reserves count consecutive question numbers for questions whose frame is
	// about to be logged, and returns the first.
	Numbers(count int) int
	// IsAsked reports whether the person is already asked, for a list of the server's, to
	// visit the URL with this elicitationId; without an id, this URL.
	IsAsked(s *Session, elicitationID, url string) bool
	// Asked passes a question from the server, after its frame is in the log.
	Asked(s *Session, r conversation.InputRequest)
	// Cancelled reports that the server cancelled a question, which may already be
	// settled.
	Cancelled(question int, reason string)
	// FindURL returns the question with the elicitationId of a completion, and its
	// call; 0, 0 if there is none.
	FindURL(s *Session, elicitationID string) (question, call int)
	// Completed reports that the server has sent the completion of a question's URL.
	Completed(question int)
	// Closing is called before Close ends the session, so that waiting questions can
	// still be answered.
	Closing(s *Session, reason string)
	// Released reports that the questions and calls that still wait get no answer any
	// more, by whom or what (conversation.ByServer and the like) and why. It may be
	// called more than once.
	Released(s *Session, by, reason string)
	// Listed passes the server's catalog each time after lists were read.
	Listed(s *Session, c conversation.Catalog)
}

// Config describes the server that a session connects to, and how the client presents
// itself.
type Config struct {
	Server   string // id
	Name     string // session_id in transcripts
	Spec     transport.Spec
	Settings conversation.ClientSettings
	Log      *wire.Log
	Logger   *slog.Logger
	Version  string        // of the inspector, sent as clientInfo.version
	Probe    time.Duration // how long server/discover may stay unanswered; 0 means DefaultProbe
	MaxFrame int64
	NoLists  bool // reads no list of what the server offers
	// Go runs a goroutine of the session. The caller that ends the session's context
	// also waits for these goroutines.
	Go func(func())
}

// Session is safe for concurrent use. Make it with [New], and end it with Close.
type Session struct {
	Config
	owner   Owner
	life    context.Context // context of sending responses, which outlives ctx
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ready   chan struct{} // signals that the outbox is not empty; capacity 1
	changed chan struct{} // signals that stale is not empty; capacity 1
	follows chan struct{} // signals that other tasks are followed; capacity 1

	taken map[string]conversation.Room // room that each list takes, by method; used by the one goroutine that reads lists

	mu        sync.Mutex
	link      *transport.Link
	sdk       *sdk.ClientSession
	revision  string // negotiated revision; "" before the handshake
	presented conversation.Presented
	handshake handshake
	outgoing  map[string]*outgoing     // our requests without a response, by exact id
	calls     []int                    // the latest calls that sent requests
	incoming  map[string]*incoming     // the server's requests without a response, by wire.IDKey
	asking    map[int]int              // number of incoming questions, by call
	late      []*incoming              // the server's latest questions that were answered
	callTasks map[string]*callTask     // tasks of calls, by id
	ownTasks  map[string]*questionTask // the server's questions that are tasks, by id
	noListen  bool                     // the server is to be asked for no subscription to tasks
	hasTold   bool                     // the server has told of a task
	outbox    []*Response
	unsent    int             // answers given to Respond that are not on the wire
	early     map[string]bool // elicitationIds whose questions are not known yet; true once completed
	strays    int             // number of responses without a request
	stderr    []string
	crash     wording.Crash
	stale     map[string]bool // lists to read again, by method
	ending    string          // the fault that ended the connection; "" for none
	closing   bool
	released  struct{ by, reason string } // who ended the session, and why; nothing can be asked or answered any more
	killed    bool
}

// New prepares a session. The session ends at the latest when life does.
func New(life context.Context, c Config, owner Owner) *Session {
	ctx, cancel := context.WithCancelCause(life)
	return &Session{
		Config: c, owner: owner, life: life, ctx: ctx, cancel: cancel, ready: make(chan struct{}, 1), changed: make(chan struct{}, 1), follows: make(chan struct{}, 1),
		taken: map[string]conversation.Room{}, outgoing: map[string]*outgoing{}, incoming: map[string]*incoming{}, asking: map[int]int{},
		callTasks: map[string]*callTask{}, ownTasks: map[string]*questionTask{}, early: map[string]bool{}, stale: map[string]bool{},
	}
}

// ID returns the session's name in transcripts.
func (s *Session) ID() string { return s.Name }

// Context returns the session's context. It ends with the session, and its cause is
// why.
func (s *Session) Context() context.Context { return s.ctx }

// remembered bounds each list of past requests, of either side. Over HTTP, another
// stream can still deliver a message about a request that is over.
const remembered = 64

// remember appends to a list and drops the oldest entry of a full one.
func remember[T any](list []T, one T) []T {
	if len(list) == remembered {
		list = list[1:]
	}
	return append(list, one)
}

// signal sends on a channel with room for one signal, unless one is in it already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Revision returns the negotiated protocol revision, "" before the handshake.
func (s *Session) Revision() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// modern reports whether the revision is 2026-07-28 or later, in which servers send no
// requests.
func (s *Session) modern() bool { return s.Revision() >= mcp.Revision20260728 }

// exit returns, in words, how the process ended; "" if there is no process or it still
// runs.
func (s *Session) exit() string {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		if exit, ended := link.Exit(); ended {
			return exit.String()
		}
	}
	return ""
}

// Judge parses a question in a response from the server, and refuses a question that
// the person cannot be asked.
func (s *Session) Judge(r *conversation.InputRequest) {
	r.Server, r.Session = s.Server, s.Name
	s.Settings.Judge(r, s.Revision())
}

// labelled returns the frame with the session's server, name and transport, and a
// direction.
func (s *Session) labelled(f wire.Frame, d wire.Direction) wire.Frame {
	f.Server, f.Session, f.Dir, f.Transport = s.Spec.Name, s.Name, d, s.transport()
	return f
}

// Ways holds how servers are reached, in words, by the transports of frames.
var Ways = map[string]string{"stdio": "stdio", "http": "HTTP", "sse": "SSE", "memory": "in process"}

func (s *Session) transport() string {
	for name, way := range Ways {
		if way == s.Spec.How() {
			return name
		}
	}
	return "http"
}

// Explanations of a failure quote the last stderrKept lines of stderr, each cut to
// stderrLineMost bytes.
const (
	stderrKept     = 20
	stderrLineMost = 1000
)

// Stderr implements [transport.Observer].
func (s *Session) Stderr(line []byte, truncated bool, size int64) {
	s.mu.Lock()
	if len(s.stderr) == stderrKept {
		s.stderr = s.stderr[1:]
	}
	kept := string(line[:min(len(line), stderrLineMost)])
	s.stderr = append(s.stderr, kept)
	s.crash.Line(kept)
	s.mu.Unlock()
	s.Log.Append(s.labelled(wire.Frame{Raw: line, Truncated: truncated, Size: size}, wire.Stderr))
}

// LastWords returns the latest lines of the process's standard error, and of all of its lines
// the one that says why it crashed; "" if none does.
func (s *Session) LastWords() (lines []string, cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stderr), s.crash.Cause()
}

// Noted implements [transport.Observer]. It logs a note of the inspector.
func (s *Session) Noted(f wire.Frame) {
	f = s.labelled(f, wire.Meta)
	s.mu.Lock()
	if out := s.outgoing[string(f.Answers)]; out != nil {
		f.Call, f.Round = out.call, out.round
		if out.listens {
			s.refusedToTell() // its stream has ended
		}
	}
	s.mu.Unlock()
	s.Log.Append(f)
}
