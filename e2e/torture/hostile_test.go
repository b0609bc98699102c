package torture

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// TestHostileServers runs a good server beside hostile ones. After each attack the good
// server asks a question, gets its answer, and the page still responds.
func TestHostileServers(t *testing.T) {
	g := begin(t, "hostile servers", 300, 0.2)
	good, rude := servers.NewRude(t, nil), servers.NewRude(t, nil, "-noise", "-grandchild", "-stubborn")
	config := &configuration{}
	config.command("good", good.Command)
	config.command("rude", rude.Command)
	config.command("torrent", []string{torrentBinary})
	config.command("babbler", []string{"yes", `{"jsonrpc":"2.0","method":"y"}`})
	config.command("mute", []string{"sleep", "3600"})
	config.command("dead", []string{servers.RudeBinary, "-die"})
	for _, w := range webServers {
		web := httptest.NewServer(readFirst(w.answer))
		t.Cleanup(web.Close)
		t.Cleanup(web.CloseClientConnections) // some responses have no end
		config.url(w.name, web.URL+"/mcp")
	}
	p := inspector.Start(t, "--config", config.write(t))
	if err := until("the good server's tools are listed", func() bool {
		page, err := get(p, "/?server=s1&kind=tool&key=ask")
		return err == nil && strings.Contains(page, `data-server="s1" data-kind="tool" data-key="ask"`) // other servers have a tool with this name, too
	}); err != nil {
		t.Fatal(err)
	}
	var order []attack
	for g.more() {
		if len(order) == 0 {
			order = attacks(p, rude, config.names)
			g.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		a := order[0]
		order = order[1:]
		a.do()
		g.judge(a.name, askedMeanwhile(p, good, g.begun))
	}
	p.Stop() // fails unless the process ends in order and leaves nothing behind
}

// askedMeanwhile makes the good server ask its n-th question, and answers it.
func askedMeanwhile(p *inspector.Process, good *servers.Rude, n int) error {
	if err := call(p, "s1", "ask", "{}"); err != nil {
		return err
	}
	number := 0
	if err := until("the good server's question is there", func() bool {
		lines, err := get(p, "/wire.jsonl?filter="+url.QueryEscape("server:good method:elicitation/create"))
		if err != nil {
			return false
		}
		asked, _, err := readLines(strings.NewReader(lines))
		asked = slices.DeleteFunc(asked, func(l line) bool { return l.Direction != "s2c" })
		if err != nil || len(asked) < n {
			return false
		}
		number = asked[n-1].Elicitation
		return number > 0
	}); err != nil {
		return err
	}
	content := fmt.Sprintf(`{"signer":"Ada the %dth"}`, n)
	answer := url.Values{"action": {"accept"}, "tab": {"json"}, "content": {content}}
	if err := post(p, fmt.Sprintf("/questions/%d/answer", number), answer); err != nil {
		return err
	}
	if err := until("the good server has the answer", func() bool {
		return slices.ContainsFunc(good.Received(), func(line string) bool { return strings.Contains(line, content) })
	}); err != nil {
		return err
	}
	_, err := get(p, "/")
	return err
}

// attack is one action of a hostile server.
type attack struct {
	name string
	do   func()
}

// attacks returns all attacks. An attack by a server that has ended does nothing, until
// another attack reconnects the server.
func attacks(p *inspector.Process, rude *servers.Rude, names []string) []attack {
	var all []attack
	add := func(name string, do func()) { all = append(all, attack{name, do}) }
	id := func(name string) string { return fmt.Sprintf("s%d", slices.Index(names, name)+1) }
	for _, tool := range []string{"hostile", "large", "parts", "is_error", "rpc_error", "ask_three", "wait", "progress"} {
		add("rude's tool "+tool, func() { _ = call(p, id("rude"), tool, "{}") })
	}
	for name, line := range evilLines {
		add("rude writes "+name, func() { rude.Try("write", line()) })
	}
	add("rude's standard error is binary", func() { rude.Try("stderr", strings.Repeat("\x00\xff\x1b[2J", 100_000)) })
	add("rude changes its list", func() { rude.Try("change", "") })
	add("rude cancels", func() { rude.Try("cancel", "") })
	add("rude exits", func() { rude.Try("exit?code=3", "") })
	add("torrent floods", func() { _ = call(p, id("torrent"), "send", `{"messages":20000}`) })
	add("torrent sends a huge message", func() { _ = call(p, id("torrent"), "huge", `{"bytes":20000000,"as":"message"}`) })
	add("torrent sends a huge result", func() { _ = call(p, id("torrent"), "huge", `{"bytes":20000000,"as":"result"}`) })
	for _, name := range names[1:] {
		add(name+" is connected anew", func() { _ = post(p, "/servers/"+id(name)+"/reconnect", nil) })
	}
	add("babbler is disconnected", func() { _ = post(p, "/servers/"+id("babbler")+"/disconnect", nil) })
	slices.SortFunc(all, func(a, b attack) int { return strings.Compare(a.name, b.name) }) // a fixed order, so that a seed repeats a run
	return all
}

// constant returns a function that always returns the same line.
func constant(line string) func() string { return func() string { return line } }

// evilLines are invalid or harmful lines for a server's standard output.
var evilLines = map[string]func() string{
	"a question without params":         constant(`{"jsonrpc":"2.0","id":"e1","method":"elicitation/create"}`),
	"a question with params null":       constant(`{"jsonrpc":"2.0","id":"e2","method":"elicitation/create","params":null}`),
	"a question with params that are 1": constant(`{"jsonrpc":"2.0","id":"e3","method":"elicitation/create","params":1}`),
	"a question with id null":           constant(`{"jsonrpc":"2.0","id":null,"method":"elicitation/create","params":{}}`),
	"a completion without params":       constant(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`),
	"a cancellation without params":     constant(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`),
	"progress of nothing":               constant(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}`),
	"an answer to nothing":              constant(`{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}`),
	"input requests that are null":      constant(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":null}}}`),
	"a result and an error":             constant(`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":"x"}}`),
	"a batch":                           constant(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
	"a method twice":                    constant(`{"jsonrpc":"2.0","id":7,"method":"ping","method":"elicitation/create","params":{}}`),
	"bytes that are no UTF-8":           constant("{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\x00\"}"),
	"requests that nobody offers":       constant(`{"jsonrpc":"2.0","id":"e4","method":"sampling/createMessage","params":{}}`),
	"a schema that refers to itself":    constant(`{"jsonrpc":"2.0","id":"e5","method":"elicitation/create","params":{"message":"x","requestedSchema":{"$ref":"#","type":"object","properties":{"a":{"$ref":"#"}}}}}`),
	"a schema elsewhere":                constant(`{"jsonrpc":"2.0","id":"e6","method":"elicitation/create","params":{"message":"x","requestedSchema":{"$ref":"http://127.0.0.1:9/schema.json","type":"object","properties":{}}}}`),
	"a pattern without end":             constant(`{"jsonrpc":"2.0","id":"e7","method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$","default":"` + strings.Repeat("a", 60) + `!"}}}}}`),
	"a URL that runs":                   constant(`{"jsonrpc":"2.0","id":"e8","method":"elicitation/create","params":{"mode":"url","message":"x","url":"javascript:alert(1)","elicitationId":"e8"}}`),
	"deep nesting": func() string {
		return `{"jsonrpc":"2.0","method":"x","params":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + `}`
	},
	"a schema that is deeply nested": func() string {
		return `{"jsonrpc":"2.0","id":"e9","method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{"a":` +
			strings.Repeat(`{"type":"object","properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000) + `}}}}`
	},
	"a long message to read": func() string {
		return `{"jsonrpc":"2.0","id":"e10","method":"elicitation/create","params":{"message":"` + strings.Repeat("lorem ipsum ", 100_000) + `","requestedSchema":{"type":"object","properties":{}}}}`
	},
	"a flood of questions": func() string {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":"flood-%d","method":"elicitation/create","params":{"message":"Again?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`+"\n", i)
		}
		return b.String()
	},
	"the same question many times": func() string {
		return strings.Repeat(`{"jsonrpc":"2.0","id":"same","method":"elicitation/create","params":{"message":"Again?","requestedSchema":{"type":"object","properties":{}}}}`+"\n", 200)
	},
}

// webServers are hostile servers over HTTP. Their responses are the attacks, so each
// connection is one.
var webServers = []struct {
	name   string
	answer http.HandlerFunc
}{
	{"failing", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "<script>alert(1)</script>", 500) }},
	{"page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>Sign in</body></html>")
	}},
	{"circle", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	}},
	{"elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:9/mcp", http.StatusPermanentRedirect)
	}},
	{"silent", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
	{"hangs up", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }},
	{"cut off", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		fmt.Fprint(w, `{"jsonrpc":"2.0",`)
	}},
	{"endless stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, ": \x00 a comment\nid: 1\nretry: 0\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n"); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond) // a faster stream would take all processor time
		}
	}},
	{"bomb", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.CopyN(z, zeros{}, 200<<20) // the inspector may close the connection
		_ = z.Close()
	}},
	{"wants a key", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://127.0.0.1:9/<script>", error="`+strings.Repeat("x", 100_000)+`"`)
		w.WriteHeader(http.StatusUnauthorized)
	}},
	{"other types", scripted(`{"protocolVersion":1,"capabilities":[],"serverInfo":"x"}`, `{}`)},
	{"list without end", scripted(handshake, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"again"}`)},
	{"list of nothing", scripted(handshake, `{"tools":[null,1,"x",{},{"name":{}},{"name":"","inputSchema":[]}]}`)},
	{"long list", scripted(handshake, `{"tools":[`+strings.Repeat(`{"name":"tool","inputSchema":{"type":"object"}},`, 20_000)+`{"name":"tool","inputSchema":{"type":"object"}}]}`)},
}

const handshake = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hostile","version":"1"}}`

// scripted answers initialize with one result, and every other request with another.
func scripted(initialize, list string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		member := `"result":` + list
		switch m.Method {
		case "initialize":
			member = `"result":` + initialize
		case "server/discover":
			member = `"error":{"code":-32601,"message":"no such method"}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member)
	}
}

// readFirst reads the request's body before next runs. Only then does net/http notice
// that the inspector closes the connection.
func readFirst(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next(w, r)
	})
}

// zeros is an endless source of zero bytes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// configuration collects the servers of an mcp.json.
type configuration struct {
	names   []string
	entries []string
}

func (c *configuration) command(name string, command []string) {
	c.add(name, map[string]any{"command": command[0], "args": command[1:]})
}

func (c *configuration) url(name, address string) { c.add(name, map[string]any{"url": address}) }

func (c *configuration) add(name string, entry any) {
	raw, err := json.Marshal(map[string]any{name: entry})
	if err != nil {
		panic(err) // strings always encode
	}
	c.names = append(c.names, name)
	c.entries = append(c.entries, string(raw[1:len(raw)-1]))
}

func (c *configuration) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":{`+strings.Join(c.entries, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
