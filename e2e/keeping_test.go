package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// Reloading, a second tab and a closed browser lose nothing: the question is
// still pending, and what was typed is back.
func TestDraftsAreKept(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("ask")
	q := s.question("Who signs the release?")
	q.Field("Signer").Fill("Grace H")
	q.Field("Urgent").Choose("Yes")
	q.Role("group", "Will send").Contains("Grace H").Contains("true")

	typed := func(p *page.Page) *page.Control {
		q := p.Question("Who signs the release?").HasAttr("data-state", "pending")
		q.Field("Signer").HasValue("Grace H")
		if !q.Field("Urgent").Radio("Yes").Checked() {
			t.Error("the choice is lost")
		}
		q.Role("group", "Will send").Contains("Grace H").Contains("true")
		return q
	}
	s.page.Reload()
	typed(s.page)
	second := s.page.Tab(s.Base + "/")
	typed(second)
	other := browser.Open(t, s.URL) // like a new browser: no cookie, no storage
	q = typed(other)

	// Text typed here appears on other pages, and is sent.
	q.Field("Signer").Type("opper")
	q.Role("group", "Will send").Contains("Grace Hopper")
	other.Reload()
	q.Field("Signer").HasValue("Grace Hopper")
	q.Button("Accept").Click()
	rude.Until("the answer", func(line string) bool {
		return strings.Contains(line, `{"action":"accept","content":{"signer":"Grace Hopper","urgent":true}}`)
	})
	for _, p := range []*page.Page{s.page, second, other} {
		p.Question("Who signs the release?").HasAttr("data-state", "answered")
	}
}

// Questions that arrive, and answers that are given, while the websocket is down
// are on the page once it is back; text being typed meanwhile is not lost.
func TestDroppedWebsocket(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	p := openOn(t, rude.Command)
	tab := browser.Blank(t)
	tab.WatchSockets()
	tab.Goto(p.URL)
	s := &session{t: t, Process: p.Process, page: tab}
	s.call("ask")
	q := s.question("Who signs the release?")
	q.Field("Signer").Fill("Ada")
	if n := s.page.DropSockets(); n != 1 {
		t.Errorf("the page has %d websockets, want 1", n)
	}
	s.page.Type(" L.")
	p.call("ask_three") // by the other page
	s.question("How many people go to Turku?")
	q.Field("Signer").HasValue("Ada L.").HasFocus()
	q.Role("group", "Will send").Contains("Ada L.")
	s.page.DropSockets()
	q.Button("Accept").Click()
	s.state("Who signs the release?", "answered")
	rude.Until("the answer", func(line string) bool { return strings.Contains(line, `"signer":"Ada L."`) })
}

// Two tabs that answer at the same time give exactly one answer on the wire, and
// the other tab says who won.
func TestTwoTabsAnswerAtOnce(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("ask")
	q := s.question("Who signs the release?")
	second := s.page.Tab(s.Base + "/")
	other := second.Question("Who signs the release?").Having("data-state", "pending").Wait()
	q.Field("Signer").Fill("First")
	q.Role("group", "Will send").Contains("First")
	other.Button("Decline").Wait()

	accept, decline := q.Button("Accept").Where(), other.Button("Decline").Where()
	done := make(chan struct{})
	go func() { second.ClickAt(decline); close(done) }()
	s.page.ClickAt(accept)
	<-done

	for _, p := range []*page.Page{s.page, second} {
		p.Question("Who signs the release?").HasAttr("data-state", "answered")
	}
	answers := rude.Answers()
	if len(answers) != 1 {
		t.Fatalf("the server got %d answers: %q", len(answers), answers)
	}
	won, word := "accept", "accepted"
	if strings.Contains(answers[0], "decline") {
		won, word = "decline", "declined"
	}
	for _, p := range []*page.Page{s.page, second} {
		p.Question("Who signs the release?").Contains(word)
	}
	if frames := s.Wire(); len(answersOnWire(t, frames)) != 1 {
		t.Errorf("the wire log has %d answers", len(answersOnWire(t, frames)))
	}
	s.page.Region("Wire log").Contains(won)
}
