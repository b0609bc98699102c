package elicit

import "encoding/json"

// Pretty lays JSON out for reading, two spaces a level. Only white space
// differs: the order of members, the digits of numbers and the escapes in
// strings stay as they are. What is no JSON comes back unchanged, and so does
// what is nested so deep that indenting it would multiply its size.
func Pretty(raw json.RawMessage) string {
	if valid(raw) != nil {
		return string(raw)
	}
	raw = trim(raw)
	limit := 8*len(raw) + 1<<16
	out := make([]byte, 0, len(raw)+len(raw)/2)
	depth := 0
	line := func() {
		out = append(out, '\n')
		for range depth {
			out = append(out, "  "...)
		}
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '{', '[':
			out = append(out, c)
			i = skipSpace(raw, i+1)
			if end := c + 2; raw[i] == end { // '{' and '[' stand two before '}' and ']'
				out = append(out, end)
				i++
			} else {
				depth++
				line()
			}
		case '}', ']':
			depth--
			line()
			out = append(out, c)
			i++
		case ',':
			out = append(out, c)
			line()
			i++
		case ':':
			out = append(out, ": "...)
			i++
		default:
			end := skip(raw, i)
			out = append(out, raw[i:end]...)
			i = end
		}
		if len(out) > limit {
			return string(raw)
		}
	}
	return string(out)
}

// appendCompact appends valid JSON without white space between its tokens, and
// with U+FFFD for bytes that are not UTF-8.
func appendCompact(out []byte, raw json.RawMessage) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '{', '[', '}', ']', ',', ':':
			out = append(out, c)
			i++
		default:
			end := skip(raw, i)
			out = appendUTF8(out, raw[i:end])
			i = end
		}
	}
	return out
}
