package wire

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is the part of a frame that the log keeps in memory, so that a million
// frames can be queried without reading their lines. A name that found no room
// in the log's tables is read from the frame's line.
type Entry struct {
	Seq int64
	log *Log
	e   *entry
}

// Entry returns the entry of a frame, which must be in the log.
func (l *Log) Entry(seq int64) Entry { return Entry{seq, l, l.index.at(seq)} }

// The following are the fields of Frame with the same names.

func (e Entry) Kind() Kind      { return e.e.kind }
func (e Entry) Dir() Direction  { return e.e.dir() }
func (e Entry) Stream() Stream  { return e.e.stream() }
func (e Entry) Time() time.Time { return e.e.at() }
func (e Entry) Size() int64     { return int64(e.e.size) }
func (e Entry) Status() int     { return e.detail().status }
func (e Entry) Call() int       { return int(e.e.call) }
func (e Entry) Round() int      { return e.detail().round }
func (e Entry) Question() int   { return e.log.index.question(e.Seq, e.e) }
func (e Entry) Failed() bool    { return e.e.flags&flagFailed != 0 }
func (e Entry) Duplicate() bool { return e.e.flags&flagDuplicate != 0 }
func (e Entry) Orphan() bool    { return e.e.flags&flagOrphan != 0 }
func (e Entry) Truncated() bool { return e.e.flags&flagTruncated != 0 }
func (e Entry) Redacted() bool  { return e.e.flags&flagRedacted != 0 }

// HasMore reports whether the line holds more than the frame's bytes: HTTP
// fields, a note, or Answers.
func (e Entry) HasMore() bool { return e.e.flags&flagMore != 0 }

// Action is the action of an answer to an elicitation: "accept", "decline" or
// "cancel"; "" for other frames.
func (e Entry) Action() string { return e.e.action() }

// Latency is the time since the request that the frame answers; ok is false for
// a request, and for a frame without a known request.
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

// Tool is the name of the tool whose call the frame belongs to, "" where it
// belongs to none or to an unknown one.
func (e Entry) Tool() string {
	about, known := e.log.details.at(e.e.detail)
	if name, named := e.log.tools.at(about.tool); known && named {
		return name
	}
	f := e.frame()
	return f.toolCalled()
}

func (e Entry) Actor() string { return e.detail().Actor }
func (e Entry) Fault() string { return e.detail().Fault }

// detail returns the detail of the frame; its tool is only in the log's table.
func (e Entry) detail() detail {
	if about, known := e.log.details.at(e.e.detail); known {
		return about
	}
	f := e.frame()
	return detail{settler: settler{f.Actor, f.Fault}, round: f.Round, status: f.Status}
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

// IDHash is a hash of a JSON-RPC id's value.
type IDHash uint64

// HashID hashes an id in its JSON form: 1 and "1" differ, 1e3 and 1000 do not.
func HashID(id []byte) IDHash { return IDHash(hashID(id)) }

// HasID reports whether the frame's message has that id, or whether its Answers
// is that id.
func (e Entry) HasID(id IDHash) bool {
	if e.e.id != half(uint64(id)) {
		return false
	}
	f := e.frame() // the entry has only half of the hash
	return f.Lost || hashID(f.Message.ID) == uint64(id) || hashID(f.Answers) == uint64(id)
}

// frame reads the frame from its line. If that fails, it returns what the index
// knows, marked as Lost.
func (e Entry) frame() Frame {
	line, err := e.log.store.read(nil, e.e.off, int(e.e.length))
	if err == nil {
		if f, err := e.log.parsed(e.Seq, e.e, line); err == nil {
			return f
		}
	}
	return lost(e.log.facts(e.Seq, e.e))
}

// hugeLine is the size in bytes above which Bodies reads only one line at a
// time, across all its callers.
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
	return l.lines(seqs, hugeLine, *room, func(seq int64, e *entry, line []byte, err error) error {
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

// body returns the frame's bytes from its line, nil if they cannot be read.
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
