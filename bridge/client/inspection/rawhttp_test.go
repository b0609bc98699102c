package inspection_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
)

// rawHTTP is the server's end of Streamable HTTP without any SDK.
type rawHTTP struct {
	revision string
	session  string
	noStream bool                                   // 405 to GET
	changes  bool                                   // since 2026-07-28: declares listChanged
	call     func(w http.ResponseWriter, r request) // tools/call

	stream chan string  // messages for the GET stream
	posted chan request // other messages from the client: responses and notifications

	mu      sync.Mutex
	server  *httptest.Server
	address string
}

// serveHTTP starts a raw server whose one tool is "ask".
func serveHTTP(t *testing.T, s *rawHTTP) *rawHTTP {
	t.Helper()
	if s.revision == "" {
		s.revision = "2025-11-25"
	}
	s.session = "session-1"
	s.stream, s.posted = make(chan string, 100), make(chan request, 100)
	s.server = httptest.NewServer(s)
	s.address = s.server.URL + "/mcp"
	t.Cleanup(s.die)
	return s
}

// die ends the server and all of its connections.
func (s *rawHTTP) die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		s.server.CloseClientConnections()
		s.server.Close()
		s.server = nil
	}
}

// event writes one message as a server-sent event.
func event(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+message+"\n\n") // the test notices if the client is gone
	w.(http.Flusher).Flush()
}

func (s *rawHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && s.noStream:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for {
			select {
			case message := <-s.stream:
				event(w, message)
			case <-r.Context().Done():
				return
			}
		}
	case r.Method != http.MethodPost:
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	m := request{raw: string(body), ctx: r.Context()}
	if err := json.Unmarshal(body, &m); err != nil {
		panic(fmt.Sprintf("%s: %v", body, err))
	}
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "server/discover":
		if s.revision < "2026" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
			return
		}
		answer(fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":{"tools":{"listChanged":%v}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, s.revision, s.changes))
	case "subscriptions/listen":
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		s.posted <- m
		<-r.Context().Done()
	case "initialize":
		w.Header().Set("Mcp-Session-Id", s.session)
		answer(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`, s.revision))
	case "tools/list":
		answer(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		s.call(w, m)
	default:
		w.WriteHeader(http.StatusAccepted)
		s.posted <- m
	}
}

// startHTTP starts an inspection of a raw server behind a URL.
func startHTTP(t *testing.T, s *rawHTTP, config inspection.Config) *bench {
	t.Helper()
	config.Targets = []target.Spec{{Name: "raw", URL: s.address, Transport: target.TransportHTTP}}
	return startInspection(t, config)
}

const plainQuestion = `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"Still there?","requestedSchema":{"type":"object","properties":{}}}}`

// A server that cancels its question ends the call on one stream and gives the reason on
// another. The reason is shown in either order.
func TestCancellationThatTheResultHasOvertaken(t *testing.T) {
	s := &rawHTTP{}
	result := make(chan struct{})
	s.call = func(w http.ResponseWriter, call request) {
		s.stream <- fmt.Sprintf(plainQuestion, `"q"`)
		<-result
		event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, call.ID))
	}
	serveHTTP(t, s)
	b := startHTTP(t, s, inspection.Config{})
	call := b.call("ask")
	b.question(1)
	close(result)
	b.done(call.Number)
	b.until("the withdrawal", func() bool { q := b.question(1); return q.State == conversation.Withdrawn && q.AnswerSeq != 0 })
	s.stream <- `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"timed out after 60 s"}}`
	b.until("the server's reason", func() bool { return b.question(1).By == conversation.ByServer })
	q := b.question(1)
	if q.State != conversation.Withdrawn || q.Reason != "cancelled by the server: timed out after 60 s" {
		t.Errorf("question is %s: %q", q.State, q.Reason)
	}
	got, _ := b.in.Call(call.Number)
	if last := got.Steps[len(got.Steps)-1]; last.Question != 1 || last.Word != "withdrawn" || last.Text != q.Reason {
		t.Errorf("last step is %+v", last)
	}
}
