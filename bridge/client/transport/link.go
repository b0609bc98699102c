// Package transport connects to MCP servers: a process over stdio, Streamable HTTP, legacy
// HTTP+SSE, or a server in this process. Each connection is tapped below the SDK: an
// [Observer] sees the exact bytes of every message before the SDK does, and decides
// which bytes the SDK gets.
package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// defaultGrace is the time for each step of an orderly end if Options.Grace is 0.
const defaultGrace = 2 * time.Second

// Options are the limits of a link, and a hook for its outgoing messages.
type Options struct {
	// MaxFrame is the size in bytes of the largest message that is passed on. Of a
	// larger message the observer sees the first MaxFrame bytes, and the SDK gets
	// nothing, except that a call with such a response fails with a [Failure]. 0 means
	// wire.DefaultMaxFrame.
	MaxFrame int64
	// Grace is how long a process may take to exit after its standard input was closed,
	// and again after SIGTERM; and how long an HTTP server may take to answer the
	// DELETE of the session. 0 means defaultGrace.
	Grace time.Duration
	// Outgoing, if set, replaces a message that the SDK is about to send: its result is
	// observed and written. The context has the values of that of the request to the SDK;
	// so has the context of the request's cancellation.
	Outgoing func(ctx context.Context, raw []byte) Outgoing

	pauses lookPauses // for tests
}

// Link is one connection to a server.
type Link struct {
	spec   target.Spec
	way    connection
	unhook func() bool // undoes the hook on the context given to Open

	begin     func()        // starts way.end, once
	closed    chan struct{} // closed when way.end has returned
	closeErr  error         // set before closed is closed
	connected chan struct{} // closed when conn is set
	conn      mcp.Connection
	hurry     context.CancelFunc // ends the context given to way.end
}

// connection is one kind of connection to a server: a process, HTTP, or a built-in server.
type connection interface {
	mcp.Transport
	// Done and Exit implement the methods of [Link].
	Done() <-chan struct{}
	Exit() (Exit, bool)
	// end closes the connection in an orderly manner and returns when nothing is left,
	// or nothing more can be ended. When patience ends, it skips the waiting.
	end(patience context.Context) error
	// abandon implements [Link.Abandon].
	abandon()
}

// ending holds the end of a server. A way embeds it.
type ending struct {
	gone chan struct{} // closed when the server has ended, by itself or not
	exit *Exit         // set before gone is closed; nil if the link was closed without an exit to report
}

func (e *ending) Done() <-chan struct{} { return e.gone }

func (e *ending) Exit() (Exit, bool) {
	select {
	case <-e.gone:
		if e.exit != nil {
			return *e.exit, true
		}
	default:
	}
	return Exit{}, false
}

// Open starts the server's process, or prepares requests to its URL; an unreachable URL
// only shows when a session connects. When ctx ends, the link is closed as by Close.
//
// Open tries only one transport: for [target.TransportAuto] this is Streamable HTTP, and
// [target.Spec.Candidates] lists the alternatives.
func Open(ctx context.Context, s target.Spec, o Observer, opts Options) (*Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.MaxFrame <= 0 {
		opts.MaxFrame = wire.DefaultMaxFrame
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	var w connection
	var err error
	t := &tap{observer: o, max: opts.MaxFrame, outgoing: opts.Outgoing}
	switch command, remote, builtin := len(s.Command) > 0, s.URL != "", s.Builtin != nil; {
	case command && !remote && !builtin:
		w, err = openProcess(s, t, opts)
	case remote && !command && !builtin:
		w, err = openHTTP(s, t, opts)
	case builtin && !command && !remote:
		w, err = openBuiltin(s, t, opts)
	default:
		err = fmt.Errorf("server %q: want exactly one of a command, a URL and a built-in server", s.Name)
	}
	if err != nil {
		return nil, err
	}
	l := &Link{spec: s, way: w, closed: make(chan struct{}), connected: make(chan struct{})}
	patience, hurry := context.WithCancel(context.Background())
	l.hurry = hurry
	l.begin = sync.OnceFunc(func() {
		go func() {
			defer close(l.closed)
			defer hurry()
			l.closeErr = l.way.end(patience)
		}()
	})
	l.unhook = context.AfterFunc(ctx, l.begin)
	return l, nil
}

// Transport returns the transport that the SDK's client connects to, once. A session on
// it ends when the link is closed.
func (l *Link) Transport() mcp.Transport { return dialer{l} }

// dialer records the connection that the SDK gets, so that Send can write to it as well.
type dialer struct{ link *Link }

func (d dialer) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.link.way.Connect(ctx)
	if err == nil {
		d.link.conn = conn
		close(d.link.connected)
	}
	return conn, err
}

// Send sends a message that is not the SDK's, such as the response to a request that the
// observer has kept from it. The message passes the observer like every outgoing one. Send
// waits until the SDK is connected, and returns when the message is written.
func (l *Link) Send(ctx context.Context, out Outgoing) error {
	select {
	case <-l.connected:
	case <-l.closed:
		return errLinkClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	// The SDK can only write messages of its own types. It writes this response, and leaving
	// replaces it with the message.
	return l.conn.Write(context.WithValue(ctx, sentKey{}, out), &jsonrpc.Response{Result: json.RawMessage("{}")})
}

// sentKey is the context key of the message that Send passes to leaving.
type sentKey struct{}

// How names the transport by which the server is reached; see [target.Spec.How].
func (l *Link) How() string { return l.spec.How() }

// Done returns a channel that is closed when the server has ended: its process is gone
// and all its output was observed, the built-in server's session is over, or a URL that
// was reached before has become unreachable. The last is only noticed when a request or
// a stream fails.
func (l *Link) Done() <-chan struct{} { return l.way.Done() }

// Exit returns how the server ended, and false while it runs. It stays false for a URL or a
// built-in server that the client has closed, because no process exits.
func (l *Link) Exit() (Exit, bool) { return l.way.Exit() }

// Close ends the connection in an orderly manner and returns when nothing of it is
// left. For a process, it closes the standard input, then sends SIGTERM and SIGKILL,
// with time in between, to the whole process group. For HTTP, it deletes the session
// and ends its streams. When ctx ends, Close stops waiting and kills or cuts off what
// is left.
//
// It is safe to call more than once and with a session still open. Handlers that wait
// for a person must be released first.
func (l *Link) Close(ctx context.Context) error {
	l.unhook()
	l.begin()
	select {
	case <-l.closed:
		return l.closeErr
	case <-ctx.Done():
	}
	l.hurry()
	<-l.closed
	return l.closeErr
}

// Exit describes how a server's process ended.
type Exit struct {
	Code   int    // exit code; -1 if a signal ended it
	Signal string // the signal that ended it, in words; "" if none did
	Err    error  // any other problem: the process could not be killed, its pipes stayed open
}

// String describes the exit: "exited with code 1", "ended by signal: killed".
func (e Exit) String() string {
	n := e.note()
	return n.Exit()
}

func (e Exit) note() wire.Note {
	n := wire.Note{Kind: wire.NoteProcessExited, Signal: e.Signal}
	if e.Signal == "" && e.Code >= 0 {
		n.Code = &e.Code
	}
	if e.Err != nil {
		n.Why = e.Err.Error()
	}
	return n
}

// errLinkClosed is the error of using a closed link.
var errLinkClosed = errors.New("the connection was closed")

// Tapped is one message that the tap saw, or bytes that are not a message. The observer may
// keep the bytes; nobody may change them.
type Tapped struct {
	// Frame describes the message: Dir, Raw with Size and Truncated (Raw is only the
	// head of a message over Options.MaxFrame), Kind and Message (for a truncated
	// message only what its two ends tell), Stream, Status, and Answers.
	//
	// Header is that of the HTTP request that carried the message, or of the HTTP
	// response if this is its first message; else nil. HTTPMethod and URL describe the
	// HTTP request; they are set if Header is a request's, or that of the response to a
	// GET. The URL has no user information.
	wire.Frame

	// Related is the JSON-RPC id of the request whose POST was answered with this
	// message; nil for other streams.
	Related json.RawMessage
}

// Observer sees every unit before the SDK does. Its methods are called concurrently,
// and the connection waits until they return.
type Observer interface {
	// Sending is called before the bytes are written. If it returns false they are not
	// written: a response or notification is dropped silently, a request fails. The
	// context is like that of Options.Outgoing.
	Sending(context.Context, Tapped) bool
	// Received returns the bytes that the SDK gets in place of u.Raw: the same bytes,
	// another message, or nil for nothing. The result is ignored for noise and
	// truncated units. A POST needs an answer: if its JSON answer is dropped, the SDK
	// gets an error instead.
	Received(u Tapped) (deliver []byte)
	// Undelivered follows Sending if the bytes did not reach the server, or the server
	// refused them (HTTP status 400 and above). A request that the server answers with
	// a JSON-RPC error counts as delivered.
	Undelivered(u Tapped, err error)
	// Stderr receives one line of the process's standard error without its end, and its
	// full size in bytes. If truncated, line is only its head.
	Stderr(line []byte, truncated bool, size int64)
	// Noted receives a note about the transport: a frame with Note and, if known,
	// Header, Status and HTTPMethod of the HTTP exchange; Failed for a failure; and
	// Answers, the id of the request that gets no response because of it.
	Noted(wire.Frame)
}

// Outgoing is a message to send, and how to send it.
type Outgoing struct {
	// Frame holds the bytes, and further fields for the observer.
	Frame wire.Frame
	// Pieces are the bytes again, split up to be written one piece after the other,
	// with Pause in between; nil if they are written at once.
	Pieces [][]byte
	Pause  time.Duration
	// Unasked means that the SDK waits for no response: an HTTP response is observed
	// and then discarded.
	Unasked bool
}

// slowly writes the pieces one after the other. When it is late it skips pauses, so that a busy
// machine hardly takes longer. It stops when stop is closed.
func (o Outgoing) slowly(w io.Writer, stop <-chan struct{}) error {
	began := time.Now()
	for i, piece := range o.Pieces {
		if i > 0 && await(context.Background(), stop, time.Until(began.Add(time.Duration(i)*o.Pause))) {
			return errLinkClosed
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// What follows ends connections as a rude or a crashed client does.

// Abandon closes our end without an orderly end: the input of a process, or every HTTP
// connection without deleting the session. The server is not ended. A server behind a
// URL counts as lost afterwards.
func (l *Link) Abandon() { l.way.abandon() }

func (c *lineConn) abandon() { _ = c.w.Close() } // an error means that the pipe is broken, which is as good as closed

func (r *remote) abandon() {
	r.lose(errors.New("all connections were closed on purpose"))
	r.mu.Lock()
	r.cut(errLinkClosed)
	r.mu.Unlock()
	r.base.CloseIdleConnections()
}

// Kill kills the server's process group, if there is a running process.
func (l *Link) Kill() {
	if p, ok := l.way.(*process); ok && p.running() {
		p.group.kill()
	}
}

// DropStream closes the open event stream that answers the request with this id, or the
// standalone stream of the GET if related is nil. It returns false if there is none.
func (l *Link) DropStream(related json.RawMessage) bool {
	s := l.openStream(related)
	if s == nil {
		return false
	}
	s.dropped.Store(true)
	_ = s.resp.Body.Close() // the reader of the stream gets the error
	return true
}

// HasStream reports whether there is an open stream for DropStream to close.
func (l *Link) HasStream(related json.RawMessage) bool { return l.openStream(related) != nil }

func (l *Link) openStream(related json.RawMessage) *eventStream {
	r, ok := l.way.(*remote)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.open {
		if related != nil && bytes.Equal(s.posted.ID, related) || related == nil && s.standalone {
			return s
		}
	}
	return nil
}

// TryNext reports whether err, from connecting over Streamable HTTP, is typical of a
// server that only supports HTTP+SSE: status 400, 404 or 405 for the POST of
// initialize, without a JSON-RPC error (specification 2025-11-25, Transports, Backwards
// Compatibility).
func TryNext(err error) bool {
	failure, ok := FailureOf(err)
	return ok && failure.Method == protocol.MethodInitialize && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, failure.Status)
}
