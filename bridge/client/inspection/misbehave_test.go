package inspection_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// recorder is a server that stores every byte it receives. In tools/call, "ask" asks for
// a form, "gives-up" asks for a form and cancels it when the tool "now" is called, and
// "sign-in" asks for a URL by error -32042. In 2026-07-28 it asks in two rounds.
type recorder struct {
	revision string

	mu    sync.Mutex
	calls map[string]json.RawMessage // waiting calls by tool
	asked int
}

const recordedForm = `"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","minLength":2}},"required":["name"]}`

// take handles one message. say writes a message on the stream of the request that it
// belongs to.
func (r *recorder) take(raw string, say func(string)) {
	var m request
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
		return
	}
	reply := func(to json.RawMessage, result string) {
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to, result))
	}
	text := func(to json.RawMessage, text string) {
		quoted, _ := json.Marshal(text)
		reply(to, fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%s}]}`, quoted))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case m.Method == "server/discover" && r.revision < "2026":
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID))
	case m.Method == "server/discover":
		reply(m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
	case m.Method == "initialize":
		reply(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"recorder","version":"1"}}`, r.revision))
	case m.Method == "tools/list":
		var list []string
		for _, name := range []string{"ask", "gives-up", "now", "sign-in"} {
			list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		reply(m.ID, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+strings.Join(list, ",")+`]}`)
	case m.Method == "tools/call" && r.revision >= "2026":
		switch p := roundOf(m); {
		case p.State == nil && p.Responses == nil:
			reply(m.ID, `{"resultType":"input_required","requestState":"one","inputRequests":{"k":{"method":"elicitation/create","params":{`+recordedForm+`}}}}`)
		case string(p.State) == `"one"` && strings.Contains(string(p.Responses), "Ann"):
			reply(m.ID, `{"resultType":"input_required","requestState":"two","inputRequests":{"k":{"method":"elicitation/create","params":{`+strings.Replace(recordedForm, "Name?", "And now?", 1)+`}}}}`)
		default:
			text(m.ID, "state "+string(p.State))
		}
	case m.Method == "tools/call" && m.tool() == "now":
		say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, r.asked))
		text(r.calls["gives-up"], "gave up")
		text(m.ID, "done")
	case m.Method == "tools/call" && m.tool() == "sign-in":
		if r.asked++; r.asked > 1 {
			text(m.ID, "again")
			return
		}
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"Sign in","data":{"elicitations":[{"mode":"url","elicitationId":"e1","message":"Sign in","url":"https://example.com/"}]}}}`, m.ID))
	case m.Method == "tools/call":
		r.asked++
		r.calls[m.tool()] = m.ID
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{%s}}`, r.asked, recordedForm))
	case m.Method == "" && string(m.ID) == fmt.Sprint(r.asked) && r.calls["ask"] != nil:
		text(r.calls["ask"], "answered")
		delete(r.calls, "ask")
	}
}

// overStdio serves a revision, and writes what it receives to stderr.
func overStdio(revision string) func(*rawServer) {
	return func(*rawServer) {
		r := &recorder{revision: revision, calls: map[string]json.RawMessage{}}
		in := bufio.NewReader(os.Stdin)
		for {
			var line []byte
			pieces := 0
			for len(line) == 0 || line[len(line)-1] != '\n' {
				if in.Buffered() == 0 {
					pieces++
				}
				if _, err := in.Peek(1); err != nil {
					return
				}
				piece, _ := in.Peek(in.Buffered())
				if i := slices.Index(piece, '\n'); i >= 0 {
					piece = piece[:i+1]
				}
				line = append(line, piece...)
				_, _ = in.Discard(len(piece)) // these bytes are buffered
			}
			raw := strings.TrimSuffix(string(line), "\n")
			fmt.Fprintf(os.Stderr, "%d %s\n", pieces, raw)
			r.take(raw, func(m string) { fmt.Println(m) })
		}
	}
}

func init() {
	rawServers["recorder"] = overStdio("2025-11-25")
	rawServers["recorder-rounds"] = overStdio("2026-07-28")
	rawServers["recorder-deaf"] = func(*rawServer) { // keeps running when its input ends
		overStdio("2025-11-25")(nil)
		time.Sleep(time.Hour) // longer than any test; Go ends a program without cgo that waits for nothing
	}
}

// httpRecorder is a recorder behind a URL. It answers a call on the event stream of the
// POST request, which stays open until the call ends.
type httpRecorder struct {
	recorder
	onGET bool // questions come on the GET stream

	streams map[string]chan string // by the id of the call; "" for the GET stream
	list    []string
	came    chan struct{} // list has grown
}

func serveRecorder(t *testing.T, revision string, onGET bool) (*httpRecorder, *bench) {
	t.Helper()
	h := &httpRecorder{recorder: recorder{revision: revision, calls: map[string]json.RawMessage{}}, onGET: onGET, streams: map[string]chan string{}, came: make(chan struct{}, 1)}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return h, startInspection(t, inspection.Config{Targets: []target.Spec{{Name: "recorder", URL: server.URL, Transport: target.TransportHTTP}}})
}

func (h *httpRecorder) stream(id string) chan string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams[id] == nil {
		h.streams[id] = make(chan string, 10)
	}
	return h.streams[id]
}

func (h *httpRecorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		h.serve(w, r, h.stream(""))
		return
	}
	var body []byte
	pieces := 0
	for buffer := make([]byte, 1<<16); ; {
		n, err := r.Body.Read(buffer)
		body = append(body, buffer[:n]...)
		if n > 0 {
			pieces++
		}
		if err == io.EOF {
			break
		} else if err != nil {
			return // the client is gone
		}
	}
	if r.Method == http.MethodPost {
		h.mu.Lock()
		if strings.Contains(string(body), `"tools/call"`) && json.Valid(body) && h.revision >= "2026" && r.Header.Get("Mcp-Name") == "" {
			body = append(body, " without Mcp-Name"...)
		}
		h.list = append(h.list, fmt.Sprintf("%d %s", pieces, body))
		h.mu.Unlock()
		select {
		case h.came <- struct{}{}:
		default:
		}
	}
	var m request
	_ = json.Unmarshal(body, &m) // take reports errors
	if m.Method == "tools/call" && h.revision < "2026" && m.tool() != "sign-in" {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		h.take(string(body), h.say)
		h.serve(w, r, h.stream(string(m.ID)))
		return
	}
	var said []string
	h.take(string(body), func(text string) { said = append(said, text) })
	switch {
	case m.Method == "" && m.ID != nil: // a response: messages that follow from it go to the call's stream
		w.WriteHeader(http.StatusAccepted)
		for _, text := range said {
			h.say(text)
		}
	case len(said) == 0:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "session")
		if strings.Contains(said[0], "-32700") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, said[0]) // a client that is gone is the test's to notice
	}
}

// say writes a message on the stream of the call that it belongs to. The mutex may be
// held.
func (h *httpRecorder) say(text string) {
	var m request
	_ = json.Unmarshal([]byte(text), &m) // the test made it
	go func() {
		switch {
		case m.Method != "" && h.onGET:
			h.stream("") <- text
		case m.Method != "":
			h.mu.Lock()
			id := string(h.calls["ask"])
			if waits := h.calls["gives-up"]; waits != nil {
				id = string(waits)
			}
			h.mu.Unlock()
			h.stream(id) <- text
		default:
			h.stream(string(m.ID)) <- text
		}
	}()
}

func (h *httpRecorder) serve(w http.ResponseWriter, r *http.Request, stream chan string) {
	for {
		select {
		case text := <-stream:
			event(w, text)
			if !strings.Contains(text, `"method"`) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// answers returns the client's messages after the first request of a call: responses,
// cancellations and further rounds.
func answers(got []string) (list []string) {
	for _, text := range got {
		_, raw, _ := strings.Cut(text, " ")
		var m request
		_ = json.Unmarshal([]byte(raw), &m) // some are invalid
		first := m.Method == "tools/call" && !strings.Contains(raw, "inputResponses") && !strings.Contains(raw, "requestState")
		if m.Method == "" || m.Method == "notifications/cancelled" || m.Method == "tools/call" && !first {
			list = append(list, text)
		}
	}
	return list
}

// recordedByProcess returns what a recorder wrote to stderr.
func (b *bench) recordedByProcess() (got []string) {
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range frames {
		if f.Dir == wire.Stderr {
			got = append(got, string(f.Raw))
		}
	}
	return got
}

func (h *httpRecorder) recorded() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// witness gives access to the messages that a recorder received.
type witness struct {
	got  func() []string
	came <-chan struct{} // receives when there are more messages; nil if the log tells
}

func (h *httpRecorder) witness() witness  { return witness{h.recorded, h.came} }
func (b *bench) witness() witness         { return witness{b.recordedByProcess, nil} }
func (w witness) answers() (got []string) { return answers(w.got()) }

// heard waits until a recorder has received from+n answers, and returns them without the
// first from.
func (b *bench) heard(w witness, from, n int) []string {
	b.Helper()
	deadline := time.After(patience)
	for {
		grown, got := b.log.Grown(), w.answers()
		if len(got) >= from+n {
			return got[from:]
		}
		select {
		case <-grown:
		case <-w.came:
		case <-deadline:
			b.Fatalf("the server got %q, want %d more than %d\n%s", got, n, from, b.transcript())
		}
	}
}

func (b *bench) misbehave(n int, name string, params fault.Params) inspection.Question {
	b.Helper()
	if err := b.in.Misbehave(n, name, params); err != nil {
		b.Fatalf("misbehaving by %s: %v", name, err)
	}
	q, err := b.in.Question(n)
	if err != nil {
		b.Fatal(err)
	}
	if q.State != conversation.Answered || q.By != conversation.ByFault || !strings.HasPrefix(q.Reason, "deliberate: ") {
		b.Errorf("%s: the question is %s by %s: %s", name, q.State, q.By, q.Reason)
	}
	return q
}

// deliberate checks that all frames of the client since a question are marked as
// deliberate, and no others.
func (b *bench) deliberate(since int64, name string, honest ...string) {
	b.Helper()
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	frames = frames[max(since-1, 0):]
	for _, f := range frames {
		switch {
		case f.Dir != wire.ClientToServer && f.Fault != "" && f.Note == nil:
			b.Errorf("%s is marked as %s", f.Raw, f.Fault)
		case f.Dir == wire.ClientToServer && f.Fault != name && !slices.Contains(honest, f.Method):
			b.Errorf("%s is marked as %q, want %q", f.Raw, f.Fault, name)
		case f.Fault != "" && f.Actor != "fault":
			b.Errorf("%s is by %q", f.Raw, f.Actor)
		}
	}
}

var quick = 0.2

// misbehaviours are faults with the bytes that the server must receive. %d is the id of
// the question.
var misbehaviours = []struct {
	name   string
	params fault.Params
	want   []string // with a leading number of pieces if there are several
	ends   bool     // the call ends with a result
}{
	{"missing-field", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`}, true},
	{"wrong-type", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":12345}}}`}, true},
	{"too-short", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"x"}}}`}, true},
	{"extra-field", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text","unexpected":"This field is not in the schema."}}}`}, true},
	{"no-content", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept"}}`}, true},
	{"null-content", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":null}}`}, true},
	{"array-content", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":["not","an","object"]}}`}, true},
	{"given-content", fault.Params{JSON: json.RawMessage(`{"n":1.50}`)}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"n":1.50}}}`}, true},
	{"unknown-action", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"perhaps","content":{"name":"text"}}}`}, true},
	{"no-action", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"content":{"name":"text"}}}`}, true},
	{"decline-with-content", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"decline","content":{"name":"text"}}}`}, true},
	{"cancel-with-content", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"cancel","content":{"name":"text"}}}`}, true},
	{"null-result", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":null}`}, true},
	{"string-result", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":"accept"}`}, true},
	{"given-result", fault.Params{JSON: json.RawMessage(`[ 1 ]`)}, []string{`{"jsonrpc":"2.0","id":%d,"result":[ 1 ]}`}, true},
	{"method-not-found", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"Method not found"}}`}, true},
	{"invalid-params", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"Invalid params"}}`}, true},
	{"internal-error", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"Internal error"}}`}, true},
	{"request-cancelled", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"error":{"code":-32800,"message":"Request cancelled"}}`}, true},
	{"any-error", fault.Params{Data: json.RawMessage(`{"x":[0]}`)}, []string{`{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"Deliberate error","data":{"x":[0]}}}`}, true},
	{"invalid-json", fault.Params{}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}`}, false},
	{"wrong-id", fault.Params{}, []string{`{"jsonrpc":"2.0","id":99%d,"result":{"action":"accept","content":{"name":"text"}}}`}, false},
	{"retyped-id", fault.Params{}, []string{`{"jsonrpc":"2.0","id":"%d","result":{"action":"accept","content":{"name":"text"}}}`}, false},
	{"response-twice", fault.Params{}, []string{
		`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`,
	}, true},
	{"cancel-then-accept", fault.Params{}, []string{
		`{"jsonrpc":"2.0","id":%d,"result":{"action":"cancel"}}`,
		`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`,
	}, true},
	{"half-then-rest", fault.Params{Seconds: &quick}, []string{`2 {"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`}, true},
	{"byte-by-byte", fault.Params{Seconds: new(0.5)}, []string{`many {"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`}, true},
	{"late", fault.Params{Seconds: &quick}, []string{`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"text"}}}`}, true},
}

// TestMisbehaviours sends misbehaviours over every transport, and compares what the
// server received byte for byte.
func TestMisbehaviours(t *testing.T) {
	t.Parallel()
	t.Run("stdio", func(t *testing.T) {
		b := start(t, "recorder", conversation.ClientSettings{})
		misbehaveAll(t, b, b.witness())
	})
	for _, onGET := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP, questions on GET %t", onGET), func(t *testing.T) {
			h, b := serveRecorder(t, "2025-11-25", onGET)
			misbehaveAll(t, b, h.witness())
		})
	}
}

func misbehaveAll(t *testing.T, b *bench, w witness) {
	question := 0
	for _, m := range misbehaviours {
		t.Run(m.name, func(t *testing.T) {
			outer := b.T
			b.T = t
			defer func() { b.T = outer }()
			call := b.call("ask")
			question++
			q := b.question(question)
			facts, err := b.in.FactsOf(question)
			if err != nil {
				t.Fatal(err)
			}
			before := len(w.answers())
			b.misbehave(question, m.name, m.params)
			got := b.heard(w, before, len(m.want))
			for i, want := range m.want {
				sameBytes(t, got[i], strings.ReplaceAll(want, "%d", string(facts.ID)))
			}
			if m.ends {
				if c, text := b.done(call.Number); c.State != conversation.Done || text != "answered" {
					t.Errorf("the call is %s: %s", c.State, text)
				}
			}
			b.until("the answer's frame", func() bool { return b.question(question).AnswerSeq != 0 })
			b.deliberate(q.AskedSeq, m.name)
			if !m.ends {
				if err := b.in.Stop(call.Number); err != nil {
					t.Error(err)
				}
				b.heard(w, before, len(m.want)+1) // the cancellation
			}
		})
	}
	for _, f := range b.judged() {
		t.Errorf("found: %+v", f)
	}
}

// sameBytes compares received bytes with the wanted ones, whose number of pieces is
// optional. Many are more than two: a busy server reads several at once.
func sameBytes(t *testing.T, got, want string) {
	t.Helper()
	pieces, raw, _ := strings.Cut(got, " ")
	wanted, rest, _ := strings.Cut(want, " ")
	switch {
	case want[0] == '{':
		rest = want
	case wanted == "many" && (pieces == "1" || pieces == "2"), wanted != "many" && wanted != pieces:
		t.Errorf("it came in %s pieces, want %s", pieces, wanted)
	}
	if raw != rest {
		t.Errorf("the server got\n%s\nwant\n%s", raw, rest)
	}
}

func TestAnswerToAWithdrawnQuestion(t *testing.T) {
	b := start(t, "recorder", conversation.ClientSettings{})
	call := b.call("gives-up")
	q := b.question(1)
	b.misbehave(1, "answer-withdrawn", fault.Params{})
	b.done(b.call("now").Number)
	b.done(call.Number)
	sameBytes(t, b.heard(b.witness(), 0, 1)[0], `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"text"}}}`)
	b.deliberate(q.AskedSeq, "answer-withdrawn", "tools/call")
	if got := b.question(1); got.State != conversation.Answered || got.AnswerSeq == 0 {
		t.Errorf("the question is %s: %s", got.State, got.Reason)
	}
}

func TestResponseAfterCancel(t *testing.T) {
	b := start(t, "recorder", conversation.ClientSettings{})
	call := b.call("ask")
	b.question(1)
	b.misbehave(1, "response-after-cancel", fault.Params{})
	got := b.heard(b.witness(), 0, 2)
	if !strings.Contains(got[0], `"notifications/cancelled"`) {
		t.Errorf("first %s", got[0])
	}
	sameBytes(t, got[1], `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"text"}}}`)
	if c, _ := b.done(call.Number); c.State != conversation.Stopped {
		t.Errorf("the call is %s", c.State)
	}
}

// With the fault never, the client sends nothing, and the inspection still ends in time.
func TestNever(t *testing.T) {
	b := start(t, "recorder", conversation.ClientSettings{})
	b.call("ask")
	b.question(1)
	b.misbehave(1, "never", fault.Params{})
	hour := 3600.0
	b.call("gives-up")
	b.question(2)
	b.misbehave(2, "late", fault.Params{Seconds: &hour})
	if got := b.witness().answers(); len(got) > 0 {
		t.Errorf("the server got %s", got)
	}
	began := time.Now()
	if err := b.in.Close(t.Context()); err != nil || time.Since(began) > time.Minute { // the faults last an hour, or for ever
		t.Errorf("closing took %s: %v", time.Since(began), err)
	}
}

func TestEndsOfTheConnection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ server, fault, want string }{
		{"recorder", "close-connection", "deliberate: close the connection; exited with code 0"},
		{"recorder", "kill-process", "deliberate: kill the process; ended by signal: killed"},
		{"recorder-deaf", "close-connection", "deliberate: close the connection; ended by signal: terminated"},
	} {
		t.Run(test.server+" "+test.fault, func(t *testing.T) {
			t.Parallel()
			b := start(t, test.server, conversation.ClientSettings{})
			call := b.call("ask")
			b.question(1)
			b.misbehave(1, test.fault, fault.Params{})
			b.until("the end", func() bool { return b.server().State == conversation.ServerEnded })
			if s := b.server(); s.Reason != test.want {
				t.Errorf("the server has ended: %s", s.Reason)
			}
			if c, failure := b.done(call.Number); c.State != conversation.Failed || !strings.Contains(failure, test.want) {
				t.Errorf("the call is %s: %s", c.State, failure)
			}
			if q := b.question(1); q.State != conversation.Answered || q.By != conversation.ByFault {
				t.Errorf("the question is %s by %s", q.State, q.By)
			}
			b.replayedAlike()
		})
	}
	t.Run("HTTP", func(t *testing.T) {
		_, b := serveRecorder(t, "2025-11-25", false)
		call := b.call("ask")
		b.question(1)
		b.misbehave(1, "close-connection", fault.Params{})
		b.until("the end", func() bool { return b.server().State == conversation.ServerEnded })
		if c, failure := b.done(call.Number); c.State != conversation.Failed || !strings.Contains(failure, "deliberate: close the connection") {
			t.Errorf("the call is %s: %s", c.State, failure)
		}
		b.replayedAlike()
	})
}

func TestDropStream(t *testing.T) {
	for _, onGET := range []bool{false, true} {
		t.Run(fmt.Sprintf("on GET %t", onGET), func(t *testing.T) {
			h, b := serveRecorder(t, "2025-11-25", onGET)
			b.call("ask")
			b.question(1)
			b.misbehave(1, "drop-stream", fault.Params{})
			got := b.heard(h.witness(), 0, 1)
			sameBytes(t, got[len(got)-1], `{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"text"}}}`)
			b.until("the note", func() bool {
				frames, err := logtest.Frames(b.log)
				return err == nil && slices.ContainsFunc(frames, func(f wire.Frame) bool {
					return f.Fault == "drop-stream" && f.Note != nil && f.Note.Kind == wire.NoteStreamBroken
				})
			})
		})
	}
}

func TestNewSession(t *testing.T) {
	b := start(t, "recorder", conversation.ClientSettings{})
	call := b.call("ask")
	first := b.question(1).Session
	ready := b.server().Since
	b.misbehave(1, "new-session", fault.Params{})
	b.done(call.Number)
	b.until("the new session", func() bool { s := b.server(); return s.State == conversation.ServerReady && s.Since.After(ready) })
	b.call("ask")
	if again := b.question(2).Session; again == first {
		t.Errorf("both questions came on %s", first)
	}
	if got := b.witness().answers(); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, `"result"`) }) {
		t.Errorf("the server got %s", got)
	}
}

const ann = `{"action":"accept","content":{"name":"Ann"}}`

// TestMisbehavingRounds compares the request that answers the second of two rounds.
func TestMisbehavingRounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		params fault.Params
		want   []string // members of the params, or the whole message
		text   string   // the text of the call's result; "" for none
	}{
		{"missing-key", fault.Params{}, []string{`"inputResponses":{},"requestState":"two"}}`}, `state "two"`},
		{"extra-key", fault.Params{}, []string{`"inputResponses":{"k":{"action":"accept","content":{"name":"text"}},"unexpected":{"action":"accept","content":{}}},"requestState":"two"}}`}, `state "two"`},
		{"missing-field", fault.Params{}, []string{`"inputResponses":{"k":{"action":"accept","content":{}}},"requestState":"two"}}`}, `state "two"`},
		{"null-result", fault.Params{}, []string{`"inputResponses":{"k":null},"requestState":"two"}}`}, `state "two"`},
		{"changed-state", fault.Params{}, []string{`"requestState":"tAo"}}`}, `state "tAo"`},
		{"invented-state", fault.Params{}, []string{`"requestState":"invented-by-the-client"}}`}, `state "invented-by-the-client"`},
		{"no-state", fault.Params{}, []string{`"inputResponses":{"k":{"action":"accept","content":{"name":"text"}}}}}`}, `state `},
		{"earlier-state", fault.Params{}, []string{`"requestState":"one"}}`}, `state "one"`},
		{"other-tool", fault.Params{Tool: "now"}, []string{`"name":"now"`, `"requestState":"two"}}`}, `state "two"`},
		{"same-id", fault.Params{}, []string{`"requestState":"two"}}`}, `state "two"`},
		{"response-twice", fault.Params{}, []string{`"requestState":"two"}}`}, `state "two"`},
		{"invalid-json", fault.Params{}, []string{`"requestState":"two"}`}, ""},
		{"half-then-rest", fault.Params{Seconds: &quick}, []string{`"requestState":"two"}}`}, `state "two"`},
		{"byte-by-byte", fault.Params{Seconds: new(0.5)}, []string{`"requestState":"two"}}`}, `state "two"`},
		{"late", fault.Params{Seconds: &quick}, []string{`"requestState":"two"}}`}, `state "two"`},
		{"never", fault.Params{}, nil, "the call was not made again; deliberate: never answer"},
	} {
		run := func(t *testing.T, b *bench, w witness) {
			call := b.call("ask")
			b.question(1)
			b.answer(1, live.Answer{Result: json.RawMessage(ann)})
			q := b.question(2)
			before := len(b.heard(w, 0, 1))
			b.misbehave(2, test.name, test.params)
			wanted := map[string]int{"never": 0, "response-twice": 2}
			n, special := wanted[test.name]
			if !special {
				n = 1
			}
			got := b.heard(w, before, n)
			for _, text := range got {
				for _, want := range test.want {
					if !strings.Contains(text, want) || test.name == "invalid-json" && !strings.HasSuffix(text, want) {
						t.Errorf("the server got\n%s\nwant\n%s", text, want)
					}
				}
			}
			switch test.name {
			case "same-id":
				var first, second request
				earlier := w.answers()[before-1]
				for i, text := range []string{earlier, got[0]} {
					_, raw, _ := strings.Cut(text, " ")
					if err := json.Unmarshal([]byte(raw), []*request{&first, &second}[i]); err != nil {
						t.Fatal(err)
					}
				}
				if string(first.ID) != string(second.ID) {
					t.Errorf("the ids are %s and %s", first.ID, second.ID)
				}
			case "half-then-rest", "byte-by-byte":
				if strings.HasPrefix(got[0], "1 ") {
					t.Errorf("it came in one piece")
				}
			case "response-twice":
				_, one, _ := strings.Cut(got[0], " ")
				_, other, _ := strings.Cut(got[1], " ")
				if one != other {
					t.Errorf("they differ:\n%s\n%s", one, other)
				}
			}
			if test.text != "" {
				if c, text := b.done(call.Number); text != test.text && c.Failure != test.text {
					t.Errorf("the call gives %q, want %q", text, test.text)
				}
			}
			b.deliberate(q.AskedSeq, test.name)
			if test.name != "never" && test.name != "invalid-json" {
				b.until("the answer's frame", func() bool { return b.question(2).AnswerSeq != 0 })
			}
			for _, f := range b.judged() {
				t.Errorf("found: %+v", f)
			}
		}
		t.Run(test.name+" over stdio", func(t *testing.T) {
			b := start(t, "recorder-rounds", conversation.ClientSettings{})
			run(t, b, b.witness())
		})
		t.Run(test.name+" over HTTP", func(t *testing.T) {
			h, b := serveRecorder(t, "2026-07-28", false)
			run(t, b, h.witness())
		})
	}
}

// A round that is answered in a new session continues there with its requestState.
func TestRoundInANewSession(t *testing.T) {
	b := start(t, "recorder-rounds", conversation.ClientSettings{})
	call := b.call("ask")
	b.question(1)
	b.misbehave(1, "new-session", fault.Params{Answer: json.RawMessage(ann)})
	if c, _ := b.done(call.Number); c.State != conversation.Stopped || !strings.Contains(c.Failure, "goes on in a new session") {
		t.Errorf("the call is %s: %s", c.State, c.Failure)
	}
	b.question(2)
	got := b.heard(b.witness(), 0, 1)
	if !strings.Contains(got[0], `"inputResponses":{"k":`+ann+`},"requestState":"one"}}`) {
		t.Errorf("the server got %s", got)
	}
}

// Again repeats an answer in a repeated call, or for a pending question.
func TestAgain(t *testing.T) {
	for _, deliberate := range []bool{true, false} {
		t.Run(fmt.Sprintf("deliberate %t", deliberate), func(t *testing.T) {
			b := start(t, "recorder", conversation.ClientSettings{})
			call := b.call("ask")
			b.question(1)
			if deliberate {
				b.misbehave(1, "missing-field", fault.Params{})
			} else {
				b.answer(1, live.Answer{Action: "decline"})
			}
			b.done(call.Number)
			again, err := b.in.Again(1)
			if err != nil || again != 2 {
				t.Fatalf("call %d, %v", again, err)
			}
			b.done(again)
			b.call("ask")
			b.question(3)
			if again, err := b.in.Again(1); err != nil || again != 0 {
				t.Fatalf("call %d, %v", again, err)
			}
			b.done(3)
			got := b.heard(b.witness(), 0, 3)
			for i, text := range got {
				if want := strings.Replace(got[0], `"id":1`, fmt.Sprintf(`"id":%d`, i+1), 1); text != want {
					t.Errorf("the server got %s, want %s", text, want)
				}
			}
		})
	}
}

func TestMisbehavingURLs(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"retry-before-completion", "again"},
		{"never-retry", "the call was not made again; deliberate: never retry"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := start(t, "recorder", conversation.ClientSettings{})
			call := b.call("sign-in")
			b.question(1)
			b.misbehave(1, test.name, fault.Params{})
			if c, text := b.done(call.Number); text != test.text && c.Failure != test.text {
				t.Errorf("the call gives %q: %s", text, c.Failure)
			}
		})
	}
}

// A transcript of misbehaviour shows the same as the live inspection.
func TestReplayOfMisbehaving(t *testing.T) {
	for _, test := range []struct {
		server string
		faults []string
	}{
		{"recorder", []string{"unknown-action", "any-error", "invalid-json", "wrong-id", "response-twice", "never", "kill-process"}},
		{"recorder-rounds", []string{"missing-field", "changed-state", "same-id", "never"}},
	} {
		t.Run(test.server, func(t *testing.T) {
			b := start(t, test.server, conversation.ClientSettings{})
			for i, name := range test.faults {
				call := b.call("ask")
				b.question(i + 1)
				b.misbehave(i+1, name, fault.Params{})
				switch name {
				case "invalid-json", "wrong-id":
					b.until("it is sent", func() bool { return b.question(i+1).AnswerSeq != 0 })
					b.stop(call)
				case "never":
					b.stop(call)
				}
				b.done(call.Number)
			}
			live := b.replayedAlike()
			if n := strings.Count(live, "deliberate"); n < len(test.faults) {
				t.Errorf("too little is told:\n%s", live)
			}
		})
	}
}

// all yields the numbers from 1 to n.
func all(n int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for seq := int64(1); seq <= n && yield(seq); seq++ {
		}
	}
}

func (b *bench) stop(c inspection.Call) {
	b.Helper()
	if err := b.in.Stop(c.Number); err != nil {
		b.Error(err)
	}
}

// replayed opens a transcript of the inspection as it is now.
func (b *bench) replayed() *inspection.Inspection {
	b.Helper()
	file := filepath.Join(b.TempDir(), "flow.jsonl")
	out, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(wire.WriteFrames(out, b.log, all(b.log.Len()), nil), out.Close()); err != nil {
		b.Fatal(err)
	}
	return replayOf(b.T, file).Inspection()
}

// replayedAlike fails unless a transcript of the inspection says of the faults, and of what
// came after them, what the inspection says itself, which it returns.
func (b *bench) replayedAlike() string {
	b.Helper()
	live, replayed := toldOfFaults(b.in), toldOfFaults(b.replayed())
	if live != replayed {
		b.Errorf("live\n%s\nreplayed\n%s", live, replayed)
	}
	return live
}

func toldOfFaults(in *inspection.Inspection) string {
	var out strings.Builder
	for _, q := range in.Questions() {
		if q.Fault != "" {
			next := in.Next(q)
			fmt.Fprintf(&out, "question %d: %s by %s, %s (%s), #%d, then %s #%d\n", q.Number, q.State, q.By, q.Reason, q.Fault, q.AnswerSeq, next.Text, next.Seq)
		}
	}
	return out.String()
}

// Of three waiting questions, one is answered by a fault that closes the connection. What the
// server did next is then its end, live and in a replay of the log. Only a server that is a
// process ends with an exit code.
func TestEndWhileOthersWait(t *testing.T) {
	t.Parallel()
	server := demo.New(demo.Options{})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		spec       target.Spec
		tool, want string
	}{
		{target.Spec{Name: "recorder", Command: []string{self}, Env: []string{serverEnv + "=recorder"}}, "ask", "exited with code 0"},
		{target.Spec{Name: "demo", Builtin: server.ServeLines}, "book_table", "the built-in server has ended its session"},
	} {
		t.Run(test.spec.Name, func(t *testing.T) {
			t.Parallel()
			b := startInspection(t, inspection.Config{Targets: []target.Spec{test.spec}, Settings: conversation.ClientSettings{Protocol: mcp.Revision20251125, Choice: conversation.ChoiceExplicit}})
			for n := range 3 {
				b.call(test.tool)
				b.question(n + 1)
			}
			b.misbehave(2, "close-connection", fault.Params{})
			b.until("the end", func() bool { return b.server().State == conversation.ServerEnded })
			if s := b.server(); s.Reason != "deliberate: close the connection; "+test.want {
				t.Errorf("the server has ended: %s", s.Reason)
			}
			b.until("what came after", func() bool { return strings.HasSuffix(b.in.Next(b.question(2)).Text, test.want) })
			b.replayedAlike()
		})
	}
}

// The end of a session belongs to the question after which it came: what was told of the
// questions before it stays as it was.
func TestStoriesDoNotChangeAfterTheNextQuestion(t *testing.T) {
	b := start(t, "recorder", conversation.ClientSettings{})
	story := func(n int) string { return b.in.Next(b.question(n)).Text }
	var before []string
	for n := 1; n <= 2; n++ {
		call := b.call("ask")
		b.question(n)
		b.answer(n, live.Answer{Action: "accept", Content: json.RawMessage(`{"name":"Ann"}`)})
		b.done(call.Number)
	}
	b.call("ask") // the third question, which is not settled yet
	b.question(3)
	for n := 1; n <= 2; n++ {
		if before = append(before, story(n)); !strings.HasPrefix(before[n-1], "answered the call") {
			t.Errorf("question %d: %q", n, before[n-1])
		}
	}
	b.misbehave(3, "kill-process", fault.Params{})
	b.until("the end", func() bool { return b.server().State == conversation.ServerEnded })
	for n := 1; n <= 2; n++ {
		if got := story(n); got != before[n-1] {
			t.Errorf("question %d: %q, but before the third question it was %q", n, got, before[n-1])
		}
	}
	if got := story(3); !strings.Contains(got, "ended by signal: killed") {
		t.Errorf("question 3: %q", got)
	}
}
