package target

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// mortal is a server that can be ended, and begun again at the same address.
type mortal struct {
	t       *testing.T
	handler http.Handler
	address string
	server  *http.Server
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
	go m.server.Serve(l) //nolint:errcheck // it ends when the test says so
	m.t.Cleanup(m.die)
}

func (m *mortal) die() { _ = m.server.Close() } // all connections with it

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

// With a stream open, the end of a server shows by itself.
func TestServerIsGone(t *testing.T) {
	noLeaks(t)
	m := &mortal{t: t, handler: rude{session: "abc", get: openStream}}
	m.begin()
	r := &recorder{}
	l := mustOpen(t, Spec{URL: "http://" + m.address}, r, Options{})
	connect(t, l, nil)
	r.await(t, "note", text("the GET event stream is open"))
	m.die()
	awaitLost(t, l, "cannot be reached any more")
	r.await(t, "note", text("cannot be reached any more"))
}

// Without a stream nothing is known until a request fails.
func TestServerWithoutStreamIsGone(t *testing.T) {
	noLeaks(t)
	m := &mortal{t: t, handler: rude{}}
	m.begin()
	r := &recorder{}
	l := mustOpen(t, Spec{URL: "http://" + m.address}, r, Options{})
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

// A server that is back at once is not given up.
func TestServerRestarts(t *testing.T) {
	noLeaks(t)
	opened := make(chan struct{}, 10)
	m := &mortal{t: t, handler: rude{session: "abc", get: func(w http.ResponseWriter, r *http.Request) {
		opened <- struct{}{}
		openStream(w, r)
	}}}
	m.begin()
	l := mustOpen(t, Spec{URL: "http://" + m.address}, &recorder{}, Options{})
	s := connect(t, l, nil)
	<-opened
	m.die()
	m.begin()
	<-opened
	if got := mustCall(t, s, "echo", nil); got != "polite" || isLost(l) {
		t.Errorf("afterwards: %q, lost: %v", got, isLost(l))
	}
}

// A proxy may still be there where the server is not.
func TestStreamCannotBeOpenedAgain(t *testing.T) {
	noLeaks(t)
	first := make(chan struct{}, 1)
	first <- struct{}{}
	server := rude{session: "abc", get: func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-first:
			begin(w, "retry: 1\n\n")
		default:
			http.Error(w, "nobody there", http.StatusBadGateway)
		}
	}}
	l := mustOpen(t, Spec{URL: start(t, server).URL}, &recorder{}, Options{})
	connect(t, l, nil)
	awaitLost(t, l, "the event stream broke off and could not be opened again: HTTP 502 Bad Gateway")
}
