package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/wire"
)

// Replay is an inspection without connections: what it shows is what a log amounts
// to. The log may be that of a transcript, or grow while one is played back.
//
// Of a long log the latest calls are shown, so that memory is bounded; the log has
// the others.
type Replay struct {
	in           *Inspection
	log          *wire.Log
	player       *playback.Player // nil for a log that does not grow
	conversation *conversation.Conversation
	linter       *findings.Linter
	fresh        atomic.Pointer[chan struct{}]
	shown        atomic.Pointer[shown]

	turn  turn // for all that follows
	final map[int]bool
	err   error
}

// callsShown is how many of the latest calls a Replay shows, and questions outside
// of calls.
const callsShown = 300

// NewReplay prepares an inspection of a log: of one that does not grow any more,
// or of what a player shows. Follow fills it.
func NewReplay(l *wire.Log, p *playback.Player, logger *slog.Logger) *Replay {
	r := &Replay{
		in: New(Config{Log: l, Logger: logger}), log: l, player: p, conversation: conversation.New(l),
		turn: newTurn(), final: map[int]bool{},
	}
	if p == nil {
		r.linter = findings.New(l)
	} else {
		r.linter = p.Linter()
	}
	r.fresh.Store(new(make(chan struct{})))
	r.shown.Store(&shown{})
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
	r.turn.take()
	defer r.turn.give()
	at := r.shown.Load()
	s := Shown{Calls: len(at.calls()), Questions: len(at.questions()), Err: r.err}
	s.AllCalls, s.AllQuestions = r.conversation.Counts()
	return s
}

// CallsAfter counts the calls that are shown with a higher number, up to most.
func (r *Replay) CallsAfter(number, most int) (n int) {
	for _, one := range slices.Backward(r.shown.Load().list) {
		if one.call != nil && one.call.Number > number && n < most {
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
	for {
		grown, judged, read := r.log.Grown(), r.linter.Changed(), r.log.Grown()
		if r.player != nil {
			read = r.player.Source().Grown() // the end of the transcript may be the news
		}
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			r.in.logger.Error("showing a transcript", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-grown:
		case <-judged:
		case <-read:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshEvery):
		}
	}
}

// Refreshed returns a channel that is closed by the next Refresh.
func (r *Replay) Refreshed() <-chan struct{} { return *r.fresh.Load() }

// Refresh shows what the log holds now.
func (r *Replay) Refresh(ctx context.Context) (err error) {
	select {
	case r.turn <- struct{}{}:
		defer r.turn.give()
	case <-ctx.Done():
		return ctx.Err()
	}
	over := r.player == nil || r.player.Over(r.log)
	early := r.player != nil && r.log == r.player.Source() && r.player.Reading()
	defer func() {
		if ctx.Err() == nil {
			r.err = errors.Join(err, r.log.Err())
		}
		close(*r.fresh.Swap(new(make(chan struct{}))))
	}()
	if err := r.conversation.Update(ctx); err != nil {
		return err
	}
	before := r.shown.Load()
	after := &shown{now: r.log.Head(r.log.Len()).Time, found: before.found, foundAt: before.foundAt}
	after.servers = r.servers(before)
	if early {
		after.list = before.list
	} else if err := r.look(ctx, before, after, over); err != nil {
		return err
	}
	if !early {
		if err := r.judge(ctx, before, after); err != nil {
			return err
		}
	}
	r.shown.Store(after)
	r.tell(before, after)
	return nil
}

// look reads the calls that are shown, as far as they can have changed.
func (r *Replay) look(ctx context.Context, before, after *shown, over bool) error {
	last := r.conversation.Len()
	first := max(1, last-callsShown+1)
	known := map[int]*shownCall{}
	for _, one := range before.list {
		known[one.place] = one
		if one.place < first {
			delete(r.final, one.place)
			if err := r.conversation.Unwatch(ctx, one.place); err != nil {
				return err
			}
		}
	}
	for place := first; place <= last; place++ {
		if r.final[place] {
			after.list = append(after.list, known[place])
			continue
		}
		c, err := r.conversation.Watch(ctx, place, over)
		if err != nil {
			return err
		}
		one := after.callOf(c)
		if one.final(over) {
			r.final[place] = true
			if err := r.conversation.Unwatch(ctx, place); err != nil {
				return err
			}
		}
		if old := known[place]; old != nil && reflect.DeepEqual(old, one) {
			one = old
		}
		after.list = append(after.list, one)
	}
	return nil
}

// judge takes over what the linter has found in the log.
func (r *Replay) judge(ctx context.Context, before, after *shown) error {
	if r.player == nil {
		if err := r.linter.Update(ctx); err != nil {
			return err
		}
	}
	for _, f := range r.linter.From(len(after.found), r.log.Len()) {
		place, err := r.conversation.Of(f.Seq)
		if err != nil {
			return err
		}
		found := Found{Found: f, Call: r.conversation.NumberAt(place)}
		if s := after.labelled(r.log.Head(f.Seq).Server); s != nil {
			found.Server = s.ID
		}
		after.found = append(after.found, found)
	}
	if len(after.found) > len(before.found) {
		after.foundAt = make(map[int64][]Found)
		for _, f := range after.found {
			after.foundAt[f.Seq] = append(after.foundAt[f.Seq], f)
		}
	}
	for _, f := range after.found {
		if s, err := after.server(f.Server); err == nil {
			s.Findings[f.Severity]++
		}
	}
	return nil
}

// tell marks what has changed for those who have subscribed.
func (r *Replay) tell(before, after *shown) {
	var changes []Change
	for i, s := range after.servers {
		if i >= len(before.servers) || !reflect.DeepEqual(before.servers[i].Server, s.Server) {
			changes = append(changes, Change{Kind: ServerChanged, Server: s.ID})
		}
		if i >= len(before.servers) || before.servers[i].catalog != s.catalog {
			changes = append(changes, Change{Kind: CatalogChanged, Server: s.ID})
		}
	}
	known := map[int]*shownCall{}
	for _, one := range before.list {
		known[one.place] = one
	}
	for _, one := range after.list {
		old := known[one.place]
		if old == one {
			continue
		}
		if one.call != nil && (old == nil || !reflect.DeepEqual(old.call, one.call)) {
			changes = append(changes, Change{Kind: CallChanged, Number: one.call.Number})
		}
		for i := range one.questions {
			if old == nil || i >= len(old.questions) || !reflect.DeepEqual(old.questions[i], one.questions[i]) {
				changes = append(changes, Change{Kind: QuestionChanged, Number: one.questions[i].Number})
			}
		}
	}
	for _, f := range after.found[len(before.found):] {
		changes = append(changes, Change{Kind: FindingsChanged, Server: f.Server})
		if q := after.asked(f); q != nil {
			changes = append(changes, Change{Kind: QuestionChanged, Number: q.Number})
		}
	}
	r.in.changed(changes...)
}

// call is one of the calls that are shown.
func (r *Replay) call(number int) (Call, error) {
	for _, one := range r.shown.Load().list {
		if one.call != nil && one.call.Number == number {
			return *one.call, nil
		}
	}
	if calls, _ := r.conversation.Counts(); number >= 1 && number <= calls {
		return Call{}, fmt.Errorf("%w %d", ErrForgottenCall, number)
	}
	return Call{}, fmt.Errorf("%w: %d", ErrUnknownCall, number)
}

// question is one of the questions that are shown.
func (r *Replay) question(number int) (Question, error) {
	for _, q := range r.shown.Load().questions() {
		if q.Number == number {
			return q, nil
		}
	}
	return Question{}, fmt.Errorf("%w: %d", ErrUnknownQuestion, number)
}
