package e2e

import (
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The whole job without a mouse: focus the tool, call it, fill in the form, accept.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	p := s.page
	// The list of tools is one tab stop, with arrow keys within it.
	tools := p.Region("Tools").Button("").All()
	tool := p.Region("Tools").Button("ask").Wait()
	tabTo(t, p, tools.Nth(0))
	for n := tools.Count(); n > 0 && !tool.Focused(); n-- {
		p.Press(page.Down)
	}
	p.Press(page.TabKey)
	if slices.ContainsFunc(tools.Names(), func(name string) bool { return p.Region("Tools").Button(name).Focused() }) {
		t.Error("Tab goes from one tool to another")
	}
	tool.Focus()
	p.Press(page.Enter)
	button := p.Region("Call").Button("Call").Wait()
	tabTo(t, p, button)
	p.Press(page.Enter)

	// The question focuses its first field, because the person is not typing elsewhere.
	q := s.question("Who signs the release?")
	q.Field("Signer").HasFocus()
	p.Type("Radia")
	tabTo(t, p, q.Field("Urgent"))
	p.Press(page.Down) // from Unset to Yes
	q.Role("group", "Will send").Contains("true")
	tabTo(t, p, q.Button("Accept"))
	p.Press(page.Space)
	s.result(`received: {"action":"accept","content":{"signer":"Radia","urgent":true}}`)
}

// tabTo presses Tab until a control has the focus.
func tabTo(t *testing.T, p *page.Page, to *page.Control) {
	t.Helper()
	for range 120 {
		if to.Focused() {
			return
		}
		p.Press(page.TabKey)
	}
	t.Fatalf("Tab does not reach %s", to)
}

// Enter in a one-line field and Ctrl+Enter anywhere accept; Esc offers cancel.
func TestKeysOfAQuestion(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{{
		Name: "ask_both", Params: `{"message":"Both?","requestedSchema":{"type":"object","properties":{"line":{"type":"string","title":"Line"},"odd":{"type":"object","title":"Odd"}}}}`,
	}})
	s := openOn(t, rude.Command)
	p := s.page

	s.call("ask_both")
	q := s.question("Both?")
	q.Field("Line").Fill("one")
	q.Role("group", "Will send").Contains("one")
	p.Press(page.Enter)
	s.result(`received: {"action":"accept","content":{"line":"one"}}`)

	s.call("ask_both")
	q = s.question("Both?")
	q.Field("Odd").Fill("{}")
	p.Press(page.Enter) // a new line, in a field of several lines
	q.Role("group", "Will send").Contains("odd")
	p.Press(page.Enter, page.Ctrl)
	s.result(`received: {"action":"accept","content":{"odd":{}}}`)

	s.call("ask_both")
	q = s.question("Both?")
	q.Field("Line").Focus()
	p.Press(page.Escape) // offers Cancel, but does not cancel
	q.Button("Cancel").HasFocus()
	if got := q.Attr("data-state"); got != "pending" {
		t.Fatalf("after one Esc the question is %s", got)
	}
	p.Press(page.Enter)
	s.result(`received: {"action":"cancel"}`)
}

// The second press of a double one answers no question that came up after the first.
func TestSecondPressAnswersNothing(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	p := s.page
	p.Size(1920, 1600) // nothing scrolls, and the line about the call keeps its height, so that the next question comes to the same place
	for _, c := range []struct {
		name  string
		press func(at page.Point)
	}{
		{"double click", p.ClickAt},
		{"double Enter", func(page.Point) { p.Press(page.Enter) }},
		{"double Ctrl+Enter", func(page.Point) { p.Press(page.Enter, page.Ctrl) }},
	} {
		s.call("ask_three")
		s.question("How many people go to Lisbon?").Button("Decline").Click()
		first, next := "How many people go to Graz?", p.Question("How many people go to Turku?")
		for _, q := range []*page.Control{next, s.question(first)} {
			q.Field("People").Fill("3")
			q.Role("group", "Will send").Contains("3")
		}
		at := s.question(first).Button("Accept").Where()
		p.Twice(func() { c.press(at) }, func() {
			s.state(first, "answered")
			next.HasFocus()
			p.Until(
				func() string { return c.name + ": Accept of the next question comes to the place of the first" },
				func() bool {
					return page.Call[bool](next.Button("Accept"), "function(x, y) { return document.elementFromPoint(x, y) === this }", at.X, at.Y)
				},
			)
		})
		p.Role("alert", "").Matches("the second press is refused", func(shown string) bool {
			return strings.Contains(shown, "nothing was done") || next.Attr("data-state") != "pending"
		})
		if got := next.Attr("data-state"); got != "pending" {
			t.Fatalf("a %s answers the question that came up in between: it is %s", c.name, got)
		}
		next.Button("Accept").Click()
		s.result(`{"action":"decline"} {"action":"accept","content":{"people":3}} {"action":"accept","content":{"people":3}}`)
	}
}

// A new question does not take the focus from someone who is typing elsewhere.
func TestFocusStaysWhereSomeoneTypes(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("ask_three")
	q := s.question("How many people go to Graz?")
	q.Field("People").Fill("1")
	other := browser.Open(t, s.URL)
	(&session{t: t, Process: s.Process, page: other}).call("ask")
	s.question("Who signs the release?")
	q.Field("People").HasFocus()
	s.page.Type("2")
	q.Field("People").HasValue("12")
}
