package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/wire"
)

// Player plays a transcript back: a log shows more and more of its frames, by
// the clock, and a Replay what the inspection looked like by then. At first all
// of the transcript is shown.
//
// A log only grows, so that going back means another log, and another Replay:
// see Player.Replay.
type Player struct {
	source *wire.Log
	linter *findings.Linter // of the source
	logger *slog.Logger
	ctx    context.Context
	ended  context.CancelFunc

	turn    turn // for all that follows
	now     *stage
	playing bool
	speed   float64
	gap     time.Duration
	due     time.Time // when the last frame was due
	first   time.Time // of the frames' own times
	final   time.Time
	changed chan struct{}
	closed  bool
	ending  sync.WaitGroup // stages that come to their end
	done    chan struct{}  // closed when Run has returned
}

// stage is a Replay with its log.
type stage struct {
	replay *Replay
	log    *wire.Log // the source itself, where all is shown, or its beginning
	cancel context.CancelFunc
}

// Speeds that a transcript can be played at, as a factor.
const (
	SlowestSpeed = 0.25
	FastestSpeed = 16
)

// ShortGap is how long a pause of the session takes at most while it is played
// back, unless it is asked for as it was.
const ShortGap = 3 * time.Second

// Playback says where a Player is.
type Playback struct {
	Playing  bool
	Position int64 // frames shown
	Frames   int64 // frames of the transcript, as far as it has been read
	Read     int64 // bytes of it that have been read
	Size     int64 // bytes in all
	Speed    float64
	Gap      time.Duration // the longest pause, 0 for pauses as they were
	At       time.Duration // since the first frame, as the session went
	Length   time.Duration // of the session
	Now      time.Time     // of the last frame that is shown
	Err      error         // why it has stopped
}

// PlayerOptions say how a Player begins.
type PlayerOptions struct {
	Logger *slog.Logger
	Play   bool          // from the beginning, instead of showing all
	Speed  float64       // 0 means 1
	Gap    time.Duration // 0 means pauses as they were
}

// NewPlayer prepares to play a log that wire.Open has made. Run does the work,
// and Close ends it.
func NewPlayer(source *wire.Log, o PlayerOptions) (*Player, error) {
	o.Speed = cmp.Or(o.Speed, 1)
	if err := checkSpeed(o.Speed); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Player{
		source: source, linter: findings.New(source), logger: o.Logger, ctx: ctx, ended: cancel, playing: o.Play, speed: o.Speed, gap: o.Gap,
		changed: make(chan struct{}), done: make(chan struct{}), turn: newTurn(),
	}
	if o.Play {
		p.rewind()
		return p, nil
	}
	p.now = p.begin(source)
	return p, nil
}

func checkSpeed(x float64) error {
	if !(x >= SlowestSpeed && x <= FastestSpeed) {
		return fmt.Errorf("the speed must be from %g to %g, not %g", float64(SlowestSpeed), float64(FastestSpeed), x)
	}
	return nil
}

// begin starts to show a log.
func (p *Player) begin(l *wire.Log) *stage {
	s := &stage{log: l}
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(p.ctx)
	s.replay = NewReplay(l, Source{
		Reading: func() bool { return l == p.source && p.reading() },
		Over:    func() bool { return !p.reading() && l.Len() >= p.source.Len() },
		Linter:  p.linter,
	}, p.logger)
	go s.replay.Follow(ctx)
	return s
}

// end stops showing it.
func (s *stage) end() {
	s.cancel()
	s.replay.Close()
}

// reading reports whether the files are still being read.
func (p *Player) reading() bool {
	read, size := p.source.Reading()
	return read < size && p.source.Err() == nil
}

// rewind begins again without frames. Whoever still looks at what was on show
// can go on, but it follows no more. The caller has the turn, or nobody else
// knows p.
func (p *Player) rewind() {
	if old := p.now; old != nil {
		old.cancel()
		p.ending.Go(old.end)
	}
	p.now = p.begin(p.source.Beginning())
	p.due = time.Time{}
}

// show shows the first frames, up to a number. The caller has the turn.
func (p *Player) show(frames int64) {
	p.now.log.Extend(frames)
	if p.atEnd() {
		p.now.replay.Poke()
		if p.playing {
			p.stop()
		}
	}
}

// Replay is what is shown at present. It is another one after a call of a
// method that goes back: Play or Step at the end, or GoTo.
func (p *Player) Replay() *Replay {
	p.turn.take()
	defer p.turn.give()
	return p.now.replay
}

// Source is the log of the whole transcript.
func (p *Player) Source() *wire.Log { return p.source }

// State says where the player is.
func (p *Player) State() Playback {
	p.turn.take()
	s := Playback{Playing: p.playing, Speed: p.speed, Gap: p.gap, Err: p.source.Err()}
	shown, first, final := p.now, p.first, p.final
	p.turn.give()
	whole := !p.reading()
	s.Position, s.Frames, s.Now = shown.log.Len(), p.source.Len(), shown.replay.in.Now()
	s.Read, s.Size = p.source.Reading()
	if first.IsZero() {
		first = p.source.Head(1).Time
	}
	if final.IsZero() && whole {
		final = p.source.Head(s.Frames).Time
	}
	at := shown.log.Head(s.Position).Time
	if !first.IsZero() && !at.IsZero() {
		s.At = max(at.Sub(first), 0)
	}
	if !first.IsZero() && !final.IsZero() {
		s.Length = max(final.Sub(first), s.At)
	}
	p.turn.take()
	p.first, p.final = first, final
	p.turn.give()
	return s
}

// Changed returns a channel that is closed by the next change of State other
// than that of the position. Get it, look at State, then wait.
func (p *Player) Changed() <-chan struct{} {
	p.turn.take()
	defer p.turn.give()
	return p.changed
}

// tell wakes whoever waits for a change. The caller has the turn.
func (p *Player) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// ErrPlayerClosed is returned by a Player that has been closed.
var ErrPlayerClosed = errors.New("the playback has ended")

// do changes what the player does.
func (p *Player) do(change func() error) error {
	p.turn.take()
	defer p.turn.give()
	if p.closed {
		return ErrPlayerClosed
	}
	defer p.tell()
	return change()
}

// atEnd reports whether all frames are shown. The caller has the turn.
func (p *Player) atEnd() bool { return p.now.log.Len() >= p.source.Len() && !p.reading() }

// Play goes on, at the end from the beginning.
func (p *Player) Play() error {
	return p.do(func() error {
		p.playing, p.due = true, time.Time{}
		if p.now.log == p.source || p.atEnd() {
			p.rewind()
		}
		return nil
	})
}

// Pause stops where it is.
func (p *Player) Pause() error {
	return p.do(func() error {
		p.playing = false
		return nil
	})
}

// Step shows one more frame, at the end the first, and stops.
func (p *Player) Step() error {
	return p.do(func() error {
		p.playing = false
		if p.now.log == p.source || p.atEnd() {
			p.rewind()
		}
		p.show(p.now.log.Len() + 1)
		return nil
	})
}

// GoTo shows that many frames, at once, and goes on from there if it plays.
func (p *Player) GoTo(position int64) error {
	return p.do(func() error {
		position = min(max(position, 0), p.source.Len())
		p.due = time.Time{}
		if p.now.log == p.source && position == p.source.Len() {
			return nil
		}
		if p.now.log == p.source || position < p.now.log.Len() {
			p.rewind()
		}
		p.show(position)
		return nil
	})
}

// SetSpeed plays faster or slower, by a factor.
func (p *Player) SetSpeed(x float64) error {
	if err := checkSpeed(x); err != nil {
		return err
	}
	return p.do(func() error {
		p.speed, p.due = x, time.Time{}
		return nil
	})
}

// SetGap shortens pauses to at most so long; 0 leaves them as they were.
func (p *Player) SetGap(longest time.Duration) error {
	return p.do(func() error {
		p.gap, p.due = max(longest, 0), time.Time{}
		return nil
	})
}

// batchMost is how many frames are shown in one go, between two looks at what
// is wanted.
const batchMost = 1024

// Run plays until ctx ends. It is called once.
func (p *Player) Run(ctx context.Context) {
	defer close(p.done)
	var judging sync.WaitGroup
	judging.Go(func() { p.judge(ctx) })
	defer judging.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		grown := p.source.Grown()
		wait, changed := p.advance()
		var tick <-chan time.Time
		if wait >= 0 {
			timer.Reset(wait)
			tick = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case <-tick:
		case <-changed:
		case <-grown: // more of the files has been read
		}
	}
}

// judge looks for findings in the transcript, once it has been read.
func (p *Player) judge(ctx context.Context) {
	err := p.source.Wait(ctx)
	if err == nil {
		err = p.linter.Follow(ctx)
	}
	if err != nil && ctx.Err() == nil {
		p.logger.Error("judging a transcript", "error", err)
	}
}

// advance shows what is due, and says after what time more will be; less than 0
// if that is not known.
func (p *Player) advance() (wait time.Duration, changed <-chan struct{}) {
	p.turn.take()
	defer p.turn.give()
	shown, there := p.now.log.Len(), p.source.Len()
	if p.atEnd() {
		p.show(shown) // the files had no more, which was not known
	}
	if !p.playing {
		return -1, p.changed
	}
	now, next := time.Now(), shown
	last := p.source.Head(shown).Time
	for next < min(shown+batchMost, there) {
		at := p.source.Head(next + 1).Time
		if p.due.IsZero() {
			p.due = now
		}
		due := p.due.Add(p.pause(last, at))
		if wait = due.Sub(now); wait > 0 {
			break
		}
		p.due, last = due, at
		next++
	}
	p.show(next)
	switch {
	case !p.playing || next == there:
		return -1, p.changed
	case wait > 0:
		return wait, p.changed
	}
	return 0, p.changed
}

// pause is how long to wait between two frames. The caller has the turn.
func (p *Player) pause(before, after time.Time) time.Duration {
	if before.IsZero() || after.IsZero() {
		return 0
	}
	gap := max(after.Sub(before), 0)
	if p.gap > 0 {
		gap = min(gap, p.gap)
	}
	return time.Duration(float64(gap) / p.speed)
}

// stop pauses. The caller has the turn.
func (p *Player) stop() {
	p.playing = false
	p.tell()
}

// Close ends the playback. The context of Run must have ended. The log of the
// transcript stays open.
func (p *Player) Close() {
	<-p.done
	p.turn.take()
	defer p.turn.give()
	p.closed = true
	p.ended()
	p.now.end()
	p.ending.Wait()
}
