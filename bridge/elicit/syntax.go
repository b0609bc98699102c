package elicit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
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
