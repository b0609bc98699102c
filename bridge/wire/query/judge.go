package query

import (
	"regexp"
	"slices"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// verdict is what is known of whether a frame matches.
type verdict uint8

// The verdicts, in an order in which "and" is the least of two and "or" the
// greatest.
const (
	no    verdict = iota
	maybe         // the frame's bytes must be read
	yes
)

func of(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// candidate is a frame that is judged: first by what the log has in memory, and
// then with its bytes if that was not enough.
type candidate struct {
	wire.Entry
	raw  []byte
	read bool // raw is there
}

// test judges a frame. It says maybe only where the frame's bytes are not read.
type test func(*candidate) verdict

// node is a part of a filter. Every goroutine that judges frames makes its own
// test of it.
type node struct {
	test func(*scope) test
	uses uses
}

// uses says what a node depends on that may change after its frame has come.
type uses uint8

const (
	usesFindings uses = 1 << iota
	usesMarks
)

// scope is what the tests of a view depend on besides the frame.
type scope struct {
	log   *wire.Log
	start time.Time                // of the first frame
	rules func(seq int64) []string // of a frame's findings
}

func newScope(l *wire.Log, rules func(seq int64) []string) *scope {
	s := &scope{log: l, start: time.Now(), rules: rules}
	if l.Len() > 0 {
		if first := l.Entry(1).Time(); !first.IsZero() {
			s.start = first
		}
	}
	return s
}

func and(a, b node) node {
	return node{func(s *scope) test {
		a, b := a.test(s), b.test(s)
		return func(c *candidate) verdict {
			left := a(c)
			if left == no {
				return no
			}
			return min(left, b(c))
		}
	}, a.uses | b.uses}
}

func or(a, b node) node {
	return node{func(s *scope) test {
		a, b := a.test(s), b.test(s)
		return func(c *candidate) verdict {
			left := a(c)
			if left == yes {
				return yes
			}
			return max(left, b(c))
		}
	}, a.uses | b.uses}
}

func not(a node) node {
	return node{func(s *scope) test {
		a := a.test(s)
		return func(c *candidate) verdict { return yes - a(c) }
	}, a.uses}
}

// where is a node that does not need the frame's bytes.
func where(holds func(*candidate) bool) node {
	return node{test: func(*scope) test {
		return func(c *candidate) verdict { return of(holds(c)) }
	}}
}

// inBytes is a node that needs the frame's bytes.
func inBytes(holds func(raw []byte) bool) node {
	t := byBytes(holds)
	return node{test: func(*scope) test { return t }}
}

func byBytes(holds func(raw []byte) bool) test {
	return func(c *candidate) verdict {
		if !c.read {
			return maybe
		}
		return of(holds(c.raw))
	}
}

// matches finds a regular expression.
func matches(re *regexp.Regexp) node {
	return node{test: func(*scope) test { return byBytes(expressionFinder(re)) }}
}

// compare applies an operator of the filter language.
func compare[N int | int64 | time.Duration](op string, a, b N) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return a == b
}

// timeIs picks what came at that time or after it, or else before it.
func timeIs(at moment, after bool) node {
	return node{test: func(s *scope) test {
		at := at.in(s.start)
		return func(c *candidate) verdict { return of(!c.Time().Before(at) == after) }
	}}
}

// knownNames bounds how many names a test remembers.
const knownNames = 10_000

// nameIs picks frames by a name; what has none is not picked.
func nameIs(pattern glob, name func(*candidate) string) node {
	return node{test: func(*scope) test {
		known := map[string]verdict{"": no}
		last, was := "", no // neighbours often have the same name
		return func(c *candidate) verdict {
			name := name(c)
			if name == last {
				return was
			}
			v, ok := known[name]
			if !ok {
				v = of(pattern.matches(name))
				if len(known) < knownNames {
					known[name] = v
				}
			}
			last, was = name, v
			return v
		}
	}}
}

// idIs picks frames by the JSON-RPC id, be it a number or a string.
func idIs(v string) node {
	ids := []wire.IDHash{wire.HashID(rawjson.AppendQuoted(nil, v))}
	if (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && rawjson.Valid([]byte(v)) {
		ids = append(ids, wire.HashID([]byte(v)))
	}
	return where(func(c *candidate) bool {
		for _, id := range ids {
			if c.HasID(id) {
				return true
			}
		}
		return false
	})
}

// hasMember finds a JSON member of one of those names.
func hasMember(names ...string) test {
	var members []finder
	for _, name := range names {
		members = append(members, memberFinder(name))
	}
	return byBytes(anyOf(members))
}

// has finds a JSON member.
func has(name string) node {
	member := hasMember(name)
	return node{test: func(*scope) test { return member }}
}

// isQuestion finds what servers ask: in requests of their own, in the results of
// calls (2026-07-28), and in error -32042 (2025-11-25).
func isQuestion() node {
	carries := hasMember("inputRequests", "elicitations")
	return node{test: func(*scope) test {
		return func(c *candidate) verdict {
			if c.Direction() != wire.ServerToClient {
				return no
			}
			switch kind := c.Kind(); {
			case kind == wire.Request:
				return of(mcp.IsInput(c.Method()))
			case kind == wire.Error, kind == wire.Result && mcp.AsksForInput(c.Method()):
				return carries(c)
			}
			return no
		}
	}}
}

// isAnswer finds what went back to servers that asked.
func isAnswer() node {
	carries := hasMember("inputResponses")
	return node{test: func(*scope) test {
		return func(c *candidate) verdict {
			if c.Direction() != wire.ClientToServer {
				return no
			}
			switch kind := c.Kind(); {
			case kind.IsResponse():
				return of(mcp.IsInput(c.Method()))
			case kind == wire.Request && mcp.AsksForInput(c.Method()):
				return carries(c)
			}
			return no
		}
	}}
}

// hasFinding picks frames with a finding of that rule, or with any.
func hasFinding(rule string) node {
	return node{func(s *scope) test {
		return func(c *candidate) verdict {
			if s.rules == nil {
				return no
			}
			rules := s.rules(c.Seq)
			return of(len(rules) > 0 && (rule == "any" || slices.Contains(rules, rule)))
		}
	}, usesFindings}
}

// marked picks frames by what a person noted of them.
func marked(holds func(wire.Mark) bool) node {
	return node{func(s *scope) test {
		return func(c *candidate) verdict { return of(holds(s.log.MarkOf(c.Seq))) }
	}, usesMarks}
}
