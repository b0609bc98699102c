package query

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire/query/dfa"
)

// finder reports whether something is in a frame's bytes.
type finder func(raw []byte) bool

func anyOf(finders []finder) finder {
	return func(raw []byte) bool {
		return slices.ContainsFunc(finders, func(f finder) bool { return f(raw) })
	}
}

// textFinder finds a text without regard to case, in all the ways in which JSON
// can write it.
func textFinder(text string) finder {
	escaped := string(rawjson.AppendQuoted(nil, text))
	escaped = escaped[1 : len(escaped)-1]
	forms := []string{text, escaped, strings.ReplaceAll(escaped, "/", `\/`), asciiEscaped(escaped)}
	slices.Sort(forms)
	var finders []finder
	for _, form := range slices.Compact(forms) {
		if isASCII(form) {
			n := newNeedle(form)
			finders = append(finders, func(raw []byte) bool { return n.at(raw) >= 0 })
		} else {
			finders = append(finders, wideFinder(form, ""))
		}
	}
	return anyOf(finders)
}

// memberFinder finds the name of a JSON member, without regard to case.
func memberFinder(name string) finder {
	name = string(rawjson.AppendQuoted(nil, name))
	if !isASCII(name) {
		return wideFinder(name, `[ \t\r\n]*:`)
	}
	n := newNeedle(name)
	return func(raw []byte) bool {
		for at := n.at(raw); at >= 0; at = n.at(raw) {
			if bytes.HasPrefix(bytes.TrimLeft(raw[at+len(name):], " \t\r\n"), []byte(":")) {
				return true
			}
			raw = raw[at+1:]
		}
		return false
	}
}

// wideFinder finds a text with letters outside ASCII, and an expression behind it.
func wideFinder(text, behind string) finder {
	re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text) + behind)
	return behindText(longestOf(strings.FieldsFunc(text, isWide)), re.Match)
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
	switch re.Op {
	case syntax.OpLiteral:
		pieces = strings.FieldsFunc(string(re.Rune), func(r rune) bool {
			// k and s match letters outside ASCII as well: K the Kelvin sign, s the long s.
			return isWide(r) || re.Flags&syntax.FoldCase != 0 && strings.ContainsRune("kKsS", r)
		})
	case syntax.OpRepeat:
		if re.Min > 0 {
			pieces = []string{neededBy(re.Sub[0])}
		}
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
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
	return func(raw []byte) bool { return n.at(raw) >= 0 && find(raw) }
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
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		}
	}
	return b.String()
}

// needle is an ASCII text to be found without regard to case. Most frames are
// done with after one look for the byte in it that is rarest in what frames hold.
type needle struct {
	text         []byte // lower case
	rare         int    // where the rarest byte is
	lower, upper byte   // it, in both cases
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
		if isLetter(c) {
			rarity /= 2 // to be looked for in both cases
		}
		if rarity > best {
			best, n.rare = rarity, i
		}
	}
	n.lower, n.upper = n.text[n.rare], n.text[n.rare]
	if isLetter(n.lower) {
		n.upper = n.lower - 0x20
	}
	return n
}

func isASCII(s string) bool { return strings.IndexFunc(s, isWide) < 0 }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// at is where the text begins in b, -1 if it is not there.
func (n *needle) at(b []byte) int {
	// Where the rare byte is next, in either case.
	lower, upper := indexFrom(b, n.lower, n.rare), -1
	if n.upper != n.lower {
		upper = indexFrom(b, n.upper, n.rare)
	}
	for {
		next := lower
		if next < 0 || upper >= 0 && upper < next {
			next = upper
		}
		if next < 0 {
			return -1
		}
		at := next - n.rare
		if at+len(n.text) > len(b) {
			return -1
		}
		if n.matches(b[at:]) {
			return at
		}
		if next == lower {
			lower = indexFrom(b, n.lower, next+1)
		} else {
			upper = indexFrom(b, n.upper, next+1)
		}
	}
}

func indexFrom(b []byte, c byte, from int) int {
	if from >= len(b) {
		return -1
	}
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return -1
}

func (n *needle) matches(b []byte) bool {
	for i, c := range n.text {
		if b[i] != c && (!isLetter(c) || b[i]|0x20 != c) {
			return false
		}
	}
	return true
}

// glob is a pattern in which * stands for any text; case does not matter.
type glob struct {
	parts []string // the text between the stars, in lower case
}

func newGlob(pattern string) glob { return glob{strings.Split(strings.ToLower(pattern), "*")} }

func (g glob) matches(s string) bool {
	s = strings.ToLower(s)
	first, last := g.parts[0], g.parts[len(g.parts)-1]
	if len(g.parts) == 1 {
		return s == first
	}
	s, ok := strings.CutPrefix(s, first)
	for _, part := range g.parts[1 : len(g.parts)-1] {
		var found bool
		_, s, found = strings.Cut(s, part)
		ok = ok && found
	}
	return ok && strings.HasSuffix(s, last)
}
