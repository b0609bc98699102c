package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
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

// lit names the elements in the colours of what waits for the person.
const lit = `(() => {
	const probe = document.createElement('i'), colours = [];
	document.body.append(probe);
	for (const name of ['--wait', '--wait-soft']) {
		probe.style.color = 'var(' + name + ')';
		colours.push(getComputedStyle(probe).color);
	}
	probe.remove();
	return [...document.querySelectorAll('body *')].filter(e => {
		const { color, backgroundColor, stroke } = getComputedStyle(e);
		return e.checkVisibility({visibilityProperty: true}) && !e.closest('#notice') && [color, backgroundColor, stroke].some(c => colours.includes(c));
	}).map(e => e.outerHTML.slice(0, 80));
})()`

// When the inspector has ended, nothing on the page says any longer that it waits.
func TestNothingStaysLit(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("wait")
	s.call("ask_three")
	s.question("How many people go to Turku?")
	s.page.Until(func() string { return "the title counts 3 questions" }, func() bool { return strings.HasPrefix(s.page.Title(), "(3)") })
	if got := page.Eval[[]string](s.page, lit); len(got) < 8 {
		t.Errorf("while questions wait, only these are lit: %q", got)
	}
	s.Crash()
	s.page.Role("alert", "").Contains("The inspector has ended")
	s.page.Until(func() string { return "the title counts no questions" }, func() bool { return !strings.HasPrefix(s.page.Title(), "(") })
	if got := page.Eval[[]string](s.page, lit); len(got) > 0 {
		t.Errorf("these stay lit: %q", got)
	}
}

// After an answer the focus goes to what the call waits for, not to another call's question.
func TestFocusStaysWithItsCall(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2026-07-28")
	s.call("deploy")
	s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait()
	s.call("connect_calendar")
	s.question(calendarAsks).Button("Copy URL and accept").Click()
	s.page.Question(calendarAsks).Button("Retry now").HasFocus()
}
