package page

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// Modifier is a key held down while another is pressed.
type Modifier int64

// The modifiers of the protocol.
const (
	Alt   Modifier = 1
	Ctrl  Modifier = 2
	Meta  Modifier = 4
	Shift Modifier = 8
)

// Keys without a character.
const (
	Enter    = kb.Enter
	Escape   = kb.Escape
	TabKey   = kb.Tab
	Space    = " "
	Up       = kb.ArrowUp
	Down     = kb.ArrowDown
	Left     = kb.ArrowLeft
	Right    = kb.ArrowRight
	Home     = kb.Home
	End      = kb.End
	PageUp   = kb.PageUp
	PageDown = kb.PageDown
	Delete   = kb.Delete
	Back     = kb.Backspace
)

// Point is a position in the visible part of the page, in CSS pixels.
type Point struct{ X, Y float64 }

// aim scrolls the element into view and returns a point to click on. A control that is
// hidden behind its label (a styled radio button) is clicked on the label; any other
// element over it is an error.
const aim = `async function() {
	const frame = () => new Promise(r => requestAnimationFrame(r));
	const middle = el => {
		const r = [...el.getClientRects()].find(r => r.width > 0 && r.height > 0);
		if (!r) return null;
		const x0 = Math.max(r.left, 0), x1 = Math.min(r.right, innerWidth);
		const y0 = Math.max(r.top, 0), y1 = Math.min(r.bottom, innerHeight);
		if (x1 <= x0 || y1 <= y0) return null;
		return {x: (x0 + x1) / 2, y: (y0 + y1) / 2};
	};
	let over = null;
	for (const el of [this, ...(this.labels ?? [])]) {
		el.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
		await frame();
		let before = middle(el);
		await frame();
		const p = middle(el);
		if (!p || !before || p.x !== before.x || p.y !== before.y) { over = 'it has no place, or moves'; continue }
		const hit = document.elementFromPoint(p.x, p.y);
		if (hit && (el.contains(hit) || hit.contains(el) && hit.tagName === 'LABEL')) return p;
		over = hit ? hit.outerHTML.slice(0, 160) : 'nothing is there';
	}
	throw new Error('cannot be clicked, because: ' + over);
}`

// Click clicks the control with the mouse. If the page moves it away from under the
// pointer before or during the click, Click tries again, like a person; what lies there then
// is not clicked.
func (c *Control) Click() {
	c.page.t.Helper()
	for range 5 {
		at := wait(c, "clicking", func() (Point, error) { return apply[Point](c, press) })
		c.page.ClickAt(at)
		// If the page has navigated, the click was successful.
		if missed, err := eval[bool](c.page, "window.watching?.abort(), window.clicked === false"); err != nil || !missed {
			return
		}
	}
	c.page.t.Fatalf("clicking %s: it moves away each time", c)
}

// ClickIfThere clicks a control that may go at any time, without the mouse.
func (c *Control) ClickIfThere() { _, _ = apply[any](c, "function() { this.click() }") }

// press returns a point to click on, unless the element is disabled, and watches what is clicked.
const press = `async function() {
	if (this.disabled === true || this.getAttribute('aria-disabled') === 'true') throw new Error('it is disabled');
	const at = await (` + aim + `).call(this);
	(` + watchClick + `).call(this);
	return at;
}`

// watchClick records in window.clicked whether the next press of the button ends as a
// click on the element or a label of it. A click on anything else has no effect: it could
// answer a question that has come to this place.
const watchClick = `function() {
	const on = [this, ...(this.labels ?? [])];
	const hits = e => on.some(el => el.contains(e.target) || e.target.contains(el) && e.target.tagName === 'LABEL');
	window.clicked = undefined;
	window.watching = new AbortController();
	const options = {capture: true, once: true, signal: window.watching.signal};
	window.addEventListener('pointerdown', () => { window.clicked = false }, options);
	window.addEventListener('click', e => {
		window.clicked = hits(e);
		if (window.clicked) return;
		e.preventDefault();
		e.stopImmediatePropagation();
	}, options);
}`

// ClickAt clicks at a point of the page.
func (p *Page) ClickAt(at Point) {
	p.t.Helper()
	if err := p.mouse(at); err != nil {
		p.t.Fatalf("clicking at %v: %v", at, err)
	}
}

func (p *Page) mouse(at Point) error {
	clicks := int64(1)
	if p.second {
		clicks = 2
	}
	for _, e := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: clicks},
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: clicks},
	} {
		e.X, e.Y, e.Timestamp = at.X, at.Y, p.at
		if _, err := call(p, input.DispatchMouseEvent, e); err != nil {
			return err
		}
	}
	return nil
}

// Where returns a point of the control that a click would hit.
func (c *Control) Where() Point {
	c.page.t.Helper()
	return wait(c, "finding the place of", func() (Point, error) { return apply[Point](c, aim) })
}

// Wheel turns the mouse wheel over the control by dy CSS pixels.
func (c *Control) Wheel(dy float64) {
	c.page.t.Helper()
	at := c.Where()
	// Chromium insists on a deltaX, and the library leaves out a zero.
	params := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: at.X, Y: at.Y, DeltaX: 0.01, DeltaY: dy}
	if _, err := call(c.page, input.DispatchMouseEvent, params); err != nil {
		c.page.t.Fatalf("scrolling %s: %v", c, err)
	}
}

// Focus gives the control the focus without a click.
func (c *Control) Focus() *Control {
	c.page.t.Helper()
	wait(c, "focusing", func() (bool, error) {
		ok, err := apply[bool](c, "function() { this.focus(); return document.activeElement === this }")
		if err == nil && !ok {
			err = errors.New("it does not take the focus")
		}
		return ok, err
	})
	return c
}

// Press presses one key wherever the focus is.
func (p *Page) Press(key string, held ...Modifier) {
	p.t.Helper()
	var mods Modifier
	for _, m := range held {
		mods |= m
	}
	for _, r := range key {
		for _, e := range kb.Encode(r) {
			e.Modifiers |= int64(mods)
			e.Timestamp = p.at
			if e.Type == kb.KeyChar && mods&^Shift != 0 {
				continue // a shortcut types no text
			}
			if e.Type == kb.KeyDown && mods == Ctrl && r == 'a' {
				e.Commands = []string{"selectAll"}
			}
			if _, err := call(p, input.DispatchKeyEvent, *e); err != nil {
				p.t.Fatalf("pressing %q: %v", key, err)
			}
		}
	}
}

// Twice presses the same key or place twice, and lets things happen in between. For the
// page, a fifth of a second passes from one press to the other, however long it takes.
func (p *Page) Twice(press, between func()) {
	p.at = input.TimeSinceEpoch(time.Now().UnixMicro()) / 1e6
	press()
	between()
	p.at, p.second = p.at+0.2, true
	press()
	p.at, p.second = 0, false
}

// Type types text wherever the focus is, key by key.
func (p *Page) Type(s string) {
	p.t.Helper()
	for _, r := range s {
		p.Press(string(r))
	}
}

// Type clicks the control and types text after its present value.
func (c *Control) Type(s string) *Control {
	c.page.t.Helper()
	c.Click()
	c.page.Press(End)
	c.page.Type(s)
	return c
}

// Fill clicks the control and types text in place of its value.
func (c *Control) Fill(s string) *Control {
	c.page.t.Helper()
	c.Click()
	c.page.Press("a", Ctrl)
	if s == "" {
		c.page.Press(Delete)
		return c
	}
	c.page.Type(s)
	return c
}

// Paste clicks the control and inserts text at once in place of its value, like a paste
// or an input method.
func (c *Control) Paste(s string) *Control {
	c.page.t.Helper()
	c.Click()
	c.page.Press("a", Ctrl)
	if _, err := call(c.page, input.InsertText, input.InsertTextParams{Text: s}); err != nil {
		c.page.t.Fatalf("pasting into %s: %v", c, err)
	}
	return c
}

// Choose picks a choice by its title in a field with several, for any kind of control:
// radio buttons, check boxes, a select, or a searchable list.
func (c *Control) Choose(title string) {
	c.page.t.Helper()
	kind := Call[string](c, `function() {
		if (this.tagName === 'SELECT') return this.multiple ? 'listbox' : 'select';
		if (this.getAttribute('role') === 'combobox' || this.hasAttribute('list')) return 'search';
		return 'group';
	}`)
	switch kind {
	case "select", "listbox":
		c.Focus()
		c.page.Type(title)
		picked := Call[string](c, "function() { return this.selectedOptions[0]?.label ?? '' }")
		if squeeze(picked) != squeeze(title) {
			c.page.t.Fatalf("typing %q in %s picked %q", title, c, picked)
		}
	case "search":
		c.Fill(title)
		c.page.find("option", []string{"option"}, title).Nth(0).Click()
		if Call[string](c, "function() { return this.getAttribute('aria-expanded') }") == "true" {
			c.page.Press(Escape) // the list stays open for another pick
		}
	default:
		c.find("choice", []string{"radio", "checkbox", "switch"}, title).Click()
	}
}

// Choices returns the titles of a field's choices, in order.
func (c *Control) Choices() []string {
	c.page.t.Helper()
	if names := c.find("choice", []string{"radio", "checkbox", "option"}, "").All().Names(); len(names) > 0 {
		return names
	}
	return Call[[]string](c, "function() { return [...(this.options ?? [])].map(o => o.label) }")
}

// Fields returns the accessible names of the form controls in this one, in order.
func (c *Control) Fields() []string { return c.find("field", fieldRoles, "").All().Names() }

// Expect reports an error of the test unless ok is true.
func (c *Control) Expect(ok bool, format string, args ...any) {
	c.page.t.Helper()
	if !ok {
		c.page.t.Errorf("%s: %s; it shows %q", c, fmt.Sprintf(format, args...), strings.TrimSpace(c.TextNow()))
	}
}
