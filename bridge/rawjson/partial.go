package rawjson

import (
	"iter"
	"strings"
)

// Partial is a piece of valid JSON that starts at the beginning of a value. It may
// continue after the value, or be cut off within it. So the beginning of a value can be
// read without parsing the whole of it.
type Partial []byte

// textMost is how many bytes of a value's JSON [Partial.Text] reads.
const textMost = 4 << 10

// Get returns the member with that name, nil if the visible part has none.
func (p Partial) Get(name string) Partial {
	c := NewCursor(p)
	for n := range c.Members() {
		if n.Is(name) {
			return c.Rest()
		}
	}
	return nil
}

// Members yields each visible member, with everything after it.
func (p Partial) Members() iter.Seq2[string, Partial] {
	return func(yield func(string, Partial) bool) {
		c := NewCursor(p)
		for name := range c.Members() {
			if rest := c.Rest(); len(rest) == 0 || !yield(name.String(), rest) {
				return
			}
		}
	}
}

// Elements yields each visible element, with everything after it.
func (p Partial) Elements() iter.Seq[Partial] {
	return func(yield func(Partial) bool) {
		c := NewCursor(p)
		for range c.Elements() {
			if rest := c.Rest(); len(rest) == 0 || !yield(rest) {
				return
			}
		}
	}
}

// First returns the first visible element.
func (p Partial) First() Partial {
	for element := range p.Elements() {
		return element
	}
	return nil
}

// Count returns how many members or elements are visible; more reports that the
// value was cut off.
func (p Partial) Count() (n int, more bool) {
	c := NewCursor(p)
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

// Whole returns the whole value, nil if it is cut off.
func (p Partial) Whole() []byte { return NewCursor(p).Value() }

// Text returns a decoded string, or the JSON of another value, cut to the
// length that a summary can use.
func (p Partial) Text() string {
	value, isString := p.Whole(), KindOf(p) == String
	switch {
	case value == nil:
		value = p
	case isString:
		value = value[:len(value)-1]
	}
	value = value[:min(len(value), textMost)]
	if isString {
		return strings.ToValidUTF8(Unescape(value[1:]), "")
	}
	return strings.ToValidUTF8(string(value), "")
}

// Filled returns text, but "" for null and for an empty object or array.
func (p Partial) Filled() string {
	if len(p) == 0 || p[0] == 'n' {
		return ""
	}
	if n, more := p.Count(); (p[0] == '{' || p[0] == '[') && n == 0 && !more {
		return ""
	}
	return p.Text()
}
