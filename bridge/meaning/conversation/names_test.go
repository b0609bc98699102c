package conversation

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// People read a server's own name where nobody has named the server, and no server passes for
// another.
func TestNames(t *testing.T) {
	derived := &wire.Note{Kind: wire.NoteProcessStarted, Command: []string{"node", "server.mjs"}, Derived: true}
	given := &wire.Note{Kind: wire.NoteProcessStarted, Command: []string{"node", "server.mjs"}}
	type server struct {
		label, url string
		started    *wire.Note
		info       string // serverInfo; "" before the handshake
	}
	orders := func(label string) server { return server{label, "", derived, `"name":"orders"`} }
	for name, c := range map[string]struct {
		servers []server
		want    map[string]string
	}{
		"a name":                     {[]server{orders("server.mjs")}, map[string]string{"server.mjs": "orders"}},
		"a title first":              {[]server{{"server.mjs", "", derived, `"name":"orders","title":"My Orders"`}}, map[string]string{"server.mjs": "My Orders"}},
		"a blank title":              {[]server{{"server.mjs", "", derived, `"name":"orders","title":" \n"`}}, map[string]string{"server.mjs": "orders"}},
		"before the handshake":       {[]server{{"server.mjs", "", derived, ""}}, nil},
		"a server without a name":    {[]server{{"server.mjs", "", derived, `"name":""`}}, nil},
		"named by a person":          {[]server{{"mine", "", given, `"name":"orders"`}}, nil},
		"an older transcript":        {[]server{{"server.mjs", "", given, `"name":"orders"`}}, nil},
		"a URL":                      {[]server{{"example.com", "https://example.com/mcp", nil, `"name":"orders"`}}, map[string]string{"example.com": "orders"}},
		"a second server of a host":  {[]server{{"example.com:80 2", "http://example.com:80/b", nil, `"name":"orders"`}}, map[string]string{"example.com:80 2": "orders"}},
		"a URL, named by a person":   {[]server{{"example.com staging", "https://example.com/mcp", nil, `"name":"orders"`}}, nil},
		"in this process":            {[]server{{"demo", "", nil, `"name":"orders"`}}, nil},
		"hidden characters":          {[]server{{"server.mjs", "", derived, `"name":"or\u202eders\n!"`}}, map[string]string{"server.mjs": `or\u202eders !`}},
		"a long name":                {[]server{{"server.mjs", "", derived, `"name":"` + strings.Repeat("x", 1000) + `"`}}, map[string]string{"server.mjs": strings.Repeat("x", 59) + "…"}},
		"two of a name":              {[]server{orders("a.mjs"), orders("b.mjs")}, map[string]string{"a.mjs": "orders (a.mjs)", "b.mjs": "orders (b.mjs)"}},
		"a name that another has":    {[]server{{"orders", "", given, `"name":"x"`}, {"b.mjs", "", derived, `"name":"Orders"`}}, map[string]string{"b.mjs": "Orders (b.mjs)"}},
		"the label of another":       {[]server{{"a.mjs", "", derived, ""}, {"b.mjs", "", derived, `"name":"a.mjs"`}}, map[string]string{"b.mjs": "a.mjs (b.mjs)"}},
		"what another is then named": {[]server{orders("a.mjs"), orders("b.mjs"), {"c.mjs", "", derived, `"name":"orders (a.mjs)"`}}, map[string]string{"a.mjs": "orders (a.mjs)", "b.mjs": "orders (b.mjs)", "c.mjs": "orders (a.mjs) (c.mjs)"}},
		"the label is the name":      {[]server{{"orders", "", derived, `"name":"orders"`}}, map[string]string{"orders": "orders"}},
	} {
		t.Run(name, func(t *testing.T) {
			var frames []wire.Frame
			for _, s := range c.servers {
				more := []wire.Frame{{Dir: wire.Meta, Note: s.started}, {Dir: wire.ClientToServer, URL: s.url, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)}}
				if s.started == nil {
					more = more[1:]
				}
				if s.info != "" {
					more = append(more, wire.Frame{Dir: wire.ServerToClient, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{%s}}}`, s.info)})
				}
				for _, f := range more {
					f.Server, f.Session = s.label, s.label+"-1"
					frames = append(frames, f)
				}
			}
			names := follow(t, logtest.New(t, frames...)).Names()
			if !maps.Equal(names, c.want) {
				t.Errorf("%q, want %q", names, c.want)
			}
		})
	}
}
