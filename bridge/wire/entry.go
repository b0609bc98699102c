package wire

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

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
	n := &Names{Connection{f.Server, f.Session, f.Transport}, f.Method, f.toolCalled(), f.Actor, f.Fault}
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
func (e Entry) HasID(id IDHash) bool {
	if e.id != half(uint64(id)) {
		return false
	}
	f := e.frame() // the record has only half of the hash
	return f.Lost || hashID(f.Message.ID) == uint64(id) || hashID(f.Answers) == uint64(id)
}

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

// body returns the frame's bytes from its line, nil if they cannot be read.
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
