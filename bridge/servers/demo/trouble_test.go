//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/testdata/cost"
)

// newWeb serves a handler that is created later.
func newWeb(t *testing.T, h func() http.Handler) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h().ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	return s
}

// clock is a story time that the test advances.
type clock struct {
	mu  sync.Mutex
	now time.Time
	go1 chan struct{} // closed when pauses are over
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC), go1: make(chan struct{})}
}

func (c *clock) options() Options { return Options{Now: c.Now, Pause: c.pause} }

// thenUntil returns options in which the first pause ends as usual, and later ones when done is
// closed.
func (c *clock) thenUntil(done <-chan struct{}) Options {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return Options{Now: c.Now, Pause: func(ctx context.Context, d time.Duration) error {
		select {
		case <-first:
			return c.pause(ctx, d)
		default:
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) pause(ctx context.Context, _ time.Duration) error {
	select {
	case <-c.go1:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestTooLate(t *testing.T) {
	for _, c := range []struct{ tool, result, err string }{
		{"impatient", "The seats went to somebody else after 10s.", ""},
		{"times_out", "", "The courier left after 10s without an answer."},
	} {
		t.Run(c.tool, func(t *testing.T) {
			check := func(res *mcp.CallToolResult, err error) {
				t.Helper()
				if c.err != "" {
					if e, ok := wireError(err); !ok || e.Code != codeTimedOut || e.Message != c.err {
						t.Errorf("got %v", err)
					}
				} else if err != nil || !res.IsError || textOf(res) != c.result {
					t.Errorf("got %v, %v", res, err)
				}
			}
			for _, web := range []bool{false, true} {
				time := newClock()
				withdrawn := make(chan struct{})
				kept := make(chan struct{})
				p, srv := sit(t, setup{revision: protocol.Revision20251125, http: web, options: time.thenUntil(withdrawn), answer: func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
					close(time.go1) // the question is open: time is up
					select {
					case <-ctx.Done():
						close(withdrawn)
						return nil, ctx.Err()
					case <-kept:
						return &mcp.ElicitResult{Action: "cancel"}, nil
					}
				}})
				res, err := p.try(c.tool, nil)
				check(res, err)
				if c.tool == "impatient" {
					<-withdrawn
				} else {
					select {
					case <-withdrawn:
						t.Error("the question of times_out was taken back")
					default:
					}
					close(kept)
					srv.work.Wait()
				}
			}

			time := newClock()
			p, _ := sit(t, setup{manual: true, options: time.options()})
			res := p.call(c.tool, nil)
			if !res.NeedsInput() {
				t.Fatalf("got %v", res)
			}
			time.pass(11e9)
			key := slices.Collect(keysOf(res.InputRequests))[0]
			res, err := p.session.CallTool(t.Context(), &mcp.CallToolParams{
				Name: c.tool, RequestState: res.RequestState,
				InputResponses: mcp.InputResponseMap{key: &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "place": "hand it over"}}},
			})
			check(res, err)
		})
	}
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestInTime(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		s.options = newClock().options()
		s.answer = script(map[string]map[string]any{"Two seats": {"name": "Ada"}, "The courier": {"place": "behind the bins"}})
		p, _ := sit(t, s)
		if got := textOf(p.call("impatient", map[string]any{"seconds": 60})); got != "Row G, seats 7 and 8, for Ada." {
			t.Errorf("got %q", got)
		}
		if got := textOf(p.call("times_out", nil)); got != "Delivered: behind the bins." {
			t.Errorf("got %q", got)
		}
	})
}

func TestFlood(t *testing.T) {
	const count = 2000
	everywhere(t, func(t *testing.T, s setup) {
		for _, wait := range []bool{true, false} {
			flooded(t, s, count, wait)
		}
	})
}

func flooded(t *testing.T, s setup, count int, wait bool) {
	var p *person
	withdrawn, over := make(chan struct{}), make(chan struct{})
	defer close(over) // also of a test that has failed, whose session would wait for the answer
	s.answer = func(ctx context.Context, _ *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		if wait {
			// The question stays open until every message is here.
			if err := p.saw(ctx, func() bool { return len(p.logs) == count }); err != nil {
				return nil, err
			}
			return accept(map[string]any{"open": 20})
		}
		select {
		case <-ctx.Done():
			close(withdrawn)
		case <-over:
		}
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	p, _ = sit(t, s)
	res := p.call("flood", map[string]any{"count": count, "wait": wait})
	var o struct {
		Sent   int
		Answer string
	}
	if err := json.Unmarshal(mustJSON(res.StructuredContent), &o); err != nil {
		t.Fatal(err)
	}
	if want := map[bool]string{true: "accept"}[wait]; o.Sent != count || o.Answer != want {
		t.Errorf("wait %v: %+v", wait, o)
	}
	p.await("every message", func() bool { return len(p.logs) == count })
	if !wait && s.revision < protocol.Revision20260728 && !s.http && len(p.messages()) > 0 {
		select {
		case <-withdrawn:
		case <-time.After(patienceOfTests):
			t.Error("the question is not withdrawn")
		}
	}
}

func TestLogLevels(t *testing.T) {
	p, _ := sit(t, setup{revision: protocol.Revision20251125, answer: script(nil)})
	if err := p.session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
		t.Fatal(err)
	}
	if got := textOf(p.call("flood", map[string]any{"count": 5})); !strings.HasPrefix(got, "No messages") {
		t.Errorf("got %q", got)
	}
	b := newBare(t, protocol.Revision20260728, Options{})
	res, err := b.tool("flood", `{"count":5,"wait":false}`)
	if err != nil || len(b.seen) != 5 || !strings.Contains(string(res), `"sent":5`) {
		t.Errorf("%d messages, %s, %v", len(b.seen), res, err)
	}
	// Without a level in the request, nothing may be sent.
	b.seen = nil
	b.revision = protocol.Revision20251125 // to send params unchanged
	res, err = b.call(protocol.MethodCallTool, `{"name":"flood","arguments":{"count":5,"wait":false},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}`)
	if err != nil || len(b.seen) != 0 || !strings.Contains(string(res), `"sent":0`) {
		t.Errorf("%d messages, %s, %v", len(b.seen), res, err)
	}
}

func TestAskMany(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		const count = 40
		var open sync.WaitGroup
		open.Add(count)
		s.answer = func(_ context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			open.Done()
			open.Wait() // until all of them are open
			if strings.HasSuffix(q.Message, "7 of 40?") {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return accept(map[string]any{"stars": 5})
		}
		p, _ := sit(t, s)
		if got := textOf(p.call("ask_many", map[string]any{"count": count})); got != "40 questions: 36 × accept, 4 × decline." {
			t.Errorf("got %q", got)
		}
	})
}

func TestCrash(t *testing.T) {
	// In a process of its own, the process ends.
	exits := make(chan int, 1)
	b := newBare(t, protocol.Revision20251125, Options{Exit: func(code int) { exits <- code }})
	b.greet()
	done := make(chan error)
	go func() {
		_, err := b.tool("crash_on_decline", `{}`)
		done <- err
	}()
	if code := <-exits; code != 3 {
		t.Errorf("exit code %d", code)
	}
	b.conn.Close() // like the end of the process
	if err := <-done; err == nil {
		t.Error("a call was answered by a server that has crashed")
	}

	// Inside another program, the session ends without an answer.
	for _, rev := range []string{protocol.Revision20251125, protocol.Revision20260728} {
		b := newBare(t, rev, Options{})
		b.greet()
		if res, err := b.tool("crash_on_decline", `{}`); err == nil || !strings.HasPrefix(err.Error(), "reading:") {
			t.Errorf("%s: got %s, %v", rev, res, err)
		}
		b = newBare(t, rev, Options{})
		b.answer = func(string, json.RawMessage) string { return `{"action":"accept","content":{}}` }
		b.greet()
		if res, err := b.tool("crash_on_decline", `{}`); err != nil || !strings.Contains(string(res), "is fine") {
			t.Errorf("%s: got %s, %v", rev, res, err)
		}
	}
}

func TestStdio(t *testing.T) {
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"=1")
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				if strings.HasPrefix(r.Params.Message, "Delete") {
					return accept(nil)
				}
				return &mcp.ElicitResult{Action: "decline"}, nil
			},
		})
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: rev})
		if err != nil {
			t.Fatal(err)
		}
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete_files"})
		if err != nil || !strings.Contains(textOf(res), "in the bin") {
			t.Errorf("%s: %v, %v", rev, res, err)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "crash_on_decline"}); err == nil {
			t.Errorf("%s: a process that has crashed answers", rev)
		}
		session.Close()
		if code := cmd.ProcessState.ExitCode(); code != 3 {
			t.Errorf("%s: exit code %d, want 3", rev, code)
		}
	}
}

func TestCountIsStopped(t *testing.T) {
	for _, rev := range []string{protocol.Revision20251125, protocol.Revision20260728} {
		for _, web := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			stopped := make(chan struct{})
			n := 0
			var p *person
			counted := func() bool {
				return len(p.progress) == 4 && p.progress[3].Progress == 3 && p.progress[3].Total == 10
			}
			p, _ = sit(t, setup{revision: rev, http: web, options: Options{Pause: func(ctx context.Context, _ time.Duration) error {
				if n++; n < 4 {
					return nil
				}
				if err := p.saw(ctx, counted); err != nil {
					return err
				}
				cancel()
				<-ctx.Done()
				close(stopped)
				return ctx.Err()
			}}})
			params := &mcp.CallToolParams{Name: "slow_count"}
			params.SetProgressToken(1)
			if _, err := p.session.CallTool(ctx, params); err == nil {
				t.Error("the count was not stopped")
			}
			<-stopped
		}
	}
	p, _ := sit(t, setup{})
	if got := textOf(p.call("slow_count", map[string]any{"sheep": 3})); got != "3 sheep. Good night." {
		t.Errorf("got %q", got)
	}
}

func TestLeavingASession(t *testing.T) {
	// Ending an HTTP session with an open question ends the call, too.
	open, over := make(chan struct{}), make(chan struct{})
	p, srv := sit(t, setup{revision: protocol.Revision20251125, http: true, answer: func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		close(open)
		<-over
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}})
	defer close(over)
	done := make(chan error)
	go func() {
		_, err := p.try("delete_files", nil)
		done <- err
	}()
	<-open
	req := httptest.NewRequest(http.MethodDelete, "/", nil)
	req.Header.Set("Mcp-Session-Id", p.session.ID())
	for _, want := range []int{http.StatusNoContent, http.StatusNotFound} { // once it has ended, there is none
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, req)
		if w.Code != want {
			t.Errorf("status %d, want %d", w.Code, want)
		}
	}
	if err := <-done; err == nil {
		t.Error("the call was answered")
	}
}

func TestCloseEndsEverything(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		if s.revision == protocol.Revision20260728 {
			t.Skip("nothing waits in the server")
		}
		opened := make(chan struct{})
		s.answer = func(ctx context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			opened <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s.options = newClock().options()
		p, srv := sit(t, s)
		var calls sync.WaitGroup
		for _, tool := range []string{"delete_files", "times_out", "impatient", "plan_trip"} {
			calls.Go(func() {
				if res, err := p.try(tool, nil); err == nil && !res.IsError {
					t.Errorf("%s was answered: %s", tool, textOf(res))
				}
			})
		}
		for range 6 {
			<-opened
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		calls.Wait()
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if err := New(Options{}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStartIsCheap(t *testing.T) {
	best := time.Hour
	for i := 0; i < 5 || i < 100 && best > 20*time.Millisecond; i++ { // more often on a machine with other work to do
		var srv *Server
		best = min(best, cost.Of(func() { srv = New(Options{}) }))
		srv.Close()
	}
	if best > 20*time.Millisecond {
		t.Errorf("making a server takes %v", best)
	}
	t.Log(fmt.Sprint("making a server takes ", best))
}
