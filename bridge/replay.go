package bridge

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/servers"
	"elicitation-inspector/bridge/wire"
)

// Replay is an inspection without connections: what it shows is what a log amounts
// to. The log may be that of a transcript, or grow while one is played back.
//
// Of a long log the latest calls are shown, so that memory is bounded; the log has
// the others.
type Replay struct {
	in      *Inspection
	servers *servers.Transcript
	player  *playback.Player // nil for a log that does not grow
	fresh   atomic.Pointer[chan struct{}]

	turn chan struct{}         // held while the log is read
	err  atomic.Pointer[error] // why there may be more than could be read
}

// NewReplay prepares an inspection of a log: of one that does not grow any more,
// or of what a player shows. Follow fills it.
func NewReplay(l *wire.Log, p *playback.Player, logger *slog.Logger) *Replay {
	r := &Replay{in: New(Config{Log: l, Logger: logger}), servers: servers.InTranscript(l), player: p, turn: make(chan struct{}, 1)}
	r.in.known = r.servers
	if p != nil {
		r.in.linter = p.Linter()
	}
	r.fresh.Store(new(make(chan struct{})))
	r.in.replay = r
	return r
}

// Inspection is what the replay shows. Nothing can be called or answered in it.
func (r *Replay) Inspection() *Inspection { return r.in }

// Shown says how many of the log's calls and questions are shown, and how many
// there are in all.
type Shown struct {
	Calls, AllCalls         int
	Questions, AllQuestions int
	Err                     error // why there may be more than could be read
}

// Shown says how much of the log is shown.
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

// CallsAfter counts the calls that are shown with a higher number, up to most.
func (r *Replay) CallsAfter(number, most int) (n int) {
	for _, c := range r.in.recent.View().Calls {
		if c.Number > number && n < most {
			n++
		}
	}
	return n
}

// refreshEvery bounds how often a log that grows is looked at.
const refreshEvery = 100 * time.Millisecond

// Follow shows what the log holds, and what is added to it, until ctx ends. It is
// called once.
func (r *Replay) Follow(ctx context.Context) {
	source := r.in.log
	if r.player != nil {
		source = r.player.Source() // whose end may be the news
	}
	r.in.follow(ctx, source, refreshEvery, func() {
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.in.logger.Error("showing a transcript", "error", err)
		}
	})
}

// Refreshed returns a channel that is closed by the next Refresh.
func (r *Replay) Refreshed() <-chan struct{} { return *r.fresh.Load() }

// Refresh shows what the log holds now.
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
	over := r.player == nil || r.player.Over(log)
	early := r.player != nil && log == r.player.Source() && r.player.Reading()
	if early {
		return r.in.recent.ReadOutlines(ctx)
	}
	if err := r.in.recent.Read(ctx, over); err != nil {
		return err
	}
	if r.player == nil {
		if err := r.in.linter.Update(ctx); err != nil {
			return err
		}
	}
	return r.in.tellFindings(ctx)
}
