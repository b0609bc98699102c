package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// TestAftermath declines questions of a server that does not heed it. The call, its tab, the
// question and the ledger say what that shows, live and in the opened transcript, and the check
// beside it settles it with the few trials that it takes.
func TestAftermath(t *testing.T) {
	t.Parallel()
	const asks = `"result":{"resultType":"input_required","requestState":"s","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Whose?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}}}}}`
	// answering returns a tool that asks once, and then answers an acceptance or a refusal.
	answering := func(accepted, refused string) servers.Script {
		return func(_ int, call servers.Call) string {
			switch responses := call.Member("inputResponses"); {
			case responses == "":
				return asks
			case strings.Contains(responses, `"accept"`):
				return accepted
			}
			return refused
		}
	}
	const crash = `"result":{"resultType":"complete","isError":true,"content":[{"type":"text","text":"Cannot read properties of undefined (reading 'name')"}]}`
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"crash": answering(servers.Done("Linked Ann"), crash),
		"print": answering(servers.Done("Linked Ann"), servers.Done("Linked undefined")),
		"right": answering(servers.Done("Linked Ann"), servers.Done("Nothing was linked.")),
	})
	flow := filepath.Join(t.TempDir(), "flow.jsonl")
	s := open(t, "--record", flow, server.URL)
	call := s.page.Region("Call")
	for _, c := range []struct{ tool, mistake, finding string }{
		{"crash", "Reads content after a decline", "reads-declined-content"},
		{"print", "Prints content that a decline does not have", "undefined-after-decline"},
		{"right", "", ""},
	} {
		s.call(c.tool)
		s.question("Whose?").Button("Decline").Click()
		s.page.Region("Result").Wait()
		after := call.Region("What happened after the answer")
		if c.mistake == "" {
			s.result("Nothing was linked.")
			after.Gone()
			continue
		}
		after.Contains(c.mistake).Contains(c.finding)
		s.page.Role("navigation", "Calls").Contains("declined?")
	}
	s.page.Button("Questions asked").Click()
	s.page.Region("Questions asked").Contains("Reads content after a decline").Contains("Prints content that a decline does not have")
	s.page.Press(page.Escape)

	s.page.Role("navigation", "Calls").Button("1 crash declined?").Click()
	call.Button("Check just this").Click()
	check := s.page.Region("Check")
	check.Contains("with decline and cancel in their place, in 2026-07-28")
	check.Button("Start").Click()
	check.Link("decline, 2026-07-28: fail").Wait()
	check.Button("Check again").Wait()
	if made := len(server.Calls("crash")); made > 20 {
		t.Errorf("the tool was called %d times", made)
	}
	if got := s.page.Complaints(); len(got) > 0 {
		t.Errorf("the browser complained: %q", got)
	}

	opened := inspector.Start(t, "open", flow)
	tab := browser.Open(t, opened.URL)
	tab.Role("navigation", "Calls").Button("1 crash declined?").Click()
	tab.Region("Call").Region("What happened after the answer").Contains("Reads content after a decline")
	tab.Button("Check just this").Gone()
}
