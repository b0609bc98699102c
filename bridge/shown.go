package bridge

import (
	"context"
	"slices"
	"time"

	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/conversation"
)

// shown is what an inspection has read of its log at one time. It does not change.
type shown struct {
	upTo    int64                // frames that were read
	now     time.Time            // of the last of them
	list    []*conversation.Call // those in which something happened last, in that order
	servers []*shownServer       // of a replay
	unread  []int                // places that were not looked at yet
}

// callsShown is how many calls are kept in shown, and questions outside of calls,
// beside the calls that run.
const callsShown = 300

// at finds what is at a place of the log, nil if it is not shown.
func (s *shown) at(place int) *conversation.Call {
	for _, c := range slices.Backward(s.list) {
		if c.Place == place {
			return c
		}
	}
	return nil
}

// calls are the client's calls, by number.
func (s *shown) calls() map[int]*conversation.Call {
	all := make(map[int]*conversation.Call, len(s.list))
	for _, c := range s.list {
		if c.Number != 0 {
			all[c.Number] = c
		}
	}
	return all
}

// asked finds a question with the call that it belongs to; nil if it is not shown.
func (in *Inspection) asked(s *shown, number int) (*conversation.Call, *conversation.Question) {
	seq, place := in.conversation.Asked(number)
	c := s.at(place)
	if c == nil {
		return nil, nil
	}
	i, _ := slices.BinarySearchFunc(c.Questions, seq, func(q *conversation.Question, seq int64) int { return int(q.AskedSeq - seq) })
	for ; i < len(c.Questions) && c.Questions[i].AskedSeq == seq; i++ {
		if c.Questions[i].Number == number {
			return c, c.Questions[i]
		}
	}
	return nil, nil
}

// read is what the log says now.
func (in *Inspection) read() *shown {
	if in.replay == nil && in.shown.Load().upTo != in.log.Len() {
		if err := in.catchUp(context.Background(), false); err != nil && in.life.Err() == nil {
			in.logger.Error("reading the log", "error", err)
		}
	}
	return in.shown.Load()
}

// tellEvery bounds how often those who have subscribed are told of what the log of
// a live inspection says.
const tellEvery = 10 * time.Millisecond

// followLog tells of what is added to the log of a live inspection until it ends.
func (in *Inspection) followLog() {
	for in.life.Err() == nil {
		grown := in.log.Grown()
		in.read()
		select {
		case <-in.life.Done():
		case <-grown:
		}
		select {
		case <-in.life.Done():
		case <-time.After(tellEvery):
		}
	}
}

// catchUp reads what was added to the log, and tells of what changed by that. over
// says that no frame will come any more.
func (in *Inspection) catchUp(ctx context.Context, over bool) error {
	return in.readOn(ctx, func(before, after *shown, touched []int) (err error) {
		after.list, err = in.look(ctx, before.list, touched, over)
		return err
	})
}

// catchUpOutlines is catchUp for a log of which much more is about to be read: no
// call is looked at yet.
func (in *Inspection) catchUpOutlines(ctx context.Context) error {
	return in.readOn(ctx, func(before, after *shown, touched []int) error {
		after.list = before.list
		after.unread = touched[max(0, len(touched)-callsShown):]
		return nil
	})
}

// readOn applies what was added to the log, and shows what look makes of it.
func (in *Inspection) readOn(ctx context.Context, look func(before, after *shown, touched []int) error) error {
	select {
	case in.reading <- struct{}{}:
		defer in.reading.give()
	case <-ctx.Done():
		return ctx.Err()
	}
	before := in.shown.Load()
	last := in.log.Len()
	touched, err := in.conversation.Changes(ctx)
	if err != nil {
		return err
	}
	after := &shown{upTo: last, now: in.log.Head(last).Time}
	if in.replay != nil {
		after.servers = in.replay.servers(before)
	}
	touched = slices.Concat(before.unread, touched)
	if err := look(before, after, touched); err != nil {
		again := *before
		again.unread = touched
		in.shown.Store(&again)
		return err
	}
	in.shown.Store(after)
	said := map[int]conversation.Completion{}
	for _, number := range in.inbox.Settled() {
		if _, q := in.asked(after, number); q != nil && q.State != conversation.Pending {
			said[number] = q.Completion
		}
	}
	in.inbox.Forget(said)
	in.tellServers(before.servers, after.servers)
	in.tell(before.list, after.list)
	return nil
}

// look reads the calls anew of which frames were added.
func (in *Inspection) look(ctx context.Context, before []*conversation.Call, touched []int, over bool) ([]*conversation.Call, error) {
	again := map[int]bool{}
	for _, c := range before {
		if over && !isFinal(c, false) && !slices.Contains(touched, c.Place) {
			touched = append(touched, c.Place)
		}
	}
	touched = lastOfEach(touched)
	touched = touched[max(0, len(touched)-callsShown):]
	for _, place := range touched {
		again[place] = true
	}
	var list []*conversation.Call
	for _, c := range before {
		if !again[c.Place] {
			list = append(list, c)
		}
	}
	for _, place := range touched {
		c, err := in.conversation.Watch(ctx, place, over)
		if err != nil {
			return nil, err
		}
		if list = append(list, c); isFinal(c, over) {
			if err := in.conversation.Unwatch(ctx, place); err != nil {
				return nil, err
			}
		}
	}
	return in.bounded(ctx, list)
}

// bounded lets go of what is longest past, but for calls that run.
func (in *Inspection) bounded(ctx context.Context, list []*conversation.Call) ([]*conversation.Call, error) {
	room := len(list) - callsShown
	var err error
	return slices.DeleteFunc(list, func(c *conversation.Call) bool {
		if room <= 0 || c.Number != 0 && !c.State.Over() || err != nil {
			return false
		}
		room--
		err = in.conversation.Unwatch(ctx, c.Place)
		return true
	}), err
}

// isFinal reports whether nothing more can come of a call.
func isFinal(c *conversation.Call, over bool) bool {
	return c.State.Over() && !slices.ContainsFunc(c.Questions, func(q *conversation.Question) bool {
		return q.State == conversation.Pending || q.Completion == conversation.CompletionAwaited && !over
	})
}

// tell marks the calls and questions as changed that are not as they were.
func (in *Inspection) tell(before, after []*conversation.Call) {
	old := make(map[int]*conversation.Call, len(before))
	for _, c := range before {
		old[c.Place] = c
	}
	var news []changes.Change
	for _, c := range after {
		was := old[c.Place]
		if was == c {
			continue
		}
		if c.Number != 0 {
			news = append(news, changes.Change{Kind: changes.Call, Number: c.Number})
		}
		for i, q := range c.Questions {
			if (was == nil || i >= len(was.Questions) || was.Questions[i] != q) && !q.TurnedAway {
				news = append(news, changes.Change{Kind: changes.Question, Number: q.Number})
			}
		}
	}
	in.changes.Mark(news...)
}

// lastOfEach leaves of equal places the last.
func lastOfEach(places []int) []int {
	known := make(map[int]bool, len(places))
	var out []int
	for _, place := range slices.Backward(places) {
		if !known[place] {
			known[place] = true
			out = append(out, place)
		}
	}
	slices.Reverse(out)
	return out
}
