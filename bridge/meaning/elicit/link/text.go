package link

import (
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
		return "bytes that are not UTF-8"
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

// judgeScripts warns about a host with letters outside ASCII.
//
// It detects two kinds of deception: labels that mix scripts, by the script tables of
// Unicode and the combinations that UTS 39 calls highly restrictive; and labels entirely
// of Cyrillic, Greek, Armenian or Cherokee letters that all look like Latin ones, by the
// short table lookAlikes. It does not detect look-alikes within a script (ı and i, rn
// and m, 0 and o, accents), and does not compare with the names of known sites.
func (v *Verdict) judgeScripts() {
	v.warn(Caution, "international-host", "Its host has letters outside of ASCII. It reads %s, and is looked up as %s.", wording.Quoted(v.Unicode), v.ASCII)
	labels := strings.Split(v.Unicode, ".")
	top := scriptsOf(labels[len(labels)-1])
	for _, label := range labels {
		scripts := scriptsOf(label)
		latin, like := looksLatin(label)
		together := func(set []string) bool {
			return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
		}
		if len(scripts) > 1 && !slices.ContainsFunc(writtenTogether, together) {
			text := fmt.Sprintf("%s mixes letters of %s.", wording.Quoted(label), scriptNames(scripts))
			if like != 0 {
				text += fmt.Sprintf(" Its %s is U+%04X, and looks like a Latin %q.", wording.Quoted(string(like)), like, lookAlikes[like])
			}
			v.warn(Danger, "mixed-scripts", "%s", text)
			continue
		}
		// A label in the script of its top-level domain is legitimate.
		if like != 0 && latin != "" && !slices.Contains(scripts, "Latin") && !slices.Equal(scripts, top) {
			v.warn(Danger, "look-alike", "%s is written in %s, and looks like the Latin %s.", wording.Quoted(label), scriptNames(scripts), wording.Quoted(latin))
		}
	}
}

// scriptsOf returns the names of the scripts of a label's letters, in alphabetical
// order. Digits, hyphens and marks belong to no script.
func scriptsOf(label string) []string {
	var found []string
	for _, r := range label {
		if !unicode.IsLetter(r) || slices.ContainsFunc(found, func(name string) bool { return unicode.Is(unicode.Scripts[name], r) }) {
			continue
		}
		for name, table := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

func scriptNames(scripts []string) string {
	return strings.ReplaceAll(wording.Series(scripts), "_", " ")
}

// writtenTogether lists the sets of scripts that may be mixed in a label (UTS 39,
// "highly restrictive").
var writtenTogether = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Bopomofo", "Han", "Latin"},
	{"Han", "Hangul", "Latin"},
}

// lookAlikes maps lower-case letters of other scripts, and of phonetics, to the Latin
// letters that look almost the same in common fonts. After confusables.txt of UTS 39.
var lookAlikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'ӏ': 'l', 'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'к': 'k', 'м': 'm', 'т': 't', 'г': 'r', 'п': 'n', 'ь': 'b',
	'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'ϲ': 'c', 'ϳ': 'j', 'γ': 'y', 'η': 'n', 'χ': 'x', 'ω': 'w',
	'ո': 'n', 'օ': 'o', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'յ': 'j', 'ք': 'p', 'ա': 'w', 'ռ': 'n', 'ɑ': 'a', 'ɡ': 'g', 'ꮯ': 'c', 'ꮲ': 'p', 'ꭰ': 'd', 'ꭼ': 'e', 'ꮋ': 'h', 'ꮃ': 'w', 'ꭱ': 'r', 'ꭲ': 't', 'ꮪ': 's', 'ꮓ': 'z', 'ꮩ': 'v', 'ꭻ': 'j',
}

// looksLatin replaces every letter outside ASCII with its Latin look-alike. latin is ""
// if some letter has none; like is the first letter that has one.
func looksLatin(label string) (latin string, like rune) {
	var b strings.Builder
	all := true
	for _, r := range label {
		l, ok := lookAlikes[r]
		switch {
		case ok:
			if like == 0 {
				like = r
			}
			b.WriteRune(l)
		case r < 0x80:
			b.WriteRune(r)
		default:
			all = false
		}
	}
	if !all {
		return "", like
	}
	return b.String(), like
}
