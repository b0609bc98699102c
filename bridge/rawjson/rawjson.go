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
	"encoding/json"
	"iter"
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

// Trim removes the white space around a value.
func Trim(raw []byte) json.RawMessage {
	for len(raw) > 0 && isSpace(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

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
