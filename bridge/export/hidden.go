package export

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/hidden"
)

// visible returns text from another party with names in place of invisible characters
// and of characters that change how their neighbours are drawn. Line breaks and tabs
// stay.
func visible(s string) string {
	return replaced(s, func(c hidden.Char) string {
		switch {
		case c.Broken:
			return fmt.Sprintf("‹byte %02X›", s[c.At])
		case strings.HasPrefix(s[c.At:], "\r\n"):
			return ""
		}
		return fmt.Sprintf("‹U+%04X›", c.Rune)
	})
}

// escaped replaces invisible characters in JSON by escapes. The value of the JSON stays
// the same.
func escaped(s string) string {
	return replaced(s, func(c hidden.Char) string {
		switch r := c.Rune; {
		case c.Broken, r == '\r':
			return s[c.At:c.End]
		case r > 0xffff:
			r -= 0x10000
			return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			return fmt.Sprintf(`\u%04x`, r)
		}
	})
}

func replaced(s string, with func(hidden.Char) string) string {
	var out strings.Builder
	from := 0
	for c := range hidden.In(s) {
		out.WriteString(s[from:c.At])
		out.WriteString(with(c))
		from = c.End
	}
	if from == 0 {
		return s
	}
	return out.String() + s[from:]
}

// run is a piece of text that is drawn in one style.
type run struct {
	Text string
	Mark string // if the text is invisible: the name to draw in its place
}

func runsOf(s string) []run {
	var out []run
	from := 0
	plain := func(end int) {
		if end > from {
			out = append(out, run{Text: s[from:end]})
		}
	}
	for c := range hidden.In(s) {
		plain(c.At)
		from = c.End
		switch r := c.Rune; {
		case c.Broken:
			out = append(out, run{Mark: fmt.Sprintf(`\x%02x`, s[c.At])})
		case r == 0 || r == '\r': // HTML cannot contain these characters
			out = append(out, run{Mark: fmt.Sprintf("U+%04X", r)})
		default:
			out = append(out, run{s[c.At:c.End], fmt.Sprintf("U+%04X", r)})
		}
	}
	plain(len(s))
	return out
}
