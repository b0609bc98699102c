package otlp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// said collects what an exporter warns of.
type said struct {
	mu   sync.Mutex
	list []string
}

func (s *said) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.list, "\n")
}

func exporterTo(t testing.TB, address string) (*Exporter, *said) {
	t.Helper()
	s := &said{}
	e := NewExporter(Config{URL: address, Header: http.Header{}, Client: &http.Client{}, Timeout: 10 * time.Second, Version: "test", Warn: s.add})
	t.Cleanup(e.Close)
	return e, s
}

const talk = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`

// Spans arrive while the session goes on, and the last ones at its end.
func TestSent(t *testing.T) {
	arrived := make(chan *http.Request, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r }))
	defer server.Close()
	e, warned := exporterTo(t, server.URL+"/v1/traces")
	l := logtest.New(t, logtest.Talk(t, talk)...)
	end := e.Follow(l, nil)
	r := <-arrived
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
	l.Append(logtest.Talk(t, `+0s c2s {"jsonrpc":"2.0","id":2,"method":"ping"}`)[0])
	end()
	e.Close()
	if len(arrived) != 1 || warned.String() != "" {
		t.Errorf("%d requests at the end; %s", len(arrived), warned)
	}
}

// A collector that refuses, that has no room, that rejects spans, or that hangs: the end is not held
// up, and what is lost is said in one line.
func TestNotSent(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = refusing.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("spans, and the keys in their headers, went to another address")
	}))
	t.Cleanup(elsewhere.Close)
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"refuses":       {nil, "traces: 1 span was not sent: http://ADDRESS/v1/traces: dial tcp ADDRESS: connect: connection refused"},
		"wants a token": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 401 Unauthorized"},
		"has no room":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 503 Service Unavailable"},
		"has no room, and says for how long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3000")
			w.WriteHeader(429)
		}, "traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 429 Too Many Requests"},
		"answers without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		}, ""},
		"begins an answer, and hangs": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "traces: 1 span was not sent: http://ADDRESS/v1/traces: no answer in time"},
		"leads in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		},
			"traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 307 Temporary Redirect"},
		"leads elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
			"traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 307 Temporary Redirect"},
		"acts on a terminal": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte("HTTP/1.1 400 \x1b]0;x\x07\r\nContent-Length: 0\r\n\r\n"))
				_ = conn.Close()
			}
		}, `traces: 1 span was not sent: http://ADDRESS/v1/traces answered with HTTP 400 \u001b]0;x\u0007`},
		"rejects one":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x0a\x07\x08\x01\x12\x03why")) }, "traces: 1 span was not sent: http://ADDRESS/v1/traces has rejected them"},
		"warns of itself": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x0a\x05\x12\x03why")) }, ""},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
			<-r.Context().Done()
		}, "traces: 1 span was not sent: http://ADDRESS/v1/traces: no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := refusing.Addr().String()
			if test.handler != nil {
				server := httptest.NewServer(test.handler)
				defer server.Close()
				address = server.Listener.Addr().String()
			}
			e, warned := exporterTo(t, "http://"+address+"/v1/traces")
			end := e.Follow(logtest.New(t, logtest.Talk(t, talk)...), nil)
			began := time.Now()
			end()
			e.Close()
			if took := time.Since(began); took > flushMost+2*time.Second {
				t.Errorf("the end took %v", took)
			}
			if want := strings.ReplaceAll(test.want, "ADDRESS", address); warned.String() != want {
				t.Errorf("it says %q\nwant    %q", warned, want)
			}
		})
	}
}

// A collector that comes back gets what waited.
func TestSentAgain(t *testing.T) {
	got := make(chan int, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if got <- 1; len(got) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	e, warned := exporterTo(t, server.URL)
	e.Follow(logtest.New(t, logtest.Talk(t, talk)...), nil)()
	for len(got) < 2 {
		select {
		case <-t.Context().Done():
			t.Fatal("nothing is sent again")
		case <-time.After(10 * time.Millisecond):
		}
	}
	e.Close()
	if text := warned.String(); strings.Count(text, "\n") != 0 || !strings.Contains(text, "503") {
		t.Errorf("it says %q", text)
	}
}

// Spans for which there is no room are dropped and counted, and nobody waits.
func TestDropped(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-release
	}))
	defer server.Close()
	e, warned := exporterTo(t, server.URL)
	for range batchMost {
		e.put(&Span{Name: "first"})
	}
	<-entered
	for range queueMost + 7 {
		e.put(&Span{Name: "more"})
	}
	close(release)
	e.Close()
	if want := "traces: 7 spans were not sent: they came faster than they could be sent"; warned.String() != want {
		t.Errorf("it says %q, want %q", warned, want)
	}
}

// BenchmarkFollow measures the processor time of one second of 10,000 frames, without and with
// an exporter: of a hundred frames 96 are notifications, and the others a call that asks.
func BenchmarkFollow(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for _, on := range []bool{false, true} {
		b.Run(map[bool]string{false: "off", true: "on"}[on], func(b *testing.B) {
			frames := 0
			spent := cost.Of(func() {
				for b.Loop() {
					l := logtest.New(b)
					end := func() {}
					if on {
						e, _ := exporterTo(b, server.URL)
						end = func(end func()) func() { return func() { end(); e.Close() } }(e.Follow(l, nil))
					}
					for i := range 10_000 {
						l.Append(floodFrame(i))
					}
					frames += 10_000
					end()
				}
			})
			b.ReportMetric(float64(spent.Nanoseconds())/float64(frames), "cpu-ns/frame")
		})
	}
}

func floodFrame(i int) wire.Frame {
	f := wire.Frame{Server: "files", Session: "files-1", Transport: "stdio", Dir: wire.ServerToClient, Call: i/100 + 1}
	switch i % 100 {
	case 0:
		f.Dir, f.Round = wire.ClientToServer, 1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"load","arguments":{"n":%d}}}`, i/100, i)
	case 50:
		f.Question = i/100 + 1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on after %d?","requestedSchema":{"type":"object","properties":{}}}}`, i/100, i)
	case 51:
		f.Dir, f.Question, f.Actor = wire.ClientToServer, i/100+1, "person"
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`, i/100)
	case 99:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"loaded %d"}]}}`, i/100, i)
	default:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"load","data":"step %d of %d done"}}`, i, 1_000_000)
	}
	return f
}

// What a file has is one object of OTLP/JSON, with the spans in it.
func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := Write(context.Background(), &b, logtest.New(t, logtest.Talk(t, talk)...), Options{}, "1.2"); err != nil {
		t.Fatal(err)
	}
	var file struct {
		ResourceSpans []struct {
			Resource   resource
			ScopeSpans []struct {
				Scope scope
				Spans []struct {
					TraceID, SpanID, Name, StartTimeUnixNano string
					Kind                                     int
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &file); err != nil {
		t.Fatal(err, b.String())
	}
	s := file.ResourceSpans[0].ScopeSpans[0].Spans
	if len(s) != 1 || len(s[0].TraceID) != 32 || len(s[0].SpanID) != 16 || s[0].Name != "tools/call deploy" || s[0].Kind != 3 || s[0].StartTimeUnixNano != fmt.Sprint(logtest.Epoch.UnixNano()) {
		t.Errorf("%s", b.String())
	}
}
