package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// One click calls a story of the start view. The log is followed again after a frame
// was looked at, and a screen reader announces the question and the result.
func TestStartAndFollow(t *testing.T) {
	t.Parallel()
	s := open(t)
	pane, log := s.page.Region("Call"), s.page.Region("Wire log")
	follow := log.Button("Follow").HasAttr("aria-pressed", "true")
	heard := func(part string) {
		t.Helper()
		said := ""
		s.page.Until(func() string { return "a screen reader hears " + part + ", not " + said }, func() bool {
			said = page.Call[string](pane, "function() { return document.getElementById('announce').textContent }")
			return strings.Contains(said, part)
		})
	}
	look := func() {
		log.Role("row", "").All().Nth(2).Click()
		log.Button("Close the frame").Wait()
		follow.HasAttr("aria-pressed", "false")
	}
	look()
	log.Button("Close the frame").Click()
	follow.HasAttr("aria-pressed", "true")
	look()
	pane.Button("A suspicious link An address to look at twice before you open it suspicious_link").Click()
	follow.HasAttr("aria-pressed", "true")
	heard("demo asks: ")
	s.page.Region("Questions").Article("").All().Button("Decline").Click()
	heard("suspicious_link, call 1: done. ")
	log.Role("combobox", "Filter").Fill("method:nothing")
	log.Button("Clear it").Click()
	log.Button("Clear it").Gone()
}
