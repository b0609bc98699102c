package rawjson

import (
	"encoding/json"
	"iter"
)

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
// [*SyntaxError] if raw is no JSON value.
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
