// Package tap stands between a client and a server of somebody else: it passes their bytes
// on unchanged ([Relay], [Proxy]), looks at a copy of them beside ([Observer]), and sends
// the frames to an inspector that runs ([Sender], [Listener]).
package tap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Config configures an [Observer].
type Config struct {
	Name      string // of the server, in frames
	MaxFrame  int64  // bytes that are kept of a message; 0 means wire.DefaultMaxFrame
	Record    string // path of a transcript, "" for none
	RecordNew bool   // refuse a transcript that exists
	Redaction *redact.Redaction
	Logger    *slog.Logger
	Dir       string // of the temporary file that holds the frames; "" means the system's
}

// Bounds of an observer.
const (
	queueMost = 32 << 20 // bytes that wait to be looked at; twice as many are in memory
	pieceSize = 64       // what a piece adds to them
	keptMost  = 1 << 30  // bytes of frames in the temporary file
)

// Observer looks at copies of what a tap passes on, and keeps the frames in a log. Nothing
// that it does can hold up the traffic: what comes faster than it can be looked at is
// counted, and a note says how much is missing.
type Observer struct {
	config    Config
	id        string // of the tap, random
	log       *wire.Log
	recording *playback.Recording // nil if nothing is recorded
	ended     chan struct{}       // closed when all that was passed on has been looked at
	wake      chan struct{}       // capacity 1
	keptMost  int64

	mu     sync.Mutex
	bytes  []byte // of the pieces
	pieces []piece
	lost   map[taker]int64 // bytes that had no room, and that their stream is not told of yet
	closed bool

	unkept int // frames that the log had no room for; used by the goroutine that looks
}

// piece is a part of a stream of bytes, or its end.
type piece struct {
	of   taker
	size int // in Observer.bytes
	lost int64
	end  bool
	at   time.Time
}

// taker makes frames of the pieces of one stream. Its methods are called by one goroutine.
type taker interface {
	// take gets the next bytes, which are valid until it returns.
	take(p []byte, at time.Time)
	// lose is told that bytes are missing before the next ones.
	lose(bytes int64, at time.Time)
	// end is called after the last piece.
	end(at time.Time)
}

// NewObserver returns an observer that looks until Close. Its error says why the recording
// cannot begin; the observer can be used all the same.
func NewObserver(c Config) (*Observer, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Redaction == nil {
		c.Redaction, _ = redact.New() // without rules, there is no error
	}
	log, err := wire.NewLog(wire.Options{MaxFrame: c.MaxFrame, Dir: c.Dir})
	if err != nil {
		return nil, fmt.Errorf("making the log of the tap: %w", err)
	}
	o := &Observer{config: c, id: newID(), log: log, ended: make(chan struct{}), wake: make(chan struct{}, 1), lost: map[taker]int64{}, keptMost: keptMost}
	if c.Record != "" {
		o.recording = playback.NewRecording(log, c.Logger, c.Redaction, func() {})
		if err = o.recording.Begin(c.Record, c.RecordNew); err != nil {
			err, o.recording = fmt.Errorf("--record: %w", err), nil
		}
	}
	go o.look()
	return o, err
}

func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// Log returns the frames so far.
func (o *Observer) Log() *wire.Log { return o.log }

// saw hands over a copy of bytes of a stream. It never blocks.
func (o *Observer) saw(of taker, p []byte) { o.put(piece{of: of}, p) }

// over says that a stream has ended.
func (o *Observer) over(of taker) { o.put(piece{of: of, end: true}, nil) }

func (o *Observer) put(next piece, p []byte) {
	next.at, next.size = time.Now(), len(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if !next.end && len(o.bytes)+len(p)+pieceSize*len(o.pieces) > queueMost {
		o.lost[next.of] += int64(len(p))
		return
	}
	if lost := o.lost[next.of]; lost > 0 {
		o.pieces = append(o.pieces, piece{of: next.of, lost: lost, at: next.at})
		delete(o.lost, next.of)
	}
	o.bytes = append(o.bytes, p...)
	o.pieces = append(o.pieces, next)
}

// stir wakes the goroutine that looks, after the bytes were passed on.
func (o *Observer) stir() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// look makes frames of what was passed on, until Close.
func (o *Observer) look() {
	defer close(o.ended)
	var bytes []byte
	var pieces []piece
	for {
		o.mu.Lock()
		bytes, o.bytes = o.bytes, bytes[:0]
		pieces, o.pieces = o.pieces, pieces[:0]
		closed := o.closed
		o.mu.Unlock()
		if len(pieces) == 0 {
			if closed {
				return
			}
			<-o.wake
			o.yield()
			continue
		}
		rest := bytes
		for _, p := range pieces {
			switch {
			case p.lost > 0:
				p.of.lose(p.lost, p.at)
			case p.end:
				p.of.end(p.at)
			default:
				p.of.take(rest[:p.size], p.at)
				rest = rest[p.size:]
			}
		}
		clear(pieces)
		if cap(bytes) > 1<<20 { // a burst is over
			bytes = nil
		}
	}
}

// Pauses of the goroutine that looks while bytes keep coming.
const (
	pauseTime  = time.Millisecond
	pausesMost = 250
	roomy      = queueMost / 4 // bytes that may wait
)

// yield leaves the processor to the traffic: it waits until nothing more comes for a moment,
// unless that takes long or much is waiting.
func (o *Observer) yield() {
	for before, n := -1, 0; n < pausesMost; n++ {
		o.mu.Lock()
		waiting, closed := len(o.bytes), o.closed
		o.mu.Unlock()
		if closed || waiting == before || waiting > roomy {
			return
		}
		before = waiting
		time.Sleep(pauseTime)
	}
}

// add appends a frame to the log. It is called by the goroutine that looks.
func (o *Observer) add(f wire.Frame) {
	if f.Server == "" {
		f.Server = o.config.Name
	}
	if o.unkept == 0 && o.log.Stats().Bytes > o.keptMost {
		o.log.Append(wire.Frame{
			Server: f.Server, Session: f.Session, Transport: f.Transport, Time: f.Time, Dir: wire.Meta, Failed: true,
			Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "what the tap has seen", Why: fmt.Sprintf("it has kept %d MiB, and keeps no more", o.keptMost>>20)},
		})
		o.config.Logger.Error("the tap keeps no more frames; what it passes on is not affected", "kept", o.log.Stats().Frames)
		o.unkept = 1
		return
	}
	if o.unkept > 0 {
		o.unkept++
		return
	}
	o.log.Append(f)
}

// note appends a note about a session. It may be called by any goroutine.
func (o *Observer) note(f wire.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.pieces = append(o.pieces, piece{of: &noted{o, f}, end: true, at: time.Now()})
	}
}

// noted is a stream that is a single note.
type noted struct {
	o *Observer
	f wire.Frame
}

func (n *noted) take([]byte, time.Time) {}
func (n *noted) lose(int64, time.Time)  {}
func (n *noted) end(at time.Time) {
	n.f.Dir, n.f.Time = wire.Meta, at
	n.o.add(n.f)
}

// Settle waits until everything that was passed on has been looked at, or until ctx ends.
// Nothing is looked at afterwards.
func (o *Observer) Settle(ctx context.Context) error {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.stir()
	select {
	case <-o.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("looking at the rest of what was passed on: %w", ctx.Err())
	}
}

// Close ends the recording and removes the temporary file. Call it after Settle. The error
// says what is missing in the recording.
func (o *Observer) Close() error {
	var err error
	if o.recording != nil {
		err = o.recording.Close()
	}
	return errors.Join(err, o.log.Close())
}
