package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// A page that has lost its connection shows this.
func TestLostConnectionIsSaid(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.NewRude(t, nil).Command)
	s.Stop()
	s.page.Until(func() string { return "the page says that the inspector has ended" }, func() bool {
		return strings.Contains(page.Eval[string](s.page, "document.getElementById('notice').innerText"), "The inspector has ended or cannot be reached.")
	})
}

// When a playback goes back, the whole page is drawn anew, and typed text stays.
func TestDrawnAnew(t *testing.T) {
	t.Parallel()
	s := openFile(t,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
		`<{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who signs?","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"Signer"}}}}}`,
		`>{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":"Ada"}}}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"signed"}]}}`,
	)
	s.page.Question("Who signs?").HasAttr("data-state", "answered")
	s.result("signed")
	search := s.page.Role("searchbox", "Search")
	search.Type("as")
	page.Eval[bool](s.page, `(() => {
		const slider = document.getElementById('playback-position');
		slider.value = '2';
		slider.dispatchEvent(new Event('input', {bubbles: true}));
		slider.dispatchEvent(new Event('change', {bubbles: true}));
		return true;
	})()`)
	s.page.Question("Who signs?").HasAttr("data-state", "pending")
	s.page.Region("Transcript").Role("slider", "Position").HasValue("2")
	search.HasValue("as").HasFocus()
	s.page.Type("k")
	search.HasValue("ask")
	s.page.Button("Step").Click()
	s.page.Question("Who signs?").HasAttr("data-state", "answered")
	s.page.Button("Step").Click()
	s.result("signed")
}
