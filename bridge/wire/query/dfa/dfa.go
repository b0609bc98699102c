// Package dfa finds out whether a regular expression matches somewhere in a text.
// It does so some ten times as fast as package regexp, which must also say where.
package dfa

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Matcher matches an expression by a deterministic automaton whose states are
// made when they are met (Russ Cox, Regular Expression Matching in the Wild,
// 2010). It is for one goroutine.
type Matcher struct {
	re       *regexp.Regexp
	prog     *syntax.Prog // nil: the automaton is given up, and re does the work
	anchored bool         // matches begin at the beginning of the text only
	looks    bool         // the expression has assertions: ^, $, \b and their like

	ids    map[string]int32 // of states, by what they are
	states []state
	// ascii has for each state and ASCII character the state that follows,
	// or unmet, matched or hopeless.
	ascii []int32
	size  int // bytes that states take, about
}

// state is what can go on after some characters: instructions that await the
// next one, before assertions are looked at, and what an assertion must know of
// the last one.
type state struct {
	insts []uint32
	last  rune           // atStart, or one that stands for all of its kind
	wide  map[rune]int32 // what ascii is, for other characters, and for atEnd
}

// What stands in the place of a state. States are numbered from 0.
const (
	unmet    int32 = -1 // not looked at yet
	matched  int32 = -2
	hopeless int32 = -3 // it cannot match any more
)

// What stands in the place of a character where the text begins or ends, as
// package syntax has it.
const (
	atStart rune = -1
	atEnd   rune = -1
)

const (
	asciis = utf8.RuneSelf
	// mostSize bounds the memory of a matcher's states. An expression that needs
	// more is left to package regexp.
	mostSize = 4 << 20
)

// New makes a matcher for an expression.
func New(re *regexp.Regexp) *Matcher {
	m := &Matcher{re: re, ids: make(map[string]int32)}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return m
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return m
	}
	m.prog = prog
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	m.looks = slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth })
	m.state([]uint32{uint32(prog.Start)}, atStart)
	return m
}

// Match reports whether the expression matches somewhere in b.
func (m *Matcher) Match(b []byte) bool {
	now := int32(0)
	for i := 0; i < len(b) && m.prog != nil; {
		// Most characters are ASCII, and lead where they have led before.
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
		switch to := m.after(now, c); to {
		case matched:
			return true
		case hopeless:
			return false
		default:
			now = to
			i += n
		}
	}
	if m.prog == nil {
		return m.re.Match(b)
	}
	return m.after(now, atEnd) == matched
}

// after is the state that follows one at a character.
func (m *Matcher) after(now int32, c rune) int32 {
	isASCII := c >= 0 && c < asciis
	to, met := unmet, false
	if isASCII {
		to = m.ascii[int(now)*asciis+int(c)]
		met = to != unmet
	} else {
		to, met = m.states[now].wide[c]
	}
	if met {
		return to
	}
	to = m.step(m.states[now], c)
	if isASCII {
		m.ascii[int(now)*asciis+int(c)] = to
	} else {
		m.states[now].wide[c] = to
		m.size += 32
	}
	if m.size > mostSize {
		m.prog, m.ids, m.states, m.ascii = nil, nil, nil, nil
	}
	return to
}

// step finds out which state follows one at a character.
func (m *Matcher) step(s state, c rune) int32 {
	awaiting, isMatch := m.follow(s, c)
	if isMatch {
		return matched
	}
	var next []uint32
	for _, pc := range awaiting {
		if i := &m.prog.Inst[pc]; takes(i, c) {
			next = append(next, i.Out)
		}
	}
	if !m.anchored {
		next = append(next, uint32(m.prog.Start))
	}
	if len(next) == 0 || c == atEnd {
		return hopeless
	}
	slices.Sort(next)
	return m.state(slices.Compact(next), kindOf(c))
}

// state is the number of the state with those instructions.
func (m *Matcher) state(insts []uint32, last rune) int32 {
	if !m.looks {
		last = 0
	}
	key := fmt.Sprint(insts, last)
	id, ok := m.ids[key]
	if !ok {
		id = int32(len(m.states))
		m.ids[key] = id
		m.states = append(m.states, state{insts, last, make(map[rune]int32)})
		m.ascii = append(m.ascii, slices.Repeat([]int32{unmet}, asciis)...)
		m.size += asciis*4 + len(insts)*4 + len(key) + 160
	}
	return id
}

// kindOf stands for all characters that assertions take for the same.
func kindOf(c rune) rune {
	switch {
	case c == '\n':
		return '\n'
	case syntax.IsWordChar(c):
		return 'a'
	}
	return 0
}

// follow lists the instructions that await a character, for a state and the
// character that is next. It reports whether the expression has matched before it.
func (m *Matcher) follow(s state, next rune) (awaiting []uint32, isMatch bool) {
	holds := syntax.EmptyOpContext(s.last, next)
	seen := make([]bool, len(m.prog.Inst))
	stack := slices.Clone(s.insts)
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch i := &m.prog.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				stack = append(stack, i.Out)
			}
		default:
			awaiting = append(awaiting, pc)
		}
	}
	return awaiting, false
}

// takes reports whether the instruction takes a character.
func takes(i *syntax.Inst, c rune) bool {
	switch i.Op {
	case syntax.InstRune, syntax.InstRune1:
		return i.MatchRune(c)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return c != '\n'
	}
	return false
}
