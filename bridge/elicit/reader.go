package elicit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may be nested in anything read here.
const maxDepth = 500

// A syntaxError says where bytes stop being JSON (RFC 8259).
type syntaxError struct {
	offset int
	line   int // 1-based
	column int // 1-based, in code points
	what   string
}

func (e *syntaxError) Error() string {
	if e.line <= 1 {
		return fmt.Sprintf("column %d: %s", e.column, e.what)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.line, e.column, e.what)
}

// valid reports why raw is not exactly one JSON value with optional white space
// around it; nil if it is. Bytes that are not UTF-8 are accepted inside strings.
func valid(raw []byte) error {
	s := scanner{b: raw}
	s.space()
	if s.value(0); s.what == "" {
		if s.space(); s.i < len(s.b) {
			s.fail("something follows the end of the value")
		}
	}
	if s.what == "" {
		return nil
	}
	before := raw[:min(s.i, len(raw))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return &syntaxError{
		offset: s.i,
		line:   bytes.Count(before, []byte{'\n'}) + 1,
		column: utf8.RuneCount(before[lineStart:]) + 1,
		what:   s.what,
	}
}

// scanner walks over one JSON text. Once what is set it has failed, at i.
type scanner struct {
	b    []byte
	i    int
	what string
}

func (s *scanner) fail(what string) { s.what = what }

func (s *scanner) failAt(where string) {
	if s.i >= len(s.b) {
		s.what = "it ends " + where
		return
	}
	r, _ := utf8.DecodeRune(s.b[s.i:])
	s.what = fmt.Sprintf("%s is not expected %s", strconv.QuoteRune(r), where)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) value(depth int) {
	if s.i >= len(s.b) {
		s.failAt("where a value should be")
		return
	}
	if depth > maxDepth {
		s.fail(fmt.Sprintf("it is nested more than %d levels deep", maxDepth))
		return
	}
	switch c := s.b[s.i]; {
	case c == '{':
		s.container('}', depth, true)
	case c == '[':
		s.container(']', depth, false)
	case c == '"':
		s.str()
	case c == '-' || '0' <= c && c <= '9':
		if n := numberLen(s.b[s.i:]); n > 0 {
			s.i += n
		} else {
			s.fail("this is not a number that JSON can write")
		}
	default:
		for _, word := range []string{"true", "false", "null"} {
			if bytes.HasPrefix(s.b[s.i:], []byte(word)) {
				s.i += len(word)
				return
			}
		}
		s.failAt("where a value should be")
	}
}

func (s *scanner) container(end byte, depth int, object bool) {
	s.i++
	s.space()
	if s.i < len(s.b) && s.b[s.i] == end {
		s.i++
		return
	}
	for {
		if object {
			if s.i >= len(s.b) || s.b[s.i] != '"' {
				s.failAt("where the name of a member should be")
				return
			}
			if s.str(); s.what != "" {
				return
			}
			s.space()
			if s.i >= len(s.b) || s.b[s.i] != ':' {
				s.failAt("after the name of a member; a colon should be there")
				return
			}
			s.i++
			s.space()
		}
		if s.value(depth + 1); s.what != "" {
			return
		}
		s.space()
		switch {
		case s.i < len(s.b) && s.b[s.i] == ',':
			s.i++
			s.space()
		case s.i < len(s.b) && s.b[s.i] == end:
			s.i++
			return
		default:
			s.failAt(fmt.Sprintf("after a value; a comma or %c should be there", end))
			return
		}
	}
}

func (s *scanner) str() {
	start := s.i
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return
		case c < 0x20:
			s.fail("a control character stands in a string; it has to be escaped")
			return
		case c == '\\':
			s.i++
			if s.i >= len(s.b) {
				break
			}
			if s.b[s.i] == 'u' {
				if _, ok := hex4(s.b[s.i+1:]); !ok {
					s.fail(`\u needs four hexadecimal digits`)
					return
				}
				s.i += 4
			} else if !strings.ContainsRune(`"\/bfnrt`, rune(s.b[s.i])) {
				s.failAt(`after a backslash`)
				return
			}
		}
	}
	s.i = start
	s.fail("this string does not end")
}

// numberLen is the length of the JSON number at the beginning of b, 0 if none
// is there.
func numberLen(b []byte) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(b) && '0' <= b[i] && b[i] <= '9' {
			i++
		}
		return i > start
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// The functions below take bytes that valid has accepted.

// jsonType is a JSON type as JSON Schema names it, without "integer".
type jsonType string

const (
	typeObject  jsonType = "object"
	typeArray   jsonType = "array"
	typeString  jsonType = "string"
	typeNumber  jsonType = "number"
	typeBoolean jsonType = "boolean"
	typeNull    jsonType = "null"
	typeNone    jsonType = "" // no bytes at all
)

func typeOf(raw []byte) jsonType {
	raw = trim(raw)
	if len(raw) == 0 {
		return typeNone
	}
	switch raw[0] {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case 't', 'f':
		return typeBoolean
	case 'n':
		return typeNull
	}
	return typeNumber
}

func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// skip returns where the value at i ends.
func skip(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

func skipSpace(b []byte, i int) int {
	s := scanner{b: b, i: i}
	s.space()
	return s.i
}

// members yields the members of the object raw, in order and with duplicates,
// each with the exact bytes of its value; nothing if raw is no object.
func members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		raw := trim(raw)
		if typeOf(raw) != typeObject {
			return
		}
		for i := skipSpace(raw, 1); raw[i] != '}'; {
			end := skip(raw, i)
			name, _ := unquote(raw[i:end])
			i = skipSpace(raw, skipSpace(raw, end)+1)
			end = skip(raw, i)
			if !yield(name, json.RawMessage(raw[i:end:end])) {
				return
			}
			if i = skipSpace(raw, end); raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
		}
	}
}

// elements yields the elements of the array raw with their exact bytes; nothing
// if raw is no array.
func elements(raw []byte) iter.Seq2[int, json.RawMessage] {
	return func(yield func(int, json.RawMessage) bool) {
		raw := trim(raw)
		if typeOf(raw) != typeArray {
			return
		}
		i := skipSpace(raw, 1)
		for n := 0; raw[i] != ']'; n++ {
			end := skip(raw, i)
			if !yield(n, json.RawMessage(raw[i:end:end])) {
				return
			}
			if i = skipSpace(raw, end); raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
		}
	}
}

// member returns the last member of that name, as JSON decoders do; nil if the
// object has none.
func member(raw []byte, name string) json.RawMessage {
	var found json.RawMessage
	for n, v := range members(raw) {
		if n == name {
			found = v
		}
	}
	return found
}

// unquote decodes a JSON string. It is not exact if the string holds bytes that
// are not UTF-8 or surrogates without their partner: both become U+FFFD.
func unquote(raw []byte) (s string, exact bool) {
	raw = trim(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	raw = raw[1 : len(raw)-1]
	if exact = utf8.Valid(raw); !exact {
		raw = appendUTF8(nil, raw)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), exact
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		switch raw[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
					low, _ = hex4(raw[i+3:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					exact = false
				} else {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, raw[i])
		}
	}
	return string(out), exact
}

// appendQuoted appends s as a JSON string. Only what RFC 8259 demands is
// escaped: the quotation mark, the backslash and control characters.
func appendQuoted(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < 0x20:
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// appendUTF8 appends text with U+FFFD for each byte that is no part of UTF-8.
func appendUTF8(out, text []byte) []byte {
	if utf8.Valid(text) {
		return append(out, text...)
	}
	for _, r := range string(text) {
		out = utf8.AppendRune(out, r)
	}
	return out
}

// Names of members are escaped in a JSON pointer (RFC 6901, section 3).
var (
	pointerEscaper   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer appends a member's name to a JSON pointer.
func pointer(base, name string) string { return base + "/" + pointerEscaper.Replace(name) }

// at returns the value that a JSON pointer names; nil if there is none.
func at(raw json.RawMessage, ptr string) json.RawMessage {
	if ptr == "" {
		return raw
	}
	for _, token := range strings.Split(ptr, "/")[1:] {
		token = pointerUnescaper.Replace(token)
		switch typeOf(raw) {
		case typeObject:
			raw = member(raw, token)
		case typeArray:
			n, err := strconv.Atoi(token)
			var found json.RawMessage
			for i, v := range elements(raw) {
				if err == nil && i == n {
					found = v
					break
				}
			}
			raw = found
		default:
			return nil
		}
	}
	return raw
}
