package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// receiving is a receiver, and a log to which it adds the spans of call 1, whose two rounds are spans.
type receiving struct {
	*Receiver
	*said
	log   *wire.Log
	trace TraceID
	round [2]SpanID
}

func receive(t testing.TB) *receiving {
	t.Helper()
	r := &receiving{said: &said{}, log: logtest.New(t)}
	var err error
	if r.Receiver, err = NewReceiver("127.0.0.1:0", r.add); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	for i := range r.round {
		m, err := wire.ParseMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"deploy"}}`, i))
		if err != nil {
			t.Fatal(err)
		}
		f := wire.Frame{Server: "files", Session: "files-1", Transport: "http", Dir: wire.ClientToServer, Call: 1, Round: i + 1, Message: m}
		r.Sent(r.log, f)
		ref := refOf(f.Session, 1, f.Dir, m, "")
		r.trace, r.round[i] = ref.trace, ref.span
	}
	return r
}

// span is a span of the call.
func (r *receiving) span(id, parent SpanID, name string) *Span {
	return &Span{TraceID: r.trace, ID: id, Parent: parent, Name: name, Kind: Called, Start: 1_700_000_000_000_000_000, End: 1_700_000_000_012_000_000}
}

func batchOf(spans ...*Span) request {
	return request{[]resourceSpans{{resource{text("service.name", "orders")}, []scopeSpans{{scope{"sql", "1"}, spans}}}}}
}

func (r *receiving) post(t testing.TB, path, kind, encoding string, body []byte) (status int, reply string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Endpoint()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Content-Encoding", encoding)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "" // the receiver has hung up
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(raw)
}

func zipped(t testing.TB, body io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, body); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *receiving) frames(t testing.TB) []wire.Frame {
	t.Helper()
	frames, err := logtest.Frames(r.log)
	if err != nil {
		t.Fatal(err)
	}
	return frames
}

func pointer[T any](v T) *T { return &v }

// Both encodings of OTLP say the same, packed or not, and what is kept has all of it.
func TestReceived(t *testing.T) {
	const want = `{"trace_id":"TRACE","span_id":"0100000000000000","parent_id":"PARENT","name":"INSERT\u001b[31m","kind":"client","start":"2023-11-14T22:13:20Z","end":"2023-11-14T22:13:20.012Z",` +
		`"attributes":{"b":true,"bytes":"AQI=","d":1.5,"i":-3,"list":["x",2],"map":{"k":"v"},"nan":"NaN","none":null,"s":"<t>"},` +
		`"events":[{"at":"2023-11-14T22:13:20.001Z","name":"retry","attributes":{"n":1}}],"status":"error","message":"no table","service":"orders","scope":"sql"}`
	for name, send := range map[string]func(t *testing.T, r *receiving, q request) (int, string){
		"protobuf": func(t *testing.T, r *receiving, q request) (int, string) {
			// A later version of OTLP has fields that are not known.
			body := append(appendMessage(nil, reflect.ValueOf(q)), 0xf8, 0x07, 5, 0xf1, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xf5, 0x07, 1, 2, 3, 4, 0xfa, 0x07, 1, 9)
			return r.post(t, "/v1/traces", "application/x-protobuf", "gzip", zipped(t, bytes.NewReader(body)))
		},
		"JSON": func(t *testing.T, r *receiving, q request) (int, string) {
			q.Resource[0].Scopes[0].Spans[0].Attributes[8].Value = Value{Text: pointer("NaN")} // JSON cannot say it otherwise
			raw, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer(`"intValue":"-3"`, `"intValue": -3`, `"stringValue":"NaN"`, `"stringValue":"NaN","doubleValue":"NaN"`, `{"resourceSpans"`, `{"later":[{}],"resourceSpans"`).Replace(string(raw))
			status, reply := r.post(t, "/v1/traces", "application/json; charset=utf-8", "", []byte(text))
			if reply != "{}" {
				t.Errorf("it answers %s", reply)
			}
			return status, ""
		},
	} {
		r := receive(t)
		s := r.span(SpanID{1}, r.round[1], "INSERT\x1b[31m")
		nan := 0.0
		nan /= nan
		s.Attributes = []Attribute{
			{"s", Value{Text: pointer("<t>")}}, {"b", Value{Bool: pointer(true)}}, {"i", Value{Int: pointer(int64(-3))}}, {"d", Value{Double: pointer(1.5)}},
			{"list", Value{List: &values{[]Value{{Text: pointer("x")}, {Int: pointer(int64(2))}}}}}, {"map", Value{Members: &attributes{text("k", "v")}}},
			{"bytes", Value{Bytes: []byte{1, 2}}}, {"none", Value{}}, {"nan", Value{Double: &nan}},
		}
		s.Events = []Event{{s.Start + 1e6, "retry", number("n", 1)}}
		s.Status = Status{"no table", failed}
		status, reply := send(t, r, batchOf(s))
		frames := r.frames(t)
		if status != 200 || reply != "" || len(frames) != 1 {
			t.Fatalf("%s: %d %q, %d frames", name, status, reply, len(frames))
		}
		f := frames[0]
		raw, err := json.Marshal(f.Note.Span)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("TRACE", r.trace.String(), "PARENT", r.round[1].String(), "<t>", `\u003ct\u003e`).Replace(want)
		if string(raw) != text || f.Kind != wire.SpanFrame || f.Call != 1 || f.Round != 2 || !f.Failed || f.Server != "files" || f.Session != "files-1" || f.Transport != "http" {
			t.Errorf("%s: %+v\n%s\nwant\n%s", name, f, raw, text)
		}
		if want := `span INSERT\u001b[31m, 12 ms; failed: no table`; string(f.Raw) != want {
			t.Errorf("%s: it says %q, want %q", name, f.Raw, want)
		}
	}
}

// A span belongs to the round that it is within, else to the one that was open when it began. One that is
// sent twice is kept once, and those of other traces are not.
func TestRoundOfSpan(t *testing.T) {
	r := receive(t)
	grandchild, orphan, other := r.span(SpanID{2}, SpanID{1}, "in a span of round 1"), r.span(SpanID{3}, SpanID{9}, "before"), r.span(SpanID{4}, r.round[0], "foreign")
	later := r.span(SpanID{5}, SpanID{9}, "later")
	later.Start = nanos(time.Now())
	other.TraceID = TraceID{1}
	body := appendMessage(nil, reflect.ValueOf(batchOf(r.span(SpanID{1}, r.round[0], "of round 1"), grandchild, orphan, later, other, grandchild)))
	if status, reply := r.post(t, "/v1/traces", "application/x-protobuf", "", body); status != 200 || reply != "" {
		t.Errorf("%d %q", status, reply)
	}
	var got []string
	for _, f := range r.frames(t) {
		got = append(got, fmt.Sprintf("%d %s", f.Round, f.Note.Span.Name))
	}
	if got, want := strings.Join(got, ", "), "1 of round 1, 1 in a span of round 1, 1 before, 2 later"; got != want {
		t.Errorf("the spans are %s\nwant %s", got, want)
	}
	r.Close()
	if want := "traces: 1 span of other traces was left out"; r.String() != want {
		t.Errorf("it says %q, want %q", r, want)
	}
}

// zeros are endless zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What is wrong, hostile or too much is refused, by a status that says so, and takes no memory.
func TestHostileSpans(t *testing.T) {
	const proto = "application/x-protobuf"
	r := receive(t)
	deep := []byte{}
	for range 40 {
		deep = append([]byte{5<<3 | 2}, prefixed(append([]byte{1<<3 | 2}, prefixed(deep)...))...)
	}
	deep = append([]byte{2<<3 | 2}, prefixed(deep)...) // a value of an attribute
	for _, n := range []byte{9, 2, 2, 1} {             // of a span, of a scope, of a resource, of a request
		deep = append([]byte{n<<3 | 2}, prefixed(deep)...)
	}
	for name, test := range map[string]struct {
		path, kind, encoding string
		body                 []byte
		status               int
		says                 string
	}{
		"another path":             {"/v1/spans", proto, "", nil, 404, "not found"},
		"another token":            {"x/v1/traces", proto, "", nil, 404, "not found"},
		"another type":             {"/v1/traces", "text/plain", "", nil, 415, "application/x-protobuf"},
		"another encoding":         {"/v1/traces", proto, "br", nil, 415, "gzip"},
		"metrics":                  {"/v1/metrics", proto, "", []byte("?"), 200, ""},
		"logs":                     {"/v1/logs", "application/json", "", []byte("{}"), 200, "{}"},
		"no protobuf":              {"/v1/traces", proto, "", []byte("hello"), 400, "not protobuf"},
		"a length too long":        {"/v1/traces", proto, "", []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 400, "not protobuf"},
		"no JSON":                  {"/v1/traces", "application/json", "", []byte(`{"resourceSpans":[`), 400, "not JSON"},
		"another JSON":             {"/v1/traces", "application/json", "", []byte(`{"resourceSpans":{"scopeSpans":7}}`), 200, "{}"},
		"no gzip":                  {"/v1/traces", proto, "gzip", []byte("hello, hello"), 400, "gzip"},
		"50 MB":                    {"/v1/traces", proto, "", make([]byte, 50<<20), 413, ""},
		"a gzip bomb":              {"/v1/traces", proto, "gzip", zipped(t, io.LimitReader(zeros{}, 100<<20)), 413, "too large"},
		"endless attributes":       {"/v1/traces", proto, "", bytes.Repeat([]byte{0x0a, 0}, bodyMost/2-1), 413, "too many parts"},
		"endless JSON":             {"/v1/traces", "application/json", "", []byte(`{"resourceSpans":[` + strings.Repeat("{},", bodyMost/3-20) + `{}]}`), 413, "too many parts"},
		"values within each other": {"/v1/traces", proto, "", deep, 413, "too deep"},
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, reply := r.post(t, test.path, test.kind, test.encoding, test.body)
		runtime.ReadMemStats(&after)
		if status != test.status && (status != 0 || test.status != 413) || !strings.Contains(reply, test.says) && status != 0 {
			t.Errorf("%s: %d %s", name, status, reply)
		}
		if took := int64(after.HeapSys) - int64(before.HeapSys); took > 96<<20 {
			t.Errorf("%s takes %d MiB of memory", name, took>>20)
		}
	}
	res, err := http.Get(r.Endpoint() + "/v1/traces")
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", res.Status)
	}
	if got := r.frames(t); len(got) != 0 {
		t.Errorf("frames: %v", got)
	}
}

func prefixed(b []byte) []byte { return appendField(nil, 0, reflect.ValueOf(string(b)), true)[1:] }

// Of a flood only so many spans are kept, of each only so much, and the rest is counted.
func TestFloodOfSpans(t *testing.T) {
	r := receive(t)
	var spans []*Span
	for i := range spansMost + 500 {
		s := r.span(SpanID{1, byte(i >> 8), byte(i)}, r.round[0], "n")
		for n := 0; i < 4 && n < 200; n++ {
			s.Name, s.Attributes = strings.Repeat("n", 10_000), append(s.Attributes, Attribute{fmt.Sprint(n), Value{Text: pointer(strings.Repeat("v", 6000))}})
		}
		spans = append(spans, s)
	}
	status, reply := r.post(t, "/v1/traces", "application/json", "", func() []byte { raw, _ := json.Marshal(batchOf(spans...)); return raw }())
	if status != 413 { // 4 MB of attributes
		t.Errorf("%d %s", status, reply)
	}
	for _, s := range spans[:4] {
		s.Attributes = s.Attributes[:100]
	}
	status, reply = r.post(t, "/v1/traces", "application/json", "", func() []byte { raw, _ := json.Marshal(batchOf(spans...)); return raw }())
	if want := `{"partialSuccess":{"rejectedSpans":"500","errorMessage":"the inspector takes no more spans of this call, or in this second"}}`; status != 200 || reply != want {
		t.Errorf("%d %s", status, reply)
	}
	frames := r.frames(t)
	if len(frames) != spansMost {
		t.Errorf("%d frames", len(frames))
	}
	if s := frames[0].Note.Span; !s.Cut || len(s.Name) > nameMost+2 || len(s.Attributes) > attributesMost || len(frames[0].Note.JSON()) > wholeMost+4*valueMost || frames[9].Note.Span.Cut {
		t.Errorf("a name of %d, %d attributes, %d bytes", len(s.Name), len(s.Attributes), len(frames[0].Note.JSON()))
	}
	foreign := r.span(SpanID{7}, SpanID{}, "n")
	foreign.TraceID = TraceID{1}
	began := time.Now()
	for range 20 {
		all := make([]*Span, 5000)
		for i := range all {
			all[i] = foreign
		}
		r.post(t, "/v1/traces", "application/x-protobuf", "gzip", zipped(t, bytes.NewReader(appendMessage(nil, reflect.ValueOf(batchOf(all...))))))
	}
	t.Logf("100,000 foreign spans took %v", time.Since(began))
	if len(r.frames(t)) != spansMost {
		t.Error("foreign spans are kept")
	}
	r.Close()
	for _, want := range []string{"traces: 500 spans above the bounds were left out", "traces: 100\u202f000 spans of other traces were left out"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("it says %q, want %q", r, want)
		}
	}
}

// Late waits for the span of the latest request, and not for servers that send none. What comes later is counted.
func TestLateSpans(t *testing.T) {
	r := receive(t)
	send := func(s *Span) {
		r.post(t, "/v1/traces", "application/x-protobuf", "", appendMessage(nil, reflect.ValueOf(batchOf(s))))
	}
	send(r.span(SpanID{1}, r.round[0], "first"))
	waited := make(chan struct{})
	go func() { defer close(waited); r.Late(r.log) }()
	send(r.span(SpanID{2}, r.round[1], "second"))
	<-waited
	send(r.span(SpanID{3}, r.round[1], "late"))
	if got := len(r.frames(t)); got != 2 {
		t.Errorf("%d frames", got)
	}
	r.Close()
	if want := "traces: 1 span that came after the session was left out"; r.String() != want {
		t.Errorf("it says %q, want %q", r, want)
	}
}

// A token that an address could not have is refused.
func TestTokens(t *testing.T) {
	for token, ok := range map[string]bool{"mine": true, "a-b_c.1": true, "": false, "..": false, "a/b": false, "x?y": false, "x%2Fy": false, "v1/traces": false, "ä": false} {
		r, err := NewReceiver("127.0.0.1:0/"+token, func(string) {})
		if (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		}
		if err == nil {
			r.Close()
		}
	}
}
