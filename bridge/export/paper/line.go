package paper

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s in one line, made visible, and cut to a number of columns.
func Line(s string, columns int) string {
	// Read only as many bytes as can be shown.
	if most := 16*columns + 64; len(s) > most {
		for k := 0; k < utf8.UTFMax && !utf8.RuneStart(s[most]); k++ {
			most--
		}
		s = s[:most]
	}
	s = strings.Join(strings.Fields(Visible(s)), " ")
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

const CutAt = 64 << 10 // bytes of one text before it is cut

// Cut returns the first CutAt bytes of a longer text, and a note that says so; "" for a
// text that fits.
func Cut(s string) (head, note string) {
	if len(s) <= CutAt {
		return s, ""
	}
	return strings.ToValidUTF8(s[:CutAt], ""), fmt.Sprintf("The first %d of %d bytes.", CutAt, len(s))
}

// Wrap returns s, which is one line, as lines of a number of columns, broken at spaces
// where possible; the last one is cut.
func Wrap(s string, columns, most int) []string {
	var lines []string
	for len(lines) < most-1 {
		head := Line(s, columns)
		if head == s {
			break
		}
		head = strings.TrimSuffix(head, "…")
		if at := strings.LastIndexByte(head, ' '); at > len(head)/3 {
			head = head[:at]
		}
		lines, s = append(lines, head), strings.TrimLeft(s[len(head):], " ")
	}
	return append(lines, Line(s, columns))
}
