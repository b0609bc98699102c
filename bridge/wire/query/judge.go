package query

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

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
	read bool // raw has been read
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

func and(nodes ...node) node {
	return join(nodes, func(tests []test) test {
		return func(c *candidate) verdict {
			all := yes
			for i := 0; i < len(tests) && all != no; i++ {
				all = min(all, tests[i](c))
			}
			return all
		}
	})
}

func or(nodes ...node) node {
	return join(nodes, func(tests []test) test {
		return func(c *candidate) verdict {
			any := no
			for i := 0; i < len(tests) && any != yes; i++ {
				any = max(any, tests[i](c))
			}
			return any
		}
	})
}

// join makes one node of several.
func join(nodes []node, of func([]test) test) node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	var all uses
	for _, n := range nodes {
		all |= n.uses
	}
	return node{func(s *scope) test {
		var tests []test
		for _, n := range nodes {
			tests = append(tests, n.test(s))
		}
		return of(tests)
	}, all}
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
func inBytes(holds finder) node {
	return inBytesOfEach(func() finder { return holds })
}

// inBytesOfEach is inBytes for finders of which every goroutine needs its own.
func inBytesOfEach(newFinder func() finder) node {
	return node{test: func(*scope) test {
		holds := newFinder()
		return func(c *candidate) verdict {
			if !c.read {
				return maybe
			}
			return of(holds(c.raw))
		}
	}}
}

// compare applies an operator: one or two of the signs <, = and >.
func compare[N int64 | time.Duration](op string, a, b N) bool {
	sign := "<=>"[cmp.Compare(a, b)+1]
	return strings.IndexByte(op, sign) >= 0
}

// knownNames bounds how many names a test remembers.
const knownNames = 10_000

// nameIs picks frames by a name; what has none is not picked.
func nameIs(pattern *regexp.Regexp, name func(*candidate) string) node {
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
				v = of(pattern.MatchString(name))
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

func hasMember(name string) node { return inBytes(memberFinder(name)) }

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

func marked(holds func(wire.Mark) bool) node {
	return node{func(s *scope) test {
		return func(c *candidate) verdict { return of(holds(s.log.MarkOf(c.Seq))) }
	}, usesMarks}
}
