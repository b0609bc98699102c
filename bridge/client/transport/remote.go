package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// remote is a server behind a URL. The SDK speaks the protocol; remote is the HTTP
// round tripper below it, and sees every request, response and event unchanged.
type remote struct {
	ending
	tap    *tap
	spec   target.Spec
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
	lastID string                // id of the last event with an id on standalone streams
	posts  map[string]suspended  // interrupted streams that answer a POST, by the event id from which the SDK resumes them
	open   map[*eventStream]bool // streams that have not ended
}

// Limits of connecting, and of reading an HTTP response that is only quoted in a note.
const (
	dialTime     = 10 * time.Second
	maxErrorBody = 1 << 20
	maxNoteText  = 2 << 10
	explainTime  = time.Second
)

func openHTTP(s target.Spec, t *tap, opts Options) (connection, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("server %q: %s is not an http or https URL", s.Name, u.Redacted())
	case u.Host == "":
		return nil, fmt.Errorf("server %q: %s names no host", s.Name, u.Redacted())
	}
	dialer := &net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}
	r := &remote{
		ending: ending{gone: make(chan struct{})},
		tap:    t, spec: s, origin: u, grace: opts.Grace, pauses: opts.pauses,
		posts: map[string]suspended{}, open: map[*eventStream]bool{},
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

func (r *remote) legacy() bool { return r.spec.Transport == target.TransportSSE }

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

func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.Method {
	case http.MethodPost:
		return r.post(req)
	case http.MethodGet:
		return r.get(req)
	}
	r.closing.Store(true) // a DELETE ends the session
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

// maxRedirects is how often one request may be redirected.
const maxRedirects = 10

// checkRedirect implements [http.Client.CheckRedirect]. It follows a redirect if
// followed says so, and removes secrets from a request to another origin.
func (r *remote) checkRedirect(req *http.Request, _ []*http.Request) error {
	if !followed(req.Response) {
		return http.ErrUseLastResponse
	}
	// It would reveal the redirecting URL, including its query.
	req.Header.Del("Referer")
	note := wire.Note{Kind: wire.NoteRedirected, To: redact.WithoutQuery(req.URL.Redacted())}
	if !r.own(req.URL) {
		// net/http keeps some of these headers for another port or a subdomain.
		for _, name := range []string{sessionHeader, "Authorization", "Proxy-Authorization", "Cookie"} {
			req.Header.Del(name)
		}
		note.Withheld = r.origin.Host
	}
	r.tap.observer.Noted(noteOf(req.Response, note))
	return nil
}

// followed reports whether the HTTP client follows a redirect, so that only the client
// sees the response. A POST is not redirected by 301, 302 and 303, because it would
// become a GET and lose its message.
func followed(resp *http.Response) bool {
	redirects := 0
	for before := resp.Request.Response; before != nil; before = before.Request.Response {
		redirects++
	}
	if redirects >= maxRedirects || resp.Header.Get("Location") == "" {
		return false
	}
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		return resp.Request.Method == http.MethodGet
	default:
		return false
	}
}

// own reports whether u has the origin of the spec's URL, or differs from it only by
// https on the default port.
func (r *remote) own(u *url.URL) bool {
	if u.Scheme == r.origin.Scheme && strings.EqualFold(hostPort(u), hostPort(r.origin)) {
		return true
	}
	return r.origin.Scheme == "http" && u.Scheme == "https" && r.origin.Port() == "" && u.Port() == "" &&
		strings.EqualFold(u.Hostname(), r.origin.Hostname())
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// HTTP does not tell whether the server behind a URL can still be reached: between
// requests there may be no connection at all. So remote checks only after something has
// failed, and never reports a silent server.

// A server counts as lost after lostAfter failed connections in a row, because a server
// that restarts is not lost. It counts as alive after aliveAfter successful ones,
// because a server that shuts down may close its streams before it stops listening.
const (
	lostAfter  = 3
	aliveAfter = 2
	lookTime   = 2 * time.Second // for one attempt
)

// lookPauses are the times before the first attempt to connect and between later
// attempts; 0 means the default.
type lookPauses struct{ first, later time.Duration }

// suspect checks in the background, after something failed, whether the server can
// still be reached, and calls lose if it cannot.
func (r *remote) suspect() {
	if !r.answered.Load() || r.closing.Load() || !r.looking.CompareAndSwap(false, true) {
		return
	}
	if !r.track() {
		return
	}
	go func() {
		defer r.inFlight.Done()
		err := r.look()
		r.looking.Store(false)
		if err != nil {
			r.lose(fmt.Errorf("the server cannot be reached any more: %s", inWords(err)))
		}
	}()
}

// look tries to connect until the server counts as alive or lost. It returns nil, or
// the error of the last attempt if the server is lost.
func (r *remote) look() error {
	address := hostPort(r.origin)
	if proxy, err := r.base.Proxy(&http.Request{URL: r.origin}); err == nil && proxy != nil {
		address = hostPort(proxy)
	}
	failed, well := 0, 0
	pause := cmp.Or(r.pauses.first, 100*time.Millisecond)
	for ; ; pause = cmp.Or(r.pauses.later, 700*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-r.life.Done():
			return nil
		}
		ctx, cancel := context.WithTimeout(r.life, lookTime)
		conn, err := r.base.DialContext(ctx, "tcp", address)
		cancel()
		if err == nil {
			_ = conn.Close() // no byte was sent on it
			failed, well = 0, well+1
		} else {
			failed, well = failed+1, 0
		}
		switch {
		case r.life.Err() != nil, well == aliveAfter:
			return nil
		case failed == lostAfter:
			return err
		}
	}
}

// lose marks the server as lost and notes why, once.
func (r *remote) lose(why error) {
	r.mu.Lock()
	known := r.exit != nil || r.closing.Load()
	if !known {
		r.exit = &Exit{Code: -1, Err: why}
	}
	r.mu.Unlock()
	if !known {
		r.tap.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteServerLost, Why: why.Error()}})
		r.closeGone()
	}
}
