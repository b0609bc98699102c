package otlp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

const (
	recordings = "../../meaning/conversation/testdata/recorded/*.jsonl"
	talks      = "../../meaning/conversation/testdata/talks/*.txt"
)

func spansOf(t testing.TB, l *wire.Log, o Options) (spans []*Span) {
	t.Helper()
	r := NewReader(l, o, func(s *Span) { spans = append(spans, s) })
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return spans
}

// tree writes spans as a tree for people, each with its attributes, events and links.
func tree(spans []*Span) []byte {
	var b bytes.Buffer
	names := map[SpanID]string{}
	for _, s := range spans {
		names[s.ID] = s.Name
	}
	traces := map[TraceID]int{}
	sorted := slices.SortedStableFunc(slices.Values(spans), func(a, b *Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), -cmp.Compare(a.End, b.End))
	})
	var show func(s *Span, indent string)
	show = func(s *Span, indent string) {
		kind := map[Kind]string{Internal: "internal", Served: "server", Called: "client"}[s.Kind]
		fmt.Fprintf(&b, "%s%s (%s, trace %d) %v", indent, s.Name, kind, traces[s.TraceID], time.Duration(s.End-s.Start))
		if s.Status.Code == failed {
			fmt.Fprintf(&b, " ERROR %q", s.Status.Message)
		}
		b.WriteString("\n")
		for _, a := range s.Attributes {
			fmt.Fprintf(&b, "%s    %s = %s\n", indent, a.Key, a.text())
		}
		for _, e := range s.Events {
			fmt.Fprintf(&b, "%s    at %v %s", indent, time.Duration(e.Time-s.Start), e.Name)
			for _, a := range e.Attributes {
				fmt.Fprintf(&b, " %s=%s", strings.TrimPrefix(a.Key, prefix), a.text())
			}
			b.WriteString("\n")
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, "%s    follows %s\n", indent, names[l.ID])
		}
		for _, inner := range sorted {
			if inner.Parent == s.ID {
				show(inner, indent+"  ")
			}
		}
	}
	for _, s := range sorted {
		if traces[s.TraceID] == 0 {
			traces[s.TraceID] = len(traces) + 1
		}
		if names[s.Parent] == "" {
			show(s, "")
		}
	}
	return b.Bytes()
}

func (a Attribute) text() string {
	if a.Value.Int != nil {
		return fmt.Sprint(*a.Value.Int)
	}
	return *a.Value.Text
}

func (s *Span) value(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.text()
		}
	}
	return ""
}

func named(t testing.TB, spans []*Span, name string) *Span {
	t.Helper()
	i := slices.IndexFunc(spans, func(s *Span) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no span %q in\n%s", name, tree(spans))
	}
	return spans[i]
}

// What talks and recordings look like as spans.
func TestTrees(t *testing.T) {
	for _, path := range logtest.Files(t, talks) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l := logtest.New(t, logtest.Talk(t, string(text))...)
		logtest.Golden(t, "testdata/"+strings.TrimSuffix(filepath.Base(path), ".txt")+".golden", tree(spansOf(t, l, Options{})))
	}
}

// However late a session is read, live or from its transcript, it has the same spans.
func TestLiveAndOpened(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		opened := logtest.Open(t, path)
		frames, err := logtest.Frames(opened)
		if err != nil {
			t.Fatal(err)
		}
		want := tree(spansOf(t, opened, Options{Content: true}))
		for _, step := range []int{1, 7, 1000} {
			l := logtest.New(t)
			var live []*Span
			r := NewReader(l, Options{Content: true}, func(s *Span) { live = append(live, s) })
			for part := range slices.Chunk(frames, step) {
				for _, f := range part {
					l.Append(f)
				}
				if err := r.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := tree(live); !bytes.Equal(got, want) {
				t.Errorf("%s, read every %d frames:\n%s\nwant\n%s", path, step, got, want)
			}
			ids := map[SpanID]bool{}
			for _, s := range live {
				if ids[s.ID] {
					t.Errorf("%s: two spans have the id of %s", path, s.Name)
				}
				ids[s.ID] = true
			}
		}
	}
}

// Each span has what the conventions require of it, and no arguments, answers or results unless
// they are wanted.
func TestConventions(t *testing.T) {
	content := []string{"gen_ai.tool.call.arguments", "gen_ai.tool.call.result", prefix + "question.message", prefix + "question.params", prefix + "question.answer"}
	for _, path := range logtest.Files(t, recordings) {
		l := logtest.Open(t, path)
		for _, s := range spansOf(t, l, Options{}) {
			required := []string{"mcp.method.name", "mcp.session.id", "mcp.protocol.version"}
			method := s.value("mcp.method.name")
			if s.Kind != Internal {
				required = append(required, "network.transport")
				if !strings.HasPrefix(method, "notifications/") {
					required = append(required, "jsonrpc.request.id")
				}
			}
			switch {
			case s.Kind == Internal:
			case method == "tools/call":
				required = append(required, "gen_ai.tool.name", "gen_ai.operation.name")
			case method == "prompts/get":
				required = append(required, "gen_ai.prompt.name")
			case method == "resources/read":
				required = append(required, "mcp.resource.uri")
			}
			if s.Status.Code == failed {
				required = append(required, "error.type")
			}
			if strings.HasPrefix(s.Name, "question ") {
				required = append(required, prefix+"question.number", prefix+"question.state", prefix+"question.via", prefix+"round")
			}
			for _, key := range required {
				if s.value(key) == "" {
					t.Errorf("%s: %s has no %s", path, s.Name, key)
				}
			}
			if s.Kind == Internal != (strings.HasPrefix(s.Name, "question ") || strings.HasPrefix(s.Name, "call ")) || s.Kind != Internal && !strings.HasPrefix(s.Name, method) {
				t.Errorf("%s: %s is of kind %d", path, s.Name, s.Kind)
			}
			if s.Start == 0 || s.End < s.Start || s.TraceID == (TraceID{}) || s.ID == (SpanID{}) {
				t.Errorf("%s: %s is %+v", path, s.Name, s)
			}
			for _, key := range content {
				if s.value(key) != "" {
					t.Errorf("%s: %s has %s, which nobody wants", path, s.Name, key)
				}
			}
		}
		all := string(tree(spansOf(t, l, Options{Content: true})))
		for _, key := range content {
			if !strings.Contains(all, key+" = ") {
				t.Errorf("%s: nothing has %s", path, key)
			}
		}
	}
}

// Secrets stay out, in every text of a span.
func TestRedacted(t *testing.T) {
	l := logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"pin":"hunter2222"}}}
+1s s2c {"jsonrpc":"2.0","id":"hunter2222","method":"elicitation/create","params":{"message":"Is it hunter2222?","requestedSchema":{"type":"object","properties":{}}}}
+1s c2s {"jsonrpc":"2.0","id":"hunter2222","result":{"action":"hunter2222","content":{"a":"hunter2222"}}}
+1s s2c {"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not with hunter2222"}}
+1s c2s {"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x:/hunter2222"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"contents":[]}}`)...)
	r, err := redact.New("pin")
	if err != nil {
		t.Fatal(err)
	}
	spans := spansOf(t, l, Options{Content: true, Redact: r})
	raw, err := json.Marshal(spans)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("hunter2222")) || !bytes.Contains(raw, []byte("not with [REDACTED]")) {
		t.Errorf("%s", tree(spans))
	}
}

const joined = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"rojo=1"},"name":"deploy"}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},"message":"m","requestedSchema":{"type":"object","properties":{}}}}
+1s c2s {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
+1s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"traceparent":"00-0AF7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},"name":"deploy"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[]}}`

// The traces of other programs are joined: their spans are the parents. A traceparent that is none
// is ignored.
func TestJoined(t *testing.T) {
	spans := spansOf(t, logtest.New(t, logtest.Talk(t, joined)...), Options{})
	call, asked, question := spans[0], named(t, spans, "elicitation/create"), named(t, spans, "question form")
	id := func(of fmt.Stringer) string { return of.String() }
	for what, is := range map[string]bool{
		"the call's trace":      id(call.TraceID) == "0af7651916cd43dd8448eb211c80319c" && call.State == "rojo=1",
		"the call's parent":     id(call.Parent) == "00f067aa0ba902b7",
		"the request's parent":  id(asked.Parent) == "b7ad6b7169203331" && asked.TraceID == call.TraceID,
		"the question's parent": question.Parent == asked.ID && question.TraceID == call.TraceID,
		"no parent":             spans[len(spans)-1].Parent == SpanID{} && spans[len(spans)-1].TraceID != call.TraceID,
	} {
		if !is {
			t.Errorf("%s is wrong:\n%s", what, tree(spans))
		}
	}
}

func (id TraceID) String() string { text, _ := id.MarshalText(); return string(text) }
func (id SpanID) String() string  { text, _ := id.MarshalText(); return string(text) }

// The span of a request of the inspector's own is the one that its traceparent names, within the span that the
// environment names.
func TestContext(t *testing.T) {
	m, err := wire.ParseMessage([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"deploy"}}`))
	if err != nil {
		t.Fatal(err)
	}
	const above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, test := range map[string]struct {
		environment                 map[string]string
		sent                        bool
		trace, parent, state, bring string
	}{
		"alone":           {sent: true},
		"not sent":        {},
		"upstream":        {map[string]string{"TRACEPARENT": above, "TRACESTATE": "rojo=1", "BAGGAGE": "a=b"}, true, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "elicitation-inspector=b7ad6b7169203331,rojo=1", "a=b"},
		"no state":        {map[string]string{"TRACEPARENT": above}, true, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "elicitation-inspector=b7ad6b7169203331", ""},
		"a wrong parent":  {map[string]string{"TRACEPARENT": "00-0-0-01", "TRACESTATE": "rojo=1", "BAGGAGE": "a=b"}, true, "", "", "", "a=b"},
		"a wrong state":   {map[string]string{"TRACEPARENT": above, "TRACESTATE": "rojo=\x1b[31m"}, true, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "elicitation-inspector=b7ad6b7169203331", ""},
		"a wrong baggage": {map[string]string{"BAGGAGE": strings.Repeat("a", 8193)}, true, "", "", "", ""},
		"nested":          {map[string]string{"TRACEPARENT": above, "TRACESTATE": "elicitation-inspector=00f067aa0ba902b7, rojo=1"}, true, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "elicitation-inspector=b7ad6b7169203331,rojo=1", ""},
	} {
		upstream, wrong := UpstreamOf(func(name string) string { return test.environment[name] })
		said, state, baggage := upstream.Context("files-1", 3, m)
		if (len(wrong) > 0) != strings.Contains(name, "wrong") {
			t.Errorf("%s: left out %v", name, wrong)
		}
		if state != test.state || baggage != test.bring {
			t.Errorf("%s: tracestate %q, baggage %q", name, state, baggage)
		}
		request := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"deploy"}}`
		if test.sent {
			request = fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"traceparent":%q,"tracestate":%q},"name":"deploy"}}`, said, state)
		}
		frames := logtest.Talk(t, "+0s c2s "+request+"\n+1s s2c "+`{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
		frames[0].Call, frames[0].Round = 3, 1
		spans := spansOf(t, logtest.New(t, frames...), Options{})
		one := spans[0]
		if got := "00-" + one.TraceID.String() + "-" + one.ID.String() + "-01"; len(spans) != 1 || got != said || one.State != state {
			t.Errorf("%s: the span is %s with state %q, the traceparent %s", name, got, one.State, said)
		}
		if parent := strings.Trim(one.Parent.String(), "0"); parent != test.parent || test.trace != "" && one.TraceID.String() != test.trace {
			t.Errorf("%s: trace %s, parent %q", name, one.TraceID, parent)
		}
	}
}

// What comes after a call has ended, or never, is told as well, and nothing twice.
func TestLate(t *testing.T) {
	const base = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`
	for name, test := range map[string]struct{ more, want string }{
		"a second response": {`+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, "tools/call deploy"},
		"an unanswered ping, and one that is answered": {`+1s c2s {"jsonrpc":"2.0","id":2,"method":"ping"}
+1s s2c {"jsonrpc":"2.0","id":3,"method":"ping"}
+1s c2s {"jsonrpc":"2.0","id":3,"result":{}}`, "tools/call deploy|ping|ping"},
		"an unanswered call": {`+1s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"again"}}
+1s s2c {"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`, "tools/call deploy|tools/call again|elicitation/create|question form"},
		"a notification": {`+1s s2c {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, "tools/call deploy|notifications/tools/list_changed"},
		"a list with a URL": {`+1s c2s {"jsonrpc":"2.0","id":2,"method":"tools/list"}
+1s s2c {"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","url":"https://x.example/","elicitationId":"e","message":"m"}]}}}`, "tools/call deploy|tools/list|question url"},
	} {
		frames := logtest.Talk(t, base+test.more)
		if strings.Contains(test.more, "-32042") {
			frames[len(frames)-1].Question = 1 // it was put to the person
		}
		spans := spansOf(t, logtest.New(t, frames...), Options{})
		var names []string
		for _, s := range spans {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		want := strings.Split(test.want, "|")
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("%s:\n%s\nwant %v", name, tree(spans), want)
		}
	}
}
