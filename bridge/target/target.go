// Package target reaches MCP servers: a process over stdio, Streamable HTTP,
// legacy HTTP+SSE, or a server in this process. Each connection is tapped below
// the SDK, so that an [Observer] sees the exact bytes of every message before
// the SDK does and decides what the SDK is given.
package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// Spec says how one server is reached: by exactly one of Command, URL and Builtin.
type Spec struct {
	Name string // what people call it
	// Disabled is set for a server that its file leaves out. Nothing else of it
	// was read.
	Disabled bool
	// From is where its file describes the server, as "mcp.json:12"; "" if no file does.
	From string
	// Problem is why the server cannot be reached as its file describes it; nil if it can.
	Problem error
	// Protocol and Elicitation are how the client is to present itself, in the
	// words of the file, which are not checked here; "" where it does not say.
	Protocol, Elicitation string

	Command []string // program and arguments
	Env     []string // K=V, added to the inspector's own environment
	Dir     string   // working directory of the process; the inspector's own if empty

	URL       string
	Transport Transport
	// Header is added to each request to the URL's own origin (scheme, host and
	// port), and to no other. It replaces headers of the same name.
	Header http.Header

	Builtin func() *mcp.Server // makes a server to run in this process
}

// Transport is the protocol that is spoken to a URL.
type Transport uint8

// The transports.
const (
	TransportAuto Transport = iota // Streamable HTTP, then HTTP+SSE; see [Spec.Candidates]
	TransportHTTP                  // Streamable HTTP, revision 2025-03-26 and later
	TransportSSE                   // HTTP+SSE of revision 2024-11-05
)

func (t Transport) String() string {
	switch t {
	case TransportAuto:
		return "auto"
	case TransportHTTP:
		return "http"
	case TransportSSE:
		return "sse"
	default:
		return fmt.Sprintf("Transport(%d)", uint8(t))
	}
}

// ParseTransport reads the command line's name of a transport. The empty
// string is auto.
func ParseTransport(s string) (Transport, error) {
	switch s {
	case "", "auto":
		return TransportAuto, nil
	case "http":
		return TransportHTTP, nil
	case "sse":
		return TransportSSE, nil
	default:
		return 0, fmt.Errorf("unknown transport %q: want auto, http or sse", s)
	}
}

// The ways in which a server is reached, as [Spec.How] and [Link.How] say them.
const (
	viaStdio   = "stdio"
	viaHTTP    = "HTTP"
	viaSSE     = "SSE"
	viaBuiltin = "in process"
)

// How says in a word how the server is reached: "stdio", "HTTP", "SSE" or
// "in process", or "" where its file does not tell. For [TransportAuto] it is what is tried first.
func (s Spec) How() string {
	switch {
	case s.Builtin != nil:
		return viaBuiltin
	case s.URL == "" && s.Problem != nil && len(s.Command) == 0:
		return "" // nothing says
	case s.URL == "":
		return viaStdio
	case s.Transport == TransportSSE:
		return viaSSE
	default:
		return viaHTTP
	}
}

// Address is the command line, or the URL without its password, for people.
func (s Spec) Address() string {
	switch {
	case s.Builtin != nil:
		return "built in"
	case s.URL == "":
		words := make([]string, len(s.Command))
		for i, word := range s.Command {
			words[i] = shellWord(word)
		}
		return strings.Join(words, " ")
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return u.Redacted()
}

// Key names what is reached, the same in every run: a URL, or a command in its
// folder. Nothing of these can be read from it. It is "" where there is nothing
// to reach.
func (s Spec) Key() string {
	words := []string{s.URL}
	switch {
	case s.Builtin != nil:
		words = []string{viaBuiltin}
	case len(s.Command) > 0:
		dir, err := filepath.Abs(s.Dir)
		if err != nil {
			dir = s.Dir
		}
		words = append([]string{dir}, s.Command...)
	case s.URL == "":
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// shellWord quotes a word as a POSIX shell would need it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%+,-./:=@_^", r) || r > 127
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Candidates lists what is to be tried, in order, each with a transport of its
// own: for [TransportAuto] Streamable HTTP and then HTTP+SSE, otherwise the
// spec itself. The next one is worth trying only if [TryNext] says so.
func (s Spec) Candidates() []Spec {
	if s.URL == "" || s.Transport != TransportAuto {
		return []Spec{s}
	}
	modern, legacy := s, s
	modern.Transport, legacy.Transport = TransportHTTP, TransportSSE
	return []Spec{modern, legacy}
}

// TryNext reports whether err, from connecting a session over Streamable HTTP,
// is what a server that only knows HTTP+SSE answers: 400, 404 or 405 to the
// POST of initialize (specification 2025-11-25, Transports, Backwards
// Compatibility), without a JSON-RPC error of its own.
func TryNext(err error) bool {
	fault, ok := FaultOf(err)
	return ok && fault.Method == "initialize" && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}, fault.Status)
}

// DefaultMaxFrame is the size of the largest message that is passed on where
// Options do not say otherwise.
const DefaultMaxFrame = 64 << 20

// DefaultGrace is how long a server may take for each step of an orderly end.
const DefaultGrace = 2 * time.Second

// Options bound a link.
type Options struct {
	// MaxFrame is the size in bytes of the largest message that is passed on.
	// Of a larger one the first MaxFrame bytes are shown to the observer, and
	// nothing is given to the SDK, except that a call whose answer it was ends
	// with a [Fault]. 0 means DefaultMaxFrame.
	MaxFrame int64
	// Grace is how long a process may take to exit after its standard input was
	// closed, and once more after SIGTERM, and how long an HTTP server may take
	// to answer the DELETE of the session. 0 means DefaultGrace.
	Grace time.Duration
	// Outgoing, where set, may put other words into a message that the SDK is
	// about to send: what it returns is observed and written in its place.
	Outgoing func(raw []byte) []byte
}

// Link is one connection to a server.
type Link struct {
	way    way
	unhook func() bool // releases the context given to Open

	closing   sync.Once
	closed    chan struct{} // closed when nothing of the link is left
	closeErr  error         // set before closed is closed
	connected chan struct{} // closed when conn is set
	conn      mcp.Connection
	hurry     chan struct{} // closed when patience is over
	hurryOnce sync.Once
}

// way is one of the ways to reach a server.
type way interface {
	mcp.Transport
	how() string
	// done is closed when the server has ended by itself or was ended; never
	// where that cannot be known.
	done() <-chan struct{}
	exit() (Exit, bool)
	// end closes everything in an orderly manner, in less patient steps once
	// hurry is closed, and returns when nothing is left or can be ended.
	end(hurry <-chan struct{}) error
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
		opts.Grace = DefaultGrace
	}
	w, err := open(s, &tap{observer: o, max: opts.MaxFrame, outgoing: opts.Outgoing}, opts)
	if err != nil {
		return nil, err
	}
	l := &Link{way: w, closed: make(chan struct{}), hurry: make(chan struct{}), connected: make(chan struct{})}
	l.unhook = context.AfterFunc(ctx, l.begin)
	return l, nil
}

func open(s Spec, t *tap, opts Options) (way, error) {
	ways := 0
	for _, given := range []bool{len(s.Command) > 0, s.URL != "", s.Builtin != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return nil, fmt.Errorf("server %q: want exactly one of a command, a URL and a built-in server", s.Name)
	case s.Builtin != nil:
		return openBuiltin(s, t, opts)
	case s.URL != "":
		return openHTTP(s, t, opts)
	default:
		return openProcess(s, t, opts)
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
	response := &jsonrpc.Response{Result: result}
	if failure != nil {
		response = &jsonrpc.Response{Error: failure}
	}
	var err error
	if response.ID, err = idOf(wire.Message{Kind: wire.Request, ID: id}); err != nil {
		return err
	}
	return l.conn.Write(ctx, response)
}

// How says in a word how the server is really reached; see [Spec.How].
func (l *Link) How() string { return l.way.how() }

// Done is closed when the server has ended: its process is gone and all that it
// wrote was observed, the built-in server's session is over, or a URL that was
// reached before cannot be reached any more. The latter shows only where a
// request or a stream fails.
func (l *Link) Done() <-chan struct{} { return l.way.done() }

// Exit says how the server ended; false while it runs.
func (l *Link) Exit() (Exit, bool) { return l.way.exit() }

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
	l.hurryOnce.Do(func() { close(l.hurry) })
	<-l.closed
	return l.closeErr
}

// begin starts the end of the link, once.
func (l *Link) begin() {
	l.closing.Do(func() {
		go func() {
			l.closeErr = l.way.end(l.hurry)
			close(l.closed)
		}()
	})
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
