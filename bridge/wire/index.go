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

	"elicitation-inspector/bridge/base/rawjson"
)

// record is the index's entry of a frame: its 48 bytes, and what it shares with
// other frames. It is written once, before Log.n counts it, and is read without
// a lock. Only pair changes later; it is accessed atomically. Fields have the
// meaning of those of Frame with the same names.
type record struct {
	off    int64  // where its line begins in the store
	time   int64  // Unix time in nanoseconds, or noTime
	id     uint64 // HashID of the message's id, or of Answers; 0 if it has none
	length uint32 // of the line, its newline included
	Size   uint32 // if saturated, the line holds the size
	pair   uint32
	line   uint32
	rare   uint32 // number in index.rare; 0: all of it is zero
	shared uint16 // number in index.shared
	body   uint16 // offset of Raw in the line where it stands unescaped; 0: the line must be parsed
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

// Rare has the values that are not zero in few frames only. Numbers above 32 bits are
// saturated.
type Rare struct {
	Status, Call, Round, Question uint32

	// Action is the action of an answer to an elicitation: "accept", "decline" or
	// "cancel"; "" for other frames.
	Action string
}

// Shared has the values that many frames have in common.
type Shared struct {
	names   Names
	unnamed bool // there was no room for the names; they are read from the frame's line

	Kind   Kind
	Dir    Direction
	Stream Stream

	Failed, Duplicate, Orphan, Truncated, Redacted, AsksInput, MakesTask, Guessed, Repeat bool
	// HasMore says that the line holds more than the entry and the frame's
	// bytes: HTTP fields, a note, or Answers.
	HasMore bool
}

// Names are the texts that a frame shares with many others.
type Names struct {
	Server, Session, Transport, Method string

	Tool  string // the tool whose call the frame belongs to; "" if it belongs to none, or to an unknown one
	Actor string
	Fault string
}

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

// chunks is a list that one goroutine at a time appends to while others read.
type chunks[T any] struct {
	list atomic.Pointer[[]*[chunkLen]T]
}

// next returns the element after the first n.
func (c *chunks[T]) next(n int64) *T {
	var list []*[chunkLen]T
	if p := c.list.Load(); p != nil {
		list = *p
	}
	if n == int64(len(list))<<chunkBits {
		// Readers of the former slice never look past its end.
		list = append(list, new([chunkLen]T))
		c.list.Store(&list)
	}
	return &list[n>>chunkBits][n&(chunkLen-1)]
}

// at returns the element with index i, counted from 0.
func (c *chunks[T]) at(i int64) *T {
	return &(*c.list.Load())[i>>chunkBits][i&(chunkLen-1)]
}

// index holds what a log keeps in memory of its frames. Only the appending
// goroutine uses what stands below shared.
type index struct {
	records chunks[record]
	rare    chunks[Rare]
	shared  chunks[firstShared]
	shares  atomic.Int64 // number of elements of shared

	rares      int64
	recent     map[Rare]uint32 // numbers of some of the latest elements of rare
	known      map[Shared]uint16
	last       Shared // the latest frame's, with the number lastNumber
	lastNumber uint16
	names      int // elements of shared with names
	bytes      int // of these names
}

// firstShared is a Shared with the Seq of its first frame.
type firstShared struct {
	Shared
	first int64
}

// The other side chooses names, so their number and size are bounded. Half of the
// numbers remain for frames without names, which differ in 15 bits: MakesTask is set
// in results alone, without AsksInput.
const (
	namesMost     = 1 << 15
	nameBytesMost = 4 << 20
	recentMost    = 1 << 10
)

// numberOfShared returns the number of s in x.shared, and adds it there when a
// frame, seq, is the first to have it.
func (x *index) numberOfShared(s Shared, seq int64) uint16 {
	if s == x.last && len(x.known) > 0 {
		return x.lastNumber
	}
	number, ok := x.known[s]
	if n := s.names; !ok {
		size := len(n.Server) + len(n.Session) + len(n.Transport) + len(n.Method) + len(n.Tool) + len(n.Actor) + len(n.Fault)
		if x.names >= namesMost || x.bytes+size > nameBytesMost {
			s.names, s.unnamed, s.Repeat = Names{}, true, false
			number, ok = x.known[s]
		} else {
			x.names++
			x.bytes += size
		}
	}
	if !ok {
		number = uint16(len(x.known))
		*x.shared.next(int64(number)) = firstShared{s, seq}
		x.known[s] = number
		x.shares.Store(int64(len(x.known)))
	}
	x.last, x.lastNumber = s, number
	return number
}

// numberOfRare returns the number of r in x.rare, and adds it there unless one of
// the latest frames had it.
func (x *index) numberOfRare(r Rare) uint32 {
	if r == (Rare{}) {
		return 0
	}
	number, ok := x.recent[r]
	if !ok {
		if len(x.recent) >= recentMost {
			clear(x.recent)
		}
		x.rares++
		number = uint32(x.rares)
		*x.rare.next(x.rares - 1) = r
		x.recent[r] = number
	}
	return number
}

// AllNames lists the names in the log, in the order of their first frames. Names
// beyond some tens of thousands are not listed.
func (l *Log) AllNames() (list []Names) {
	listed := make(map[Names]bool)
	for i := range l.index.shares.Load() {
		if s := l.index.shared.at(i); s.first <= l.Len() && !s.unnamed && !listed[s.names] {
			listed[s.names] = true
			list = append(list, s.names)
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
	return l.Entry(seq).head()
}

// session is the state that appending keeps for each session.
type session struct {
	id    string
	lines int64             // frames so far
	begun int               // frames that begin it anew
	calls map[uint32]uint32 // the latest tools/call request of each call, by the call's number
	open  []openCall        // tools/call requests without a response
}

const sessionsMost = 1 << 16

func (l *Log) session(id string) *session {
	s := l.sessions[id]
	if s == nil {
		s = &session{id: id}
		if len(l.sessions) < sessionsMost {
			l.sessions[id] = s
		}
	}
	return s
}

var seed = maphash.MakeSeed()

// HashID hashes a JSON-RPC id by its JSON value: 1 and "1" differ, "a" and "\u0061" do
// not, nor do 1e3 and 1000. It is 0 only for no id.
func HashID(id []byte) uint64 {
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
	return maphash.Comparable(seed, struct {
		session string
		begun   int
		sender  Direction
		id      uint64
	}{s.id, s.begun, sender, id})
}

// Entry is the part of a frame that the log keeps in memory, so that a million
// frames can be queried without reading their lines.
type Entry struct {
	Seq int64
	*record
	*Shared
	log *Log
}

// Entry returns the entry of a frame, which must be in the log.
func (l *Log) Entry(seq int64) Entry {
	e := l.index.records.at(seq - 1)
	return Entry{seq, e, &l.index.shared.at(int64(e.shared)).Shared, l}
}

// Rare returns what only few frames have.
func (e Entry) Rare() *Rare {
	if e.rare == 0 {
		return &noRare
	}
	return e.log.index.rare.at(int64(e.rare) - 1)
}

var noRare Rare

// Latency is the time since the request that the frame answers; ok is false for
// a request, and for a frame without a known request.
func (e Entry) Latency() (d time.Duration, ok bool) {
	pair := atomic.LoadUint32(&e.pair)
	if pair == 0 || e.Kind == Request {
		return 0, false
	}
	return e.since(e.log.Entry(int64(pair)).record), true
}

// Names returns the frame's names. Those that found no room in memory are read
// from the frame's line.
func (e Entry) Names() *Names {
	if !e.unnamed {
		return &e.names
	}
	f := e.frame()
	n := &Names{f.Server, f.Session, f.Transport, f.Method, f.toolCalled(), f.Actor, f.Fault}
	if f.Pair != 0 && f.Kind != Request {
		request := e.log.Entry(f.Pair).Names()
		n.Method, n.Tool = request.Method, request.Tool
	}
	return n
}

// HasID reports whether the frame's message has the id with that [HashID], or whether its
// Answers is that id.
func (e Entry) HasID(hash uint64) bool { return e.id == hash }

// head is the frame without what only its line holds.
func (e Entry) head() Frame {
	rare := e.Rare()
	f := Frame{
		Seq: e.Seq, Time: e.Time(), Dir: e.Dir, Kind: e.Kind, Stream: e.Stream, Size: int64(e.Size),
		Status: int(rare.Status), Call: int(rare.Call), Round: int(rare.Round), Question: int(rare.Question),
		Truncated: e.Truncated, Duplicate: e.Duplicate, Orphan: e.Orphan, Redacted: e.Redacted, Failed: e.Failed,
		AsksInput: e.AsksInput, MakesTask: e.MakesTask, Guessed: e.Guessed, Repeat: e.Repeat, Pair: int64(atomic.LoadUint32(&e.pair)),
		Server: e.names.Server, Session: e.names.Session, Transport: e.names.Transport,
		Method: e.names.Method, Actor: e.names.Actor, Fault: e.names.Fault,
	}
	if f.Pair > e.log.Len() {
		f.Pair = 0 // a response that the log does not show yet
	}
	if f.Pair != 0 && f.Kind != Request {
		f.Latency = e.since(e.log.Entry(f.Pair).record)
	}
	return f
}

// frame reads the frame from its line. If that fails, it returns what the index
// knows, marked as Lost.
func (e Entry) frame() Frame {
	line, err := e.log.store.read(nil, e.off, int(e.length))
	if err == nil {
		if f, err := e.parsed(line); err == nil {
			return f
		}
	}
	return lost(e.head())
}

const hugeLine = 4 << 20

// rooms holds the buffers of Bodies, of up to together bytes.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// Bodies calls f with the bytes of each of the frames, in order. raw is valid
// until f returns, and nil for a frame that is lost. When ctx ends, Bodies
// stops and returns the context's error.
func (l *Log) Bodies(ctx context.Context, seqs []int64, f func(seq int64, raw []byte)) error {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	n := 0
	return l.lines(seqs, hugeLine, room, func(e Entry, line []byte, err error) error {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if line != nil || err != nil {
			f(e.Seq, e.bytes(line, err))
			return nil
		}
		select {
		case l.huge <- struct{}{}:
			defer func() { <-l.huge }()
			line, err = l.store.read(nil, e.off, int(e.length))
			f(e.Seq, e.bytes(line, err))
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// bytes returns Raw, from the frame's line and the error of reading the line.
func (e Entry) bytes(line []byte, err error) []byte {
	switch {
	case err != nil:
		return nil
	case e.body != 0 && !e.Truncated && e.Size != math.MaxUint32:
		return e.raw(line)
	}
	f, err := e.parsed(line)
	if err != nil {
		return nil
	}
	return f.Raw
}
