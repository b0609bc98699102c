package page

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// Control describes how to find an element on the page: by role and name, within another
// control or the whole page. Each use looks it up again, so it may be kept across changes
// of the page.
type Control struct {
	page    *Page
	within  *Control
	what    string   // the role in messages
	roles   []string // accepted roles of the accessibility tree
	name    string   // the whole accessible name
	anyName bool
	nth     int // 0-based among several; -1: there must be exactly one
	attr    string
	value   string // value of attr, if attr is set
}

// fieldRoles are the roles of a control that a label can belong to.
var fieldRoles = []string{
	"textbox", "searchbox", "spinbutton", "combobox", "listbox", "checkbox", "switch",
	"radiogroup", "group", "Date", "DateTime", "InputTime", "slider",
}

func (p *Page) find(what string, roles []string, name string) *Control {
	return &Control{page: p, what: what, roles: roles, name: name, nth: -1}
}

func (c *Control) find(what string, roles []string, name string) *Control {
	return &Control{page: c.page, within: c, what: what, roles: roles, name: name, nth: -1}
}

// Region is a landmark of the page.
func (p *Page) Region(name string) *Control { return p.find("region", []string{"region"}, name) }

// Role is any element by its role in the accessibility tree.
func (p *Page) Role(role, name string) *Control { return p.find(role, []string{role}, name) }

// Button is a button anywhere on the page.
func (p *Page) Button(name string) *Control { return p.find("button", []string{"button"}, name) }

// TabNamed is a tab (of a tab list) anywhere on the page.
func (p *Page) TabNamed(name string) *Control { return p.find("tab", []string{"tab"}, name) }

// Question is the article in the region Questions with this name.
func (p *Page) Question(message string) *Control {
	return p.Region("Questions").Article(message)
}

// Region is a region within this one.
func (c *Control) Region(name string) *Control { return c.find("region", []string{"region"}, name) }

// Article is an article by its name.
func (c *Control) Article(name string) *Control { return c.find("article", []string{"article"}, name) }

// Button is a button by its name.
func (c *Control) Button(name string) *Control { return c.find("button", []string{"button"}, name) }

// Link is a link by its name.
func (c *Control) Link(name string) *Control { return c.find("link", []string{"link"}, name) }

// TabNamed is a tab by its name.
func (c *Control) TabNamed(name string) *Control { return c.find("tab", []string{"tab"}, name) }

// Field is the control with a label.
func (c *Control) Field(label string) *Control { return c.find("field", fieldRoles, label) }

// Radio is one radio button.
func (c *Control) Radio(name string) *Control { return c.find("radio", []string{"radio"}, name) }

// Checkbox is a check box or a switch.
func (c *Control) Checkbox(name string) *Control {
	return c.find("check box", []string{"checkbox", "switch"}, name)
}

// Option is one option of a list.
func (c *Control) Option(name string) *Control { return c.find("option", []string{"option"}, name) }

// Role is any element by its role in the accessibility tree.
func (c *Control) Role(role, name string) *Control { return c.find(role, []string{role}, name) }

// Page is the page that the control is on.
func (c *Control) Page() *Page { return c.page }

// All matches the same role with any name: for Count, Nth and Names.
func (c *Control) All() *Control {
	all := *c
	all.anyName = true
	return &all
}

// Nth selects one of several matches, counted from 0.
func (c *Control) Nth(n int) *Control {
	one := *c
	one.nth = n
	return &one
}

// Having restricts the control to elements with this value of an attribute.
func (c *Control) Having(attr, value string) *Control {
	some := *c
	some.attr, some.value = attr, value
	return &some
}

// String describes how to find the control.
func (c *Control) String() string {
	s := fmt.Sprintf("%s %q", c.what, c.name)
	if c.anyName {
		s = "any " + c.what
	}
	if c.attr != "" {
		s += fmt.Sprintf(" with %s=%q", c.attr, c.value)
	}
	if c.nth >= 0 {
		s = fmt.Sprintf("%s (number %d)", s, c.nth+1)
	}
	if c.within != nil {
		s += " in " + c.within.String()
	}
	return s
}

// A match is an element that was found.
type match struct{ Role, Name string }

// squeeze makes white space in names comparable.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// finder is the script that looks up controls in the page.
//
//go:embed finder.js
var finder string

// A step leads from one element, or the page, to elements in it.
type step struct {
	Roles []string `json:"roles"`
	Name  string   `json:"name"`
	Any   bool     `json:"any"`
	Nth   int      `json:"nth"`
	Attr  string   `json:"attr"`
	Value string   `json:"value"`
}

// path has the steps from the page to the control.
func (c *Control) path() []step {
	var path []step
	if c.within != nil {
		path = c.within.path()
	}
	return append(path, step{c.roles, squeeze(c.name), c.anyName, c.nth, c.attr, c.value})
}

// look calls a method of the finder with the control's path and further arguments, each a
// JavaScript expression. The error says which step of the path does not lead to one element.
func look[T any](c *Control, method string, args ...string) (T, error) {
	path, err := json.Marshal(c.path())
	if err != nil {
		return *new(T), err
	}
	expression := "window.finder?." + method + "(" + strings.Join(append([]string{string(path)}, args...), ", ") + ") ?? {absent: true}"
	type result struct {
		Absent bool // this document has no finder yet
		Value  T
		Step   *int // that has not led to one element, but to
		There  int  // so many
	}
	got, err := eval[result](c.page, expression)
	if err == nil && got.Absent {
		if _, err = eval[any](c.page, finder); err == nil {
			got, err = eval[result](c.page, expression)
		}
	}
	if err != nil || got.Step == nil {
		return got.Value, err
	}
	at := c
	for range len(c.path()) - 1 - *got.Step {
		at = at.within
	}
	if got.There == 0 || at.nth >= 0 {
		return got.Value, fmt.Errorf("%s is not there", at)
	}
	return got.Value, fmt.Errorf("%s is there %d times", at, got.There)
}

// matches returns all matches in the page's order.
func (c *Control) matches() ([]match, error) { return look[[]match](c, "all") }

// apply calls a JavaScript function with the element as its this.
func apply[T any](c *Control, function string, args ...any) (T, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return *new(T), err
	}
	return look[T](c, "use", "("+function+")", string(raw))
}

// wait repeats f until it returns no error, and ends the test after Wait.
func wait[T any](c *Control, doing string, f func() (T, error)) T {
	c.page.t.Helper()
	var v T
	var err error
	c.page.Until(
		func() string { return fmt.Sprintf("%s %s: %v\n%s", doing, c, err, c.around()) },
		func() bool { v, err = f(); return err == nil },
	)
	return v
}

// around describes the elements where the control was searched.
func (c *Control) around() string {
	for at := c; at != nil; at = at.within {
		all := at.All()
		all.nth, all.attr = -1, ""
		found, err := all.matches()
		if err != nil {
			continue
		}
		names := make([]string, len(found))
		for i, m := range found {
			names[i] = fmt.Sprintf("%s %q", m.Role, m.Name)
		}
		where := "on the page"
		if at.within != nil {
			where = "in " + at.within.String()
		}
		return fmt.Sprintf("%s there is: %s", where, strings.Join(names, ", "))
	}
	return ""
}

// Call returns the result of a JavaScript function called with the element as this.
func Call[T any](c *Control, function string, args ...any) T {
	c.page.t.Helper()
	return wait(c, "reading", func() (T, error) { return apply[T](c, function, args...) })
}

// Wait waits until the control exists.
func (c *Control) Wait() *Control {
	c.page.t.Helper()
	wait(c, "finding", func() (bool, error) { return apply[bool](c, "function() { return true }") })
	return c
}

// Gone waits until no element matches.
func (c *Control) Gone() {
	c.page.t.Helper()
	c.page.Until(
		func() string { return c.String() + " is gone" },
		func() bool {
			found, err := c.matches()
			return len(found) == 0 && err == nil || c.within != nil && err != nil
		},
	)
}

// Exists reports whether the control exists now.
func (c *Control) Exists() bool { return c.Count() > 0 }

// Count returns the present number of matches.
func (c *Control) Count() int { return len(c.Names()) }

// Names returns the accessible names of all present matches, in the page's order.
func (c *Control) Names() []string {
	found, _ := c.matches()
	names := make([]string, len(found))
	for i, m := range found {
		names[i] = m.Name
	}
	return names
}

// Text returns the visible text of the control.
func (c *Control) Text() string {
	c.page.t.Helper()
	return Call[string](c, "function() { return this.innerText }")
}

// TextNow returns the present visible text of the control, "" if it does not exist.
func (c *Control) TextNow() string {
	s, _ := apply[string](c, "function() { return this.innerText }")
	return s
}

// Contains waits until the control shows a text.
func (c *Control) Contains(part string) *Control {
	c.page.t.Helper()
	got := ""
	c.page.Until(
		func() string { return fmt.Sprintf("%s contains %q; it is %q", c, part, got) },
		func() bool { got = c.TextNow(); return strings.Contains(got, part) },
	)
	return c
}

// Matches waits until the visible text satisfies a condition.
func (c *Control) Matches(what string, ok func(shown string) bool) *Control {
	c.page.t.Helper()
	got := ""
	c.page.Until(
		func() string { return fmt.Sprintf("%s: %s; it is %q", c, what, got) },
		func() bool { got = c.TextNow(); return ok(got) },
	)
	return c
}

// Value returns the value of a form control.
func (c *Control) Value() string {
	c.page.t.Helper()
	return Call[string](c, "function() { return this.value ?? '' }")
}

// HasValue waits until a form control holds a value.
func (c *Control) HasValue(want string) *Control {
	c.page.t.Helper()
	got := ""
	c.page.Until(
		func() string { return fmt.Sprintf("%s holds %q; it holds %q", c, want, got) },
		func() bool { got, _ = apply[string](c, "function() { return this.value ?? '' }"); return got == want },
	)
	return c
}

// Attr returns an attribute of the element, "" if it is missing.
func (c *Control) Attr(name string) string {
	c.page.t.Helper()
	return Call[string](c, "function(n) { return this.getAttribute(n) ?? '' }", name)
}

// HasAttr waits until an attribute has a value.
func (c *Control) HasAttr(name, want string) *Control {
	c.page.t.Helper()
	got := ""
	c.page.Until(
		func() string { return fmt.Sprintf("%s has %s=%q; it has %q", c, name, want, got) },
		func() bool {
			got, _ = apply[string](c, "function(n) { return this.getAttribute(n) ?? '' }", name)
			return got == want
		},
	)
	return c
}

// Checked tells whether a check box, switch or radio button is on.
func (c *Control) Checked() bool {
	c.page.t.Helper()
	return Call[bool](c, "function() { return this.checked ?? this.getAttribute('aria-checked') === 'true' }")
}

// Focused tells whether the control has the focus now.
func (c *Control) Focused() bool {
	ok, err := apply[bool](c, "function() { return document.activeElement === this || this.contains(document.activeElement) }")
	return ok && err == nil
}

// HasFocus waits until the control, or something in it, has the focus.
func (c *Control) HasFocus() *Control {
	c.page.t.Helper()
	c.page.Until(func() string { return c.String() + " has the focus; it is on " + c.page.active() }, c.Focused)
	return c
}

// active names the element that has the focus.
func (p *Page) active() string {
	s, _ := eval[string](p, "document.activeElement?.outerHTML?.slice(0, 200) ?? 'nothing'")
	return s
}
