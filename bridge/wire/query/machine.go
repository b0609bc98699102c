package query

import (
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// machine finds out whether a regular expression matches somewhere in a text.
// It does so some ten times as fast as package regexp, which also has to say
// where, by a deterministic automaton whose states are made when they are met
// (Russ Cox, Regular Expression Matching in the Wild, 2010). It is for one
// goroutine.
type machine struct {
	re       *regexp.Regexp // for expressions of which there would be too many states
	prog     *syntax.Prog
	anchored bool // matches begin at the beginning of the text only
	looks    bool // the expression has assertions: ^, $, \b and their like

	ids    map[string]int32 // of states, by what they are
	states []state
	// ascii has for each state and ASCII character the state that follows,
	// or unmet, matched or hopeless.
	ascii []int32
	bytes int // that states take
	made  int // states, since the text began to be read that began with none
	read  int // characters read meanwhile
	slow  bool

	now, next     set
	stack, sorted []uint32
	key           []byte
}

// state is what can go on after some characters: instructions that await the
// next one, before assertions are looked at, and what an assertion must know of
// the last one.
type state struct {
	insts []uint32
	last  rune // -1 at the beginning, or one that stands for all of its kind
	wide  map[rune]int32
	end   verdict // whether the expression has matched if the text ends here; maybe: not looked at yet
}

// What stands in the place of a state. States are numbered from 0, and stand
// as they are.
const (
	unmet    int32 = -1 // not looked at yet
	matched  int32 = -2
	hopeless int32 = -3 // it cannot match any more
)

const (
	asciis = utf8.RuneSelf
	// statesBytes bounds the memory of a machine's states. When they are more,
	// it begins again without any.
	statesBytes = 1 << 20
	// rarely is how many characters must have been read for each state that was
	// made; else it is not worth it.
	rarely = 8
)

// newMachine makes one. nil means that only package regexp can do it.
func newMachine(re *regexp.Regexp) *machine {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	m := &machine{re: re, prog: prog, anchored: prog.StartCond()&syntax.EmptyBeginText != 0}
	m.looks = slices.ContainsFunc(prog.Inst, func(i syntax.Inst) bool { return i.Op == syntax.InstEmptyWidth })
	return m
}

// another is a machine for the same expression and another goroutine.
func (m *machine) another() *machine {
	n := &machine{re: m.re, prog: m.prog, anchored: m.anchored, looks: m.looks, now: newSet(len(m.prog.Inst)), next: newSet(len(m.prog.Inst))}
	n.forget()
	return n
}

// forget begins again without states but the first.
func (m *machine) forget() {
	clear(m.states)
	m.ids, m.states, m.ascii = make(map[string]int32), m.states[:0], m.ascii[:0]
	m.bytes, m.made, m.read = 0, 0, 0
	m.next.clear()
	m.next.add(uint32(m.prog.Start))
	m.state(-1)
}

// match reports whether the expression matches somewhere in b.
func (m *machine) match(b []byte) bool {
	if m.slow {
		return m.re.Match(b)
	}
	m.read += len(b)
	now := int32(0)
	for i := 0; i < len(b); {
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
		to := m.after(now, c)
		if to == unmet {
			if to = m.step(now, c); m.slow {
				return m.re.Match(b)
			}
		}
		switch to {
		case matched:
			return true
		case hopeless:
			return false
		}
		now = to
		i += n
	}
	s := &m.states[now]
	if s.end == maybe {
		s.end = of(m.follow(s, -1))
	}
	return s.end == yes
}

// after is what is known to follow a state at a character.
func (m *machine) after(now int32, c rune) int32 {
	if c < asciis {
		return m.ascii[int(now)*asciis+int(c)]
	}
	if to, ok := m.states[now].wide[c]; ok {
		return to
	}
	return unmet
}

// step finds the state that follows one at a character. When there are too many,
// all are forgotten but this.
func (m *machine) step(now int32, c rune) int32 {
	to := matched
	if !m.follow(&m.states[now], c) {
		m.next.clear()
		for _, pc := range m.now.list {
			if i := &m.prog.Inst[pc]; takes(i, c) {
				m.next.add(i.Out)
			}
		}
		if !m.anchored {
			m.next.add(uint32(m.prog.Start))
		}
		if len(m.next.list) == 0 {
			to = hopeless
		} else if m.bytes > statesBytes {
			if m.slow = m.read < rarely*m.made; m.slow {
				m.ids, m.states, m.ascii = nil, nil, nil
				return 0
			}
			insts := slices.Clone(m.next.list)
			m.forget()
			m.next.clear()
			for _, pc := range insts {
				m.next.add(pc)
			}
			return m.state(sortOf(c))
		} else {
			to = m.state(sortOf(c))
		}
	}
	if c < asciis {
		m.ascii[int(now)*asciis+int(c)] = to
	} else {
		s := &m.states[now]
		if s.wide == nil {
			s.wide = make(map[rune]int32)
		}
		s.wide[c] = to
		m.bytes += 32
	}
	return to
}

// state is the number of the state with the instructions in next.
func (m *machine) state(last rune) int32 {
	if !m.looks {
		last = 0
	}
	m.sorted = append(m.sorted[:0], m.next.list...)
	slices.Sort(m.sorted)
	m.key = binary.AppendVarint(m.key[:0], int64(last))
	for _, pc := range m.sorted {
		m.key = binary.AppendUvarint(m.key, uint64(pc))
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	id := int32(len(m.states))
	m.ids[string(m.key)] = id
	m.states = append(m.states, state{insts: slices.Clone(m.sorted), last: last, end: maybe})
	for range asciis {
		m.ascii = append(m.ascii, unmet)
	}
	m.made++
	m.bytes += asciis*4 + len(m.sorted)*4 + len(m.key) + 112
	return id
}

// sortOf stands for all characters that assertions take for the same.
func sortOf(c rune) rune {
	switch {
	case c == '\n':
		return '\n'
	case syntax.IsWordChar(c):
		return 'a'
	}
	return 0
}

// follow puts the instructions that take a character into now, for a state and
// the character that is next, -1 at the end. It reports whether the expression
// has matched before that.
func (m *machine) follow(s *state, next rune) bool {
	var holds syntax.EmptyOp
	if m.looks {
		holds = syntax.EmptyOpContext(s.last, next)
	}
	m.now.clear()
	m.stack = append(m.stack[:0], s.insts...)
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !m.now.add(pc) {
			continue
		}
		switch i := &m.prog.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^holds == 0 {
				m.stack = append(m.stack, i.Out)
			}
		}
	}
	return false
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

// set is a set of instructions, in the order in which they came
// (Briggs and Torczon, An Efficient Representation for Sparse Sets, 1993).
type set struct {
	list  []uint32
	place []uint32
}

func newSet(n int) set { return set{place: make([]uint32, n)} }

func (s *set) clear() { s.list = s.list[:0] }

// add reports whether it is new.
func (s *set) add(pc uint32) bool {
	if at := s.place[pc]; int(at) < len(s.list) && s.list[at] == pc {
		return false
	}
	s.place[pc] = uint32(len(s.list))
	s.list = append(s.list, pc)
	return true
}
