package wire

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
)

// Members gives the members of the JSON object that raw begins with, in their
// order: each name as it stands between its quotes, and the bytes of its
// value. Where raw stops being JSON the members end, as they do for what is no
// object. All are parts of raw.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		s := scanner{b: raw}
		i := s.space(0)
		if i == len(raw) || raw[i] != '{' {
			return
		}
		s.object(i, func(name []byte, at int) int {
			end := s.value(at)
			if end < 0 || !yield(name, raw[at:end:end]) {
				return -1
			}
			return end
		})
	}
}

// Elements gives the elements of the JSON array that raw begins with, as
// Members does members.
func Elements(raw []byte) iter.Seq2[int, []byte] {
	return func(yield func(i int, value []byte) bool) {
		s := scanner{b: raw}
		i := s.space(0)
		if i == len(raw) || raw[i] != '[' {
			return
		}
		s.array(i, func(n, at int) int {
			end := s.value(at)
			if end < 0 || !yield(n, raw[at:end:end]) {
				return -1
			}
			return end
		})
	}
}

// IsJSON reports whether raw is one JSON value, with white space around it or
// not.
func IsJSON(raw []byte) bool { return isJSON(bytes.Trim(raw, " \t\r\n")) }

// Unquote decodes what stands between the quotes of a JSON string. Lone
// surrogates become U+FFFD.
func Unquote(in []byte) string { return text(in) }

// Locate finds the value that a JSON pointer (RFC 6901) leads to. Of members
// that share a name it is the first. It takes one pass, however deep the value
// lies.
func Locate(raw []byte, pointer string) (value []byte, ok bool) {
	s := scanner{b: raw}
	i := s.space(0)
	for pointer != "" {
		if pointer[0] != '/' || i >= len(raw) {
			return nil, false
		}
		var token string
		token, pointer = pointer[1:], ""
		if at := strings.IndexByte(token, '/'); at >= 0 {
			token, pointer = token[:at], token[at:]
		}
		found := -1
		switch raw[i] {
		case '[':
			n, err := strconv.Atoi(token)
			if err != nil || strconv.Itoa(n) != token {
				return nil, false
			}
			s.array(i, func(k, at int) int {
				if k == n && at < len(raw) && raw[at] != ']' {
					found = at
					return -1
				}
				return s.value(at)
			})
		case '{':
			token = pointerDecode.Replace(token)
			s.object(i, func(name []byte, at int) int {
				if text(name) == token {
					found = at
					return -1
				}
				return s.value(at)
			})
		}
		if found < 0 {
			return nil, false
		}
		i = found
	}
	end := s.value(i)
	if end < 0 {
		return nil, false
	}
	return raw[i:end:end], true
}

var (
	pointerDecode = strings.NewReplacer("~1", "/", "~0", "~")
	pointerEncode = strings.NewReplacer("~", "~0", "/", "~1")
)

// PointerTo is the JSON pointer to a member of what the other one leads to.
func PointerTo(pointer, name string) string { return pointer + "/" + pointerEncode.Replace(name) }
