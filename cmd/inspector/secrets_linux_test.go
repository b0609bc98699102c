// The race detector makes these tests several times slower. Other tests run the same code
// concurrently.

//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Secrets that no output may contain.
const (
	secretPin    = "4711-geheim"
	secretUmlaut = "Größe-4711" // encoded as Base64 in a header
	umlautHeader = "R3LDtsOfZS00NzEx"
	secretKey    = "header-key-9999"
	secretQuery  = "query-key-8888"
	secretOther  = "basic-pass-7777"
)

// unlocking returns a server whose tool has its argument copied into a header, and which repeats
// every secret wherever it can.
func unlocking(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct{ Pin any }
			}
		}
		body, err := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || err != nil || json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := map[string]any{"resultType": "complete"}
		switch m.Method {
		case "server/discover":
			result["supportedVersions"], result["capabilities"] = []string{"2026-07-28"}, map[string]any{"tools": map[string]any{}}
		case "tools/list":
			result["tools"] = json.RawMessage(`[{"name":"unlock","inputSchema":{"type":"object","properties":{"pin":{"type":"string","x-mcp-header":"Pin"}}}}]`)
		case "tools/call":
			pin, _ := m.Params.Arguments.Pin.(string)
			inner, _ := json.Marshal(map[string]string{"seen": pin})
			w.Header().Set("X-Seen", "pin="+url.QueryEscape(pin))
			w.Header().Set("X-Key", r.Header.Get("X-Api-Key"))
			w.Header().Set("Content-Location", r.URL.String())
			text := fmt.Sprintf("opened with %s by %s at %s for %s", pin, r.Header.Get("X-Api-Key"), r.URL, secretOther)
			result["content"] = []map[string]string{{"type": "text", "text": text}, {"type": "text", "text": string(inner)}}
			result["structuredContent"] = map[string]any{"was": pin, pin: true}
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
		_, _ = w.Write(raw)
	}))
	t.Cleanup(s.Close)
	return s
}

// unlock calls the tool and waits for the result.
func (r *running) unlock(pin any) {
	r.Helper()
	content, err := json.Marshal(map[string]any{"pin": pin})
	if err != nil {
		r.Fatal(err)
	}
	r.calls++
	r.ask("POST", "/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"unlock"}, "tab": {"json"}, "content": {string(content)}, "force": {"1"}})
	r.untilAt(fmt.Sprintf("/calls/%d", r.calls), "opened with")
}

// A value that a rule redacts, a header that the person adds, and the key in the URL are in no
// output, wherever the server repeats them.
func TestSecretsStayInWhereverTheyAreRepeated(t *testing.T) {
	t.Parallel()
	server := unlocking(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "f.jsonl")
	file := filepath.Join(dir, "values")
	if err := os.WriteFile(file, []byte("\n"+secretOther+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startInspector(t, "--record", path, "--redact", "pin", "--redact-file", file, "--header", "X-Api-Key: "+secretKey, server.URL+"/mcp?key="+secretQuery)
	r.until(`data-key="unlock"`)
	for _, pin := range []string{secretPin, secretUmlaut, `nine"quo` + "\t" + `es`} {
		r.unlock(pin)
	}
	secrets := []string{secretPin, secretUmlaut, umlautHeader, secretKey, secretQuery, secretOther, `nine\"quo`, `nine\\\"quo`}
	saved := r.ask("GET", "/wire.jsonl", nil)
	holds(t, "/wire.jsonl", saved, secrets)
	last := strings.Count(saved, "\n")
	if last < 8 {
		t.Fatalf("the transcript has only %d lines:\n%s", last, saved)
	}
	curls := 0
	for n := 1; n <= last; n++ {
		for _, form := range []string{"copy/line", "copy/curl", "ladder?as=mermaid", "ladder?as=svg"} {
			out := r.ask("GET", fmt.Sprintf("/wire/frames/%d/%s", n, form), nil)
			holds(t, fmt.Sprintf("frame %d as %s", n, form), out, secrets)
			if strings.HasPrefix(out, "curl ") && strings.Contains(out, "Mcp-Param-Pin: [REDACTED]") {
				curls++
			}
		}
	}
	if curls != 3 {
		t.Errorf("%d of 3 calls are copied as curl with a header that is left out", curls)
	}
	with := r.ask("GET", fmt.Sprintf("/wire/frames/%d/copy/curl?secrets=1", last-1), nil)
	if !strings.Contains(with, secretKey) {
		t.Errorf("curl with secrets is %s", with)
	}
	r.stop()
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "the transcript", string(recorded), secrets)
	if !strings.Contains(string(recorded), `"X-Seen":["pin=[REDACTED]"]`) || !strings.Contains(string(recorded), `"name":"unlock"`) {
		t.Errorf("more or less is left out than should be:\n%s", recorded)
	}
}

// Every export format redacts the values that a rule names, and given values.
func TestExportsLeaveValuesOut(t *testing.T) {
	t.Parallel()
	server := unlocking(t)
	path := filepath.Join(t.TempDir(), "f.jsonl")
	r := startInspector(t, "--record", path, server.URL+"/mcp")
	r.until(`data-key="unlock"`)
	r.unlock(secretPin)
	r.unlock(secretUmlaut)
	r.stop()
	secrets := []string{secretPin, secretUmlaut, umlautHeader, secretOther}
	for _, format := range []string{"jsonl", "json", "har", "markdown", "mermaid", "html"} {
		whole := inspectorRun(t, "export", path, "--format", format)
		found := 0
		for _, s := range secrets {
			if strings.Contains(whole.out, s) {
				found++
			}
		}
		if found == 0 && format != "mermaid" {
			t.Errorf("%s shows no secret even where nothing is to be left out: the test says nothing", format)
		}
		for _, rule := range []string{"pin", "$.params.arguments.pin"} {
			short := inspectorRun(t, "export", path, "--format", format, "--redact", rule, "--redact-value", secretOther)
			holds(t, format+" without "+rule, short.out, secrets)
			if short.err != "" {
				t.Errorf("%s without %s: standard error says %s", format, rule, short.err)
			}
		}
	}
}

// Transcripts of earlier versions are exported without the values in queries, wherever URLs occur.
func TestExportsOfOldTranscripts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), secretQuery+".jsonl")
	if err := os.WriteFile(path, []byte(`{"v":1,"session_id":"a-1","server_label":"a","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"http","stream":"post","http_method":"POST","url":"https://x.example/mcp?key=query-key-8888","headers":{"Referer":["https://x.example/mcp?key=query-key-8888&v=2-2-2"]},"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}}
{"v":1,"session_id":"a-1","server_label":"a","seq":2,"ts":"2026-07-28T10:00:01Z","direction":"meta","transport":"http","status":307,"headers":{"Location":["https://y.example/?code=abc-abc"]},"text":"POST redirected to https://y.example/?code=abc-abc, which is not told"}
{"v":1,"session_id":"a-1","server_label":"a","seq":3,"ts":"2026-07-28T10:00:01.5Z","direction":"meta","transport":"http","call":1,"raw":{"ended":"failed","reason":"HTTP 307 to https://y.example/?code=abc-abc"}}
{"v":1,"session_id":"a-1","server_label":"a","seq":4,"ts":"2026-07-28T10:00:01.7Z","direction":"meta","transport":"sse","text":"the server's message endpoint is /message?sessionId=1-2-3"}
{"v":1,"session_id":"a-1","server_label":"a","seq":5,"ts":"2026-07-28T10:00:02Z","direction":"s2c","transport":"http","stream":"post","status":200,"raw":{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"query-key-8888 is no key"}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"jsonl", "json", "har", "markdown", "mermaid", "html"} {
		got := inspectorRun(t, "export", path, "--format", format)
		holds(t, format, got.out, []string{secretQuery, "abc-abc", "1-2-3", "2-2-2"})
		if got.code != 0 || got.out == "" {
			t.Errorf("%s: %s", format, got.err)
		}
	}
}

// Findings quote servers, and marks have a person's words: neither reveals redacted values of the
// message.
func TestFindingsAndNotesQuoteNoSecrets(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(`{"direction":"c2s","transport":"stdio","session_id":"a","seq":1,"raw":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}}
{"direction":"s2c","transport":"stdio","session_id":"a","seq":2,"raw":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}}
{"direction":"s2c","transport":"stdio","session_id":"a","seq":3,"raw":{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"x","mode":"mode-4711-geheim","requestedSchema":{"type":"object","properties":{"pin":{"type":"string","enum":["a","b"],"default":"x7"},"4711-geheim":{"type":"4711-geheim"}}}}}}
{"direction":"meta","transport":"stdio","session_id":"a","seq":4,"raw":{"mark":{"seq":3,"pinned":true,"note":"it is 4711-geheim"}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := []string{secretPin, "x7"}
	for _, format := range []string{"jsonl", "json", "markdown", "html"} {
		if whole := inspectorRun(t, "export", path, "--format", format); !strings.Contains(whole.out, "it is "+secretPin) {
			t.Errorf("%s has no note", format)
		}
		holds(t, format, inspectorRun(t, "export", path, "--format", format, "--redact", "pin", "--redact-value", secretPin).out, secrets)
	}
	for _, format := range []string{"text", "json", "sarif"} {
		if whole := inspectorRun(t, "lint", path, "--format", format); !strings.Contains(whole.out, secretPin) || !strings.Contains(whole.out, "x7") {
			t.Errorf("nothing that lint prints as %s quotes a secret: the test says nothing", format)
		}
		short := inspectorRun(t, "lint", path, "--format", format, "--redact", "pin", "--redact-value", secretPin)
		holds(t, "lint as "+format, short.out, secrets)
		if !strings.Contains(short.out, "mode-unknown") {
			t.Errorf("lint as %s: %s%s", format, short.out, short.err)
		}
	}
	r := startInspector(t, "open", "--redact", "pin", "--redact-value", secretPin, path)
	r.untilAt("/findings.json", "mode-unknown")
	holds(t, "/findings.json", r.ask("GET", "/findings.json", nil), secrets)
	holds(t, "/wire.jsonl", r.ask("GET", "/wire.jsonl", nil), secrets)
}

// A value too short to be searched for in text stays there, and the frames are named.
func TestShortValuesAreLeftOutWholeAndNamed(t *testing.T) {
	t.Parallel()
	server := unlocking(t)
	path := filepath.Join(t.TempDir(), "f.jsonl")
	r := startInspector(t, "--record", path, "--redact", "pin", server.URL+"/mcp")
	r.until(`data-key="unlock"`)
	r.unlock("7")
	r.until(`a value that &#34;pin&#34; leaves out may also stand inside text`)
	r.stop()
	if said := r.stderr.String(); !strings.Contains(said, `a value that \"pin\" leaves out may also stand inside text`) {
		t.Errorf("the recording's end says %s", said)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Mcp-Param-Pin":["[REDACTED]"]`, `"was":"[REDACTED]"`, "opened with 7 by"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the transcript has no %s:\n%s", want, text)
		}
	}

	// A transcript recorded without the rule is exported with it.
	if err := os.WriteFile(path, []byte(`{"direction":"c2s","transport":"stdio","session_id":"a","raw":{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"x","arguments":{"pin":"12"}}}}
{"direction":"s2c","transport":"stdio","session_id":"a","raw":{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"12 is right, 120 is not"}]}}}
{"direction":"s2c","transport":"stdio","session_id":"a","raw":{"jsonrpc":"2.0","method":"x","params":{"text":"120","whole":"12","secret":"123456"}}}
{"direction":"c2s","transport":"http","session_id":"b","headers":{"Mcp-Param-Pin":["true"],"X":["=?base64?dHJ1ZQ==?="]},"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"pin":true,"sure":true}}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	short := inspectorRun(t, "export", path, "--format", "jsonl", "--redact", "pin")
	if want := `inspector: a value that "pin" leaves out may also stand inside text: it is too short to be left out there` + "\n"; short.err != want {
		t.Errorf("standard error says %q, want %q", short.err, want)
	}
	if !strings.Contains(short.out, `"whole":"[REDACTED]"`) || !strings.Contains(short.out, `"text":"120"`) || strings.Count(short.out, `"id":12,`) != 2 ||
		!strings.Contains(short.out, `"Mcp-Param-Pin":["[REDACTED]"],"X":["[REDACTED]"]`) || !strings.Contains(short.out, `"pin":"[REDACTED]","sure":true`) {
		t.Errorf("the export is\n%s", short.out)
	}
	if bad := inspectorRun(t, "export", path, "--format", "jsonl", "--redact-value", "123"); bad.code != 2 || strings.Contains(bad.err, "123") {
		t.Errorf("a value that is too short: %d, %s", bad.code, bad.err)
	}
}

// A value recorded before it was known to be secret is reported.
func TestValuesRecordedTooEarlyAreNamed(t *testing.T) {
	t.Parallel()
	server := unlocking(t)
	path := filepath.Join(t.TempDir(), "f.jsonl")
	r := startInspector(t, "--record", path, "--redact", "$.result.structuredContent", server.URL+"/mcp")
	r.until(`data-key="unlock"`)
	r.unlock(secretPin) // the request contains it before the result makes it secret
	r.stop()
	said := r.stderr.String()
	if !strings.Contains(said, `a value that \"$.result.structuredContent\" leaves out also stands in frames that were written before it came up`) || strings.Contains(said, secretPin) {
		t.Errorf("standard error says %s", said)
	}
}

// A redirect to another origin gets neither the session id, nor the headers that the person adds,
// nor the redirecting URL.
func TestRedirectsTellOthersNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []http.Header
	answer := func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "session-of-the-first-origin")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"first","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"far","inputSchema":{"type":"object"}}]}}`, m.ID)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
		}
	}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Clone())
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(far.Close)
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(string(body), `"tools/list"`):
			w.Header().Set("Location", far.URL+"/there?code=given-to-the-other")
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			answer(w, r)
		}
	}))
	t.Cleanup(near.Close)
	path := filepath.Join(t.TempDir(), "f.jsonl")
	user := strings.Replace(near.URL, "http://", "http://ann:"+secretOther+"@", 1)
	r := startInspector(t, "--protocol", "2025-11-25", "--record", path, "--header", "X-Api-Key: "+secretKey, user+"/mcp?key="+secretQuery)
	r.until(`data-key="far"`)
	saved := r.ask("GET", "/wire.jsonl", nil)
	r.stop()
	mu.Lock()
	defer mu.Unlock()
	if len(seen) == 0 {
		t.Fatal("nothing was redirected")
	}
	for _, h := range seen {
		for _, name := range []string{"Referer", "Mcp-Session-Id", "X-Api-Key", "Authorization", "Cookie"} {
			if v := h.Get(name); v != "" {
				t.Errorf("the other origin is told %s: %s", name, v)
			}
		}
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{secretQuery, secretKey, secretOther, "given-to-the-other", "session-of-the-first-origin"}
	holds(t, "the transcript", string(recorded), secrets)
	holds(t, "/wire.jsonl", saved, secrets)
	holds(t, "standard error", r.stderr.String(), secrets)
	if !strings.Contains(string(recorded), "redirected to "+far.URL+"/there?code=[REDACTED], which") {
		t.Errorf("the transcript does not say where it was redirected to:\n%s", recorded)
	}
}

// The endpoint of the legacy transport has the session id in its query, and a connection error
// contains the URL.
func TestAddressesAreToldWithoutTheirQueries(t *testing.T) {
	t.Parallel()
	var far string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Location", far)
			w.WriteHeader(http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /message?sessionId=legacy-session-1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	far = "https://login.example/?next=goes-to-the-login"
	secrets := []string{"legacy-session-1", secretQuery, "goes-to-the-login"}
	for _, c := range []struct{ transport, address string }{
		{"sse", server.URL}, {"sse", "http://127.0.0.1:1"}, {"http", server.URL}, {"http", "http://127.0.0.1:1"}, {"auto", server.URL},
	} {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		r := startInspector(t, "--verbose", "--transport", c.transport, "--record", path, c.address+"/sse?key="+secretQuery)
		r.until("failed")
		saved := r.ask("GET", "/wire.jsonl", nil)
		r.stop()
		recorded, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "the transcript", string(recorded), secrets)
		holds(t, "/wire.jsonl", saved, secrets)
		holds(t, "standard error", r.stderr.String(), secrets)
	}
}

// The headers in an mcp.json file are credentials too, whatever their names.
func TestHeadersOfAConfigurationAreLeftOut(t *testing.T) {
	t.Parallel()
	server := unlocking(t)
	dir := t.TempDir()
	config, path := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "f.jsonl")
	text := fmt.Sprintf(`{"mcpServers":{"a":{"url":%q,"headers":{"X-Api-Key":%q,"X-Tenant":"acme","X-On":"true"}}}}`, server.URL+"/mcp", secretKey)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startInspector(t, "--record", path, "--config", config)
	r.until(`data-key="unlock"`)
	r.unlock("x")
	r.stop()
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "the transcript", string(recorded), []string{secretKey, "acme", `"X-On":["true"]`})
	if !strings.Contains(string(recorded), `"X-Key":["[REDACTED]"]`) {
		t.Errorf("what the server repeats is\n%s", recorded)
	}
}

// No file except a transcript is appended to, also on the command line.
func TestOnlyTranscriptsAreContinued(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a program":   "package main\n",
		"JSON":        `{"mcpServers":{}}` + "\n",
		"a history":   "[]\n",
		"binary":      "\x7fELF\x00\x01",
		"a long line": strings.Repeat("x", 3<<20),
		"blank":       "\n\n  \nhello\n",
	} {
		path := filepath.Join(t.TempDir(), "notes")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := inspectorRun(t, "--no-open", "--listen", "127.0.0.1:0", "--record", path)
		after, err := os.ReadFile(path)
		if err != nil || string(after) != text {
			t.Errorf("%s: the file is changed: %v", name, err)
		}
		if got.code != 1 || !strings.Contains(got.err, "not a transcript") {
			t.Errorf("%s: it ends with %d and says %s", name, got.code, got.err)
		}
	}
	for name, text := range map[string]string{
		"empty":                          "",
		"another tool's":                 `{"session_id":"a","seq":1,"direction":"meta","transport":"stdio","raw":{}}` + "\n",
		"one whose first line was cut":   `{"v":1,"session_id":"a","server_l`,
		"one that was continued after":   `{"v":1,"session_id":"a","server_l` + "\n" + `{"direction":"meta","text":"x"}` + "\n",
		"one that was cut at once":       `{"v"`,
		"one that begins with much text": `{"v":1,"session_id":"a","server_label":"` + strings.Repeat("x", 2<<20) + `"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := startInspector(t, "--record", path)
		r.until(`data-key="deploy"`)
		r.stop()
		if after, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(after), text) || len(after) <= len(text)+10 {
			t.Errorf("%s is not continued: %v", name, err)
		}
	}
}

// A replaced file is noticed, and no frame is lost silently.
func TestFileReplacedWhileRecording(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	r := startInspector(t, "--record", path)
	r.until(`data-key="deploy"`)
	other := path + ".new"
	if err := os.WriteFile(other, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	r.until("the file was replaced by another")
	r.call("deploy")
	r.until("Which build should go out?")
	if text, err := os.ReadFile(path); err != nil || string(text) != "something else\n" {
		t.Errorf("the other file has become %q: %v", text, err)
	}
}
