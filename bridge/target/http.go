package target

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"

	"elicitation-inspector/bridge/wire"
)

// web is a server behind a URL. The SDK speaks the protocol; web is the round
// tripper below it, which sees each request, response and event as it is.
type web struct {
	tap    *tap
	spec   Spec
	origin *url.URL
	grace  time.Duration
	base   *http.Transport

	// life ends when the link does, and with it every request.
	life context.Context
	cut  context.CancelCauseFunc

	mu     sync.Mutex
	conn   mcp.Connection
	flying int           // requests whose response was not read to its end
	idle   chan struct{} // closed when nothing flies any more; nil until that is waited for

	closing atomic.Bool // an end was asked for, so that ends are no news
	streams getStreams
	reach   reach
}

// Bounds of a connection attempt, and of what is read of an answer only to
// explain it.
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
	w := &web{
		tap: t, spec: s, origin: u, grace: opts.Grace, reach: reach{lost: make(chan struct{})},
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
	w.life, w.cut = context.WithCancelCause(context.Background())
	return w, nil
}

func (w *web) legacy() bool { return w.spec.Transport == TransportSSE }

func (w *web) how() string {
	if w.legacy() {
		return viaSSE
	}
	return viaHTTP
}

// Connect implements [mcp.Transport]. It returns the SDK's own connection, which
// hides more methods than the interface has.
func (w *web) Connect(ctx context.Context) (mcp.Connection, error) {
	client := &http.Client{Transport: w, CheckRedirect: w.checkRedirect}
	var t mcp.Transport = &mcp.StreamableClientTransport{Endpoint: w.spec.URL, HTTPClient: client, MaxEventSize: -1}
	if w.legacy() {
		t = &mcp.SSEClientTransport{Endpoint: w.spec.URL, HTTPClient: client, MaxEventSize: -1}
		// The SDK binds the event stream to the context of connecting. It is to
		// last as long as the link.
		short := ctx
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		context.AfterFunc(w.life, cancel)
		defer context.AfterFunc(short, cancel)()
	}
	conn, err := t.Connect(ctx)
	if err != nil {
		if said := new(url.Error); errors.As(err, &said) {
			err = said.Err // said has the whole address in its text
		}
		return nil, err
	}
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
	if w.life.Err() != nil {
		return nil, errors.Join(errLinkClosed, conn.Close())
	}
	return conn, nil
}

func (w *web) end(hurry <-chan struct{}) error {
	w.closing.Store(true)
	w.mu.Lock()
	conn := w.conn
	w.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if conn != nil {
			_ = conn.Close() // a DELETE that failed was noted
		}
	}()
	await(closed, w.grace, hurry)
	w.cut(errLinkClosed)
	await(closed, killTime, nil)
	idle := make(chan struct{})
	w.mu.Lock()
	if w.flying == 0 {
		close(idle)
	} else {
		w.idle = idle // from here on the number only falls
	}
	w.mu.Unlock()
	defer w.reach.over.Do(func() { close(w.reach.lost) })
	defer w.reach.looks.Wait()
	defer w.base.CloseIdleConnections()
	if !await(idle, killTime, nil) {
		return errors.New("a response is still being read")
	}
	return nil
}

// RoundTrip implements [http.RoundTripper].
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodPost:
		return w.post(req)
	case req.Method == http.MethodGet && w.legacy():
		return w.getLegacy(req)
	case req.Method == http.MethodGet:
		return w.get(req)
	default:
		return w.delete(req)
	}
}

// checkRedirect follows the redirects that are followed.
func (w *web) checkRedirect(req *http.Request, _ []*http.Request) error {
	if !followed(req.Response) {
		return http.ErrUseLastResponse
	}
	// It would tell the address that the redirect came from, with its query.
	req.Header.Del("Referer")
	note := wire.Note{Kind: wire.NoteRedirected, To: spoken(req.URL.Redacted())}
	if !w.own(req.URL) {
		// net/http keeps some of these for another port or a part of the domain.
		for _, name := range []string{sessionHeader, "Authorization", "Proxy-Authorization", "Cookie"} {
			req.Header.Del(name)
		}
		note.Withheld = w.origin.Host
	}
	w.tap.observer.Noted(noteOf(req.Response, note))
	return nil
}

// spoken is an address as notes and errors tell it: without the values in its
// query, which are mostly keys and ids of sessions.
func spoken(address string) string {
	return wire.WithoutQuery(address)
}

// maxRedirects is how often one request may be sent elsewhere.
const maxRedirects = 10

// followed reports whether the HTTP client goes where the response sends it, so
// that nobody else sees the response. A message is not lost on the way: 301, 302
// and 303 would turn its POST into a GET.
func followed(resp *http.Response) bool {
	if resp.Header.Get("Location") == "" {
		return false
	}
	redirects := 0
	for before := resp.Request.Response; before != nil; before = before.Request.Response {
		redirects++
	}
	if redirects >= maxRedirects {
		return false
	}
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		return resp.Request.Method == http.MethodGet
	}
	return false
}

// own reports whether u is of the origin that the spec names, or of the same
// host and default port with TLS added.
func (w *web) own(u *url.URL) bool {
	if u.Scheme == w.origin.Scheme && strings.EqualFold(hostPort(u), hostPort(w.origin)) {
		return true
	}
	return w.origin.Scheme == "http" && u.Scheme == "https" && w.origin.Port() == "" && u.Port() == "" &&
		strings.EqualFold(u.Hostname(), w.origin.Hostname())
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// flight is one request on its way.
type flight struct {
	web    *web
	req    *http.Request
	cancel context.CancelCauseFunc
	wrote  atomic.Bool // all of the request was written
	once   sync.Once
	unhook func() bool
}

// prepare gives a request the headers that it really goes out with.
func (w *web) prepare(req *http.Request) (*flight, error) {
	w.mu.Lock()
	if w.life.Err() != nil {
		w.mu.Unlock()
		return nil, errLinkClosed
	}
	w.flying++
	w.mu.Unlock()
	f := &flight{web: w}
	ctx, cancel := context.WithCancelCause(req.Context())
	f.cancel = cancel
	f.unhook = context.AfterFunc(w.life, func() { cancel(errLinkClosed) })
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { f.wrote.Store(info.Err == nil) },
	})
	f.req = req.Clone(ctx)
	if name := f.req.Header.Get(nameHeader); name != "" {
		f.req.Header.Set(nameHeader, headerValue(name)) // the SDK sends it as it is
	}
	if w.own(req.URL) {
		for name, values := range w.spec.Header {
			name = http.CanonicalHeaderKey(name)
			if name == "Host" && len(values) > 0 {
				f.req.Host = values[0]
				continue
			}
			f.req.Header[name] = slices.Clone(values)
		}
	}
	if f.req.Header.Get("User-Agent") == "" {
		f.req.Header.Set("User-Agent", "elicitation-inspector")
	}
	return f, nil
}

// nameHeader repeats the name or URI that a call is about (specification
// 2026-07-28, Streamable HTTP, Standard Request Headers).
const nameHeader = "Mcp-Name"

// headerValue is text as it goes into an HTTP header: as it is, or in Base64
// where a header could not hold it or where it looks like that encoding itself
// (specification 2026-07-28, Streamable HTTP, Value Encoding).
func headerValue(text string) string {
	const prefix, suffix = "=?base64?", "?="
	plain := !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) &&
		strings.Trim(text, " \t") == text && !(strings.HasPrefix(text, prefix) && strings.HasSuffix(text, suffix))
	if plain {
		return text
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix
}

// sent are the headers as they stand on the wire, with those that net/http adds.
func (f *flight) sent() http.Header {
	h := f.req.Header.Clone()
	host := f.req.Host
	if host == "" {
		host = f.req.URL.Host
	}
	h.Set("Host", host)
	if f.req.Body != nil {
		h.Set("Content-Length", strconv.FormatInt(f.req.ContentLength, 10))
	}
	if h.Get("Accept-Encoding") == "" && h.Get("Range") == "" {
		h.Set("Accept-Encoding", "gzip")
	}
	return h
}

// address is the URL that a request goes to, without what stays here or goes
// into a header.
func address(req *http.Request) string {
	u := *req.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String()
}

// do sends the request. The flight is over when it fails, or the response's body
// is closed.
func (f *flight) do() (*http.Response, error) {
	resp, err := f.web.base.RoundTrip(f.req)
	if err != nil {
		if cause := context.Cause(f.req.Context()); cause != nil {
			err = cause
		} else {
			f.web.suspect()
		}
		f.over()
		return nil, err
	}
	f.web.reached()
	resp.Body = landing{resp.Body, f}
	return resp, nil
}

func (f *flight) over() {
	f.once.Do(func() {
		f.unhook()
		f.cancel(nil)
		w := f.web
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.flying--; w.flying == 0 && w.idle != nil {
			close(w.idle)
		}
	})
}

// landing is a response's body that ends the flight when it is closed.
type landing struct {
	io.ReadCloser
	flight *flight
}

func (l landing) Close() error {
	err := l.ReadCloser.Close()
	l.flight.over()
	return err
}

// post sends one message and prepares its answer for the SDK.
func (w *web) post(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	f, err := w.prepare(req)
	if err != nil {
		return nil, err
	}
	body = w.tap.leaving(body)
	f.req.ContentLength = int64(len(body))
	f.req.Body = io.NopCloser(bytes.NewReader(body))
	f.req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	u := Unit{Raw: body, Stream: wire.StreamPost, Header: f.sent(), HTTPMethod: f.req.Method, URL: address(f.req)}
	if req.Response == nil {
		var ok bool
		if u, ok, err = w.tap.sending(u); !ok {
			f.over()
			if err != nil {
				return nil, err
			}
			return standIn(req, http.StatusAccepted, nil, http.NoBody), nil
		}
	} else { // redirected: it was seen at its first address
		u.Dir, u.Size = wire.ClientToServer, int64(len(body))
		u.Message, _ = wire.ParseMessage(body)
	}
	if w.legacy() && !w.own(req.URL) {
		f.over()
		err := errors.New("the message endpoint that the server names is of another origin, and is not used")
		w.tap.observer.Undelivered(u, err)
		return nil, &Fault{Method: u.Message.Method, Text: err.Error()}
	}
	resp, err := f.do()
	if err != nil {
		if givenUp := req.Context().Err() != nil || w.life.Err() != nil; !givenUp || !f.wrote.Load() {
			w.tap.observer.Undelivered(u, err)
		}
		return nil, &Fault{Method: u.Message.Method, Text: inWords(err), cause: err}
	}
	switch {
	case followed(resp):
		return resp, nil
	case resp.StatusCode >= 300:
		resp, err = w.refused(req, u, resp)
	default:
		resp, err = w.answered(req, u, resp)
	}
	if resp != nil && u.Message.Method == "server/discover" && resp.Header.Get(sessionHeader) != "" {
		// A session begins with the answer to initialize. The SDK would go on with this one.
		resp.Header = resp.Header.Clone()
		resp.Header.Del(sessionHeader)
	}
	return resp, err
}

// sessionHeader names the session (specification 2025-11-25, Transports, Session
// Management).
const sessionHeader = "Mcp-Session-Id"

// bodyOf takes the body out of a request.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading the message to be sent: %w", err)
	}
	return body, nil
}

// standIn is a response of our own making.
func standIn(req *http.Request, status int, header http.Header, body io.ReadCloser) *http.Response {
	h := http.Header{}
	maps.Copy(h, header)
	h.Del("Content-Length")
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: -1, Request: req,
	}
}

// refused handles an answer with a status of 300 or above. A JSON-RPC error in
// it that answers the request is the server's answer, and is passed on as such.
func (w *web) refused(req *http.Request, u Unit, resp *http.Response) (*http.Response, error) {
	said := w.explanation(resp)
	reason := "HTTP " + statusText(resp)
	to := spoken(resp.Header.Get("Location"))
	if to != "" {
		reason += " to " + to
	}
	gist := gist(resp, said.head)
	m, err := wire.ParseMessage(said.head)
	if err == nil && said.whole() {
		_, deliver := w.tap.bytes(Unit{
			Stream: wire.StreamPost, Header: resp.Header, Status: resp.StatusCode, Related: u.Message.ID,
		}, said)
		if m.Kind == wire.Error && u.Message.Kind == wire.Request && (m.ID == nil || bytes.Equal(m.ID, u.Message.ID)) {
			if deliver == nil {
				return nil, &Fault{Method: u.Message.Method, Status: resp.StatusCode, Text: droppedText}
			}
			if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
				// Of these the SDK keeps the message alone.
				return nil, &Fault{Method: u.Message.Method, Status: resp.StatusCode, Text: reason + behind(gist), Challenge: challenge(resp)}
			}
			status := resp.StatusCode
			if tryAgain(resp) {
				status = http.StatusBadRequest // the SDK does not look into the body of those
			}
			return standIn(req, status, resp.Header, io.NopCloser(bytes.NewReader(deliver))), nil
		}
	} else {
		w.tap.failure(u.Message, noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofMessage(u.Message), To: to, Said: quoted(said.head)}))
	}
	reason += behind(gist)
	u.Status = resp.StatusCode
	w.tap.observer.Undelivered(u, errors.New(reason))
	if sessionGone(resp) {
		return standIn(req, resp.StatusCode, resp.Header, http.NoBody), nil // the session is gone, and the SDK knows what that means
	}
	return nil, &Fault{Method: u.Message.Method, Status: resp.StatusCode, Text: reason, Challenge: challenge(resp)}
}

// challenge is what a response says of how to authenticate.
func challenge(resp *http.Response) string {
	return strings.Join(resp.Header.Values("WWW-Authenticate"), ", ")
}

// explanation reads what a refusal says, as far as that is worth reading and
// waiting for.
func (w *web) explanation(resp *http.Response) kept {
	defer resp.Body.Close()
	defer time.AfterFunc(explainTime, func() { resp.Body.Close() }).Stop()
	k, _ := keep(io.LimitReader(resp.Body, maxErrorBody+1), min(w.tap.max, maxErrorBody)) // some of it is better than nothing
	return k
}

// answered prepares an answer with a status below 300.
func (w *web) answered(req *http.Request, u Unit, resp *http.Response) (*http.Response, error) {
	if u.Message.Kind != wire.Request || w.legacy() {
		// Nothing is expected, and the SDK reads nothing.
		if resp.StatusCode != http.StatusAccepted && resp.StatusCode != http.StatusNoContent && !w.legacy() {
			w.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofMessage(u.Message), Want: "202 Accepted"}))
		}
		return resp, nil
	}
	switch media := mediaType(resp); media {
	case "application/json":
		body := &jsonBody{ReadCloser: resp.Body, web: w, posted: u.Message, resp: resp}
		return standIn(req, resp.StatusCode, resp.Header, body), nil
	case "text/event-stream":
		resp.Body = w.events(resp, wire.StreamPostSSE, u.Message)
		return resp, nil
	default:
		_ = resp.Body.Close() // nothing of it was read
		note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: ofMessage(u.Message), Got: contentType(resp)})
		w.tap.failure(u.Message, note)
		return nil, &Fault{Method: u.Message.Method, Status: resp.StatusCode, Text: note.Note.Words(&note)}
	}
}

// jsonBody is the body of a JSON answer, with what the SDK is to be given of it.
// It never fails, because the SDK would end the session over that.
type jsonBody struct {
	io.ReadCloser
	web    *web
	posted wire.Message
	resp   *http.Response // for its status and headers
	out    io.Reader
}

// Read implements [io.Reader]. The first call waits for all of the answer.
func (b *jsonBody) Read(p []byte) (int, error) {
	if b.out == nil {
		b.out = bytes.NewReader(b.web.jsonAnswer(b.ReadCloser, b.posted, b.resp))
	}
	return b.out.Read(p)
}

func (w *web) jsonAnswer(body io.Reader, posted wire.Message, resp *http.Response) []byte {
	fault := func(format string, args ...any) []byte {
		f := &Fault{Method: posted.Method, Status: resp.StatusCode, Text: fmt.Sprintf(format, args...)}
		return encoded(f.response(posted.ID))
	}
	said, err := keep(body, w.tap.max)
	u := Unit{Stream: wire.StreamPost, Header: resp.Header, Status: resp.StatusCode, Related: posted.ID}
	if err != nil {
		if said.size > 0 {
			w.tap.noise(u, said)
		}
		w.tap.failure(posted, wire.Frame{Status: resp.StatusCode, Note: &wire.Note{Kind: wire.NoteAnswerBroken, Of: ofMessage(posted), Bytes: said.size, Why: err.Error()}})
		return fault("the answer broke off after %d bytes: %v", said.size, err)
	}
	if _, deliver := w.tap.bytes(u, said); deliver != nil {
		return deliver
	}
	switch _, err := wire.ParseMessage(said.head); {
	case !said.whole():
		return fault("the answer of %d bytes is over the limit of %d bytes for one message", said.size, w.tap.max)
	case err != nil:
		return fault("the answer is no JSON-RPC message: %v", err)
	default:
		return fault(droppedText)
	}
}

// events is the body of a response with an event stream. posted is the request
// that it answers, zero if none.
func (w *web) events(resp *http.Response, stream wire.Stream, posted wire.Message) *eventBody {
	s := &eventStream{web: w, stream: stream, posted: posted, header: resp.Header, status: resp.StatusCode, req: resp.Request}
	return &eventBody{
		Closer: resp.Body, events: newEventReader(resp.Body, w.tap.max),
		deliver: s.deliver, ended: s.ended,
	}
}

// eventStream taps the events of one stream. It belongs to who reads it.
type eventStream struct {
	web    *web
	stream wire.Stream
	posted wire.Message
	header http.Header // of the response, for the first unit
	req    *http.Request
	status int

	endpoint  bool   // the endpoint event of HTTP+SSE has come
	lastID    string // of the events so far
	answered  bool   // the posted request has its response
	standsFor bool   // it is the standalone stream
}

// unit is what all units of the stream have in common.
func (s *eventStream) unit() Unit {
	u := Unit{Stream: s.stream, Header: s.header, Status: s.status, Related: s.posted.ID}
	if s.header != nil && s.stream == wire.StreamGetSSE {
		u.HTTPMethod, u.URL = s.req.Method, address(s.req)
	}
	s.header = nil
	return u
}

// deliver is for an eventBody.
func (s *eventStream) deliver(e event) (data []byte, drop bool) {
	if e.hasID {
		s.lastID = e.id
		if s.standsFor {
			s.web.streams.saw(e.id)
		}
	}
	legacy := s.web.legacy()
	switch {
	case legacy && e.name == "endpoint":
		s.web.tap.observer.Noted(wire.Frame{
			Note: &wire.Note{Kind: wire.NoteEndpoint, To: spoken(string(e.data.head))}, Header: s.header, Status: s.status, HTTPMethod: s.req.Method,
		})
		s.endpoint = true
		return e.data.head, false
	case e.data.size == 0:
		return nil, legacy // the SDK's reader of HTTP+SSE takes every event for a message
	case e.name != "" && e.name != "message", legacy && !s.endpoint:
		s.web.tap.noise(s.unit(), e.data)
		return nil, legacy
	}
	m, data := s.web.tap.bytes(s.unit(), e.data)
	if s.posted.ID != nil && m.Kind.IsResponse() && (m.ID == nil || bytes.Equal(m.ID, s.posted.ID)) {
		s.answered = true
	}
	return data, legacy && data == nil
}

// ended is for an eventBody.
func (s *eventStream) ended(err error) {
	lost := none
	broken := wire.Frame{Status: s.status, Note: &wire.Note{Kind: wire.NoteStreamBroken, Of: ofMessage(s.posted)}}
	over := wire.Frame{Status: s.status, Note: &wire.Note{Kind: wire.NoteStreamEnded, Of: ofMessage(s.posted)}}
	if s.posted.ID != nil {
		switch {
		case s.answered:
		case s.lastID != "":
			s.web.streams.suspended(s.lastID, s.posted) // the response may come on another one
		default:
			lost = s.posted
		}
	}
	switch {
	case s.web.closing.Load(), errors.Is(err, context.Canceled):
	case !errors.Is(err, io.EOF):
		broken.Note.Why = err.Error()
		s.web.tap.failure(lost, broken)
		if s.web.legacy() {
			s.web.lose(fmt.Errorf("the event stream broke off, and with it the session: %w", err))
		}
		s.web.suspect()
	case s.standsFor:
		s.web.streams.closed(s.web.tap)
	case lost.ID != nil:
		s.web.tap.failure(lost, over)
		s.web.suspect()
	case s.posted.ID != nil && !s.answered:
		s.web.tap.observer.Noted(over)
		s.web.suspect()
	case s.web.legacy():
		s.web.lose(errors.New("the event stream has ended, and with it the session"))
	}
}

// delete ends the session on the server.
func (w *web) delete(req *http.Request) (*http.Response, error) {
	w.closing.Store(true)
	f, err := w.prepare(req)
	if err != nil {
		return nil, err
	}
	resp, err := f.do()
	if err != nil {
		w.tap.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteRequestFailed, Why: err.Error()}, HTTPMethod: req.Method})
		return nil, err
	}
	w.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus}))
	return resp, nil
}

// getLegacy opens the event stream of HTTP+SSE.
func (w *web) getLegacy(req *http.Request) (*http.Response, error) {
	f, err := w.prepare(req)
	if err != nil {
		return nil, err
	}
	w.noteRequested(f, wire.Note{})
	resp, err := f.do()
	if err != nil {
		return nil, err
	}
	if followed(resp) {
		return resp, nil
	}
	if resp.StatusCode >= 300 {
		raw := w.explanation(resp).head
		w.tap.failure(none, noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Said: quoted(raw)}))
		return nil, &Fault{Status: resp.StatusCode, Text: "HTTP " + statusText(resp) + behind(gist(resp, raw)), Challenge: challenge(resp)}
	}
	if mediaType(resp) != "text/event-stream" {
		_ = resp.Body.Close() // nothing of it was read
		note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Got: contentType(resp)})
		w.tap.failure(none, note)
		return nil, &Fault{Status: resp.StatusCode, Text: note.Note.Words(&note)}
	}
	resp.Body = w.events(resp, wire.StreamGetSSE, wire.Message{})
	return resp, nil
}

// ofMessage is Note.Of for a message that was posted; "" for none.
func ofMessage(m wire.Message) string {
	if m.Method == "" && m.ID != nil {
		return "response to " + string(m.ID)
	}
	return m.Method
}

// statusText is "404 Not Found", also where the server gave no words or odd ones.
func statusText(resp *http.Response) string {
	text := http.StatusText(resp.StatusCode)
	if text == "" {
		return strconv.Itoa(resp.StatusCode)
	}
	return strconv.Itoa(resp.StatusCode) + " " + text
}

func mediaType(resp *http.Response) string {
	media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return media
}

func contentType(resp *http.Response) string {
	if media := resp.Header.Get("Content-Type"); media != "" {
		return media
	}
	return "no content type"
}

// quoted is the beginning of a text.
func quoted(raw []byte) string {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(raw[:min(len(raw), maxNoteText)])), "\uFFFD")
	if text != "" && len(raw) > maxNoteText {
		text += " …"
	}
	return text
}

// behind is text as it stands behind what introduces it.
func behind(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// gist is quoted for what a body comes down to: the message of a JSON error, or
// the text of a web page.
func gist(resp *http.Response, raw []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &e) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(e.Error, &inner) == nil && inner.Message != "":
			return quoted([]byte(inner.Message))
		case json.Unmarshal(e.Error, &inner.Message) == nil && inner.Message != "":
			return quoted([]byte(inner.Message))
		case e.Message != "":
			return quoted([]byte(e.Message))
		}
	}
	if mediaType(resp) == "text/html" {
		raw = pageText(raw)
	}
	return quoted(raw)
}

// pageText is what a web page says, in one line.
func pageText(raw []byte) []byte {
	var words []string
	skip := false
	page := html.NewTokenizer(bytes.NewReader(raw))
	for {
		switch page.Next() {
		case html.ErrorToken: // its end, since nothing can go wrong with bytes in memory
			return []byte(strings.Join(words, " "))
		case html.TextToken:
			if !skip {
				words = append(words, strings.Fields(string(page.Text()))...)
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := page.TagName()
			skip = !skip && (string(name) == "script" || string(name) == "style")
		}
	}
}
