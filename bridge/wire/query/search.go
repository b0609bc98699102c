package query

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
)

// search finds a text in frames, without regard to case. In JSON the text can
// be written in several ways; each is a form.
type search struct {
	forms []needle
}

// needle is one way to write a text, with the byte in it that is rarest in
// what frames hold, so that most frames are done with after one look for it.
type needle struct {
	text         []byte // lower case
	rare         int    // where the rarest byte is
	lower, upper byte   // it, in both cases
	fold         *regexp.Regexp
}

func newSearch(text string) search {
	escaped := string(rawjson.AppendQuoted(nil, text))
	escaped = escaped[1 : len(escaped)-1]
	forms := []string{text, escaped, strings.ReplaceAll(escaped, "/", `\/`), asciiEscaped(escaped)}
	var s search
	seen := map[string]bool{}
	for _, form := range forms {
		if !seen[form] {
			seen[form] = true
			s.forms = append(s.forms, newNeedle(form))
		}
	}
	return s
}

// newMemberSearch finds the name of a JSON member: in its quotes, before a
// colon.
func newMemberSearch(name string) search {
	return search{[]needle{newNeedle(string(rawjson.AppendQuoted(nil, name)))}}
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

// commonest are the bytes that JSON-RPC messages hold, the commonest first.
const commonest = ` "etaoinsrlcdmupghfybvkwxqjz,:/._-{}0123456789[]()\'ETAOINSRLCDMUPGHFYBVKWXQJZ`

var rarity = func() (r [256]int) {
	for i := range r {
		r[i] = len(commonest)
	}
	for i := range len(commonest) {
		r[commonest[i]] = min(i, r[commonest[i]])
	}
	return r
}()

func newNeedle(text string) needle {
	n := needle{text: []byte(text)}
	best := -1
	for i, c := range n.text {
		if c >= utf8.RuneSelf {
			continue
		}
		low := lowered(c)
		n.text[i] = low
		r := rarity[low]
		if isLetter(low) {
			r /= 2 // to be looked for in both cases
		}
		if r > best {
			best, n.rare = r, i
			n.lower, n.upper = low, low
			if isLetter(low) {
				n.upper = low - 0x20
			}
		}
	}
	if len(n.text) != len(text) || !isASCII(n.text) {
		// Case outside ASCII: the expression knows how, the byte only speeds it up.
		n.fold = regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
		if best < 0 {
			n.text = nil
		}
	}
	return n
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// in reports whether the text is in b.
func (s search) in(b []byte) bool {
	for i := range s.forms {
		if s.forms[i].at(b, 0) >= 0 {
			return true
		}
	}
	return false
}

// memberIn reports whether the text in its quotes is the name of a member in b.
func (s search) memberIn(b []byte) bool {
	n := &s.forms[0]
	for i := 0; ; {
		at := n.at(b, i)
		if at < 0 {
			return false
		}
		end := at + len(n.text)
		if n.fold != nil {
			end = at + n.fold.FindIndex(b[at:])[1]
		}
		rest := bytes.TrimLeft(b[end:], " \t\r\n")
		if len(rest) > 0 && rest[0] == ':' {
			return true
		}
		i = at + 1
	}
}

// at finds the text in b from i on, -1 if it is not there.
func (n *needle) at(b []byte, i int) int {
	if n.fold != nil {
		if n.text != nil && bytes.IndexByte(b[i:], n.lower) < 0 && bytes.IndexByte(b[i:], n.upper) < 0 {
			return -1
		}
		loc := n.fold.FindIndex(b[i:])
		if loc == nil {
			return -1
		}
		return i + loc[0]
	}
	// Where the rare byte is next, in either case.
	lower, upper := indexFrom(b, n.lower, i+n.rare), -1
	if n.upper != n.lower {
		upper = indexFrom(b, n.upper, i+n.rare)
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
		if lowered(b[i]) != c {
			return false
		}
	}
	return true
}

// required is a text that must be in whatever the expression matches, so that
// the expression need not be tried on all frames; nil if there is none.
func required(re *regexp.Regexp) *needle {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	text := literalIn(tree)
	if text == "" || !isASCII([]byte(text)) {
		return nil
	}
	n := newNeedle(text)
	return &n
}

// literalIn is the longest literal that every match of the expression
// contains.
func literalIn(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 && strings.ContainsAny(text, "kKsS") {
			// They also match letters outside ASCII: K the Kelvin sign, s the long s.
			parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("kKsS", r) })
			text = longest(parts)
		}
		return text
	case syntax.OpCapture, syntax.OpPlus:
		return literalIn(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalIn(re.Sub[0])
		}
	case syntax.OpConcat:
		var texts []string
		for _, sub := range re.Sub {
			texts = append(texts, literalIn(sub))
		}
		return longest(texts)
	}
	return ""
}

func longest(texts []string) (out string) {
	for _, text := range texts {
		if len(text) > len(out) {
			out = text
		}
	}
	return out
}

// glob is a pattern in which * stands for any text; case does not matter.
type glob struct {
	parts []string // the text between the stars, in lower case
}

func newGlob(pattern string) glob { return glob{strings.Split(strings.ToLower(pattern), "*")} }

func (g glob) matches(s string) bool {
	s = strings.ToLower(s)
	if len(g.parts) == 1 {
		return s == g.parts[0]
	}
	if !strings.HasPrefix(s, g.parts[0]) {
		return false
	}
	s = s[len(g.parts[0]):]
	for _, part := range g.parts[1 : len(g.parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, g.parts[len(g.parts)-1])
}
