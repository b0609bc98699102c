package query

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

// finder reports whether a frame's bytes contain something.
type finder func(raw []byte) bool

// textFinder finds a text, ignoring case, in each of the forms that JSON encoders
// write.
func textFinder(text string) finder {
	escaped := string(rawjson.Quoted(text))
	escaped = escaped[1 : len(escaped)-1]
	forms := []string{text, escaped, strings.ReplaceAll(escaped, "/", `\/`), asciiEscaped(escaped)}
	slices.Sort(forms)
	var finders []finder
	for _, form := range slices.Compact(forms) {
		finders = append(finders, formFinder(form, ""))
	}
	return func(raw []byte) bool {
		return slices.ContainsFunc(finders, func(f finder) bool { return f(raw) })
	}
}

// memberFinder finds a JSON member by name, ignoring case.
func memberFinder(name string) finder {
	return formFinder(string(rawjson.Quoted(name)), ":")
}

// formFinder finds a text, ignoring case, that is followed by behind, with optional
// white space in between.
func formFinder(text, behind string) finder {
	ascii := longestOf(strings.FieldsFunc(text, isWide))
	if ascii == text {
		n := newNeedle(text)
		return func(raw []byte) bool { return n.in(raw, []byte(behind)) }
	}
	re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text) + `\s*` + behind)
	return behindText(ascii, re.Match)
}

// expressionFinder finds a match of a regular expression. Only one goroutine may use
// the finder.
func expressionFinder(re *regexp.Regexp) finder {
	needed := ""
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		needed = neededBy(tree)
	}
	return behindText(needed, newAutomaton(re).Match)
}

// neededBy returns the longest ASCII text that every match of an expression contains,
// ignoring case.
func neededBy(re *syntax.Regexp) string {
	var pieces []string
	switch {
	case re.Op == syntax.OpLiteral:
		pieces = strings.FieldsFunc(string(re.Rune), func(r rune) bool {
			// Ignoring case, k and s also match letters outside ASCII: the Kelvin sign
			// and the long s.
			return isWide(r) || re.Flags&syntax.FoldCase != 0 && strings.ContainsRune("kKsS", r)
		})
	case re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpConcat, re.Op == syntax.OpRepeat && re.Min > 0:
		for _, sub := range re.Sub {
			pieces = append(pieces, neededBy(sub))
		}
	}
	return longestOf(pieces)
}

// behindText runs a slower finder only on bytes that contain a text which every match
// needs.
func behindText(text string, find finder) finder {
	if text == "" {
		return find
	}
	n := newNeedle(text)
	return func(raw []byte) bool { return n.in(raw, nil) && find(raw) }
}

func isWide(r rune) bool { return r >= utf8.RuneSelf }

func longestOf(texts []string) (longest string) {
	for _, text := range texts {
		if len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// asciiEscaped replaces characters outside ASCII by \u escapes, as many JSON encoders
// do.
func asciiEscaped(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		if unit < utf8.RuneSelf {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// needle searches for an ASCII text, ignoring case. For most frames, one search for the
// text's rarest byte is enough.
type needle struct {
	text  []byte // lower case
	rare  int    // index of the byte that is rarest in frames
	cases []byte // this byte in lower and upper case
}

// commonest lists the bytes of JSON-RPC messages, the most common first.
const commonest = ` "etaoinsrlcdmupghfybvkwxqjz,:/._-{}0123456789[]()\'`

func newNeedle(text string) needle {
	n := needle{text: []byte(strings.ToLower(text))}
	best := -1
	for i, c := range n.text {
		rarity := strings.IndexByte(commonest, c)
		if rarity < 0 {
			rarity = len(commonest)
		}
		cases := []byte{c}
		if isLetter(c) {
			cases = append(cases, c-0x20)
			rarity /= 2 // it takes two searches
		}
		if rarity > best {
			best, n.rare, n.cases = rarity, i, cases
		}
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// in reports whether b contains the text, followed by behind with optional white space
// in between.
func (n *needle) in(b, behind []byte) bool {
	last := len(b) - len(n.text) // last index where the text can begin
	for _, c := range n.cases {
		for at := 0; at <= last; at++ {
			i := bytes.IndexByte(b[at+n.rare:], c)
			if at += i; i < 0 || at > last {
				break
			}
			if n.fits(b[at:]) && (len(behind) == 0 || bytes.HasPrefix(bytes.TrimLeft(b[at+len(n.text):], " \t\r\n"), behind)) {
				return true
			}
		}
	}
	return false
}

// fits reports whether b begins with the text, ignoring case.
func (n *needle) fits(b []byte) bool {
	for i, c := range n.text {
		if b[i] != c && (!isLetter(c) || b[i]|0x20 != c) {
			return false
		}
	}
	return true
}

// globPattern returns the expression for a name in which * stands for any text; it
// ignores case.
func globPattern(name string) *regexp.Regexp {
	parts := strings.Split(name, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`(?is)^` + strings.Join(parts, ".*") + `$`)
}
