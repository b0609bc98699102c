package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf8"
)

// A Cursor reads JSON text from front to back in one pass. Its position is before a
// value, or after the last value passed. The text may be incomplete: everything before
// its end can be read. At a syntax error the cursor stops, and Err returns the error.
type Cursor struct {
	text    []byte
	at      int
	wrong   string // what is wrong at wrongAt; "" before a syntax error
	wrongAt int
	isCut   bool // the text is truncated

	passesDeep, deep bool // see PassDeep
}

// NewCursor returns a cursor before the first value in text.
func NewCursor(text []byte) *Cursor {
	c := &Cursor{text: text}
	c.at = c.space(0)
	return c
}

// PassDeep lets the cursor pass what is nested deeper than MaxDepth, of which it reads the
// strings and counts the brackets only.
func (c *Cursor) PassDeep() { c.passesDeep, c.deep = true, false }

// Deep reports whether the cursor has passed anything deeper than MaxDepth since PassDeep.
func (c *Cursor) Deep() bool { return c.deep }

// Offset returns the cursor's byte position in the text.
func (c *Cursor) Offset() int { return c.at }

// Rest returns the text from the cursor on.
func (c *Cursor) Rest() []byte { return c.text[c.at:] }

// Kind returns the type of the value at the cursor.
func (c *Cursor) Kind() Kind {
	if c.at == len(c.text) {
		return None
	}
	return kindOf(c.text[c.at])
}

// Skip moves past the value at the cursor. It returns false at a syntax error.
func (c *Cursor) Skip() bool {
	if c.wrong != "" {
		return false
	}
	end := c.value(c.at, 0)
	if end < 0 {
		return false
	}
	c.at = end
	return true
}

// Value moves past a value and returns its text; nil if there is none.
func (c *Cursor) Value() json.RawMessage {
	from := c.at
	if !c.Skip() {
		return nil
	}
	return c.text[from:c.at:c.at]
}

// End reports whether only white space follows. Anything else is a syntax error.
func (c *Cursor) End() bool {
	if c.wrong != "" {
		return false
	}
	if c.at = c.space(c.at); c.at < len(c.text) {
		c.unexpected(c.at, "nothing after the value")
		return false
	}
	return true
}

// Name is the name of a member in its JSON encoding, without the quotes.
type Name []byte

// Is reports whether the decoded name is s.
func (n Name) Is(s string) bool { return string(n) == s || hasEscape(n) && n.String() == s }

func (n Name) String() string { return Unescape(n) }

// Members iterates over the object at the cursor; over nothing if there is none. During
// each iteration the cursor is before the member's value, which is skipped if the loop
// does not pass it. After the last member the cursor is after the object; a loop that
// breaks puts it back before the object.
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

// Elements iterates over the array at the cursor, like Members over an object.
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

// open enters the object or array at the cursor and reports whether it has any content.
// It moves past an empty one.
func (c *Cursor) open(bracket byte) bool {
	if c.wrong != "" || c.at >= len(c.text) || c.text[c.at] != bracket {
		return false
	}
	c.at = c.space(c.at + 1)
	if c.at < len(c.text) && c.text[c.at] == closing(bracket) {
		c.at++
		return false
	}
	return true
}

// more moves to the next member or element, or past the end of the object or array.
func (c *Cursor) more(end byte) bool {
	if c.wrong != "" {
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

// closing returns the bracket that closes an opening one: in ASCII, it comes two
// characters later.
func closing(bracket byte) byte { return bracket + 2 }

// A SyntaxError is the place where a text stops being JSON in UTF-8, and the reason.
type SyntaxError struct {
	Line, Column int // from 1; columns count characters
	What         string
}

func (e *SyntaxError) Error() string {
	if e.Line == 1 {
		return fmt.Sprintf("column %d: %s", e.Column, e.What)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// Err returns the syntax error as a [*SyntaxError]; nil if there is none so far.
func (c *Cursor) Err() error {
	if c.wrong == "" {
		return nil
	}
	before := c.text[:c.wrongAt]
	line := bytes.Count(before, []byte{'\n'}) + 1
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return &SyntaxError{Line: line, Column: utf8.RuneCount(before) + 1, What: c.wrong}
}

// Cut reports whether the text is truncated, and valid JSON up to its end.
func (c *Cursor) Cut() bool { return c.isCut }

func (c *Cursor) fail(at int, what string) int {
	c.wrong, c.wrongAt = what, at
	return -1
}

func (c *Cursor) unexpected(at int, want string) int {
	if at >= len(c.text) {
		return c.cut("where " + want + " should follow")
	}
	r, n := utf8.DecodeRune(c.text[at:])
	found := strconv.QuoteRune(r)
	if r == utf8.RuneError && n == 1 {
		found = fmt.Sprintf("the byte 0x%02X", c.text[at])
	}
	return c.fail(at, "expected "+want+", found "+found)
}

func (c *Cursor) cut(where string) int {
	c.isCut = true
	return c.fail(len(c.text), "the text ends "+where)
}
