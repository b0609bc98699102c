// Package wire stores the traffic between client and server: frames with their
// exact bytes, an append-only log of them, and transcript files that hold it.
// It knows JSON-RPC 2.0 and the names of MCP's methods, but nothing about
// sessions, connections or pages.
package wire

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Options configures a Log. The zero value is usable.
type Options struct {
	Dir      string // where the temporary file for frames is made; "" means os.TempDir
	MaxFrame int64  // bytes kept of one frame: at most 1 GiB, 0 means DefaultMaxFrame
	Memory   int64  // bytes of frames kept in memory once storage has failed; 0 means 32 MiB
	Disk     int64  // bytes of the temporary file, where the eldest frames give way to new ones; 0 means no bound
}

// DefaultMaxFrame is how many bytes of one frame a log keeps when
// Options.MaxFrame is 0.
const DefaultMaxFrame = 64 << 20

// Stats says how much a Log holds and where.
type Stats struct {
	Frames int64  // frames in the log
	Bytes  int64  // bytes on disk
	Memory int64  // approximate bytes of memory for the index and the frames that are not on disk
	Lost   int64  // frames whose bytes are gone because storage failed, or that gave way to new ones
	Where  string // in words: "a temporary file in DIR", the files that were opened, "memory"
}

// Log is an append-only list of frames, numbered from 1. The frames' bytes are
// on disk, in a temporary file that Close removes; memory holds an index of
// some 50 bytes a frame, and the frames that are not written yet.
//
// All methods are safe for concurrent use. Reading takes no lock that an Append
// waits for during I/O.
type Log struct {
	max   int64
	start time.Time // entries measure their times from here, by the monotonic clock

	n     atomic.Int64 // number of frames
	index *index
	store store
	spool *spool // the store of a log that can be appended to, else nil
	files *files // the store of a log made by Open, else nil
	of    *Log   // the log whose first frames a log made by Beginning shows, else nil

	// mu puts appends in order. The spool and the large rows share it, so that no
	// lock is taken under it. It is not held during I/O, nor while secrets are
	// removed.
	mu        sync.Mutex
	sessions  map[string]*session
	pairs     pairs
	polls     polls
	line      []byte // buffer for one line
	latest    latest
	recorders atomic.Pointer[[]*Recorder]
	mask      atomic.Pointer[func(*Frame) *Frame]

	large *largeRows
	marks *marks

	waiters atomic.Pointer[chan struct{}]
	// huge admits one goroutine at a time to frames above hugeLine, however
	// many filters run.
	huge chan struct{}
}

type store interface {
	// read returns the n bytes at off, which hold one line or several
	// neighbouring lines. They may be shared and must not be changed; they are
	// in the room unless it is nil. read may fail for a range of lines even though
	// each line alone can be read.
	read(room *[]byte, off int64, n int) ([]byte, error)
	stats(*Stats)
	failure() error
	close() error
}

// NewLog makes an empty log. It fails only for options that make no sense:
// trouble with the disk is reported by Err, and the log goes on in memory.
func NewLog(o Options) (*Log, error) {
	switch {
	case o.MaxFrame < 0 || o.MaxFrame > 1<<30:
		return nil, fmt.Errorf("at most 1 GiB can be kept of a frame, and not %d bytes", o.MaxFrame)
	case o.Memory < 0 || o.Disk < 0:
		return nil, fmt.Errorf("%d bytes of memory, or %d of a file, cannot hold frames", o.Memory, o.Disk)
	}
	l := newLog()
	l.max = cmp.Or(o.MaxFrame, DefaultMaxFrame)
	l.spool = newSpool(cmp.Or(o.Disk, math.MaxInt64), cmp.Or(o.Dir, os.TempDir()), cmp.Or(o.Memory, 32<<20), &l.mu, l.wake)
	l.store = l.spool
	return l, nil
}

func newLog() *Log {
	l := &Log{
		start: time.Now(), sessions: make(map[string]*session), huge: make(chan struct{}, 1),
		polls: polls{of: make(map[uint64]*poll), by: make(map[int64]*poll)},
		index: &index{recent: make(map[Rare]uint32), known: make(map[Shared]uint16)},
	}
	l.pairs = pairs{entry: l.Entry, requests: make(map[uint64]uint32), earlier: make(map[uint32]uint32)}
	l.large = &largeRows{mu: &l.mu, of: make(map[int64]largeRow)}
	l.marks = &marks{of: make(map[int64]kept), about: make(map[int64]int64)}
	l.recorders.Store(new([]*Recorder))
	return l
}

// Mask makes Append keep what mask returns in place of each frame, so that secrets
// never get into the log. mask must not block.
func (l *Log) Mask(mask func(*Frame) *Frame) { l.mask.Store(&mask) }

// Append adds a frame and returns it as it is kept: with Seq, Size, Kind,
// Message, Method, Pair, Latency, Duplicate and Orphan filled in, and Time if
// it was zero. Frames are numbered in the order in which they are appended.
//
// Of a frame larger than Options.MaxFrame only the head is kept. The log shares the bytes of f,
// which nobody may change any more.
//
// Append costs a few microseconds and never waits for a reader. What servers send
// waits for the disk when more than 8 MiB of frames are unwritten; what our side sends or notes does
// not, because there is little of it, and no flood must hold it up. A recorder adds
// the cost that Recorder describes.
//
// On a log made by Open or Beginning it does nothing and returns f.
func (l *Log) Append(f Frame) Frame {
	if l.spool == nil {
		return f
	}
	if mask := l.mask.Load(); mask != nil {
		f = *(*mask)(&f)
	}
	l.complete(&f)
	var large *prepared
	waits := f.Dir == ServerToClient || f.Dir == Stderr
	l.mu.Lock()
	if waits {
		l.spool.room()
	}
	if len(f.Raw) >= largeLine {
		l.mu.Unlock()
		large = prepare(&f) // without the lock, for which all others wait
		l.mu.Lock()
	}
	recorders := *l.recorders.Load()
	if f.Time.IsZero() {
		f.Time = time.Now()
	}
	e := l.enter(&f, false)
	// The wall clock may jump, the log's does not.
	f.Time = e.Time()
	var line []byte
	var body int
	if large == nil {
		line, body = appendLine(l.line[:0], &f)
	} else {
		line, body = large.line(appendHead(l.line[:0], &f))
	}
	e.off, e.length = l.spool.add(line), uint32(len(line))
	if l.line = line; len(line) >= largeLine {
		l.line = nil // the spool keeps large lines
	}
	l.seal(e, &f, body)
	l.latest.add(&f)
	l.mu.Unlock()

	for _, r := range recorders {
		r.wait(f.Seq)
	}
	l.wake()
	return f
}

// seal publishes the record of a frame whose line is in the store. body is the
// offset of the frame's bytes in the line, 0 if they do not stand there
// unescaped.
func (l *Log) seal(e *record, f *Frame, body int) {
	if body <= math.MaxUint16 && f.Size == int64(len(f.Raw)) {
		e.body = uint16(body)
	}
	if e.length > largeRead && len(l.large.of) < maxLargeRows {
		l.large.of[f.Seq] = largeRow{string(f.Message.ID), f.Summary()}
	}
	l.n.Add(1)
}

// complete fills in the fields that depend only on the frame itself, and cuts
// off bytes beyond the log's limit.
func (l *Log) complete(f *Frame) {
	if f.Note != nil && f.Dir == Meta && f.Raw == nil {
		f.Raw = []byte(f.Note.Words(f))
	}
	if !f.Truncated && !f.Redacted || f.Size == 0 || f.Truncated && f.Size < int64(len(f.Raw)) {
		f.Size = int64(len(f.Raw))
	}
	f.Identify()
	f.readResultFlags()
	if int64(len(f.Raw)) > l.max {
		f.Truncated = true
		f.Raw = f.Raw[:l.max:l.max]
		f.Message.Params, f.Message.Result, f.Message.Error = nil, nil, nil
	}
	if f.Truncated {
		f.Raw = f.Raw[:wholeRunes(f.Raw)]
	}
}

// wholeRunes returns the length of b without an incomplete UTF-8 character at
// its end.
func wholeRunes(b []byte) int {
	for n := len(b) - 1; n >= 0 && n > len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			if !utf8.FullRune(b[n:]) {
				return n
			}
			break
		}
	}
	return len(b)
}

// enter makes the record of a frame, and fills in the fields that depend on
// earlier frames. more says that the line holds HTTP headers that f has not.
func (l *Log) enter(f *Frame, more bool) *record {
	n := l.n.Load()
	f.Seq = n + 1
	e := l.index.records.next(n)
	*e = record{time: noTime, Size: within(f.Size)}
	if !f.Time.IsZero() {
		e.time = l.start.UnixNano() + int64(f.Time.Sub(l.start))
	}
	s := l.session(f.Session)
	s.lines++
	if f.line == 0 || l.spool != nil {
		f.line = s.lines
	}
	e.line = within(f.line)
	l.pairs.add(e, s, f)
	f.resolveFlags()
	f.Repeat = l.polls.repeats(s, f)
	rare := Rare{within(f.Status), within(f.Call), within(f.Round), within(f.Question), f.Action()}
	e.rare = l.index.numberOfRare(rare)
	e.shared = l.index.numberOfShared(Shared{
		names: Names{f.Server, f.Session, f.Transport, f.Method, s.toolOf(f, rare.Call, l.Entry), f.Actor, f.Fault},
		Kind:  f.Kind, Dir: f.Dir, Stream: f.Stream,
		Failed: f.Failed, Duplicate: f.Duplicate, Orphan: f.Orphan, Truncated: f.Truncated, Redacted: f.Redacted,
		AsksInput: f.AsksInput, MakesTask: f.MakesTask, Guessed: f.Guessed, Repeat: f.Repeat,
		HasMore: more || len(f.Header) > 0 || f.HTTPMethod != "" || f.URL != "" || len(f.Answers) > 0 || f.Note != nil,
	}, f.Seq)
	return e
}

func within[N int | int64](n N) uint32 { return uint32(min(max(int64(n), 0), math.MaxUint32)) }

// Len returns the number of frames in the log.
func (l *Log) Len() int64 { return l.n.Load() }

// Grown returns a channel that is closed by the next Append, or when storage
// fails. A caller that gets the channel before it looks at Len misses no frame.
func (l *Log) Grown() <-chan struct{} {
	for {
		if p := l.waiters.Load(); p != nil {
			return *p
		}
		c := make(chan struct{})
		if l.waiters.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

// Await waits until holds returns true. It calls holds at first, and then whenever the log
// has grown. The error says that ctx ended before.
func (l *Log) Await(ctx context.Context, holds func() bool) error {
	for {
		grown := l.Grown()
		if holds() {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *Log) wake() {
	if l.waiters.Load() == nil {
		return
	}
	if p := l.waiters.Swap(nil); p != nil {
		close(*p)
	}
}

// Err returns the first storage failure, nil if there was none. After a failure
// new frames stay in memory, up to Options.Memory bytes; frames on disk stay
// readable.
func (l *Log) Err() error { return l.store.failure() }

// Stats says how much the log holds and where.
func (l *Log) Stats() Stats {
	st := Stats{Frames: l.Len(), Memory: (l.Len() + chunkLen) / chunkLen * chunkLen * recordSize}
	l.mu.Lock()
	// A slot of a Go map takes 17 bytes here, and two thirds of them are used.
	st.Memory += int64(len(l.pairs.requests)) * 26
	l.mu.Unlock()
	l.store.stats(&st)
	if l.spool != nil {
		gone := l.spool.givenWay()
		st.Lost += int64(sort.Search(int(st.Frames), func(i int) bool { return l.index.records.at(int64(i)).off >= gone }))
	}
	if l.of != nil {
		st.Memory, st.Bytes = 0, 0 // the other log counts them
		if n := l.Len(); n > 0 {
			e := l.Entry(n)
			st.Bytes = e.off + int64(e.length)
		}
	}
	return st
}

// Close ends the log and removes its temporary file. Frames appended afterwards
// are lost, and earlier frames can no longer be read.
func (l *Log) Close() error {
	if l.of != nil {
		return nil
	}
	return l.store.close()
}

// Beginning makes a log that shows the first frames of l: none at first, and
// more with each Extend. It reads as l did when it had only these frames,
// except that marks are always the current ones of l. Both logs share their
// storage, so that a Beginning takes next to no memory, however many frames it
// shows.
//
// Nothing can be appended to it, and it is unusable once l is closed.
func (l *Log) Beginning() *Log {
	b := &Log{of: l, index: l.index, store: l.store, large: l.large, marks: l.marks, huge: l.huge}
	b.recorders.Store(new([]*Recorder))
	return b
}

// Extend shows the first n frames, or all frames if there are fewer. It never
// hides a frame again, and does nothing for a log that Beginning has not made.
func (l *Log) Extend(n int64) {
	if l.of == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n = min(n, l.of.Len()); n > l.Len() {
		l.n.Store(n)
		l.wake()
	}
}
