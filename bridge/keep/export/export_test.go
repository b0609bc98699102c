package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

func logOfTalk(t *testing.T, name string) *wire.Log {
	t.Helper()
	text, err := os.ReadFile("../../meaning/conversation/testdata/talks/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return logtest.New(t, logtest.Talk(t, string(text))...)
}

func TestExportsGolden(t *testing.T) {
	for _, name := range []string{"form", "rounds", "required", "cancelled"} {
		x := Document{Log: logOfTalk(t, name)}
		for _, f := range []*DocumentFormat{Markdown, Mermaid} {
			logtest.Golden(t, "testdata/exports/"+name+f.Ending, []byte(write(t, x, f)))
		}
	}
	logtest.Golden(t, "testdata/exports/form.html", []byte(write(t, Document{Log: logOfTalk(t, "form")}, HTML)))
}

// Each format is found by its name, and by the ending of a file that is its own.
func TestFormats(t *testing.T) {
	for _, f := range Documents {
		if got, err := Documents.Named(f.Name); err != nil || got != f {
			t.Errorf("%s: %v, %v", f, got, err)
		}
		if got := Documents.Of("flow" + f.Ending); got != f {
			t.Errorf("%s is of %v", f.Ending, got)
		}
		if f.Title == "" || f.For == "" || f.Media == "" {
			t.Errorf("%+v lacks what people read", f)
		}
	}
	if _, err := Documents.Named("xml"); err == nil || err.Error() != `must be html, markdown, jsonl, json, har, mermaid or otlp, not "xml"` {
		t.Errorf("xml: %v", err)
	}
	if got := Documents.Of("flow.xml"); got != nil {
		t.Errorf(".xml is of %s", got)
	}
}

// A written transcript is read back unchanged.
func TestJSONLAndJSON(t *testing.T) {
	l := logtest.New(t, append(logtest.Talk(t, hostileTalk), wire.Frame{
		Dir: wire.ServerToClient, Session: "files-1", Raw: []byte("{\"jsonrpc\":\"2.0\",\n \"id\":9,\"result\":{\"n\":1e3}}"), Time: logtest.Epoch,
	})...)
	lines := write(t, Document{Log: l}, JSONL)
	n := int64(0)
	for _, f := range logtest.Read(t, strings.NewReader(lines)) {
		n++
		want, err := l.Frame(n)
		if err != nil || !bytes.Equal(f.Raw, want.Raw) || f.Kind != want.Kind {
			t.Errorf("frame %d: %q, want %q (%v)", n, f.Raw, want.Raw, err)
		}
	}
	if n != l.Len() {
		t.Errorf("%d frames of %d", n, l.Len())
	}

	array := write(t, Document{Log: l}, JSON)
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(array), &list); err != nil {
		t.Fatal(err)
	}
	// Each element is a line of the transcript, with escapes, and with further members added.
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		if !strings.HasPrefix(string(list[i]), strings.TrimSuffix(wording.Escape(line), "}")) {
			t.Errorf("element %d\n%s\nis not line\n%s", i, list[i], line)
		}
	}
	if got := write(t, Document{Log: logtest.New(t)}, JSON); got != "[]\n" {
		t.Errorf("of nothing: %q", got)
	}
}

// Every format can be written of an empty log, except HAR.
func TestEmpty(t *testing.T) {
	for _, f := range Documents {
		var b bytes.Buffer
		err := Document{Log: logtest.New(t)}.Write(t.Context(), &b, f)
		if f == HAR {
			if !errors.Is(err, errNoHTTP) || b.Len() > 0 {
				t.Errorf("%s: %v, %q", f, err, b.String())
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func seqsIter(seqs ...int64) iter.Seq[int64] { return slices.Values(seqs) }

// Frames that were not chosen and redacted values are in no format.
func TestOnlyWhatIsChosen(t *testing.T) {
	l := logtest.New(t, httpTalk(t, `
+0s c2s post {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"first","arguments":{"password":"hunter2"}}}
+1s s2c post-sse+ {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"unchosen-question","requestedSchema":{"type":"object","properties":{"password":{"type":"string","default":"hunter2"}}}}}
+1s c2s post {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"password":"hunter2"}}}
+1s s2c post-sse {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"chosen-result"}]}}
+1s c2s post {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"unchosen-call"}}
`)...)
	redaction, err := redact.New("password")
	if err != nil {
		t.Fatal(err)
	}
	// In the schema, "password" is a property, whose default is left out.
	x := Document{Log: l, Seqs: seqsIter(1, 4, 4, 99, -1), Redact: redaction, Content: true}
	for _, f := range Documents {
		got := write(t, x, f)
		for _, secret := range []string{"hunter2", "unchosen", "top-secret", "session-secret"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s holds %q", f, secret)
			}
		}
		if !strings.Contains(got, "first") || !strings.Contains(got, "chosen-result") {
			t.Errorf("%s lacks what was chosen:\n%s", f, got)
		}
	}
	all := Document{Log: l, Redact: redaction, Content: true}
	for _, f := range Documents {
		got := write(t, all, f)
		for _, secret := range []string{"hunter2", "top-secret", "session-secret"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s of all holds %q", f, secret)
			}
		}
		if !strings.Contains(got, "unchosen-question") {
			t.Errorf("%s of all lacks the question", f)
		}
	}
	if got := write(t, Document{Log: l, Redact: redact.Nothing()}, HTML); !strings.Contains(got, "hunter2") || !strings.Contains(got, "top-secret") {
		t.Error("without redaction, something is left out")
	}
}

// Calls of which only answers and results are chosen keep their names.
func TestNamesOfWhatIsChosen(t *testing.T) {
	l := logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"ref":"unchosen"}}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which branch?","requestedSchema":{"type":"object","properties":{"unchosen":{"type":"string"}}}}}
+2s c2s {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"branch":"main"}}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"unchosen"}]}}
+1s s2c {"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Who are you?","requestedSchema":{"type":"object","properties":{"unchosen":{"type":"string"}}}}}
+3s c2s {"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}
+1s s2c {"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"message":"unchosen","requestedSchema":{"type":"object","properties":{}}}}
+1s s2c {"jsonrpc":"2.0","id":4,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"unchosen"}}],"maxTokens":1}}
+1s c2s {"jsonrpc":"2.0","id":4,"result":{"role":"assistant","content":{"type":"text","text":"Hello."},"model":"m"}}
`)...)
	x := Document{Log: l, Seqs: seqsIter(3, 6, 9)}
	for _, f := range []*DocumentFormat{Markdown, HTML, Mermaid} {
		got := write(t, x, f)
		if strings.Contains(got, "unchosen") {
			t.Errorf("%s holds what was not chosen:\n%s", f, got)
		}
		want := []string{"deploy", "tools/call", "elicitation/create", "sampling/createMessage"}
		switch f {
		case Markdown:
			want = append(want, "## 1. tools/call `deploy`", "Which branch?", "Who are you?", "Done after 4.00 s", "Frame 2 (not exported), answered by frame 3.", "after 2.00 s", "\"branch\": \"main\"")
		case HTML:
			want = append(want, "Which branch?", "Who are you?", "Frame 2 (not exported)")
			for _, link := range strings.Split(got, `href="#f`)[1:] {
				if seq, _, _ := strings.Cut(link, `"`); !strings.Contains(got, `id="f`+seq+`"`) {
					t.Errorf("a link leads to frame %s, which is not there", seq)
				}
			}
		}
		for _, words := range want {
			if !strings.Contains(got, words) {
				t.Errorf("%s lacks %q:\n%s", f, words, got)
			}
		}
	}
}

// A question with a cancellation and an answer, whose own frame is not chosen.
func TestCancelledQuestionThatIsNotChosen(t *testing.T) {
	l := logtest.New(t, logtest.Talk(t, `
+0s s2c {"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}}
+1s s2c {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"too late"}}
+1s c2s {"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}
`)...)
	for want, seqs := range map[string][]int64{"Withdrawn with `decline` after 1.00 s: `cancelled by the server: too late`": {2, 3}, "Withdrawn with `decline` after 1.00 s: `cancelled by the server`.": {3}, "elicitation/create": {2}} {
		got := write(t, Document{Log: l, Seqs: seqsIter(seqs...)}, Markdown)
		if !strings.Contains(got, want) {
			t.Errorf("%v lacks %q:\n%s", seqs, want, got)
		}
	}
}

// httpTalk is logtest.Talk over HTTP: the third word is the stream, with + if the
// message has the headers of a response.
func httpTalk(t *testing.T, text string) []wire.Frame {
	t.Helper()
	frames := logtest.Talk(t, text)
	for i := range frames {
		f := &frames[i]
		f.Transport, f.Session = "http", "web-1"
		if f.Dir == wire.Meta {
			f.Status = http.StatusOK
			f.Header = http.Header{"Content-Type": {"text/event-stream"}}
			continue
		}
		name, raw, _ := strings.Cut(string(f.Raw), " ")
		stream, begins := strings.CutSuffix(name, "+")
		f.Raw = []byte(raw)
		known := false
		for s := wire.StreamNone; s <= wire.StreamGetSSE; s++ {
			if s.String() == stream {
				f.Stream, known = s, true
			}
		}
		if !known {
			t.Fatalf("%q is no stream", stream)
		}
		switch {
		case f.Dir == wire.ClientToServer:
			f.Header = http.Header{"Host": {"example.com:8080"}, "Authorization": {"Bearer top-secret"}, "Content-Type": {"application/json"}}
		case begins || f.Stream == wire.StreamPost:
			f.Status = http.StatusOK
			f.Header = http.Header{"Content-Type": {"text/event-stream"}, "Mcp-Session-Id": {"session-secret"}}
			if f.Stream == wire.StreamPost {
				f.Header.Set("Content-Type", "application/json")
			}
		default:
			f.Status = http.StatusOK
		}
	}
	return frames
}

// archive is an HTTP Archive as readers parse it. Members that HAR 1.2 requires are
// pointers, so that missing ones are noticed.
type archive struct {
	Log *struct {
		Version *string
		Creator *struct{ Name, Version *string }
		Entries []struct {
			StartedDateTime *string
			Time            *float64
			Request         *struct {
				Method, URL, HTTPVersion *string
				Cookies, QueryString     *[]any
				Headers                  *[]struct{ Name, Value *string }
				PostData                 *struct {
					MimeType, Text *string
					Params         *[]any
				}
				HeadersSize, BodySize *int
			}
			Response *struct {
				Status                               *int
				StatusText, HTTPVersion, RedirectURL *string
				Cookies                              *[]any
				Headers                              *[]struct{ Name, Value *string }
				Content                              *struct {
					Size           *int
					MimeType       *string
					Text, Encoding string
				}
				HeadersSize, BodySize *int
				Comment               string
			}
			Cache    *struct{}
			Timings  *struct{ Send, Wait, Receive *float64 }
			Messages []struct {
				Time                     *float64
				EventName, EventID, Data *string
			} `json:"_eventSourceMessages"`
			Frames []int64 `json:"_frames"`
		}
	}
}

// missing lists the nil pointers in an archive.
func (a *archive) missing() []string {
	var out []string
	want := func(name string, is ...bool) {
		if slices.Contains(is, false) {
			out = append(out, name)
		}
	}
	want("log", a.Log != nil)
	want("creator", a.Log.Version != nil && *a.Log.Version == "1.2", a.Log.Creator != nil, a.Log.Creator.Name != nil, a.Log.Creator.Version != nil)
	for i, e := range a.Log.Entries {
		at := fmt.Sprintf("entry %d: ", i)
		want(at+"entry", e.StartedDateTime != nil, e.Time != nil, e.Request != nil, e.Response != nil, e.Cache != nil, e.Timings != nil)
		_, err := time.Parse(time.RFC3339, *e.StartedDateTime)
		want(at+"startedDateTime", err == nil)
		r := e.Request
		want(at+"request", r.Method != nil, r.URL != nil, r.HTTPVersion != nil, r.Cookies != nil, r.QueryString != nil, r.Headers != nil, r.HeadersSize != nil, r.BodySize != nil)
		u, err := url.Parse(*r.URL)
		want(at+"url", err == nil, u.Host != "", u.Scheme != "")
		if *r.Method == http.MethodPost && len(e.Frames) > 0 {
			want(at+"postData", r.PostData != nil, r.PostData.MimeType != nil, r.PostData.Text != nil, r.PostData.Params != nil)
		}
		s := e.Response
		want(at+"response", s.Status != nil, s.StatusText != nil, s.HTTPVersion != nil, s.RedirectURL != nil, s.Cookies != nil, s.Headers != nil, s.Content != nil, s.HeadersSize != nil, s.BodySize != nil)
		want(at+"content", s.Content.Size != nil, s.Content.MimeType != nil)
		for _, h := range append(*r.Headers, *s.Headers...) {
			want(at+"header", h.Name != nil, h.Value != nil)
		}
		tm := e.Timings
		want(at+"timings", tm.Send != nil, tm.Wait != nil, tm.Receive != nil)
		want(at+"time", *e.Time >= 0, *e.Time == *tm.Send+*tm.Wait+*tm.Receive)
		for _, m := range e.Messages {
			want(at+"message", m.Time != nil, m.EventName != nil, m.EventID != nil, m.Data != nil)
		}
	}
	return out
}

// harMembers are the members of HAR 1.2
// (http://www.softwareishard.com/blog/har-12-spec/) with their exact names. Other
// members must begin with an underscore.
var harMembers = map[string]string{
	"":                                 "log",
	".log":                             "version creator browser pages entries comment",
	".log.creator":                     "name version comment",
	".log.entries":                     "pageref startedDateTime time request response cache timings serverIPAddress connection comment",
	".log.entries.request":             "method url httpVersion cookies headers queryString postData headersSize bodySize comment",
	".log.entries.request.headers":     "name value comment",
	".log.entries.request.queryString": "name value comment",
	".log.entries.request.postData":    "mimeType params text comment",
	".log.entries.response":            "status statusText httpVersion cookies headers content redirectURL headersSize bodySize comment",
	".log.entries.response.headers":    "name value comment",
	".log.entries.response.content":    "size compression mimeType text encoding comment",
	".log.entries.cache":               "beforeRequest afterRequest comment",
	".log.entries.timings":             "blocked dns connect send wait receive ssl comment",
}

// unknownMembers lists the members of a JSON value that are unknown at their place.
func unknownMembers(v any, known map[string]string, at string) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, v := range v {
			out = append(out, unknownMembers(v, known, at)...)
		}
	case map[string]any:
		for name, v := range v {
			if strings.HasPrefix(name, "_") {
				continue
			}
			if !slices.Contains(strings.Fields(known[at]), name) {
				out = append(out, at+"."+name)
			}
			out = append(out, unknownMembers(v, known, at+"."+name)...)
		}
	}
	return out
}

func readArchive(t *testing.T, text string) *archive {
	t.Helper()
	var a archive
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if list := a.missing(); len(list) > 0 {
		t.Fatalf("wrong or missing: %v", list)
	}
	var any any
	if err := json.Unmarshal([]byte(text), &any); err != nil {
		t.Fatal(err)
	}
	for _, name := range unknownMembers(any, harMembers, "") {
		t.Errorf("HAR 1.2 has no member %s", name)
	}
	return &a
}

func TestHAR(t *testing.T) {
	frames := httpTalk(t, `
+0s c2s post {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
+200ms s2c post+ {"jsonrpc":"2.0","id":0,"result":{}}
+0s meta the GET event stream is open
+1s c2s post {"jsonrpc":"2.0","method":"notifications/initialized"}
+0s s2c get-sse+ {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"on GET"}}
+1s c2s post {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
+1s c2s post {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}
+1s s2c post-sse+ {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Of a"}}
+1s c2s post {"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}
+1s s2c post-sse {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
+1s s2c post-sse+ {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
+1s c2s post {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"c"}}
`)
	frames[2].Note = &wire.Note{Kind: wire.NoteStreamOpened}
	l := logtest.New(t, frames...)
	l.Append(wire.Frame{Dir: wire.Meta, Transport: "http", Session: "web-1", Status: 503, Time: logtest.Epoch.Add(time.Hour), HTTPMethod: "POST", Note: &wire.Note{Kind: wire.NoteHTTPStatus, Of: "tools/call"}})
	l.Append(wire.Frame{Dir: wire.Meta, Transport: "http", Session: "web-1", Status: 204, Time: logtest.Epoch.Add(time.Hour), HTTPMethod: "DELETE", Note: &wire.Note{Kind: wire.NoteHTTPStatus, Of: "the session"}})
	l.Append(wire.Frame{Dir: wire.Meta, Transport: "http", Session: "web-1", Status: 200, Time: logtest.Epoch.Add(time.Hour), Raw: []byte("the answer to POST broke off")})
	l.Append(wire.Frame{Dir: wire.ServerToClient, Transport: "stdio", Session: "other", Raw: []byte(`{"jsonrpc":"2.0","method":"elsewhere"}`)})
	text := write(t, Document{Log: l}, HAR)
	a := readArchive(t, text)
	type seen struct {
		method string
		status int
		mime   string
		frames string
		events int
		ms     float64
	}
	var got []seen
	for _, e := range a.Log.Entries {
		got = append(got, seen{*e.Request.Method, *e.Response.Status, *e.Response.Content.MimeType, fmt.Sprint(e.Frames), len(e.Messages), *e.Time})
		if *e.Request.URL != "http://example.com:8080/" {
			t.Errorf("URL %s", *e.Request.URL)
		}
	}
	want := []seen{
		{"POST", 200, "application/json", "[1 2]", 0, 200},
		{"GET", 200, "text/event-stream", "[3 5]", 1, 1000},
		{"POST", 202, "x-unknown", "[4]", 0, 0},
		{"POST", 200, "text/event-stream", "[6 8 10]", 2, 4000},
		{"POST", 200, "text/event-stream", "[7 11]", 1, 4000},
		{"POST", 202, "x-unknown", "[9]", 0, 0},
		{"POST", 503, "x-unknown", "[12 13]", 0, *a.Log.Entries[6].Time},
		{"DELETE", 204, "x-unknown", "[14]", 0, 0},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if body := a.Log.Entries[3].Response.Content.Text; !strings.HasPrefix(body, `data: {"jsonrpc":"2.0","id":"q"`) || !strings.HasSuffix(body, "}\n\n") {
		t.Errorf("the event stream is %q", body)
	}
	if c := a.Log.Entries[6].Response.Comment; !strings.Contains(c, "503") {
		t.Errorf("the comment is %q", c)
	}
	if strings.Contains(text, "top-secret") || strings.Contains(text, "session-secret") || strings.Contains(text, "elsewhere") {
		t.Error("it holds what it should not")
	}
}

// Requests have their recorded URLs, redacted.
func TestHARHasURLs(t *testing.T) {
	frames := httpTalk(t, `
+0s c2s post {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
+200ms s2c post+ {"jsonrpc":"2.0","id":0,"result":{}}
+0s meta the GET event stream is open
+0s s2c get-sse+ {"jsonrpc":"2.0","method":"notifications/message","params":{}}
+1s c2s post {"jsonrpc":"2.0","method":"notifications/initialized"}
`)
	frames[0].HTTPMethod, frames[0].URL = "POST", "https://example.com:8443/a%20b/mcp?tenant=x%26y&flag"
	legacy := slices.Clone(frames)
	for i := range legacy {
		legacy[i].Transport, legacy[i].Session = "sse", "legacy"
	}
	legacy[3].HTTPMethod, legacy[3].URL = "GET", "http://example.com/sse"
	l := logtest.New(t, append(frames, legacy...)...)
	for redaction, query := range map[*redact.Redaction]string{nil: "tenant=[REDACTED]&[REDACTED]", redact.Nothing(): "tenant=x%26y&flag"} {
		a := readArchive(t, write(t, Document{Log: l, Redact: redaction}, HAR))
		var got []string
		for _, e := range a.Log.Entries {
			got = append(got, *e.Request.Method+" "+*e.Request.URL)
		}
		https := "https://example.com:8443/a%20b/mcp?" + query
		want := []string{
			"POST " + https, "GET " + https, "POST " + https,
			"POST " + https, "GET http://example.com/sse", "POST http://example.com:8080/", // with several URLs in a session, none replaces a missing one
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if redaction == nil {
			continue
		}
		if q := fmt.Sprint(*a.Log.Entries[0].Request.QueryString); q != "[map[name:tenant value:x&y] map[name:flag value:]]" {
			t.Errorf("the query is %s", q)
		}
	}
}

// Every frame of a recorded HTTP session occurs once in its archive, and every request
// has the response that answers it.
func TestHAROfRecordings(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		if !strings.HasSuffix(path, "-http.jsonl") {
			continue
		}
		l := logtest.Open(t, path)
		in := make(map[int64]int)
		a := readArchive(t, write(t, Document{Log: l}, HAR))
		for i, e := range a.Log.Entries {
			for _, seq := range e.Frames {
				if before, twice := in[seq]; twice {
					t.Errorf("%s: frame %d is in entries %d and %d", path, seq, before, i)
				}
				in[seq] = i
			}
			if *e.Request.Method == "POST" && *e.Response.Status == 0 {
				if f, err := l.Frame(e.Frames[0]); err != nil || f.Pair != 0 {
					t.Errorf("%s: entry %d has no response, frame %d has", path, i, f.Seq)
				}
			}
		}
		for seq := int64(1); seq <= l.Len(); seq++ {
			f, err := l.Frame(seq)
			if err != nil {
				t.Fatal(err)
			}
			i, ok := in[seq]
			if f.Dir != wire.Meta && !ok {
				t.Errorf("%s: frame %d is missing", path, seq)
			}
			if f.Kind.IsResponse() && f.Dir == wire.ServerToClient && i != in[f.Pair] {
				t.Errorf("%s: frame %d is in entry %d, its request in %d", path, seq, i, in[f.Pair])
			}
		}
	}
}

func TestHARHoldsAnyBytes(t *testing.T) {
	frames := httpTalk(t, "+0s c2s post {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n+1s s2c post+ {\"x\":\"\xff\xfe\"}\n+1s s2c get-sse+ {\"a\":\r\"b\"}")
	frames[0].Header.Del("Host")
	frames[1].Kind = wire.Noise
	a := readArchive(t, write(t, Document{Log: logtest.New(t, frames...)}, HAR))
	if u := *a.Log.Entries[0].Request.URL; u != "http://unknown.invalid/" {
		t.Errorf("URL %s", u)
	}
	found := false
	for _, e := range a.Log.Entries {
		if e.Response.Content.Encoding == "base64" && e.Response.Content.Text == "eyJ4Ijoi//4ifQ==" {
			found = true
		}
		if *e.Request.Method == http.MethodGet && e.Response.Content.Text != "data: {\"a\":\ndata: \"b\"}\n\n" {
			t.Errorf("the event is %q", e.Response.Content.Text)
		}
	}
	if !found {
		t.Errorf("the bytes are not there: %+v", a.Log.Entries)
	}
}

// Text from a server stays text in a Markdown document.
// specification matches the addresses of what findings refer to.
const specification = `https://(modelcontextprotocol\.io/specification|www\.rfc-editor\.org/rfc|json-schema\.org/draft)/[a-z0-9/#.-]*`

func TestHostileMarkdown(t *testing.T) {
	got := write(t, Document{Log: logtest.New(t, logtest.Talk(t, hostileTalk)...), Title: "EVIL`<b>", Version: "v"}, Markdown)
	rest := regexp.MustCompile(`\(`+specification+`\)`).ReplaceAllString(withoutCode(t, got), "")
	for _, bad := range []string{"EVIL", "<", "javascript", "alert", "\u202e", "\x00", "http"} {
		if strings.Contains(rest, bad) {
			t.Errorf("%q stands outside of code:\n%s", bad, rest)
		}
	}
	if strings.Contains(got, "\u202e") || strings.Contains(got, "\x00") {
		t.Error("something that cannot be seen was written as it is")
	}
	if strings.Count(got, "EVIL") < 40 {
		t.Errorf("only %d of what was said is there", strings.Count(got, "EVIL"))
	}
}

// withoutCode removes the code from Markdown: fenced blocks and spans (CommonMark 0.31,
// sections 4.5 and 6.1).
func withoutCode(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	fence := ""
	for l := range strings.Lines(text) {
		ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && strings.TrimSpace(l[len(ticks):]) == "" {
				fence = ""
			}
			continue
		case len(ticks) >= 3:
			fence = ticks
			continue
		}
		for l != "" {
			at := strings.IndexByte(l, '`')
			if at < 0 {
				break
			}
			out.WriteString(l[:at])
			l = l[at:]
			ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
			l = l[len(ticks):]
			// The span ends with as many backticks.
			end := regexp.MustCompile("(^|[^`])" + ticks + "([^`]|$)").FindStringIndex(l)
			if end == nil {
				t.Fatalf("a span does not end: %q", l)
			}
			stop := strings.Index(l[end[0]:], ticks) + end[0]
			l = l[stop+len(ticks):]
		}
		out.WriteString(l)
	}
	if fence != "" {
		t.Error("a block does not end")
	}
	return out.String()
}

// Text from a server stays text in an HTML page, and none of it is lost.
func TestHostileHTML(t *testing.T) {
	l := logtest.New(t, logtest.Talk(t, hostileTalk)...)
	page := write(t, Document{Log: l, Title: "EVIL</title><script>", Version: "v"}, HTML)
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(`html head meta title style body header h1 bdi p ul li b span nav a main section h2 h3 h4 details summary code pre
		figure svg desc line rect path text tspan article div fieldset legend label input textarea i dl dt dd select option output script button ol datalist`)
	var scripts, styles, policies []string
	pres := make(map[string]string) // code by frame
	var walk func(n *html.Node, frame string)
	walk = func(n *html.Node, frame string) {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type == html.TextNode && strings.ContainsRune(n.Data, '\u202e') && !slices.Contains(n.Parent.Attr, html.Attribute{Key: "class", Val: "inv"}) {
			t.Errorf("a hidden character in %q", n.Data)
		}
		if n.Type == html.ElementNode {
			if !slices.Contains(known, n.Data) {
				t.Errorf("an element %s", n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src" || a.Key == "href" && !regexp.MustCompile(`^#(f\d+|findings|notes|exchanges|log)$|^`+specification+`$`).MatchString(a.Val) {
					t.Errorf("an attribute %s=%q", a.Key, a.Val)
				}
				if Visible(a.Val) != a.Val {
					t.Errorf("a hidden character in %s=%q", a.Key, a.Val)
				}
				if a.Key == "id" && n.Data == "details" {
					frame = a.Val
				}
			}
			switch n.Data {
			case "meta":
				if slices.Contains(n.Attr, html.Attribute{Key: "http-equiv", Val: "Content-Security-Policy"}) {
					policies = append(policies, n.Attr[1].Val)
				}
			case "script":
				scripts = append(scripts, textOf(n))
				return
			case "style":
				styles = append(styles, textOf(n))
				return
			case "pre":
				pres[frame] += textOf(n)
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, frame)
		}
	}
	walk(doc, "")
	if !slices.Equal(scripts, []string{reportScript}) {
		t.Errorf("%d scripts", len(scripts))
	}
	if !slices.Equal(styles, []string{PageStyle + reportStyle + LadderStyle}) {
		t.Errorf("%d style sheets", len(styles))
	}
	if want := []string{Policy(styles[0], scripts[0])}; !slices.Equal(policies, want) {
		t.Errorf("the policies are %q, not %q", policies, want)
	}
	for seq := int64(1); seq <= l.Len(); seq++ {
		f, err := l.Frame(seq)
		if err != nil {
			t.Fatal(err)
		}
		// U+0000 and U+FFFE are escapes in this JSON, or drawn as marks.
		if got := pres[fmt.Sprintf("f%d", seq)]; got != string(f.Raw) {
			t.Errorf("frame %d is %q, want %q", seq, got, f.Raw)
		}
	}
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

func TestHostileMermaid(t *testing.T) {
	checkMermaid(t, write(t, Document{Log: logtest.New(t, logtest.Talk(t, hostileTalk)...)}, Mermaid))
}

// A diagram stays within Mermaid's limit.
func TestMermaidIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, `+1ms c2s {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a"}}`+"\n"+`+1ms s2c {"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`+"\n", i, i)
	}
	got := write(t, Document{Log: logtest.New(t, logtest.Talk(t, b.String())...)}, Mermaid)
	if len(got) > 50_000 || !strings.Contains(got, "more left out") {
		t.Errorf("%d characters", len(got))
	}
	checkMermaid(t, got)
}

// Every recording can be written in every format, and the readable formats contain
// every question.
func TestRecordingsInEveryFormat(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		l := logtest.Open(t, path)
		var messages []string
		for _, e := range callsOf(t, l) {
			for _, q := range e.Questions {
				if request, _, err := q.Form(); err == nil {
					messages = append(messages, request.Message)
				}
			}
		}
		for _, f := range Documents {
			if f == HAR && !strings.Contains(path, "http") {
				continue
			}
			got := write(t, Document{Log: l}, f)
			for _, m := range messages {
				want := m
				if f == HTML {
					want = html.EscapeString(m)
				}
				if (f == Markdown || f == HTML) && !strings.Contains(got, want) {
					t.Errorf("%s of %s lacks %q", f, filepath.Base(path), m)
				}
			}
		}
	}
}

// A failing writer makes Write fail.
func TestWriterFails(t *testing.T) {
	l := logtest.Open(t, "../../meaning/conversation/testdata/recorded/2025-11-25-http.jsonl")
	for _, f := range Documents {
		if err := (Document{Log: l}).Write(t.Context(), full{}, f); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
