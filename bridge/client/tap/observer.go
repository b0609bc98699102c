// Package tap stands between a client and a server of somebody else: it passes their bytes
// on unchanged ([Relay], [Proxy]), looks at a copy of them beside ([Observer]), and sends
// the frames to an inspector that runs ([Sender], [Listener]).
package tap

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/playback"
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
	Disk      int64  // bytes of that file, where the eldest frames give way to new ones; 0 means 1 GiB
}

// Bounds of an observer.
const (
	queueMost = 64 << 20 // bytes that wait to be looked at
	pieceSize = 80       // what a piece adds to them
	diskMost  = 1 << 30  // bytes of frames in the temporary file
	keptMost  = 5 << 20  // frames, of which an index is in memory
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
	latest    atomic.Int64        // when the latest piece came, in ns since begun
	waiting   atomic.Int64        // bytes of the pieces that were not looked at
	sent      atomic.Int64        // writes to inspectors
	begun     time.Time

	mu     sync.Mutex
	pieces []piece
	lost   map[taker]int64 // bytes that had no room, and that their stream is not told of yet
	closed bool

	gaveWay, unkept bool // eldest frames have given way; nothing is kept any more. Used by the goroutine that looks
}

// piece is a part of a stream of bytes, or its end; or something to do between them.
type piece struct {
	of   taker
	data []byte
	lost int64
	end  bool
	do   func(at time.Time)
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
	c.Disk = cmp.Or(c.Disk, diskMost)
	log, err := wire.NewLog(wire.Options{MaxFrame: c.MaxFrame, Dir: c.Dir, Disk: c.Disk})
	if err != nil {
		return nil, fmt.Errorf("making the log of the tap: %w", err)
	}
	id := strings.ToLower(rand.Text()[:16])
	o := &Observer{config: c, id: id, log: log, ended: make(chan struct{}), wake: make(chan struct{}, 1), lost: map[taker]int64{}, begun: time.Now()}
	if c.Record != "" {
		o.recording = playback.NewRecording(log, c.Logger, c.Redaction, func() {})
		o.recording.Lags = true
		if err = o.recording.Begin(c.Record, c.RecordNew); err != nil {
			err, o.recording = fmt.Errorf("--record: %w", err), nil
		}
	}
	go o.look()
	return o, err
}

// Log returns the frames so far.
func (o *Observer) Log() *wire.Log { return o.log }

// saw hands over bytes of a stream, which must not change afterwards, and reports whether
// there was room for them. It never blocks.
func (o *Observer) saw(of taker, p []byte) bool { return o.put(piece{of: of, data: p}) }

// over says that a stream has ended.
func (o *Observer) over(of taker) { o.put(piece{of: of, end: true}) }

func (o *Observer) put(next piece) bool {
	next.at = time.Now()
	o.latest.Store(int64(next.at.Sub(o.begun)))
	o.mu.Lock()
	defer o.mu.Unlock()
	size := int64(len(next.data) + pieceSize)
	if o.closed {
		return false
	}
	if !next.end && o.waiting.Load()+size > queueMost {
		o.lost[next.of] += int64(len(next.data))
		return false
	}
	if lost := o.lost[next.of]; lost > 0 {
		o.pieces = append(o.pieces, piece{of: next.of, lost: lost, at: next.at})
		delete(o.lost, next.of)
	}
	o.waiting.Add(size)
	o.pieces = append(o.pieces, next)
	return true
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
	var pieces []piece
	for {
		o.mu.Lock()
		pieces, o.pieces = o.pieces, pieces[:0]
		closed := o.closed
		o.mu.Unlock()
		if len(pieces) == 0 {
			if closed {
				return
			}
			<-o.wake
		}
		begun := time.Time{}
		pace := func() {
			if time.Since(begun) > lookTime {
				o.pause()
				begun = time.Now()
			}
		}
		for i, p := range pieces {
			pace()
			switch {
			case p.lost > 0:
				p.of.lose(p.lost, p.at)
				continue
			case p.do != nil:
				p.do(p.at)
			case p.end:
				p.of.end(p.at)
			}
			for part := range slices.Chunk(p.data, lookSize) {
				pace()
				p.of.take(part, p.at)
			}
			o.waiting.Add(-int64(len(p.data) + pieceSize))
			pieces[i] = piece{}
		}
	}
}

// While bytes keep coming, the goroutine that looks leaves the processor to the client and
// the server: it takes a twentieth of the time, and more the more is waiting.
const (
	lookTime  = time.Millisecond
	lookSize  = 16 << 10 // bytes that are looked at without a look at the time
	pauseTime = 20 * time.Millisecond
	quietTime = 100 * time.Millisecond // after which nothing more is expected
	roomy     = queueMost / 2          // bytes that wait, from which on it takes all of the time
)

func (o *Observer) pause() {
	o.mu.Lock()
	closed := o.closed
	o.mu.Unlock()
	if !closed && time.Since(o.begun)-time.Duration(o.latest.Load()) < quietTime {
		time.Sleep(pauseTime * time.Duration(max(0, roomy-o.waiting.Load())) / roomy)
	}
}

// add appends a frame to the log. It is called by the goroutine that looks.
func (o *Observer) add(f wire.Frame) {
	if f.Server == "" {
		f.Server = o.config.Name
	}
	if o.unkept {
		return
	}
	why := ""
	switch {
	case o.log.Len() >= keptMost:
		o.unkept, why = true, fmt.Sprintf("it has kept %d frames, and keeps no more", keptMost)
	case !o.gaveWay && o.log.Len()%100 == 99 && o.log.Stats().Lost > 0:
		o.gaveWay, why = true, fmt.Sprintf("it keeps the latest %s, and the eldest frames are gone", wording.Size(o.config.Disk))
	}
	if why != "" {
		o.log.Append(wire.Frame{
			Server: f.Server, Session: f.Session, Transport: f.Transport, Time: f.Time, Dir: wire.Meta, Failed: true,
			Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "what the tap has seen", Why: why},
		})
		o.config.Logger.Error("the tap does not have all that it has seen; what it passes on is not affected", "why", why)
	}
	if o.unkept {
		return
	}
	o.log.Append(f)
}

// note appends a note about a session. It may be called by any goroutine.
func (o *Observer) note(f wire.Frame) {
	o.once(func(at time.Time) {
		f.Dir, f.Time = wire.Meta, at
		o.add(f)
	})
}

// Progress returns a number that grows as long as the observer still reads, sends or records
// the bytes that were passed on.
func (o *Observer) Progress() int64 {
	n := o.log.Len() + o.sent.Load()
	if o.recording != nil {
		n += o.recording.State().Lines
	}
	return n
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
