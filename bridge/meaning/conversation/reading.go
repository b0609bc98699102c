package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Reading selects and redacts the frames that a call is read from. The zero value
// selects all, and redacts as a nil *redact.Redaction does.
type Reading struct {
	Redact *redact.Redaction
	// Only reports whether a frame is chosen; nil chooses all. A call without chosen
	// frames is not read. Of frames that are not chosen only the context of the
	// others is kept: the method and the tool, the message of a question whose answer
	// is chosen, and the outcomes with their times.
	Only func(seq int64) bool
	// Bare leaves out what only people look at: the steps and the progress that reports
	// make, and of Frames all but the first and the notifications.
	Bare bool
	// Until is the last frame that is read; 0 for all.
	Until int64
	// Over says that the log is complete, so that requests without a response have ended.
	Over bool
}

func (how *Reading) chosen(seq int64) bool { return how.Only == nil || how.Only(seq) }

// Len is the number of calls found so far.
func (c *Conversation) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

// Counts returns how many calls of clients and how many questions were found so far.
func (c *Conversation) Counts() (calls, questions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.callNumbers.count, c.questionNumbers.count
}

// NumberAt returns Call.Number of the call at a place; 0 if there is no call.
func (c *Conversation) NumberAt(place int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place < 1 || place > len(c.calls) {
		return 0
	}
	return int(c.calls[place-1].number)
}

// FrameOfQuestion returns the frame that asks a question, and the place of its call. Both are 0
// for an unknown number.
func (c *Conversation) FrameOfQuestion(number int) (seq int64, place int) {
	c.mu.Lock()
	seq = int64(c.questionNumbers.frame(number))
	c.mu.Unlock()
	if seq != 0 {
		place = c.PlaceOf(seq)
	}
	return seq, place
}

// QuestionAt returns the number of the question at a place in a frame, from 1; 0 if
// the frame asks none there.
func (c *Conversation) QuestionAt(seq int64, place int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.numbered[uint32(seq)]
	if number := int(first) + place - 1; first != 0 && place > 0 && c.questionNumbers.frame(number) == uint32(seq) {
		return number
	}
	return 0
}

// Places lists the places of the calls with a chosen frame, in order; reports do not count.
func (c *Conversation) Places(only func(seq int64) bool) []int {
	c.mu.Lock()
	chosen := make([]bool, len(c.calls))
	events := slices.Clone(c.events[1:])
	c.mu.Unlock() // only may ask a view, which has a lock of its own
	for _, e := range events {
		chosen[e.call] = chosen[e.call] || only == nil || only(int64(e.seq))
	}
	var out []int
	for i, is := range chosen {
		if is {
			out = append(out, i+1)
		}
	}
	return out
}

// Call reads the call at a place.
func (c *Conversation) Call(ctx context.Context, place int, how Reading) (*Call, error) {
	r := newReduction(place)
	r.rows = true
	return c.advance(ctx, r, how, how.Over)
}

// Watch is Call for a reader that asks again and again: it keeps the reduction, so
// that only new frames are read. over says that the log is complete, so that requests
// without a response have ended. In a call with many questions it drops the oldest
// params and answers.
func (c *Conversation) Watch(ctx context.Context, place int, over bool) (*Call, error) {
	if err := acquire(ctx, c.watching); err != nil {
		return nil, err
	}
	defer release(c.watching)
	c.mu.Lock()
	r := c.watched[place]
	if r == nil {
		r = newReduction(place)
		r.watched, r.stale = true, true
		c.watched[place] = r
	}
	stale := r.stale
	r.stale = false
	c.mu.Unlock()
	if !stale && r.latest != nil && !over {
		return r.latest, nil
	}
	call, err := c.advance(ctx, r, Reading{Redact: redact.Nothing()}, over)
	r.latest = call
	return call, err
}

// Unwatch drops the reduction that Watch keeps for a call.
func (c *Conversation) Unwatch(ctx context.Context, place int) error {
	if err := acquire(ctx, c.watching); err != nil {
		return err
	}
	defer release(c.watching)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, place)
	return nil
}

// CallOrExchange reads the call that a frame belongs to. If it belongs to none, Around makes
// a Call of the frame and its request or response.
func (c *Conversation) CallOrExchange(ctx context.Context, seq int64, how Reading) (*Call, error) {
	if place := c.PlaceOf(seq); place != 0 {
		return c.Call(ctx, place, how)
	}
	f, err := c.log.Frame(seq)
	if err != nil {
		return nil, err
	}
	items := []item{{event: event{seq: uint32(seq), kind: kindOf(&f), question: 1}}}
	if pair := c.log.Head(f.Pair); f.Pair != 0 {
		items = append(items, item{event: event{seq: uint32(f.Pair), kind: kindOf(&pair), question: 1}})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.seq, b.seq) })
	r := newReduction(0)
	r.rows, r.call.Session = true, f.Session
	if err := c.feed(ctx, r, items, how); err != nil {
		return nil, err
	}
	return r.conclude(facts{}), nil
}

func (c *Conversation) advance(ctx context.Context, r *reduction, how Reading, over bool) (*Call, error) {
	place := r.call.Place
	c.mu.Lock()
	if place < 1 || place > len(c.calls) {
		c.mu.Unlock()
		return nil, fmt.Errorf("there is no call at %d in the log", place)
	}
	o := c.calls[place-1]
	upTo := c.upTo
	if len(c.fresh) > 0 { // an update goes on, and has not numbered the questions from there on
		upTo, r.stale = int64(c.fresh[0].seq)-1, true
	}
	if how.Until != 0 {
		upTo = min(upTo, how.Until)
	}
	items, latest := c.unread(r, &o, upTo)
	reports := c.reportsOf(place-1, r.applied)
	r.call.Number, r.call.Recorded, r.call.Session = int(o.number), int(o.recorded), o.session.connection.session
	r.call.Guessed = o.guessed != 0 && int64(o.guessed) <= upTo
	what := facts{protocol: o.session.handshake.Protocol, exit: o.session.exit, signIns: o.session.signIns}
	if how.Until != 0 { // the end of the connection may come later
		what.exit = nil
	}
	r.revision, r.call.Protocol = what.protocol, what.protocol
	c.mu.Unlock()

	items = append(items, c.readReports(r, reports, upTo)...)
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.seq, b.seq) })
	if err := c.feed(ctx, r, items, how); err != nil {
		return nil, fmt.Errorf("reading call %d: %w", place, err)
	}
	r.applied, r.latestEvent = upTo, latest
	what.over, what.now = over, c.log.Head(c.log.Len()).Time
	call := r.conclude(what)
	if r.watched { // results can be large; readers take them from the log
		call.Result, call.Error = nil, nil
	}
	return call, nil
}

// item is an event to be applied, with what the frame's own bytes do not show.
type item struct {
	event
	number int   // of the first question in the frame
	stray  int64 // for a note about a stray response: the frame of that response, 0 if unknown
}

// unread returns the events of a call that were not applied yet, up to a frame, and the index of
// the last one. The caller holds c.mu.
func (c *Conversation) unread(r *reduction, o *outline, upTo int64) (items []item, latest uint32) {
	at, latest := o.first, r.latestEvent
	if r.latestEvent != 0 {
		at = c.events[r.latestEvent].next
	} else if e := c.events[at]; e.kind == listQuestions && int64(e.seq) <= upTo {
		if list := c.log.Head(int64(e.seq)).Pair; list != 0 { // the request is shown with its error
			items = append(items, item{event: event{seq: uint32(list), kind: request}})
		}
	}
	for ; at != 0 && int64(c.events[at].seq) <= upTo; at = c.events[at].next {
		e := c.events[at]
		latest = at
		items = append(items, item{event: e, number: int(c.numbered[e.seq]), stray: int64(c.strays[e.seq])})
	}
	return items, latest
}

// reportsMost bounds how many reports of a call are applied at once: so many of the first
// and so many of the last.
const reportsMost = 2000

// reportsOf lists the runs of reports of the call at index i that go on after a frame. The
// caller holds c.mu.
func (c *Conversation) reportsOf(i int, after int64) (runs []reportRun) {
	o := &c.calls[i]
	for _, run := range c.reportsFrom(max(after+1, int64(c.events[o.first].seq))) {
		if run.first > o.report {
			break
		}
		if run.call == uint32(i) {
			runs = append(runs, run)
		}
	}
	return runs
}

// readReports lists the reports in some runs that were not applied yet. From the middle of
// them it leaves out those above 2*reportsMost, and counts them.
func (c *Conversation) readReports(r *reduction, runs []reportRun, upTo int64) (items []item) {
	omit := func() {
		if n := len(items) - 2*reportsMost; n > 0 {
			r.call.Omitted += n
			items = slices.Delete(items, reportsMost, reportsMost+n)
		}
	}
	for _, run := range runs {
		for seq := max(int64(run.first), r.applied+1); seq <= min(int64(run.last), upTo); seq++ {
			f := c.log.Head(seq)
			if !isReport(&f) {
				continue
			}
			if items = append(items, item{event: event{seq: uint32(seq), kind: kindOf(&f)}}); len(items) == 3*reportsMost {
				omit()
			}
		}
	}
	omit()
	return items
}

// PlaceOf returns the place of the call that a frame belongs to, 0 if there is none.
func (c *Conversation) PlaceOf(seq int64) int {
	place, _ := c.CallOf(seq)
	return place
}

// CallOf returns the place of the call that a frame belongs to, 0 if there is none. The
// frame is a question of one of several running calls, and which one is guessed, if
// guessed is true.
func (c *Conversation) CallOf(seq int64) (place int, guessed bool) {
	f := c.log.Head(seq)
	if f.Seq == 0 {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if isReport(&f) {
		runs := c.reportsFrom(seq)
		if len(runs) == 0 || int64(runs[0].first) > seq || runs[0].call == noCall {
			return 0, false
		}
		return int(runs[0].call) + 1, false
	}
	e := c.eventOf(seq)
	if e == nil && f.Kind != wire.Request {
		e = c.eventOf(f.Pair)
	}
	if e == nil {
		return 0, false
	}
	return int(e.call) + 1, e.guessed
}

// feed applies events to a reduction.
func (c *Conversation) feed(ctx context.Context, r *reduction, items []item, how Reading) error {
	if how.Only != nil && !slices.ContainsFunc(items, func(e item) bool { return how.Only(int64(e.seq)) }) {
		return nil
	}
	r.bare = how.Bare
	if how.Only == nil && r.rows {
		r.call.Frames = slices.Grow(r.call.Frames, len(items))
	}
	for _, e := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		seq := int64(e.seq)
		shown := how.chosen(seq)
		applies := shown || c.keepsContext(&e.event, how)
		if !applies && r.begun {
			continue
		}
		f, err := c.log.Frame(seq)
		if err != nil {
			return err
		}
		label := f.Server
		f = *how.Redact.Frame(&f)
		r.shown = shown
		if !r.begun {
			r.begin(&f)
			r.call.ServerName = how.Redact.TextOf(label, c.NameOf(label))
		}
		if !applies {
			continue
		}
		if shown && r.rows && (!how.Bare || len(r.call.Frames) == 0 || f.Kind == wire.Notification) {
			r.call.Frames = append(r.call.Frames, wire.RowOf(f))
		}
		r.apply(&f, e)
	}
	return nil
}

// keepsContext reports whether a frame that is not chosen is applied without its
// contents: the client's requests and their responses give the outcome of the call
// and its time, and a question and its answer each need the other.
func (c *Conversation) keepsContext(e *event, how Reading) bool {
	switch e.kind {
	case request, response, inputRequired, callTask, listQuestions, note, stopped, cancelled:
		return true
	case question, questionTask, serverRequest, answer, faultyAnswer:
		pair := c.log.Head(int64(e.seq)).Pair
		return pair != 0 && how.chosen(pair)
	}
	return false
}
