package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// DefaultMaxFrame is the size of the largest message that is passed on where
// Options do not say otherwise.
const DefaultMaxFrame = 64 << 20

// defaultGrace is how long a server may take for each step of an orderly end.
const defaultGrace = 2 * time.Second

// Options bound a link.
type Options struct {
	// MaxFrame is the size in bytes of the largest message that is passed on.
	// Of a larger one the first MaxFrame bytes are shown to the observer, and
	// nothing is given to the SDK, except that a call whose answer it was ends
	// with a [Fault]. 0 means DefaultMaxFrame.
	MaxFrame int64
	// Grace is how long a process may take to exit after its standard input was
	// closed, and once more after SIGTERM, and how long an HTTP server may take
	// to answer the DELETE of the session. 0 means defaultGrace.
	Grace time.Duration
	// Outgoing, where set, may put something else in place of a message that the
	// SDK is about to send: what it returns is observed and written.
	Outgoing func(raw []byte) Outgoing

	pauses lookPauses // for tests
}

// Link is one connection to a server.
type Link struct {
	spec   Spec
	way    way
	unhook func() bool // releases the context given to Open

	begin     func()        // starts the end, once
	closed    chan struct{} // closed when nothing of the link is left
	closeErr  error         // set before closed is closed
	connected chan struct{} // closed when conn is set
	conn      mcp.Connection
	hurry     context.CancelFunc // ends the patience with an orderly end
}

// way is one of the ways to reach a server.
type way interface {
	mcp.Transport
	// Done and Exit are those of [Link].
	Done() <-chan struct{}
	Exit() (Exit, bool)
	// end closes everything in an orderly manner, in less patient steps once
	// patience ends, and returns when nothing is left or can be ended.
	end(patience context.Context) error
	// abandon is that of [Link].
	abandon()
}

// ending is the end of a server, for a way to embed.
type ending struct {
	gone chan struct{} // closed when the server has ended by itself or was ended
	exit *Exit         // set before gone is closed; nil where it just was let go
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

// Open starts the server's process, or prepares to reach its URL: that it
// cannot be reached shows when a session is connected. The link is closed when
// ctx ends, as by Close.
//
// Open tries one way only: for [TransportAuto] that is Streamable HTTP, and
// [Spec.Candidates] tells what else there is.
func Open(ctx context.Context, s Spec, o Observer, opts Options) (*Link, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opts.MaxFrame <= 0 {
		opts.MaxFrame = DefaultMaxFrame
	}
	if opts.Grace <= 0 {
		opts.Grace = defaultGrace
	}
	w, err := open(s, &tap{observer: o, max: opts.MaxFrame, outgoing: opts.Outgoing}, opts)
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

func open(s Spec, t *tap, opts Options) (way, error) {
	switch command, remote, builtin := len(s.Command) > 0, s.URL != "", s.Builtin != nil; {
	case command && !remote && !builtin:
		return openProcess(s, t, opts)
	case remote && !command && !builtin:
		return openHTTP(s, t, opts)
	case builtin && !command && !remote:
		return openBuiltin(s, t, opts)
	default:
		return nil, fmt.Errorf("server %q: want exactly one of a command, a URL and a built-in server", s.Name)
	}
}

// Transport is what the SDK's client connects to, once. A session on it ends
// when the link is closed.
func (l *Link) Transport() mcp.Transport { return dialer{l} }

// dialer keeps the connection that the SDK gets, for what does not go out
// through the SDK.
type dialer struct{ link *Link }

func (d dialer) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.link.way.Connect(ctx)
	if err == nil {
		d.link.conn = conn
		close(d.link.connected)
	}
	return conn, err
}

// Respond answers a request that the observer did not let the SDK see. It passes
// the observer like all that goes out, waits until the SDK is connected, and
// returns when the answer is written. The id is that of the request, exactly; failure
// is nil for a result.
func (l *Link) Respond(ctx context.Context, id, result json.RawMessage, failure *jsonrpc.Error) error {
	select {
	case <-l.connected:
	case <-l.closed:
		return errLinkClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	sdkID, err := idOf(wire.Message{Kind: wire.Request, ID: id})
	if err != nil {
		return err
	}
	response := &jsonrpc.Response{ID: sdkID, Result: result}
	if failure != nil {
		response = &jsonrpc.Response{ID: sdkID, Error: failure}
	}
	return l.conn.Write(ctx, response)
}

// How says in a word how the server is really reached; see [Spec.How].
func (l *Link) How() string { return l.spec.How() }

// Done is closed when the server has ended: its process is gone and all that it
// wrote was observed, the built-in server's session is over, or a URL that was
// reached before cannot be reached any more. The latter shows only where a
// request or a stream fails.
func (l *Link) Done() <-chan struct{} { return l.way.Done() }

// Exit says how the server ended; false while it runs.
func (l *Link) Exit() (Exit, bool) { return l.way.Exit() }

// Close ends the connection in an orderly manner and returns when nothing of it
// is left. A process has its standard input closed, then gets SIGTERM, then
// SIGKILL, with time between, and so does whatever it has started in its
// process group. An HTTP session is deleted and its streams are ended. If ctx
// ends first, the patience ends with it: what is left is killed or cut off.
//
// It is safe to call more than once and with a session still open. Release
// handlers that wait for a person first.
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

// Exit is how a server's process ended.
type Exit struct {
	Code   int    // exit code; -1 if a signal ended it
	Signal string // the signal that ended it, in words; "" if none did
	Err    error  // what is wrong beyond that: it could not be killed, its pipes stayed open
}

// String says how it ended: "exited with code 1", "ended by signal: killed".
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

// failed reports whether the exit is a failure. A signal is none where the
// process was asked to end.
func (e Exit) failed(asked bool) bool {
	return e.Code > 0 || e.Err != nil || e.Signal != "" && !asked
}

// errLinkClosed is why nothing more goes through a link.
var errLinkClosed = errors.New("the connection was closed")
