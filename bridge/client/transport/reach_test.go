package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
)

// mortal is a server that can be ended, and restarted at the same address.
type mortal struct {
	t       *testing.T
	handler http.Handler
	address string
	server  *http.Server
	visits  chan struct{} // receives a value for each connection; may be nil
}

func (m *mortal) begin() {
	m.t.Helper()
	address := m.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		m.t.Fatal(err)
	}
	m.address = l.Addr().String()
	m.server = &http.Server{Handler: m.handler, ReadHeaderTimeout: patience}
	m.server.ConnState = func(_ net.Conn, state http.ConnState) {
		if m.visits != nil && state == http.StateNew {
			m.visits <- struct{}{}
		}
	}
	go m.server.Serve(l) //nolint:errcheck // it ends when the test says so
	m.t.Cleanup(m.die)
}

// quick gives a restarting server little time.
var quick = Options{pauses: lookPauses{first: time.Millisecond, later: 10 * time.Millisecond}}

func (m *mortal) die() { _ = m.server.Close() } // closes all connections

func openStream(w http.ResponseWriter, r *http.Request) {
	begin(w, "retry: 20\n\n")
	<-r.Context().Done()
}

func isLost(l *Link) bool {
	select {
	case <-l.Done():
		return true
	default:
		return false
	}
}

func awaitLost(t *testing.T, l *Link, want string) {
	t.Helper()
	select {
	case <-l.Done():
	case <-time.After(patience):
		t.Fatal("nobody notices that the server is gone")
	}
	if exit, ok := l.Exit(); !ok || !strings.Contains(exit.String(), want) {
		t.Errorf("gone: %v, %q; want %q", ok, exit, want)
	}
}

// The end of a server is noticed at once while a stream is open.
func TestServerIsGone(t *testing.T) {
	noLeaks(t)
	m := &mortal{t: t, handler: rude{session: "abc", get: openStream}}
	m.begin()
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: "http://" + m.address}, r, quick)
	connect(t, l, nil)
	r.await(t, "note", text("the GET event stream is open"))
	m.die()
	awaitLost(t, l, "cannot be reached any more")
	r.await(t, "note", text("cannot be reached any more"))
}

// Without a stream, the end of a server is only noticed when a request fails.
func TestServerWithoutStreamIsGone(t *testing.T) {
	noLeaks(t)
	m := &mortal{t: t, handler: rude{}}
	m.begin()
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: "http://" + m.address}, r, quick)
	s := connect(t, l, nil)
	r.await(t, "note", text("no GET event stream"))
	m.die()
	if isLost(l) {
		t.Error("it is lost before anything was asked of it")
	}
	if _, err := call(t, s, "echo", nil); err == nil {
		t.Error("a server that is gone has answered")
	}
	awaitLost(t, l, "cannot be reached any more")
}

// A server may close its streams before it stops listening.
func TestServerEndsInItsOwnOrder(t *testing.T) {
	noLeaks(t)
	streams := make(chan struct{})
	m := &mortal{t: t, visits: make(chan struct{}, 100), handler: rude{session: "abc", get: func(w http.ResponseWriter, _ *http.Request) {
		begin(w, "retry: 60000\n\n") // so that only the link's own attempts can notice
		<-streams
		panic(http.ErrAbortHandler)
	}}}
	m.begin()
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: "http://" + m.address}, r, Options{pauses: lookPauses{first: time.Millisecond, later: 2 * time.Second}})
	connect(t, l, nil)
	r.await(t, "note", text("the GET event stream is open"))
	for len(m.visits) > 0 {
		<-m.visits
	}
	close(streams)
	r.await(t, "note", text("broke off"))
	<-m.visits // the first attempt succeeds
	m.die()
	awaitLost(t, l, "nothing listens on")
}

// A server that restarts at once is not given up.
func TestServerRestarts(t *testing.T) {
	noLeaks(t)
	opened := make(chan struct{}, 10)
	m := &mortal{t: t, handler: rude{session: "abc", get: func(w http.ResponseWriter, r *http.Request) {
		opened <- struct{}{}
		openStream(w, r)
	}}}
	m.begin()
	// A busy machine may take its time to begin again.
	l := mustOpen(t, target.Spec{URL: "http://" + m.address}, &recorder{}, Options{pauses: lookPauses{first: 5 * time.Second, later: 5 * time.Second}})
	s := connect(t, l, nil)
	<-opened
	m.die()
	m.begin()
	<-opened
	if got := mustCall(t, s, "echo", nil); got != "polite" || isLost(l) {
		t.Errorf("afterwards: %q, lost: %v", got, isLost(l))
	}
}

// The standalone stream is optional: a session goes on without it, and it is tried again.
func TestStreamCannotBeOpenedAgain(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter){
		"502": func(w http.ResponseWriter) { http.Error(w, "nobody there", http.StatusBadGateway) },
		"429": func(w http.ResponseWriter) { http.Error(w, "not so fast", http.StatusTooManyRequests) },
		"500 as an event stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusInternalServerError)
		},
		"no answer": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			var gets atomic.Int32
			server := rude{session: "abc", get: func(w http.ResponseWriter, r *http.Request) {
				switch n := gets.Add(1); {
				case n == 1 && name != "no answer": // else already the first attempt fails
					begin(w, "retry: 1\n\n")
				case n < 9: // more often than the SDK tries
					refuse(w)
				default:
					begin(w, fmt.Sprintf("data: "+question+"\n\n", n))
					<-r.Context().Done()
				}
			}}
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{pauses: lookPauses{first: time.Millisecond, later: time.Millisecond}})
			s := connect(t, l, answering())
			answeredBy(t, r, "q9")
			if got := mustCall(t, s, "echo", nil); got != "polite" || isLost(l) {
				t.Errorf("afterwards: %q, lost: %v", got, isLost(l))
			}
		})
	}
}

// GET requests are logged with their headers, too.
func TestGetsAreNoted(t *testing.T) {
	noLeaks(t)
	server := rude{session: "abc", call: func(w http.ResponseWriter, r *http.Request) {
		begin(w, "id: e1\nretry: 1\ndata: \n\n")
	}}
	asked := make(chan string, 1)
	server.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") == "" {
			openStream(w, r)
			return
		}
		asked <- r.Header.Get("Last-Event-ID")
		begin(w, "data: "+strings.ReplaceAll(good, "ID", "3")+"\n\n")
	}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL, Header: http.Header{"X-Key": {"k"}}}, r, Options{})
	s := connect(t, l, nil)
	first := r.await(t, "note", func(s seen) bool { return s.text == "GET of the event stream" })
	if first.head.Get("X-Key") != "k" || first.head.Get("Accept") != "text/event-stream" {
		t.Errorf("its headers: %v", first.head)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	calling.Go(func() { _, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: "rude"}) }) // which gets no answer
	defer calling.Wait()
	defer cancel()
	again := r.await(t, "note", text("from behind event e1"))
	if asked := <-asked; asked != "e1" || again.head.Get("Last-Event-ID") != "e1" || !strings.Contains(again.text, "that answers tools/call") {
		t.Errorf("asked from %q: %q %v", asked, again.text, again.head)
	}
	r.await(t, "note", text("goes on"))
}

// A session id before the response to initialize is ignored.
func TestSessionBeginsWithInitialize(t *testing.T) {
	noLeaks(t)
	ids := make(chan string, 100)
	inner := rude{session: "right"}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte(`"server/discover"`)):
			w.Header().Set("Mcp-Session-Id", "wrong")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}`)
			return
		case r.Method == http.MethodPost:
			ids <- r.Header.Get("Mcp-Session-Id")
		}
		inner.ServeHTTP(w, r)
	})
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, handler).URL}, r, Options{})
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), l.Transport(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustCall(t, s, "echo", nil); got != "polite" {
		t.Errorf("got %q", got)
	}
	if first, second := <-ids, <-ids; first != "" || second != "right" {
		t.Errorf("initialize came with the session id %q, what followed with %q", first, second)
	}
	r.await(t, "received", func(s seen) bool { return s.unit.Header.Get("Mcp-Session-Id") == "wrong" }) // observed as the server sent it
}
