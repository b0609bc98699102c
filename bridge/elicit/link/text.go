package link

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// maxURL is the greatest number of characters in an ordinary URL. RFC 9110, section 4.1,
// recommends support for 8,000, but some programs truncate beyond this limit.
const maxURL = 2048

func (v *Verdict) judgeText() {
	var list []string
	for i, r := range v.Raw {
		name := hiddenName(r)
		if (isHidden(r) || isBroken(r, v.Raw[i:])) && len(list) < 5 && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > 0 {
		v.warn(Danger, "hidden-characters", "It contains characters that cannot be seen, or that change the order in which text is read: %s.", strings.Join(list, ", "))
	}
	if v.Openable && len(list) == 0 && IsASCII(v.Raw) {
		if err := elicit.CheckURI(v.Raw); err != nil {
			v.warn(Note, "not-a-uri", "It is not a valid URI (RFC 3986): %s. Browsers open it all the same.", err)
		}
	}
}

// IsASCII tells whether a text has only ASCII characters.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// isBroken tells whether a rune decoded from the start of text is an invalid UTF-8 byte,
// rather than an encoded U+FFFD.
func isBroken(r rune, text string) bool {
	if r != utf8.RuneError {
		return false
	}
	_, n := utf8.DecodeRuneInString(text)
	return n == 1
}

// isHidden tells whether a character is invisible or changes the order of text. In a URL
// that includes line breaks, tabs, and all white space but the space.
func isHidden(r rune) bool { return wording.IsHidden(r) || r != ' ' && unicode.IsSpace(r) }

func hiddenName(r rune) string {
	name := fmt.Sprintf("U+%04X", r)
	switch {
	case r == utf8.RuneError:
		return "bytes that are no UTF-8"
	case unicode.Is(unicode.Bidi_Control, r):
		return name + " (changes the direction of text)"
	case unicode.Is(unicode.Zs, r):
		return name + " (a kind of space)"
	case unicode.IsControl(r):
		return name + " (a control character)"
	}
	return name + " (cannot be seen)"
}

func reveal(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case isBroken(r, text[i:]):
			fmt.Fprintf(&b, `\x{%02X}`, text[i])
		case isHidden(r):
			fmt.Fprintf(&b, `\u{%04X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
