// Package rawjson reads JSON (RFC 8259) without changing its bytes: members keep their
// order and duplicates, numbers their digits, strings their escapes. Values are slices
// of the text they were read from.
//
// It has its own tokenizer because existing ones cannot handle all input of an
// inspector. The tokenizer of go-json-experiment/json takes twice as long to find the
// envelope of a small message. It does not distinguish a lone surrogate escape, which a
// message may contain, from invalid UTF-8, which it may not. It does not distinguish
// invalid from truncated text. And it asks public modules not to depend on it.
package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
)

// MaxDepth is the greatest depth of nested arrays and objects.
const MaxDepth = 1024

// Kind is a JSON type as JSON Schema names it.
type Kind string

const (
	Object  Kind = "object"
	Array   Kind = "array"
	String  Kind = "string"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Null    Kind = "null"
	None    Kind = "" // no value
)

// KindOf returns the type of a value by its first character.
func KindOf(raw []byte) Kind { return NewCursor(raw).Kind() }

func kindOf(b byte) Kind {
	switch b {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Boolean
	case 'n':
		return Null
	}
	if b == '-' || isDigit(b) {
		return Number
	}
	return None
}

// Trim removes the white space around a value.
func Trim(raw []byte) json.RawMessage { return bytes.Trim(raw, " \t\r\n") }

// Check returns a [*SyntaxError] unless raw is exactly one JSON value in UTF-8, with
// optional white space around it.
func Check(raw []byte) error {
	c := NewCursor(raw)
	if c.Skip() {
		c.End()
	}
	return c.Err()
}

// Valid reports whether Check returns nil.
func Valid(raw []byte) bool {
	c := NewCursor(raw)
	return c.Skip() && c.End()
}

// Members yields the members of the object at the beginning of raw, in order and with
// duplicates: decoded names, and values as they are. It yields nothing for other
// values, and ends at a syntax error.
func Members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		c := NewCursor(raw)
		for name := range c.Members() {
			if value := c.Value(); value == nil || !yield(name.String(), value) {
				return
			}
		}
	}
}

// Count counts the members that Members yields.
func Count(object []byte) (n int) {
	for range Members(object) {
		n++
	}
	return n
}

// Elements yields the elements of the array at the beginning of raw, like Members the
// members of an object.
func Elements(raw []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		c := NewCursor(raw)
		for i := range c.Elements() {
			if value := c.Value(); value == nil || !yield(i, value) {
				return
			}
		}
	}
}

// Strings returns the strings of the array at the beginning of raw, with "" for elements
// of other kinds; nil if the array is empty or raw begins with something else.
func Strings(raw []byte) (list []string) {
	for _, element := range Elements(raw) {
		list = append(list, Text(element))
	}
	return list
}

// Member follows a path of member names through nested objects; nil if it leads
// nowhere. If several members have the same name it takes the last, as decoders do.
func Member(raw []byte, path ...string) json.RawMessage {
	for _, want := range path {
		var found json.RawMessage
		c := NewCursor(raw)
		for name := range c.Members() {
			if name.Is(want) {
				found = c.Value()
			}
		}
		raw = found
	}
	return raw
}

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

// Escapes of member names in a JSON pointer (RFC 6901, section 3).
var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// PointerTo returns the JSON pointer to a member of the object at pointer.
func PointerTo(pointer, name string) string { return pointer + "/" + pointerEscaper.Replace(name) }

// At returns the value at a JSON pointer; nil if there is none. If several members have
// the same name it takes the last, as decoders do.
func At(raw []byte, pointer string) json.RawMessage {
	from, to := Place(raw, pointer)
	return slice(raw, from, to)
}

// Place returns where [At] finds its value in the text; 0, 0 if there is none.
func Place(raw []byte, pointer string) (from, to int) {
	if pointer != "" && pointer[0] != '/' || strings.Count(pointer, "/") > MaxDepth {
		return 0, 0
	}
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = pointerUnescaper.Replace(token)
	}
	return NewCursor(raw).find(tokens)
}

func slice(raw []byte, from, to int) json.RawMessage {
	if from == to {
		return nil
	}
	return raw[from:to:to]
}

// find returns where the value is that the tokens lead to inside the value at the cursor; 0, 0 for none.
func (c *Cursor) find(tokens []string) (from, to int) {
	if len(tokens) == 0 {
		value := c.Value()
		return c.at - len(value), c.at
	}
	switch c.Kind() {
	case Object:
		for name := range c.Members() {
			if name.Is(tokens[0]) {
				from, to = c.find(tokens[1:])
			}
		}
	case Array:
		n, err := strconv.Atoi(tokens[0])
		if err != nil || strconv.Itoa(n) != tokens[0] {
			return 0, 0
		}
		for i := range c.Elements() {
			if i == n {
				from, to = c.find(tokens[1:])
			}
		}
	}
	return from, to
}
