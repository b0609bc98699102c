package e2e

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// proxied is a proxy before an HTTP server that records the requests.
type proxied struct {
	URL string

	mu       sync.Mutex
	requests []*http.Request // without bodies
}

// newProxied starts a proxy before the server at a URL; it keeps the path.
func newProxied(t *testing.T, target string) *proxied {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxied{}
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	forward.FlushInterval = -1
	forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := r.Clone(r.Context())
		seen.Body = http.NoBody
		p.mu.Lock()
		p.requests = append(p.requests, seen)
		p.mu.Unlock()
		// Without it, a response whose head comes before the end of the request's body was read
		// ends that body, and with it the connection to the server.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			panic(err)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	p.URL = web.URL + u.Path
	return p
}

func (p *proxied) seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Over stateful HTTP, the given headers go with every request, the session id is sent and
// the session ended, and secret headers are not written into transcripts.
func TestHTTPSessionAndHeaders(t *testing.T) {
	t.Parallel()
	proxy := newProxied(t, servers.GoSDKHTTP(t, false))
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	s := open(t, "--protocol", "2025-11-25", "--record", path,
		"--header", "Authorization: Bearer sesame-7781", "--header", "X-Tenant: a: b", proxy.URL)
	call := s.choose("Tools", "test_elicitation")
	call.Field("message").Fill("Which name?")
	call.Button("Call").Click()
	q := s.question("Which name?")
	q.Field("username").Fill("gopher")
	q.Role("group", "Will send").Contains("gopher")
	s.accept(q, 1)
	s.result("action=accept, content=map[username:gopher]")
	live := s.Wire()
	s.Stop()

	var methods []string
	session := ""
	for _, r := range proxy.seen() {
		methods = append(methods, r.Method)
		if got := r.Header.Get("Authorization"); got != "Bearer sesame-7781" {
			t.Errorf("%s went out with Authorization %q", r.Method, got)
		}
		if got := r.Header.Get("X-Tenant"); got != "a: b" {
			t.Errorf("%s went out with X-Tenant %q", r.Method, got)
		}
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
			if got := r.Header.Get("Mcp-Protocol-Version"); got != "2025-11-25" {
				t.Errorf("%s went out with Mcp-Protocol-Version %q", r.Method, got)
			}
		}
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if !slices.Contains(methods, method) {
			t.Errorf("there was no %s; the requests were %q", method, methods)
		}
	}
	asked := live.Requests("s2c", "elicitation/create")
	if len(asked) != 1 || asked[0].Stream != "post-sse" || asked[0].Transport != "http" {
		t.Errorf("the question is noted as %+v, want one on the POST's event stream", asked)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, f := range live {
		lines.WriteString(f.Line)
	}
	for where, text := range map[string]string{"the file": string(file), "GET /wire.jsonl": lines.String()} {
		for _, secret := range []string{"sesame-7781", session} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the secret %q", where, secret)
			}
		}
		if !strings.Contains(text, `"X-Tenant":["[REDACTED]"]`) {
			t.Errorf("%s does not name the header that was added", where)
		}
	}
}

// The command gets its environment and folder, and its stderr is in the log.
func TestEnvironmentAndFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rude := servers.NewRude(t, nil)
	script := append([]string{"sh", "-c", `echo "$GREETING from $(pwd)" >&2; exec "$@"`, "sh"}, rude.Command...)
	s := openOn(t, script, "--env", "GREETING=hello = there", "--cwd", dir)
	s.page.Region("Wire log").Contains("hello = there from " + dir)
	found := slices.ContainsFunc(s.Wire().In("stderr"), func(f inspector.Frame) bool {
		return string(f.Bytes()) == "hello = there from "+dir
	})
	if !found {
		t.Error("the line is not in the transcript as it was")
	}
}

// --transport uses only the given transport; failures to connect are explained.
func TestTransportFlag(t *testing.T) {
	t.Parallel()
	sse := servers.EverythingSSE(t)
	s := open(t, "--transport", "sse", sse)
	s.page.Region("Servers").Contains("SSE").Contains("ready")
	s.call(everythingTool)
	s.question(everythingAsks).Button("Decline").Click()
	s.result("User declined")

	wrong := open(t, "--transport", "http", sse)
	wrong.page.Region("Servers").Contains("failed")

	nobody := open(t, "http://127.0.0.1:9/mcp")
	nobody.page.Region("Servers").Contains("failed")
	nobody.page.Region("Tools").Contains("127.0.0.1:9").Contains("refused")

	keep := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://example.org/"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer keep.Close()
	out := open(t, keep.URL)
	out.page.Region("Servers").Contains("failed")
	out.page.Region("Tools").Contains("401")
}

// demoOverHTTP starts the demo server alone, and returns its address. It ends with the test.
func demoOverHTTP(t testing.TB, flags ...string) string {
	t.Helper()
	demo := exec.Command(inspector.Binary, append([]string{"demo", "--http", "127.0.0.1:0"}, flags...)...)
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	t.Cleanup(func() {
		_ = demo.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("after an interrupt the demo server ended with %v", err)
			}
		case <-time.After(inspector.Patience):
			_ = demo.Process.Kill()
			t.Error("the demo server did not end when it was interrupted")
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		ended <- demo.Wait()
	}()
	if err != nil {
		t.Fatalf("the demo server printed nothing: %v", err)
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "Demo server ready: ")
	if !ok {
		t.Fatalf("the demo server printed %q", line)
	}
	return address
}

// The demo server alone over HTTP, including the sign-in pages.
func TestDemoOverHTTP(t *testing.T) {
	t.Parallel()
	address := demoOverHTTP(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		s := open(t, "--protocol", revision, address)
		s.page.Region("Servers").Contains("HTTP").Contains(revision)
		s.call("deploy")
		s.question("Which build should go out?").Button("Cancel").Click()
		s.result("The deployment was put off before a build was chosen.")
		s.Stop() // the server ends, too, although it has open sessions
	}
}
