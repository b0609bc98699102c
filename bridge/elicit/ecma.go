package elicit

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds on a pattern that is read at all.
const (
	maxPattern      = 64 << 10 // bytes
	maxPatternDepth = 100      // groups in groups
)

// reOp says what a node of a regular expression does.
type reOp uint8

const (
	reChar   reOp = iota // one character; source says which
	reSeq                // all of sub, in order
	reAlt                // one of sub
	reRepeat             // sub[0], min to max times
	reBegin              // ^
	reEnd                // $
	reAssert             // \b, \B, ^ and $ of a line, or looking ahead or behind: matches no character
	reRef                // what a group has matched
)

// reNode is a node of an ECMA-262 regular expression.
type reNode struct {
	op       reOp
	sub      []*reNode
	min, max int    // max is -1 where there is no limit
	source   string // of reChar: an expression that matches one character
}

// tooLarge says that a pattern is more than is looked at, which is no fault of it.
type tooLarge string

func (e tooLarge) Error() string { return string(e) }

// parsePattern reads an ECMA-262 regular expression (section 22.2.1), with the u
// flag, as JSON Schema asks for, or else without it and with the leniency of
// annex B.1.2. Names of Unicode properties are not looked up.
func parsePattern(pattern string, u bool) (*reNode, error) {
	if len(pattern) > maxPattern {
		return nil, tooLarge(fmt.Sprintf("it is longer than %d bytes", maxPattern))
	}
	p := reParser{s: []rune(pattern), u: u, names: make(map[string]bool)}
	p.countGroups()
	node, err := p.disjunction(0)
	if err == nil && p.i < len(p.s) {
		err = errors.New("a ) closes no group")
	}
	return node, err
}

type reParser struct {
	s      []rune
	i      int
	u      bool
	groups int
	names  map[string]bool
	lines  bool // ^ and $ may also mean the beginning and end of a line
}

// countGroups finds how many groups there are, which tells what \1 means, and
// whether one has a name, which tells what \k means.
func (p *reParser) countGroups() {
	class := false
	for i := 0; i < len(p.s); i++ {
		switch p.s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(':
			if class {
				break
			}
			next := string(p.s[i+1 : min(i+4, len(p.s))])
			if strings.HasPrefix(next, "?<") && !strings.HasPrefix(next, "?<=") && !strings.HasPrefix(next, "?<!") {
				end := i + 3
				for end < len(p.s) && p.s[end] != '>' {
					end++
				}
				p.names[string(p.s[i+3:end])] = true
				p.groups++
			} else if !strings.HasPrefix(next, "?") {
				p.groups++
			}
		}
	}
}

func (p *reParser) peek() rune {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return -1
}

// accept moves on if text is next.
func (p *reParser) accept(text string) bool {
	r := []rune(text)
	if p.i+len(r) > len(p.s) || string(p.s[p.i:p.i+len(r)]) != text {
		return false
	}
	p.i += len(r)
	return true
}

func (p *reParser) disjunction(depth int) (*reNode, error) {
	if depth > maxPatternDepth {
		return nil, tooLarge(fmt.Sprintf("its groups are nested more than %d deep", maxPatternDepth))
	}
	alt := &reNode{op: reAlt}
	for {
		seq := &reNode{op: reSeq}
		for p.peek() != -1 && p.peek() != '|' && p.peek() != ')' {
			term, err := p.term(depth)
			if err != nil {
				return nil, err
			}
			seq.sub = append(seq.sub, term)
		}
		alt.sub = append(alt.sub, seq)
		if !p.accept("|") {
			break
		}
	}
	if len(alt.sub) == 1 {
		return alt.sub[0], nil
	}
	return alt, nil
}

func (p *reParser) term(depth int) (*reNode, error) {
	atom, quantifiable, err := p.atom(depth)
	if err != nil {
		return nil, err
	}
	low, high, ok, err := p.quantifier()
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return atom, nil
	case !quantifiable:
		return nil, errors.New("an assertion cannot be repeated")
	}
	return &reNode{op: reRepeat, sub: []*reNode{atom}, min: low, max: high}, nil
}

// quantifier reads what may follow an atom; not ok if none does.
func (p *reParser) quantifier() (low, high int, ok bool, err error) {
	switch c := p.peek(); c {
	case '*', '+', '?':
		p.i++
		low, high = 0, -1
		if c == '+' {
			low = 1
		}
		if c == '?' {
			high = 1
		}
	case '{':
		if low, high, ok = p.braces(); !ok {
			if p.u {
				return 0, 0, false, errors.New("a { has to be escaped, or to be followed by a number and a }")
			}
			return 0, 0, false, nil
		}
		if high >= 0 && low > high {
			return 0, 0, false, fmt.Errorf("the numbers of {%d,%d} are in the wrong order", low, high)
		}
	default:
		return 0, 0, false, nil
	}
	p.accept("?")
	return low, high, true, nil
}

// braces reads {2}, {2,} or {2,3}. Numbers beyond a billion count as that.
func (p *reParser) braces() (low, high int, ok bool) {
	start := p.i
	number := func() (n int, ok bool) {
		for ; '0' <= p.peek() && p.peek() <= '9'; p.i++ {
			n = min(n*10+int(p.peek()-'0'), 1e9)
			ok = true
		}
		return n, ok
	}
	p.i++
	if low, ok = number(); ok {
		high = low
		if p.accept(",") {
			if high, ok = number(); !ok {
				high, ok = -1, true
			}
		}
		if p.accept("}") {
			return low, high, true
		}
	}
	p.i = start
	return 0, 0, false
}

// atom reads an atom or an assertion, and tells whether it may be repeated.
func (p *reParser) atom(depth int) (node *reNode, quantifiable bool, err error) {
	start := p.i
	c := p.s[p.i]
	p.i++
	switch c {
	case '^', '$':
		op := reBegin
		if c == '$' {
			op = reEnd
		}
		if p.lines {
			op = reAssert
		}
		return &reNode{op: op}, false, nil
	case '.':
		return p.char(start), true, nil
	case '(':
		return p.group(depth)
	case '[':
		if err := p.class(); err != nil {
			return nil, false, err
		}
		return p.char(start), true, nil
	case '\\':
		return p.escape(start)
	case '*', '+', '?':
		return nil, false, fmt.Errorf("nothing stands before %c that could be repeated", c)
	case ']', '}':
		if p.u {
			return nil, false, fmt.Errorf("a %c has to be escaped", c)
		}
	case '{':
		if p.u {
			return nil, false, errors.New("a { has to be escaped")
		}
		p.i--
		if _, _, ok := p.braces(); ok {
			return nil, false, errors.New("nothing stands before { that could be repeated")
		}
		p.i++
		return &reNode{op: reChar, source: `\{`}, true, nil
	}
	return p.char(start), true, nil
}

// char is the node of one character, written from start up to here.
func (p *reParser) char(start int) *reNode {
	return &reNode{op: reChar, source: string(p.s[start:p.i])}
}

func (p *reParser) group(depth int) (*reNode, bool, error) {
	look, behind := false, false
	switch {
	case !p.accept("?"):
	case p.accept("="), p.accept("!"):
		look = true
	case p.accept("<="), p.accept("<!"):
		look, behind = true, true
	case p.accept(":"):
	case p.accept("<"):
		if err := p.groupName(); err != nil {
			return nil, false, err
		}
	default:
		if err := p.modifiers(); err != nil {
			return nil, false, err
		}
	}
	node, err := p.disjunction(depth + 1)
	if err != nil {
		return nil, false, err
	}
	if !p.accept(")") {
		return nil, false, errors.New("a group is not closed")
	}
	if look {
		return &reNode{op: reAssert, sub: []*reNode{node}}, !p.u && !behind, nil
	}
	return node, true, nil
}

// modifiers reads the flags of (?i:…) and (?i-s:…), ECMA-262 since 2025.
func (p *reParser) modifiers() error {
	seen := map[rune]bool{}
	dash := false
	for ; p.peek() != ':'; p.i++ {
		switch c := p.peek(); {
		case c == '-' && !dash:
			dash = true
		case strings.ContainsRune("ims", c) && !seen[c]:
			seen[c] = true
			p.lines = p.lines || c == 'm'
		default:
			return errors.New("an unknown kind of group begins with (?")
		}
	}
	if len(seen) == 0 {
		return errors.New("an unknown kind of group begins with (?")
	}
	p.i++
	return nil
}

// groupName reads a name and the > after it.
func (p *reParser) groupName() error {
	start := p.i
	for ; p.peek() != '>'; p.i++ {
		c := p.peek()
		digit := '0' <= c && c <= '9'
		if !(isAlnum(c) || c == '_' || c == '$' || c == '\\' || c > 0x7f) || digit && p.i == start {
			return errors.New("the name of a group is wrong")
		}
	}
	if p.i == start {
		return errors.New("the name of a group is empty")
	}
	p.i++
	return nil
}
