package inspection_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
)

// headerTools are tools whose parameters are sent as headers, or must not be.
var headerTools = []struct {
	name   string
	schema string
	args   string
	sent   map[string]string // Mcp-Param headers of a call with args
	wrong  string            // why the tool must not be used
}{
	{name: "plain", schema: `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"other":{"type":"string"}}}`,
		args: `{"region":"us-west1","other":"x"}`, sent: map[string]string{"Mcp-Param-Region": "us-west1"}},
	{name: "nested", schema: `{"type":"object","properties":{"at":{"type":"object","properties":{"city":{"type":"string","x-mcp-header":"City"}}}}}`,
		args: `{"at":{"city":"Köln"}}`, sent: map[string]string{"Mcp-Param-City": "=?base64?S8O2bG4=?="}},
	{name: "beside types that the SDK cannot read", schema: `{"type":"object","properties":{"note":{"type":["string","null"]},"any":true,"urgent":{"type":"boolean","x-mcp-header":"Urgent"}}}`,
		args: `{"note":null,"urgent":false}`, sent: map[string]string{"Mcp-Param-Urgent": "false"}},
	{name: "null", schema: `{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}`, args: `{"n":null}`},
	{name: "no schema", args: `{}`},
	{name: "a parameter called so", schema: `{"type":"object","properties":{"x-mcp-header":{"type":"number"}}}`, args: `{"x-mcp-header":1.5}`},
	{name: "data that only looks so", schema: `{"type":"object","properties":{"d":{"type":"object","default":{"x-mcp-header":""},"enum":[{"x-mcp-header":1}]}}}`, args: `{}`},

	{name: "empty", schema: `{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, wrong: "must be a string that is not empty"},
	{name: "no string", schema: `{"properties":{"a":{"type":"string","x-mcp-header":7}}}`, wrong: "must be a string that is not empty"},
	{name: "space", schema: `{"properties":{"a":{"type":"string","x-mcp-header":"My Region"}}}`, wrong: `"My Region" cannot be part`},
	{name: "line end", schema: `{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nEvil: 1"}}}`, wrong: "cannot be part"},
	{name: "not ASCII", schema: `{"properties":{"a":{"type":"string","x-mcp-header":"Région"}}}`, wrong: "cannot be part"},
	{name: "number", schema: `{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, wrong: "/properties/a/x-mcp-header: only a parameter whose type is string, integer or boolean"},
	{name: "object", schema: `{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, wrong: "only a parameter"},
	{name: "several types", schema: `{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}`, wrong: "only a parameter"},
	{name: "twice", schema: `{"properties":{"a":{"type":"string","x-mcp-header":"My"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"mY"}}}}}`,
		wrong: `/properties/b/properties/c/x-mcp-header: "mY" is also the header of /properties/a`},
	{name: "root", schema: `{"type":"string","x-mcp-header":"A"}`, wrong: `"properties" alone`},
	{name: "items", schema: `{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, wrong: "/properties/a/items/x-mcp-header: it may only stand"},
	{name: "below items", schema: `{"properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}`, wrong: "it may only stand"},
	{name: "oneOf", schema: `{"oneOf":[{},{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, wrong: "/oneOf/1/properties/a/x-mcp-header: it may only stand"},
	{name: "$defs", schema: `{"$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}`, wrong: "/$defs/d/x-mcp-header: it may only stand"},
	{name: "then", schema: `{"if":{},"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, wrong: "it may only stand"},
}

// headerServer offers headerTools in pages of three, with an invalid entry on the first
// page, and stores the headers of calls.
type headerServer struct {
	revision string
	mu       sync.Mutex
	calls    map[string]http.Header // by tool
}

func (s *headerServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m request
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var result string
	switch m.Method {
	case "server/discover":
		result = fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":{"tools":{}}}`, s.revision)
	case "initialize":
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"headers","version":"1"}}`, s.revision)
	case "tools/list":
		result = toolsPage(m.Params)
	case "tools/call":
		s.mu.Lock()
		s.calls[m.tool()] = r.Header.Clone()
		s.mu.Unlock()
		result = `{"content":[]}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func toolsPage(params json.RawMessage) string {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &p)
	var from int
	fmt.Sscan(p.Cursor, &from)
	entries := []string{}
	if from == 0 {
		entries = append(entries, `{"name":7,"inputSchema":{}}`)
	}
	to := min(from+3, len(headerTools))
	for _, tool := range headerTools[from:to] {
		schema := ""
		if tool.schema != "" {
			schema = `,"inputSchema":` + tool.schema
		}
		entries = append(entries, fmt.Sprintf(`{"name":%q%s}`, tool.name, schema))
	}
	next := ""
	if to < len(headerTools) {
		next = fmt.Sprintf(`,"nextCursor":"%d"`, to)
	}
	return fmt.Sprintf(`{"tools":[%s]%s}`, strings.Join(entries, ","), next)
}

func startHeaders(t *testing.T, revision string) (*bench, *headerServer, conversation.Catalog) {
	t.Helper()
	s := &headerServer{revision: revision, calls: map[string]http.Header{}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	b := startInspection(t, inspection.Config{
		Targets:  []target.Spec{{Name: "headers", URL: web.URL, Transport: target.TransportHTTP}},
		Settings: conversation.ClientSettings{Protocol: revision},
	})
	catalog, err := b.in.Catalog("s1")
	if err != nil {
		t.Fatal(err)
	}
	return b, s, catalog
}

// Over HTTP and since 2026-07-28, parameters are sent as headers. A tool that breaks the
// rules for these is left out with the reason, and the others stay.
func TestToolParametersInHeaders(t *testing.T) {
	b, server, offered := startHeaders(t, mcp.Revision20260728)
	problems := strings.Join(offered.Errors, "\n")
	if !strings.Contains(problems, "tools[0]: ") {
		t.Errorf("nothing is said of the entry that is no tool: %s", problems)
	}
	for _, tool := range headerTools {
		t.Run(tool.name, func(t *testing.T) {
			_, err := b.in.Item("s1", conversation.Tool, tool.name)
			if tool.wrong != "" {
				line := ""
				for l := range strings.Lines(problems) {
					if strings.Contains(l, fmt.Sprintf("the tool %q must not be used", tool.name)) {
						line = l
					}
				}
				if err == nil || !strings.Contains(line, tool.wrong) {
					t.Errorf("offered: %v; the reason given: %q, want %q", err == nil, line, tool.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: tool.name, Key: tool.name, Arguments: json.RawMessage(tool.args)})
			if err != nil {
				t.Fatal(err)
			}
			b.until("the result", func() bool {
				now, err := b.in.Call(c.Number)
				return err == nil && now.State.Over()
			})
			server.mu.Lock()
			defer server.mu.Unlock()
			sent := map[string]string{}
			for name, values := range server.calls[tool.name] {
				if strings.HasPrefix(name, "Mcp-Param-") {
					sent[name] = strings.Join(values, ",")
				}
			}
			if !maps.Equal(sent, tool.sent) {
				t.Errorf("sent %v, want %v", sent, tool.sent)
			}
		})
	}
}

// In older revisions there are no such headers, so no tool is invalid.
func TestToolParametersBeforeHeaders(t *testing.T) {
	_, _, catalog := startHeaders(t, mcp.Revision20251125)
	var got, want []string
	for _, item := range catalog.Items {
		got = append(got, item.Key)
	}
	for _, tool := range headerTools {
		want = append(want, tool.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("offered %q, want all", got)
	}
}

// changingServer has one tool, whose parameter becomes a header after its first call. It holds
// the list of its tools back until the channel is closed, and refuses calls without the header.
type changingServer struct {
	hold chan struct{}
	late bool // the parameter is a header only after the first call

	mu   sync.Mutex
	came []string // methods of the requests, and the header of a call
}

func (s *changingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m request
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		http.Error(w, "only requests", http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	called := slices.ContainsFunc(s.came, func(one string) bool { return strings.HasPrefix(one, "tools/call") })
	s.came = append(s.came, strings.TrimSpace(m.Method+" "+r.Header.Get("Mcp-Param-Region")))
	s.mu.Unlock()
	result := `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	switch m.Method {
	case "tools/list":
		<-s.hold
		annotation := ""
		if called || !s.late {
			annotation = `,"x-mcp-header":"Region"`
		}
		result = `{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string"` + annotation + `}}}}]}`
	case "tools/call":
		if r.Header.Get("Mcp-Param-Region") == "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Mcp-Param-Region is missing"}}`, m.ID)
			return
		}
		result = `{"resultType":"complete","content":[]}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// A call waits until the tools are read, and is made again, once, where the server refuses its
// headers because the tool has changed.
func TestCallsKnowTheirHeaders(t *testing.T) {
	for late, want := range map[bool][]string{
		false: {"server/discover", "tools/list", "tools/call us-west1"},
		true:  {"server/discover", "tools/list", "tools/call", "tools/list", "tools/call us-west1"},
	} {
		t.Run(fmt.Sprintf("late=%v", late), func(t *testing.T) {
			s := &changingServer{hold: make(chan struct{}), late: late}
			web := httptest.NewServer(s)
			t.Cleanup(web.Close)
			release := sync.OnceFunc(func() { close(s.hold) })
			t.Cleanup(release)
			b := startAny(t, inspection.Config{
				Targets:  []target.Spec{{Name: "changing", URL: web.URL, Transport: target.TransportHTTP}},
				Settings: conversation.ClientSettings{Protocol: mcp.Revision20260728},
			})
			c, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "t", Key: "t", Arguments: json.RawMessage(`{"region":"us-west1"}`)})
			if err != nil {
				t.Fatal(err)
			}
			b.until("the list is asked for", func() bool { return b.sent("tools/list") > 0 })
			release()
			call, _ := b.done(c.Number)
			s.mu.Lock()
			came := slices.DeleteFunc(slices.Clone(s.came), func(one string) bool { return one == "subscriptions/listen" })
			s.mu.Unlock()
			if call.State != conversation.Done || !slices.Equal(came, want) {
				t.Errorf("%s: %s; %q came, want %q", call.State, call.Failure, came, want)
			}
			opened, err := b.replayed().Call(c.Number)
			if err != nil || opened.State != call.State || len(opened.Rounds) != len(call.Rounds) {
				t.Errorf("opened: %s after %d rounds, %v", opened.State, len(opened.Rounds), err)
			}
		})
	}
}
