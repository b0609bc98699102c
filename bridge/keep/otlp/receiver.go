package otlp

import (
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Bounds of a Receiver: of a request's body as it comes and unpacked, of the spans of a call and of a second,
// of the traces that are known, and how long late spans are awaited.
const (
	bodyMost     = 4 << 20
	unpackedMost = 8 << 20
	spansMost    = 2000
	everySecond  = 5000
	tracesMost   = 1000
	lateMost     = time.Second
)

// Receiver is the endpoint that servers send their spans to, by OTLP over HTTP. Spans in the traces of our own
// requests become frames in the log of the request; see wire.Span. Others are counted. Its methods are
// safe for concurrent use.
type Receiver struct {
	// Effect returns what Span.Effect is for a span; nil for nothing. It must be set before Sent is called.
	Effect func(*wire.Span) string

	listener net.Listener
	server   http.Server
	token    string
	warn     func(text string)
	turn     chan struct{} // held while a body is read, so that there is only one in memory
	served   chan struct{}

	mu      sync.Mutex
	traces  map[TraceID]*trace
	order   []TraceID     // of traces, the oldest first
	grown   chan struct{} // closed when spans have come
	second  time.Time     // which left counts for
	left    int           // how many spans may still come in that second
	foreign int           // spans of other traces
	dropped int           // spans above the bounds
	late    int           // spans of sessions that have ended
}

// trace describes a trace that one of our requests began: where its spans are logged, and which were received.
type trace struct {
	log      *wire.Log
	of       wire.Frame // what the frames of its spans have in common
	sent     []sent
	spans    map[SpanID]int // the rounds of the spans that came
	answered bool           // the span of the latest request has come
	over     bool           // its session has ended
}

// sent is a request.
type sent struct {
	span  SpanID
	at    time.Time
	round int
}

const tokenRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// NewReceiver begins to listen at an address, HOST:PORT or HOST:PORT/TOKEN. Without a token it makes one. The
// caller must close the receiver.
func NewReceiver(address string, warn func(text string)) (r *Receiver, err error) {
	address, token, has := strings.Cut(address, "/")
	if has && (strings.Trim(token, ".") == "" || strings.Trim(token, tokenRunes) != "") {
		return nil, fmt.Errorf("the token %q must be of letters, digits, -, _ and . alone", token)
	}
	r = &Receiver{
		token: cmp.Or(token, strings.ToLower(rand.Text())), warn: warn,
		turn: make(chan struct{}, 1), served: make(chan struct{}), traces: map[TraceID]*trace{}, grown: make(chan struct{}),
	}
	if r.listener, err = net.Listen("tcp", address); err != nil {
		return nil, err
	}
	r.server = http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(r.listener) // which Close ends
	}()
	return r, nil
}

// Endpoint is the address that a server must send to, as OTEL_EXPORTER_OTLP_ENDPOINT has it.
// Of a receiver that listens at each address of this machine, it has that by which its own processes reach it.
func (r *Receiver) Endpoint() string {
	address := r.listener.Addr().(*net.TCPAddr)
	host := address.IP
	if host.IsUnspecified() {
		host = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + net.JoinHostPort(host.String(), strconv.Itoa(address.Port)) + "/" + r.token
}

// Close ends listening, and says what was left out.
func (r *Receiver) Close() {
	_ = r.server.Close()
	<-r.served
	r.mu.Lock()
	foreign, dropped, late := r.foreign, r.dropped, r.late
	r.mu.Unlock()
	for why, n := range map[string]int{"of other traces": foreign, "above the bounds": dropped, "that came after the session": late} {
		if n > 0 {
			r.warn(fmt.Sprintf("traces: %s %s %s left out", wording.Grouped(int64(n)), wording.Either(n == 1, "span", "spans")+" "+why, wording.Either(n == 1, "was", "were")))
		}
	}
}

// Sent makes a request's trace known, before the request is sent. Its spans go to the log. f has the
// session, the call and the round, and the message.
func (r *Receiver) Sent(l *wire.Log, f wire.Frame) {
	ref := refOf(f.Session, f.Call, f.Dir, f.Message, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.traces[ref.trace]
	if t == nil {
		if len(r.order) == tracesMost {
			delete(r.traces, r.order[0])
			r.order = r.order[1:]
		}
		t = &trace{log: l, of: wire.Frame{Server: f.Server, Session: f.Session, Transport: f.Transport, Call: f.Call, Dir: wire.Meta}, spans: map[SpanID]int{}}
		r.traces[ref.trace], r.order = t, append(r.order, ref.trace)
	}
	t.sent, t.answered = append(t.sent[max(0, len(t.sent)+1-tracesMost):], sent{ref.span, time.Now(), f.Round}), false
}

// Late waits for a short while for spans of a log that are still under way. A process of ours
// has sent its spans when it has ended; another server sends them in its own time. What comes later is
// counted.
func (r *Receiver) Late(l *wire.Log) {
	timeout := time.After(lateMost)
	for {
		r.mu.Lock()
		waits := len(r.traces) > 0 && r.foreign+r.dropped+r.late == 0 // nothing has come so far
		for _, t := range r.traces {
			waits = waits || len(t.spans) > 0
		}
		grown, open := r.grown, false
		for _, t := range r.traces {
			open = open || t.log == l && t.of.Transport != "stdio" && !t.answered
		}
		r.mu.Unlock()
		if waits && open {
			select {
			case <-grown:
				continue
			case <-timeout:
			}
		}
		break
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.traces {
		t.over = t.over || t.log == l
	}
}

// ServeHTTP answers at /TOKEN/v1/traces. SDKs also send other signals, which it takes and drops.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	token, path, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	encoding := req.Header.Get("Content-Encoding")
	switch {
	case subtle.ConstantTimeCompare([]byte(token), []byte(r.token)) != 1, path != "v1/traces" && path != "v1/metrics" && path != "v1/logs":
		http.Error(w, "not found", http.StatusNotFound)
		return
	case req.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "OTLP is sent by POST", http.StatusMethodNotAllowed)
		return
	case kind != "application/x-protobuf" && kind != "application/json", encoding != "" && encoding != "identity" && encoding != "gzip":
		http.Error(w, "OTLP is application/x-protobuf or application/json, as it is or with gzip", http.StatusUnsupportedMediaType)
		return
	}
	var reply response
	if path == "v1/traces" {
		select {
		case r.turn <- struct{}{}:
		case <-req.Context().Done():
			return
		}
		rejected, err := r.take(w, req.Body, encoding == "gzip", kind == "application/json")
		<-r.turn
		if err != nil {
			status := http.StatusBadRequest
			if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge || errors.Is(err, errTooMuch) {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, "the body cannot be read: "+err.Error(), status)
			return
		}
		if rejected > 0 {
			reply.Partial = &partialSuccess{int64(rejected), "the inspector takes no more spans of this call, or in this second"}
		}
	}
	w.Header().Set("Content-Type", kind)
	body := appendMessage(nil, reflect.ValueOf(reply))
	if kind == "application/json" {
		body, _ = json.Marshal(reply) // of texts and numbers, which has no error
	}
	_, _ = w.Write(body)
}

// take reads the body of a request, and returns how many of its spans are above the bounds.
func (r *Receiver) take(w http.ResponseWriter, body io.ReadCloser, packed, isJSON bool) (rejected int, err error) {
	body = http.MaxBytesReader(w, body, bodyMost)
	if packed {
		z, err := gzip.NewReader(body)
		if err != nil {
			return 0, err
		}
		body = http.MaxBytesReader(w, z, unpackedMost)
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return 0, err
	}
	batch, err := decode(raw, isJSON)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	for _, from := range batch.Resource {
		service := ""
		for _, a := range from.Resource.Attributes {
			if a.Key == "service.name" && a.Value.Text != nil {
				service = wording.Shorten(*a.Value.Text, nameMost)
			}
		}
		for _, part := range from.Scopes {
			for _, s := range part.Spans {
				l, f, ok := r.place(s, now)
				if !ok {
					rejected++
				} else if l != nil {
					kept := s.kept(service, wording.Shorten(part.Scope.Name, nameMost))
					if r.Effect != nil {
						kept.Effect = r.Effect(kept)
					}
					f.Failed, f.Note = kept.Status == wire.SpanError, &wire.Note{Kind: wire.NoteSpan, Span: kept}
					l.Append(f)
				}
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.grown)
	r.grown = make(chan struct{})
	return rejected, nil
}

// place returns the log that a span belongs into, and its frame; nil if it is left out. It is false for a
// span above the bounds.
func (r *Receiver) place(s *Span, now time.Time) (l *wire.Log, f wire.Frame, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.traces[s.TraceID]
	if t == nil {
		r.foreign++
		return nil, f, true
	}
	_, again := t.spans[s.ID]
	switch {
	case s.ID == SpanID{} || again: // an exporter that got no answer in time sends its spans once more
		return nil, f, true
	case t.over:
		r.late++
		return nil, f, true
	}
	if now.Sub(r.second) >= time.Second {
		r.second, r.left = now, everySecond
	}
	if r.left == 0 || len(t.spans) == spansMost {
		r.dropped++
		return nil, f, false
	}
	r.left--
	f = t.of
	round, known := t.spans[s.Parent]
	for i, q := range t.sent {
		if q.span == s.Parent {
			round, known = q.round, true
			t.answered = t.answered || i == len(t.sent)-1
		} else if !known && (i == 0 || q.at.UnixNano() <= int64(min(s.Start, math.MaxInt64))) {
			round = q.round
		}
	}
	f.Round = round
	t.spans[s.ID] = round
	return t.log, f, true
}

// response answers a request for spans.
type response struct {
	Partial *partialSuccess `json:"partialSuccess,omitempty" pb:"1"`
}

type partialSuccess struct {
	Rejected int64  `json:"rejectedSpans,string" pb:"1"`
	Message  string `json:"errorMessage" pb:"2"`
}
