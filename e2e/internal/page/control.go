package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
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

type node struct {
	id   cdp.BackendNodeID
	role string
	name string
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return plain(v.Value)
}

func plain(v jsonv2.Value) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return string(v)
	}
	return s
}

// squeeze makes white space in names comparable.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// nodes returns all matches in the accessibility tree.
func (c *Control) nodes() ([]node, error) {
	var root runtime.RemoteObjectID
	var err error
	if c.within == nil {
		root, err = c.page.document()
	} else {
		root, err = c.within.object()
	}
	if err != nil {
		return nil, err
	}
	params := accessibility.QueryAXTreeParams{ObjectID: root}
	// Whatever the browser leaves out, it need not describe.
	switch {
	case len(c.roles) == 1:
		params.Role = c.roles[0]
	case !c.anyName:
		params.AccessibleName = c.name
	}
	res, err := call(c.page, accessibility.QueryAXTree, params)
	if err != nil {
		return nil, err
	}
	var found []node
	for _, n := range res.Nodes {
		role, name := text(n.Role), text(n.Name)
		if n.Ignored || n.BackendDOMNodeID == 0 || !slices.Contains(c.roles, role) {
			continue
		}
		if !c.anyName && squeeze(name) != squeeze(c.name) {
			continue
		}
		if slices.ContainsFunc(found, func(o node) bool { return o.id == n.BackendDOMNodeID }) {
			continue
		}
		if c.attr != "" {
			d, err := call(c.page, dom.DescribeNode, dom.DescribeNodeParams{BackendNodeID: n.BackendDOMNodeID})
			if err != nil || !hasAttribute(d.Node.Attributes, c.attr, c.value) {
				continue // the element is gone, or does not match
			}
		}
		found = append(found, node{id: n.BackendDOMNodeID, role: role, name: name})
	}
	// The list of a combo box has the same label as the box, which is the field.
	if slices.ContainsFunc(found, func(n node) bool { return n.role == "combobox" }) {
		found = slices.DeleteFunc(found, func(n node) bool { return n.role == "listbox" })
	}
	return found, nil
}

// hasAttribute searches a list of alternating names and values.
func hasAttribute(list []string, name, value string) bool {
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == name {
			return list[i+1] == value
		}
	}
	return false
}

func (p *Page) document() (runtime.RemoteObjectID, error) {
	res, err := call(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document", ObjectGroup: "found"})
	if err != nil {
		return "", err
	}
	return res.Result.ObjectID, nil
}

// object returns the element, if there is exactly one match.
func (c *Control) object() (runtime.RemoteObjectID, error) {
	if c.what != "region" && c.what != "article" || c.anyName || c.nth >= 0 {
		return c.lookUp()
	}
	// Reuse a region or article while the page shows it under this name: looking it up again is
	// the slowest part of a test.
	key := c.String()
	if known, ok := c.page.known[key]; ok {
		var still bool
		if err := c.page.callOn(known, stillThere, &still, map[string]string{"name": squeeze(c.name), "attr": c.attr, "value": c.value}); err == nil && still {
			return known, nil
		}
		delete(c.page.known, key)
	}
	object, err := c.lookUp()
	if err == nil {
		c.page.known[key] = object
	}
	return object, err
}

// stillThere tells, after the next frame as a look-up does, whether an element is shown, is
// labelled with a name, and has a value of an attribute, if one is given. The library leaves out
// an argument that is an empty string, so all are members of one.
const stillThere = `async function({name, attr, value}) {
	await new Promise(done => { requestAnimationFrame(done); setTimeout(done, 100) });
	const by = this.getAttribute('aria-labelledby');
	const label = by ? by.trim().split(/\s+/).map(id => document.getElementById(id)?.textContent ?? '').join(' ') : this.ariaLabel ?? '';
	return this.isConnected && this.checkVisibility() && label.trim().replace(/\s+/g, ' ') === name && (attr === '' || this.getAttribute(attr) === value);
}`

func (c *Control) lookUp() (runtime.RemoteObjectID, error) {
	nodes, err := c.nodes()
	if err != nil {
		return "", err
	}
	switch {
	case c.nth >= 0 && c.nth < len(nodes):
		nodes = nodes[c.nth : c.nth+1]
	case c.nth >= 0 || len(nodes) == 0:
		return "", fmt.Errorf("%s is not there", c)
	case len(nodes) > 1:
		return "", fmt.Errorf("%s is there %d times", c, len(nodes))
	}
	res, err := call(c.page, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: nodes[0].id, ObjectGroup: "found"})
	if err != nil {
		return "", err
	}
	return res.Object.ObjectID, nil
}

// apply calls a JavaScript function with the element as its this.
func apply[T any](c *Control, function string, args ...any) (T, error) {
	var v T
	object, err := c.object()
	if err != nil {
		return v, err
	}
	return v, c.page.callOn(object, function, &v, args...)
}

// callOn calls a JavaScript function with an element as its this, and decodes the result.
func (p *Page) callOn(object runtime.RemoteObjectID, function string, result any, args ...any) error {
	yes := true
	params := runtime.CallFunctionOnParams{FunctionDeclaration: function, ObjectID: object, ReturnByValue: &yes, AwaitPromise: &yes}
	for _, a := range args {
		raw, err := json.Marshal(a)
		if err != nil {
			return err
		}
		params.Arguments = append(params.Arguments, &runtime.CallArgument{Value: jsonv2.Value(raw)})
	}
	res, err := call(p, runtime.CallFunctionOn, params)
	if err != nil {
		return err
	}
	return decode(res.Result, res.ExceptionDetails, result)
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
		nodes, err := all.nodes()
		if err != nil {
			continue
		}
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = fmt.Sprintf("%s %q", n.role, n.name)
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
	wait(c, "finding", func() (struct{}, error) { _, err := c.object(); return struct{}{}, err })
	return c
}

// Gone waits until no element matches.
func (c *Control) Gone() {
	c.page.t.Helper()
	c.page.Until(
		func() string { return c.String() + " is gone" },
		func() bool { n, err := c.nodes(); return len(n) == 0 && err == nil || c.within != nil && err != nil },
	)
}

// Exists reports whether the control exists now.
func (c *Control) Exists() bool {
	nodes, err := c.nodes()
	return err == nil && len(nodes) > 0
}

// Count returns the present number of matches.
func (c *Control) Count() int {
	nodes, err := c.nodes()
	if err != nil {
		return 0
	}
	return len(nodes)
}

// Names returns the accessible names of all present matches, in the page's order.
func (c *Control) Names() []string {
	nodes, _ := c.nodes()
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = squeeze(n.name)
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
