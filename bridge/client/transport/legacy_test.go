package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// legacy is an HTTP+SSE server for tests: it answers POSTs on the event stream, with
// noise before each message.
type legacy struct {
	endpoint string                                                         // endpoint to announce; "" is its own
	noise    string                                                         // events before each message
	call     func(w http.ResponseWriter, m wire.Message, send func(string)) // handles a call of the tool "rude"

	mu     *sync.Mutex
	stream chan string
}

func newLegacy() legacy { return legacy{mu: new(sync.Mutex), stream: make(chan string, 100)} }

func (s legacy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		endpoint := s.endpoint
		if endpoint == "" {
			endpoint = r.URL.Path + "?session=1"
		}
		begin(w, ": hello\n\nevent: endpoint\ndata: "+endpoint+"\n\n")
		for {
			select {
			case events := <-s.stream:
				if events == "" {
					return
				}
				begin(w, events)
			case <-r.Context().Done():
				return
			}
		}
	}
	if r.URL.RawQuery != "session=1" {
		http.Error(w, "POST is not for this address", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	m, err := wire.ParseMessage(body)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", body, err))
	}
	send := func(message string) {
		s.stream <- s.noise + "event: message\ndata: " + strings.ReplaceAll(message, "ID", string(m.ID)) + "\n\n"
	}
	if m.Method == "tools/call" && strings.Contains(string(m.Params), `"rude"`) {
		s.call(w, m, send)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, "Accepted")
	switch m.Method {
	case "initialize":
		send(`{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old","version":"1"}}}`)
	case "tools/call":
		send(`{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"polite"}]}}`)
	}
}

func TestLegacyNoise(t *testing.T) {
	noLeaks(t)
	server := newLegacy()
	server.noise = ": ping\n\nid: 1\n\ndata:\n\ndata: hello\n\nevent: ping\ndata: {}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\n"
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL + "/sse", Transport: target.TransportSSE}, r, Options{})
	s := connect(t, l, nil)
	if got := mustCall(t, s, "echo", nil); got != "polite" {
		t.Errorf("got %q", got)
	}
	r.await(t, "note", text("message endpoint is /sse?session=[REDACTED]"))
	noise := map[string]int{}
	for _, s := range r.soFar("received") {
		if s.unit.Kind == wire.Noise {
			noise[string(s.unit.Raw)]++
		}
		if s.unit.Stream != wire.StreamGetSSE || s.unit.Related != nil {
			t.Errorf("on stream %q, related %s", s.unit.Stream, s.unit.Related)
		}
	}
	if noise["hello"] != 2 || noise["{}"] != 2 || len(noise) != 3 {
		t.Errorf("noise: %v", noise)
	}
}

// A refused POST ends the call, not the session.
func TestLegacyRefusesAPost(t *testing.T) {
	noLeaks(t)
	server := newLegacy()
	server.call = func(w http.ResponseWriter, _ wire.Message, _ func(string)) {
		http.Error(w, "boom", http.StatusInternalServerError)
	}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL, Transport: target.TransportSSE}, r, Options{})
	s := connect(t, l, nil)
	_, err := call(t, s, "rude", nil)
	if failure, ok := FailureOf(err); !ok || failure.Status != 500 || failure.Text != "HTTP 500 Internal Server Error: boom" {
		t.Errorf("got %v", err)
	}
	r.await(t, "undelivered", func(s seen) bool { return s.unit.Message.Method == "tools/call" })
	if got := mustCall(t, s, "echo", nil); got != "polite" {
		t.Errorf("afterwards: %q", got)
	}
}

// The session ends with the event stream.
func TestLegacyStreamEnds(t *testing.T) {
	noLeaks(t)
	server := newLegacy()
	server.call = func(w http.ResponseWriter, _ wire.Message, _ func(string)) {
		w.WriteHeader(http.StatusAccepted)
		server.stream <- ""
	}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL, Transport: target.TransportSSE}, r, Options{})
	s := connect(t, l, nil)
	if _, err := call(t, s, "rude", nil); !errors.Is(err, mcp.ErrConnectionClosed) && err == nil {
		t.Error("the call has succeeded")
	}
	if err := s.Wait(); err != nil {
		t.Errorf("the session ended with %v", err)
	}
	r.await(t, "note", text("has ended, and with it the session"))
}

// A server cannot redirect the client's messages to another origin.
func TestLegacyEndpointElsewhere(t *testing.T) {
	noLeaks(t)
	var requests requestLog
	other := start(t, requests.around(http.NotFoundHandler()))
	server := newLegacy()
	server.endpoint = other.URL + "/collect"
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL, Transport: target.TransportSSE, Header: http.Header{"Authorization": {"secret"}}}, r, Options{})
	_, err := dial(t, l, nil)
	if err == nil || !strings.Contains(err.Error(), "of another origin") {
		t.Errorf("got %v", err)
	}
	if got := requests.bodies(); len(got) > 0 {
		t.Errorf("it was sent %q", got)
	}
}

func TestLegacyCannotConnect(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"404", reply404, "HTTP 404 Not Found: nothing here"},
		{"a web page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "answered with HTTP 200 OK and text/html"},
		{"no endpoint", func(w http.ResponseWriter, _ *http.Request) { begin(w, "data: "+progress+"\n\n") }, "endpoint"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			l := mustOpen(t, target.Spec{URL: start(t, test.handler).URL, Transport: target.TransportSSE}, &recorder{}, Options{})
			if _, err := dial(t, l, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func reply404(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "nothing here", http.StatusNotFound)
}

// connectAny connects as target.TransportAuto requires.
func connectAny(t *testing.T, s target.Spec) (*mcp.ClientSession, *Link, error) {
	t.Helper()
	var failed error
	for _, candidate := range s.Candidates() {
		l := mustOpen(t, candidate, &recorder{}, Options{})
		session, err := dial(t, l, nil)
		if err == nil {
			return session, l, nil
		}
		mustClose(t, l)
		failed = errors.Join(failed, fmt.Errorf("%s: %w", l.How(), err))
		if !TryNext(err) {
			break
		}
	}
	return nil, nil, failed
}

func TestAuto(t *testing.T) {
	old := newLegacy()
	tests := []struct {
		name    string
		handler http.Handler
		how     string
		want    []string // parts of the error
		not     string
	}{
		{"Streamable HTTP", streamable(nil), "HTTP", nil, ""},
		{"HTTP+SSE", old, "SSE", nil, ""},
		{"HTTP+SSE of the SDK", mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return testServer() }, nil), "SSE", nil, ""},
		{"neither", http.HandlerFunc(reply404), "", []string{"HTTP: ", "SSE: ", "404 Not Found: nothing here"}, ""},
		{"forbidden", reply(http.StatusForbidden, "text/plain", "go away"), "", []string{"HTTP: ", "HTTP 403 Forbidden: go away"}, "SSE"},
		{"a JSON-RPC error", rude400(), "", []string{"bad params"}, "SSE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			_, l, err := connectAny(t, target.Spec{URL: start(t, test.handler).URL})
			if test.how == "" {
				for _, want := range test.want {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
				}
				if err != nil && test.not != "" && strings.Contains(err.Error(), test.not) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l.How() != test.how {
				t.Errorf("reached by %s", l.How())
			}
		})
	}
}

// rude400 answers every request with 400 and a JSON-RPC error.
func rude400() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		m, err := wire.ParseMessage(body)
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, strings.ReplaceAll(bad, "ID", string(m.ID)))
	}
}

func TestCandidates(t *testing.T) {
	tests := []struct {
		spec target.Spec
		want []string
	}{
		{target.Spec{Command: []string{"x"}}, []string{"stdio"}},
		{target.Spec{Builtin: logtest.Serving(testServer().Connect)}, []string{"in process"}},
		{target.Spec{URL: "http://x", Transport: target.TransportSSE}, []string{"SSE"}},
		{target.Spec{URL: "http://x", Transport: target.TransportHTTP}, []string{"HTTP"}},
		{target.Spec{URL: "http://x"}, []string{"HTTP", "SSE"}},
	}
	for _, test := range tests {
		var got []string
		for _, c := range test.spec.Candidates() {
			got = append(got, c.How())
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%+v: %v, want %v", test.spec, got, test.want)
		}
	}
}

func TestAddress(t *testing.T) {
	tests := []struct {
		spec target.Spec
		want string
	}{
		{target.Spec{Command: []string{"npx", "-y", "a b", "", "it's", "$HOME", "--x=1"}}, `npx -y 'a b' '' 'it'\''s' '$HOME' --x=1`},
		{target.Spec{URL: "https://user:pass@host/mcp?x=1"}, "https://user:xxxxx@host/mcp?x=1"},
		{target.Spec{URL: "https://%zz"}, "https://%zz"},
		{target.Spec{Builtin: logtest.Serving(testServer().Connect)}, "built in"},
	}
	for _, test := range tests {
		if got := test.spec.Address(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestParseTransport(t *testing.T) {
	for name, want := range map[string]target.Transport{"": target.TransportAuto, "auto": target.TransportAuto, "http": target.TransportHTTP, "sse": target.TransportSSE} {
		if got, err := target.ParseTransport(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := target.ParseTransport("carrier pigeon"); err == nil {
		t.Error("no error")
	}
}
