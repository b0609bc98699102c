package elicit

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// automaton accepts every text that contains a match of a pattern, and perhaps
// more: assertions other than ^ and $ always hold in it, and a back reference
// matches anything.
type automaton struct {
	states  []state
	sources map[string]int // of characters, by the expression that matches them
	members [][]rune       // by source: some characters that it matches
	limit   int            // longest text looked for
	accept  int
	layers  []map[place][]step // by characters read; filled in by run
	useful  []bool             // by state: once a character is read, it can still lead to accept
	dead    bool               // no longer text than run has looked at is accepted
}

// state is one state of an automaton, with the edges that leave it.
type state struct {
	free  []int // reading nothing
	first []int // reading nothing, and only before the first character
	last  []int // reading nothing, and nothing may be read any more
	on    int   // index into members of the character that leads to the state to; -1 if none does
	to    int
}

// place is where an automaton can be after some characters.
type place struct {
	state int
	ended bool // a $ has been passed
}

// step is one way in which a place was reached.
type step struct {
	from place
	on   int // index into members, -1 if nothing was read
}

// anything matches every character.
const anything = `[^]`

// newAutomaton makes the automaton of a pattern for texts up to limit code
// points; nil if it would be too large.
func newAutomaton(tree *reNode, limit int) *automaton {
	a := &automaton{sources: make(map[string]int), limit: limit}
	start := a.add()
	a.reading(start, anything, start)
	end := a.build(tree, start)
	if end < 0 {
		return nil
	}
	after := a.add()
	a.free(end, after)
	a.reading(after, anything, after)
	a.accept = after
	a.findUseful()
	return a
}

// findUseful goes back from accept, but not over ^, which nothing passes once a
// character is read.
func (a *automaton) findUseful() {
	before := make([][]int, len(a.states))
	for from, s := range a.states {
		for _, to := range slices.Concat(s.free, s.last) {
			before[to] = append(before[to], from)
		}
		if s.on >= 0 {
			before[s.to] = append(before[s.to], from)
		}
	}
	a.useful = make([]bool, len(a.states))
	stack := []int{a.accept}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !a.useful[s] {
			a.useful[s] = true
			stack = append(stack, before[s]...)
		}
	}
}

func (a *automaton) add() int {
	a.states = append(a.states, state{on: -1})
	return len(a.states) - 1
}

func (a *automaton) free(from, to int) {
	a.states[from].free = append(a.states[from].free, to)
}

// reading makes a state read one character.
func (a *automaton) reading(from int, source string, to int) {
	i, ok := a.sources[source]
	if !ok {
		i = len(a.members)
		a.sources[source] = i
		a.members = append(a.members, membersOf(source))
	}
	a.states[from].on, a.states[from].to = i, to
}

// build appends the automaton of a node to a state, and returns the state that it
// ends in; -1 if it becomes too large.
func (a *automaton) build(n *reNode, from int) int {
	if from < 0 || len(a.states) > searchStates {
		return -1
	}
	to := from
	switch n.op {
	case reChar:
		read := a.add()
		to = a.add()
		a.free(from, read)
		a.reading(read, n.source, to)
	case reBegin:
		to = a.add()
		a.states[from].first = append(a.states[from].first, to)
	case reEnd:
		to = a.add()
		a.states[from].last = append(a.states[from].last, to)
	case reAssert:
	case reRef:
		to = a.add()
		a.free(from, to)
		a.reading(to, anything, to)
		from, to = to, a.add()
		a.free(from, to)
	case reSeq:
		for _, sub := range n.sub {
			to = a.build(sub, to)
		}
	case reAlt:
		to = a.add()
		for _, sub := range n.sub {
			end := a.build(sub, from)
			if end < 0 {
				return -1
			}
			a.free(end, to)
		}
	case reRepeat:
		to = a.repeat(n, from)
	}
	return to
}

func (a *automaton) repeat(n *reNode, from int) int {
	one := shortest(n.sub[0])
	for i := range n.min {
		if from = a.build(n.sub[0], from); from < 0 {
			return -1
		}
		if one == 0 && i > 0 {
			break // this and further rounds may be empty
		}
	}
	if n.max < 0 || one == 0 || n.max-n.min > a.limit { // a text has no more rounds than characters
		loop := a.add()
		a.free(from, loop)
		end := a.build(n.sub[0], loop)
		if end < 0 {
			return -1
		}
		a.free(end, loop)
		return loop
	}
	to := a.add()
	for range n.max - n.min {
		a.free(from, to)
		if from = a.build(n.sub[0], from); from < 0 {
			return -1
		}
	}
	a.free(from, to)
	return to
}

// run finds where the automaton can be after each number of characters up to n;
// false if that takes too long.
func (a *automaton) run(n int, deadline time.Time) bool {
	current := make(map[place][]step)
	a.reach(current, place{}, step{on: -1}, true)
	for {
		a.layers = append(a.layers, current)
		if len(a.layers) > n {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		next := make(map[place][]step)
		for p := range current {
			if s := a.states[p.state]; s.on >= 0 && !p.ended {
				a.reach(next, place{state: s.to}, step{p, s.on}, false)
			}
		}
		if current = next; len(current) == 0 {
			a.dead = true
			return true
		}
	}
}

// reach notes that a place can be reached, and all that follow from it without
// reading.
func (a *automaton) reach(layer map[place][]step, p place, by step, first bool) {
	type arrival struct {
		at place
		by step
	}
	stack := []arrival{{p, by}}
	for len(stack) > 0 {
		at, by := stack[len(stack)-1].at, stack[len(stack)-1].by
		stack = stack[:len(stack)-1]
		if !first && !a.useful[at.state] {
			continue
		}
		ways, known := layer[at]
		if len(ways) < 8 {
			layer[at] = append(ways, by)
		}
		if known {
			continue
		}
		s := a.states[at.state]
		for _, to := range s.free {
			stack = append(stack, arrival{place{to, at.ended}, step{at, -1}})
		}
		for _, to := range s.last {
			stack = append(stack, arrival{place{to, true}, step{at, -1}})
		}
		if first {
			for _, to := range s.first {
				stack = append(stack, arrival{place{to, at.ended}, step{at, -1}})
			}
		}
	}
}

// accepts tells whether some text of n characters is accepted.
func (a *automaton) accepts(n int) bool {
	if n >= len(a.layers) {
		return false
	}
	return a.layers[n][place{a.accept, false}] != nil || a.layers[n][place{a.accept, true}] != nil
}

// text draws a text of n characters that is accepted: the first by the shortest
// way and with the first character that fits everywhere, later ones by chance.
// It may get lost, and then is not ok.
func (a *automaton) text(n, try int, random *rand.Rand) (text string, ok bool) {
	at := place{a.accept, false}
	if a.layers[n][at] == nil {
		at.ended = true
	}
	out := make([]rune, n)
	for i, steps := n, 0; ; steps++ {
		ways := a.layers[i][at]
		if i == 0 && at == (place{}) {
			return string(out), true
		}
		if len(ways) == 0 || steps > 16*(n+len(a.states)) {
			return "", false
		}
		way := ways[0]
		if try%4 != 0 {
			way = ways[random.IntN(len(ways))]
		}
		at = way.from
		if way.on < 0 {
			continue
		}
		i--
		members := a.members[way.on]
		if len(members) == 0 {
			return "", false
		}
		switch try % 4 {
		case 0:
			out[i] = members[min(try/4, len(members)-1)]
		case 1:
			out[i] = members[(i+try/4)%len(members)]
		default:
			out[i] = members[random.IntN(len(members))]
		}
	}
}

// palette is what is tried for an expression that matches one character.
const palette = "a0A-_ .bB1zZ9@/:+!#$%&'()*,;<=>?[\\]^`{|}~\"cdefxyCDEFXY2345678éßÑøЖяΩλאبग中日あア한ไ😀\n\t"

// membersOf finds characters that an expression for one character matches: those
// that are written in it, plainly or by number, then those of the palette.
func membersOf(source string) []rune {
	re, err := compilePattern("^(?:" + source + ")$")
	if err != nil {
		return nil
	}
	candidates := palette
	if source != anything {
		candidates = source + numbered(source) + palette
	}
	return matching(re, candidates)
}

func matching(re *regexp2.Regexp, candidates string) []rune {
	var list []rune
	seen := make(map[rune]bool)
	for _, r := range candidates {
		if seen[r] {
			continue
		}
		seen[r] = true
		if ok, err := re.MatchString(string(r)); ok && err == nil {
			list = append(list, r)
		}
	}
	return list
}

// numbered are the characters that an expression names by number: \x41, \u0041
// and \u{41}.
func numbered(source string) string {
	var list []rune
	for i := 0; i+2 < len(source); i++ {
		if source[i] != '\\' {
			continue
		}
		digits := ""
		switch source[i+1] {
		case 'x':
			digits = source[i+2 : min(i+4, len(source))]
		case 'u':
			digits = source[i+2 : min(i+6, len(source))]
			if source[i+2] == '{' {
				end := i + 3
				for end < len(source) && source[end] != '}' {
					end++
				}
				digits = source[i+3 : end]
			}
		}
		if n, err := strconv.ParseUint(digits, 16, 21); err == nil {
			list = append(list, rune(n))
		}
		i++
	}
	return string(list)
}
