package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// again is the name of the button at a call whose server asks by a request in a revision
// without requests from servers.
const again = "Reconnect with 2025-11-25 and call again"

// Most servers offer 2026-07-28 while their tools still ask by requests. The first call
// of each tool, without any flags, leads to an answered question with one button.
func TestFirstCall(t *testing.T) {
	t.Parallel()
	type tool struct {
		name, asks string
		arguments  map[string]string
		answer     func(q *page.Control)
		result     string
	}
	accept := func(q *page.Control) { q.Button("Accept").Click() }
	decline := func(q *page.Control) { q.Button("Decline").Click() }
	visit := func(q *page.Control) { q.Button("Copy URL and accept").Click() }
	fill := func(field, value string) func(*page.Control) {
		return func(q *page.Control) {
			q.Field(field).Type(value)
			q.Role("group", "Will send").Contains(value)
			accept(q)
		}
	}
	for _, server := range []struct {
		name    string
		command []string
		tools   []tool
	}{
		{"go-sdk's conformance server", servers.GoSDK(t), []tool{
			{"test_elicitation", "Which name?", map[string]string{"message": "Which name?"}, fill("username", "gopher"), "action=accept, content=map[username:gopher]"},
			{"test_elicitation_sep1034_defaults", "Test defaults for primitives", nil, accept, "action=accept, content=map[age:30"},
			{"test_elicitation_sep1330_enums", "Test enum schemas", nil, decline, "action=decline"},
		}},
		{"go-sdk's example server", servers.GoSDKExample(t), []tool{
			{"elicit (form)", "provide a random string", nil, fill("random", "xyzzy"), "xyzzy"},
			{"elicit (url)", "submit a string", nil, visit, "(elicitation pending)"},
		}},
		{"mcp-go's example", servers.MCPGo(t), []tool{
			{"create_project", "I need some information to set up your project. Please provide the project details.", nil, fill("projectName", "bridge"), "Created project 'bridge'"},
			{"process_data", "The data is 109 characters long. Do you want to proceed with processing?", map[string]string{"data": strings.Repeat("0123456789 ", 10)[:109]}, decline, "Processing cancelled by user"},
			{"auth_via_url", "Please authenticate in your browser to continue.", nil, decline, "User declined authentication"},
		}},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := openOn(t, server.command)
			for _, tool := range server.tools {
				s.page.Region("Servers").Contains("2026-07-28")
				call := s.choose("Tools", tool.name)
				for name, value := range tool.arguments {
					call.Field(name).Paste(value)
				}
				call.Button("Call").Click()
				why := s.page.Region("Why nothing is asked").Contains("elicitation/create").Contains("request-unsent").Contains("MCP 2026-07-28, basic/patterns/mrtr")
				if state := page.Eval[string](s.page, "document.querySelector('#call .head .state').textContent"); state == "done" {
					t.Error("the head of a call that failed says done")
				}
				why.Button(again).Click()
				tool.answer(s.question(tool.asks))
				s.result(tool.result)
				s.forget()
			}
		})
	}
}

// forget makes the browser forget the revision of the only server, and waits until the
// server is connected as at first.
func (s *session) forget() {
	s.t.Helper()
	before := s.connections()
	server := s.serverDetails().Contains("2025-11-25, remembered in this browser.")
	server.Button("Forget 2025-11-25").Click()
	s.page.Until(func() string { return "it has connected anew" }, func() bool {
		return s.connections() > before && strings.Contains(server.TextNow(), "ready")
	})
	server.Button("Forget 2025-11-25").Gone()
	s.page.Press(page.Escape)
	server.Button("Apply and reconnect").Gone()
}

// A revision that the browser remembers applies in the next run, until one is chosen.
func TestRevisionIsRemembered(t *testing.T) {
	t.Parallel()
	command := servers.GoSDKExample(t)
	address := "127.0.0.1:" + servers.FreePort(t)
	s := openOn(t, command, "--listen", address)
	s.call("elicit (form)")
	s.page.Region("Why nothing is asked").Button(again).Click()
	s.question("provide a random string").Button("Decline").Click()

	next := func(flags ...string) {
		t.Helper()
		s.Stop()
		s.Process = inspector.Start(t, append(append([]string{"--listen", address}, flags...), append([]string{"--"}, command...)...)...)
		s.page.Goto(s.URL)
	}
	next()
	s.page.Region("Servers").Contains("2025-11-25")
	s.call("elicit (form)")
	s.question("provide a random string").Button("Decline").Click()

	next("--protocol", "2025-06-18")
	s.page.Region("Servers").Contains("2025-06-18")
	s.serverDetails().Contains("2025-11-25 is remembered in this browser; 2025-06-18 was chosen for this run.")
	if n := s.connections(); n != 1 {
		t.Errorf("it was connected %d times", n)
	}
	s.page.Press(page.Escape)

	next()
	s.page.Region("Servers").Contains("2025-11-25")
	s.settings(func(server *page.Control) { server.Field("Protocol").Choose("2026-07-28") })
	s.serverDetails().Button("Forget 2025-11-25").Gone()

	next()
	s.page.Region("Servers").Contains("2026-07-28")
	s.forgotten()
}

// forgotten checks that the browser remembers no revision of the only server.
func (s *session) forgotten() {
	s.t.Helper()
	if server := s.serverDetails(); server.Button("Forget 2025-11-25").Exists() {
		s.t.Error("something is remembered")
	}
	if n := s.connections(); n != 1 {
		s.t.Errorf("it was connected %d times", n)
	}
}

// If a server speaks no other revision, the page shows this, and connects to it as
// before.
func TestReconnectingFails(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"ask": func(int, servers.Call) string {
			return `"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":"Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create' cannot be sent while serving a request on that revision."}]}`
		},
	})
	s := open(t, server.URL)
	s.call("ask")
	s.page.Region("Why nothing is asked").Button(again).Click()
	s.page.Role("alert", "").Contains("Reconnecting with 2025-11-25 failed")
	s.page.Region("Call").Button("Reconnect").Click()
	s.page.Region("Servers").Contains("2026-07-28")
}

// A bad entry of mcp.json makes one failed server; the others run.
func TestBadEntry(t *testing.T) {
	t.Parallel()
	command := servers.GoSDKExample(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	text := `{"mcpServers": {
		"typo": {"command": "${NO_SUCH_VARIABLE}"},
		"works": {"command": "` + command[0] + `", "protocol": "2025-11-25", "elicitation": "form"}
	}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "--config", file)
	s.page.Region("Servers").Contains("failed").Contains("ready").Contains("2025-11-25")
	bar := s.page.Region("Servers")
	bar.Role("button", "").All().Nth(0).Click()
	bar.Contains("mcp.json:2: server \"typo\", command: ${NO_SUCH_VARIABLE}: the environment has no NO_SUCH_VARIABLE")
	s.page.Press(page.Escape)
	s.call("elicit (form)")
	s.question("provide a random string").Button("Decline").Click()
}
