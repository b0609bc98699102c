package playback

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Player plays a transcript back: over time, it shows more and more frames of its log.
// Unless Options.Play is set, it shows all frames at first.
//
// A log only grows, so going back shows another log; see [Player.Shown].
type Player struct {
	source *wire.Log
	linter *lint.Linter // judges the source
	logger *slog.Logger

	turn    chan struct{} // a lock for the fields below
	shown   *wire.Log     // the source itself if all frames are shown, else a Beginning of it
	playing bool
	giving  int64 // frame of the answer that is being given, 0 for none
	speed   float64
	gap     time.Duration
	due     time.Time // when the last shown frame was due, or when the answer began to be given
	asked   []Question
	answers map[int64]bool // frames that answer a question
	changed chan struct{}
	closed  bool
	done    chan struct{} // closed when Run has returned
}

// Bounds of the speed, a factor on the session's own pace.
const (
	SlowestSpeed = 0.25
	FastestSpeed = 16
)

// ShortGap is the longest pause in a playback, unless the person asks for the session's
// own pauses.
const ShortGap = 3 * time.Second

// State is the state of a Player.
type State struct {
	Playing  bool
	Position int64 // number of frames shown
	Frames   int64 // number of frames read so far
	Speed    float64
	Gap      time.Duration // longest pause; 0 for the session's own pauses
	At       time.Duration // session time from the first frame to the last shown one
	Length   time.Duration // session time of the whole transcript
	Now      time.Time     // time of the last shown frame
	Giving   int64         // frame of the answer that is being given, 0 for none
	Asked    []Question    // the first questions of the transcript, once it has been read
	Err      error         // why reading the transcript failed, nil if it did not
}

// Options set the initial state of a Player.
type Options struct {
	Logger *slog.Logger
	Play   bool          // play from the beginning, instead of showing all frames
	Speed  float64       // 0 means 1
	Gap    time.Duration // longest pause; 0 for the session's own pauses
}

// NewPlayer returns a player for an open log. Run plays it, and Close ends the
// playback.
func NewPlayer(source *wire.Log, o Options) (*Player, error) {
	o.Speed = cmp.Or(o.Speed, 1)
	if err := checkSpeed(o.Speed); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Player{
		source: source, linter: lint.NewLinter(source, conversation.New(source)), logger: o.Logger, shown: source, playing: o.Play, speed: o.Speed, gap: o.Gap,
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

// Source returns the log of the whole transcript.
func (p *Player) Source() *wire.Log { return p.source }

// Linter returns the linter of the whole transcript.
func (p *Player) Linter() *lint.Linter { return p.linter }

// Shown returns the log of the shown frames. Going back replaces it by another one:
// Play or Step at the end, and GoTo.
func (p *Player) Shown() *wire.Log {
	p.take()
	defer p.give()
	return p.shown
}

// Reading reports whether the transcript is still being read.
func (p *Player) Reading() bool {
	read, size := p.source.Reading()
	return read < size && p.source.Err() == nil
}

// Over reports whether a log from Shown has all frames of the transcript.
func (p *Player) Over(shown *wire.Log) bool { return !p.Reading() && shown.Len() >= p.source.Len() }

// rewind starts over without frames. The previous log stays usable, but does not grow
// any more. The caller has the turn, or has not shared p yet.
func (p *Player) rewind() { p.shown, p.due, p.giving = p.source.Beginning(), time.Time{}, 0 }

// show shows the first frames of the transcript, and ends the playback at the last one.
// The caller has the turn.
func (p *Player) show(frames int64) {
	if frames >= p.giving {
		p.giving = 0
	}
	p.shown.Extend(frames)
	if p.playing && p.Over(p.shown) {
		p.playing = false
		p.tell()
	}
}

// State returns the player's state.
func (p *Player) State() State {
	p.take()
	defer p.give()
	s := State{
		Playing: p.playing, Speed: p.speed, Gap: p.gap, Giving: p.giving, Asked: p.asked,
		Err: p.source.Err(), Position: p.shown.Len(), Frames: p.source.Len(),
	}
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

// Changed returns a channel that is closed by the next change of State other than the
// position. A caller that gets the channel before it looks at State misses no change.
func (p *Player) Changed() <-chan struct{} {
	p.take()
	defer p.give()
	return p.changed
}

// tell closes the channel of Changed. The caller has the turn.
func (p *Player) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// ErrClosed is the error of a closed Player.
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

// atEnd reports whether all frames are shown. The caller has the turn.
func (p *Player) atEnd() bool { return p.shown == p.source || p.Over(p.shown) }

// Play continues the playback, at the end from the beginning.
func (p *Player) Play() error {
	return p.do(func() {
		p.playing, p.due = true, time.Time{}
		if p.atEnd() {
			p.rewind()
		}
	})
}

// Pause pauses the playback.
func (p *Player) Pause() error { return p.do(func() { p.playing = false }) }

// Step pauses, and shows one more frame, or at the end only the first.
func (p *Player) Step() error {
	return p.do(func() {
		p.playing = false
		if p.atEnd() {
			p.rewind()
		}
		p.show(p.shown.Len() + 1)
	})
}

// GoTo shows exactly the first position frames. A playback continues from there.
func (p *Player) GoTo(position int64) error {
	return p.do(func() {
		position = min(max(position, 0), p.source.Len())
		p.due, p.giving = time.Time{}, 0
		if p.shown == p.source && position == p.source.Len() {
			return
		}
		if p.shown == p.source || position < p.shown.Len() {
			p.rewind()
		}
		p.show(position)
	})
}

// SetSpeed sets the speed, as a factor.
func (p *Player) SetSpeed(x float64) error {
	if err := checkSpeed(x); err != nil {
		return err
	}
	return p.do(func() { p.speed, p.due = x, time.Time{} })
}

// SetGap limits pauses to longest; 0 restores the session's own pauses.
func (p *Player) SetGap(longest time.Duration) error {
	return p.do(func() { p.gap, p.due = max(longest, 0), time.Time{} })
}

// batchMost is how many frames are shown at once, before a change of the state can take
// effect.
const batchMost = 1024

// Run plays until ctx ends. It must be called once.
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
		case <-grown: // more of the transcript has been read
		}
	}
}

// judge finds the questions of the transcript once it has been read, and lints it.
func (p *Player) judge(ctx context.Context) {
	err := p.source.Wait(ctx)
	if err == nil {
		var asked []Question
		asked, err = questionsOf(ctx, p.source)
		p.take()
		p.asked, p.answers = asked, map[int64]bool{}
		for _, q := range asked {
			p.answers[q.Answered] = true
		}
		p.tell()
		p.give()
	}
	if err == nil {
		err = p.linter.Follow(ctx)
	}
	if err != nil && ctx.Err() == nil {
		p.logger.Error("judging a transcript", "error", err)
	}
}

// advance shows the frames that are due, and returns the time until the next one, or -1
// if it is paused or no frame is left.
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
		gap := time.Duration(0)
		if !last.IsZero() && !at.IsZero() {
			gap = max(at.Sub(last), 0)
		}
		if p.gap > 0 {
			gap = min(gap, p.gap)
		}
		gap = time.Duration(float64(gap) / p.speed)
		if p.answers[next+1] {
			brief := time.Duration(float64(Giving) / max(p.speed, 1))
			if p.giving != next+1 {
				begins := p.due.Add(max(gap-brief, 0))
				if wait = begins.Sub(now); wait > 0 {
					break
				}
				p.due, p.giving = begins, next+1
				p.tell()
			}
			gap = brief
		}
		due := p.due.Add(gap)
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

// Close waits for Run to return, so the context of Run must have ended. It does not
// close the log.
func (p *Player) Close() {
	<-p.done
	p.take()
	defer p.give()
	p.closed = true
}

// Giving is how long a playback shows an answer being given, before it shows the frame of
// the answer. Speeds above 1 shorten it.
const Giving = 1600 * time.Millisecond

// Question is a question of the transcript: a mark on the slider, and the answer that a
// playback shows being given.
type Question struct {
	Number   int    // shown to people
	Title    string // the beginning of its message
	Place    int    // position among the questions of its frame, from 1
	Asked    int64  // frame of the question
	Answered int64  // frame of the answer, 0 if no answer with an action went back
	Action   string // of the answer
	Answer   json.RawMessage
}

// Bounds of the questions that a Player knows.
const (
	questionsMost = 500
	titleMost     = 80      // characters
	answerMost    = 1 << 16 // bytes; a larger answer is not shown being given
)

// questionsOf reads the questions of a log, in the order in which they were asked.
func questionsOf(ctx context.Context, log *wire.Log) (out []Question, err error) {
	c := conversation.New(log)
	if err := c.Update(ctx); err != nil {
		return nil, err
	}
	read := map[int]bool{}
	for seq := int64(1); seq <= log.Len() && len(out) < questionsMost; seq++ {
		if c.QuestionAt(seq, 1) == 0 || read[c.PlaceOf(seq)] {
			continue
		}
		read[c.PlaceOf(seq)] = true
		call, err := c.Call(ctx, c.PlaceOf(seq), conversation.Reading{})
		if err != nil {
			return nil, err
		}
		for _, q := range call.Questions {
			if !q.TurnedAway {
				one := Question{Number: q.Number, Title: wording.Shorten(q.Title(), titleMost), Place: q.Place, Asked: q.AskedSeq}
				if q.State == conversation.Answered && q.Action != "" && len(q.Answer) <= answerMost {
					one.Answered, one.Action, one.Answer = q.AnswerSeq, q.Action, q.Answer
				}
				out = append(out, one)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Question) int { return a.Number - b.Number })
	return out[:min(len(out), questionsMost)], nil
}
