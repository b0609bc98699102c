package wire

import (
	"iter"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// peek is a piece of valid JSON that starts at the beginning of a value. It may
// continue after the value, or be cut off within it.
type peek []byte

func peekAt(b []byte) peek { return b[:min(len(b), summaryWindow)] }

// get returns the member with that name, nil if the visible part has none.
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

// count returns how many members or elements are visible; more reports that the
// value was cut off.
func (p peek) count() (n int, more bool) {
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

// counted returns the number of members or elements in words; one is the
// singular noun.
func (p peek) counted(one string) string {
	n, more := p.count()
	if more {
		return "more than " + wording.Plural(n, one)
	}
	return wording.Plural(n, one)
}

// elements yields each visible element, with everything after it.
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

// firstMember returns the value of the first visible member.
func (p peek) firstMember() (found peek) {
	p.each(func(_ string, value peek) bool {
		found = value
		return false
	})
	return found
}

// last returns the last visible element.
func (p peek) last() (found peek) {
	for _, element := range p.elements() {
		found = element
	}
	return found
}

// texts returns the text of the first elements.
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

// whole returns the whole value, nil if it is cut off.
func (p peek) whole() []byte { return rawjson.NewCursor(p).Value() }

// text returns a decoded string, or the JSON of another value, cut to the
// length that a summary can use.
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

// filled returns text, but "" for null and for an empty object or array.
func (p peek) filled() string {
	if len(p) == 0 || p[0] == 'n' {
		return ""
	}
	if n, more := p.count(); (p[0] == '{' || p[0] == '[') && n == 0 && !more {
		return ""
	}
	return p.text()
}
