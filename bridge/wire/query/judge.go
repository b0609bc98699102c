package query

import (
	"bytes"
	"regexp"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

type verdict uint8

// The verdicts are ordered so that "and" is the minimum and "or" the maximum.
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

// candidate is a frame under test: first with its entry in the log's memory, and then
// with its bytes if the entry was not enough.
type candidate struct {
	wire.Entry
	raw  []byte
	read bool // raw has been read
}

// test judges a frame. It returns maybe only if the frame's bytes have not been read.
type test func(*candidate) verdict

// node is a part of a filter. Each goroutine that judges frames creates its own test
// from it.
type node struct {
	test func(*scope) test
	uses uses
}

// uses lists the data that a node depends on and that can change after a frame was
// appended.
type uses uint8

const (
	usesFindings uses = 1 << iota
	usesMarks
)

// scope holds the data of a view that tests depend on.
type scope struct {
	log   *wire.Log
	start time.Time                // time of the first frame
	rules func(seq int64) []string // rules with findings in a frame; may be nil
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
	return join(nodes, yes, no, func(a, b verdict) verdict { return min(a, b) })
}

func or(nodes ...node) node {
	return join(nodes, no, yes, func(a, b verdict) verdict { return max(a, b) })
}

// join returns a node that combines the verdicts of nodes, from none's on, until one decides.
func join(nodes []node, none, decides verdict, combined func(a, b verdict) verdict) node {
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
		return func(c *candidate) verdict {
			out := none
			for i := 0; i < len(tests) && out != decides; i++ {
				out = combined(out, tests[i](c))
			}
			return out
		}
	}, all}
}

func not(a node) node {
	return node{func(s *scope) test {
		a := a.test(s)
		return func(c *candidate) verdict { return yes - a(c) }
	}, a.uses}
}

func where(holds func(*candidate) bool) node {
	return node{test: func(*scope) test {
		return func(c *candidate) verdict { return of(holds(c)) }
	}}
}

func inBytes(holds finder) node {
	return inBytesOfEach(func() finder { return holds })
}

// inBytesOfEach is like inBytes for finders that goroutines cannot share.
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

// nameIs selects frames whose name matches; a frame without the name never does.
func nameIs(pattern *regexp.Regexp, name func(*wire.Names) string) node {
	return node{test: func(*scope) test {
		known := make(map[string]verdict)
		return func(c *candidate) verdict {
			name := name(c.Names())
			v, ok := known[name]
			if !ok {
				v = of(name != "" && pattern.MatchString(name))
				known[name] = v
			}
			return v
		}
	}}
}

func idIs(v string) node {
	ids := []uint64{wire.HashID(rawjson.Quoted(v))}
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

// hasMember selects frames with a JSON member of that name, ignoring case.
func hasMember(name string) node { return inBytes(formFinder(string(rawjson.Quoted(name)), ":")) }

// spanSays selects the spans of servers whose words have a text, ignoring case.
func spanSays(v string) node {
	find := textFinder(v)
	return and(ofKind(wire.SpanFrame), inBytes(func(raw []byte) bool { return find(bytes.TrimPrefix(raw, []byte("span "))) }))
}

func marked(holds func(wire.Mark) bool) node {
	return node{func(s *scope) test {
		return func(c *candidate) verdict { return of(holds(s.log.MarkOf(c.Seq))) }
	}, usesMarks}
}
