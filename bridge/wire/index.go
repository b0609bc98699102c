package wire

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"elicitation-inspector/bridge/rawjson"
)

// entry is the index record of a frame: 48 bytes without pointers, so that
// a million entries cost little memory and no time of the garbage collector.
//
// An entry is written once, before index.n counts it, and is read without a
// lock. Only pair changes later; it is accessed atomically.
type entry struct {
	off    int64  // where its line begins in the store
	time   int64  // Unix time in nanoseconds, or noTime
	id     uint32 // half of the hashID of the message's id; 0 if it has none
	length uint32 // of the line, its newline included
	size   uint32 // Frame.Size; if saturated, the line holds the size
	pair   uint32 // Frame.Pair
	call   uint32
	body   uint16 // offset of Raw in the line where it stands unescaped; 0: the line must be parsed
	flags  uint16
	method uint16 // in Log.methods; for a response, the method of its request
	conn   uint16 // in Log.conns
	detail uint16 // in Log.details
	kind   Kind
	asks   bool // Frame.Question is in index.questions
}

// detail is a part of a frame that is the same for many frames.
type detail struct {
	settler
	tool          uint16 // in Log.tools: the tool whose call the frame belongs to
	round, status int
}

// noTime is the time of a frame from a transcript line without "ts".
const noTime = math.MinInt64

// at returns the entry's time, zero for noTime.
func (e *entry) at() time.Time {
	if e.time == noTime {
		return time.Time{}
	}
	return time.Unix(0, e.time)
}

// since returns the time from request to this entry, at least 0.
func (e *entry) since(request *entry) time.Duration {
	if e.time == noTime || request.time == noTime {
		return 0
	}
	return time.Duration(max(e.time-request.time, 0))
}

// entrySize is the size of an entry in bytes.
const entrySize = int64(unsafe.Sizeof(entry{}))

const (
	flagDuplicate = 1 << iota
	flagOrphan
	flagTruncated
	flagRedacted
	flagMore   // the line holds more than the entry: HTTP fields, a note, or Answers
	flagLarge  // the frame's row is in Log.large, if it had room
	flagFailed // Frame.Failed
	flagAsks   // Frame.AsksInput
	flagAction // and the next bit: the index in actions
	_
	flagGuessed // Frame.Guessed
)

// The Direction and the Stream stand in the upper bits of the flags.
const (
	dirShift    = 11
	streamShift = 14
)

// dir is the frame's direction, and stream the stream that carried it.
func (e *entry) dir() Direction { return Direction(e.flags >> dirShift & 7) }
func (e *entry) stream() Stream { return Stream(e.flags >> streamShift) }

func (e *entry) way(d Direction, s Stream) {
	e.flags |= uint16(d)<<dirShift | uint16(s)<<streamShift
}

func (e *entry) set(flag uint16, on bool) {
	if on {
		e.flags |= flag
	}
}

// actions are the values of MCP's ElicitResult.action.
var actions = [...]string{"", "accept", "decline", "cancel"}

// action returns the action of an answer to an elicitation, "" for other
// frames.
func (e *entry) action() string { return actions[e.flags/flagAction&3] }

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

type chunk [chunkLen]entry

// index is a list of entries that one goroutine at a time appends to while
// others read.
type index struct {
	n         atomic.Int64
	chunks    atomic.Pointer[[]*chunk]
	questions atomic.Pointer[[]numbered] // by seq
}

// numbered is a frame with its Frame.Question.
type numbered struct{ seq, question uint32 }

// next returns the entry to fill in before n counts it.
func (x *index) next() *entry {
	n := x.n.Load()
	var chunks []*chunk
	if p := x.chunks.Load(); p != nil {
		chunks = *p
	}
	if n == int64(len(chunks))<<chunkBits {
		// Readers of the former slice never look past its end.
		chunks = append(chunks, new(chunk))
		x.chunks.Store(&chunks)
	}
	return &chunks[n>>chunkBits][n&(chunkLen-1)]
}

// at returns the entry of a frame; seq must be in the index.
func (x *index) at(seq int64) *entry {
	return &(*x.chunks.Load())[(seq-1)>>chunkBits][(seq-1)&(chunkLen-1)]
}

// number adds the Frame.Question of the entry that is about to be published.
func (x *index) number(e *entry, question int) {
	if question <= 0 {
		return
	}
	var list []numbered
	if p := x.questions.Load(); p != nil {
		list = *p
	}
	list = append(list, numbered{uint32(x.n.Load() + 1), uint32(within(question, math.MaxUint32))})
	x.questions.Store(&list)
	e.asks = true
}

// question returns Frame.Question of a frame.
func (x *index) question(seq int64, e *entry) int {
	if !e.asks {
		return 0
	}
	list := *x.questions.Load()
	i, _ := slices.BinarySearchFunc(list, seq, func(n numbered, seq int64) int { return cmp.Compare(int64(n.seq), seq) })
	return int(list[i].question)
}

func (x *index) memory() int64 {
	if p := x.chunks.Load(); p != nil {
		return int64(len(*p)) * chunkLen * entrySize
	}
	return 0
}

// full is the number of all strings that a table has no room for: they are read
// from the frame's line.
const full = 1<<16 - 1

// table numbers values that repeat in many frames, in the order of their first
// use; the zero K has number 0. Only the appending goroutine calls id. A table
// is bounded, because the other side chooses the values.
type table[K comparable] struct {
	list  atomic.Pointer[[]K]
	ids   map[K]uint16
	limit int // on the number of values; at most full
	bytes int // total size of the values
}

// tableBytes bounds the total size of the strings of one table.
const tableBytes = 4 << 20

func newTable[K comparable](limit int) table[K] {
	return table[K]{ids: make(map[K]uint16), limit: limit}
}

// id returns the number of k, whose strings take size bytes, or full if there
// is no room for it.
func (t *table[K]) id(k K, size int) uint16 {
	var zero K
	if k == zero {
		return 0
	}
	if id, ok := t.ids[k]; ok {
		return id
	}
	list := t.all()
	if len(list) >= t.limit || t.bytes+size > tableBytes {
		return full
	}
	if list == nil {
		list = []K{zero}
	}
	id := uint16(len(list))
	list = append(list, k)
	t.ids[k] = id
	t.bytes += size
	t.list.Store(&list)
	return id
}

// at returns the value with that number; known is false for full.
func (t *table[K]) at(id uint16) (k K, known bool) {
	if id == 0 {
		return k, true
	}
	if list := t.all(); int(id) < len(list) {
		return list[id], true
	}
	return k, false
}

// all returns the values by their numbers. The slice must not be changed.
func (t *table[K]) all() []K {
	if p := t.list.Load(); p != nil {
		return *p
	}
	return nil
}

// show takes over the values of another table up to id, unless t has them
// already.
func (t *table[K]) show(of *table[K], id uint16) {
	if list := of.all(); int(id) < len(list) && int(id) >= len(t.all()) {
		part := list[: id+1 : id+1]
		t.list.Store(&part)
	}
}

// listed returns a copy of the values without the zero value.
func (t *table[K]) listed() []K {
	if list := t.all(); len(list) > 0 {
		return slices.Clone(list[1:])
	}
	return nil
}

// session is the state that appending keeps for each session.
type session struct {
	lines int64             // frames so far
	hash  uint64            // of the session's id
	calls map[uint32]uint16 // numbers of tools by the numbers of their calls
	open  []openCall        // tools/call requests without a response
}

// connection returns the number of a frame's connection, and its session.
func (l *Log) connection(f *Frame) (uint16, *session) {
	k := Connection{f.Server, f.Session, f.Transport}
	if k == l.latest.Connection && l.latest.session != nil {
		return l.latest.id, l.latest.session
	}
	id := l.conns.id(k, len(k.Server)+len(k.Session)+len(k.Transport))
	s := l.sessions[k.Session]
	if s == nil {
		s = &session{hash: maphash.String(seed, k.Session)}
	}
	if id != full {
		l.sessions[k.Session] = s
		l.latest.Connection, l.latest.id, l.latest.session = k, id, s
	}
	return id, s
}

var seed = maphash.MakeSeed()

// half folds a hash into the 32 bits of entry.id; only 0 stays 0.
func half(h uint64) uint32 {
	if h == 0 {
		return 0
	}
	return max(uint32(h)^uint32(h>>32), 1)
}

// hashID hashes an id by its JSON value: 1 and "1" differ, "a" and "\u0061" do
// not, nor do 1e3 and 1000. It is never 0.
func hashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	var room [64]byte
	if id[0] == '"' {
		in := id[1 : len(id)-1]
		for i := range in {
			if in[i] == '\\' {
				id = append(rawjson.AppendUnescaped(append(room[:0], '"'), in), '"')
				break
			}
		}
	} else {
		for i := range id {
			if id[i]|0x20 == 'e' {
				if x, err := strconv.ParseFloat(string(id), 64); err == nil && x == float64(int64(x)) {
					id = strconv.AppendInt(room[:0], int64(x), 10)
				}
				break
			}
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
