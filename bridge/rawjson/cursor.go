package rawjson

import (
	"encoding/json"
	"iter"
)

// A Cursor reads JSON text from front to back in one pass. It stands in front
// of a value, or behind the last one that it has passed. The text need not be
// whole: what can be read before its end is read. Once the cursor has met what
// is no JSON it goes no further, and Err says why.
type Cursor struct {
	text  []byte
	at    int
	wrong mistake
}

// NewCursor returns a cursor in front of the first value in text.
func NewCursor(text []byte) *Cursor {
	c := &Cursor{text: text}
	c.at = c.space(0)
	return c
}

// Offset is where in the text the cursor stands.
func (c *Cursor) Offset() int { return c.at }

// Rest is the text from the cursor on.
func (c *Cursor) Rest() []byte { return c.text[c.at:] }

// Kind is the type of the value that the cursor stands in front of.
func (c *Cursor) Kind() Kind {
	if c.at == len(c.text) {
		return None
	}
	return kindOf(c.text[c.at])
}

// Skip passes the value in front of the cursor.
func (c *Cursor) Skip() bool {
	if c.wrong.how != nothing {
		return false
	}
	end := c.value(c.at)
	if end < 0 {
		return false
	}
	c.at = end
	return true
}

// Value passes a value and returns its text; nil if there is none.
func (c *Cursor) Value() json.RawMessage {
	from := c.at
	if !c.Skip() {
		return nil
	}
	return c.text[from:c.at:c.at]
}

// End reports whether nothing but white space follows. It is wrong if anything
// does.
func (c *Cursor) End() bool {
	if c.wrong.how != nothing {
		return false
	}
	if c.at = c.space(c.at); c.at < len(c.text) {
		c.unexpected(c.at, "nothing after the value")
		return false
	}
	return true
}

// Name is the name of a member as it stands between its quotes.
type Name []byte

// Is reports whether that is what the name says, however it is written.
func (n Name) Is(s string) bool { return string(n) == s || hasEscape(n) && n.String() == s }

func (n Name) String() string { return Unescape(n) }

// Members walks over the object in front of the cursor, if one is there. At each
// name the cursor stands in front of the member's value, which is skipped if
// the loop does not pass it. After the last the cursor stands behind the object;
// a loop that breaks puts it back in front.
func (c *Cursor) Members() iter.Seq[Name] {
	return func(yield func(Name) bool) {
		start := c.at
		for more := c.open('{'); more; more = c.more('}') {
			name, at := c.name(c.at)
			if at < 0 {
				return
			}
			c.at = at
			if !yield(name) {
				c.at = start
				return
			}
			if c.at == at && !c.Skip() {
				return
			}
		}
	}
}

// Elements walks over the array in front of the cursor, as Members does over an
// object.
func (c *Cursor) Elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		start, i := c.at, 0
		for more := c.open('['); more; more = c.more(']') {
			at := c.at
			if !yield(i) {
				c.at = start
				return
			}
			if c.at == at && !c.Skip() {
				return
			}
			i++
		}
	}
}

// open goes into the object or array in front of the cursor and reports whether
// anything is in it. An empty one is passed.
func (c *Cursor) open(bracket byte) bool {
	if c.wrong.how != nothing || c.at >= len(c.text) || c.text[c.at] != bracket {
		return false
	}
	c.at = c.space(c.at + 1)
	if c.at < len(c.text) && c.text[c.at] == closing(bracket) {
		c.at++
		return false
	}
	return true
}

// more goes to the next member or element, or out of their object or array.
func (c *Cursor) more(end byte) bool {
	if c.wrong.how != nothing {
		return false
	}
	i := c.space(c.at)
	if i < len(c.text) && c.text[i] == end {
		c.at = i + 1
		return false
	}
	if i = c.comma(i, end); i < 0 {
		return false
	}
	c.at = i
	return true
}

// closing is what closes an opening bracket: both stand two apart in ASCII.
func closing(bracket byte) byte { return bracket + 2 }
