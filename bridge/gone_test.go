package bridge_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/target"
)

// noticed is how soon the end of a server has to show.
const noticed = 6 * time.Second

// The end of an HTTP server shows by itself where a stream is open, and takes
// its questions with it.
func TestHTTPServerIsGone(t *testing.T) {
	s := &rawHTTP{}
	s.call = func(_ http.ResponseWriter, r request) {
		s.stream <- fmt.Sprintf(plainQuestion, `"q"`)
		<-r.ctx.Done()
	}
	serveHTTP(t, s)
	b := startHTTP(t, s, bridge.Config{})
	call := b.call("ask")
	b.question(1)
	began := time.Now()
	s.die()
	b.until("the server's end", func() bool { return b.server().State == bridge.Ended })
	if took := time.Since(began); took > noticed {
		t.Errorf("it took %s until the end was noticed", took)
	}
	if why := b.server().Reason; !strings.Contains(why, "cannot be reached any more") {
		t.Errorf("server ended: %q", why)
	}
	q := b.question(1)
	if q.State != bridge.Withdrawn {
		t.Errorf("question is %s by %s: %q", q.State, q.By, q.Reason)
	}
	if got, text := b.done(call.Number); got.State != bridge.CallFailed {
		t.Errorf("call is %s: %s", got.State, text)
	}
}

// Where no stream is open, nothing is said before something has failed.
func TestHTTPServerWithoutStreamIsGone(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s := serveHTTP(t, &rawHTTP{revision: revision, noStream: true})
			b := startHTTP(t, s, bridge.Config{})
			s.die()
			if state := b.server().State; state != bridge.Ready {
				t.Errorf("the server is %s before anything was asked of it", state)
			}
			call := b.call("ask")
			if got, text := b.done(call.Number); got.State != bridge.CallFailed || !strings.Contains(text, "refused") && !strings.Contains(text, "without an answer") {
				t.Errorf("call is %s: %s", got.State, text)
			}
			b.until("the server's end", func() bool { return b.server().State == bridge.Ended })
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
	b := startInspection(t, bridge.Config{Targets: []target.Spec{{Name: "old", URL: server.URL + "/sse", Transport: target.TransportSSE}}})
	b.call("ask")
	b.question(1)
	began := time.Now()
	server.CloseClientConnections()
	server.Close()
	b.until("the server's end", func() bool { return b.server().State == bridge.Ended })
	if took := time.Since(began); took > noticed {
		t.Errorf("it took %s until the end was noticed", took)
	}
	if why := b.server().Reason; !strings.Contains(why, "event stream") {
		t.Errorf("server ended: %q", why)
	}
	if q := b.question(1); q.State != bridge.Withdrawn {
		t.Errorf("question is %s: %q", q.State, q.Reason)
	}
}
