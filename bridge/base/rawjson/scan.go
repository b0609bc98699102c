package rawjson

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// The methods below take the index where something begins and return the index after
// it, or -1 after recording a syntax error. They do not move the cursor.

func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\t' || c == '\n' || c == '\r') }

func isDigit(c byte) bool { return c-'0' <= 9 }

func (c *Cursor) space(i int) int {
	for i < len(c.text) && isSpace(c.text[i]) {
		i++
	}
	return i
}

// value passes any value, which stands in depth objects and arrays.
func (c *Cursor) value(i, depth int) int {
	if i >= len(c.text) || c.text[i] != '{' && c.text[i] != '[' {
		return c.scalar(i)
	}
	if depth == MaxDepth {
		if !c.passesDeep {
			return c.fail(i, tooDeep)
		}
		c.deep = true
		return c.brackets(i)
	}
	end := closing(c.text[i])
	if i = c.space(i + 1); i < len(c.text) && c.text[i] == end {
		return i + 1
	}
	for i >= 0 {
		if end == '}' {
			if _, i = c.name(i); i < 0 {
				return i
			}
		}
		if i = c.value(i, depth+1); i < 0 {
			return i
		}
		if i = c.space(i); i < len(c.text) && c.text[i] == end {
			return i + 1
		}
		i = c.comma(i, end)
	}
	return i
}

// brackets passes the object or array at i up to the bracket that closes as many as are open.
func (c *Cursor) brackets(i int) int {
	for open := 0; i >= 0 && i < len(c.text); {
		switch c.text[i] {
		case '"':
			i = c.str(i)
			continue
		case '{', '[':
			open++
		case '}', ']':
			if open--; open == 0 {
				return i + 1
			}
		}
		i++
	}
	if i >= 0 {
		i = c.cut("inside an object or array")
	}
	return i
}

var tooDeep = "nested more than " + strconv.Itoa(MaxDepth) + " deep"

func (c *Cursor) comma(i int, end byte) int {
	if i < len(c.text) && c.text[i] == ',' {
		return c.space(i + 1)
	}
	if end == '}' {
		return c.unexpected(i, "',' or '}'")
	}
	return c.unexpected(i, "',' or ']'")
}

func (c *Cursor) name(i int) (name Name, next int) {
	if i >= len(c.text) || c.text[i] != '"' {
		return nil, c.unexpected(i, "a member's name in quotes")
	}
	end := c.str(i)
	if end < 0 {
		return nil, end
	}
	name = c.text[i+1 : end-1]
	if i = c.space(end); i >= len(c.text) || c.text[i] != ':' {
		return nil, c.unexpected(i, "':'")
	}
	return name, c.space(i + 1)
}

func (c *Cursor) scalar(i int) int {
	if i >= len(c.text) {
		return c.unexpected(i, "a value")
	}
	switch b := c.text[i]; {
	case b == '"':
		return c.str(i)
	case b == '-' || isDigit(b):
		return c.number(i)
	case b == 't':
		return c.word(i, "true")
	case b == 'f':
		return c.word(i, "false")
	case b == 'n':
		return c.word(i, "null")
	}
	return c.unexpected(i, "a value")
}

func (c *Cursor) word(i int, w string) int {
	rest := c.text[i:min(i+len(w), len(c.text))]
	switch {
	case string(rest) == w:
		return i + len(w)
	case string(rest) == w[:len(rest)]:
		return c.cut("inside " + w)
	}
	return c.unexpected(i, "a value")
}

func (c *Cursor) number(i int) int {
	if c.text[i] == '-' {
		i++
	}
	if i < len(c.text) && c.text[i] == '0' {
		i++
	} else if i = c.digits(i, "a digit in a number"); i < 0 {
		return i
	}
	if i < len(c.text) && c.text[i] == '.' {
		if i = c.digits(i+1, "a digit after the decimal point"); i < 0 {
			return i
		}
	}
	if i < len(c.text) && c.text[i]|0x20 == 'e' {
		if i++; i < len(c.text) && (c.text[i] == '+' || c.text[i] == '-') {
			i++
		}
		return c.digits(i, "a digit in the exponent")
	}
	return i
}

func (c *Cursor) digits(i int, want string) int {
	if i >= len(c.text) {
		return c.cut("inside a number")
	}
	if !isDigit(c.text[i]) {
		return c.unexpected(i, want)
	}
	for i < len(c.text) && isDigit(c.text[i]) {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str passes the string whose opening quote is at i.
func (c *Cursor) str(i int) int {
	text := c.text
	i++
	for {
		// Eight bytes at a time: stop at the first that is a quote, a
		// backslash, a control character or not ASCII.
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			m := (w | (quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(text) {
			return c.cut("inside a string")
		}
		switch b := text[i]; {
		case b == '"':
			return i + 1
		case b == '\\':
			if i = c.escape(i); i < 0 {
				return i
			}
		case b < 0x20:
			return c.fail(i, fmt.Sprintf("control character U+%04X in a string must be escaped", b))
		case b < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				if !utf8.FullRune(text[i:]) {
					return c.cut("inside a character")
				}
				return c.fail(i, "not valid UTF-8")
			}
			i += n
		}
	}
}

func (c *Cursor) escape(i int) int {
	if i+1 >= len(c.text) {
		return c.cut("inside an escape sequence")
	}
	switch c.text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(c.text) {
				return c.cut("inside an escape sequence")
			}
			if b := c.text[j] | 0x20; !isDigit(c.text[j]) && (b < 'a' || b > 'f') {
				return c.fail(j, `\u must be followed by four hexadecimal digits`)
			}
		}
		return i + 6
	}
	return c.fail(i, "unknown escape sequence in a string")
}
