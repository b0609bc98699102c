package mcp

import "testing"

// TestSectionLink expects the same anchors for headings as in links of the specification.
func TestSectionLink(t *testing.T) {
	for _, c := range []struct{ page, section, want string }{
		{"client/elicitation", "Requested Schema", "client/elicitation#requested-schema"},
		{"basic", "_meta", "basic#meta"},
		{"basic/patterns/mrtr", "Server Requirements (Basic Workflow)", "basic/patterns/mrtr#server-requirements-basic-workflow"},
		{"server/utilities/logging", "Per-request log level", "server/utilities/logging#per-request-log-level"},
		{"schema", "ElicitRequestURLParams", "schema#elicitrequesturlparams"},
		{"basic/patterns", "", "basic/patterns"},
	} {
		if got, want := SectionLink(Revision20260728, c.page, c.section), "https://modelcontextprotocol.io/specification/2026-07-28/"+c.want; got != want {
			t.Errorf("%s, %s is at %s, not at %s", c.page, c.section, got, want)
		}
	}
}
