package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// patience is how long a test waits for an expected event, also on a machine with much other work.
const patience = 90 * time.Second

// seen is one call of an observer's method.
type seen struct {
	what string // "sent", "received", "undelivered", "stderr", "note"
	unit Tapped
	err  error
	text string // text of stderr and note
	size int64
	head http.Header
	code int
	cut  bool

	failed  bool   // Failed of a note
	request string // Answers of a note
}

// recorder is an Observer that records its calls.
type recorder struct {
	deliver func(Tapped) []byte // nil delivers what was received
	send    func(Tapped) bool   // nil sends everything

	mu      sync.Mutex
	all     []seen
	changed chan struct{}
}

func (r *recorder) add(s seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, s)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

func (r *recorder) Sending(_ context.Context, u Tapped) bool {
	r.add(seen{what: "sent", unit: u})
	return r.send == nil || r.send(u)
}

func (r *recorder) Received(u Tapped) []byte {
	r.add(seen{what: "received", unit: u})
	if r.deliver != nil {
		return r.deliver(u)
	}
	return u.Raw
}

func (r *recorder) Undelivered(u Tapped, err error) {
	r.add(seen{what: "undelivered", unit: u, err: err})
}

func (r *recorder) Stderr(line []byte, truncated bool, size int64) {
	r.add(seen{what: "stderr", text: string(line), cut: truncated, size: size})
}

func (r *recorder) Noted(f wire.Frame) {
	r.add(seen{what: "note", text: f.Note.Words(&f), head: f.Header, code: f.Status, failed: f.Failed, request: string(f.Answers)})
}

// soFar returns the recorded calls of one kind, or of all kinds for "".
func (r *recorder) soFar(what string) []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []seen
	for _, s := range r.all {
		if what == "" || s.what == what {
			out = append(out, s)
		}
	}
	return out
}

// await waits for a call that fits.
func (r *recorder) await(t testing.TB, what string, fits func(seen) bool) seen {
	t.Helper()
	timeout := time.After(patience)
	for {
		r.mu.Lock()
		i := slices.IndexFunc(r.all, func(s seen) bool { return s.what == what && fits(s) })
		if i >= 0 {
			defer r.mu.Unlock()
			return r.all[i]
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("no such %q after %v; seen so far:\n%s", what, patience, r)
		}
	}
}

func (r *recorder) String() string {
	var b strings.Builder
	for _, s := range r.soFar("") {
		text := s.text + string(s.unit.Raw[:min(len(s.unit.Raw), 200)])
		fmt.Fprintf(&b, "%-11s noise=%v status=%d %v %s\n", s.what, s.unit.Kind == wire.Noise, s.unit.Status+s.code, s.err, text)
	}
	return b.String()
}

func anything(seen) bool { return true }

func text(part string) func(seen) bool {
	return func(s seen) bool { return strings.Contains(s.text, part) }
}

func raw(want string) func(seen) bool {
	return func(s seen) bool { return string(s.unit.Raw) == want }
}

// received lists the messages from the server, with a mark for noise.
func (r *recorder) received() []string {
	var out []string
	for _, s := range r.soFar("received") {
		mark := ""
		if s.unit.Kind == wire.Noise {
			mark = "noise: "
		}
		out = append(out, mark+string(s.unit.Raw))
	}
	return out
}

// checkUnits checks the properties of all units of a well-behaved session.
func (r *recorder) checkUnits(t *testing.T) {
	t.Helper()
	for _, s := range r.soFar("") {
		if s.what != "sent" && s.what != "received" {
			continue
		}
		u := s.unit
		if u.Kind == wire.Noise || u.Truncated || u.Size != int64(len(u.Raw)) {
			t.Errorf("%s: noise %v, truncated %v, size %d of %q", s.what, u.Kind == wire.Noise, u.Truncated, u.Size, u.Raw)
		}
		if want := map[string]wire.Direction{"sent": wire.ClientToServer, "received": wire.ServerToClient}[s.what]; u.Dir != want {
			t.Errorf("%s: direction %v", s.what, u.Dir)
		}
		m, err := wire.ParseMessage(u.Raw)
		if err != nil || m.Kind != u.Message.Kind || string(m.ID) != string(u.Message.ID) {
			t.Errorf("%s: envelope %+v does not fit %q (%v)", s.what, u.Message, u.Raw, err)
		}
	}
}

// mustOpen opens a link that lasts until the test's own cleanups have run. The test's context
// ends before them, and would cut off what they still wait for.
func mustOpen(t *testing.T, s target.Spec, r *recorder, opts Options) *Link {
	t.Helper()
	l, err := Open(context.WithoutCancel(t.Context()), s, r, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mustClose(t, l) })
	return l
}

func mustClose(t *testing.T, l *Link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func connect(t *testing.T, l *Link, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s, err := dial(t, l, opts)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	return s
}

func dial(t *testing.T, l *Link, opts *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	return client.Connect(ctx, l.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args any) (*mcp.CallToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
}

func mustCall(t *testing.T, s *mcp.ClientSession, tool string, args any) string {
	t.Helper()
	res, err := call(t, s, tool, args)
	if err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	if len(res.Content) == 0 {
		return ""
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// testServer returns a server with the tools that the tests call.
func testServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test server", Version: "1"}, nil)
	type echo struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in echo) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which table?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"seat":{"type":"string"},"party":{"type":"integer"}}}`)})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Action, " ", res.Content["seat"])}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	return s
}

// answering accepts every question with a window seat.
func answering() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"seat": "window"}}, nil
	}}
}

// noLeaks checks after the test that none of its goroutines are left.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() {
		deadline := time.Now().Add(patience)
		for pause := 100 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
			left := goroutines()
			var extra []string
			for id, stack := range left {
				if _, ok := before[id]; !ok {
					extra = append(extra, stack)
				}
			}
			if len(extra) == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("%d goroutines are left:\n%s", len(extra), strings.Join(extra, "\n\n"))
				return
			}
			time.Sleep(pause) // nothing tells of a goroutine's end
		}
	})
}

// goroutines returns the stacks of all goroutines by number, except those of tests.
func goroutines() map[string]string {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	out := map[string]string{}
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if !strings.Contains(stack, "testing.(*T)") && !strings.Contains(stack, "testing.tRunner") && !strings.Contains(stack, "signal.") {
			out[id] = stack
		}
	}
	return out
}

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve, ok := servers[mode]
		if !ok {
			fmt.Fprintf(os.Stderr, "no server %q\n", mode)
			os.Exit(64)
		}
		os.Exit(serve())
	}
	os.Exit(m.Run())
}
