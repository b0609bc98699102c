package wire

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"elicitation-inspector/bridge/rawjson"
)

// entry is what memory keeps of a frame: 56 bytes without pointers, so that a
// million of them cost neither much memory nor the collector's time.
//
// Entries are written once, before index.n says that they are there, and read
// without a lock. Only pair changes later; it is accessed atomically.
type entry struct {
	off      int64  // where its line begins in the store
	time     int64  // Unix time in nanoseconds, or noTime
	id       uint32 // half of the hashID of the message's id; 0 if it has none
	length   uint32 // of the line, its newline included
	size     uint32 // Frame.Size; saturated means that the line must say
	pair     uint32 // Frame.Pair
	call     uint32
	question uint32
	body     uint16 // where Raw stands in the line as it is; 0: the line must be taken apart
	flags    uint16
	method   uint16 // in Log.methods; of a response, that of its request
	conn     uint16 // in Log.conns
	tool     uint16 // in Log.tools; of the call that the frame belongs to
	round    uint16
	status   uint16
	kind     Kind
	actor    uint8 // in Log.actors
}

// noTime is the time of frames read from a transcript that does not say.
const noTime = math.MinInt64

// at is the entry's time as a frame has it.
func (e *entry) at() time.Time {
	if e.time == noTime {
		return time.Time{}
	}
	return time.Unix(0, e.time)
}

// since is the time from the other entry to this one, not below 0.
func (e *entry) since(request *entry) time.Duration {
	if e.time == noTime || request.time == noTime {
		return 0
	}
	return time.Duration(max(e.time-request.time, 0))
}

// entrySize is that of an entry in bytes.
const entrySize = int64(unsafe.Sizeof(entry{}))

const (
	flagDuplicate = 1 << iota
	flagOrphan
	flagTruncated
	flagRedacted
	flagMore   // the line has more than the entry says: of HTTP, or Answers
	flagLarge  // Log.large has its row
	flagFailed // Frame.Failed
	flagAsks   // Frame.AsksInput
	flagAction // and the next bit: the index in actions
)

// The Direction and the Stream stand in the upper bits of the flags.
const (
	dirShift    = 11
	streamShift = 14
)

// dir is the frame's direction, and stream the stream that carried it.
func (e *entry) dir() Direction { return Direction(e.flags >> dirShift & 7) }
func (e *entry) stream() Stream { return Stream(e.flags >> streamShift) }

// way notes the direction and the stream.
func (e *entry) way(d Direction, s Stream) {
	e.flags |= uint16(d)<<dirShift | uint16(s)<<streamShift
}

// set sets a flag where on is true.
func (e *entry) set(flag uint16, on bool) {
	if on {
		e.flags |= flag
	}
}

// actions are the answers to an elicitation (MCP, ElicitResult.action).
var actions = [...]string{"", "accept", "decline", "cancel"}

// act notes what an answer says.
func (e *entry) act(action string) {
	for i, name := range actions[1:] {
		if name == action {
			e.flags |= uint16(i+1) * flagAction
		}
	}
}

// action is what an answer says, "" if the frame is none.
func (e *entry) action() string { return actions[e.flags/flagAction&3] }

const (
	chunkBits = 10
	chunkLen  = 1 << chunkBits
)

type chunk [chunkLen]entry

// index is a list of entries that one goroutine at a time appends to while
// others read.
type index struct {
	n      atomic.Int64
	chunks atomic.Pointer[[]*chunk]
}

// next is the entry to be filled in before publish.
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

func (x *index) publish() { x.n.Add(1) }

// at is the entry of a frame; seq must be in the index.
func (x *index) at(seq int64) *entry {
	return &(*x.chunks.Load())[(seq-1)>>chunkBits][(seq-1)&(chunkLen-1)]
}

// memory is the size of the index in bytes.
func (x *index) memory() int64 {
	if p := x.chunks.Load(); p != nil {
		return int64(len(*p)) * chunkLen * entrySize
	}
	return 0
}

// full is the number that stands for every string that a table has no room
// for: the frame's line has it.
const full = 1<<16 - 1

// table numbers strings in the order of their coming; "" is 0. The appender
// alone calls id. It is bounded, because what the strings are is up to the
// other side.
type table struct {
	names atomic.Pointer[[]string]
	ids   map[string]uint16
	limit int // on the strings; at most full
	bytes int // in them all
}

// tableBytes bounds the strings of a table, all together.
const tableBytes = 4 << 20

func (t *table) id(s string) uint16 {
	if s == "" {
		return 0
	}
	if id, ok := t.ids[s]; ok {
		return id
	}
	names := t.all()
	if len(names) >= t.limit || t.bytes+len(s) > tableBytes {
		return full
	}
	if t.ids == nil {
		t.ids = make(map[string]uint16)
		names = []string{""}
	}
	// Not to keep the whole line alive for the sake of a name in it.
	s = string([]byte(s))
	names = append(names, s)
	id := uint16(len(names) - 1)
	t.ids[s] = id
	t.bytes += len(s)
	t.names.Store(&names)
	return id
}

// name is the string with that number; known is false for full.
func (t *table) name(id uint16) (s string, known bool) {
	if id == 0 {
		return "", true
	}
	if names := t.all(); int(id) < len(names) {
		return names[id], true
	}
	return "", false
}

// all are the strings by number. It must not be changed.
func (t *table) all() []string {
	if p := t.names.Load(); p != nil {
		return *p
	}
	return nil
}

// listed are the strings but for "".
func (t *table) listed() []string {
	if names := t.all(); len(names) > 0 {
		return slices.Clone(names[1:])
	}
	return nil
}

// conn is one connection to one server, as frames name it.
type conn struct {
	server, session, transport string
}

// conns numbers connections from 1 as table does strings.
type conns struct {
	list     atomic.Pointer[[]conn]
	ids      map[conn]uint16
	sessions map[string]*session
	bytes    int
	last     conn // the one asked for last, and its number
	lastID   uint16
}

// session is what the appender keeps of a session.
type session struct {
	lines int64             // frames so far
	hash  uint64            // of its name
	calls map[uint32]uint16 // tools by the numbers of their calls
	open  []openCall        // of tools, without a response
}

var seed = maphash.MakeSeed()

// id numbers the connection and finds its session.
func (c *conns) id(k conn) (uint16, *session) {
	if k == c.last && c.lastID != 0 {
		return c.lastID, c.sessions[k.session]
	}
	s := c.sessions[k.session]
	if id, ok := c.ids[k]; ok {
		c.last, c.lastID = k, id
		return id, s
	}
	if c.ids == nil {
		c.ids, c.sessions = make(map[conn]uint16), make(map[string]*session)
		c.list.Store(&[]conn{{}})
	}
	list := c.all()
	size := len(k.server) + len(k.session) + len(k.transport)
	if len(list) >= full || c.bytes+size > tableBytes {
		if s == nil {
			s = &session{hash: maphash.String(seed, k.session)}
		}
		return full, s
	}
	if s == nil {
		s = &session{hash: maphash.String(seed, k.session)}
		c.sessions[k.session] = s
	}
	list = append(list, k)
	c.list.Store(&list)
	c.bytes += size
	c.last, c.lastID = k, uint16(len(list)-1)
	c.ids[k] = c.lastID
	return c.lastID, s
}

func (c *conns) all() []conn {
	if p := c.list.Load(); p != nil {
		return *p
	}
	return nil
}

func (c *conns) at(id uint16) (k conn, known bool) {
	if list := c.all(); int(id) < len(list) {
		return list[id], true
	}
	return conn{}, false
}

// half folds a hash into what an entry has room for; only 0 stays 0.
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
