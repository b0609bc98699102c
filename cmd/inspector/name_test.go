// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/views"
)

func TestTypedSpec(t *testing.T) {
	for line, want := range map[string]target.Spec{
		" https://example.com/mcp ":     {Name: "example.com", URL: "https://example.com/mcp"},
		`node 'my server.js' --depth=2`: {Name: "my server.js", Command: []string{"node", "my server.js", "--depth=2"}},
	} {
		if got, _, err := typedSpec(views.NewServer{Address: line}); err != nil || got.Name != want.Name || got.URL != want.URL || !slices.Equal(got.Command, want.Command) {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	dir := t.TempDir()
	whole, _, err := typedSpec(views.NewServer{Address: "./server", Name: " mine ", Env: "A=1\n\n B=2 ", Dir: dir})
	if err != nil || whole.Name != "mine" || !slices.Equal(whole.Env, []string{"A=1", "B=2"}) || whole.Dir != dir {
		t.Errorf("%+v, %v", whole, err)
	}
	remote, _, err := typedSpec(views.NewServer{Address: "https://example.com/mcp", Headers: "X-Key: a:b\nX-Key: c"})
	if err != nil || !slices.Equal(remote.Header["X-Key"], []string{"a:b", "c"}) {
		t.Errorf("%+v, %v", remote, err)
	}
	for _, c := range []struct {
		field string
		typed views.NewServer
	}{
		{"address", views.NewServer{Address: " "}}, {"address", views.NewServer{Address: `node "server.js`}},
		{"headers", views.NewServer{Address: "./server", Headers: "A: b"}}, {"headers", views.NewServer{Address: "https://a.example", Headers: "none"}},
		{"env", views.NewServer{Address: "https://a.example", Env: "A=1"}}, {"env", views.NewServer{Address: "./server", Env: "=1"}},
		{"dir", views.NewServer{Address: "https://a.example", Dir: dir}}, {"dir", views.NewServer{Address: "./server", Dir: dir + "/none"}},
	} {
		if _, field, err := typedSpec(c.typed); err == nil || field != c.field {
			t.Errorf("%+v: %q, %v", c.typed, field, err)
		}
	}
}

func TestServerName(t *testing.T) {
	cases := []struct{ command, want string }{
		{"./my-server --flag", "my-server"},
		{"/usr/local/bin/weather", "weather"},
		{"node srv.mjs", "srv.mjs"},
		{"node --import tsx -r dotenv/config --enable-source-maps ./src/booking.ts stdio", "booking.ts"},
		{"node build/index.js", "weather"},
		{"node /srv/maps/dist/index.js", "maps"},
		{"node node_modules/@scope/server-atlas/dist/index.js", "server-atlas"},
		{"node -e 1", "node"},
		{"node", "node"},
		{"python3.12 -u -X dev tickets.py", "tickets.py"},
		{"/usr/bin/python3 -m mcp_server_git --repository x", "mcp_server_git"},
		{"python -c pass", "python"},
		{"npx -y @modelcontextprotocol/server-everything@2025.1 stdio", "@modelcontextprotocol/server-everything"},
		{"npx -p typescript tsc", "tsc"},
		{"npx --package=@scope/x cmd", "cmd"},
		{"uvx mcp-server-time[extra]==1.2 --local", "mcp-server-time"},
		{"uvx --from git+https://example.com/me/tool.git tool", "tool"},
		{"uvx git+https://example.com/me/thing.git@v1", "thing"},
		{"uv run --with mcp --directory /x search.py", "search.py"},
		{"uv sync", "uv"},
		{"go run .", "weather"},
		{"go run ./cmd/forecast -v", "forecast"},
		{"go run example.com/me/tides@latest", "tides"},
		{"go version", "go"},
		{"deno run -A --config x.json jsr:@me/stars@1", "@me/stars"},
		{"deno run --allow-net https://example.com/moon.ts", "moon.ts"},
		{"bun run sun.ts", "sun.ts"},
		{"bunx cowsay", "cowsay"},
		{"npm exec -- pkg@1", "pkg"},
		{"npm start", "npm"},
		{"java -cp x -jar shop.jar", "shop.jar"},
		{"docker run --rm -i image", "docker"},
	}
	for _, c := range cases {
		if got := serverName(strings.Fields(c.command), filepath.FromSlash("/home/me/weather")); got != c.want {
			t.Errorf("%s is called %q, want %q", c.command, got, c.want)
		}
	}
}

// An error about a forgotten -- says where it belongs.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"server", "flow.jsonl", "mcp.json"} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	before := os.Args
	defer func() { os.Args = before }()
	cases := []struct{ line, want string }{
		{"./server", "write: inspector -- ./server"},
		{"./server a b", "write: inspector -- ./server a b"},
		{"./server --x", "write: inspector -- ./server --x"},
		{"--verbose ./server -q 1 --x=2", "write: inspector -- ./server -q 1 --x=2"},
		{"server --x", "write: inspector -- server --x"},
		{"flow.jsonl", "write: inspector open flow.jsonl"},
		{"mcp.json", "write: inspector --config mcp.json"},
	}
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			args := strings.Fields(c.line)
			os.Args = append([]string{"inspector"}, args...)
			root := newRoot(&bytes.Buffer{}, &bytes.Buffer{})
			root.SetArgs(args)
			err := root.ExecuteContext(context.Background())
			var mistake usageError
			if !errors.As(err, &mistake) || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("error %v, want a usage error that ends with %q", err, c.want)
			}
		})
	}
}

// A server that its file disables is skipped, unless it is named.
func TestDisabledServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers": {"on": {"command": "x", "disabled": false}, "off": {"command": "${NO_SUCH}", "disabled": true}, "out": {"url": "http://h", "disabled": true}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		named      []string
		want, said string
	}{
		{nil, "on", "server=off"},
		{[]string{"out"}, "out", ""},
		{[]string{"on", "out"}, "on out", ""},
	}
	for _, c := range cases {
		o := options{config: path, servers: c.named}
		specs, err := o.specs()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		specs, err = o.enabled(specs, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range specs {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != c.want || !strings.Contains(said.String(), c.said) || c.said == "" && said.Len() > 0 {
			t.Errorf("with %v: %v, saying %q", c.named, got, said.String())
		}
	}
	o := options{config: "mcp.json"}
	_, err := o.enabled([]target.Spec{{Name: "off", Disabled: true}}, slog.New(slog.DiscardHandler))
	var mistake usageError
	if !errors.As(err, &mistake) || !strings.Contains(err.Error(), "--server: off") {
		t.Errorf("all disabled: %v", err)
	}
}
