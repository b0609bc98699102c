package wire

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is what memory knows of a frame, so that a million frames can be asked
// without reading their lines. Where a log has had so many different names that
// memory has no room for one, its frame is read all the same.
type Entry struct {
	Seq int64
	log *Log
	e   *entry
}

// Entry is the entry of a frame, which must be in the log.
func (l *Log) Entry(seq int64) Entry { return Entry{seq, l, l.index.at(seq)} }

// The following are the fields of Frame with the same names.

func (e Entry) Kind() Kind      { return e.e.kind }
func (e Entry) Dir() Direction  { return e.e.dir() }
func (e Entry) Stream() Stream  { return e.e.stream() }
func (e Entry) Time() time.Time { return e.e.at() }
func (e Entry) Size() int64     { return int64(e.e.size) }
func (e Entry) Status() int     { return int(e.e.status) }
func (e Entry) Call() int       { return int(e.e.call) }
func (e Entry) Round() int      { return int(e.e.round) }
func (e Entry) Question() int   { return int(e.e.question) }
func (e Entry) Failed() bool    { return e.e.flags&flagFailed != 0 }
func (e Entry) Duplicate() bool { return e.e.flags&flagDuplicate != 0 }
func (e Entry) Orphan() bool    { return e.e.flags&flagOrphan != 0 }
func (e Entry) Truncated() bool { return e.e.flags&flagTruncated != 0 }
func (e Entry) Redacted() bool  { return e.e.flags&flagRedacted != 0 }

// HasMore reports whether the frame has more than its bytes: something of HTTP,
// a note, or Answers.
func (e Entry) HasMore() bool { return e.e.flags&flagMore != 0 }

// Action is what an answer to an elicitation says: "accept", "decline" or
// "cancel"; "" for other frames.
func (e Entry) Action() string { return e.e.action() }

// Latency is the time since the request, of what answers one.
func (e Entry) Latency() (d time.Duration, ok bool) {
	pair := atomic.LoadUint32(&e.e.pair)
	if pair == 0 || e.e.kind == Request {
		return 0, false
	}
	return e.e.since(e.log.index.at(int64(pair))), true
}

// Method is Frame.Method.
func (e Entry) Method() string {
	if name, known := e.log.methods.at(e.e.method); known {
		return name
	}
	return e.frame().Method
}

// Tool is the name of the tool whose call the frame belongs to, "" where there
// is none or it cannot be told.
func (e Entry) Tool() string {
	if name, known := e.log.tools.at(e.e.tool); known {
		return name
	}
	f := e.frame()
	return f.toolCalled()
}

func (e Entry) Actor() string { return e.settler().Actor }
func (e Entry) Fault() string { return e.settler().Fault }

func (e Entry) settler() settler {
	if by, known := e.log.actors.at(uint16(e.e.actor)); known {
		return by
	}
	f := e.frame()
	return settler{f.Actor, f.Fault}
}

func (e Entry) Server() string    { return e.connection().Server }
func (e Entry) Session() string   { return e.connection().Session }
func (e Entry) Transport() string { return e.connection().Transport }

func (e Entry) connection() Connection {
	if k, known := e.log.conns.at(e.e.conn); known {
		return k
	}
	f := e.frame()
	return Connection{f.Server, f.Session, f.Transport}
}

// IDHash stands for the value of a JSON-RPC id.
type IDHash uint64

// HashID is the hash of an id as it stands in JSON: 1 and "1" differ, 1e3 and
// 1000 do not.
func HashID(id []byte) IDHash { return IDHash(hashID(id)) }

// HasID reports whether the frame's message has that id, or the frame stands in
// for the response to the request that has it.
func (e Entry) HasID(id IDHash) bool {
	if e.e.id != half(uint64(id)) {
		return false
	}
	f := e.frame() // the entry has only half of the hash
	return f.Lost || hashID(f.Message.ID) == uint64(id) || hashID(f.Answers) == uint64(id)
}

// frame reads the frame, or as much of it as there is.
func (e Entry) frame() Frame {
	line, err := e.log.store.read(nil, e.e.off, int(e.e.length))
	if err == nil {
		if f, err := e.log.parsed(e.Seq, e.e, line); err == nil {
			return f
		}
	}
	return lost(e.log.facts(e.Seq, e.e))
}

// hugeLine is the size from which on Bodies reads lines one at a time.
const hugeLine = 4 << 20

// rooms are for lines that are read together.
var rooms = sync.Pool{New: func() any { return new([together]byte) }}

// Bodies calls f with the bytes of those frames, in order. The bytes are only
// good until f returns; there are none of a frame that is lost. It ends when ctx
// does, and returns the context's error.
func (l *Log) Bodies(ctx context.Context, seqs []int64, f func(seq int64, raw []byte)) error {
	room := rooms.Get().(*[together]byte)
	defer rooms.Put(room)
	n := 0
	return l.lines(seqs, hugeLine, room[:], func(seq int64, e *entry, line []byte, err error) error {
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

// body is the frame's bytes in its line.
func (l *Log) body(seq int64, e *entry, line []byte, err error) []byte {
	switch {
	case err != nil:
		return nil
	case e.body != 0 && e.flags&flagTruncated == 0 && e.size != math.MaxUint32:
		return e.raw(line)
	}
	f, err := l.parsed(seq, e, line)
	if err != nil {
		return nil
	}
	return f.Raw
}
