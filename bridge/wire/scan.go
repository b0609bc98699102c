package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds how deep arrays and objects may be nested.
const maxDepth = 1024

// scanner walks over JSON text without decoding it (RFC 8259: UTF-8, no
// trailing commas, no comments). Its methods take the index where something
// begins and return the index past it, or -1 after noting what is wrong.
type scanner struct {
	b    []byte
	at   int    // where it went wrong
	why  string // what is wrong there; "" while nothing is
	open bool   // the text ended too early, and was right so far
}

// syntaxError is what a scanner found wrong.
type syntaxError struct {
	at  int // byte offset, from 0
	why string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.at+1, e.why) }

func (s *scanner) err() error {
	if s.why == "" {
		return nil
	}
	return &syntaxError{s.at, s.why}
}

func (s *scanner) fail(at int, why string) int {
	s.at, s.why = at, why
	return -1
}

// cut notes that the text ends at len(b) where more was due.
func (s *scanner) cut(why string) int {
	s.open = true
	return s.fail(len(s.b), "the text ends "+why)
}

func (s *scanner) space(i int) int {
	for i < len(s.b) {
		switch s.b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str passes over the string whose opening quote is at i.
func (s *scanner) str(i int) int {
	b := s.b
	i++
	for {
		// Eight bytes at a time: stop at the first that is a quote, a
		// backslash, a control character or not ASCII.
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			m := (w | (quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return s.cut("inside a string")
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i = s.escape(i); i < 0 {
				return i
			}
		case c < 0x20:
			return s.fail(i, fmt.Sprintf("control character U+%04X in a string must be escaped", c))
		case c < utf8.RuneSelf:
			i++
		default:
			for i < len(b) && b[i] >= utf8.RuneSelf {
				r, n := utf8.DecodeRune(b[i:])
				if r == utf8.RuneError && n == 1 {
					if !utf8.FullRune(b[i:]) {
						return s.cut("inside a character")
					}
					return s.fail(i, "not valid UTF-8")
				}
				i += n
			}
		}
	}
}

// escape passes over the escape sequence whose backslash is at i.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.b) {
		return s.cut("inside an escape sequence")
	}
	switch s.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(s.b) {
				return s.cut("inside an escape sequence")
			}
			if c := s.b[j] | 0x20; (s.b[j] < '0' || s.b[j] > '9') && (c < 'a' || c > 'f') {
				return s.fail(j, `\u must be followed by four hexadecimal digits`)
			}
		}
		return i + 6
	}
	return s.fail(i, "unknown escape sequence in a string")
}

func (s *scanner) digits(i int, where string) int {
	if i >= len(s.b) {
		return s.cut("inside a number")
	}
	if c := s.b[i]; c < '0' || c > '9' {
		return s.fail(i, "expected a digit "+where)
	}
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	return i
}

func (s *scanner) number(i int) int {
	if s.b[i] == '-' {
		if i++; i >= len(s.b) {
			return s.cut("inside a number")
		}
	}
	if s.b[i] == '0' {
		i++
	} else if i = s.digits(i, "in a number"); i < 0 {
		return i
	}
	if i < len(s.b) && s.b[i] == '.' {
		if i = s.digits(i+1, "after the decimal point"); i < 0 {
			return i
		}
	}
	if i < len(s.b) && s.b[i]|0x20 == 'e' {
		if i++; i < len(s.b) && (s.b[i] == '+' || s.b[i] == '-') {
			i++
		}
		if i = s.digits(i, "in the exponent"); i < 0 {
			return i
		}
	}
	return i
}

func (s *scanner) word(i int, w string) int {
	if len(s.b)-i >= len(w) && string(s.b[i:i+len(w)]) == w {
		return i + len(w)
	}
	if n := len(s.b) - i; n < len(w) && string(s.b[i:]) == w[:n] {
		return s.cut("inside " + w)
	}
	return s.unexpected(i, "a value")
}

func (s *scanner) unexpected(i int, want string) int {
	if i >= len(s.b) {
		return s.cut("where " + want + " should follow")
	}
	r, n := utf8.DecodeRune(s.b[i:])
	if r == utf8.RuneError && n == 1 {
		return s.fail(i, fmt.Sprintf("expected %s, found the byte 0x%02X", want, s.b[i]))
	}
	return s.fail(i, fmt.Sprintf("expected %s, found %s", want, strconv.QuoteRune(r)))
}

// scalar passes over a value that is neither object nor array.
func (s *scanner) scalar(i int) int {
	if i >= len(s.b) {
		return s.cut("where a value should follow")
	}
	switch c := s.b[i]; {
	case c == '"':
		return s.str(i)
	case c == '-' || c-'0' <= 9:
		return s.number(i)
	case c == 't':
		return s.word(i, "true")
	case c == 'f':
		return s.word(i, "false")
	case c == 'n':
		return s.word(i, "null")
	}
	return s.unexpected(i, "a value")
}

// value passes over any value. It does not recurse.
func (s *scanner) value(i int) int {
	if i < len(s.b) && s.b[i] != '{' && s.b[i] != '[' {
		return s.scalar(i)
	}
	var object [maxDepth / 64]uint64 // a bit for each level: it is an object
	depth := 0
	for {
		// A value begins at i.
		var closed bool
		switch {
		case i < len(s.b) && (s.b[i] == '{' || s.b[i] == '['):
			if depth == maxDepth {
				return s.fail(i, fmt.Sprintf("nested more than %d deep", maxDepth))
			}
			if s.b[i] == '{' {
				object[depth/64] |= 1 << (depth % 64)
			} else {
				object[depth/64] &^= 1 << (depth % 64)
			}
			depth++
			i = s.space(i + 1)
			if i < len(s.b) && s.b[i] == s.closing(&object, depth) {
				i++
				depth--
				closed = true
			}
		default:
			if i = s.scalar(i); i < 0 {
				return i
			}
			closed = true
		}
		// After a value: what closes, and the comma to the next.
		for closed {
			if depth == 0 {
				return i
			}
			i = s.space(i)
			end := s.closing(&object, depth)
			switch {
			case i < len(s.b) && s.b[i] == end:
				i++
				depth--
				continue
			case i < len(s.b) && s.b[i] == ',':
				i = s.space(i + 1)
			default:
				return s.unexpected(i, "',' or '"+string(rune(end))+"'")
			}
			break
		}
		if s.closing(&object, depth) == '}' {
			if _, i = s.key(i); i < 0 {
				return i
			}
		}
	}
}

func (s *scanner) closing(object *[maxDepth / 64]uint64, depth int) byte {
	if d := depth - 1; object[d/64]&(1<<(d%64)) != 0 {
		return '}'
	}
	return ']'
}

// key passes over a member's name, which begins at i, and the colon. The name
// is returned as it stands between its quotes.
func (s *scanner) key(i int) (name []byte, next int) {
	if i >= len(s.b) || s.b[i] != '"' {
		return nil, s.unexpected(i, "a member's name in quotes")
	}
	end := s.str(i)
	if end < 0 {
		return nil, end
	}
	name = s.b[i+1 : end-1]
	if i = s.space(end); i >= len(s.b) || s.b[i] != ':' {
		return nil, s.unexpected(i, "':'")
	}
	return name, s.space(i + 1)
}

// object calls f for each member of the object that begins at i. f is given
// the name as it stands between its quotes and the index of the value, and
// returns the index past the value, or -1 to stop.
func (s *scanner) object(i int, f func(name []byte, at int) int) int {
	if i >= len(s.b) || s.b[i] != '{' {
		return s.unexpected(i, "an object")
	}
	i = s.space(i + 1)
	if i < len(s.b) && s.b[i] == '}' {
		return i + 1
	}
	for {
		name, at := s.key(i)
		if at < 0 {
			return at
		}
		if i = f(name, at); i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(s.b) && s.b[i] == '}' {
			return i + 1
		}
		if i >= len(s.b) || s.b[i] != ',' {
			return s.unexpected(i, "',' or '}'")
		}
		i = s.space(i + 1)
	}
}

// array calls f for each element of the array that begins at i, as object does.
func (s *scanner) array(i int, f func(n, at int) int) int {
	if i >= len(s.b) || s.b[i] != '[' {
		return s.unexpected(i, "an array")
	}
	i = s.space(i + 1)
	if i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for n := 0; ; n++ {
		if i = f(n, i); i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(s.b) && s.b[i] == ']' {
			return i + 1
		}
		if i >= len(s.b) || s.b[i] != ',' {
			return s.unexpected(i, "',' or ']'")
		}
		i = s.space(i + 1)
	}
}

// unquote decodes what stands between the quotes of a valid JSON string. Lone
// surrogates become U+FFFD.
func unquote(in []byte) []byte {
	return appendUnquoted(make([]byte, 0, len(in)), in, len(in))
}

// appendUnquoted is unquote, onto dst and of at most about limit bytes.
func appendUnquoted(dst, in []byte, limit int) []byte {
	limit += len(dst)
	for i := 0; i < len(in) && len(dst) < limit; {
		c := in[i]
		if c != '\\' || i+1 >= len(in) {
			dst = append(dst, c)
			i++
			continue
		}
		i += 2
		switch c := in[i-1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(in[i:])
			i = min(i+4, len(in))
			if r >= 0xD800 && r < 0xDC00 && i+6 <= len(in) && in[i] == '\\' && in[i+1] == 'u' {
				if low := hex4(in[i+2:]); low >= 0xDC00 && low < 0xE000 {
					r = (r-0xD800)<<10 + low - 0xDC00 + 0x10000
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func hex4(in []byte) rune {
	if len(in) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(in[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// isJSON reports whether b is exactly one JSON value with nothing around it.
func isJSON(b []byte) bool {
	s := scanner{b: b}
	return s.value(0) == len(b)
}
