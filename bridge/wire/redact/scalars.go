package redact

import (
	"bytes"
	"iter"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// unescape decodes the contents of a JSON string. offsets maps each byte of the text,
// and its end, to the position in the string; it is nil if text and string are the
// same.
func unescape(in []byte) (decoded []byte, offsets []int) {
	if bytes.IndexByte(in, '\\') < 0 {
		return in, nil
	}
	for i := 0; i < len(in); {
		n := 1
		part := in[i : i+1]
		if in[i] == '\\' {
			n = min(escapeLen(in[i:]), len(in)-i)
			part = []byte(rawjson.Unescape(in[i : i+n]))
		}
		for range part {
			offsets = append(offsets, i)
		}
		decoded = append(decoded, part...)
		i += n
	}
	return decoded, append(offsets, len(in))
}

// escapeLen returns the length of the escape sequence at the beginning of in, or of the
// two for a surrogate pair.
func escapeLen(in []byte) int {
	surrogate := func(in []byte) bool { return len(in) >= 6 && in[1] == 'u' && in[2]|0x20 == 'd' }
	switch {
	case surrogate(in) && in[3]|0x20 < 'c' && len(in) >= 12 && in[6] == '\\' && surrogate(in[6:]):
		return 12
	case len(in) > 1 && in[1] == 'u':
		return 6
	}
	return 2
}

// scalar is a string, a member name, a number or a literal in JSON.
type scalar struct {
	kind     scalarKind
	from, to int // range of bytes, without the quotes of a string
}

type scalarKind uint8

const (
	bareWord scalarKind = iota // a number or a literal, or text that is not JSON
	stringValue
	memberName
)

// scalars yields the scalars in b in order. b may be truncated, or invalid JSON.
func scalars(b []byte) iter.Seq[scalar] {
	return func(yield func(scalar) bool) {
		for i := 0; i < len(b); {
			t := scalar{bareWord, i, i + 1}
			switch c := b[i]; {
			case strings.IndexByte(" \t\r\n,:[]{}", c) >= 0:
				i++
				continue
			case c == '"':
				t.kind, t.from = stringValue, i+1
				for t.to < len(b) && b[t.to] != '"' {
					if t.to++; b[t.to-1] == '\\' {
						t.to++
					}
				}
				t.to = min(t.to, len(b))
				i = t.to + 1
				if i < len(b) && bytes.HasPrefix(bytes.TrimLeft(b[i:], " \t\r\n"), []byte(":")) {
					t.kind = memberName
				}
			default:
				for t.to < len(b) && strings.IndexByte(" \t\r\n,:[]{}\"", b[t.to]) < 0 {
					t.to++
				}
				i = t.to
			}
			if !yield(t) {
				return
			}
		}
	}
}

// Restored returns JSON in which each string that is one of masked is the string at the same
// place of original again. masked is original as [Redaction.JSONOf] returns it.
func Restored(raw, original, masked []byte) []byte {
	if len(raw) == 0 || bytes.Equal(original, masked) {
		return raw
	}
	next, stop := iter.Pull(scalars(original))
	defer stop()
	was := map[string][]byte{}
	for t := range scalars(masked) {
		from, _ := next()
		text, before := string(masked[t.from:t.to]), original[from.from:from.to]
		if text != string(before) && was[text] == nil {
			was[text] = before
		}
	}
	var out []byte
	at := 0
	for t := range scalars(raw) {
		if before := was[string(raw[t.from:t.to])]; before != nil && t.kind == stringValue {
			out = append(append(out, raw[at:t.from]...), before...)
			at = t.to
		}
	}
	return append(out, raw[at:]...)
}
