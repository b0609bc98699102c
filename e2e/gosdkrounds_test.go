package e2e

import (
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// go-sdk's server in multi round-trips: rounds with several kinds of request, a state
// that the server checks, and a prompt that asks.
func TestGoSDKRounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		open func(t *testing.T) *session
	}{
		{"stdio", func(t *testing.T) *session { return openOn(t, servers.GoSDK(t)) }},
		{"stateless HTTP", func(t *testing.T) *session { return open(t, servers.GoSDKHTTP(t, true)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.open(t)
			s.page.Region("Servers").Contains("2026-07-28")
			s.settings(func(server *page.Control) {
				server.Checkbox("Sampling").Click()
				server.Checkbox("Roots").Click()
			})

			s.call("test_input_required_result_request_state")
			q := s.question("Please confirm")
			q.Field("ok").Choose("Yes")
			q.Role("group", "Will send").Contains("true")
			s.accept(q, 1)
			s.result("state-ok: requestState received and confirmation accepted")

			s.call("test_input_required_result_multiple_inputs")
			q = s.question("What is your name?")
			q.Field("name").Type("Ada")
			q.Role("group", "Will send").Contains("Ada")
			q.Button("Accept").Click()
			s.state("What is your name?", "answered")
			// The other two can be accepted with their defaults.
			others := s.page.Region("Questions").Article("").All().Having("data-state", "pending")
			s.page.Until(func() string { return "the other two wait" }, func() bool { return others.Count() == 2 })
			others.Nth(0).Button("Accept").Click()
			s.page.Until(func() string { return "one waits" }, func() bool { return others.Count() == 1 })
			others.Button("Accept").Click()
			s.result("Yes. Ada — 1 root(s) visible")

			s.choose("Prompts", "test_input_required_result_prompt").Button("Call").Click()
			q = s.question("Please provide context for the prompt")
			q.Field("context").Type("a talk")
			q.Role("group", "Will send").Contains("a talk")
			q.Button("Accept").Click()
			s.result("Context: a talk")
			if all := s.findings(); len(all) > 0 {
				t.Errorf("false alarms: %+v", all)
			}
		})
	}
}
