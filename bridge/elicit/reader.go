package elicit

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

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

// trim leaves out the white space around a value.
func trim(raw []byte) []byte {
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
	for len(raw) > 0 && space(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && space(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

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
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
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
