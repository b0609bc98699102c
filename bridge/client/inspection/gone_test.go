package inspection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// noticed is the time within which the end of a server must show, also on a busy machine.
const noticed = time.Minute

// If a stream is open, the end of an HTTP server shows without a request, and withdraws
// its questions.
func TestHTTPServerIsGone(t *testing.T) {
	s := &rawHTTP{}
	s.call = func(_ http.ResponseWriter, r request) {
		s.stream <- fmt.Sprintf(plainQuestion, `"q"`)
		<-r.ctx.Done()
	}
	serveHTTP(t, s)
	b := startHTTP(t, s, inspection.Config{})
	call := b.call("ask")
	b.question(1)
	began := time.Now()
	s.die()
	b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
	if took := time.Since(began); took > noticed {
		t.Errorf("it took %s until the end was noticed", took)
	}
	if why := b.server().Reason; !strings.Contains(why, "cannot be reached any more") {
		t.Errorf("server ended: %q", why)
	}
	q := b.question(1)
	if q.State != conversation.Withdrawn {
		t.Errorf("question is %s by %s: %q", q.State, q.By, q.Reason)
	}
	if got, text := b.done(call.Number); got.State != conversation.Failed {
		t.Errorf("call is %s: %s", got.State, text)
	}
}

// Since 2026-07-28 the stream of a subscription shows the server's end.
func TestSubscribedServerIsGone(t *testing.T) {
	t.Parallel()
	s := serveHTTP(t, &rawHTTP{revision: "2026-07-28", noStream: true, changes: true})
	b := startHTTP(t, s, inspection.Config{})
	<-s.posted // the subscription
	s.die()
	b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
	if why := b.server().Reason; !strings.Contains(why, "cannot be reached any more: nothing listens on ") {
		t.Errorf("server ended: %q", why)
	}
}

// If no stream is open, the end of the server shows with the first request that fails.
func TestHTTPServerWithoutStreamIsGone(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s := serveHTTP(t, &rawHTTP{revision: revision, noStream: true})
			b := startHTTP(t, s, inspection.Config{})
			s.die()
			if state := b.server().State; state != conversation.ServerReady {
				t.Errorf("the server is %s before anything was asked of it", state)
			}
			call := b.call("ask")
			if got, text := b.done(call.Number); got.State != conversation.Failed || !strings.Contains(text, "refused") && !strings.Contains(text, "without an answer") {
				t.Errorf("call is %s: %s", got.State, text)
			}
			b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
			if why := b.server().Reason; !strings.Contains(why, "refused") {
				t.Errorf("server ended: %q", why)
			}
		})
	}
}

// Over HTTP+SSE the event stream is the session.
func TestSSEServerIsGone(t *testing.T) {
	say := make(chan string, 10)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
		w.(http.Flusher).Flush()
		for {
			select {
			case message := <-say:
				event(w, message)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /post", func(w http.ResponseWriter, r *http.Request) {
		var m request
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			panic(err)
		}
		w.WriteHeader(http.StatusAccepted)
		switch m.Method {
		case "initialize":
			say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`, m.ID)
		case "tools/list":
			say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}`, m.ID)
		case "tools/call":
			say <- fmt.Sprintf(plainQuestion, `"q"`)
		case "server/discover":
			say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
		}
	})
	server := httptest.NewServer(mux)
	b := startInspection(t, inspection.Config{Targets: []target.Spec{{Name: "old", URL: server.URL + "/sse", Transport: target.TransportSSE}}})
	b.call("ask")
	b.question(1)
	began := time.Now()
	server.CloseClientConnections()
	server.Close()
	b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
	if took := time.Since(began); took > noticed {
		t.Errorf("it took %s until the end was noticed", took)
	}
	if why := b.server().Reason; !strings.Contains(why, "event stream") {
		t.Errorf("server ended: %q", why)
	}
	if q := b.question(1); q.State != conversation.Withdrawn {
		t.Errorf("question is %s: %q", q.State, q.Reason)
	}
}

// The reason why a URL cannot be reached leaves out the prefixes that Go's libraries add.
func TestUnreachableIsExplained(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	lost := httptest.NewServer(http.NotFoundHandler())
	defer lost.Close()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in := inspection.New(inspection.Config{Log: log, Targets: []target.Spec{
		{Name: "closed", URL: closed.URL}, {Name: "lost", URL: lost.URL, Transport: target.TransportHTTP},
	}})
	b := &bench{t, in, log, in.Subscribe()}
	defer b.sub.Close()
	in.Start()
	b.until("both failures", func() bool {
		s := in.Servers()
		return s[0].State == conversation.ServerFailed && s[1].State == conversation.ServerFailed
	})
	for i, want := range []string{
		"over HTTP: nothing listens on " + strings.TrimPrefix(closed.URL, "http://") + " (connection refused)",
		"over HTTP, initialize was answered with HTTP 404 Not Found: 404 page not found at " + lost.URL,
	} {
		if got := in.Servers()[i].Reason; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := in.Close(ctx); err != nil {
		t.Error(err)
	}
}
