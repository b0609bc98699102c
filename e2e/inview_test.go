package e2e

import (
	"fmt"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// hidden says what of an element cannot be seen, in CSS pixels: it lies above or
// below the pane, or under what sticks to the pane's edges.
const hidden = `function() {
	const pane = document.getElementById('work').getBoundingClientRect(), strip = document.getElementById('calls').getBoundingClientRect();
	const r = this.getBoundingClientRect(), top = Math.max(pane.top, strip.bottom);
	const clear = y => { const e = document.elementFromPoint(r.left + r.width / 2, y); return e && (this.contains(e) || e.contains(this)) };
	if (!this.checkVisibility() || !r.height) return 'all of it';
	if (r.top < top) return Math.round(top - r.top) + ' px at the top';
	if (r.bottom > pane.bottom) return Math.round(r.bottom - pane.bottom) + ' px at the bottom';
	return clear(r.top + 2) && clear(r.bottom - 2) ? '' : 'covered';
}`

// inView waits until all of a control can be seen.
func inView(c *page.Control) {
	c.Page().Until(func() string { return fmt.Sprintf("%s is in view; hidden: %s", c, page.Call[string](c, hidden)) },
		func() bool { return page.Call[string](c, hidden) == "" })
}

// What happened last to the call on show is in view, however many calls there
// were before: its question, and then its result.
func TestLatestInView(t *testing.T) {
	t.Parallel()
	const message, long = "Who signs the release?", "Where does it go?"
	fields := `"signer":{"type":"string","title":"Signer"}`
	for i := range 9 {
		fields += fmt.Sprintf(`,"line%d":{"type":"string","title":"Line %d","description":"As on the envelope"}`, i, i)
	}
	questions := []servers.Question{{Name: "ask_long", Params: `{"message":"` + long + `","requestedSchema":{"type":"object","properties":{` + fields + `}}}`}}
	for _, size := range [][2]int64{{1440, 900}, {390, 844}} {
		for _, by := range []string{"mouse", "keyboard"} {
			t.Run(fmt.Sprintf("%d×%d by %s", size[0], size[1], by), func(t *testing.T) {
				t.Parallel()
				s := openOn(t, servers.NewRude(t, questions).Command)
				s.page.Size(size[0], size[1])
				press := func(c *page.Control) {
					if by == "mouse" {
						c.Click()
						return
					}
					c.Focus()
					s.page.Press(page.Enter)
				}
				for n := range 20 {
					asked := message
					switch n {
					case 0:
						s.choose("Tools", "ask")
					case 10:
						if size[0] < 900 {
							s.page.Role("navigation", "Panes").Link("Tools").Click()
						}
						s.choose("Tools", "ask_long")
					}
					if n >= 10 {
						asked = long
					}
					press(s.page.Region("Call").Button("Call"))
					q := s.question(asked)
					inView(q.Role("heading", asked))
					q.Field("Signer").HasFocus()
					s.page.Type(fmt.Sprintf("signer %d", n))
					inView(q.Role("heading", asked))
					if by == "mouse" {
						q.Button("Accept").Click()
					} else {
						s.page.Press(page.Enter)
					}
					s.result(fmt.Sprintf("signer %d", n))
					inView(s.page.Region("Result"))
				}
			})
		}
	}
}
