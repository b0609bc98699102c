package export

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible makes text out of what somebody else wrote: what cannot be seen, or
// changes how its neighbours are drawn, is named instead. Line breaks and tabs
// stay.
func visible(s string) string {
	if !strange(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "‹byte %02X›", s[i])
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case hidden(r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// strange reports whether there is anything in s that visible changes.
func strange(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return true
		}
		i += n
	}
	return false
}

// hidden reports whether a character draws nothing of its own: controls, format
// characters (among them every bidi control), white space that looks like a
// space and is none, and what XML cannot hold.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	case '\u034f', '\u3164', '\ufffe', '\uffff':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs) || unicode.Is(unicode.Variation_Selector, r)
}

// escaped writes in JSON what cannot be seen as an escape, which is the same
// JSON.
func escaped(s string) string {
	if !strange(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r), r == '\r':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// run is a piece of text that is drawn in one way.
type run struct {
	Text string
	Mark string // of what cannot be seen: what is drawn in its place
}

// runsOf splits a text into what can be seen and what cannot.
func runsOf(s string) []run {
	if !strange(s) {
		return []run{{Text: s}}
	}
	var out []run
	from := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		mark := ""
		switch {
		case r == utf8.RuneError && n == 1:
			mark = fmt.Sprintf(`\x%02x`, s[i])
		case hidden(r):
			mark = fmt.Sprintf("U+%04X", r)
		}
		if mark != "" {
			if i > from {
				out = append(out, run{Text: s[from:i]})
			}
			text := s[i : i+n]
			// HTML cannot hold these as they are.
			if r == 0 || r == '\r' || r == utf8.RuneError {
				text = ""
			}
			out = append(out, run{text, mark})
			from = i + n
		}
		i += n
	}
	if from < len(s) {
		out = append(out, run{Text: s[from:]})
	}
	return out
}
