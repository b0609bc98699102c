package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

const question = `{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`

// begin sends the headers of an event stream and text at once.
func begin(w http.ResponseWriter, events string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, events)
	w.(http.Flusher).Flush()
}

// answeredBy waits for the client's answer to the question with this id.
func answeredBy(t *testing.T, r *recorder, id string) {
	t.Helper()
	r.await(t, "sent", func(s seen) bool {
		return string(s.unit.Message.ID) == `"`+id+`"` && s.unit.Message.Kind == wire.Result
	})
}

// Some servers send no headers before their first message.
func TestGetStreamWithoutHeaders(t *testing.T) {
	noLeaks(t)
	speak := make(chan struct{})
	server := rude{session: "abc", call: reply(200, "application/json", good), get: func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-speak:
		case <-r.Context().Done():
			return
		}
		begin(w, fmt.Sprintf("data: "+question+"\n\n", 1))
		<-r.Context().Done()
	}}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
	s := connect(t, l, answering()) // would otherwise block forever
	r.await(t, "note", text("has no answer yet"))
	if got := mustCall(t, s, "rude", nil); got != "good" {
		t.Errorf("meanwhile: %q", got)
	}
	close(speak)
	asked := r.await(t, "received", func(s seen) bool { return s.unit.Message.Kind == wire.Request })
	if asked.unit.Stream != wire.StreamGetSSE || asked.unit.Related != nil {
		t.Errorf("on stream %q, related %s", asked.unit.Stream, asked.unit.Related)
	}
	answeredBy(t, r, "q1")
}

// A server or a proxy may end the stream any number of times, with and without event
// ids, and be unreachable for a moment. The SDK alone would end the session.
func TestGetStreamEndsAgainAndAgain(t *testing.T) {
	noLeaks(t)
	const times = 12
	var mu sync.Mutex
	var lastIDs []string
	server := rude{session: "abc", get: func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		lastIDs = append(lastIDs, r.Header.Get("Last-Event-ID"))
		n := len(lastIDs)
		mu.Unlock()
		switch {
		case n == 3:
			begin(w, "retry: 1\nid: real-3\n\n")
		case n < times:
			begin(w, "retry: 1\n\n")
		default:
			begin(w, fmt.Sprintf("data: "+question+"\n\n", n))
			<-r.Context().Done()
		}
	}}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
	connect(t, l, answering())
	answeredBy(t, r, fmt.Sprintf("q%d", times))
	mu.Lock()
	defer mu.Unlock()
	for i, id := range lastIDs {
		want := ""
		if i >= 3 {
			want = "real-3"
		}
		if id != want {
			t.Errorf("GET %d came with Last-Event-ID %q, want %q", i+1, id, want)
		}
	}
	if n := len(r.soFar("note")); n > 13 {
		t.Errorf("%d notes:\n%s", n, r)
	}
}

func TestGetStreamRefused(t *testing.T) {
	ends := func(w http.ResponseWriter) { begin(w, "retry: 1\n\n") }
	tests := []struct {
		name   string
		first  func(http.ResponseWriter) // nil: refuse the first GET, too
		refuse http.HandlerFunc
		note   string
		gone   bool
	}{
		{"405", nil, reply(405, "text/plain", ""), "the server has no GET event stream", false},
		{"404", nil, reply(404, "text/plain", "what?"), "404 Not Found: what?", false},
		{"a web page", nil, reply(200, "text/html", "<h1>Hi"), "HTTP 200 OK and text/html in place of an event stream: <h1>Hi", false},
		{"500", nil, reply(500, "text/plain", "boom"), "500 Internal Server Error: boom", false},
		{"405 after a while", ends, reply(405, "text/plain", ""), "the server has no GET event stream", false},
		{"400 after a while", ends, reply(400, "text/plain", "what?"), "400 Bad Request: what?", false},
		{"a web page after a while", ends, reply(200, "text/html", "<h1>Hi"), "200 OK and text/html", false},
		{"404 after a while", ends, reply(404, "text/plain", "who?"), "404 Not Found: who?", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			var mu sync.Mutex
			n := 0
			server := rude{session: "abc", call: reply(200, "application/json", good), get: func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				n++
				first := n == 1
				mu.Unlock()
				if first && test.first != nil {
					test.first(w)
					return
				}
				test.refuse(w, r)
			}}
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
			s := connect(t, l, nil)
			r.await(t, "note", text(test.note))
			if test.gone {
				if err := s.Wait(); err == nil {
					t.Error("the session has ended as if nothing was")
				}
				return
			}
			if got := mustCall(t, s, "rude", nil); got != "good" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// An interrupted stream that answers a POST is resumed with a GET.
func TestPostStreamResumed(t *testing.T) {
	const prime = "id: e1\nretry: 1\ndata: \n\n"
	var resumed atomic.Int32
	tests := []struct {
		name    string
		resume  http.HandlerFunc
		failure string
		gone    bool
	}{
		{"at once", func(w http.ResponseWriter, r *http.Request) { begin(w, answerTo(r, "id: e2\ndata: "+good+"\n\n")) }, "", false},
		{"refused", reply(400, "text/plain", "no such event"), "going on with it was answered with HTTP 400 Bad Request: no such event", false},
		{"after idle timeouts", func(w http.ResponseWriter, r *http.Request) {
			if resumed.Add(1)%8 != 0 { // more often than the SDK tries, with no event id
				begin(w, "retry: 1\n\n")
				return
			}
			begin(w, answerTo(r, "data: "+good+"\n\n"))
		}, "", false},
		{"after failures", func(w http.ResponseWriter, r *http.Request) {
			switch resumed.Add(1) % 8 {
			case 0:
				begin(w, answerTo(r, "data: "+good+"\n\n"))
			case 1, 3, 5:
				panic(http.ErrAbortHandler)
			default:
				http.Error(w, "overloaded", http.StatusServiceUnavailable)
			}
		}, "", false},
		{"without a session", reply(404, "text/plain", "who?"), "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			var mu sync.Mutex
			var asked wire.Message
			server := rude{
				session: "abc",
				call: func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					asked = posted(r)
					mu.Unlock()
					begin(w, prime)
				},
				get: func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Last-Event-ID") != "e1" {
						http.Error(w, "none", http.StatusMethodNotAllowed)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					test.resume(w, r.WithContext(context.WithValue(r.Context(), rudeKey{}, asked)))
				},
			}
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{pauses: lookPauses{first: time.Millisecond, later: time.Millisecond}})
			s := connect(t, l, nil)
			res, err := call(t, s, "rude", nil)
			switch failure, ok := FailureOf(err); {
			case test.gone:
				if err == nil || s.Wait() == nil {
					t.Errorf("got %v, and the session lives", err)
				}
				return
			case test.failure != "":
				if !ok || !strings.Contains(failure.Text, test.failure) || failure.Status != 400 {
					t.Errorf("got %v, want %q", err, test.failure)
				}
			case err != nil:
				t.Errorf("got %v", err)
			default:
				if got := res.Content[0].(*mcp.TextContent).Text; got != "good" {
					t.Errorf("got %q", got)
				}
				u := r.await(t, "received", func(s seen) bool { return s.unit.Stream == wire.StreamGetSSE }).unit
				if string(u.Related) != string(u.Message.ID) {
					t.Errorf("related to %s: %s", u.Related, u.Raw)
				}
			}
			if got := mustCall(t, s, "echo", nil); got != "polite" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}
