package e2e

import (
	"fmt"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// hidden describes which part of an element is invisible, in CSS pixels: it is above or
// below the pane, or under elements that stick to the pane's edges.
const hidden = `function() {
	const pane = document.getElementById('work').getBoundingClientRect(), strip = document.getElementById('calls').getBoundingClientRect();
	const r = this.getBoundingClientRect(), top = Math.max(pane.top, strip.bottom);
	const clear = y => { const e = document.elementFromPoint(r.left + r.width / 2, y); return e && (this.contains(e) || e.contains(this)) };
	if (!this.checkVisibility() || !r.height) return 'all of it';
	if (r.top < top) return Math.round(top - r.top) + ' px at the top';
	if (r.bottom > pane.bottom) return Math.round(r.bottom - pane.bottom) + ' px at the bottom';
	return clear(r.top + 2) && clear(r.bottom - 2) ? '' : 'covered';
}`

// inView waits until the whole control is visible.
func inView(c *page.Control) {
	c.Page().Until(func() string { return fmt.Sprintf("%s is in view; hidden: %s", c, page.Call[string](c, hidden)) },
		func() bool { return page.Call[string](c, hidden) == "" })
}

// The latest event of the call on show is in view after any number of earlier calls: its
// question, and then its result.
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
					press(s.page.Region("Call").Button(callButton(n % 10)))
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

// Nothing moves while the person is typing, or has scrolled away from the call.
func TestNothingMovesUnderThePerson(t *testing.T) {
	t.Parallel()
	fields := `"line":{"type":"string","title":"Line"}`
	for i := range 20 {
		fields += fmt.Sprintf(`,"line%d":{"type":"string","title":"Line %d"}`, i, i)
	}
	for _, doing := range []string{"typing", "scrolling", "nothing"} {
		t.Run(doing, func(t *testing.T) {
			t.Parallel()
			rude := servers.NewRude(t, []servers.Question{{Name: "ask_long", Params: `{"message":"Where does it go?","requestedSchema":{"type":"object","properties":{` + fields + `}}}`}})
			s := openOn(t, rude.Command)
			s.call("ask_long")
			q := s.question("Where does it go?")
			s.call("progress")
			bar := s.page.Region("Call").Role("progressbar", "Progress")
			for _, step := range []string{"1", "2", "3"} {
				rude.Order("go")
				bar.HasAttr("value", step)
			}
			pane := s.page.Region("Call")
			scrolled := func() float64 {
				return page.Call[float64](pane, "function() { return this.parentElement.scrollTop }")
			}
			switch doing {
			case "typing":
				q.Field("Line 19").Type("far down")
			case "scrolling":
				q.Role("heading", "Where does it go?").Wheel(700)
				s.page.Until(func() string { return "the pane is scrolled" }, func() bool { return scrolled() >= 700 })
			case "nothing":
				page.Call[bool](pane, "function() { this.parentElement.scrollTop = 700; return true }")
			}
			line := func() float64 {
				return page.Call[float64](q.Field("Line 19"), "function() { return this.getBoundingClientRect().top }")
			}
			before := line()
			rude.Order("go")
			s.result("all tables copied")
			if doing == "nothing" {
				inView(s.page.Region("Result"))
				return
			}
			s.page.Role("navigation", "Calls").Button("2 progress done").Wait() // wait until everything after the result is drawn
			if after := line(); max(after-before, before-after) >= 1 {
				t.Errorf("the field that is looked at has moved from %v to %v", before, after)
			}
		})
	}
}
