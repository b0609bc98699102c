package wire

import (
	"iter"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// peek is valid JSON text from where a value begins. It may go on after the
// value, and end before it does.
type peek []byte

func peekAt(b []byte) peek { return b[:min(len(b), summaryWindow)] }

// get is the member with that name, nil if there is none to be seen.
func (p peek) get(name string) (found peek) {
	c := rawjson.NewCursor(p)
	for n := range c.Members() {
		if n.Is(name) {
			found = c.Rest()
			break
		}
	}
	return found
}

// each calls f for the members in order, until it returns false.
func (p peek) each(f func(name string, value peek) bool) {
	c := rawjson.NewCursor(p)
	for name := range c.Members() {
		if rest := c.Rest(); len(rest) == 0 || !f(name.String(), rest) {
			return
		}
	}
}

// count is the number of members or elements, and whether there are more than
// can be seen.
func (p peek) count() (n int, more bool) {
	c := rawjson.NewCursor(p)
	for range c.Members() {
		n++
	}
	for range c.Elements() {
		n++
	}
	if c.Cut() && n > 0 {
		n-- // the one that was cut off
	}
	return n, c.Cut()
}

// counted says how many there are of what is called one.
func (p peek) counted(one string) string {
	n, more := p.count()
	if more {
		return "more than " + wording.Plural(n, one)
	}
	return wording.Plural(n, one)
}

// elements gives where the elements begin that can be seen.
func (p peek) elements() iter.Seq2[int, peek] {
	return func(yield func(int, peek) bool) {
		c := rawjson.NewCursor(p)
		for i := range c.Elements() {
			if rest := c.Rest(); len(rest) == 0 || !yield(i, rest) {
				return
			}
		}
	}
}

func (p peek) first() peek {
	for _, element := range p.elements() {
		return element
	}
	return nil
}

// last is the last element, or the last that can be seen.
func (p peek) last() (found peek) {
	for _, element := range p.elements() {
		found = element
	}
	return found
}

// texts are the elements, the first of them, as text has them.
func (p peek) texts() (out []string) {
	const most = 20
	for i, element := range p.elements() {
		if i == most {
			break
		}
		out = append(out, element.text())
	}
	return out
}

// whole is the value's text, nil if its end cannot be seen.
func (p peek) whole() []byte { return rawjson.NewCursor(p).Value() }

// text is a string decoded, or another value as it is written; either way as
// much of it as a summary can use.
func (p peek) text() string {
	const room = summaryRunes * len(`\ud83d\ude00`) * 2
	value, isString := p.whole(), rawjson.KindOf(p) == rawjson.String
	switch {
	case value == nil:
		value = p
	case isString:
		value = value[:len(value)-1]
	}
	value = value[:min(len(value), room)]
	if isString {
		return strings.ToValidUTF8(rawjson.Unescape(value[1:]), "")
	}
	return strings.ToValidUTF8(string(value), "")
}

// filled is text, but "" for an object or array with nothing in it, and for
// null.
func (p peek) filled() string {
	if len(p) == 0 || p[0] == 'n' {
		return ""
	}
	if n, more := p.count(); (p[0] == '{' || p[0] == '[') && n == 0 && !more {
		return ""
	}
	return p.text()
}
