package e2e

import (
	"slices"
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// The questions of the call on show come first. A line separates them from waiting ones
// of other calls, and settled ones of other calls are folded.
func TestOwnQuestionsFirst(t *testing.T) {
	t.Parallel()
	asks := func(message string) servers.Script {
		return func(n int, c servers.Call) string {
			if n > 1 {
				return servers.Done("received")
			}
			return asksFor("", "a", message)
		}
	}
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{"early": asks("Up at five?"), "late": asks("Up at eleven?")})
	s := open(t, server.URL)
	order := func(want ...string) {
		t.Helper()
		articles := s.page.Region("Questions").Article("").All()
		var got []string
		s.page.Until(func() string { return "the order of the questions is " + want[0] + " first" }, func() bool {
			got = articles.Names()
			return slices.Equal(got, want)
		})
	}
	s.call("early")
	order("Up at five?")
	s.call("late")
	order("Up at eleven?", "Up at five?")
	s.page.Region("Questions").Role("heading", "Waiting in other calls").Wait()
	s.page.Role("navigation", "Calls").Button("1 early waiting for you").Click()
	order("Up at five?", "Up at eleven?")
	s.page.Reload()
	order("Up at five?", "Up at eleven?")
	s.question("Up at five?").Button("Accept").Click()
	order("Up at five?", "Up at eleven?")
	s.page.Role("navigation", "Calls").Button("2 late waiting for you").Click()
	order("Up at eleven?")
	s.page.Region("Questions").Button("Earlier (1)").Click()
	order("Up at eleven?", "Up at five?")
}
