package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// remote is a server behind a URL. The SDK speaks the protocol; remote is the HTTP
// round tripper below it, and sees every request, response and event unchanged.
type remote struct {
	ending
	tap    *tap
	spec   Spec
	origin *url.URL
	grace  time.Duration
	base   *http.Transport

	life      context.Context // ends with the link; every request ends with it
	cut       context.CancelCauseFunc
	inFlight  sync.WaitGroup // requests and checks that still run; track adds to it
	closing   atomic.Bool    // the connection is being closed, so that ending streams are expected
	closeGone func()         // closes gone, once
	streams   streamCounts
	answered  atomic.Bool // the server has answered a request at least once
	looking   atomic.Bool // look is running
	pauses    lookPauses

	mu     sync.Mutex
	conn   mcp.Connection
	lastID string                  // id of the last event with an id on standalone streams
	posts  map[string]wire.Message // interrupted streams: the posted request, by the id of the stream's last event
	open   map[*eventStream]bool   // streams that have not ended
}

// Limits of connecting, and of reading an HTTP response that is only quoted in a note.
const (
	dialTime     = 10 * time.Second
	maxErrorBody = 1 << 20
	maxNoteText  = 2 << 10
	explainTime  = time.Second
)

func openHTTP(s Spec, t *tap, opts Options) (way, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("server %q: %s is no http or https URL", s.Name, u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("server %q: %s names no host", s.Name, u.Redacted())
	}
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	r := &remote{
		ending: ending{gone: make(chan struct{})},
		tap:    t, spec: s, origin: u, grace: opts.Grace, pauses: opts.pauses,
		posts: map[string]wire.Message{},
		base: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    dialTime,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: maxErrorBody,
		},
	}
	r.closeGone = sync.OnceFunc(func() { close(r.gone) })
	r.life, r.cut = context.WithCancelCause(context.Background())
	return r, nil
}

func (r *remote) legacy() bool { return r.spec.Transport == TransportSSE }

// Connect implements [mcp.Transport]. It returns the SDK's own connection unwrapped,
// because the SDK uses methods of it beyond the interface.
func (r *remote) Connect(ctx context.Context) (mcp.Connection, error) {
	client := &http.Client{Transport: r, CheckRedirect: r.checkRedirect}
	var t mcp.Transport = &mcp.StreamableClientTransport{Endpoint: r.spec.URL, HTTPClient: client, MaxEventSize: -1}
	if r.legacy() {
		t = &mcp.SSEClientTransport{Endpoint: r.spec.URL, HTTPClient: client, MaxEventSize: -1}
		// The SDK binds the event stream to the context given to Connect, but the
		// stream must last as long as the link.
		short := ctx
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		context.AfterFunc(r.life, cancel)
		defer context.AfterFunc(short, cancel)()
	}
	conn, err := t.Connect(ctx)
	if err != nil {
		if said := new(url.Error); errors.As(err, &said) {
			err = said.Err // the text of said contains the whole address
		}
		return nil, err
	}
	r.mu.Lock()
	r.conn = conn
	r.mu.Unlock()
	if r.life.Err() != nil {
		return nil, errors.Join(errLinkClosed, conn.Close())
	}
	return conn, nil
}

func (r *remote) end(patience context.Context) error {
	r.closing.Store(true)
	r.mu.Lock()
	conn := r.conn
	r.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if conn != nil {
			_ = conn.Close() // a failed DELETE was noted already
		}
	}()
	await(patience, closed, r.grace)
	r.mu.Lock()
	r.cut(errLinkClosed) // from here on track adds nothing
	r.mu.Unlock()
	await(context.Background(), closed, killTime)
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		r.inFlight.Wait()
	}()
	defer r.closeGone()
	defer r.base.CloseIdleConnections()
	if !await(context.Background(), idle, killTime) {
		return errors.New("a response is still being read")
	}
	return nil
}

// track adds a running request or check to inFlight, until inFlight.Done is called. It
// returns false if the link is closed.
func (r *remote) track() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life.Err() != nil {
		return false
	}
	r.inFlight.Add(1)
	return true
}

// RoundTrip implements [http.RoundTripper].
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodPost:
		return r.post(req)
	case req.Method == http.MethodGet && r.legacy():
		return r.getLegacy(req)
	case req.Method == http.MethodGet:
		return r.get(req)
	default:
		return r.delete(req)
	}
}

func (r *remote) delete(req *http.Request) (*http.Response, error) {
	r.closing.Store(true)
	f, err := r.prepare(req)
	if err != nil {
		return nil, err
	}
	resp, err := f.do()
	if err != nil {
		r.tap.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteRequestFailed, Why: err.Error()}, HTTPMethod: req.Method})
		return nil, err
	}
	r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus}))
	return resp, nil
}
