package e2e

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// Everything that a server sends is shown as text: in lists, questions, results, logs and
// errors, none of it becomes an element that runs, loads, links or hides anything.
func TestHostileText(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-name", `<img src=x onerror="window.pwned=20">`)
	s := openOn(t, rude.Command)
	tab := browser.Blank(t)
	tab.BeforeLoad(`window.alert = window.confirm = window.prompt = () => { window.pwned = 30 }`)
	tab.Goto(s.URL)
	s.page = tab

	s.call("hostile")
	q := s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait()
	q.Contains("<script>window.pwned=1</script>")
	s.page.Region("Wire log").Contains("<script>")
	harmless(t, s, "the question")

	q.Button("Accept").Click()
	s.page.Region("Result").Contains("received: ")
	harmless(t, s, "the result")
	s.page.Region("Result").TabNamed("Raw").Click()
	harmless(t, s, "the raw result")

	rude.OrderWith("stderr", "\x1b[31mstderr "+`<img src=x onerror="window.pwned=21">`+"\u202E\n")
	rude.OrderWith("write", `{"jsonrpc":"2.0","method":"</script><script>window.pwned=22</script>","params":{"<b>":1}}`)
	s.page.Region("Wire log").Contains("stderr")
	grid := s.page.Region("Wire log").Role("grid", "Frames")
	for i := range min(6, len(rows(s))) {
		if i == 0 {
			grid.Role("row", "").All().Nth(len(rows(s))).Click() // the newest, which the log follows
		} else {
			s.page.Press(page.Up) // the others may be out of sight
		}
		harmless(t, s, fmt.Sprintf("the detail of row %d", i))
	}
	s.page.Reload()
	s.page.Region("Questions").Contains("<script>window.pwned=1</script>")
	harmless(t, s, "the page drawn anew")

	rude.OrderWith("stderr", "last words: <script>window.pwned=23</script>\x1b[2J\n")
	rude.Order("exit?code=1")
	s.page.Region("Servers").Contains("ended")
	harmless(t, s, "the server's end")
	for _, url := range s.page.Requests() {
		if !strings.HasPrefix(url, s.Base+"/") && !strings.HasPrefix(url, strings.Replace(s.Base, "http", "ws", 1)+"/") && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked another host: %s", url)
		}
	}
	for _, c := range s.page.Complaints() {
		if strings.Contains(c, "ontent Security Policy") || strings.Contains(c, "exception") {
			t.Errorf("the browser complained: %s", c)
		}
	}
}

// harmless checks that no part of the hostile text has become an element of the page.
func harmless(t *testing.T, s *session, where string) {
	t.Helper()
	if got := page.Eval[int](s.page, "window.pwned ?? 0"); got != 0 {
		t.Fatalf("%s: script number %d has run", where, got)
	}
	found := page.Eval[[]string](s.page, `(() => {
		const bad = [];
		for (const e of document.querySelectorAll('script, iframe, object, embed, base, form[action], meta[http-equiv], style, a[href], img, link, [onerror], [onload], [onclick], [srcdoc]')) {
			const ours = e.matches('head > script[type=module]:not([src]), link[href^="/static/"], link#icon[href^="data:image/svg+xml,"], link#icon[href$="/static/icon.svg"], head > style, a[href^="#"], a[href^="/"], a[href^="https://modelcontextprotocol.io/specification/"][rel="noopener noreferrer"], img[src^="/calls/"]');
			if (!ours) bad.push(e.outerHTML.slice(0, 120));
		}
		return bad;
	})()`)
	if len(found) > 0 {
		t.Fatalf("%s: these elements are not the inspector's: %q", where, found)
	}
	if got := page.Eval[string](s.page, "getComputedStyle(document.body).display"); got == "none" {
		t.Fatalf("%s: its style sheet holds", where)
	}
	// Text direction overrides and terminal escapes end where the text does.
	if got := page.Eval[string](s.page, `(() => {
		const b = [...document.querySelectorAll('button')].find(b => b.textContent.trim() === 'Clear view');
		const r = document.createRange(); r.selectNodeContents(b);
		return getComputedStyle(b).direction;
	})()`); got != "ltr" {
		t.Fatalf("%s: the page's own text runs %s", where, got)
	}
}
