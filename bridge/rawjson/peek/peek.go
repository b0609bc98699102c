// Package peek reads the beginning of a JSON value without parsing the whole of it: what a
// row of the log says about a message of any size.
package peek

import (
	"iter"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// JSON is a piece of valid JSON that starts at the beginning of a value. It may
// continue after the value, or be cut off within it.
type JSON []byte

// textMost is how many bytes of a value's JSON [JSON.Text] reads.
const textMost = 4 << 10

// Get returns the member with that name, nil if the visible part has none.
func (p JSON) Get(name string) (found JSON) {
	c := rawjson.NewCursor(p)
	for n := range c.Members() {
		if n.Is(name) {
			found = c.Rest()
			break
		}
	}
	return found
}

// Each calls f for the members in order, until it returns false.
func (p JSON) Each(f func(name string, value JSON) bool) {
	c := rawjson.NewCursor(p)
	for name := range c.Members() {
		if rest := c.Rest(); len(rest) == 0 || !f(name.String(), rest) {
			return
		}
	}
}

// Count returns how many members or elements are visible; more reports that the
// value was cut off.
func (p JSON) Count() (n int, more bool) {
	c := rawjson.NewCursor(p)
	for range c.Members() {
		n++
	}
	for range c.Elements() {
		n++
	}
	if c.Cut() && n > 0 {
		n-- // the last one is incomplete
	}
	return n, c.Cut()
}

// Counted returns the number of members or elements in words; one is the
// singular noun.
func (p JSON) Counted(one string) string {
	n, more := p.Count()
	if more {
		return "more than " + wording.Plural(n, one)
	}
	return wording.Plural(n, one)
}

// Elements yields each visible element, with everything after it.
func (p JSON) Elements() iter.Seq2[int, JSON] {
	return func(yield func(int, JSON) bool) {
		c := rawjson.NewCursor(p)
		for i := range c.Elements() {
			if rest := c.Rest(); len(rest) == 0 || !yield(i, rest) {
				return
			}
		}
	}
}

func (p JSON) First() JSON {
	for _, element := range p.Elements() {
		return element
	}
	return nil
}

// FirstMember returns the value of the first visible member.
func (p JSON) FirstMember() (found JSON) {
	p.Each(func(_ string, value JSON) bool {
		found = value
		return false
	})
	return found
}

// Last returns the last visible element.
func (p JSON) Last() (found JSON) {
	for _, element := range p.Elements() {
		found = element
	}
	return found
}

// Texts returns the text of the first elements.
func (p JSON) Texts() (out []string) {
	const most = 20
	for i, element := range p.Elements() {
		if i == most {
			break
		}
		out = append(out, element.Text())
	}
	return out
}

// Whole returns the whole value, nil if it is cut off.
func (p JSON) Whole() []byte { return rawjson.NewCursor(p).Value() }

// Text returns a decoded string, or the JSON of another value, cut to the
// length that a summary can use.
func (p JSON) Text() string {
	value, isString := p.Whole(), rawjson.KindOf(p) == rawjson.String
	switch {
	case value == nil:
		value = p
	case isString:
		value = value[:len(value)-1]
	}
	value = value[:min(len(value), textMost)]
	if isString {
		return strings.ToValidUTF8(rawjson.Unescape(value[1:]), "")
	}
	return strings.ToValidUTF8(string(value), "")
}

// Filled returns text, but "" for null and for an empty object or array.
func (p JSON) Filled() string {
	if len(p) == 0 || p[0] == 'n' {
		return ""
	}
	if n, more := p.Count(); (p[0] == '{' || p[0] == '[') && n == 0 && !more {
		return ""
	}
	return p.Text()
}
