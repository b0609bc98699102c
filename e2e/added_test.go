package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// TestAddedServer adds a server on the page, edits it and removes it, with the keyboard alone.
// A mistake goes when something is changed, and a call on show says that its server was removed.
func TestAddedServer(t *testing.T) {
	t.Parallel()
	s := onDemo("--allow-add")(t)
	press := func(button *page.Control) {
		button.Focus()
		s.page.Press(page.Enter)
	}
	lacks := func(c *page.Control, text string) {
		c.Matches("no "+text, func(shown string) bool { return !strings.Contains(shown, text) })
	}

	press(s.page.Button("Add server"))
	add := s.page.Role("form", "Add server").Wait()
	add.Field("Folder, for a command").Fill("/")
	add.Field("URL or command").Fill("http://127.0.0.1:9/mcp")
	press(add.Button("Connect"))
	add.Field("Folder, for a command").HasAttr("aria-invalid", "true")
	add.Contains("A folder needs a command.")
	add.Field("URL or command").Fill(servers.RudeBinary + " -die")
	lacks(add, "A folder needs a command.")
	press(add.Button("Connect"))

	server := s.page.Button("").All().Having("popovertarget", "server-s2-more")
	press(server.Contains("failed"))
	group := s.page.Role("group", "rude").Wait()
	press(group.Role("DisclosureTriangle", "Edit…"))
	edit := group.Role("form", "Edit server").Wait()
	edit.Field("URL or command").Fill(servers.RudeBinary)
	edit.Field("Name (optional)").Fill("warehouse")
	press(edit.Button("Save and reconnect"))

	group = s.page.Role("group", "warehouse").Wait().Contains("ready")
	s.page.Region("Tools").Contains("ask_three")
	s.call("rpc_error")
	s.result("no such account")
	press(server)
	press(group.Button("Disconnect"))
	call := s.page.Region("Call").Contains("Reconnect to call tools.")
	press(group.Button("Remove"))
	call.Contains("was removed")
	lacks(call, "Reconnect")
	lacks(s.page.Region("Servers"), "warehouse")
	lacks(s.page.Region("Tools"), "ask_three")
	s.page.Button("Add server").HasFocus()
}
