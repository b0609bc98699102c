package mock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/servers/mock"
	"elicitation-inspector/bridge/testdata/logtest"
)

const (
	begins = `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"t","version":"1"}}}
+1ms s2c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"files","title":"Files","version":"1.0.0"},"instructions":"Ask first."}}
+0s c2s {"jsonrpc":"2.0","method":"notifications/initialized"}
+0s c2s {"jsonrpc":"2.0","id":2,"method":"tools/list"}
+1ms s2c {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"clean","inputSchema":{"type":"object"}}]}}
`
	asks = `
+1s c2s {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"clean","arguments":{"folder":"/tmp","pin":"[REDACTED]"}}}
+1ms s2c {"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"days":{"type":"integer","maximum":9}},"required":["days"]}}}
+1s c2s {"jsonrpc":"2.0","id":"a","result":{"action":"accept","content":{"days":3}}}
+1ms s2c {"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"mode":"url","message":"Sign in","elicitationId":"e","url":"https://bank.example/in"}}
+1s c2s {"jsonrpc":"2.0","id":"b","result":{"action":"accept"}}
+1ms s2c {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
+1ms s2c {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Cleaned."}]}}
`
	declines = `
+1s c2s {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"clean","arguments":{"pin":"[REDACTED]","folder":"/tmp"}}}
+1ms s2c {"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"days":{"type":"integer","maximum":9}},"required":["days"]}}}
+1s c2s {"jsonrpc":"2.0","id":"a","result":{"action":"decline"}}
+1ms s2c {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Kept."}],"isError":true}}
`
)

// serve serves a mock of two recordings over HTTP, and returns what posts a request of 2026-07-28 with members of params.
func serve(t testing.TB) (*mock.Server, func(method, params string) string) {
	m, err := mock.New(t.Context(), []mock.Recording{
		{Name: "a.jsonl", Log: logtest.New(t, logtest.Talk(t, begins+asks)...)}, {Name: "d.jsonl", Log: logtest.New(t, logtest.Talk(t, begins+declines)...)},
	}, mock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(m)
	t.Cleanup(func() { s.Close(); m.Close() })
	return m, func(method, params string) string {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,%s}}`, method, params, meta)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		if i := bytes.LastIndex(text, []byte("data: ")); i >= 0 {
			text = text[i+len("data: "):]
		}
		return strings.TrimSpace(string(text))
	}
}

const call = `"name":"clean","arguments":{"folder":"/tmp","pin":"any"}`

func with(state, answers string) string {
	return fmt.Sprintf(`%s,"requestState":%q,"inputResponses":{"question1":%s}`, call, state, answers)
}

// TestRounds serves recordings of 2025-11-25 in 2026-07-28: each state is good for one retry of the same call, and the
// answer chooses the recording.
func TestRounds(t *testing.T) {
	t.Parallel()
	m, post := serve(t)
	ask := func(params string) (state, response string) {
		response = post("tools/call", params)
		return rawjson.Text(rawjson.Member([]byte(response), "result", "requestState")), response
	}
	if got := post("server/discover", `"x":1`); !strings.Contains(got, `"name":"mock of files"`) || !strings.Contains(got, `"title":"mock of Files"`) || !strings.Contains(got, "Ask first.") {
		t.Error(got)
	}
	const accept = `{"action":"accept","content":{"days":3}}`
	first, response := ask(call)
	if first == "" || !strings.Contains(response, `"question1":{"method":"elicitation/create","params":{"message":"Sure?"`) {
		t.Fatal(response)
	}
	second, response := ask(with(first, accept))
	page := rawjson.Text(rawjson.Member([]byte(response), "result", "inputRequests", "question1", "params", "url"))
	if !strings.HasPrefix(page, "http://127.0.0.1:") || !strings.Contains(response, `"_meta":{"elicitation-inspector/mock":{"url":"https://bank.example/in"}}`) || strings.Contains(response, "elicitationId") {
		t.Fatal(response)
	}
	res, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "<code>https://bank.example/in</code>") || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v %s", err, text)
	}
	for _, c := range []struct{ what, params, want string }{
		{"used twice", with(first, accept), "requestState was used before"},
		{"altered", with("A"+second[1:], `{"action":"accept"}`), "requestState is not one that this server gave out"},
		{"of other arguments", strings.Replace(with(second, `{"action":"accept"}`), "any", "other", 1), "requestState is not one that this server gave out"},
		{"the end", with(second, `{"action":"accept"}`), `"text":"Cleaned."`},
	} {
		if _, got := ask(c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.what, got)
		}
	}
	for answer, want := range map[string]string{
		`{"action":"decline"}`:                      `"text":"Kept."`,
		`{"action":"cancel"}`:                       `The recordings have only accept and decline as the answer to \"Sure?\".`,
		`{"action":"accept","content":{"days":10}}`: `does not satisfy the schema`,
		`{"action":"accept","content":{"days":4}}`:  `"question1"`,
	} {
		state, _ := ask(call)
		if _, got := ask(with(state, answer)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", answer, got)
		}
	}
	for params, want := range map[string]string{
		`"name":"clean","arguments":{"folder":"/etc","pin":"any"}`: `the nearest recorded call is call 1 of a.jsonl, in whose arguments /folder was \"/tmp\", and is \"/etc\".`,
		`"name":"cleen","arguments":{}`:                            `This call is in no recording; did you mean \"clean\"?`,
	} {
		if _, got := ask(params); !strings.Contains(got, `"isError":true`) || !strings.Contains(strings.ReplaceAll(got, `\\"`, `\"`), want) {
			t.Errorf("%s: %s", params, got)
		}
	}
	if list := m.Unmatched(); len(list) != 4 {
		t.Errorf("unmatched: %q", list)
	}
}

// TestReads takes other recordings for the calls that follow, and tells of those that it cannot use.
func TestReads(t *testing.T) {
	t.Parallel()
	m, post := serve(t)
	if err := m.Read(t.Context(), []mock.Recording{{Name: "empty.jsonl", Log: logtest.New(t)}}); err == nil || !strings.Contains(err.Error(), "there is no call and no list in the recordings") {
		t.Error(err)
	}
	edited := strings.NewReplacer("Sure?", "Really?").Replace(asks)
	if err := m.Read(t.Context(), []mock.Recording{{Name: "a.jsonl", Log: logtest.New(t, logtest.Talk(t, begins+edited)...)}}); err != nil {
		t.Error(err)
	}
	if got := post("tools/call", call); !strings.Contains(got, "Really?") {
		t.Error(got)
	}
}

// TestManyClients has 200 clients make calls of several rounds at once.
func TestManyClients(t *testing.T) {
	t.Parallel()
	_, post := serve(t)
	var clients sync.WaitGroup
	for range 200 {
		clients.Go(func() {
			state := rawjson.Text(rawjson.Member([]byte(post("tools/call", call)), "result", "requestState"))
			if got := post("tools/call", with(state, `{"action":"decline"}`)); !strings.Contains(got, "Kept.") {
				t.Error(got)
			}
		})
	}
	clients.Wait()
}

// BenchmarkAnswer measures how long a round takes over HTTP.
func BenchmarkAnswer(b *testing.B) {
	_, post := serve(b)
	began := time.Now()
	for b.Loop() {
		post("tools/call", call)
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N)/1000, "ms/answer")
}

// TestLargeSchema serves a question whose schema has 5 MB.
func TestLargeSchema(t *testing.T) {
	t.Parallel()
	names, _ := json.Marshal(strings.Fields(strings.Repeat("abcdefghi ", 500_000)))
	talk := logtest.Talk(t, begins+strings.Replace(asks, `"type":"integer","maximum":9`, `"type":"string","enum":`+string(names), 1))
	m, err := mock.New(t.Context(), []mock.Recording{{Name: "l.jsonl", Log: logtest.New(t, talk...)}}, mock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
}
