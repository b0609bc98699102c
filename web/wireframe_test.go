package web

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

func (s logServer) frame(seq int64, what string, query ...string) (*http.Response, string) {
	s.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	r := s.ask(http.MethodGet, fmt.Sprintf("/wire/frames/%d%s", seq, what), values, nil)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r, string(body)
}

func TestFrameBytes(t *testing.T) {
	s := newLogServer(t, wire.Options{MaxFrame: 100})
	for raw, want := range map[string]struct{ kind, name string }{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}  `: {"application/json", "json"},
		"\x1b[31mnoise\u202e":                        {"text/plain; charset=utf-8", "txt"},
		"\xff\xfe":                                   {"application/octet-stream", "bin"},
		strings.Repeat("x", 200):                     {"text/plain; charset=utf-8", "txt"},
	} {
		seq := s.in(raw)
		r, body := s.frame(seq, "/raw")
		if body != raw[:min(100, len(raw))] || r.Header.Get("Content-Type") != want.kind || !regexp.MustCompile(fmt.Sprintf(`^attachment; filename="frame-%d-.*[0-9]{4}-[0-9]{2}-[0-9]{2}\.%s"$`, seq, want.name)).MatchString(r.Header.Get("Content-Disposition")) {
			t.Errorf("%q is saved as %q, %v", raw, body, r.Header)
		}
		if _, body := s.frame(seq, "/copy/raw"); body != raw[:min(100, len(raw))] {
			t.Errorf("%q is copied as %q", raw, body)
		}
	}
	for _, path := range []string{"/wire/frames/99", "/wire/frames/0", "/wire/frames/x", "/wire/frames/99/raw", "/wire/frames/1/copy/other", "/wire/frames/99/nodes"} {
		if r := s.ask(http.MethodGet, path, nil, nil); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

func TestFrameDetail(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(1)
	first := s.log.Append(wire.Frame{Session: "w", Server: "web", Transport: "http", Dir: wire.ClientToServer, Stream: wire.StreamPost, Call: 9,
		Header: http.Header{"Authorization": {"Bearer secret"}, "Accept": {"*/*"}}, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book"}}`)}).Seq
	second := s.log.Append(wire.Frame{Session: "w", Server: "web", Transport: "http", Dir: wire.ClientToServer, Stream: wire.StreamPost, Call: 9, Round: 2,
		Raw: []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"book","requestState":"s"}}`)}).Seq
	orphan := s.out(`{"jsonrpc":"2.0","id":"a\"b c","result":{}}`)
	for name, tt := range map[string]struct {
		seq   int64
		query []string
		want  []string
		not   []string
	}{
		"request with its pair":  {1, nil, []string{"#1", "client → files", `data-filter="call:1"`, `data-frame="10"`, ">Pretty<", ">Pair<"}, []string{">Headers<"}},
		"secrets are masked":     {first, nil, []string{"[REDACTED]", "Accept", "Secrets are left out", ">curl<", "POST"}, []string{"Bearer secret"}},
		"a retry":                {second, nil, []string{fmt.Sprintf("Compare with the attempt before, #%d", first), "round 2"}, nil},
		"compared":               {second, []string{"against", fmt.Sprint(first)}, []string{"2 differences", "/params/requestState", "added", "/id", "changed"}, nil},
		"compared the other way": {first, []string{"against", fmt.Sprint(second)}, []string{fmt.Sprintf(`<h3 class="num">#%d</h3>`, second), "2 differences", "/params/requestState", "added"}, []string{"removed"}},
		"with itself":            {first, []string{"against", fmt.Sprint(first)}, nil, []string{"differences"}},
		"with what is not JSON":  {first, []string{"against", "8"}, []string{"They cannot be compared: the first text is not JSON."}, nil},
		"no call":                {orphan, nil, []string{`data-filter="id:&#34;a\&#34;b c&#34; session:files-1"`, "This answers no request that was seen."}, nil},
		"noise":                  {8, nil, []string{"DEBUG: noise"}, []string{">Pretty<", ">Pair<", "Follow this exchange"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := s.frame(tt.seq, "", tt.query...)
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("it lacks %q: %s", want, body)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(body, not) {
					t.Errorf("it has %q", not)
				}
			}
		})
	}
	// The filter line for an exchange selects its frames.
	s.out(`{"jsonrpc":"2.0","id":"x*y","method":"ping"}`)
	s.in(`{"jsonrpc":"2.0","id":"x*y","result":{}}`)
	f, err := s.log.Frame(s.log.Len())
	if err != nil {
		t.Fatal(err)
	}
	if w := s.all("filter", query.ExchangeOf(f)); w.total != 2 {
		t.Errorf("%s picks %v", query.ExchangeOf(f), w.seqs)
	}
}

// The copied command sends the same bytes through a real shell and a real curl. It
// contains secrets only if they are requested.
func TestCurl(t *testing.T) {
	const raw = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"it's $HOME \"x\" \\ ` + "`id`" + `","password":"pw"}}`
	type seen struct {
		body          string
		authorization string
		accept        string
		uri           string
	}
	got := make(chan seen, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- seen{string(body), r.Header.Get("Authorization"), r.Header.Get("Accept"), r.URL.RequestURI()}
	}))
	defer web.Close()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := inspection.New(inspection.Config{Log: log, Targets: []target.Spec{{Name: "web", URL: web.URL, Transport: target.TransportHTTP}}})
	redaction, err := redact.New("password")
	if err != nil {
		t.Fatal(err)
	}
	s := logServer{New(Config{Inspection: in, Redaction: redaction}), t, log}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	seq := log.Append(wire.Frame{Session: "w", Server: "web", Transport: "http", Dir: wire.ClientToServer, Stream: wire.StreamPost,
		HTTPMethod: "POST", URL: web.URL + "/mcp?a=1&b='2'",
		Header: http.Header{"Authorization": {"Bearer it's me"}, "Accept": {"application/json, text/event-stream"}, "Host": {strings.TrimPrefix(web.URL, "http://")}, "Content-Length": {"5"}, "Accept-Encoding": {"gzip"}},
		Raw:    []byte(raw)}).Seq
	for secrets, want := range map[string]seen{
		"":  {strings.Replace(raw, `"pw"`, `"[REDACTED]"`, 1), "[REDACTED]", "application/json, text/event-stream", "/mcp?a=[REDACTED]&b=[REDACTED]"},
		"1": {raw, "Bearer it's me", "application/json, text/event-stream", "/mcp?a=1&b='2'"},
	} {
		_, command := s.frame(seq, "/copy/curl", "secrets", secrets)
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("there is no curl")
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, command)
		}
		if is := <-got; is != want {
			t.Errorf("secrets %q: sent was\n%+v\nnot\n%+v\n%s", secrets, is, want, command)
		}
	}
	if _, line := s.frame(seq, "/copy/line"); strings.Contains(line, "it's me") || strings.Contains(line, `"pw"`) || !strings.HasSuffix(line, "}}}\n") {
		t.Errorf("the line is %s", line)
	}
	if _, pretty := s.frame(seq, "/copy/pretty"); !strings.Contains(pretty, "\n    \"password\": \"pw\"\n") {
		t.Errorf("pretty it is %s", pretty)
	}
	if _, detail := s.frame(seq, ""); !strings.Contains(detail, "<dt>POST</dt>") || !strings.Contains(detail, "/mcp?a=[REDACTED]&amp;b=[REDACTED]") || strings.Contains(detail, "&#39;2&#39;") {
		t.Errorf("the detail does not say where it went, or too much: %s", detail)
	}
	answer := log.Append(wire.Frame{Session: "w", Server: "web", Transport: "http", Dir: wire.ServerToClient, Stream: wire.StreamPost, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)}).Seq
	if r, body := s.frame(answer, "/copy/curl"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("an answer as a command: %s %s", r.Status, body)
	}
}

func TestLadder(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(2)
	r, body := s.frame(16, "/ladder")
	if r.StatusCode != http.StatusOK || !strings.Contains(body, "<svg") || !strings.Contains(body, `href="/?frame=16"`) || !strings.Contains(body, "/wire/frames/16/ladder?as=svg") || !strings.Contains(body, `data-filter="call:2"`) {
		t.Errorf("%s: %s", r.Status, body)
	}
	if strings.Contains(body, "<style") || strings.Contains(body, " style=") {
		t.Error("it has styles, which the page forbids")
	}
	if r, body := s.frame(16, "/ladder", "as", "svg"); !strings.HasPrefix(r.Header.Get("Content-Type"), "image/svg+xml") || !strings.Contains(r.Header.Get("Content-Disposition"), ".svg") || !strings.Contains(body, "<style") {
		t.Errorf("as a file: %v", r.Header)
	}
	if _, body := s.frame(16, "/ladder", "as", "mermaid"); !strings.HasPrefix(body, "sequenceDiagram") && !strings.Contains(body, "\nsequenceDiagram") {
		t.Errorf("as Mermaid: %s", body)
	}
	if r, _ := s.frame(16, "/ladder", "as", "png"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("as what there is not: %s", r.Status)
	}
	if r := s.ask(http.MethodGet, "/calls/9/ladder", nil, nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("of a call that there is not: %s", r.Status)
	}
	if style := s.text("/static/ladder.css", nil); !strings.Contains(style, ".ladder") {
		t.Errorf("the style is %q", style)
	}
}

// TestCopyForms checks each form of copying with frames of every kind.
func TestCopyForms(t *testing.T) {
	s := newLogServer(t, wire.Options{MaxFrame: copyMost + 10})
	redaction, err := redact.New("pin")
	if err != nil {
		t.Fatal(err)
	}
	s.Server = New(Config{Inspection: s.Server.in, Redaction: redaction})
	spaced := "{\"jsonrpc\":\"2.0\", \"id\":1e0,\n\"result\":{\"pin\":1.50, \"b\":[]}}"
	question := s.in(spaced)
	noise := s.in("Bj\xf6rn\u202e")
	large := s.in(strings.Repeat("x", copyMost+1))
	for name, tt := range map[string]struct {
		seq    int64
		form   string
		query  []string
		status int
		want   string // the whole answer, or its end after …
	}{
		"raw is raw":                {question, "raw", nil, http.StatusOK, spaced},
		"raw noise":                 {noise, "raw", nil, http.StatusOK, "Bj\xf6rn\u202e"},
		"pretty keeps the digits":   {question, "pretty", nil, http.StatusOK, "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1e0,\n  \"result\": {\n    \"pin\": 1.50,\n    \"b\": []\n  }\n}"},
		"a line without secrets":    {question, "line", nil, http.StatusOK, `…"redacted":true,"bytes":"` + base64.StdEncoding.EncodeToString([]byte(strings.Replace(spaced, "1.50", `"[REDACTED]"`, 1))) + `","raw":{"jsonrpc":"2.0","id":1e0,"result":{"pin":"[REDACTED]","b":[]}}}` + "\n"},
		"a line with secrets":       {question, "line", []string{"secrets", "1"}, http.StatusOK, `…"raw":{"jsonrpc":"2.0","id":1e0,"result":{"pin":1.50,"b":[]}}}` + "\n"},
		"a line of noise":           {noise, "line", nil, http.StatusOK, `…"bytes":"Qmr2cm7igK4=","text":"Bj` + "\uFFFDrn\u202e" + `"}` + "\n"},
		"no command of an answer":   {question, "curl", nil, http.StatusBadRequest, "…was not sent over HTTP."},
		"too large to be copied":    {large, "raw", nil, http.StatusRequestEntityTooLarge, "…Save it instead."},
		"a form that there is not":  {question, "yaml", nil, http.StatusNotFound, "…"},
		"a frame that there is not": {large + 1, "raw", nil, http.StatusNotFound, "…"},
	} {
		r, body := s.frame(tt.seq, "/copy/"+tt.form, tt.query...)
		end, part := strings.CutPrefix(tt.want, "…")
		if r.StatusCode != tt.status || !part && body != tt.want || part && !strings.HasSuffix(strings.TrimRight(body, "\n"), strings.TrimRight(end, "\n")) {
			t.Errorf("%s: %d %q", name, r.StatusCode, body[:min(len(body), 500)])
		}
		if kind := r.Header.Get("Content-Type"); tt.status == http.StatusOK && kind != "text/plain; charset=UTF-8" {
			t.Errorf("%s: %s", name, kind)
		}
	}
}
