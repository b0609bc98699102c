package signin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// CallbackPath is the path of the redirect URI.
const CallbackPath = "/oauth/callback"

// DeskConfig configures a desk.
type DeskConfig struct {
	// Page is the origin of the page, "http://127.0.0.1:6280", whose server passes
	// requests for CallbackPath to the desk. Without a page, the desk listens on a port of
	// its own.
	Page string
	// Headless says that there is no page: a client with a secret uses the client
	// credentials grant if the authorization server supports that, and Tell is called if a
	// person must sign in.
	Headless bool
	// Tell tells the person of a headless desk to open the authorization URL; nil if there is
	// no person.
	Tell func(server, address string)
	// Wait limits the time that a headless desk waits for the person; 0 for no limit. After
	// it has passed once, the desk no longer asks.
	Wait time.Duration
	// Warn receives the errors of the system's keyring; nil ignores them.
	Warn func(text string)
}

// Desk holds the flows of all servers of one run of the inspector. It masks their secrets
// in frames, and serves the redirect URI.
type Desk struct {
	config    DeskConfig
	secrets   *redact.Redaction
	count     atomic.Int64 // of attempts
	transport *http.Transport
	alone     atomic.Bool  // the person did not come within DeskConfig.Wait
	close     func() error // once

	mu        sync.Mutex
	flows     map[string]*Flow
	redirects map[string]chan<- url.Values // receive the query of the redirect with a state
	callbacks map[int]*callbackServer      // by the configured port, which may be 0
	watches   map[*func(*Flow)]struct{}
	closed    bool
}

// callbackServer serves the redirect URI where the page does not.
type callbackServer struct {
	origin string
	server *http.Server
	served chan struct{} // closed when the server has ended
}

// NewDesk returns a desk without flows. The caller must Close it.
func NewDesk(c DeskConfig) *Desk {
	d := &Desk{
		transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: exchangeTime, IdleConnTimeout: exchangeTime,
			MaxResponseHeaderBytes: answerMost,
		},
		config: c, secrets: redact.Given(), flows: map[string]*Flow{}, redirects: map[string]chan<- url.Values{},
		callbacks: map[int]*callbackServer{}, watches: map[*func(*Flow)]struct{}{},
	}
	d.close = sync.OnceValue(d.end)
	return d
}

// Masked returns a frame in which the secrets of all sign-ins are masked. Pass it to [wire.Log.Mask].
func (d *Desk) Masked(f *wire.Frame) *wire.Frame { return d.secrets.Frame(f) }

// MaskedJSON returns JSON of a server in which the secrets of all sign-ins are masked, or
// raw itself if it has none.
func (d *Desk) MaskedJSON(server string, raw []byte) []byte { return d.secrets.JSONOf(server, raw) }

func (f *Flow) masks() masks { return masks{secrets: f.desk.secrets, server: f.name} }

// Flow returns the flow of a server, always the same for a key. It returns nil if sign-ins
// are off for the server, or if its URL is invalid.
func (d *Desk) Flow(key, name, server string, c Config) *Flow {
	u, err := url.Parse(server)
	if err != nil || c.Off {
		return nil
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	d.secrets.Secret(name, c.ClientSecret)
	f := &Flow{desk: d, name: name, server: u, config: c, issuer: c.Issuer, loadKept: func() {}, turn: make(chan struct{}, 1), granted: map[string][]string{}, registered: map[string]*answer{}}
	if c.Keep {
		f.loadKept = sync.OnceFunc(f.load)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flows[key] == nil {
		d.flows[key] = f
	}
	return d.flows[key]
}

// Watch calls changed after each change of a flow, until the caller calls stop. changed
// must not block.
func (d *Desk) Watch(changed func(*Flow)) (stop func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watches[&changed] = struct{}{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.watches, &changed)
	}
}

func (d *Desk) changed(f *Flow) {
	d.mu.Lock()
	list := slices.Collect(maps.Keys(d.watches))
	d.mu.Unlock()
	for _, watch := range list {
		(*watch)(f)
	}
}

// await returns a channel that receives the query of the redirect with this state, at most
// once. The caller must call forget when it stops waiting.
func (d *Desk) await(state string) (query <-chan url.Values, forget func()) {
	ch := make(chan url.Values, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.redirects[state] = ch
	return ch, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.redirects, state)
	}
}

// maxQuery bounds the query of a redirect, in bytes.
const maxQuery = 16 << 10

// ServeHTTP serves the redirect URI. The only credential of a redirect is its state, which
// works once, and its only effect is to continue the attempt that waits for this state.
func (d *Desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if r.Method != http.MethodGet || r.URL.Path != CallbackPath || len(r.URL.RawQuery) > maxQuery {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	q := r.URL.Query()
	state := q.Get("state")
	d.mu.Lock()
	ch := d.redirects[state]
	delete(d.redirects, state)
	d.mu.Unlock()
	status, title, text := http.StatusOK, "Back at the inspector", "You can close this tab. The inspector goes on with the sign-in."
	switch {
	case ch == nil:
		status, title, text = http.StatusBadRequest, "No such sign-in", "No sign-in waits for this state. The sign-in may have ended, or the state was used before, or the authorization server has changed it."
	case q.Get("error") != "":
		text = "You can close this tab. The authorization server has refused, and the inspector shows why."
	}
	if ch != nil {
		ch <- q // there is room for one, and the state works once
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><title>%s</title><h1>%s</h1><p>%s</p></html>\n", title, title, text)
}

// redirectURI returns the redirect URI for a configured port: at the page if the port is 0
// and there is a page, else at a listener of its own, which it starts if there is none yet.
func (d *Desk) redirectURI(port int) (string, error) {
	if port == 0 && d.config.Page != "" {
		return d.config.Page + CallbackPath, nil
	}
	d.mu.Lock()
	open := d.callbacks[port]
	d.mu.Unlock()
	if open != nil {
		return open.origin + CallbackPath, nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", fmt.Errorf("waiting for the browser to come back: %w", err)
	}
	fresh := &callbackServer{
		origin: "http://" + l.Addr().String(), served: make(chan struct{}),
		server: &http.Server{Handler: d, ReadHeaderTimeout: callbackTime, ReadTimeout: callbackTime, IdleTimeout: callbackTime, MaxHeaderBytes: 2 * maxQuery},
	}
	d.mu.Lock()
	other, closed := d.callbacks[port], d.closed
	if other == nil && !closed {
		d.callbacks[port] = fresh
	}
	d.mu.Unlock()
	switch {
	case closed:
		return "", errors.Join(errors.New("the inspection has ended"), l.Close())
	case other != nil:
		return other.origin + CallbackPath, l.Close()
	}
	go func() {
		defer close(fresh.served)
		_ = fresh.server.Serve(l) // ends with Close
	}()
	return fresh.origin + CallbackPath, nil
}

// callbackTime limits a request to a callback server.
const callbackTime = 10 * time.Second

// Close ends the callback servers, and waits until they have ended, each time that it is
// called.
func (d *Desk) Close() error { return d.close() }

func (d *Desk) end() error {
	d.mu.Lock()
	callbacks := d.callbacks
	d.callbacks, d.closed = nil, true
	d.mu.Unlock()
	var wrong []error
	for _, open := range callbacks {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if open.server.Shutdown(ctx) != nil { // a browser may hold its connection
			wrong = append(wrong, open.server.Close())
		}
		cancel()
		<-open.served
	}
	d.transport.CloseIdleConnections()
	return errors.Join(wrong...)
}
