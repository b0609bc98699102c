package wire

import (
	"math"
	"regexp"
	"slices"
	"sync/atomic"
	"time"
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
	Mark func(seq int64) Mark
	// Location is the time zone of after: and before:; nil means time.Local.
	Location *time.Location
	// Findings and Names complete what is typed after finding: and has:.
	Findings, Names []string
}

// verdict is what the index alone can say of a frame.
type verdict uint8

const (
	no verdict = iota
	yes
	maybe // the bytes must be looked at
)

func of(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// node is a part of a filter. Each goroutine that judges frames makes its own
// test of it.
type node func(*judge) test

// test says whether frames match.
type test struct {
	// index judges by the index alone.
	index func(seq int64, e *entry) verdict
	// match judges by the bytes, where index says maybe. It is nil where index
	// never does.
	match func(c *content) bool
}

// holds judges by the index if that is enough, else by the bytes.
func (t test) holds(c *content) bool {
	if v := t.index(c.seq, c.e); v != maybe {
		return v == yes
	}
	return t.match(c)
}

// judge is what the nodes of one goroutine share.
type judge struct {
	log   *Log
	hooks Hooks
	start time.Time // of the first frame
}

func newJudge(l *Log, h Hooks) *judge {
	j := &judge{log: l, hooks: h, start: time.Now()}
	if l.Len() > 0 && l.index.at(1).time != noTime {
		j.start = l.index.at(1).at()
	}
	if h.Location == nil {
		h.Location = time.Local
	}
	j.start = j.start.In(h.Location)
	return j
}

// content is a frame's bytes, and the frame if somebody asks for it.
type content struct {
	log  *Log
	seq  int64
	e    *entry
	line []byte
	raw  []byte // the frame's bytes
	lost bool
	all  *Frame
}

// open gets at the bytes of a line.
func (c *content) open(seq int64, e *entry, line []byte, err error) {
	*c = content{log: c.log, seq: seq, e: e, line: line}
	switch {
	case err != nil:
		c.lost = true
	case e.body != 0 && e.flags&flagTruncated == 0 && e.size != math.MaxUint32:
		c.raw = e.raw(line)
	default:
		c.raw = c.frame().Raw
	}
}

func (c *content) frame() *Frame {
	if c.all == nil {
		f := c.log.facts(c.seq, c.e)
		if !c.lost {
			if read, err := c.log.parsed(c.seq, c.e, c.line); err == nil {
				f = read
			}
		}
		c.all = &f
	}
	return c.all
}

func and(a, b node) node {
	return func(j *judge) test {
		a, b := a(j), b(j)
		return test{
			index: func(seq int64, e *entry) verdict {
				left := a.index(seq, e)
				if left == no {
					return no
				}
				right := b.index(seq, e)
				if right == no || left == yes {
					return right
				}
				return left
			},
			match: func(c *content) bool { return a.holds(c) && b.holds(c) },
		}
	}
}

func or(a, b node) node {
	return func(j *judge) test {
		a, b := a(j), b(j)
		return test{
			index: func(seq int64, e *entry) verdict {
				left := a.index(seq, e)
				if left == yes {
					return yes
				}
				right := b.index(seq, e)
				if right == yes || left == no {
					return right
				}
				return left
			},
			match: func(c *content) bool { return a.holds(c) || b.holds(c) },
		}
	}
}

func not(a node) node {
	return func(j *judge) test {
		a := a(j)
		return test{
			index: func(seq int64, e *entry) verdict {
				switch v := a.index(seq, e); v {
				case yes:
					return no
				case no:
					return yes
				default:
					return v
				}
			},
			match: func(c *content) bool { return !a.holds(c) },
		}
	}
}

// where is a node that needs the frame's entry and nothing else.
func where(holds func(e *entry) bool) node {
	return func(*judge) test {
		return test{index: func(_ int64, e *entry) verdict { return of(holds(e)) }}
	}
}

// inBytes is a node that always needs the frame's bytes.
func inBytes(holds func(raw []byte) bool) node {
	return func(*judge) test {
		return test{
			index: func(int64, *entry) verdict { return maybe },
			match: func(c *content) bool { return holds(c.raw) },
		}
	}
}

// nothing is what stands for the rest of a line that has a mistake.
func nothing(*judge) test {
	return test{index: func(int64, *entry) verdict { return no }}
}

// compare applies an operator of the filter language.
func compare(op string, a, b int64) bool {
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
	return func(j *judge) test {
		return test{index: func(_ int64, e *entry) verdict {
			pair := atomic.LoadUint32(&e.pair)
			if pair == 0 || e.kind == Request {
				return no
			}
			return of(compare(op, int64(e.since(j.log.index.at(int64(pair)))), int64(d)))
		}}
	}
}

// timeIs picks what came at that time or after it, or else before it.
func timeIs(at moment, after bool) node {
	return func(j *judge) test {
		nanos := at.in(j.start)
		return test{index: func(_ int64, e *entry) verdict { return of((e.time >= nanos) == after) }}
	}
}

// memo remembers the verdicts on numbered names.
type memo []verdict

const unknown = maybe + 1

func (m *memo) get(id uint16, judge func() verdict) verdict {
	for int(id) >= len(*m) {
		*m = append(*m, unknown)
	}
	if (*m)[id] == unknown {
		(*m)[id] = judge()
	}
	return (*m)[id]
}

func methodIs(pattern glob) node {
	return func(j *judge) test {
		var known memo
		return test{
			index: func(_ int64, e *entry) verdict {
				if e.method == full {
					return maybe
				}
				return known.get(e.method, func() verdict {
					name, _ := j.log.methods.name(e.method)
					return of(name != "" && pattern.matches(name))
				})
			},
			match: func(c *content) bool { return pattern.matches(c.frame().Method) },
		}
	}
}

// toolIs judges by the tool whose call a frame belongs to.
func toolIs(pattern glob) node {
	return func(j *judge) test {
		var known memo
		return test{
			index: func(_ int64, e *entry) verdict {
				if e.tool == full {
					return maybe
				}
				return known.get(e.tool, func() verdict {
					name, _ := j.log.tools.name(e.tool)
					return of(name != "" && pattern.matches(name))
				})
			},
			match: func(c *content) bool { return pattern.matches(c.frame().toolCalled()) },
		}
	}
}

func actorIs(pattern glob) node {
	return func(j *judge) test {
		var known memo
		return test{
			index: func(_ int64, e *entry) verdict {
				if e.actor == math.MaxUint8 {
					return maybe
				}
				return known.get(uint16(e.actor), func() verdict {
					name, _ := j.log.actors.name(uint16(e.actor))
					return of(name != "" && pattern.matches(name))
				})
			},
			match: func(c *content) bool { return pattern.matches(c.frame().Actor) },
		}
	}
}

func serverOf(k conn) string    { return k.server }
func sessionOf(k conn) string   { return k.session }
func transportOf(k conn) string { return k.transport }

// connIs judges by something of the connection.
func connIs(pattern glob, part func(conn) string) node {
	return func(j *judge) test {
		var known memo
		return test{
			index: func(_ int64, e *entry) verdict {
				if e.conn == full {
					return maybe
				}
				return known.get(e.conn, func() verdict {
					k, _ := j.log.conns.at(e.conn)
					return of(pattern.matches(part(k)))
				})
			},
			match: func(c *content) bool {
				f := c.frame()
				return pattern.matches(part(conn{f.Server, f.Session, f.Transport}))
			},
		}
	}
}

// idIs finds an id, be it a number or a string.
func idIs(v string) node {
	hashes := []uint64{hashID(appendString(nil, v))}
	if v[0] == '-' || v[0] >= '0' && v[0] <= '9' {
		s := scanner{b: []byte(v)}
		if s.number(0) == len(v) {
			hashes = append(hashes, hashID([]byte(v)))
		}
	}
	return func(*judge) test {
		return test{
			index: func(_ int64, e *entry) verdict {
				for _, h := range hashes {
					if e.id == half(h) {
						return maybe // an entry has only half of the hash
					}
				}
				return no
			},
			match: func(c *content) bool {
				f := c.frame()
				return c.lost || slices.Contains(hashes, hashID(f.Message.ID)) || slices.Contains(hashes, hashID(f.Answers))
			},
		}
	}
}

// matches finds a regular expression.
func matches(re *regexp.Regexp) node {
	text, machine := required(re), newMachine(re)
	return func(*judge) test {
		match := re.Match
		if machine != nil {
			match = machine.another().match
		}
		return test{
			index: func(int64, *entry) verdict { return maybe },
			match: func(c *content) bool {
				return (text == nil || text.at(c.raw, 0) >= 0) && match(c.raw)
			},
		}
	}
}

// askers are the requests of servers that people answer. In revision
// 2026-07-28 they travel in the results of calls, and error -32042 of 2025-11-25
// carries them too.
var askers = []string{"elicitation/create", "sampling/createMessage", "roots/list"}

// asksPeople finds what servers ask, however it travels.
func asksPeople() node {
	return ofMethods(func(e *entry, asks, takes bool) verdict {
		switch {
		case e.kind == Request && e.dir() == ServerToClient:
			return of(asks)
		case e.kind == Result && takes && e.dir() == ServerToClient, e.kind == Error && e.dir() == ServerToClient:
			return maybe
		}
		return no
	}, "inputRequests", "elicitations")
}

// answersServers finds what went back.
func answersServers() node {
	return ofMethods(func(e *entry, asks, takes bool) verdict {
		switch {
		case e.kind.IsResponse() && e.dir() == ClientToServer:
			return of(asks)
		case e.kind == Request && takes && e.dir() == ClientToServer:
			return maybe
		}
		return no
	}, "inputResponses")
}

// ofMethods judges by whether the method is one of askers, or one whose result
// can ask; and where that leaves it open, by whether one of the members is in
// the frame.
func ofMethods(index func(e *entry, asks, takes bool) verdict, members ...string) node {
	var searches []search
	for _, name := range members {
		searches = append(searches, newMemberSearch(name))
	}
	return func(j *judge) test {
		var asks, takes memo
		return test{
			index: func(_ int64, e *entry) verdict {
				name := func() string { name, _ := j.log.methods.name(e.method); return name }
				return index(e,
					asks.get(e.method, func() verdict { return of(slices.Contains(askers, name())) }) == yes,
					takes.get(e.method, func() verdict { return of(takesInput(name())) }) == yes)
			},
			match: func(c *content) bool {
				return slices.ContainsFunc(searches, func(s search) bool { return s.memberIn(c.raw) })
			},
		}
	}
}

// has finds what Hooks.Has knows, or else a JSON member.
func has(name string) node {
	member := newMemberSearch(name)
	return func(j *judge) test {
		return test{
			index: func(seq int64, _ *entry) verdict {
				if j.hooks.Has != nil {
					if has, known := j.hooks.Has(seq, name); known {
						return of(has)
					}
				}
				return maybe
			},
			match: func(c *content) bool { return member.memberIn(c.raw) },
		}
	}
}

func finding(rule string) node {
	return func(j *judge) test {
		return test{index: func(seq int64, _ *entry) verdict {
			return of(j.hooks.Finding != nil && j.hooks.Finding(seq, rule))
		}}
	}
}
