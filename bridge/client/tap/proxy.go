package tap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
	"elicitation-inspector/bridge/wire/redact"
)

// Proxy passes HTTP requests on to one server, and responses back, as they come: a body and
// an event stream are never held. It changes the address and the header Host, and takes
// away what concerns one connection alone (RFC 9110, section 7.6.1).
type Proxy struct {
	o       *Observer
	target  *url.URL
	forward httputil.ReverseProxy

	mu      sync.Mutex
	clients map[string]string // names of the clients' servers in frames, by the name of the client
	known   map[string]seat   // by session id, or by address and user agent of a client without one
	count   int
}

// seat is the name of a server and of a session in frames.
type seat struct{ server, session string }

// seatsMost bounds how many sessions are told apart at a time.
const seatsMost = 10_000

// NewProxy returns a proxy for a server. Requests keep their path, because Address already
// gives clients the target's path; only requests to / are sent to that path.
func NewProxy(target *url.URL, o *Observer) *Proxy {
	p := &Proxy{o: o, target: target, clients: map[string]string{}, known: map[string]seat{}}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // or else the transport would decode bodies
	p.forward = httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
			// A query and these headers are the client's: the standard library takes from them what
			// it cannot parse, or does not trust.
			r.Out.URL.RawQuery, r.Out.URL.ForceQuery = r.In.URL.RawQuery, r.In.URL.ForceQuery
			for name, values := range r.In.Header {
				if name == "Forwarded" || strings.HasPrefix(name, "X-Forwarded-") {
					r.Out.Header[name] = values
				}
			}
			crossingOf(r.In.Context()).kept(r.In.Header, r.Out.Header)
			if r.In.URL.Path == "/" && target.Path != "" {
				r.Out.URL.Path, r.Out.URL.RawPath = target.Path, target.RawPath
			}
			if _, given := r.In.Header["User-Agent"]; !given {
				r.Out.Header["User-Agent"] = nil // or else the transport would add its own
			}
		},
		ModifyResponse: p.response,
		ErrorHandler:   p.failed,
		ErrorLog:       slog.NewLogLogger(o.config.Logger.Handler(), slog.LevelDebug),
	}
	return p
}

// Address returns the address that a client is given in place of the server's.
func (p *Proxy) Address(listener net.Addr) string {
	u := *p.target
	u.Scheme, u.Host, u.User = "http", listener.String(), nil
	return u.String()
}

// ServeHTTP implements [http.Handler]. It refuses requests under another name than an
// address or localhost: a web page elsewhere could have given this computer a name.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if host != "localhost" && net.ParseIP(host) == nil {
		http.Error(w, "The tap is reached by its address, or as localhost.", http.StatusForbidden)
		return
	}
	// A response may begin before its request has been read to the end, or the transport has
	// seen that end. Without this the body is closed then, and the transport takes the
	// connection of the response down.
	_ = http.NewResponseController(w).EnableFullDuplex() // which every writer of net/http supports
	u := *p.target
	u.User = nil
	if r.URL.Path != "/" {
		u.Path, u.RawPath = r.URL.Path, r.URL.RawPath
	}
	u.RawQuery = r.URL.RawQuery
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	x := &crossing{p: p, method: r.Method, url: u.String(), header: r.Header.Clone(), id: r.Header.Get("Mcp-Session-Id")}
	x.client = "client " + from + " " + r.Header.Get("User-Agent") // tells clients without a session apart
	if r.Method == http.MethodPost {
		x.request = posted{watched{r.Body, p.o, &body{o: p.o, done: x.sent}}}
		r.Body = x.request
		defer x.request.over()
	} else if r.Method == http.MethodGet {
		x.note(wire.Note{Kind: wire.NoteStreamRequested, After: x.header.Get("Last-Event-ID")}, func(f *wire.Frame) {
			f.HTTPMethod, f.URL, f.Header = x.method, x.url, shown(x.header)
		})
	}
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), crossingKey{}, x)))
}

// seatOf returns the session id and the server label under which a request is logged.
// message is the body of a POST, and zero for other requests. An initialize request begins
// a new session. A client with another name than the first one gets a server label of its
// own.
func (p *Proxy) seatOf(x *crossing, message wire.Message) seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := cmp.Or(x.id, x.client)
	s, known := p.known[key]
	if known && message.Method != "initialize" {
		return s
	}
	name := wire.ClientName(message.Params)
	server := p.clients[name]
	if server == "" {
		server = p.o.config.Name
		if n := len(p.clients); n > 0 {
			server = fmt.Sprintf("%s%s%d", server, clientMark, n+1)
		}
		if len(p.clients) < 100 {
			p.clients[name] = server
		}
	}
	p.count++
	s = seat{server, fmt.Sprintf("%s-%s-%d", p.o.config.Name, p.o.id, p.count)}
	if len(p.known) >= seatsMost {
		clear(p.known)
	}
	p.known[key] = s
	return s
}

// crossing is a request and its response. Only the goroutine that looks changes it, after
// ServeHTTP.
type crossing struct {
	p           *Proxy
	method, url string
	header      http.Header
	client, id  string
	request     posted

	seat    seat
	message wire.Message // that was posted
	status  int
	got     http.Header
	begun   bool // a frame has the headers of the response
}

// frame returns a frame of the crossing with what all have in common.
func (x *crossing) frame(at time.Time) wire.Frame {
	if x.seat.session == "" {
		x.seat = x.p.seatOf(x, x.message)
	}
	return wire.Frame{Time: at, Server: x.seat.server, Session: x.seat.session, Transport: "http"}
}

// note has a note about the crossing added, which fill completes.
func (x *crossing) note(n wire.Note, fill func(*wire.Frame)) {
	x.p.o.once(func(at time.Time) {
		f := x.frame(at)
		f.Dir, f.Note = wire.Meta, &n
		fill(&f)
		x.p.o.add(f)
	})
}

// kept notes which headers of a request are not passed on, except those that every client
// sends for its own connection.
func (x *crossing) kept(in, out http.Header) {
	var names []string
	for name := range in {
		if _, passed := out[name]; !passed && name != "Connection" && name != "Keep-Alive" {
			names = append(names, name)
		}
	}
	if names != nil {
		slices.Sort(names)
		x.note(wire.Note{Kind: wire.NoteHeadersKept, Of: strings.Join(names, ", ")}, func(f *wire.Frame) { f.HTTPMethod = x.method })
	}
}

// sent makes the frame of a posted body.
func (x *crossing) sent(t lines.Clipped, at time.Time) {
	if t.Whole() {
		x.message, _ = wire.ParseMessage(t.Head)
	}
	f := x.frame(at)
	f.Dir, f.Stream, f.HTTPMethod, f.URL, f.Header = wire.ClientToServer, wire.StreamPost, x.method, x.url, shown(x.header)
	t.Into(&f)
	if f.Size > 0 {
		x.p.o.add(f)
	}
}

// response has a copy of the body looked at while it passes.
func (p *Proxy) response(resp *http.Response) error {
	x := crossingOf(resp.Request.Context())
	header, status := resp.Header.Clone(), resp.StatusCode
	p.o.once(func(time.Time) {
		x.got, x.status = header, status
		if id := header.Get("Mcp-Session-Id"); id != "" && x.seat.session != "" {
			p.mu.Lock()
			p.known[id] = x.seat // the id that the server has chosen for it
			p.mu.Unlock()
		}
	})
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	encoded := header.Get("Content-Encoding")
	var of taker
	switch {
	case encoded != "" && encoded != "identity" && (encoded != "gzip" || media == eventStream):
		x.note(wire.Note{Kind: wire.NoteReadFailed, Of: wording.Either(media == eventStream, "the event stream", "the answer"), Why: "it is encoded as " + encoded}, func(f *wire.Frame) { f.Failed = true })
		return nil
	case media == eventStream:
		of = newEvents(p.o, x.event)
	default:
		of = &body{o: p.o, encoding: encoded, done: x.answered}
	}
	resp.Body = watched{resp.Body, p.o, of}
	return nil
}

const eventStream = "text/event-stream"

// event makes a frame of the data of an event.
func (x *crossing) event(t lines.Clipped, at time.Time) {
	f := x.frame(at)
	f.Dir, f.Stream = wire.ServerToClient, wire.StreamPostSSE
	if x.method == http.MethodGet {
		f.Stream = wire.StreamGetSSE
	}
	x.answer(&f)
	t.Into(&f)
	x.p.o.add(f)
}

// answer adds what is known of the response, and to its first frame the headers.
func (x *crossing) answer(f *wire.Frame) {
	f.Status = x.status
	if x.begun {
		return
	}
	x.begun = true
	f.Header = shown(x.got)
	if x.method == http.MethodGet {
		f.HTTPMethod, f.URL = x.method, x.url
	}
}

// answered makes the frame of a whole body: the message in it, or a note of what was
// answered in place of one.
func (x *crossing) answered(t lines.Clipped, at time.Time) {
	f := x.frame(at)
	whole := t.Whole()
	_, err := wire.ParseMessage(t.Head)
	switch {
	case err == nil || !whole:
		f.Dir, f.Stream = wire.ServerToClient, wire.StreamPost
		x.answer(&f)
		t.Into(&f)
	case x.status < 300 && t.Size == 0:
		return
	default:
		f.Dir, f.Status, f.HTTPMethod, f.Header, f.Failed = wire.Meta, x.status, x.method, shown(x.got), x.status >= 400
		said := bytes.ToValidUTF8(t.Head[:min(len(t.Head), 500)], []byte("\uFFFD"))
		f.Note = &wire.Note{Kind: wire.NoteHTTPStatus, Of: x.message.Method, To: redact.WithoutQuery(x.got.Get("Location")), Said: string(said)}
		if x.message.Kind == wire.Request {
			f.Answers = x.message.ID
		}
	}
	x.p.o.add(f)
}

// failed answers a request that the server was not reached for.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil || errors.Is(err, http.ErrAbortHandler) {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	x := crossingOf(r.Context())
	note := wire.Note{Kind: wire.NoteRequestFailed, Why: err.Error()}
	if x.method == http.MethodPost {
		note.Kind = wire.NoteNotDelivered
		// What the transport has not read belongs into the log, and a client may read no
		// response before it has sent everything.
		if _, err := io.CopyN(io.Discard, x.request, p.o.most()); err == nil {
			w.Header().Set("Connection", "close") // there is more
		}
		x.request.over()
	}
	x.note(note, func(f *wire.Frame) {
		f.HTTPMethod, f.Failed = x.method, true
		if x.message.Kind == wire.Request {
			f.Answers = x.message.ID
		}
	})
	p.o.config.Logger.Warn("the server is not reached", "server", p.o.config.Name, "error", err)
	http.Error(w, "The tap does not reach the server: "+err.Error(), http.StatusBadGateway)
}

// shown returns headers without the values that are secret by their name.
func shown(h http.Header) http.Header {
	out := maps.Clone(h)
	for name := range out {
		if redact.SecretHeader(name) {
			out[name] = []string{redact.Placeholder}
		}
	}
	return out
}
