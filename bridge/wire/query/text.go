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
	"elicitation-inspector/bridge/wire/query/dfa"
)

// finder reports whether something is in a frame's bytes.
type finder func(raw []byte) bool

// textFinder finds a text without regard to case, in all the ways in which JSON
// can write it.
func textFinder(text string) finder {
	escaped := string(rawjson.AppendQuoted(nil, text))
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

// memberFinder finds the name of a JSON member, without regard to case.
func memberFinder(name string) finder {
	return formFinder(string(rawjson.AppendQuoted(nil, name)), ":")
}

// formFinder finds a text without regard to case, with another one behind it;
// white space may stand between them.
func formFinder(text, behind string) finder {
	ascii := longestOf(strings.FieldsFunc(text, isWide))
	if ascii == text {
		n := newNeedle(text)
		return func(raw []byte) bool { return n.in(raw, []byte(behind)) }
	}
	re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text) + `\s*` + behind)
	return behindText(ascii, re.Match)
}

// expressionFinder finds a regular expression. The finder is for one goroutine.
func expressionFinder(re *regexp.Regexp) finder {
	needed := ""
	if tree, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		needed = neededBy(tree)
	}
	return behindText(needed, dfa.New(re).Match)
}

// neededBy is the longest piece of ASCII that every match of an expression
// contains, without regard to case.
func neededBy(re *syntax.Regexp) string {
	var pieces []string
	switch {
	case re.Op == syntax.OpLiteral:
		pieces = strings.FieldsFunc(string(re.Rune), func(r rune) bool {
			// k and s match letters outside ASCII as well: K the Kelvin sign, s the long s.
			return isWide(r) || re.Flags&syntax.FoldCase != 0 && strings.ContainsRune("kKsS", r)
		})
	case re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpConcat, re.Op == syntax.OpRepeat && re.Min > 0:
		for _, sub := range re.Sub {
			pieces = append(pieces, neededBy(sub))
		}
	}
	return longestOf(pieces)
}

// behindText looks with another finder only where a text is that it needs.
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

// asciiEscaped writes what is not ASCII as \u escapes, as many JSON encoders do.
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

// needle is an ASCII text to be found without regard to case. Most frames are
// done with after one look for the byte in it that is rarest in what frames hold.
type needle struct {
	text  []byte // lower case
	rare  int    // where the rarest byte is
	cases []byte // it, in lower and upper case
}

// commonest are the bytes that JSON-RPC messages hold, the commonest first.
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
			rarity /= 2 // it must be looked for twice
		}
		if rarity > best {
			best, n.rare, n.cases = rarity, i, cases
		}
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// in reports whether the text is in b, with white space and another one behind it.
func (n *needle) in(b, behind []byte) bool {
	last := len(b) - len(n.text) // where it can begin
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

// fits reports whether b begins with the text.
func (n *needle) fits(b []byte) bool {
	for i, c := range n.text {
		if b[i] != c && (!isLetter(c) || b[i]|0x20 != c) {
			return false
		}
	}
	return true
}

// globPattern is the expression of a name in which * stands for any text; case
// does not matter.
func globPattern(name string) *regexp.Regexp {
	parts := strings.Split(name, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile(`(?is)^` + strings.Join(parts, ".*") + `$`)
}
