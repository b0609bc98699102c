package paper

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/hidden"
)

// Visible returns text from another party with names in place of invisible characters
// and of characters that change how their neighbours are drawn. Line breaks and tabs
// stay.
func Visible(s string) string {
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

// Escaped replaces invisible characters in JSON by escapes. The value of the JSON stays
// the same.
func Escaped(s string) string {
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

// Run is a piece of text that is drawn in one style.
type Run struct {
	Text string
	Mark string // if the text is invisible: the name to draw in its place
}

func Runs(s string) []Run {
	var out []Run
	from := 0
	plain := func(end int) {
		if end > from {
			out = append(out, Run{Text: s[from:end]})
		}
	}
	for c := range hidden.In(s) {
		plain(c.At)
		from = c.End
		switch r := c.Rune; {
		case c.Broken:
			out = append(out, Run{Mark: fmt.Sprintf(`\x%02x`, s[c.At])})
		case r == 0 || r == '\r': // HTML cannot contain these characters
			out = append(out, Run{Mark: fmt.Sprintf("U+%04X", r)})
		default:
			out = append(out, Run{s[c.At:c.End], fmt.Sprintf("U+%04X", r)})
		}
	}
	plain(len(s))
	return out
}
