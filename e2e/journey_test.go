package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// TestJourney records by hand what a server of another SDK asks, writes a scenario from
// the recording, and runs it as it is written. Servers between revisions are reconnected
// on the way, and their first call is not in the scenario.
func TestJourney(t *testing.T) {
	t.Parallel()
	fill := func(field, value string) func(*session, *page.Control) {
		return func(_ *session, q *page.Control) {
			q.Field(field).Type(value)
			q.Role("group", "Will send").Contains(value)
			q.Button("Accept").Click()
		}
	}
	const releaseAsks, released = "Which version of bridge goes out?", "Released bridge 1.4.0 to 0.1 of beta: Freitag, 5 % mehr."
	releases := func(s *session, q *page.Control) {
		q.Field("version").Type("1.4.0")
		q.Field("channel").Choose("beta")
		fill("share", "0.10")(s, q)
		fill("note", "Freitag, 5 % mehr")(s, s.question("Release 1.4.0 now?"))
	}
	for _, server := range []struct {
		name         string
		target       func(t *testing.T) []string
		tool         string
		arguments    map[string]string
		between      bool // it offers 2026-07-28, and its tools ask by requests
		asks         string
		answer       func(*session, *page.Control)
		result, file string // parts of the result, and of the scenario
		protocol     string // in the scenario
	}{
		{"TypeScript SDK, stdio", func(t *testing.T) []string { return append([]string{"--"}, servers.Everything(t, "stdio")...) },
			everythingTool, nil, false, everythingAsks, fill("String", "Ada"), "Name: Ada", "server-everything/dist/index.js", mcp.Revision20251125},
		{"TypeScript SDK, Streamable HTTP", func(t *testing.T) []string { return []string{servers.SDKExample(t, "elicitationFormExample")} },
			"register_user", nil, false, "Please provide your registration information:", func(s *session, q *page.Control) {
				q.Field("Username").Type("ada")
				q.Field("Email").Type("ada@example.org")
				fill("Password", "12 characters")(s, q)
			}, "Registration successful!", `url: "http://localhost:`, mcp.Revision20251125},
		{"TypeScript SDK, HTTP+SSE", func(t *testing.T) []string { return []string{servers.EverythingSSE(t)} },
			everythingTool, nil, false, everythingAsks, fill("String", "Ada"), "Name: Ada", "transport: sse", mcp.Revision20251125},
		{"go-sdk, input-required results", func(t *testing.T) []string { return append([]string{"--"}, servers.GoSDK(t)...) },
			"test_input_required_result_elicitation", nil, false, "What is your name?", fill("name", "Ünal"), "Hello, Ünal!", "Hello, Ünal!", mcp.Revision20260728},
		{"go-sdk, requests", func(t *testing.T) []string { return append([]string{"--"}, servers.GoSDK(t)...) },
			"test_elicitation", map[string]string{"message": "Which name?"}, true, "Which name?", fill("username", "gopher"), "username:gopher", "message: Which name?", mcp.Revision20251125},
		{"go-sdk's example", func(t *testing.T) []string { return append([]string{"--"}, servers.GoSDKExample(t)...) },
			"elicit (form)", nil, true, "provide a random string", fill("random", "xyzzy"), "xyzzy", "random: xyzzy", mcp.Revision20251125},
		{"mcp-go", func(t *testing.T) []string { return append([]string{"--"}, servers.MCPGo(t)...) },
			"create_project", nil, true, "I need some information to set up your project. Please provide the project details.", fill("projectName", "bridge"), "Created project 'bridge'", "projectName: bridge", mcp.Revision20251125},
		{"tmcp, input-required results", func(t *testing.T) []string { return append([]string{"--"}, servers.TMCP(t)...) },
			"release", map[string]string{"project": "bridge"}, false, releaseAsks, releases, released, "share: 0.10", mcp.Revision20260728},
		{"tmcp, requests", func(t *testing.T) []string {
			return append([]string{"--protocol", mcp.Revision20250618, "--"}, servers.TMCP(t)...)
		}, "release", map[string]string{"project": "bridge"}, false, releaseAsks, releases, released, "share: 0.10", mcp.Revision20250618},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			flow, file := filepath.Join(dir, "flow.jsonl"), filepath.Join(dir, "flow.yaml")
			s := open(t, append([]string{"--record", flow}, server.target(t)...)...)
			call := s.choose("Tools", server.tool)
			for name, value := range server.arguments {
				call.Field(name).Paste(value)
			}
			call.Button("Call").Click()
			if server.between {
				s.page.Region("Why nothing is asked").Button(again).Click()
			}
			server.answer(s, s.question(server.asks))
			s.result(server.result)
			s.Stop()

			if got := inspector.Run(t, inspector.Options{}, "answers", "--scenario", "--output", file, flow); got.Code != 0 {
				t.Fatalf("exit code %d\n%s", got.Code, got.Stderr)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), server.file) || !strings.Contains(string(text), fmt.Sprintf("protocol: %q", server.protocol)) ||
				strings.Contains(string(text), "is left out: in 2026-07-28 the server could not ask.") != server.between {
				t.Errorf("the scenario is\n%s", text)
			}
			if got := inspector.Run(t, inspector.Options{}, "run", file); got.Code != 0 || !strings.HasSuffix(got.Stdout, "1 of 1 call as expected\n") || strings.Contains(got.Stderr, "no question") {
				t.Errorf("exit code %d\n%s%s\n%s", got.Code, got.Stdout, got.Stderr, text)
			}
		})
	}
}

// A call and a scenario say of a server between revisions what the page says, with the
// flag that helps.
func TestCallBetweenRevisions(t *testing.T) {
	t.Parallel()
	const why = "The server tried a request of its own here, elicitation/create. That works in 2025-11-25. Revision 2026-07-28 has no such requests, so it could not ask. With --protocol 2025-11-25 it can."
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte("default: {accept: valid}\ncalls: [{tool: create_project}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := append([]string{"--"}, servers.MCPGo(t)...)
	for _, args := range [][]string{{"call", "create_project", "--no-input"}, {"run", file}} {
		if got := inspector.Run(t, inspector.Options{}, append(args, target...)...); got.Code == 0 || !strings.Contains(got.Stdout+got.Stderr, why) {
			t.Errorf("%q: exit code %d\n%s%s", args, got.Code, got.Stdout, got.Stderr)
		}
	}
	if got := inspector.Run(t, inspector.Options{}, append([]string{"run", file, "--protocol", "2025-11-25"}, target...)...); got.Code != 0 {
		t.Errorf("exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}
