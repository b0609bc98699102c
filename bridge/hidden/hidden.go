// Package hidden finds invisible characters, and characters that change how their
// neighbours are drawn, in texts from others.
package hidden

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Char is a hidden character in a text, from byte At to End.
type Char struct {
	Rune    rune
	At, End int
	Broken  bool // the byte is not valid UTF-8
}

// Is reports whether a character is invisible: controls, format characters (among them
// every bidi control), fillers, white space other than the space, and characters that XML
// cannot contain. Line breaks and tabs count as visible.
func Is(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	case '\ufffe', '\uffff':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// In yields the hidden characters of a text, and the bytes that are not valid UTF-8.
func In(s string) iter.Seq[Char] {
	return func(yield func(Char) bool) {
		for i := 0; i < len(s); {
			if c := s[i]; c >= ' ' && c < 0x7f {
				i++
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			broken := r == utf8.RuneError && n == 1
			if (broken || Is(r)) && !yield(Char{r, i, i + n, broken}) {
				return
			}
			i += n
		}
	}
}
