package inspection

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
)

// Replay is an inspection without connections: it shows a log, either that of a
// transcript, or one that grows while a transcript is played back.
//
// It shows only the latest calls of a long log, so that memory is bounded.
type Replay struct {
	in      *Inspection
	servers *live.Transcript
	player  *playback.Player // nil without a playback
	grows   bool             // a log without a playback that grows
	fresh   atomic.Pointer[chan struct{}]

	turn chan struct{}         // held by the goroutine that reads the log
	err  atomic.Pointer[error] // why part of the log could not be read
}

// NewReplay prepares an inspection of a log. With a player, the log grows while the
// player plays; nil means that the log is complete. Nothing is shown before
// [Replay.Follow] or [Replay.Refresh].
func NewReplay(l *wire.Log, p *playback.Player, logger *slog.Logger) *Replay {
	r := &Replay{in: New(Config{Log: l, Logger: logger}), servers: live.InTranscript(l), player: p, turn: make(chan struct{}, 1)}
	r.in.known = r.servers
	if p != nil {
		r.in.linter = p.Linter()
	}
	r.fresh.Store(new(make(chan struct{})))
	r.in.replay = r
	return r
}

// NewWatch prepares an inspection of a log that another part of the program appends to, as it
// grows.
func NewWatch(l *wire.Log, logger *slog.Logger) *Replay {
	r := NewReplay(l, nil, logger)
	r.grows = true
	return r
}

// NewTapped prepares an inspection of a log to which taps append. connected reports whether
// the tap that stands before the server of a name is connected; after it has changed, call
// [Replay.Refresh].
func NewTapped(l *wire.Log, connected func(label string) bool, logger *slog.Logger) *Replay {
	r := NewWatch(l, logger)
	r.servers = live.OfTaps(l, connected)
	r.in.known = r.servers
	return r
}

// Inspection returns the inspection that shows the log. It can make no calls and give no
// answers.
func (r *Replay) Inspection() *Inspection { return r.in }

// Shown counts the calls and questions that are shown, and those in the whole log.
type Shown struct {
	Calls, AllCalls         int
	Questions, AllQuestions int
	Err                     error // why part of the log could not be read
}

// Shown returns how much of the log is shown.
func (r *Replay) Shown() Shown {
	var s Shown
	if err := r.err.Load(); err != nil {
		s.Err = *err
	}
	for _, c := range r.in.recent.View().Calls {
		s.Questions += len(c.Questions)
		if c.Number != 0 {
			s.Calls++
		}
	}
	s.AllCalls, s.AllQuestions = r.in.conversation.Counts()
	return s
}

// CallsAfter counts the shown calls with a higher number, up to most.
func (r *Replay) CallsAfter(number, most int) (n int) {
	for _, c := range r.in.recent.View().Calls {
		if c.Number > number && n < most {
			n++
		}
	}
	return n
}

// refreshEvery is the minimum interval between refreshes of a growing log.
const refreshEvery = 100 * time.Millisecond

// Follow shows the log and keeps it up to date until ctx ends. It may be called only
// once.
func (r *Replay) Follow(ctx context.Context) {
	source := r.in.log
	if r.player != nil {
		source = r.player.Source() // wakes up when the source is read further or ends
		var giving sync.WaitGroup
		giving.Go(func() { r.followGiving(ctx) })
		defer giving.Wait()
	}
	r.in.follow(ctx, source, refreshEvery, func() {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.in.logger.Error("showing a transcript", "error", err)
		}
	})
}

// followGiving marks the questions whose answers begin to be given, or are no longer.
func (r *Replay) followGiving(ctx context.Context) {
	for before := int64(0); ctx.Err() == nil; {
		changed, now := r.player.Changed(), r.player.State()
		for _, q := range now.Asked {
			n := r.in.conversation.QuestionAt(q.Asked, q.Place)
			if n != 0 && now.Giving != before && (q.Answered == now.Giving || q.Answered == before) {
				r.in.changes.Mark(live.Change{Kind: live.QuestionChanged, Number: n})
			}
		}
		before = now.Giving
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// Refreshed returns a channel that the next Refresh closes.
func (r *Replay) Refreshed() <-chan struct{} { return *r.fresh.Load() }

// Refresh brings the inspection up to date with the log.
func (r *Replay) Refresh(ctx context.Context) (err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	log := r.in.log
	defer func() {
		if ctx.Err() == nil {
			r.err.Store(new(errors.Join(err, log.Err())))
		}
		close(*r.fresh.Swap(new(make(chan struct{}))))
	}()
	over := !r.grows && (r.player == nil || r.player.Over(log))
	early := r.player != nil && log == r.player.Source() && r.player.Reading()
	if early {
		return r.in.recent.ReadOutlines(ctx)
	}
	if err := r.in.recent.Read(ctx, over); err != nil {
		return err
	}
	if r.player == nil {
		return r.in.Judge(ctx)
	}
	return r.in.tellFindings(ctx)
}
