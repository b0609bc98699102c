package e2e

import (
	"slices"
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
