//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

// asServer is the environment variable that makes the test binary a server.
const asServer = "DEMO_TEST_AS_SERVER"

// TestMain fails if a goroutine of this package or of the SDK is left when the tests are done. With
// asServer set, the binary is the demo server over stdio.
func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if err := New(Options{Exit: os.Exit, Pause: quick}).ServeLines(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if code == 0 {
		if left := leftovers(); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// leftovers returns the stacks of goroutines that are not the runtime's own, after waiting for them
// to end.
func leftovers() string {
	deadline := time.Now().Add(patienceOfTests)
	for ; ; time.Sleep(time.Millisecond) { // nothing tells of a goroutine's end
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for g := range strings.SplitSeq(string(buf), "\n\n") {
			if strings.Contains(g, "go-sdk") || (strings.Contains(g, "bridge/servers/demo") || strings.Contains(g, "bridge/servers/server")) && !strings.Contains(g, "TestMain") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
	}
}

// person is a client that records what it receives.
type person struct {
	t       *testing.T
	session *mcp.ClientSession

	mu        sync.Mutex
	asked     []*mcp.ElicitParams
	progress  []*mcp.ProgressNotificationParams
	logs      []string
	completed []string
	changed   chan struct{} // closed, and replaced, when one of the above grows
}

func (p *person) add(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

// patienceOfTests is how long a test waits for what must come, also on a machine with much other work.
const patienceOfTests = 90 * time.Second

// await waits until ok returns true. It calls ok with the lock held.
func (p *person) await(what string, ok func() bool) {
	p.t.Helper()
	if err := p.saw(context.Background(), ok); err != nil {
		p.t.Fatalf("waited in vain for %s", what)
	}
}

// saw waits until ok returns true, as await does. A handler must return the error: if it failed
// the test, its goroutine would end without an answer, and the caller would wait for ever.
func (p *person) saw(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patienceOfTests)
	defer cancel()
	for {
		p.mu.Lock()
		done, changed := ok(), p.changed
		p.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// setup holds the options of a test.
type setup struct {
	revision string // the newest if empty
	http     bool
	options  Options
	caps     *mcp.ClientCapabilities // forms and URLs if nil
	answer   func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error)
	manual   bool // the test repeats requests itself
	client   func(*mcp.ClientOptions)
}

// quick makes pauses in stories end at once.
func quick(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// serving returns a transport to the server over lines.
func serving(t *testing.T, srv *Server) mcp.Transport {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	return servingOver(t, srv, in, out, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
}

// servingOver serves lines until in ends, and returns the transport at their other end.
func servingOver(t *testing.T, srv *Server, in io.ReadCloser, out io.WriteCloser, near mcp.Transport) mcp.Transport {
	go func() {
		if err := srv.ServeLines(context.Background(), in, out); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		in.Close()
		out.Close()
	}()
	return near
}

func sit(t *testing.T, s setup) (*person, *Server) {
	t.Helper()
	if s.options.Pause == nil {
		s.options.Pause = quick
	}
	srv := New(s.options)
	p := &person{t: t, changed: make(chan struct{})}
	o := &mcp.ClientOptions{
		Capabilities: s.caps,
		ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.add(func() { p.asked = append(p.asked, r.Params) })
			return s.answer(ctx, r.Params)
		},
		ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
			p.add(func() { p.completed = append(p.completed, r.Params.ElicitationID) })
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.add(func() { p.progress = append(p.progress, r.Params) })
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			p.add(func() { p.logs = append(p.logs, fmt.Sprint(r.Params.Level, ": ", r.Params.Data)) })
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: s.manual},
	}
	if o.Capabilities == nil {
		o.Capabilities = &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}}
	}
	if s.client != nil {
		s.client(o)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)

	var transport mcp.Transport
	if s.http {
		web := httptest.NewServer(srv.Handler())
		t.Cleanup(web.Close)
		transport = &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()}
	} else {
		transport = serving(t, srv)
	}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: s.revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	p.session = session
	if got, want := session.InitializeResult().ProtocolVersion, cmp.Or(s.revision, protocol.Revision20260728); got != want {
		t.Fatalf("negotiated %s, want %s", got, want)
	}
	return p, srv
}

// call calls a tool, and fails the test unless there is a result.
func (p *person) call(name string, args any) *mcp.CallToolResult {
	p.t.Helper()
	res, err := p.try(name, args)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	p.keepsPromise(name, res)
	return res
}

// keepsPromise checks a result against the tool's outputSchema.
func (p *person) keepsPromise(name string, res *mcp.CallToolResult) {
	p.t.Helper()
	list, err := p.session.ListTools(p.t.Context(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range list.Tools {
		if t.Name != name || t.OutputSchema == nil || res.IsError || res.NeedsInput() {
			continue
		}
		if res.StructuredContent == nil {
			p.t.Errorf("%s has an outputSchema, but no structured content", name)
		} else if err := validate(string(mustJSON(t.OutputSchema)), mustJSON(res.StructuredContent)); err != nil {
			p.t.Errorf("%s returns what its outputSchema rejects: %v", name, err)
		}
	}
}

func (p *person) try(name string, args any) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken(name)
	params.GetMeta()[mcp.MetaKeyLogLevel] = "debug"
	return p.session.CallTool(p.t.Context(), params)
}

// messages returns the messages of all questions, in order.
func (p *person) messages() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var m []string
	for _, a := range p.asked {
		m = append(m, a.Message)
	}
	return m
}

func textOf(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func accept(content map[string]any) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// script answers questions by the beginning of their message, and declines unknown ones.
func script(answers map[string]map[string]any) func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	return func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		for start, content := range answers {
			if strings.HasPrefix(p.Message, start) {
				return accept(asAsked(p, content))
			}
		}
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
}

// asAsked returns a copy of content in which lists are replaced by the booleans that
// the form of 2025-06-18 asks for. It copies because the SDK adds defaults to the
// content.
func asAsked(p *mcp.ElicitParams, content map[string]any) map[string]any {
	out := maps.Clone(content)
	schema, _ := p.RequestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range content {
		list, ok := value.([]any)
		if !ok || properties[name] != nil {
			continue
		}
		delete(out, name)
		for property := range properties {
			if one, is := strings.CutPrefix(property, name+"_"); is {
				out[property] = slices.ContainsFunc(list, func(v any) bool { return strings.ReplaceAll(v.(string), " ", "_") == one })
			}
		}
	}
	return out
}

// everywhere runs a test for each revision, in process and over HTTP.
func everywhere(t *testing.T, f func(t *testing.T, s setup)) {
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		for _, web := range []bool{false, true} {
			name := rev + "/in process"
			if web {
				name = rev + "/http"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f(t, setup{revision: rev, http: web})
			})
		}
	}
}

func TestDeploy(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		s.answer = script(map[string]map[string]any{
			"Which build":       {"build": "2288"},
			"Deploy build 2288": {"environment": "production", "ticket": "CHG-20418", "share": 0.5, "notify": []any{"me"}, "smoke": true},
			"Build 2288 is up":  {"keep": true},
		})
		p, _ := sit(t, s)
		res := p.call("deploy", map[string]any{"service": "search"})
		if res.IsError {
			t.Fatal(textOf(res))
		}
		got := mustJSON(res.StructuredContent)
		want := `{"build":"2288","environment":"production","notified":["me"],"outcome":"deployed","service":"search","share":0.5,"smokeTests":"passed","ticket":"CHG-20418"}`
		if string(got) != want {
			t.Errorf("structured content\n got %s\nwant %s", got, want)
		}
		if n := len(p.messages()); n != 3 {
			t.Errorf("asked %d times: %q", n, p.messages())
		}
		// No message is repeated in the next round.
		p.await("the last log message", func() bool {
			return slices.ContainsFunc(p.logs, func(l string) bool { return strings.HasPrefix(l, "warning:") })
		})
		p.mu.Lock()
		defer p.mu.Unlock()
		if sorted := slices.Sorted(slices.Values(p.logs)); len(slices.Compact(sorted)) != len(p.logs) || len(p.logs) != 7 {
			t.Errorf("logs: %q", p.logs)
		}
		for i, n := range p.progress {
			if i > 0 && n.Progress <= p.progress[i-1].Progress {
				t.Errorf("progress went from %v to %v", p.progress[i-1].Progress, n.Progress)
			}
		}
	})
}

func TestOneQuestionStories(t *testing.T) {
	cases := []struct {
		name, tool string
		args       map[string]any
		answers    map[string]map[string]any
		want       string
		isError    bool
	}{
		{"transfer", "transfer_money", nil, map[string]map[string]any{"Transfer 1250.10 EUR": {"amount": 1250.1}}, "1250.10 EUR went to Greenfield Bakery.", false},
		{"another amount", "transfer_money", nil, map[string]map[string]any{"Transfer": {"amount": 1250}}, "confirmed 1250. No money", true},
		{"digits lost", "transfer_money", nil, map[string]map[string]any{"Transfer": {"amount": 1250.1, "invoice": int64(9007199254740993)}}, "reads numbers as doubles", false},
		{"declined", "transfer_money", map[string]any{"amount": 5}, nil, "You declined.", false},
		{"bad arguments", "transfer_money", map[string]any{"amount": -5}, nil, "The arguments do not fit", true},
		{"no table", "book_table", nil, nil, "No table then. The Paper Lantern will be sorry.", false},
		{"no build", "deploy", nil, nil, "No build was chosen.", false},
		{"no release", "deploy", nil, map[string]map[string]any{"Which build": {"build": "2291"}}, "Build 2291 stays where it is.", false},
		{"rolled back", "deploy", nil, map[string]map[string]any{
			"Which build": {"build": "2291"}, "Deploy build": {"environment": "canary", "ticket": "CHG-00001"}, "Build 2291 is up": {"keep": false},
		}, "Build 2291 of checkout was rolled back in canary.", false},
		{"table", "book_table", map[string]any{"restaurant": "nonna"}, map[string]map[string]any{"A table at Da Nonna": {
			"arrival": "2026-06-05T19:30:00+02:00", "party": 4, "email": "ada@example.com", "allergies": []any{"nuts", "soy"}, "birthday": "2026-06-05",
		}}, "A table for 4 at Da Nonna, 2026-06-05T19:30:00+02:00. A confirmation goes to ada@example.com. The kitchen knows about nuts, soy. There will be a candle.", false},
		{"kept files", "delete_files", nil, nil, "All 47 files are still there.", false},
		{"bin", "delete_files", nil, map[string]map[string]any{"Delete 47": {}, "The 47": {"empty": false}}, "47 files are in the bin", false},
		{"gone", "delete_files", nil, map[string]map[string]any{"Delete 47": nil, "The 47": {"empty": true}}, "47 files are gone", false},
		{"colleague", "onboard", nil, map[string]map[string]any{
			"Who is joining": {"name": "Ada", "email": "ada@example.com"}, "What will Ada do": {"role": "Finance", "start": "2026-07-01"}, "What should": {"things": []any{"plant"}, "lunch": false},
		}, "Ada starts in Finance on 2026-07-01. On the desk: plant.", false},
		{"colleague, cut short", "onboard", nil, map[string]map[string]any{"Who is joining": {"name": "Ada", "email": "ada@example.com"}}, "The account of Ada was removed again.", false},
	}
	everywhere(t, func(t *testing.T, s setup) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				s.answer = script(c.answers)
				p, _ := sit(t, s)
				res := p.call(c.tool, c.args)
				if got := textOf(res); !strings.Contains(got, c.want) || res.IsError != c.isError {
					t.Errorf("got %q (error: %v), want %q (error: %v)", got, res.IsError, c.want, c.isError)
				}
			})
		}
	})
}

func TestAnswersThatDoNotFit(t *testing.T) {
	cases := []struct{ tool, answer, want string }{
		{"delete_files", `{"action":"perhaps"}`, `The client answered with the action \"perhaps\"`},
		{"delete_files", `{"action":"accept"}`, `The answer does not fit the question`}, // the second question has a required field
		{"deploy", `{"action":"accept","content":{"build":"9999"}}`, `The answer does not fit the question`},
		{"transfer_money", `{"action":"accept","content":{"amount":"1250.10"}}`, `The answer does not fit the question`},
		{"onboard", `{"action":"accept","content":{"name":"Ada"}}`, `The answer does not fit the question`},
	}
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		for _, c := range cases {
			b := newBare(t, rev, Options{})
			b.answer = func(string, json.RawMessage) string { return c.answer }
			b.greet()
			res, err := b.tool(c.tool, `{}`)
			if err != nil || !strings.Contains(string(res), c.want) || !strings.Contains(string(res), `"isError":true`) {
				t.Errorf("%s, %s, %s: got %s, %v", rev, c.tool, c.answer, res, err)
			}
		}
	}
}

// again retries a call with answers, as a client of 2026-07-28 does.
func (p *person) again(name string, args any, before *mcp.CallToolResult, answers mcp.InputResponseMap) *mcp.CallToolResult {
	p.t.Helper()
	res, err := p.session.CallTool(p.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args, InputResponses: answers, RequestState: before.RequestState})
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return res
}

func TestListIsInStoryOrder(t *testing.T) {
	p, _ := sit(t, setup{})
	list, err := p.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) < 5 || list.Tools[0].Name != "deploy" || list.Tools[1].Name != "transfer_money" {
		t.Errorf("got %d tools, the first is %s", len(list.Tools), list.Tools[0].Name)
	}
	for _, tool := range list.Tools {
		if tool.Title == "" || len(tool.Description) < 30 || !json.Valid(mustJSON(tool.InputSchema)) {
			t.Errorf("%s lacks a title, a description or an input schema", tool.Name)
		}
	}
}
