package live

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// most is the maximum number of calls in a View, unless more of them are running. A
// question outside of calls counts as a call.
const most = 300

// View holds the calls of a log as of one reading. It is immutable.
type View struct {
	UpTo  int64                // frames that were read
	Now   time.Time            // time of the last frame
	Calls []*conversation.Call // in the order of their latest frames

	// Settled holds the latest settled questions, latest first, and then the latest of
	// the earlier ones whose accepted URL is awaited.
	Settled []*conversation.Question

	conversation *conversation.Conversation
	unread       []int // places of calls that changed, but are not in Calls yet
}

// Bounds on View.Settled.
const (
	recentSettledMost = 150
	awaitedMost       = 300
)

// settle updates Settled by the questions that changed.
func (v *View) settle(before []*conversation.Question, changed map[int]*conversation.Question) {
	list := slices.DeleteFunc(slices.Clone(before), func(q *conversation.Question) bool { return changed[q.Number] != nil })
	for _, q := range changed {
		if q.State != conversation.Pending {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *conversation.Question) int {
		return cmp.Or(b.Ended.Compare(a.Ended), b.Number-a.Number)
	})
	kept := 0
	v.Settled = slices.DeleteFunc(list, func(q *conversation.Question) bool {
		keep := kept < recentSettledMost || kept < recentSettledMost+awaitedMost && q.Completion == conversation.CompletionAwaited
		if keep {
			kept++
		}
		return !keep
	})
}

// ByNumber returns the calls that the client made, by their numbers.
func (v *View) ByNumber() map[int]*conversation.Call {
	all := make(map[int]*conversation.Call, len(v.Calls))
	for _, c := range v.Calls {
		if c.Number != 0 {
			all[c.Number] = c
		}
	}
	return all
}

// At returns the call with this place among the calls of the log; nil if it is not kept.
func (v *View) At(place int) *conversation.Call {
	for _, c := range slices.Backward(v.Calls) {
		if c.Place == place {
			return c
		}
	}
	return nil
}

// Question returns a question and its call; both are nil if the call is not kept.
func (v *View) Question(number int) (*conversation.Call, *conversation.Question) {
	seq, place := v.conversation.FrameOfQuestion(number)
	c := v.At(place)
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

// Reader reads the calls of a growing log. All methods are safe for concurrent use.
type Reader struct {
	log          *wire.Log
	conversation *conversation.Conversation
	tell         func(now *View, changed []Change)
	turn         chan struct{} // held by the goroutine that reads
	view         atomic.Pointer[View]
}

// NewReader returns a reader with an empty View. It calls tell after each reading, one at a
// time, when View already returns the new view.
func NewReader(log *wire.Log, c *conversation.Conversation, tell func(now *View, changed []Change)) *Reader {
	r := &Reader{log: log, conversation: c, tell: tell, turn: make(chan struct{}, 1)}
	r.view.Store(&View{conversation: c})
	return r
}

// View returns what was read so far.
func (r *Reader) View() *View { return r.view.Load() }

// Read reads new frames of the log. over says that the log is complete.
func (r *Reader) Read(ctx context.Context, over bool) error {
	return r.read(ctx, func(before, after *View, touched []int) (err error) {
		after.Calls, err = r.look(ctx, before.Calls, touched, over)
		return err
	})
}

// ReadOutlines reads new frames while many more are about to be read: it leaves the calls
// to the next Read.
func (r *Reader) ReadOutlines(ctx context.Context) error {
	return r.read(ctx, func(before, after *View, touched []int) error {
		after.Calls = before.Calls
		after.unread = touched[max(0, len(touched)-most):]
		return nil
	})
}

// read applies new frames of the log, and publishes the view that look has completed.
func (r *Reader) read(ctx context.Context, look func(before, after *View, touched []int) error) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	before := r.View()
	last := r.log.Len()
	touched, err := r.conversation.Changes(ctx)
	if err != nil {
		return err
	}
	after := &View{UpTo: last, Now: r.log.Head(last).Time, Settled: before.Settled, conversation: r.conversation}
	touched = slices.Concat(before.unread, touched)
	if err := look(before, after, touched); err != nil {
		again := *before
		again.unread = touched
		r.view.Store(&again)
		return err
	}
	list, questions := changed(before, after)
	after.settle(before.Settled, questions)
	r.view.Store(after)
	r.tell(after, list)
	return nil
}

// look returns the calls of a view, after reading again those that got new frames.
func (r *Reader) look(ctx context.Context, before []*conversation.Call, touched []int, over bool) ([]*conversation.Call, error) {
	for _, c := range before {
		if over && !isFinal(c, false) && !slices.Contains(touched, c.Place) {
			touched = append(touched, c.Place)
		}
	}
	again := map[int]bool{}
	var latest []int // the places that were touched last, each once, latest first
	for _, place := range slices.Backward(touched) {
		if !again[place] && len(latest) < most {
			again[place], latest = true, append(latest, place)
		}
	}
	var list []*conversation.Call
	for _, c := range before {
		if !again[c.Place] {
			list = append(list, c)
		}
	}
	for _, place := range slices.Backward(latest) {
		c, err := r.conversation.Watch(ctx, place, over)
		if err != nil {
			return nil, err
		}
		if list = append(list, c); isFinal(c, over) {
			if err := r.conversation.Unwatch(ctx, place); err != nil {
				return nil, err
			}
		}
	}
	// If there are too many, those with the oldest latest frames are forgotten, except running
	// calls.
	room := len(list) - most
	var err error
	return slices.DeleteFunc(list, func(c *conversation.Call) bool {
		if room <= 0 || c.Number != 0 && !c.State.Over() || err != nil {
			return false
		}
		room--
		err = r.conversation.Unwatch(ctx, c.Place)
		return true
	}), err
}

// isFinal reports whether a call and its questions cannot change any more.
func isFinal(c *conversation.Call, over bool) bool {
	return c.State.Over() && !slices.ContainsFunc(c.Questions, func(q *conversation.Question) bool {
		return q.State == conversation.Pending || q.Completion == conversation.CompletionAwaited && !over
	})
}

// changed returns the calls and questions that differ between two views, and these
// questions by their numbers.
func changed(before, after *View) (list []Change, questions map[int]*conversation.Question) {
	questions = map[int]*conversation.Question{}
	old := make(map[int]*conversation.Call, len(before.Calls))
	for _, c := range before.Calls {
		old[c.Place] = c
	}
	for _, c := range after.Calls {
		was := old[c.Place]
		if was == c {
			continue
		}
		if c.Number != 0 {
			list = append(list, Change{Kind: CallChanged, Number: c.Number})
		}
		for i, q := range c.Questions {
			if (was == nil || i >= len(was.Questions) || was.Questions[i] != q) && !q.TurnedAway {
				list = append(list, Change{Kind: QuestionChanged, Number: q.Number})
				questions[q.Number] = q
			}
		}
	}
	return list, questions
}
