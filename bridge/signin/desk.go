package signin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// CallbackPath is the path to which the browser comes back from an authorization server.
const CallbackPath = "/oauth/callback"

// DeskConfig configures a desk.
type DeskConfig struct {
	// Page is the origin of the page, "http://127.0.0.1:6280", whose server passes
	// requests for CallbackPath to the desk. Without a page, the desk listens on a port of
	// its own.
	Page string
	// Headless says that there is no page: a client with a secret signs in by itself where
	// it may, and Tell is called where a person must.
	Headless bool
	// Tell tells a person to open the authorization URL; nil if nobody is there.
	Tell func(server, address string)
	// Warn tells what is wrong with the system's keyring; nil if nobody wants to know.
	Warn func(text string)
}

// Desk has the sign-ins of one run of the inspector, to all its servers. It knows their
// secrets, and takes the browsers that come back.
type Desk struct {
	config DeskConfig
	known  *redact.Redaction
	count  atomic.Int64

	network *http.Transport

	mu      sync.Mutex
	flows   map[string]*Flow
	states  map[string]chan<- url.Values // where a redirect is awaited, by its state
	doors   map[int]*door                // the listeners, by the port that was asked for
	watches map[*func(*Flow)]struct{}
	closed  bool
}

// door is a listener of the desk's own.
type door struct {
	origin string
	server *http.Server
	served chan struct{} // closed when the server has ended
}

// NewDesk returns a desk. The caller must Close it.
func NewDesk(c DeskConfig) *Desk {
	return &Desk{
		network: newNetwork(), config: c, known: redact.Given(), flows: map[string]*Flow{}, states: map[string]chan<- url.Values{},
		doors: map[int]*door{}, watches: map[*func(*Flow)]struct{}{},
	}
}

// Masked returns a frame without the secrets of all sign-ins. It is for [wire.Log.Mask].
func (d *Desk) Masked(f *wire.Frame) *wire.Frame { return d.known.Frame(f) }

func (d *Desk) masks() masks { return masks{known: d.known} }

func (d *Desk) number() int { return int(d.count.Add(1)) }

// Flow returns the flow of a server, always the same for a key. It returns nil if the
// server cannot have one.
func (d *Desk) Flow(key, name, server string, c Config) *Flow {
	u, err := url.Parse(server)
	if err != nil || c.Off {
		return nil
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	d.masks().learn("client_secret", c.ClientSecret)
	f := &Flow{desk: d, name: name, server: u, config: c, remember: func() {}, turn: make(chan struct{}, 1), registered: map[string]*answer{}}
	if c.Keep {
		f.remember = sync.OnceFunc(f.load)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.flows[key] == nil {
		d.flows[key] = f
	}
	return d.flows[key]
}

// Watch calls changed after each change of a flow, until stop is called. changed must not
// block.
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
	list := make([]func(*Flow), 0, len(d.watches))
	for watch := range d.watches {
		list = append(list, *watch)
	}
	d.mu.Unlock()
	for _, watch := range list {
		watch(f)
	}
}

// await returns a channel on which the redirect with this state arrives, at most once.
// The caller must call forget when it waits no longer.
func (d *Desk) await(state string) (came <-chan url.Values, forget func()) {
	ch := make(chan url.Values, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states[state] = ch
	return ch, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.states, state)
	}
}

// maxQuery bounds the query of a redirect, in bytes.
const maxQuery = 16 << 10

// ServeHTTP takes a browser that comes back from an authorization server. Its only
// credential is the state, which works once, and its only effect is to go on with the
// sign-in that waits for it.
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
	ch := d.states[state]
	delete(d.states, state)
	d.mu.Unlock()
	status, title, text := http.StatusOK, "Back at the inspector", "You can close this tab. The inspector goes on with the sign-in."
	switch {
	case ch == nil:
		status, title, text = http.StatusBadRequest, "No such sign-in", "No sign-in waits for this. It may have ended, or have been used before."
	case q.Get("error") != "":
		text = "You can close this tab. The authorization server has refused, and the inspector shows why."
	}
	if ch != nil {
		ch <- q // there is room for one, and the state works once
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><title>%s</title><h1>%s</h1><p>%s</p></html>\n", title, title, text)
}

// redirect returns the address to which the browser comes back: that of the page, or of a
// listener on this machine. port 0 leaves the choice to the desk.
func (d *Desk) redirect(port int) (string, error) {
	if port == 0 && d.config.Page != "" {
		return d.config.Page + CallbackPath, nil
	}
	d.mu.Lock()
	open := d.doors[port]
	d.mu.Unlock()
	if open != nil {
		return open.origin + CallbackPath, nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", fmt.Errorf("waiting for the browser to come back: %w", err)
	}
	fresh := &door{
		origin: "http://" + l.Addr().String(), served: make(chan struct{}),
		server: &http.Server{Handler: d, ReadHeaderTimeout: doorTime, ReadTimeout: doorTime, IdleTimeout: doorTime, MaxHeaderBytes: 2 * maxQuery},
	}
	d.mu.Lock()
	other, closed := d.doors[port], d.closed
	if other == nil && !closed {
		d.doors[port] = fresh
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

// doorTime limits the requests to a listener of the desk.
const doorTime = 10 * time.Second

// Close ends the listeners of the desk, and waits until they have ended.
func (d *Desk) Close() error {
	d.mu.Lock()
	doors := d.doors
	d.doors, d.closed = nil, true
	d.mu.Unlock()
	var wrong []error
	for _, open := range doors {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if open.server.Shutdown(ctx) != nil { // a browser may hold its connection
			wrong = append(wrong, open.server.Close())
		}
		cancel()
		<-open.served
	}
	d.network.CloseIdleConnections()
	return errors.Join(wrong...)
}
