package wire

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"elicitation-inspector/bridge/rawjson"
)

// record is the index's entry of a frame. It is written once, before Log.n
// counts it, and is read without a lock. Only pair changes later; it is accessed
// atomically. Fields have the meaning of those of Frame with the same names.
type record struct {
	off    int64  // where its line begins in the store
	time   int64  // Unix time in nanoseconds, or noTime
	names  *named // nil: they are read from the frame's line
	id     uint64 // hashID of the message's id, or of Answers; 0 if it has none
	length uint32 // of the line, its newline included
	pair   uint32
	line   uint32

	Size                          uint32 // if saturated, the line holds the size
	Status, Call, Round, Question uint32

	body   uint16 // offset of Raw in the line where it stands unescaped; 0: the line must be parsed
	action uint8  // index in actions
	Kind   Kind
	Dir    Direction
	Stream Stream

	Failed, Duplicate, Orphan, Truncated, Redacted, AsksInput, Guessed bool
	// HasMore says that the line holds more than the record and the frame's
	// bytes: HTTP fields, a note, or Answers.
	HasMore bool
}

const recordSize = int64(unsafe.Sizeof(record{}))

// noTime is the time of a frame from a transcript line without "ts".
const noTime = math.MinInt64

// Time returns the record's time, zero for noTime.
func (e *record) Time() time.Time {
	if e.time == noTime {
		return time.Time{}
	}
	return time.Unix(0, e.time)
}

// since returns the time from request to this record, at least 0.
func (e *record) since(request *record) time.Duration {
	if e.time == noTime || request.time == noTime {
		return 0
	}
	return time.Duration(max(e.time-request.time, 0))
}

// actions are the values of MCP's ElicitResult.action.
var actions = [...]string{"", "accept", "decline", "cancel"}

// Action is the action of an answer to an elicitation: "accept", "decline" or
// "cancel"; "" for other frames.
func (e *record) Action() string { return actions[e.action] }

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

// index is a list of records that one goroutine at a time appends to while
// others read.
type index struct {
	chunks atomic.Pointer[[]*[chunkLen]record]
}

// next returns the record of the frame after the first n.
func (x *index) next(n int64) *record {
	var chunks []*[chunkLen]record
	if p := x.chunks.Load(); p != nil {
		chunks = *p
	}
	if n == int64(len(chunks))<<chunkBits {
		// Readers of the former slice never look past its end.
		chunks = append(chunks, new([chunkLen]record))
		x.chunks.Store(&chunks)
	}
	return &chunks[n>>chunkBits][n&(chunkLen-1)]
}

func (x *index) at(seq int64) *record {
	return &(*x.chunks.Load())[(seq-1)>>chunkBits][(seq-1)&(chunkLen-1)]
}

// Names are the texts that a frame shares with many others.
type Names struct {
	Server, Session, Transport, Method string

	Tool  string // the tool whose call the frame belongs to; "" if it belongs to none, or to an unknown one
	Actor string
	Fault string
}

// named is a Names with the Seq of its first frame.
type named struct {
	Names
	first int64
}

// names holds each Names of a log once. Only the appending goroutine calls of.
// The other side chooses the texts, so their number and size are bounded.
type names struct {
	known map[Names]*named
	list  atomic.Pointer[[]*named] // in the order of their first frames
	bytes int
}

const (
	namesMost     = 1 << 16
	nameBytesMost = 4 << 20
)

// of returns the kept names; nil if there is no room for them.
func (t *names) of(n Names, seq int64) *named {
	list := t.all()
	if len(list) > 0 && list[len(list)-1].Names == n {
		return list[len(list)-1]
	}
	if k := t.known[n]; k != nil {
		return k
	}
	size := len(n.Server) + len(n.Session) + len(n.Transport) + len(n.Method) + len(n.Tool) + len(n.Actor) + len(n.Fault)
	if len(list) >= namesMost || t.bytes+size > nameBytesMost {
		return nil
	}
	k := &named{n, seq}
	list = append(list, k)
	t.known[n] = k
	t.bytes += size
	t.list.Store(&list)
	return k
}

func (t *names) all() []*named {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// AllNames lists the names in the log, in the order of their first frames. Names
// beyond some tens of thousands are not listed.
func (l *Log) AllNames() (list []Names) {
	for _, n := range l.names.all() {
		if n.first <= l.Len() {
			list = append(list, n.Names)
		}
	}
	return list
}

// Head returns the part of a frame that is known without reading its line: Raw,
// Header and Message are left out. It is zero for a frame that is not in the
// log.
func (l *Log) Head(seq int64) Frame {
	if seq < 1 || seq > l.Len() {
		return Frame{}
	}
	return l.facts(seq, l.index.at(seq))
}

// session is the state that appending keeps for each session.
type session struct {
	lines int64             // frames so far
	hash  uint64            // of the session's id
	tools map[uint32]string // of calls, by their numbers
	open  []openCall        // tools/call requests without a response
}

// sessionsMost bounds how many sessions a log tells apart.
const sessionsMost = 1 << 16

func (l *Log) session(id string) *session {
	s := l.sessions[id]
	if s == nil {
		s = &session{hash: maphash.String(seed, id)}
		if len(l.sessions) < sessionsMost {
			l.sessions[id] = s
		}
	}
	return s
}

var seed = maphash.MakeSeed()

// hashID hashes an id by its JSON value: 1 and "1" differ, "a" and "\u0061" do
// not, nor do 1e3 and 1000. It is never 0.
func hashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	var room [64]byte
	if id[0] == '"' {
		if in := id[1 : len(id)-1]; slices.Contains(in, '\\') {
			id = append(rawjson.AppendUnescaped(append(room[:0], '"'), in), '"')
		}
	} else if slices.ContainsFunc(id, func(c byte) bool { return c|0x20 == 'e' }) {
		if x, err := strconv.ParseFloat(string(id), 64); err == nil && x == float64(int64(x)) {
			id = strconv.AppendInt(room[:0], int64(x), 10)
		}
	}
	return max(maphash.Bytes(seed, id), 1)
}

// exchange is the key that a request and its responses share: its sender's
// direction, the session and the id.
func exchange(s *session, sender Direction, id uint64) uint64 {
	h := (s.hash ^ uint64(sender)*0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93
	h = (h ^ h>>32 ^ id) * 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// Entry is the part of a frame that the log keeps in memory, so that a million
// frames can be queried without reading their lines.
type Entry struct {
	Seq int64
	*record
	log *Log
}

// Entry returns the entry of a frame, which must be in the log.
func (l *Log) Entry(seq int64) Entry { return Entry{seq, l.index.at(seq), l} }

// Latency is the time since the request that the frame answers; ok is false for
// a request, and for a frame without a known request.
func (e Entry) Latency() (d time.Duration, ok bool) {
	pair := atomic.LoadUint32(&e.pair)
	if pair == 0 || e.Kind == Request {
		return 0, false
	}
	return e.since(e.log.index.at(int64(pair))), true
}

// Names returns the frame's names. Those that found no room in memory are read
// from the frame's line.
func (e Entry) Names() *Names {
	if e.names != nil {
		return &e.names.Names
	}
	f := e.frame()
	n := &Names{f.Server, f.Session, f.Transport, f.Method, f.toolCalled(), f.Actor, f.Fault}
	if f.Pair != 0 && f.Kind != Request {
		request := e.log.Entry(f.Pair).Names()
		n.Method, n.Tool = request.Method, request.Tool
	}
	return n
}

// IDHash is a hash of a JSON-RPC id's value.
type IDHash uint64

// HashID hashes an id in its JSON form: 1 and "1" differ, 1e3 and 1000 do not.
func HashID(id []byte) IDHash { return IDHash(hashID(id)) }

// HasID reports whether the frame's message has that id, or whether its Answers
// is that id.
func (e Entry) HasID(id IDHash) bool { return e.id == uint64(id) }

// frame reads the frame from its line. If that fails, it returns what the index
// knows, marked as Lost.
func (e Entry) frame() Frame {
	line, err := e.log.store.read(nil, e.off, int(e.length))
	if err == nil {
		if f, err := e.log.parsed(e.Seq, e.record, line); err == nil {
			return f
		}
	}
	return lost(e.log.facts(e.Seq, e.record))
}

const hugeLine = 4 << 20

// rooms holds the buffers of Bodies, of up to together bytes.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// Bodies calls f with the bytes of each of the frames, in order. raw is valid
// until f returns, and nil for a frame that is lost. When ctx ends, Bodies
// stops and returns the context's error.
func (l *Log) Bodies(ctx context.Context, seqs []int64, f func(seq int64, raw []byte)) error {
	if len(seqs) == 0 {
		return nil
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	first, last := l.index.at(seqs[0]), l.index.at(seqs[len(seqs)-1])
	span := last.off + int64(last.length) - first.off
	if span < 0 || span > together { // the frames can be in any order
		span = together
	}
	if span > int64(len(*room)) {
		*room = make([]byte, span)
	}
	n := 0
	return l.lines(seqs, hugeLine, *room, func(seq int64, e *record, line []byte, err error) error {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if line != nil || err != nil {
			f(seq, l.body(seq, e, line, err))
			return nil
		}
		select {
		case l.huge <- struct{}{}:
			defer func() { <-l.huge }()
			line, err = l.store.read(nil, e.off, int(e.length))
			f(seq, l.body(seq, e, line, err))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func (l *Log) body(seq int64, e *record, line []byte, err error) []byte {
	switch {
	case err != nil:
		return nil
	case e.body != 0 && !e.Truncated && e.Size != math.MaxUint32:
		return e.raw(line)
	}
	f, err := l.parsed(seq, e, line)
	if err != nil {
		return nil
	}
	return f.Raw
}
