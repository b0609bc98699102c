package e2e

import (
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// event waits until the question of a call has arrived and has the focus, or its result
// has arrived, and nothing has moved for some frames. It returns which part of it is
// out of sight or covered, "" if all of it is visible, and the middle of the button to
// press next.
const event = `async function(what, n) {
	const one = match => document.querySelector(match), pane = one('#work'), until = performance.now() + 20000;
	const find = () => what === 'question' ? one('#questions [data-call="' + n + '"][data-state=pending]') : one('#result-' + n + ' > .result');
	const seen = e => {
		const shown = what === 'question' ? e.querySelector('.message') : e, r = shown.getBoundingClientRect(), p = pane.getBoundingClientRect();
		const top = Math.max(p.top, one('#calls').getBoundingClientRect().bottom), bottom = e.querySelector('.foot')?.getBoundingClientRect().top ?? p.bottom;
		const over = document.elementFromPoint(r.left + r.width / 2, r.top + 2);
		return r.top >= top && r.bottom <= bottom && over && (shown.contains(over) || over.contains(shown)) ? ''
			: what + ' ' + n + ' is at ' + Math.round(r.top) + ' to ' + Math.round(r.bottom) + ', in sight are ' + Math.round(top) + ' to ' + Math.round(bottom);
	};
	for (let before = {}, quiet = 0;;) {
		await new Promise(requestAnimationFrame);
		const e = find(), ready = e && one('[data-show-call="' + n + '"].call-tab') && (what === 'result' || e.contains(document.activeElement));
		const hidden = ready ? seen(e) : what + ' ' + n + ' has not come';
		const button = what === 'question' ? e?.querySelector('[value=decline]') : one('#call .head .primary');
		button?.scrollIntoView({block: 'nearest'});
		const {left = 0, top = 0, width = 0, height = 0} = button?.getBoundingClientRect() ?? {}, still = before.left === left && before.top === top;
		quiet = still && !hidden ? quiet + 1 : 0;
		before = {left, top};
		if (quiet > 12 || performance.now() > until) return {hidden, x: left + width / 2, y: top + height / 2};
	}
}`

// TestEveryCallInSight makes many calls in a row, and checks that the message of each
// question and each result are in sight, whether the person answers by mouse or by
// keyboard.
func TestEveryCallInSight(t *testing.T) {
	t.Parallel()
	calls := 12
	if *whole {
		calls = 50
	}
	for _, by := range []string{"mouse", "keyboard"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			s.page.Size(1280, 640)
			s.choose("Tools", "ask")
			pane := s.page.Region("Call")
			await := func(what string, n int) page.Point {
				at := page.Call[struct {
					Hidden string  `json:"hidden"`
					X      float64 `json:"x"`
					Y      float64 `json:"y"`
				}](pane, event, what, n)
				if at.Hidden != "" {
					t.Fatal(at.Hidden)
				}
				return page.Point{X: at.X, Y: at.Y}
			}
			next := pane.Button("Call").Where()
			for n := range calls {
				if by == "mouse" {
					s.page.ClickAt(next)
					s.page.ClickAt(await("question", n+1))
				} else {
					page.Call[bool](pane, "function() { this.querySelector('.head .primary').focus(); return true }")
					s.page.Press(page.Enter)
					await("question", n+1)
					s.page.Type("Mia")
					s.page.Press(page.Enter)
				}
				next = await("result", n+1)
			}
		})
	}
}
