package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text decodes a JSON string; it returns "" for any other value.
func Text(raw []byte) string {
	s, _ := Unquote(raw)
	return s
}

// Unquote decodes a JSON string. exact is false if raw is not a string, or if it contains
// unpaired surrogates, which become U+FFFD.
func Unquote(raw []byte) (text string, exact bool) {
	raw = Trim(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	if !hasEscape(in) {
		return string(in), true
	}
	out, exact := appendUnescaped(make([]byte, 0, len(in)), in)
	return string(out), exact
}

// Unescape decodes the contents of a JSON string without its quotes, or a beginning of
// them. Unpaired surrogates become U+FFFD.
func Unescape(in []byte) string {
	if !hasEscape(in) {
		return string(in)
	}
	return string(AppendUnescaped(make([]byte, 0, len(in)), in))
}

// AppendUnescaped is like Unescape, but appends to dst.
func AppendUnescaped(dst, in []byte) []byte {
	dst, _ = appendUnescaped(dst, in)
	return dst
}

func hasEscape(in []byte) bool { return bytes.IndexByte(in, '\\') >= 0 }

func appendUnescaped(dst, in []byte) (out []byte, exact bool) {
	exact = true
	for {
		at := bytes.IndexByte(in, '\\')
		if at < 0 || at+1 == len(in) {
			return append(dst, in...), exact
		}
		dst = append(dst, in[:at]...)
		c := in[at+1]
		in = in[at+2:]
		switch c {
		case 'b', 'f', 'n', 'r', 't':
			dst = append(dst, "\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
		case 'u':
			r := hex4(in)
			in = in[min(4, len(in)):]
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
					low = hex4(in[2:])
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					exact = false
				} else {
					in = in[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
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

// Encode is like json.Marshal, but does not escape characters for HTML.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ObjectWriter is a JSON object under construction; nil is an empty one.
type ObjectWriter []byte

// Add adds a member; a nil value adds nothing.
func (o *ObjectWriter) Add(name string, value json.RawMessage) {
	if value != nil {
		*o = append(append(AppendQuoted(begun(*o, '{'), name), ':'), value...)
	}
}

// JSON returns the object.
func (o ObjectWriter) JSON() json.RawMessage {
	if o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(append(o, '}'))
}

// WithMember returns a JSON object with one more member, whose value is JSON. The object
// has no such member before, and no white space around it.
func WithMember[T ~string | ~[]byte](object T, name, value string) T {
	members := strings.TrimSuffix(string(object), "}")
	if members != "{" {
		members += ","
	}
	return T(members + string(Quoted(name)) + ":" + value + "}")
}

// Without returns a JSON object without some of its members, and other JSON as it is.
func Without[T ~[]byte](object T, names ...string) T {
	if KindOf(object) != Object {
		return object
	}
	var kept ObjectWriter
	for name, value := range Members(object) {
		if !slices.Contains(names, name) {
			kept.Add(name, value)
		}
	}
	return T(kept.JSON())
}

// ArrayWriter is a JSON array under construction; nil is an empty one.
type ArrayWriter []byte

// Add adds an element.
func (a *ArrayWriter) Add(value json.RawMessage) { *a = append(begun(*a, '['), value...) }

// JSON returns the array.
func (a ArrayWriter) JSON() json.RawMessage {
	if a == nil {
		return json.RawMessage("[]")
	}
	return json.RawMessage(append(a, ']'))
}

func begun(text []byte, bracket byte) []byte {
	if text == nil {
		return []byte{bracket}
	}
	return append(text, ',')
}

// Quoted returns s as a JSON string; see [AppendQuoted].
func Quoted(s string) json.RawMessage { return AppendQuoted(nil, s) }

// AppendQuoted appends s as a JSON string. It only escapes what RFC 8259 requires: the
// quotation mark, the backslash and control characters. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		dst = appendEscape(append(dst, s[from:i]...), c)
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// QuotedSize returns the size of valid UTF-8 as [AppendQuoted] appends it, in bytes without the
// quotation marks.
func QuotedSize(s []byte) int {
	n := len(s)
	for _, c := range s {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n++
		case c < 0x20:
			n += len(`u0000`)
		}
	}
	return n
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// Pretty indents JSON with two spaces for each level. It only changes white space.
// Invalid JSON is returned unchanged, and so is JSON that is nested so deep that
// indentation would multiply its size.
func Pretty(raw []byte) string {
	if !Valid(raw) {
		return string(raw)
	}
	raw = Trim(raw)
	limit := 8*len(raw) + 1<<16
	out := make([]byte, 0, len(raw)+len(raw)/2)
	depth := 0
	line := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, "  "...)
		}
	}
	empty := false // an object or array has just begun
	for token := range tokens(raw) {
		c := token[0]
		closes := c == '}' || c == ']'
		if closes {
			depth--
		}
		if closes != empty {
			line()
		}
		out = append(out, token...)
		empty = c == '{' || c == '['
		switch {
		case empty:
			depth++
		case c == ',':
			line()
		case c == ':':
			out = append(out, ' ')
		}
		if len(out) > limit {
			return string(raw)
		}
	}
	return string(out)
}

// Compact removes the white space between the tokens of one JSON value. It fails with a
// [*SyntaxError] if raw is not a JSON value.
func Compact(raw []byte) (json.RawMessage, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	return AppendCompact(nil, raw), nil
}

// AppendCompact appends the compact form of valid JSON to dst.
func AppendCompact(dst, raw []byte) []byte {
	for token := range tokens(raw) {
		dst = append(dst, token...)
	}
	return dst
}

func tokens(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := Cursor{text: raw}
		for i := c.space(0); i < len(raw); i = c.space(i) {
			end := i + 1
			switch raw[i] {
			case '{', '[', ']', '}', ',', ':':
			default:
				end = c.scalar(i)
			}
			if end < 0 || !yield(raw[i:end]) {
				return
			}
			i = end
		}
	}
}
