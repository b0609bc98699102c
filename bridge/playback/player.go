package playback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/wire"
)

// Player plays a transcript back: of its log it shows more and more frames, by
// the clock. At first all of the transcript is shown.
//
// A log only grows, so that going back means that another one is shown; see
// [Player.Shown].
type Player struct {
	source *wire.Log
	linter *findings.Linter // of the source
	logger *slog.Logger

	turn    chan struct{} // held by whoever looks at what follows, or changes it
	shown   *wire.Log     // the source itself, where all is shown, or its beginning
	playing bool
	speed   float64
	gap     time.Duration
	due     time.Time // when the last frame was due
	changed chan struct{}
	closed  bool
	done    chan struct{} // closed when Run has returned
}

// Speeds that a transcript can be played at, as a factor.
const (
	SlowestSpeed = 0.25
	FastestSpeed = 16
)

// ShortGap is how long a pause of the session takes at most while it is played
// back, unless it is asked for as it was.
const ShortGap = 3 * time.Second

// State says where a Player is.
type State struct {
	Playing  bool
	Position int64 // frames shown
	Frames   int64 // frames of the transcript, as far as it has been read
	Speed    float64
	Gap      time.Duration // the longest pause, 0 for pauses as they were
	At       time.Duration // since the first frame, as the session went
	Length   time.Duration // of the session
	Now      time.Time     // of the last frame that is shown
	Err      error         // why it has stopped
}

// Options say how a Player begins.
type Options struct {
	Logger *slog.Logger
	Play   bool          // from the beginning, instead of showing all
	Speed  float64       // 0 means 1
	Gap    time.Duration // 0 means pauses as they were
}

// NewPlayer prepares to play a log that was opened. Run does the work, and Close
// ends it.
func NewPlayer(source *wire.Log, o Options) (*Player, error) {
	o.Speed = cmp.Or(o.Speed, 1)
	if err := checkSpeed(o.Speed); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Player{
		source: source, linter: findings.New(source), logger: o.Logger, shown: source, playing: o.Play, speed: o.Speed, gap: o.Gap,
		changed: make(chan struct{}), done: make(chan struct{}), turn: make(chan struct{}, 1),
	}
	if o.Play {
		p.rewind()
	}
	return p, nil
}

func checkSpeed(x float64) error {
	if !(x >= SlowestSpeed && x <= FastestSpeed) {
		return fmt.Errorf("the speed must be from %g to %g, not %g", float64(SlowestSpeed), float64(FastestSpeed), x)
	}
	return nil
}

func (p *Player) take() { p.turn <- struct{}{} }
func (p *Player) give() { <-p.turn }

// Source is the log of the whole transcript.
func (p *Player) Source() *wire.Log { return p.source }

// Linter judges the whole transcript.
func (p *Player) Linter() *findings.Linter { return p.linter }

// Shown is the log of the frames that are shown. It is another one after a call of
// a method that goes back: Play or Step at the end, or GoTo.
func (p *Player) Shown() *wire.Log {
	p.take()
	defer p.give()
	return p.shown
}

// Reading reports whether the files are still being read.
func (p *Player) Reading() bool {
	read, size := p.source.Reading()
	return read < size && p.source.Err() == nil
}

// Over reports whether a log that was shown has all frames of the transcript.
func (p *Player) Over(shown *wire.Log) bool { return !p.Reading() && shown.Len() >= p.source.Len() }

// rewind begins again without frames. Who has the former log can go on with it,
// but it does not grow any more. The caller has the turn, or nobody else knows p.
func (p *Player) rewind() { p.shown, p.due = p.source.Beginning(), time.Time{} }

// show shows the first frames, up to a number. The caller has the turn.
func (p *Player) show(frames int64) {
	p.shown.Extend(frames)
	if p.playing && p.Over(p.shown) {
		p.playing = false
		p.tell()
	}
}

// State says where the player is.
func (p *Player) State() State {
	p.take()
	defer p.give()
	s := State{Playing: p.playing, Speed: p.speed, Gap: p.gap, Err: p.source.Err(), Position: p.shown.Len(), Frames: p.source.Len()}
	s.Now = p.shown.Head(s.Position).Time
	first, final := p.source.Head(1).Time, p.source.Head(s.Frames).Time
	if !first.IsZero() && !s.Now.IsZero() {
		s.At = max(s.Now.Sub(first), 0)
	}
	if !first.IsZero() && !final.IsZero() && !p.Reading() {
		s.Length = max(final.Sub(first), s.At)
	}
	return s
}

// Changed returns a channel that is closed by the next change of State other than
// that of the position. Get it, look at State, then wait.
func (p *Player) Changed() <-chan struct{} {
	p.take()
	defer p.give()
	return p.changed
}

// tell wakes whoever waits for a change. The caller has the turn.
func (p *Player) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// ErrClosed is returned by a Player that has been closed.
var ErrClosed = errors.New("the playback has ended")

func (p *Player) do(change func()) error {
	p.take()
	defer p.give()
	if p.closed {
		return ErrClosed
	}
	change()
	p.tell()
	return nil
}

// atEnd reports whether there is no frame to go on with. The caller has the turn.
func (p *Player) atEnd() bool { return p.shown == p.source || p.Over(p.shown) }

// Play goes on, at the end from the beginning.
func (p *Player) Play() error {
	return p.do(func() {
		p.playing, p.due = true, time.Time{}
		if p.atEnd() {
			p.rewind()
		}
	})
}

// Pause stops where it is.
func (p *Player) Pause() error {
	return p.do(func() { p.playing = false })
}

// Step shows one more frame, at the end the first, and stops.
func (p *Player) Step() error {
	return p.do(func() {
		p.playing = false
		if p.atEnd() {
			p.rewind()
		}
		p.show(p.shown.Len() + 1)
	})
}

// GoTo shows that many frames, at once, and goes on from there if it plays.
func (p *Player) GoTo(position int64) error {
	return p.do(func() {
		position = min(max(position, 0), p.source.Len())
		p.due = time.Time{}
		if p.shown == p.source && position == p.source.Len() {
			return
		}
		if p.shown == p.source || position < p.shown.Len() {
			p.rewind()
		}
		p.show(position)
	})
}

// SetSpeed plays faster or slower, by a factor.
func (p *Player) SetSpeed(x float64) error {
	if err := checkSpeed(x); err != nil {
		return err
	}
	return p.do(func() { p.speed, p.due = x, time.Time{} })
}

// SetGap shortens pauses to at most so long; 0 leaves them as they were.
func (p *Player) SetGap(longest time.Duration) error {
	return p.do(func() { p.gap, p.due = max(longest, 0), time.Time{} })
}

// batchMost is how many frames are shown in one go, between two looks at what is
// wanted.
const batchMost = 1024

// Run plays until ctx ends. It is called once.
func (p *Player) Run(ctx context.Context) {
	defer close(p.done)
	judged := make(chan struct{})
	go func() {
		defer close(judged)
		p.judge(ctx)
	}()
	defer func() { <-judged }()
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
	p.take()
	defer p.give()
	if !p.playing {
		return -1, p.changed
	}
	now, next, there := time.Now(), p.shown.Len(), p.source.Len()
	last := p.source.Head(next).Time
	most := min(next+batchMost, there)
	for next < most {
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

// Close ends the playback. The context of Run must have ended. The log of the
// transcript stays open.
func (p *Player) Close() {
	<-p.done
	p.take()
	defer p.give()
	p.closed = true
}
