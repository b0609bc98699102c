package e2e

import (
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// mcp-go's elicitation example. The library speaks 2026-07-28, where a server
// cannot ask by a request, but the example does, so the revision is pinned.
func TestMCPGoExample(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.MCPGo(t), "--protocol", "2025-11-25")
	const message = "I need some information to set up your project. Please provide the project details."

	s.call("create_project")
	q := s.question(message)
	q.Field("projectName").Type("bridge")
	q.Field("framework").Choose("vue")
	q.Field("includeTests").Choose("No")
	q.Role("group", "Will send").Contains("false")
	s.accept(q, 1)
	s.result("Created project 'bridge' with framework: vue, tests: false")

	s.call("create_project")
	s.question(message).Button("Decline").Click()
	s.result("Project creation cancelled - user declined to provide information")

	s.call("create_project")
	s.question(message).Button("Cancel").Click()
	s.result("project creation cancelled by user")

	// A required boolean without a default must be chosen; it is never silently false.
	call := s.choose("Tools", "process_data")
	long := "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"
	call.Field("data").Paste(long)
	call.Button("Call").Click()
	q = s.question("The data is 109 characters long. Do you want to proceed with processing?")
	if got, want := willSend(t, q), `{"action":"accept","content":{}}`; got != want {
		t.Errorf("with nothing chosen Accept would send %s, want %s", got, want)
	}
	q.Button("Accept").Click()
	q.Button("Send anyway").Wait()
	q.Field("proceed").Choose("Yes")
	q.Role("group", "Will send").Contains("true")
	s.accept(q, 4)
	s.result("Processed 109 characters of data (request #1)")
}
