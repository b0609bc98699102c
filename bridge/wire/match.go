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

// node is a part of a filter. Before it judges, it is bound to a judge, of
// which there is one for each goroutine.
type node interface {
	bind(*judge) node
	// index judges by the index alone.
	index(seq int64, e *entry) verdict
	// match judges where index could not.
	match(seq int64, e *entry, c *content) bool
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

type constNode bool

func (n constNode) bind(*judge) node                   { return n }
func (n constNode) index(int64, *entry) verdict        { return of(bool(n)) }
func (n constNode) match(int64, *entry, *content) bool { return bool(n) }
func (n andNode) bind(j *judge) node                   { return andNode{n.a.bind(j), n.b.bind(j)} }
func (n orNode) bind(j *judge) node                    { return orNode{n.a.bind(j), n.b.bind(j)} }
func (n notNode) bind(j *judge) node                   { return notNode{n.a.bind(j)} }
func (n andNode) match(q int64, e *entry, c *content) bool {
	return decide(n.a, q, e, c) && decide(n.b, q, e, c)
}
func (n orNode) match(q int64, e *entry, c *content) bool {
	return decide(n.a, q, e, c) || decide(n.b, q, e, c)
}
func (n notNode) match(q int64, e *entry, c *content) bool { return !decide(n.a, q, e, c) }

// decide judges by the index if that is enough, else by the bytes.
func decide(n node, seq int64, e *entry, c *content) bool {
	if v := n.index(seq, e); v != maybe {
		return v == yes
	}
	return n.match(seq, e, c)
}

type andNode struct{ a, b node }

func (n andNode) index(seq int64, e *entry) verdict {
	a := n.a.index(seq, e)
	if a == no {
		return no
	}
	b := n.b.index(seq, e)
	if b == no || a == yes {
		return b
	}
	return a
}

type orNode struct{ a, b node }

func (n orNode) index(seq int64, e *entry) verdict {
	a := n.a.index(seq, e)
	if a == yes {
		return yes
	}
	b := n.b.index(seq, e)
	if b == yes || a == no {
		return b
	}
	return a
}

type notNode struct{ a node }

func (n notNode) index(seq int64, e *entry) verdict {
	switch v := n.a.index(seq, e); v {
	case yes:
		return no
	case no:
		return yes
	default:
		return v
	}
}

type kindNode uint16 // a bit for each Kind

func (n kindNode) bind(*judge) node                     { return n }
func (n kindNode) index(_ int64, e *entry) verdict      { return of(n>>e.kind&1 != 0) }
func (n kindNode) match(int64, *entry, *content) bool   { return false }
func (n dirNode) bind(*judge) node                      { return n }
func (n dirNode) index(_ int64, e *entry) verdict       { return of(e.dir == Direction(n)) }
func (n dirNode) match(int64, *entry, *content) bool    { return false }
func (n streamNode) bind(*judge) node                   { return n }
func (n streamNode) index(_ int64, e *entry) verdict    { return of(e.stream == Stream(n)) }
func (n streamNode) match(int64, *entry, *content) bool { return false }
func (n actionNode) bind(*judge) node                   { return n }
func (n actionNode) index(_ int64, e *entry) verdict    { return of(int(e.flags/flagAction&3) == int(n)) }
func (n actionNode) match(int64, *entry, *content) bool { return false }
func (n flagNode) bind(*judge) node                     { return n }
func (n flagNode) index(_ int64, e *entry) verdict      { return of(e.flags&uint16(n) != 0) }
func (n flagNode) match(int64, *entry, *content) bool   { return false }

type (
	dirNode    Direction
	streamNode Stream
	actionNode int // index in actions
	flagNode   uint16
)

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

type numberNode struct {
	op string
	n  int64
	of func(seq int64, e *entry) (n int64, known bool)
}

func (n numberNode) bind(*judge) node { return n }
func (n numberNode) index(seq int64, e *entry) verdict {
	value, known := n.of(seq, e)
	return of(known && compare(n.op, value, n.n))
}
func (n numberNode) match(int64, *entry, *content) bool { return false }

type latencyNode struct {
	op string
	n  int64 // nanoseconds
}

func (n latencyNode) bind(j *judge) node { return boundLatency{n, j.log} }
func (n latencyNode) index(int64, *entry) verdict {
	return no
}
func (n latencyNode) match(int64, *entry, *content) bool { return false }

type boundLatency struct {
	latencyNode
	log *Log
}

func (n boundLatency) index(_ int64, e *entry) verdict {
	if !e.kind.IsResponse() {
		return no
	}
	pair := atomic.LoadUint32(&e.pair)
	if pair == 0 {
		return no
	}
	return of(compare(n.op, int64(e.since(n.log.index.at(int64(pair)))), n.n))
}

type timeNode struct {
	at    moment
	after bool // from then on; else before
}

func (n timeNode) bind(j *judge) node                 { return boundTime{n, n.at.in(j.start)} }
func (n timeNode) index(int64, *entry) verdict        { return no }
func (n timeNode) match(int64, *entry, *content) bool { return false }

type boundTime struct {
	timeNode
	nanos int64
}

func (n boundTime) index(_ int64, e *entry) verdict { return of((e.time >= n.nanos) == n.after) }

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

type methodNode struct{ pattern glob }

func (n methodNode) bind(j *judge) node { return &boundMethod{methodNode: n, log: j.log} }
func (n methodNode) index(int64, *entry) verdict {
	return no
}
func (n methodNode) match(_ int64, _ *entry, c *content) bool {
	return n.pattern.matches(c.frame().Method)
}

type boundMethod struct {
	methodNode
	log  *Log
	memo memo
}

func (n *boundMethod) index(_ int64, e *entry) verdict {
	if e.method == 0 && !e.kind.IsMessage() {
		return no
	}
	if e.method == full {
		return maybe
	}
	return n.memo.get(e.method, func() verdict {
		name, _ := n.log.methods.name(e.method)
		return of(name != "" && n.pattern.matches(name))
	})
}

// connNode judges by something of the connection.
type connNode struct {
	pattern glob
	of      func(conn) string
}

func serverOf(k conn) string    { return k.server }
func sessionOf(k conn) string   { return k.session }
func transportOf(k conn) string { return k.transport }

func (n *connNode) bind(j *judge) node          { return &boundConn{connNode: *n, log: j.log} }
func (n *connNode) index(int64, *entry) verdict { return no }
func (n *connNode) match(_ int64, _ *entry, c *content) bool {
	f := c.frame()
	return n.pattern.matches(n.of(conn{f.Server, f.Session, f.Transport}))
}

type boundConn struct {
	connNode
	log  *Log
	memo memo
}

func (n *boundConn) index(_ int64, e *entry) verdict {
	if e.conn == full {
		return maybe
	}
	return n.memo.get(e.conn, func() verdict {
		k, _ := n.log.conns.at(e.conn)
		return of(n.pattern.matches(n.of(k)))
	})
}

type actorNode struct{ pattern glob }

func (n actorNode) bind(j *judge) node          { return &boundActor{actorNode: n, log: j.log} }
func (n actorNode) index(int64, *entry) verdict { return no }
func (n actorNode) match(_ int64, _ *entry, c *content) bool {
	return n.pattern.matches(c.frame().Actor)
}

type boundActor struct {
	actorNode
	log  *Log
	memo memo
}

func (n *boundActor) index(_ int64, e *entry) verdict {
	if e.actor == math.MaxUint8 {
		return maybe
	}
	return n.memo.get(uint16(e.actor), func() verdict {
		name, _ := n.log.actors.name(uint16(e.actor))
		return of(name != "" && n.pattern.matches(name))
	})
}

// idNode finds an id, be it a number or a string.
type idNode struct {
	hashes []uint64
}

func newIDNode(v string) idNode {
	n := idNode{[]uint64{hashID(appendString(nil, v))}}
	s := scanner{b: []byte(v)}
	if v[0] == '-' || v[0] >= '0' && v[0] <= '9' {
		if s.number(0) == len(v) {
			n.hashes = append(n.hashes, hashID([]byte(v)))
		}
	}
	return n
}

func (n idNode) bind(*judge) node { return n }
func (n idNode) index(_ int64, e *entry) verdict {
	for _, h := range n.hashes {
		if e.id == half(h) {
			return maybe // the entry has only half of the hash
		}
	}
	return no
}
func (n idNode) match(_ int64, _ *entry, c *content) bool {
	return c.lost || slices.Contains(n.hashes, hashID(c.frame().Message.ID))
}

type textNode struct{ search search }

func (n textNode) bind(*judge) node                         { return n }
func (n textNode) index(int64, *entry) verdict              { return maybe }
func (n textNode) match(_ int64, _ *entry, c *content) bool { return n.search.in(c.raw) }

type regexpNode struct {
	re   *regexp.Regexp
	text *needle // in whatever matches; nil if there is none
}

func (n regexpNode) bind(*judge) node            { return n }
func (n regexpNode) index(int64, *entry) verdict { return maybe }
func (n regexpNode) match(_ int64, _ *entry, c *content) bool {
	if n.text != nil && n.text.at(c.raw, 0) < 0 {
		return false
	}
	return n.re.Match(c.raw)
}

type hasNode struct {
	name   string
	member search
}

func (n hasNode) bind(j *judge) node                       { return boundHas{n, j.hooks.Has} }
func (n hasNode) index(int64, *entry) verdict              { return maybe }
func (n hasNode) match(_ int64, _ *entry, c *content) bool { return n.member.memberIn(c.raw) }

type boundHas struct {
	hasNode
	has func(seq int64, name string) (has, known bool)
}

func (n boundHas) index(seq int64, _ *entry) verdict {
	if n.has != nil {
		if has, known := n.has(seq, n.name); known {
			return of(has)
		}
	}
	return maybe
}

type findingNode string

func (n findingNode) bind(j *judge) node                 { return boundFinding{n, j.hooks.Finding} }
func (n findingNode) index(int64, *entry) verdict        { return no }
func (n findingNode) match(int64, *entry, *content) bool { return false }

type boundFinding struct {
	findingNode
	finding func(seq int64, rule string) bool
}

func (n boundFinding) index(seq int64, _ *entry) verdict {
	return of(n.finding != nil && n.finding(seq, string(n.findingNode)))
}
