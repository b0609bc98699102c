// Package rawjson reads JSON (RFC 8259) as the bytes that it is written in:
// members in their order and with duplicates, numbers with their digits,
// strings with their escapes. Values are parts of the text they were read from.
//
// It has its own tokenizer because none at hand reads what an inspector meets.
// The one of go-json-experiment/json takes twice as long to find the envelope
// of a small message, cannot tell a lone surrogate escape, which a message may
// hold, from bytes that are no UTF-8, which it may not, does not say whether a
// text is wrong or merely cut off, and asks public modules not to depend on it.
package rawjson

import (
	"encoding/json"
	"iter"
)

// MaxDepth is how deep arrays and objects may be nested.
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
	None    Kind = "" // there is no value
)

// KindOf tells the type of a value by how it begins.
func KindOf(raw []byte) Kind {
	for _, b := range raw {
		if !isSpace(b) {
			return kindOf(b)
		}
	}
	return None
}

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

// Trim leaves out the white space around a value.
func Trim(raw []byte) json.RawMessage {
	for len(raw) > 0 && isSpace(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

// Check returns a [*SyntaxError] unless raw is exactly one JSON value in UTF-8,
// with or without white space around it.
func Check(raw []byte) error {
	c := NewCursor(raw)
	if c.Skip() {
		c.End()
	}
	return c.Err()
}

// Valid reports whether Check finds nothing wrong.
func Valid(raw []byte) bool {
	c := NewCursor(raw)
	return c.Skip() && c.End()
}

// Members gives the members of the object that raw begins with, in order and
// with duplicates: names decoded, values as they are. It gives none of anything
// else, and ends where raw stops being JSON.
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

// Elements gives the elements of the array that raw begins with, as Members
// does members.
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

// Member follows a path of names from object to object; nil if it leads to
// nothing. Of members that share a name it takes the last, as decoders do.
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
