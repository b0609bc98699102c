package elicit

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// matchResult is what could be told of a pattern and the allowed lengths.
type matchResult int

const (
	matchFound   matchResult = iota // a text of an allowed length matches
	noMatch                         // none can: whatever the pattern matches is too short or too long
	matchUnknown                    // none was found in bounded time
	notTried                        // there was no time left to look for one
)

// Bounds on the search for a text that matches.
const (
	searchTime   = 100 * time.Millisecond
	searchTries  = 300
	searchStates = 20_000  // of the automaton
	searchLength = 4_096   // of a text that is drawn, in code points
	easyLength   = 100_000 // of a text that is tried before, in code points
)

// findMatch looks for a text between low and high code points long (high -1: of
// any length) that the pattern matches, until the deadline at most; found is that
// text. It makes an
// automaton of the pattern in which assertions and back references are left
// open. Where that one accepts no text of an allowed length, neither does the
// pattern. Otherwise texts are drawn from it and put to the real engine.
func findMatch(pattern string, re *regexp2.Regexp, low, high int, deadline time.Time) (result matchResult, found string) {
	now := time.Now()
	if now.After(deadline) {
		return notTried, ""
	}
	if until := now.Add(searchTime); until.Before(deadline) {
		deadline = until
	}
	tree, err := parsePattern(pattern, true)
	if err != nil {
		if tree, err = parsePattern(pattern, false); err != nil {
			return matchUnknown, ""
		}
	}
	least := shortest(tree)
	if high >= 0 && least > high {
		return noMatch, ""
	}
	s := search{re: re, low: low, high: high, deadline: deadline}
	if text, ok := s.easy(); ok {
		return matchFound, text
	}
	// A text that matches is mostly not much longer than it has to be. Only to
	// tell that there is none are all lengths to be looked at.
	near := max(low, least) + 64
	if high < 0 || near < high {
		result, text, all := s.upTo(tree, near)
		switch {
		case result == matchFound, all:
			return result, text
		case high < 0:
			return matchUnknown, ""
		}
	}
	result, found, _ = s.upTo(tree, high)
	return result, found
}

// search is one search for a text that matches.
type search struct {
	re        *regexp2.Regexp
	low, high int
	deadline  time.Time
}

func (s search) late() bool { return time.Now().After(s.deadline) }

func (s search) matches(text string) bool {
	ok, err := s.re.MatchString(text)
	return ok && err == nil
}

// easy tries texts of the kind that people enter, which most patterns want.
func (s search) easy() (text string, ok bool) {
	if s.low > easyLength {
		return "", false
	}
	for _, text := range []string{"a", "A1", "abc", "ABC", "12345", "Abc-123", "Aa1!Aa1!Aa1!", "2026-01-31", "a@b.co", "https://example.com/"} {
		if n := len(text); n < s.low {
			text = strings.Repeat(text, s.low/n+1)[:s.low]
		}
		if s.late() {
			break
		}
		if (s.high < 0 || len(text) <= s.high) && s.matches(text) {
			return text, true
		}
	}
	return "", false
}

// upTo looks among all texts up to that length. It answers noMatch if none of
// them can match; all says that none of any length can.
func (s search) upTo(tree *reNode, length int) (result matchResult, text string, all bool) {
	if length > searchLength || s.low > length {
		return matchUnknown, "", false
	}
	a := newAutomaton(tree, length)
	if a == nil || !a.run(length, s.deadline) {
		return matchUnknown, "", false
	}
	var lengths []int
	for n := s.low; n <= length; n++ {
		if a.accepts(n) {
			lengths = append(lengths, n)
		}
	}
	if len(lengths) == 0 {
		return noMatch, "", a.dead
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same request is judged the same way every time
	for try := 0; try < searchTries && !s.late(); try++ {
		n := lengths[min(try/8, len(lengths)-1)]
		if try%3 == 2 {
			n = lengths[random.IntN(len(lengths))]
		}
		if text, ok := a.text(n, try, random); ok && s.matches(text) {
			return matchFound, text, false
		}
	}
	return matchUnknown, "", false
}

// shortest is the length of the shortest text that a node can match, leaving
// assertions and references aside; at most a little more than searchLength.
func shortest(n *reNode) int {
	const most = searchLength + 1
	switch n.op {
	case reChar:
		return 1
	case reSeq:
		total := 0
		for _, sub := range n.sub {
			total = min(total+shortest(sub), most)
		}
		return total
	case reAlt:
		least := most
		for _, sub := range n.sub {
			least = min(least, shortest(sub))
		}
		return least
	case reRepeat:
		one := shortest(n.sub[0])
		if one > 0 && n.min > most/one {
			return most
		}
		return one * n.min
	}
	return 0
}

// isSlow tells whether a pattern takes too long on a text that is almost one that
// it matches: what matches, over and over, and then something else.
func isSlow(re *regexp2.Regexp, matching string, high int) bool {
	const long = 40
	length := long
	if high >= 0 && high < long {
		length = high
	}
	if matching == "" || length < 2 {
		return false
	}
	for _, part := range []string{string([]rune(matching)[0]), matching} {
		text := []rune(strings.Repeat(part, length))[:length-1]
		if _, err := re.MatchString(string(text) + "\x01"); err != nil {
			return true
		}
	}
	return false
}
