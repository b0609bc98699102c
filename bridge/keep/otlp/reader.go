package otlp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Options say what a Reader tells.
type Options struct {
	Redact  *redact.Redaction    // of what is told; nil means the default
	Content bool                 // arguments, questions, answers and results are told, too
	Only    func(seq int64) bool // whether a frame is chosen; nil chooses all
}

// Reader makes spans of the frames of a log, in order. What a call became is told once, by
// what the log had when the call ended: so it does not matter how late somebody reads.
//
// A Reader is used by one goroutine.
type Reader struct {
	Options
	log    *wire.Log // all of it
	past   *wire.Log // what was read so far
	talk   *conversation.Conversation
	linter *lint.Linter
	emit   func(*Span)

	next      int64 // the frame to be read next
	calls     map[int]*call
	open      map[int]*call     // those of calls that go on
	waiting   map[int64]bool    // requests without a response
	protocols map[string]string // the revision of each session
}

// call has what a Reader remembers of a call between two readings.
type call struct {
	place   int
	first   spanRef // the span of its first request
	parent  spanRef // of that span, if another program began the trace
	session string
	ended   int64 // the frame with which it ended; what began before is told
}

// waitingMost bounds how many requests without a response are told at the end of a log.
const waitingMost = 10_000

// NewReader returns a reader of a log that has read nothing. It passes each span to emit
// once the request, call or question that the span describes has ended.
func NewReader(l *wire.Log, o Options, emit func(*Span)) *Reader {
	past := l.Beginning()
	talk := conversation.New(past)
	talk.NoReports = true // thousands of them may come in a second
	if o.Redact == nil {
		o.Redact, _ = redact.New() // without rules, there is no error
	}
	whole := func(s *Span) {
		s.End = max(s.End, s.Start+1) // Jaeger warns of a span without duration, as of a negative one
		emit(s)
	}
	return &Reader{
		Options: o, log: l, past: past, talk: talk, linter: lint.NewLinter(past, talk), emit: whole, next: 1,
		calls: map[int]*call{}, open: map[int]*call{}, waiting: map[int64]bool{}, protocols: map[string]string{},
	}
}

// Read reads the frames that the log has received since the last Read.
func (r *Reader) Read(ctx context.Context) error {
	for last := r.log.Len(); r.next <= last; r.next++ {
		// The spans of servers are theirs to send.
		if e := r.log.Entry(r.next); e.Dir == wire.Stderr || e.Kind == wire.SpanFrame || conversation.IsReport(e.Names().Method) {
			continue
		}
		head := r.log.Head(r.next)
		if head.Kind == wire.Noise && head.Pair == 0 {
			continue
		}
		r.past.Extend(r.next)
		if err := r.talk.Update(ctx); err != nil {
			return fmt.Errorf("reading spans: %w", err)
		}
		if err := r.step(ctx, &head); err != nil {
			return fmt.Errorf("reading spans, frame %d: %w", head.Seq, err)
		}
	}
	return ctx.Err()
}

// Finish tells what has no end in the log. The log must have got its last frame.
func (r *Reader) Finish(ctx context.Context) error {
	if err := r.Read(ctx); err != nil {
		return err
	}
	r.past.Extend(r.log.Len())
	if err := r.talk.Update(ctx); err != nil {
		return fmt.Errorf("reading spans: %w", err)
	}
	for _, place := range sorted(r.open) {
		if err := r.look(ctx, r.open[place], r.log.Len(), true); err != nil {
			return err
		}
	}
	for _, seq := range sorted(r.waiting) {
		if r.talk.PlaceOf(seq) == 0 {
			if err := r.exchange(ctx, seq, 0, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func sorted[K int | int64, V any](m map[K]V) (keys []K) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// step tells what is over with a frame.
func (r *Reader) step(ctx context.Context, head *wire.Frame) error {
	place := r.talk.PlaceOf(head.Seq)
	of, err := r.callAt(place, head)
	if err != nil {
		return err
	}
	switch {
	case head.Kind == wire.Request:
		if len(r.waiting) < waitingMost {
			r.waiting[head.Seq] = true
		}
		return nil
	case head.Pair != 0 && !head.Duplicate:
		delete(r.waiting, head.Pair)
		if of == nil {
			return r.exchange(ctx, head.Pair, head.Seq, nil)
		}
		if request := head.Pair; of.ended >= request && r.open[place] == nil {
			return nil // the call ended before its response came
		}
		if head.Dir == wire.ClientToServer && r.talk.NumberAt(place) != 0 {
			return nil // an answer ends no call of the client's
		}
	case head.Kind == wire.Notification:
		if of == nil || r.open[place] == nil { // else it is told with its call
			return r.exchange(ctx, head.Seq, head.Seq, of)
		}
		if head.Method == mcp.NotificationCancelled && head.Dir == wire.ClientToServer && head.Call != 0 {
			return nil // a note says how such a call has ended
		}
	case head.Dir == wire.Meta && of == nil:
		return r.lost(ctx, head)
	}
	if of == nil || r.open[place] == nil {
		return nil
	}
	return r.look(ctx, of, head.Seq, false)
}

// callAt returns what is kept of the call at a place that a frame belongs to; nil if it is none.
// A call that has ended is open again if a request of the client or of the server goes on with it.
func (r *Reader) callAt(place int, head *wire.Frame) (*call, error) {
	if place == 0 {
		return nil, nil
	}
	c := r.calls[place]
	if c == nil {
		seq := head.Seq
		if head.Kind.IsResponse() && head.Pair != 0 { // error -32042 to a list begins a call
			seq = head.Pair
		}
		f, err := r.log.Frame(seq)
		if err != nil {
			return nil, err
		}
		c = &call{place: place, session: f.Session}
		c.first, c.parent = r.refs(&f, nil)
		r.calls[place], r.open[place] = c, c
	}
	if head.Kind == wire.Request {
		r.open[place] = c
	}
	return c, nil
}

// refs returns the span of a message, and its parent where another program began it. in is its
// call; nil for none.
func (r *Reader) refs(f *wire.Frame, in *call) (own, parent spanRef) {
	again := ""
	if f.Duplicate || f.Lost || f.Kind == wire.Notification {
		again = strconv.FormatInt(f.Time.UnixNano(), 10)
	}
	own = refOf(f.Session, f.Call, f.Dir, f.Message, again)
	if in != nil {
		own.trace, own.state = in.first.trace, in.first.state
	}
	meta := rawjson.Member(f.Message.Params, "_meta")
	said := parseTraceparent(rawjson.Text(rawjson.Member(meta, "traceparent")))
	if said == (spanRef{}) {
		return own, spanRef{}
	}
	if state := rawjson.Text(rawjson.Member(meta, "tracestate")); len(state) <= contentMost {
		said.state = state
	}
	own.trace, own.state = said.trace, said.state
	if said.span != own.span {
		return own, said
	}
	if said.span = parentIn(said.state); said.span == (SpanID{}) { // the message is the inspector's own
		said = spanRef{}
	}
	return own, said
}

// lost looks at the calls of a connection that a note says has ended.
func (r *Reader) lost(ctx context.Context, head *wire.Frame) error {
	f, err := r.log.Frame(head.Seq)
	if err != nil || f.Note == nil || f.Note.Kind != wire.NoteProcessExited && f.Note.Kind != wire.NoteServerLost {
		return err
	}
	for _, place := range sorted(r.open) {
		if c := r.open[place]; c.session == f.Session {
			if err := r.look(ctx, c, f.Seq, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// look tells a call if it has ended by a frame. over says that the log is complete.
func (r *Reader) look(ctx context.Context, of *call, seq int64, over bool) error {
	now, err := r.talk.Watch(ctx, of.place, over)
	if err != nil || !over && (!now.State.Over() || now.Pending() > 0) {
		return err
	}
	if err := r.talk.Unwatch(ctx, of.place); err != nil {
		return err
	}
	delete(r.open, of.place)
	now, err = r.talk.Call(ctx, of.place, conversation.Reading{Redact: r.Redact, Only: r.Only, Over: over})
	if err == nil && (r.Only == nil || slices.ContainsFunc(now.Frames, func(f wire.Row) bool { return r.Only(f.Seq) })) {
		err = r.tell(ctx, of, now)
	}
	of.ended = seq
	return err
}

// now is the time of the latest frame.
func (r *Reader) now() time.Time { return r.past.Head(r.past.Len()).Time }
