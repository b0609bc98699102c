package query

import (
	"regexp"
	"slices"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Hooks tell a filter what the log does not know. They are called from
// several goroutines at once.
type Hooks struct {
	// Finding says whether the frame has a finding of that rule, or any for
	// "any". Without it no frame has.
	Finding func(seq int64, rule string) bool
	// Has answers has:NAME where known is true. Otherwise, and without it,
	// has:NAME looks for a JSON member of that name in the frame.
	Has func(seq int64, name string) (has, known bool)
	// Mark says what was noted of a frame, where another log than this one
	// knows that; nil means that this one does.
	Mark func(seq int64) wire.Mark
	// Location is the time zone of after: and before:; nil means time.Local.
	Location *time.Location
	// Findings and Names complete what is typed after finding: and has:.
	Findings, Names []string
}

// verdict is what is known of whether a frame matches.
type verdict uint8

const (
	no    verdict = iota
	maybe         // the frame's bytes must be looked at
	yes
)

func of(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// candidate is a frame that is judged: first without its bytes, and then with
// them if that was not enough.
type candidate struct {
	wire.Entry
	raw  []byte
	read bool // raw is there
}

// test judges a frame. It says maybe only of frames whose bytes were not read.
type test func(*candidate) verdict

// node is a part of a filter. Each goroutine that judges frames makes its own
// test of it.
type node func(*scope) test

// scope is what the tests of a view depend on besides the frame.
type scope struct {
	hooks Hooks
	start time.Time // of the first frame
}

func newScope(l *wire.Log, h Hooks) *scope {
	start := time.Now()
	if l.Len() > 0 {
		if first := l.Entry(1).Time(); !first.IsZero() {
			start = first
		}
	}
	if h.Location == nil {
		h.Location = time.Local
	}
	if h.Mark == nil {
		h.Mark = l.MarkOf
	}
	return &scope{h, start.In(h.Location)}
}

func and(a, b node) node {
	return func(s *scope) test {
		a, b := a(s), b(s)
		return func(c *candidate) verdict {
			left := a(c)
			if left == no {
				return no
			}
			return min(left, b(c))
		}
	}
}

func or(a, b node) node {
	return func(s *scope) test {
		a, b := a(s), b(s)
		return func(c *candidate) verdict {
			left := a(c)
			if left == yes {
				return yes
			}
			return max(left, b(c))
		}
	}
}

func not(a node) node {
	return func(s *scope) test {
		a := a(s)
		return func(c *candidate) verdict { return yes - a(c) }
	}
}

// where is a node that does not need the frame's bytes.
func where(holds func(e *candidate) bool) node {
	return func(*scope) test {
		return func(c *candidate) verdict { return of(holds(c)) }
	}
}

// byBytes is a test that needs the frame's bytes.
func byBytes(holds func(raw []byte) bool) test {
	return func(c *candidate) verdict {
		if !c.read {
			return maybe
		}
		return of(holds(c.raw))
	}
}

// inBytes is a node that needs the frame's bytes.
func inBytes(holds func(raw []byte) bool) node { return func(*scope) test { return byBytes(holds) } }

// nothing is what stands for the rest of a line that has a mistake.
var nothing = where(func(*candidate) bool { return false })

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

// latencyIs compares the time from the request, of responses.
func latencyIs(op string, d time.Duration) node {
	return where(func(c *candidate) bool {
		latency, ok := c.Latency()
		return ok && compare(op, latency, d)
	})
}

// timeIs picks what came at that time or after it, or else before it.
func timeIs(at moment, after bool) node {
	return func(s *scope) test {
		at := at.in(s.start)
		return func(c *candidate) verdict { return of(!c.Time().Before(at) == after) }
	}
}

// named picks frames by a name; what has none is not picked.
func named(pattern glob, name func(c *candidate) string) node {
	return func(*scope) test {
		known := map[string]verdict{}
		last, was := "", no // most neighbours have the same
		return func(c *candidate) verdict {
			name := name(c)
			if name == last {
				return was
			}
			v, ok := known[name]
			if !ok {
				v = of(name != "" && pattern.matches(name))
				if len(known) < knownNames {
					known[name] = v
				}
			}
			last, was = name, v
			return v
		}
	}
}

// knownNames bounds how many names a test remembers.
const knownNames = 10_000

// idIs finds an id, be it a number or a string.
func idIs(v string) node {
	ids := []wire.IDHash{wire.HashID(rawjson.AppendQuoted(nil, v))}
	if (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && rawjson.Valid([]byte(v)) {
		ids = append(ids, wire.HashID([]byte(v)))
	}
	return where(func(c *candidate) bool { return slices.ContainsFunc(ids, c.HasID) })
}

// matches finds a regular expression.
func matches(re *regexp.Regexp) node {
	text, machine := required(re), newMachine(re)
	return func(*scope) test {
		match := re.Match
		if machine != nil {
			match = machine.another().match
		}
		return byBytes(func(raw []byte) bool { return (text == nil || text.at(raw, 0) >= 0) && match(raw) })
	}
}

// asksPeople finds what servers ask: in requests of their own, in the results of
// calls (2026-07-28), and in error -32042 (2025-11-25).
func asksPeople() node {
	carries := hasMember("inputRequests", "elicitations")
	return func(*scope) test {
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
	}
}

// answersServers finds what went back.
func answersServers() node {
	carries := hasMember("inputResponses")
	return func(*scope) test {
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
	}
}

// hasMember finds a JSON member of one of those names.
func hasMember(names ...string) test {
	var members []search
	for _, name := range names {
		members = append(members, newMemberSearch(name))
	}
	return byBytes(func(raw []byte) bool {
		return slices.ContainsFunc(members, func(s search) bool { return s.memberIn(raw) })
	})
}

// has finds what Hooks.Has knows, or else a JSON member.
func has(name string) node {
	member := hasMember(name)
	return func(s *scope) test {
		return func(c *candidate) verdict {
			if s.hooks.Has != nil {
				if has, known := s.hooks.Has(c.Seq, name); known {
					return of(has)
				}
			}
			return member(c)
		}
	}
}

func finding(rule string) node {
	return func(s *scope) test {
		return func(c *candidate) verdict { return of(s.hooks.Finding != nil && s.hooks.Finding(c.Seq, rule)) }
	}
}

// marked picks frames by what was noted of them.
func marked(holds func(wire.Mark) bool) node {
	return func(s *scope) test {
		return func(c *candidate) verdict { return of(holds(s.hooks.Mark(c.Seq))) }
	}
}
