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

	"elicitation-inspector/bridge/base/rawjson"
)

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
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil { // it has been compiled from this
		return re.Match
	}
	return behindText(neededBy(tree), newAutomaton(re).Match)
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
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			cases = append(cases, c-0x20)
			rarity /= 2 // it takes two searches
		}
		if rarity > best {
			best, n.rare, n.cases = rarity, i, cases
		}
	}
	return n
}

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
			if bytes.EqualFold(b[at:at+len(n.text)], n.text) && (len(behind) == 0 || bytes.HasPrefix(bytes.TrimLeft(b[at+len(n.text):], " \t\r\n"), behind)) {
				return true
			}
		}
	}
	return false
}

// automaton reports whether a regular expression matches anywhere in a text, about ten
// times as fast as package regexp, which also finds the position. It is deterministic, and
// its states are created on demand (Russ Cox, Regular Expression Matching in the Wild,
// 2010). Only one goroutine may use it.
type automaton struct {
	re   *regexp.Regexp
	prog *syntax.Prog // nil: there is no automaton, and re is used instead

	ids    map[string]int32 // numbers of states, by their instructions
	states []automatonState
	ascii  []int32 // for each state and ASCII character: the next state, unmet or matched
	size   int     // approximate size of the states in bytes
}

type automatonState struct {
	insts []uint32       // instructions that wait for the next character
	wide  map[rune]int32 // like ascii, for other characters
}

// Special values in place of a state. States are numbered from 0.
const (
	unmet   int32 = -1 // not computed yet
	matched int32 = -2
)

const (
	asciis = utf8.RuneSelf
	// mostSize bounds the memory of a matcher's states in bytes. Beyond it, package
	// regexp takes over.
	mostSize = 4 << 20
)

// newAutomaton returns a matcher for an expression. For assertions, such as ^ and \b, it uses
// package regexp.
func newAutomaton(re *regexp.Regexp) *automaton {
	m := &automaton{re: re, ids: make(map[string]int32)}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return m
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth }) {
		return m
	}
	m.prog = prog
	if m.state(nil) == matched { // the expression matches the empty text
		m.prog = nil
	}
	return m
}

// Match reports whether the expression matches somewhere in b.
func (m *automaton) Match(b []byte) bool {
	now := int32(0)
	for i := 0; i < len(b) && m.prog != nil; {
		// Most characters are ASCII, and their next state is known.
		for ascii := m.ascii; i < len(b) && b[i] < asciis; i++ {
			to := ascii[int(now)*asciis+int(b[i])]
			if to < 0 {
				break
			}
			now = to
		}
		if i == len(b) {
			break
		}
		c, n := utf8.DecodeRune(b[i:])
		if now = m.after(now, c); now == matched {
			return true
		}
		i += n
	}
	return m.prog == nil && m.re.Match(b)
}

func (m *automaton) after(now int32, c rune) int32 {
	at := int(now)*asciis + int(c) // in ascii
	if c < asciis && m.ascii[at] != unmet {
		return m.ascii[at]
	}
	if to, ok := m.states[now].wide[c]; ok {
		return to
	}
	var next []uint32
	for _, pc := range m.states[now].insts {
		if i := &m.prog.Inst[pc]; i.MatchRune(c) {
			next = append(next, i.Out)
		}
	}
	to := m.state(next)
	if c < asciis {
		m.ascii[at] = to
	} else {
		m.states[now].wide[c] = to
		m.size += 32
	}
	if m.size > mostSize {
		m.prog, m.ids, m.states, m.ascii = nil, nil, nil, nil
	}
	return to
}

// state returns the state in which a match can continue at the given instructions, or
// begin.
func (m *automaton) state(next []uint32) int32 {
	next = append(next, uint32(m.prog.Start))
	var insts []uint32
	seen := make([]bool, len(m.prog.Inst))
	for len(next) > 0 {
		pc := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &m.prog.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return matched
		case syntax.InstAlt, syntax.InstAltMatch:
			next = append(next, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			next = append(next, i.Out)
		default:
			insts = append(insts, pc)
		}
	}
	slices.Sort(insts)
	key := fmt.Sprint(insts)
	id, ok := m.ids[key]
	if !ok {
		id = int32(len(m.states))
		m.ids[key] = id
		m.states = append(m.states, automatonState{insts, make(map[rune]int32)})
		m.ascii = append(m.ascii, slices.Repeat([]int32{unmet}, asciis)...)
		m.size += asciis*4 + len(insts)*4 + len(key) + 160
	}
	return id
}

// UTF16Offset returns an offset in a line in UTF-16 code units, as JavaScript counts.
func UTF16Offset(s string, at int) int {
	n := 0
	for _, r := range s[:min(at, len(s))] {
		n += utf16.RuneLen(r)
	}
	return n
}

// ByteOffset is the inverse of [UTF16Offset]. An offset inside a character is rounded
// down to its start.
func ByteOffset(s string, at int) int {
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > at {
			return i
		}
	}
	return len(s)
}
