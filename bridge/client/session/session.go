// Package session holds one connection to a server: the link, the SDK's client session
// on it, and the tap that sees every unit before the SDK does. The SDK runs the
// protocol; questions and answers are read from the tapped bytes.
package session

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/wire"
)

// Owner receives the events of a session. Its methods are called without the session's
// mutex, and the connection waits until they return.
type Owner interface {
	// IsAsked reports whether the person is already asked, for a list of the server's, to
	// visit the URL with this elicitationId; without an id, this URL.
	IsAsked(s *Session, elicitationID, url string) bool
	// Asked passes a question from the server, after its frame is in the log.
	Asked(s *Session, r conversation.InputRequest)
	// Cancelled reports that the server cancelled a question, which may already be
	// settled.
	Cancelled(question int, reason string)
	// Completed reports that the server has sent the completion of a question's URL, of which
	// Asked may be told only later.
	Completed(question int)
	// Closing is called before Close ends the session, so that waiting questions can
	// still be answered.
	Closing(s *Session, reason string)
	// Ended reports that the questions and calls that still wait get no answer any
	// more, by whom or what (conversation.ByServer and the like) and why. It may be
	// called more than once.
	Ended(s *Session, by, reason string)
	// Listed passes the server's catalog each time after lists were read.
	Listed(s *Session, c conversation.Catalog)
}

// Traces joins sessions with the traces of others.
type Traces interface {
	// Context returns what a request, which will be in the log, carries in its _meta to name its span (SEP-414).
	// receives says that spans of the server are received.
	Context(l *wire.Log, request wire.Frame, receives bool) []Member
	// Hand begins to receive spans of a server. It returns how the server is reached, since a process is told by its
	// environment, and the endpoint.
	Hand(spec target.Spec) (told target.Spec, endpoint string, err error)
}

// Config describes the server that a session connects to, and how the client presents
// itself.
type Config struct {
	Server   string // id
	Name     string // session_id in transcripts
	Spec     target.Spec
	Settings conversation.ClientSettings
	Log      *wire.Log
	// Conversation knows from the frames in Log which call a message belongs to.
	Conversation *conversation.Conversation
	Logger       *slog.Logger
	Version      string        // of the inspector, sent as clientInfo.version
	Probe        time.Duration // how long server/discover may stay unanswered; 0 means DefaultProbe
	MaxFrame     int64
	NoLists      bool              // reads no list of what the server offers
	Room         conversation.Room // limits the lists together; zero means conversation.CatalogMost
	// Mask masks the secrets that the log masks in JSON of a server, which its label names; nil
	// where there are none.
	Mask   func(label string, raw []byte) []byte
	Traces Traces // nil for none
	// Go runs a goroutine of the session. The caller that ends the session's context
	// also waits for these goroutines.
	Go func(func())
}

// Session is one connection to a server. Make it with [New], and end it with Close. It is safe for
// concurrent use: each of its parts has a mutex for its own fields.
type Session struct {
	Config
	owner  Owner
	life   context.Context // context of sending responses, which outlives ctx
	ctx    context.Context
	cancel context.CancelCauseFunc

	link atomic.Pointer[transport.Link]    // nil before it is open
	sdk  atomic.Pointer[sdk.ClientSession] // nil before the handshake is done

	handshake                // what client and server have agreed on
	requests   requests      // ours without a response
	outbox     outbox        // the server's requests without a response, and the responses to send
	ownTasks   questionTasks // the server's questions that are tasks of ours
	callTasks                // the tasks that our calls became
	staleLists               // of what the server offers
	lastWords                // of the process
	strays     atomic.Int64  // number of responses without a request
	unheard    atomic.Bool   // the latest subscription is neither acknowledged nor answered

	closing  atomic.Bool
	ending   atomic.Pointer[fault.Plan] // the fault that ended the connection
	released atomic.Pointer[released]
}

// released says who ended a session, and why.
type released struct{ by, reason string }

// New prepares a session. The session ends at the latest when life does.
func New(life context.Context, c Config, owner Owner) *Session {
	s := &Session{Config: c, owner: owner, life: life}
	s.ctx, s.cancel = context.WithCancelCause(life)
	s.callTasks.byID, s.follows = map[string]*callTask{}, make(chan struct{}, 1)
	s.stale, s.changed = map[string]bool{}, make(chan struct{}, 1)
	s.unread, s.toolsRead = context.WithCancel(context.Background())
	s.requests.byID = map[string]*outgoing{}
	s.outbox.byID, s.outbox.ready = map[string]*incoming{}, make(chan struct{}, 1)
	s.ownTasks = questionTasks{outbox: &s.outbox, send: s.sendPrepared, run: c.Go, ctx: s.ctx, cancelled: owner.Cancelled}
	s.ownTasks.byID = map[string]*questionTask{}
	return s
}

// ID returns the session's name in transcripts.
func (s *Session) ID() string { return s.Name }

// Context returns the session's context. It ends with the session, and its cause is
// why.
func (s *Session) Context() context.Context { return s.ctx }

// Respond queues a response to be sent, and does not wait until it is sent.
func (s *Session) Respond(r Response) {
	if r.Task != "" {
		s.ownTasks.settle(&r)
		return
	}
	s.outbox.put(&r)
}

// Observer returns what observes the session's link.
func (s *Session) Observer() transport.Observer { return tap{s} }

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

// table holds what is under way, by id. Code that takes several steps at once holds mu itself.
type table[T any] struct {
	mu   sync.Mutex
	byID map[string]*T
}

// find returns the entry with this id; nil if there is none.
func (t *table[T]) find(id string) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// take removes the entry with this id, and returns it; nil if there is none.
func (t *table[T]) take(id string) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.byID[id]
	delete(t.byID, id)
	return entry
}

// signal sends on a channel with room for one signal, unless one is in it already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// exit returns, in words, how the process ended; "" if there is no process or it still
// runs.
func (s *Session) exit() string {
	if link := s.link.Load(); link != nil {
		if exit, ended := link.Exit(); ended {
			return exit.String()
		}
	}
	return ""
}

// Judge parses a question from the server, as the log has it, and refuses a question that the
// person cannot be asked.
func (s *Session) Judge(r *conversation.InputRequest) {
	r.Server, r.Session = s.Server, s.Name
	if s.Mask != nil {
		if masked := s.Mask(s.Spec.Name, r.Params); !bytes.Equal(masked, r.Params) {
			r.Exact, r.Params = r.Params, masked
		}
	}
	s.Settings.ParseOrRefuse(r, s.Revision())
}

// labelled returns the frame with the session's server, name and transport, and a
// direction.
func (s *Session) labelled(f wire.Frame, d wire.Direction) wire.Frame {
	f.Server, f.Session, f.Dir, f.Transport = s.Spec.Name, s.Name, d, s.Spec.OfFrames()
	return f
}

// Noted implements [transport.Observer]. It logs a note of the inspector.
func (s *Session) Noted(f wire.Frame) {
	f = s.labelled(f, wire.Meta)
	if out := s.requests.find(string(f.Answers)); out != nil {
		f.Call, f.Round = out.Call, out.Round
		if out.listens {
			s.callTasks.refused() // the stream of the subscription has ended
		}
	}
	s.Log.Append(f)
}

// Explanations of a failure quote the last stderrKept lines of stderr, each cut to
// stderrLineMost bytes.
const (
	stderrKept     = 20
	stderrLineMost = 1000
)

// lastWords are what a process has written to its standard error.
type lastWords struct {
	mu    sync.Mutex
	lines []string
	crash wording.Crash
}

func (w *lastWords) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lines) == stderrKept {
		w.lines = w.lines[1:]
	}
	kept := string(line[:min(len(line), stderrLineMost)])
	w.lines = append(w.lines, kept)
	w.crash.Line(kept)
}

// restart forgets the lines of an earlier process.
func (w *lastWords) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines, w.crash = nil, wording.Crash{}
}

// LastWords returns the latest lines of the process's standard error, and of all of its lines
// the one that says why it crashed; "" if none does.
func (w *lastWords) LastWords() (lines []string, cause string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.lines), w.crash.Cause()
}
