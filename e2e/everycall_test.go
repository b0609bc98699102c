package e2e

import (
	"fmt"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// wholly describes what of an element is out of sight or covered, like hidden; an element
// that is taller than the pane must be seen from its start on.
const wholly = `function() {
	const pane = document.getElementById('work'), r = this.getBoundingClientRect(), p = pane.getBoundingClientRect();
	const top = Math.max(p.top, document.getElementById('calls').getBoundingClientRect().bottom);
	const at = 'scrolled to ' + pane.scrollTop + ', ' + Math.round(r.top) + '–' + Math.round(r.bottom) + ' in ' + Math.round(top) + '–' + Math.round(p.bottom);
	const foot = this.closest('article')?.querySelector('.foot')?.getBoundingClientRect().top ?? p.bottom;
	if (!this.checkVisibility() || r.top < top || r.bottom > Math.min(foot, p.bottom) && r.height < p.bottom - top) return at;
	const over = document.elementFromPoint(r.left + r.width / 2, r.top + 2);
	return over && (this.contains(over) || over.contains(this)) ? '' : 'covered, ' + at;
}`

// inSight waits until the whole control is in sight.
func inSight(c *page.Control) {
	seen := func() string { return page.Call[string](c, wholly) }
	c.Page().Until(func() string { return fmt.Sprintf("%s is in sight; it is %s", c, seen()) }, func() bool { return seen() == "" })
}

// Fifty calls in a row: the message of each question and each result are in sight,
// whether the person answers by mouse or by keyboard.
func TestEveryCallInSight(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"mouse", "keyboard"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.page.Size(1280, 640)
			s.choose("Tools", "transfer_money")
			const message = "Transfer 1250.10 EUR to Greenfield Bakery? Type the amount once more."
			for n := range 50 {
				if by == "mouse" {
					s.page.Region("Call").Button("Call").Click()
				} else {
					s.page.Region("Call").Button("Call").Focus()
					s.page.Press(page.Enter)
				}
				q := s.question(message)
				inSight(q.Role("heading", message))
				if by == "mouse" {
					q.Button("Decline").Click()
				} else {
					q.Field("Amount").HasFocus()
					s.page.Type("1250.10")
					s.page.Press(page.Enter)
				}
				s.page.Role("navigation", "Calls").Button(fmt.Sprintf("%d transfer_money done", n+1)).Wait()
				inSight(s.page.Region("Result"))
			}
		})
	}
}
