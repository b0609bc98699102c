package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// patience bounds how long a test waits for anything.
const patience = time.Minute

func newServer(t *testing.T, o Options) *Server {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o.Log, o.Version = log, "test"
	if o.Base == "" {
		o.Base = "http://127.0.0.1:1"
	}
	if o.Patience == 0 {
		o.Patience = patience
	}
	s := New(o)
	t.Cleanup(func() {
		s.Close()
		log.Close()
	})
	return s
}

// bare is a client that reads and writes raw messages, over stdio or Streamable HTTP.
type bare struct {
	t        *testing.T
	server   *Server
	revision string
	caps     string
	in       io.WriteCloser
	out      *bufio.Reader
	next     int
	tool     string // that is called
	// answer returns the result of a question, "" for none; after "error " it is an error, and
	// after "raw " lines in which $ID is the id of the question.
	answer func(b *bare, params json.RawMessage) string
	// retry changes the params of the retry of a round, and returns its id; nil for no change.
	retry func(b *bare, params string) string
	pause time.Duration // between two requests about a task
	// leaves forgets its tasks at once, and stops is the method that cancels them.
	leaves bool
	stops  string
	// update changes the params of tasks/update; nil for no change.
	update func(b *bare, params string) string
	// later changes the responses to requests about tasks of the client's own; nil for no change.
	later func(b *bare, method, result string) string
	own   map[string]json.RawMessage // its tasks: the params of their questions, by id
	// sameID uses the id of the request before.
	sameID bool
	done   chan error
}

func newBare(t *testing.T, s *Server, revision string) *bare {
	return newBareOver(t, s, revision, s.ServeLines)
}

// newBareOver returns a client whose lines serve takes and answers.
func newBareOver(t *testing.T, s *Server, revision string, serve func(context.Context, io.Reader, io.Writer) error) *bare {
	t.Helper()
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	b := &bare{t: t, server: s, revision: revision, caps: `{"elicitation":{"form":{},"url":{}}}`, in: in, out: bufio.NewReader(out), answer: right, own: map[string]json.RawMessage{}, done: make(chan error, 1)}
	switch revision {
	case mcp.Revision20250618:
		b.caps = `{"elicitation":{}}`
	case mcp.Revision20251125:
		b.caps = `{"elicitation":{"form":{},"url":{}},"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}}}}}`
	case mcp.Revision20260728:
		b.caps = `{"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	}
	go func() {
		b.done <- serve(context.WithoutCancel(t.Context()), inRead, outWrite) // ends with its lines, after the test has
		outWrite.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		go io.Copy(io.Discard, out)
		select {
		case err := <-b.done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	return b
}

// right answers a question as a person does who follows its message.
func right(b *bare, params json.RawMessage) string {
	if string(rawjson.Member(params, "mode")) == `"url"` {
		if b.tool == "url-decline" || b.tool == "url-punycode" {
			return `{"action":"decline"}`
		}
		return `{"action":"accept"}`
	}
	switch b.tool {
	case "decline", "cancel":
		return fmt.Sprintf(`{"action":%q}`, b.tool)
	case "withdrawn":
		return ""
	case "mode-undeclared", "elicitation-undeclared":
		return `error {"code":-32602,"message":"There is no such mode"}`
	}
	content, err := AsAsked(rawjson.Text(rawjson.Member(params, "message")), rawjson.Member(params, "requestedSchema"))
	if err != nil {
		b.t.Error(err)
	}
	return `{"action":"accept","content":` + string(content) + `}`
}

// AsAsked returns the content that a message asks for, or valid content where it asks for
// any.
func AsAsked(message string, schema json.RawMessage) (json.RawMessage, error) {
	for asks, content := range map[string]string{
		`enter "fits"`: `{"value":"fits"}`, `enter "AB-1234"`: `{"value":"AB-1234"}`, `enter "ada@example.com"`: `{"value":"ada@example.com"}`,
		`enter "https://example.com/"`: `{"value":"https://example.com/"}`, `Enter 29 February 2028`: `{"value":"2028-02-29"}`,
		`enter 7`: `{"value":7}`, `enter 10`: `{"value":10}`, `Enter 0.5`: `{"value":0.5}`, `Choose yes,`: `{"value":true}`,
		`Choose "choice 299"`: `{"value":"choice 299"}`, `word to enter is "lighthouse"`: `{"value":"lighthouse"}`,
		`enter "yes" in it`: `{"first":"yes"}`, `Enter "x" in the first`: `{"first":"x"}`, `Enter "end" in the last`: `{"field 50":"end"}`,
	} {
		if strings.Contains(message, asks) {
			return json.RawMessage(content), nil
		}
	}
	colour := func(name string) string { // as it is in the schema: by its name or its code
		if strings.Contains(string(schema), `"#f00"`) {
			return map[string]string{"Red": `"#f00"`, "Blue": `"#00f"`}[name]
		}
		return fmt.Sprintf("%q", name)
	}
	switch {
	case strings.HasPrefix(message, `Choose "Blue"`):
		return fmt.Appendf(nil, `{"value":%s}`, colour("Blue")), nil
	case strings.HasPrefix(message, `Choose "Red" and "Blue"`):
		return fmt.Appendf(nil, `{"value":[%s,%s]}`, colour("Blue"), colour("Red")), nil
	}
	fields, err := elicit.FieldsOf(schema)
	return elicit.Valid(fields), err
}

// overHTTP returns what takes the lines of a client to a server of Streamable HTTP, each with a
// POST, and the messages of all event streams back.
func overHTTP(url, revision string) func(context.Context, io.Reader, io.Writer) error {
	return overHTTPWith(url, revision, func(http.Header) {})
}

// overHTTPWith does the same, and changes the headers of each request.
func overHTTPWith(url, revision string, change func(http.Header)) func(context.Context, io.Reader, io.Writer) error {
	return func(ctx context.Context, in io.Reader, out io.Writer) error {
		ctx, cancel := context.WithCancel(ctx)
		var streams sync.WaitGroup
		defer streams.Wait()
		defer cancel() // before it waits: the stream for what belongs to no call has no end
		session := ""
		send := func(method string, body []byte) (*http.Response, error) {
			r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Content-Type", "application/json")
			if rpc := rawjson.Text(rawjson.Member(body, "method")); rpc != mcp.MethodInitialize {
				r.Header.Set("Mcp-Protocol-Version", revision)
				if session != "" {
					r.Header.Set("Mcp-Session-Id", session)
				}
				if mcp.HasRounds(revision) {
					r.Header.Set("Mcp-Method", rpc)
				}
			}
			for _, member := range []string{"name", "uri", "taskId"} {
				if name := rawjson.Text(rawjson.Member(body, "params", member)); mcp.HasRounds(revision) && name != "" {
					r.Header.Set("Mcp-Name", name)
				}
			}
			change(r.Header)
			return http.DefaultClient.Do(r)
		}
		read := func(response *http.Response) {
			defer response.Body.Close()
			for lines := bufio.NewReader(response.Body); ; {
				line, err := lines.ReadString('\n')
				data, isEvent := strings.CutPrefix(line, "data: ")
				if text := strings.TrimSpace(data); isEvent || strings.HasPrefix(text, "{") {
					_, _ = io.WriteString(out, text+"\n") // the client may have ended
				}
				if err != nil {
					return
				}
			}
		}
		for lines := bufio.NewReader(in); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil
			}
			method := rawjson.Text(rawjson.Member(line, "method"))
			if method == mcp.MethodTaskResult { // may have no response, not even its headers, before a question on another stream is answered
				streams.Go(func() {
					if response, err := send(http.MethodPost, line); err == nil {
						read(response)
					} else {
						cancel()
					}
				})
				continue
			}
			response, err := send(http.MethodPost, line)
			if err != nil {
				return err
			}
			if response.StatusCode >= 300 {
				return fmt.Errorf("%s for %s", response.Status, line)
			}
			switch method {
			case mcp.MethodInitialize: // its response has the session for what follows
				session = response.Header.Get("Mcp-Session-Id")
				read(response)
			case mcp.NotificationInitialized:
				_ = response.Body.Close()
				if response, err = send(http.MethodGet, nil); err != nil {
					return err
				}
				fallthrough
			default:
				streams.Go(func() { read(response) })
			}
		}
	}
}

func (b *bare) write(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bare) modern() bool { return b.revision >= mcp.Revision20260728 }

// request sends a request and returns its response. Meanwhile it answers questions.
func (b *bare) request(method, params string) wire.Message {
	b.t.Helper()
	if !b.sameID {
		b.next++
	}
	b.sameID = false
	id := fmt.Sprint(b.next)
	if b.modern() {
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"bare","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`, b.revision, b.caps)
		if params != "{}" {
			meta = "," + meta
		}
		params = strings.TrimSuffix(params, "}") + meta + "}"
	}
	b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	for {
		line, err := b.out.ReadBytes('\n')
		if err != nil {
			b.t.Fatal(err)
		}
		m, err := wire.ParseMessage(line)
		if err != nil {
			b.t.Fatalf("the probe sent %s: %v", line, err)
		}
		switch {
		case mcp.IsTask(m.Method), m.Method == mcp.MethodElicit && strings.Contains(b.caps, `"tasks":{`) && conversation.IsAskedAsTask(m.Params):
			b.write(b.ofOwnTask(m))
		case m.Method == mcp.MethodElicit:
			result := b.answer(b, m.Params)
			text, isError := strings.CutPrefix(result, "error ")
			lines, isRaw := strings.CutPrefix(result, "raw ")
			switch {
			case isRaw:
				b.write(strings.ReplaceAll(lines, "$ID", string(m.ID)))
			case isError:
				b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, text))
			case result != "":
				b.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
			}
		case m.Method == "" && string(m.ID) == id:
			return m
		}
	}
}

func (b *bare) greet() {
	b.t.Helper()
	if b.modern() {
		b.request(mcp.MethodDiscover, "{}")
		return
	}
	b.request(mcp.MethodInitialize, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"bare","version":"1"}}`, b.revision, b.caps))
	b.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call runs a probe, with all rounds.
func (b *bare) call(p *Probe) wire.Message {
	b.t.Helper()
	b.tool = p.Name
	method, params := mcp.MethodCallTool, fmt.Sprintf(`{"name":%q,"arguments":{}}`, p.Name)
	if p.asTask && !b.modern() {
		params = rawjson.WithMember(params, "task", "{}")
	}
	switch p.Kind {
	case conversation.Prompt:
		method, params = mcp.MethodGetPrompt, fmt.Sprintf(`{"name":%q}`, p.Name)
	case conversation.Resource:
		method, params = mcp.MethodReadResource, fmt.Sprintf(`{"uri":%q}`, p.URI())
	}
	m := b.request(method, params)
	for rawjson.Text(rawjson.Member(m.Result, "resultType")) == "input_required" {
		var responses []string
		for key, request := range rawjson.Members(rawjson.Member(m.Result, "inputRequests")) {
			if result := b.answer(b, rawjson.Member(request, "params")); result != "" {
				responses = append(responses, string(rawjson.Quoted(key))+":"+result)
			}
		}
		again := strings.TrimSuffix(params, "}")
		if len(responses) > 0 {
			again += `,"inputResponses":{` + strings.Join(responses, ",") + `}`
		}
		if state := rawjson.Member(m.Result, "requestState"); state != nil {
			again += `,"requestState":` + string(state)
		}
		again += "}"
		if b.retry != nil {
			again = b.retry(b, again)
		}
		m = b.request(method, again)
	}
	if t := conversation.CreatedTask(m.Result, b.revision); t != nil {
		return b.follow(rawjson.Text(rawjson.Member(t, "taskId")))
	}
	return m
}

// follow asks about a task of the server's until it has ended, and returns the last response.
func (b *bare) follow(id string) wire.Message {
	b.t.Helper()
	about := fmt.Sprintf(`{"taskId":%q}`, id)
	switch {
	case b.leaves:
		for b.shown(b.tool).Verdict == Running {
			b.request(mcp.MethodPing, "{}")
		}
		return wire.Message{}
	case b.tool == "task-cancel" && b.stops != "":
		b.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%d}}`, b.stops, b.next))
	case b.tool == "task-cancel":
		b.request(mcp.MethodCancelTask, about)
	}
	for {
		m := b.request(mcp.MethodGetTask, about)
		switch status := rawjson.Text(rawjson.Member(m.Result, "status")); {
		case status == "completed" && b.modern(), status == "cancelled":
			return m
		case status == "completed", status == "input_required" && !b.modern():
			return b.request(mcp.MethodTaskResult, about)
		case status == "input_required":
			var responses []string
			for key, request := range rawjson.Members(rawjson.Member(m.Result, "inputRequests")) {
				responses = append(responses, string(rawjson.Quoted(key))+":"+b.answer(b, rawjson.Member(request, "params")))
			}
			params := rawjson.WithMember(about, "inputResponses", "{"+strings.Join(responses, ",")+"}")
			if b.update != nil {
				params = b.update(b, params)
			}
			b.request(mcp.MethodUpdateTask, params)
		default:
			time.Sleep(b.pause)
		}
	}
}

// ofOwnTask returns the response to a request about a task of the client's own, or to one that
// makes it. A task is completed when it is asked about, unless its question is to be taken back.
func (b *bare) ofOwnTask(m wire.Message) string {
	id := rawjson.Text(rawjson.Member(m.Params, "taskId"))
	if m.Method == mcp.MethodElicit {
		id = fmt.Sprint("task ", len(b.own)+1)
		b.own[id] = m.Params
	}
	status := "completed"
	switch {
	case m.Method == mcp.MethodElicit:
		status = "working"
	case m.Method == mcp.MethodCancelTask:
		status = "cancelled"
	case b.tool == "task-question-cancelled" && b.own[id] != nil:
		status = "input_required"
	}
	task := fmt.Sprintf(`{"taskId":%q,"status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1}`, id, status)
	result := task
	switch m.Method {
	case mcp.MethodElicit:
		result = `{"task":` + task + `}`
	case mcp.MethodListTasks:
		result = `{"tasks":[` + strings.Replace(task, `""`, `"task `+fmt.Sprint(len(b.own))+`"`, 1) + `]}`
	case mcp.MethodTaskResult:
		result = b.answer(b, b.own[id])
		if text, isError := strings.CutPrefix(result, "error "); isError {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, text)
		}
		if rawjson.KindOf([]byte(result)) != rawjson.Object {
			break
		}
		result = rawjson.WithMember(result, "_meta", fmt.Sprintf(`{"io.modelcontextprotocol/related-task":{"taskId":%q}}`, id))
	}
	if b.own[id] == nil && m.Method != mcp.MethodListTasks {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Task not found"}}`, m.ID)
	}
	if b.later != nil {
		result = b.later(b, m.Method, result)
	}
	if m.Method == mcp.MethodCancelTask {
		delete(b.own, id)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// run runs a probe, and returns what it has shown.
func (b *bare) run(p *Probe) Result {
	b.t.Helper()
	m := b.call(p)
	switch p.Name {
	case "outside-call": // the question comes after the call
		for b.shown(p.Name).Verdict == Running {
			b.request(mcp.MethodPing, "{}")
		}
	case "url-required":
		open := httptest.NewRequest(http.MethodGet, regexp.MustCompile(`http://[^"]*/open/[a-z0-9]+`).FindString(string(m.Error)), nil)
		b.server.Handler().ServeHTTP(httptest.NewRecorder(), open)
		m = b.call(p)
	}
	if m.Error != nil {
		b.t.Errorf("%s: %s", p.Name, m.Error)
	}
	return b.result(p.Name)
}

// result waits until a probe has ended, and returns what it has shown.
func (b *bare) result(probe string) Result {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		changed := b.server.Changed()
		if r := b.shown(probe); r.Called() && r.Verdict != Running {
			return r
		}
		select {
		case <-changed:
		case <-deadline:
			b.t.Fatalf("the probe %s does not end", probe)
		}
	}
}

// shown returns what a probe has shown by now.
func (b *bare) shown(probe string) (found Result) {
	for _, c := range b.server.Report().Clients {
		for _, r := range c.Results {
			if r.Probe == probe {
				found = r
			}
		}
	}
	return found
}

// at makes an answer for one probe only; others are answered right.
func at(probe, result string) func(*bare, json.RawMessage) string {
	return func(b *bare, params json.RawMessage) string {
		if b.tool == probe || probe == "" {
			return result
		}
		return right(b, params)
	}
}
