package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// start serves h until the test ends.
func start(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func streamable(opts *mcp.StreamableHTTPOptions) http.Handler {
	server := testServer()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, opts)
}

func TestHTTPSession(t *testing.T) {
	tests := []struct {
		name    string
		handler http.Handler
		spec    target.Spec
		asks    bool // the server can send requests during a call
		how     string
		answer  wire.Stream // stream of the response to a call
		asked   wire.Stream
	}{
		{"stateful", streamable(nil), target.Spec{}, true, "HTTP", wire.StreamPostSSE, wire.StreamPostSSE},
		{"stateless", streamable(&mcp.StreamableHTTPOptions{Stateless: true}), target.Spec{Transport: target.TransportHTTP}, false, "HTTP", wire.StreamPostSSE, 0},
		{"JSON", streamable(&mcp.StreamableHTTPOptions{JSONResponse: true}), target.Spec{}, true, "HTTP", wire.StreamPost, wire.StreamGetSSE},
		{"stateless JSON", streamable(&mcp.StreamableHTTPOptions{JSONResponse: true, Stateless: true}), target.Spec{}, false, "HTTP", wire.StreamPost, 0},
		{"SSE", mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return testServer() }, nil), target.Spec{Transport: target.TransportSSE}, true, "SSE", wire.StreamGetSSE, wire.StreamGetSSE},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			var requests requestLog
			test.spec.URL = start(t, requests.around(test.handler)).URL + "/mcp"
			test.spec.Header = http.Header{"Authorization": {"Bearer secret"}, "x-tenant": {"a", "b"}}
			r := &recorder{}
			l := mustOpen(t, test.spec, r, Options{})
			s := connect(t, l, answering())
			if got := mustCall(t, s, "echo", map[string]any{"text": "<é>"}); got != "<é>" {
				t.Errorf("echo: %q", got)
			}
			if test.asks {
				if got := mustCall(t, s, "ask", nil); got != "accept window" {
					t.Errorf("ask: %q", got)
				}
			}
			if l.How() != test.how {
				t.Errorf("how: %q", l.How())
			}
			mustClose(t, l)
			if err := s.Wait(); err != nil {
				t.Errorf("the session ended with %v", err)
			}
			r.checkUnits(t)

			// Each message was observed with the server's exact bytes.
			var bodies []string
			for _, sent := range r.soFar("sent") {
				bodies = append(bodies, string(sent.unit.Raw))
				if sent.unit.Stream != wire.StreamPost {
					t.Errorf("sent on %q: %s", sent.unit.Stream, sent.unit.Raw)
				}
				got := requests.header(t, string(sent.unit.Raw))
				if !maps.EqualFunc(got, sent.unit.Header, slices.Equal) {
					t.Errorf("the headers of %s:\nseen   %v\nserver %v", sent.unit.Raw, sent.unit.Header, got)
				}
				if u := sent.unit; u.HTTPMethod != http.MethodPost || u.URL != requests.address(string(u.Raw)) {
					t.Errorf("%s %s was seen, the server got %s", u.HTTPMethod, u.URL, requests.address(string(u.Raw)))
				}
				if got.Get("Authorization") != "Bearer secret" || !slices.Equal(got["X-Tenant"], []string{"a", "b"}) {
					t.Errorf("headers of the spec: %v", got)
				}
			}
			if got := requests.bodies(); !sameSet(got, bodies) {
				t.Errorf("the server got %q, seen %q", got, bodies)
			}

			id := r.await(t, "sent", func(s seen) bool { return s.unit.Message.Method == "tools/call" }).unit.Message.ID
			answer := r.await(t, "received", func(s seen) bool { return bytes.Equal(s.unit.Message.ID, id) && s.unit.Message.Kind == wire.Result })
			related := id
			if test.how == "SSE" {
				related = nil
			}
			if u := answer.unit; u.Stream != test.answer || !bytes.Equal(u.Related, related) || u.Status != 200 {
				t.Errorf("the answer: stream %q, related %s, status %d", u.Stream, u.Related, u.Status)
			}
			if test.asks {
				asked := r.await(t, "received", func(s seen) bool { return s.unit.Message.Method == "elicitation/create" })
				if u := asked.unit; u.Header != nil && u.Stream == wire.StreamGetSSE && (u.HTTPMethod != http.MethodGet || u.URL != test.spec.URL) {
					t.Errorf("the question came on %s %s", u.HTTPMethod, u.URL)
				}
				if asked.unit.Stream != test.asked || (asked.unit.Related != nil) != (test.asked == wire.StreamPostSSE) {
					t.Errorf("the question: stream %q, related %s", asked.unit.Stream, asked.unit.Related)
				}
			}
			if slices.Contains([]string{"stateful", "JSON"}, test.name) {
				r.await(t, "note", text("DELETE of the session was answered with HTTP 204"))
				r.await(t, "note", text("the GET event stream is open"))
			}
		})
	}
}

// requestLog records the requests that a server received.
type requestLog struct {
	mu   sync.Mutex
	all  []string
	head map[string]http.Header
	to   map[string]string // URL by body
}

// address returns the URL that a body was posted to.
func (l *requestLog) address(body string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to[body]
}

func (l *requestLog) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h := r.Header.Clone()
			h.Set("Host", r.Host)
			l.mu.Lock()
			l.all = append(l.all, string(body))
			if l.head == nil {
				l.head, l.to = map[string]http.Header{}, map[string]string{}
			}
			l.to[string(body)] = "http://" + r.Host + r.URL.String()
			l.head[string(body)] = h
			l.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

func (l *requestLog) bodies() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func (l *requestLog) header(t *testing.T, body string) http.Header {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.head[body]
	if !ok {
		t.Errorf("the server never got %s", body)
	}
	return h
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// rude is a Streamable HTTP server that performs the handshake and leaves the rest to
// the test: calls of the tool "rude" go to call, GET requests to get. The tool "echo"
// answers normally.
type rude struct {
	call, get http.HandlerFunc
	other     http.HandlerFunc // responses and notifications; nil: 202
	session   string
}

type rudeKey struct{}

// posted returns the message in a request, zero if it is unknown.
func posted(r *http.Request) wire.Message {
	m, _ := r.Context().Value(rudeKey{}).(wire.Message)
	return m
}

func (s rude) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		if r.Method == http.MethodGet && s.get != nil {
			s.get(w, r)
			return
		}
		http.Error(w, "no", http.StatusMethodNotAllowed)
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
	r = r.WithContext(context.WithValue(r.Context(), rudeKey{}, m))
	result := func(text string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, text)
	}
	switch {
	case m.Method == "initialize":
		if s.session != "" {
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		result(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"rude","version":"1"}}`)
	case m.Method == "tools/call" && bytes.Contains(m.Params, []byte(`"rude"`)):
		s.call(w, r)
	case m.Method == "tools/call":
		result(`{"content":[{"type":"text","text":"polite"}]}`)
	case s.other != nil && m.Method != "notifications/initialized":
		s.other(w, r)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// answerTo replaces ID in a body by the id of the request.
func answerTo(r *http.Request, body string) string {
	return strings.ReplaceAll(body, "ID", string(posted(r).ID))
}

// reply answers with a fixed status, content type and body.
func reply(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		} else {
			w.Header()["Content-Type"] = nil // otherwise net/http guesses one
		}
		w.WriteHeader(status)
		io.WriteString(w, answerTo(r, body))
	}
}

const (
	good     = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"good"}]}}`
	bad      = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"bad params","data":[1]}}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
)

func TestHTTPRudeAnswers(t *testing.T) {
	const js, es = "application/json", "text/event-stream"
	big := strings.Repeat("x", 300<<10)
	tests := []struct {
		name        string
		call        http.HandlerFunc
		failure     string // text of the call's failure; "" if it succeeds
		code        int64  // code of the server's own JSON-RPC error, else 0
		status      int    // status of the failure
		noise       []string
		undelivered string
		note        string
	}{
		{name: "JSON", call: reply(200, js, good)},
		{name: "JSON with a charset and space around", call: reply(200, "Application/JSON; charset=utf-8", "\r\n "+good+"\n")},
		{name: "JSON-RPC error", call: reply(200, js, bad), code: -32602},
		{name: "400 with a JSON-RPC error", call: reply(400, js, bad), code: -32602},
		{name: "500 with a JSON-RPC error", call: reply(500, js, bad), code: -32602},
		{name: "404 with a JSON-RPC error", call: reply(404, "", bad), code: -32602},
		{name: "a JSON-RPC error without an id", call: reply(200, js, strings.Replace(bad, `"id":ID,`, "", 1)), code: -32602},
		{name: "400 with a JSON-RPC error without an id", call: reply(400, js, strings.Replace(bad, `"id":ID,`, "", 1)), code: -32602},
		{name: "400 with a JSON-RPC error for nobody", call: reply(400, js, strings.ReplaceAll(bad, "ID", "null")),
			failure: "HTTP 400 Bad Request: bad params", status: 400, undelivered: "HTTP 400 Bad Request", note: `{"code":-32602,"message":"bad params"`},
		{name: "400 with a JSON-RPC error for another", call: reply(400, js, strings.ReplaceAll(bad, "ID", `"other"`)),
			failure: "HTTP 400 Bad Request: bad params", status: 400, undelivered: "bad params"},
		{name: "400 with a result", call: reply(400, js, good), failure: "HTTP 400 Bad Request", status: 400, undelivered: "HTTP 400"},
		{name: "500 with text", call: reply(500, "text/plain", "boom\n"), failure: "HTTP 500 Internal Server Error: boom", status: 500, undelivered: "boom", note: "POST of tools/call was answered with HTTP 500 Internal Server Error: boom"},
		{name: "404 with a web page", call: reply(404, "text/html", "<!DOCTYPE html>\n<title>Error</title><style>b{}</style><script>1<2</script>\n<pre>Cannot  POST &amp; more</pre>"),
			failure: "HTTP 404 Not Found: Error Cannot POST & more", status: 404, undelivered: "Cannot", note: "<pre>Cannot  POST"},
		{name: "403 with JSON", call: reply(403, "application/json", `{"error":"no access"}`), failure: "HTTP 403 Forbidden: no access", status: 403, undelivered: "no access", note: `{"error":"no access"}`},
		{name: "503 without anything", call: reply(503, "", ""), failure: "HTTP 503 Service Unavailable", status: 503, undelivered: "HTTP 503", note: "HTTP 503"},
		{name: "418 with very much text", call: reply(418, "text/plain", strings.Repeat("y", 3<<20)), failure: "yyyy …", status: 418, undelivered: "418", note: "yyyy …"},
		{name: "404 without a session", call: reply(404, "text/plain", "where?"), failure: "HTTP 404 Not Found: where?", status: 404, undelivered: "404", note: "404"},
		{name: "302", call: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) },
			failure: "HTTP 302 Found to /login", status: 302, undelivered: "302", note: "302"},
		{name: "307 without end", call: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
		}, failure: "HTTP 307 Temporary Redirect to /again", status: 307, undelivered: "307", note: "POST redirected to "},
		{name: "500 and never an end", call: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, "boom")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, failure: "HTTP 500 Internal Server Error: boom", status: 500, undelivered: "boom", note: "boom"},
		{name: "a web page", call: reply(200, "text/html; charset=utf-8", "<h1>Hello"), failure: "was answered with HTTP 200 OK and text/html; charset=utf-8 in place of JSON", status: 200, note: "text/html"},
		{name: "no content type", call: reply(200, "", good), failure: "no content type", status: 200, note: "no content type"},
		{name: "202", call: reply(202, "", ""), failure: "202 Accepted and no content type", status: 202, note: "202 Accepted"},
		{name: "no JSON", call: reply(200, js, "oops"), failure: "the answer is not a JSON-RPC message", status: 200, noise: []string{"oops"}},
		{name: "nothing", call: reply(200, js, ""), failure: "the answer is not a JSON-RPC message", status: 200, noise: []string{""}},
		{name: "a batch", call: reply(200, js, "["+good+"]"), failure: "the answer is not a JSON-RPC message", status: 200, noise: []string{"[" + good + "]"}},
		{name: "wrong version", call: reply(200, js, `{"jsonrpc":"1.0","id":ID,"result":{}}`), failure: "not a JSON-RPC message", status: 200, noise: []string{`{"jsonrpc":"1.0","id":ID,"result":{}}`}},
		{name: "an error that cannot be read", call: reply(200, js, `{"jsonrpc":"2.0","id":ID,"error":{"code":"bad","message":"no"}}`), failure: "the message cannot be read", note: "not passed on: the message cannot be read"},
		{name: "too large", call: reply(200, js, strings.ReplaceAll(good, "good", big)), failure: "over the limit of 262144 bytes", note: "not passed on"},
		{name: "too large and no message", call: reply(200, js, big), failure: "over the limit of 262144 bytes", status: 200, noise: []string{big[:256<<10]}},
		{name: "too large, its id at the end", call: reply(200, js, `{"result":{"text":"`+big+`"},"jsonrpc":"2.0","id":ID}`), failure: "over the limit", note: "not passed on"},
		{name: "broken off", call: broken(js, good[:30]), failure: "the answer broke off after 29 bytes", status: 200, noise: []string{good[:30]}, note: "broke off"},
		{name: "broken off at once", call: broken(js, ""), failure: "the answer broke off after 0 bytes", status: 200, note: "broke off"},
		{name: "cut before the headers", call: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, failure: "the server closed the connection without an answer", undelivered: "EOF"},
		{name: "reset before the headers", call: func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0) // works on an open connection
				_ = conn.Close()
			}
		}, failure: "the server closed the connection without an answer", undelivered: "connection reset"},
		{name: "gzip", call: zipped(js, good)},
		{name: "an encoding that was not asked for", call: inBrotli(200, js), failure: "200 OK and application/json encoded as br in place of JSON", status: 200, note: "application/json encoded as br"},
		{name: "events in such an encoding", call: inBrotli(200, es), failure: "text/event-stream encoded as br", status: 200, note: "text/event-stream encoded as br"},
		{name: "a refusal in such an encoding", call: inBrotli(500, js), failure: "HTTP 500 Internal Server Error: (its body is encoded as br)", status: 500, note: "(its body is encoded as br)", undelivered: "500"},

		{name: "events", call: reply(200, es, "data: "+progress+"\n\nevent: message\nid: 1\ndata: "+good+"\n\n")},
		{name: "events with CRLF", call: reply(200, es, "data:"+good+"\r\n\r\n")},
		{name: "events with CR", call: reply(200, es, "id: 1\rdata: "+good+"\r\r")},
		{name: "zipped events", call: zipped(es, "data: "+good+"\n\n")},
		{name: "many lines of data", call: reply(200, es, "data: "+strings.ReplaceAll(good, ",", ",\ndata: ")+"\n\n")},
		{name: "comments, priming and unknown fields", call: reply(200, es, ": hi\n\nid: 1\nretry: 100\ndata:\n\nfoo: bar\ndata: "+good+"\n\n")},
		{name: "an event without its blank line", call: reply(200, es, "data: "+good), failure: "request terminated without response", note: "ended within an event: "},
		{name: "an event without its blank line, after the response", call: reply(200, es, "data: "+good+"\n\ndata: "+good+"\n"), note: `ended within an event: `},
		{name: "a JSON-RPC error without an id as event", call: reply(200, es, "data: "+strings.Replace(bad, `"id":ID,`, "", 1)+"\n\n"), code: -32602},
		{name: "noise between events", call: reply(200, es, "data: hello\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\ndata: ["+progress+"]\n\nmalformed\n\ndata: "+good+"\n\n"),
			noise: []string{"hello", `{"jsonrpc":"2.0","id":null,"result":{}}`, "[" + progress + "]"}},
		{name: "an event of another name", call: reply(200, es, "event: ping\ndata: {}\n\nevent: ping\ndata:\n\ndata: "+good+"\n\n"), noise: []string{"{}"}},
		{name: "no events", call: reply(200, es, ""), failure: "request terminated without response", note: "has ended without the response"},
		{name: "events without the response", call: reply(200, es, "data: "+progress+"\n\n"), failure: "request terminated without response", note: "has ended without the response"},
		{name: "events that break off", call: broken(es, "data: "+progress+"\n\ndata: {"), failure: "request terminated without response", note: "broke off"},
		{name: "an event that is too large", call: reply(200, es, "data: "+strings.ReplaceAll(good, "good", big)+"\n\n"), failure: "over the limit of 262144 bytes", note: "not passed on"},
		{name: "an event that is too large, its id at the end", call: reply(200, es, `data: {"result":{"text":"`+big+`"},"id":ID,"jsonrpc":"2.0"}`+"\n\n"), failure: "over the limit", note: "not passed on"},
		{name: "a large notification", call: reply(200, es, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`+big+`"}}`+"\n\ndata: "+good+"\n\n"), note: "not passed on"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, rude{call: test.call}).URL}, r, Options{MaxFrame: 256 << 10})
			s := connect(t, l, nil)
			res, err := call(t, s, "rude", nil)
			id := string(r.await(t, "sent", func(s seen) bool { return strings.Contains(string(s.unit.Raw), `"rude"`) }).unit.Message.ID)

			var rpc *jsonrpc.Error
			switch failure, ok := FailureOf(err); {
			case test.code != 0:
				if ok || !errors.As(err, &rpc) || rpc.Code != test.code || string(rpc.Data) != "[1]" {
					t.Errorf("got %v, want the server's own error %d", err, test.code)
				}
			case strings.HasPrefix(test.failure, "request terminated"): // the SDK's text
				if err == nil || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("got %v, want %q", err, test.failure)
				}
			case test.failure != "":
				if !ok || !strings.Contains(failure.Text, test.failure) || failure.Status != test.status {
					t.Errorf("got %v (%+v), want %q with status %d", err, failure, test.failure, test.status)
				}
			case err != nil:
				t.Errorf("got %v", err)
			default:
				if got := res.Content[0].(*mcp.TextContent).Text; got != "good" {
					t.Errorf("got %q", got)
				}
			}
			var noise []string
			for _, s := range r.soFar("received") {
				if s.unit.Kind == wire.Noise {
					noise = append(noise, string(s.unit.Raw))
					if s.unit.Status != 200 || string(s.unit.Related) != id {
						t.Errorf("noise with status %d, related %s", s.unit.Status, s.unit.Related)
					}
				}
			}
			for i, n := range test.noise {
				test.noise[i] = strings.ReplaceAll(n, "ID", id)
			}
			if !slices.Equal(noise, test.noise) {
				t.Errorf("noise %.300q, want %.300q", noise, test.noise)
			}
			undelivered := r.soFar("undelivered")
			switch {
			case test.undelivered == "" && len(undelivered) > 0:
				t.Errorf("undelivered: %v", undelivered[0].err)
			case test.undelivered != "" && (len(undelivered) != 1 || string(undelivered[0].unit.Message.ID) != id || !strings.Contains(undelivered[0].err.Error(), test.undelivered)):
				t.Errorf("undelivered: %v, want %q", undelivered, test.undelivered)
			}
			if test.note != "" {
				n := r.await(t, "note", text(test.note))
				if len(n.text) > maxNoteText+1000 {
					t.Errorf("a note of %d bytes", len(n.text))
				}
			}

			// The session survives every answer.
			if got := mustCall(t, s, "echo", nil); got != "polite" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// broken begins an answer and closes the connection.
func broken(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", "1000")
		if contentType == "text/event-stream" {
			w.Header().Del("Content-Length")
		}
		io.WriteString(w, answerTo(r, body))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// inBrotli answers with a body in Brotli that looks as if it began a list of JSON.
func inBrotli(status int, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Encoding", "br")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("[\x05\x80\xaa"))
	}
}

func zipped(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		io.WriteString(zip, answerTo(r, body))
		if err := zip.Close(); err != nil {
			panic(err)
		}
	}
}

// An answer that the server refuses is undelivered, and the session continues.
func TestHTTPAnswerRefused(t *testing.T) {
	answered := make(chan struct{})
	server := rude{
		call: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, `data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`+"\n\n")
			w.(http.Flusher).Flush()
			<-answered
			fmt.Fprint(w, answerTo(r, "data: "+good+"\n\n"))
		},
		other: func(w http.ResponseWriter, r *http.Request) {
			defer close(answered)
			http.Error(w, "not now", http.StatusConflict)
		},
	}
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
	s := connect(t, l, answering())
	if got := mustCall(t, s, "rude", nil); got != "good" {
		t.Errorf("the call: %q", got)
	}
	u := r.await(t, "undelivered", anything)
	if string(u.unit.Message.ID) != `"q"` || u.unit.Status != http.StatusConflict || u.err.Error() != "HTTP 409 Conflict: not now" {
		t.Errorf("undelivered: %s, status %d, %v", u.unit.Raw, u.unit.Status, u.err)
	}
	if got := mustCall(t, s, "echo", nil); got != "polite" {
		t.Errorf("afterwards: %q", got)
	}
}

// A session that the server has forgotten ends.
func TestHTTPSessionGone(t *testing.T) {
	r := &recorder{}
	l := mustOpen(t, target.Spec{URL: start(t, rude{call: reply(404, "text/plain", "who?"), session: "abc"}).URL}, r, Options{})
	s := connect(t, l, nil)
	if _, err := call(t, s, "rude", nil); !errors.Is(err, mcp.ErrSessionMissing) {
		t.Errorf("got %v", err)
	}
	if err := s.Wait(); !errors.Is(err, mcp.ErrSessionMissing) {
		t.Errorf("the session ended with %v", err)
	}
	r.await(t, "undelivered", func(s seen) bool { return s.unit.Header.Get("Mcp-Session-Id") == "abc" })
}

func TestHTTPDropsAndKeepsBack(t *testing.T) {
	for _, contentType := range []string{"application/json", "text/event-stream"} {
		t.Run(contentType, func(t *testing.T) {
			body := good
			if contentType == "text/event-stream" {
				body = "data: " + good + "\n\n"
			}
			r := &recorder{
				deliver: func(u Tapped) []byte {
					if strings.Contains(string(u.Raw), `"good"`) {
						return nil
					}
					return u.Raw
				},
				send: func(u Tapped) bool { return !strings.Contains(string(u.Raw), "secret") },
			}
			l := mustOpen(t, target.Spec{URL: start(t, rude{call: reply(200, contentType, body)}).URL}, r, Options{})
			s := connect(t, l, nil)
			if _, err := call(t, s, "rude", nil); err == nil {
				t.Error("a dropped answer has arrived")
			}
			_, err := call(t, s, "secret", nil)
			if failure, ok := FailureOf(err); !ok || failure.Text != "the request was kept back" {
				t.Errorf("kept back: %v", err)
			}
			if err := s.NotifyProgress(t.Context(), &mcp.ProgressNotificationParams{ProgressToken: "secret"}); err != nil {
				t.Errorf("a notification that was kept back: %v", err)
			}
			if got := mustCall(t, s, "echo", nil); got != "polite" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

// An observer's message with line feeds is still one message.
func TestHTTPDelivers(t *testing.T) {
	r := &recorder{deliver: func(u Tapped) []byte {
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.ReplaceAll(u.Raw, []byte("good"), []byte("better")), "\t", " "); err != nil {
			panic(err)
		}
		return b.Bytes()
	}}
	for _, h := range []http.HandlerFunc{reply(200, "application/json", good), reply(200, "text/event-stream", "data: "+good+"\n\n")} {
		l := mustOpen(t, target.Spec{URL: start(t, rude{call: h}).URL}, r, Options{})
		if got := mustCall(t, connect(t, l, nil), "rude", nil); got != "better" {
			t.Errorf("got %q", got)
		}
	}
}

// The spec's headers are only sent to its own origin.
func TestHTTPRedirects(t *testing.T) {
	var requests requestLog
	other := start(t, requests.around(rude{call: reply(200, "application/json", good)}))
	secret := http.Header{"Authorization": {"Bearer secret"}, "X-Api-Key": {"secret"}}
	tests := []struct {
		name    string
		to      string
		secrets bool
	}{
		{"to another origin", other.URL + "/mcp", false},
		{"to another path", "/mcp", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var first requestLog
			mux := http.NewServeMux()
			mux.Handle("/old", http.RedirectHandler(test.to, http.StatusTemporaryRedirect))
			mux.Handle("/mcp", rude{call: reply(200, "application/json", good)})
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, first.around(mux)).URL + "/old", Header: secret}, r, Options{})
			s := connect(t, l, nil)
			if got := mustCall(t, s, "rude", nil); got != "good" {
				t.Errorf("got %q", got)
			}
			at := &requests
			if test.secrets {
				at = &first
			}
			for _, body := range at.bodies() {
				h := at.header(t, body)
				if got := h.Get("Authorization") != "" && h.Get("X-Api-Key") != ""; got != test.secrets {
					t.Errorf("headers: %v", h)
				}
			}
			if sent := r.soFar("sent"); len(sent) != 3 { // initialize, initialized, tools/call
				t.Errorf("%d messages sent:\n%s", len(sent), r)
			}
			n := r.await(t, "note", text("redirected to "))
			if n.code != http.StatusTemporaryRedirect || strings.Contains(n.text, "not told") == test.secrets {
				t.Errorf("note: %q, status %d", n.text, n.code)
			}
		})
	}
}

func TestOwnOrigin(t *testing.T) {
	tests := []struct {
		origin, url string
		want        bool
	}{
		{"http://a/x", "http://a/y", true},
		{"http://a", "http://A:80/", true},
		{"https://a", "https://a:443/", true},
		{"http://a", "https://a/", true}, // https instead of http is allowed
		{"https://a", "http://a/", false},
		{"http://a", "http://a:8080/", false},
		{"http://a:8080", "https://a/", false},
		{"http://a:8080", "https://a:8080/", false},
		{"http://a", "http://b.a/", false},
		{"http://a", "http://a.b/", false},
		{"http://[::1]:9", "http://[::1]:9/z", true},
	}
	for _, test := range tests {
		way, err := openHTTP(target.Spec{URL: test.origin}, &tap{observer: &recorder{}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		req := httptest.NewRequest(http.MethodGet, test.url, nil)
		if got := way.(*remote).own(req.URL); got != test.want {
			t.Errorf("%s of %s: %v", test.url, test.origin, got)
		}
	}
}

// A name that a header cannot hold is encoded, and observed in that form. The examples
// are from the specification (Streamable HTTP, Value Encoding).
func TestHTTPNameHeader(t *testing.T) {
	for name, want := range map[string]string{
		"us-west1":           "us-west1",
		"us west 1":          "us west 1",
		"Hello, 世界":          "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":           "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":       "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
	} {
		t.Run(want, func(t *testing.T) {
			noLeaks(t)
			var requests requestLog
			modern := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return // the client is gone
				}
				m, _ := wire.ParseMessage(body)
				result := `{"content":[]}`
				if m.Method == "server/discover" {
					result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			})
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, requests.around(modern)).URL}, r, Options{})
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), l.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: "2026-07-28"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := call(t, s, name, nil); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			sent := r.soFar("sent")
			last := sent[len(sent)-1].unit
			if got := requests.header(t, string(last.Raw)).Get("Mcp-Name"); got != want {
				t.Errorf("the server got %q", got)
			}
			if got := last.Header.Get("Mcp-Name"); got != want {
				t.Errorf("the observer saw %q", got)
			}
		})
	}
}

// The address of a request has no user information and no fragment.
func TestAddressOfRequest(t *testing.T) {
	for in, want := range map[string]string{
		"https://ann:secret@example.com/a%2Fb?x=1&y=%20#there": "https://example.com/a%2Fb?x=1&y=%20",
		"http://example.com:8080":                              "http://example.com:8080",
	} {
		req, err := http.NewRequest(http.MethodPost, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := address(req); got != want || req.URL.String() != in {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func TestURLsThatAreNone(t *testing.T) {
	for _, u := range []string{"ftp://host/", "host:80", "http://", "http://%zz", "/mcp", "file:///etc/passwd"} {
		if _, err := Open(t.Context(), target.Spec{Name: "x", URL: u}, &recorder{}, Options{}); err == nil || !strings.Contains(err.Error(), `server "x"`) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// The link can be closed while everything is in flight, and leaves no goroutine behind.
func TestHTTPClosesWithEverythingOpen(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	stream := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	half := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, good[:20])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	tests := map[string]rude{
		"no headers":              {call: hang},
		"an open event stream":    {call: stream, get: stream, session: "abc"},
		"half an answer":          {call: half, get: stream},
		"a GET without an answer": {call: hang, get: hang},
	}
	for name, server := range tests {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			begun := make(chan struct{})
			handle := server.call
			server.call = func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				handle(w, r)
			}
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
			s := connect(t, l, nil)
			ended := make(chan error)
			go func() {
				_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "rude"})
				ended <- err
			}()
			wait(t, begun)
			mustClose(t, l)
			if err := <-ended; err == nil {
				t.Error("the call has succeeded")
			}
			if err := s.Wait(); err != nil {
				t.Errorf("the session: %v", err)
			}
			wait(t, l.Done())
			if got := r.soFar("undelivered"); len(got) > 0 {
				t.Errorf("undelivered: %v", got[0].err)
			}
		})
	}
}

// Cancelling a call's context ends only its request.
func TestHTTPCallStopped(t *testing.T) {
	noLeaks(t)
	begun, stopped := make(chan struct{}), make(chan struct{})
	for name, begin := range map[string]string{"no headers": "", "half an answer": good[:20]} {
		t.Run(name, func(t *testing.T) {
			server := rude{call: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if begin != "" {
					io.WriteString(w, begin)
					w.(http.Flusher).Flush()
				}
				begun <- struct{}{}
				<-r.Context().Done()
				stopped <- struct{}{}
			}}
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: start(t, server).URL}, r, Options{})
			s := connect(t, l, nil)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "rude"})
				ended <- err
			}()
			<-begun
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			<-stopped
			if got := mustCall(t, s, "echo", nil); got != "polite" {
				t.Errorf("afterwards: %q", got)
			}
			if got := r.soFar("undelivered"); len(got) > 0 {
				t.Errorf("undelivered: %v", got[0].err)
			}
		})
	}
}

// A server that does not answer the closing DELETE does not delay the end for long.
func TestHTTPCloseIsNotHeldUp(t *testing.T) {
	noLeaks(t)
	polite := rude{session: "abc"}
	server := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-r.Context().Done()
			return
		}
		polite.ServeHTTP(w, r)
	}))
	l := mustOpen(t, target.Spec{URL: server.URL}, &recorder{}, Options{Grace: time.Hour})
	connect(t, l, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestHTTPUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, transport := range []target.Transport{target.TransportHTTP, target.TransportSSE} {
		t.Run(string(transport), func(t *testing.T) {
			noLeaks(t)
			r := &recorder{}
			l := mustOpen(t, target.Spec{URL: nowhere, Transport: transport}, r, Options{})
			_, err := dial(t, l, nil)
			if err == nil || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("got %v", err)
			}
			if TryNext(err) {
				t.Error("another transport would not help")
			}
		})
	}
}
