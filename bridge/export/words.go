package export

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/wire"
)

// line returns s in one line, made visible, and cut to a number of columns.
func line(s string, columns int) string {
	// Read only as many bytes as can be shown.
	if most := 16*columns + 64; len(s) > most {
		for k := 0; k < utf8.UTFMax && !utf8.RuneStart(s[most]); k++ {
			most--
		}
		s = s[:most]
	}
	s = strings.Join(strings.Fields(visible(s)), " ")
	width := 0
	for i, r := range s {
		width += columnsOf(r)
		if width > columns-1 && i+utf8.RuneLen(r) < len(s) {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// columnsOf returns the approximate width of a character, in columns of Latin script.
func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300, r >= 0xff00 && r <= 0xff60:
		return 2
	}
	return 1
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

func wayOf(d wire.Direction) string {
	switch d {
	case wire.ClientToServer:
		return "client → server"
	case wire.ServerToClient:
		return "server → client"
	}
	return d.String()
}

// cut returns the first cutAt bytes of a longer text, and a note that says so; "" for a
// text that fits.
func cut(s string) (head, note string) {
	if len(s) <= cutAt {
		return s, ""
	}
	return strings.ToValidUTF8(s[:cutAt], ""), fmt.Sprintf("The first %d of %d bytes.", cutAt, len(s))
}
