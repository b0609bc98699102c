package conversation

import (
	"context"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/mcp"
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
}

func (how *Reading) chosen(seq int64) bool { return how.Only == nil || how.Only(seq) }

// Len is the number of calls found so far.
func (c *Conversation) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.outlines)
}

// Counts returns how many calls of clients and how many questions were found so far.
func (c *Conversation) Counts() (calls, questions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls.count, c.asked.count
}

// NumberAt returns Call.Number of the call at a place; 0 if there is no call.
func (c *Conversation) NumberAt(place int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place < 1 || place > len(c.outlines) {
		return 0
	}
	return int(c.outlines[place-1].number)
}

// Asked returns the frame that asks a question, and the place of its call. Both are 0
// for an unknown number.
func (c *Conversation) Asked(number int) (seq int64, place int) {
	c.mu.Lock()
	seq = int64(c.asking[uint32(number)])
	c.mu.Unlock()
	if seq != 0 {
		place = c.Of(seq)
	}
	return seq, place
}

// QuestionAt returns the number of the question at a place in a frame, from 1; 0 if
// the frame asks none there.
func (c *Conversation) QuestionAt(seq int64, place int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.numbered[uint32(seq)]
	if number := first + uint32(place) - 1; first != 0 && place > 0 && c.asking[number] == uint32(seq) {
		return int(number)
	}
	return 0
}

// Places lists the places of the calls with a chosen frame, in order.
func (c *Conversation) Places(only func(seq int64) bool) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []int
	for i := range c.outlines {
		o := &c.outlines[i]
		if only == nil || only(int64(o.first)) || only(int64(o.final)) ||
			slices.ContainsFunc(o.more, func(seq uint32) bool { return only(int64(seq)) }) {
			out = append(out, i+1)
		}
	}
	return out
}

// Call reads the call at a place.
func (c *Conversation) Call(ctx context.Context, place int, how Reading) (*Call, error) {
	r := newReduction(place)
	r.rows = true
	return c.advance(ctx, r, how, false)
}

// Watch is Call for a reader that asks again and again: it keeps the reduction, so
// that only new frames are read. over says that the log is complete, so that requests
// without a response have ended. In a call with many questions it drops the oldest
// params and answers.
func (c *Conversation) Watch(ctx context.Context, place int, over bool) (*Call, error) {
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	defer c.give()
	r := c.watched[place]
	switch {
	case r == nil:
		r = newReduction(place)
		r.watched = true
		c.watched[place] = r
	case !r.stale && r.latest != nil && !over:
		return r.latest, nil
	}
	r.stale = false
	call, err := c.advance(ctx, r, Reading{Redact: redact.Nothing()}, over)
	if r.latest = call; err != nil {
		r.stale = true
	}
	return call, err
}

// Unwatch drops the reduction that Watch keeps for a call.
func (c *Conversation) Unwatch(ctx context.Context, place int) error {
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.give()
	delete(c.watched, place)
	return nil
}

// Around reads the call that a frame belongs to. If it belongs to none, Around makes
// a Call of the frame and its request or response.
func (c *Conversation) Around(ctx context.Context, seq int64, how Reading) (*Call, error) {
	if place := c.Of(seq); place != 0 {
		return c.Call(ctx, place, how)
	}
	f, err := c.log.Frame(seq)
	if err != nil {
		return nil, err
	}
	seqs := []int64{seq}
	if f.Pair != 0 {
		seqs = append(seqs, f.Pair)
	}
	slices.Sort(seqs)
	r := newReduction(0)
	r.rows, r.call.Session = true, f.Session
	if err := c.feed(ctx, r, seqs, how); err != nil {
		return nil, err
	}
	return r.conclude(facts{}), nil
}

func (c *Conversation) advance(ctx context.Context, r *reduction, how Reading, over bool) (*Call, error) {
	place := r.call.Place
	c.mu.Lock()
	if place < 1 || place > len(c.outlines) {
		c.mu.Unlock()
		return nil, fmt.Errorf("there is no call at %d in the log", place)
	}
	o := c.outlines[place-1]
	from, _ := slices.BinarySearch(o.more, uint32(r.applied+1))
	o.more = slices.Clone(o.more[from:])
	told := c.toldIn(place-1, r.applied)
	upTo := c.upTo
	r.call.Number, r.call.Recorded, r.call.Session = int(o.number), int(o.recorded), o.session.connection.session
	what := facts{protocol: o.session.handshake.Protocol, exit: o.session.exit, signIns: o.session.signIns}
	r.revision, r.call.Protocol = what.protocol, what.protocol
	c.mu.Unlock()

	if err := c.feed(ctx, r, c.frames(r, &o, told, upTo), how); err != nil {
		return nil, fmt.Errorf("reading call %d: %w", place, err)
	}
	r.applied = upTo
	what.over, what.now = over, c.log.Head(c.log.Len()).Time
	call := r.conclude(what)
	if r.watched { // results can be large; readers take them from the log
		call.Result, call.Error = nil, nil
	}
	return call, nil
}

// tellsMost bounds how many progress notifications and log messages of a call are
// applied at once: so many of the first and so many of the last.
const tellsMost = 2000

// toldIn lists the runs of progress notifications and log messages of the call at
// index i that go on after a frame.
func (c *Conversation) toldIn(i int, after int64) (runs []telling) {
	o := &c.outlines[i]
	for _, run := range c.told[c.toldFrom(max(after+1, int64(o.first))):] {
		if run.first > o.told {
			break
		}
		if run.call == uint32(i) {
			runs = append(runs, run)
		}
	}
	return runs
}

func (c *Conversation) frames(r *reduction, o *outline, told []telling, upTo int64) []int64 {
	var seqs []int64
	for _, run := range told {
		for seq := max(int64(run.first), r.applied+1); seq <= min(int64(run.last), upTo); seq++ {
			if f := c.log.Head(seq); !tells(&f) {
				continue
			}
			if seqs = append(seqs, seq); len(seqs) == 3*tellsMost {
				r.omit(&seqs)
			}
		}
	}
	r.omit(&seqs)
	seqs = append(seqs, int64(o.first), c.log.Head(int64(o.first)).Pair)
	for _, seq := range o.more {
		seqs = append(seqs, int64(seq))
	}
	seqs = slices.DeleteFunc(seqs, func(seq int64) bool { return seq <= r.applied || seq > upTo })
	slices.Sort(seqs)
	return slices.Compact(seqs)
}

// omit removes from the middle of a list of notifications those above 2*tellsMost.
func (r *reduction) omit(seqs *[]int64) {
	if n := len(*seqs) - 2*tellsMost; n > 0 {
		r.call.Omitted += n
		*seqs = slices.Delete(*seqs, tellsMost, tellsMost+n)
	}
}

// Of returns the place of the call that a frame belongs to, 0 if there is none.
func (c *Conversation) Of(seq int64) int {
	f := c.log.Head(seq)
	if f.Seq == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.of(seq)
	switch {
	case tells(&f):
		k := c.toldFrom(seq)
		if ok = k < len(c.told) && int64(c.told[k].first) <= seq && c.told[k].call != nobody; ok {
			i = int(c.told[k].call)
		}
	case !ok && f.Pair != 0 && f.Kind != wire.Request:
		i, ok = c.of(f.Pair)
	}
	if !ok {
		return 0
	}
	return i + 1
}

func (c *Conversation) feed(ctx context.Context, r *reduction, seqs []int64, how Reading) error {
	if how.Only != nil && !slices.ContainsFunc(seqs, how.Only) {
		return nil
	}
	for _, seq := range seqs {
		if err := ctx.Err(); err != nil {
			return err
		}
		shown := how.chosen(seq)
		if !shown && r.begun && !c.keepsContext(seq, how) {
			continue
		}
		f, err := c.log.Frame(seq)
		if err != nil {
			return err
		}
		f = *how.Redact.Frame(&f)
		c.mu.Lock()
		about := about{guessed: c.guessed[uint32(seq)], number: int(c.numbered[uint32(seq)]), stray: int64(c.strays[uint32(seq)]), shown: shown}
		c.mu.Unlock()
		if !r.begun {
			r.begin(&f, about)
		}
		if !shown && !c.keepsContext(seq, how) {
			continue
		}
		if shown && r.rows {
			r.call.Frames = append(r.call.Frames, wire.RowOf(f))
		}
		r.apply(&f, about)
	}
	return nil
}

// keepsContext reports whether a frame that is not chosen is applied without its
// contents: the client's requests and their responses give the outcome of the call
// and its time, and a question and its answer each need the other.
func (c *Conversation) keepsContext(seq int64, how Reading) bool {
	f := c.log.Head(seq)
	request := f.Dir // direction of the request that f is or answers
	switch {
	case f.Kind == wire.Request:
	case f.Kind.IsResponse() && f.Dir == wire.ClientToServer:
		request = wire.ServerToClient
	case f.Kind.IsResponse():
		request = wire.ClientToServer
	default:
		return f.Method == mcp.NotificationCancelled || f.Pair != 0 || f.Dir == wire.Meta
	}
	return request == wire.ClientToServer || f.Pair != 0 && how.chosen(f.Pair)
}
