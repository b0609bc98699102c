package conversation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// ServerSpan is what a server says of its own work in a call: a span that it has sent. The frame has
// its attributes.
type ServerSpan struct {
	Seq        int64 // frame
	ID, Parent string
	Name       string
	Kind       string // as in wire.Span
	Failed     bool
	Effect     string    // what says that the server wrote, sent, deleted or called out; "" if nothing does
	Start, End time.Time // by the inspector's clock, as ServerClock has it
	Depth      int       // how many spans of the call it is within
	Round      int       // 0 if that is unknown
	Question   int       // number of the question that was open when it began; 0 if none was, or several

	alike uint64 // equal for spans that say the same of what they did
}

// ServerClock is an estimate of a server's clock. A request's span lies between the request and its
// response. If it does by the server's clock, that clock counts as right. A process of this machine has
// the inspector's clock, unless its spans prove the contrary.
type ServerClock struct {
	Ahead time.Duration // how much the server's clock is ahead of the inspector's; negative if it is behind
	Doubt time.Duration // how far from the truth Ahead can be
	Known bool          // false if all that is known is that a span follows its request
}

// String says the estimate in a sentence; "" if the clocks agree.
func (c ServerClock) String() string {
	if c.Ahead == 0 {
		return ""
	}
	apart := wording.Duration(c.Ahead.Abs()) + wording.Either(c.Ahead > 0, " ahead", " behind")
	if c.Known {
		return "The server's clock is " + apart + ", as estimated from the span of the request, give or take " + wording.Duration(c.Doubt) + "."
	}
	return "The server's clock is at least " + apart + ", as estimated from spans that would be earlier than the request."
}

const (
	serverSpansMost = 2000                  // spans of a call that are kept
	clockSlack      = 20 * time.Millisecond // by which a request's span may be outside without a doubt about the clock
)

// serverSpan keeps a span of the server, with the times of its clock.
func (r *reduction) serverSpan(f *wire.Frame) {
	s := f.Note.Span
	if !r.shown || len(r.serverSpans) == serverSpansMost || s.Start.IsZero() {
		return
	}
	r.local = f.Transport == "stdio"
	r.serverSpans = append(r.serverSpans, ServerSpan{
		Seq: f.Seq, ID: s.SpanID, Parent: s.ParentID, Name: wording.Shorten(s.Name, stepMost), Kind: s.Kind, Failed: f.Failed, Effect: EffectOf(s), alike: alikeOf(s),
		Start: s.Start, End: s.Start.Add(s.Took()), Round: f.Round,
	})
}

// sentSpan remembers that the request of a round is a span, which the server's spans are within.
func (r *reduction) sentSpan(f *wire.Frame, round int) {
	said := rawjson.Text(rawjson.Member(f.Message.Params, "_meta", "traceparent"))
	if parts := strings.Split(said, "-"); len(parts) >= 4 {
		if r.sentSpans == nil {
			r.sentSpans = map[string]int{}
		}
		r.sentSpans[strings.Clone(parts[2])] = round
	}
}

// served sets the spans of the server and its clock: each span stands behind the one that it is within,
// and by its round.
func (c *Call) served(spans []ServerSpan, sent map[string]int, local bool) {
	if len(spans) == 0 {
		return
	}
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b ServerSpan) int { return a.Start.Compare(b.Start) })
	byID, within := map[string]int{}, map[string][]int{}
	for i, s := range spans {
		byID[s.ID] = i
	}
	for i, s := range spans {
		parent := s.Parent
		if _, known := byID[parent]; !known {
			parent = ""
		}
		within[parent] = append(within[parent], i)
	}
	placed := make([]bool, len(spans)) // so that spans that are within each other are placed, too
	var place func(i, depth, round int)
	place = func(i, depth, round int) {
		if placed[i] {
			return
		}
		placed[i] = true
		s := spans[i]
		s.Depth, s.Round = depth, cmp.Or(sent[s.Parent], round, s.Round)
		c.ServerSpans = append(c.ServerSpans, s)
		for _, k := range within[s.ID] {
			place(k, depth+1, s.Round)
		}
	}
	for _, i := range within[""] {
		place(i, 0, 0)
	}
	for i := range spans {
		place(i, 0, 0)
	}
	c.ServerClock = c.clockBy(sent, local)
	for i := range c.ServerSpans {
		s := &c.ServerSpans[i]
		s.Start, s.End = s.Start.Add(-c.ServerClock.Ahead), s.End.Add(-c.ServerClock.Ahead)
		open := 0
		for _, q := range c.Questions {
			if !s.Start.Before(q.Asked) && (q.Ended.IsZero() || s.Start.Before(q.Ended)) {
				s.Question, open = q.Number, open+1
			}
		}
		if open > 1 {
			s.Question = 0
		}
	}
}

// clockBy estimates the server's clock from the spans of requests, else from the spans within them. local
// says that the server is a process of this machine.
func (c *Call) clockBy(sent map[string]int, local bool) (clock ServerClock) {
	const day = 24 * time.Hour
	least, most := -1000*day, 1000*day // what the clock can be ahead
	for _, s := range c.ServerSpans {
		i := slices.IndexFunc(c.Rounds, func(r Round) bool { return r.Number == s.Round })
		if i < 0 {
			continue
		}
		most = min(most, s.Start.Sub(c.Rounds[i].Began))
		if sent[s.Parent] != 0 && s.Kind == wire.SpanServer && !c.Rounds[i].Ended.IsZero() {
			least, clock.Known = max(least, s.End.Sub(c.Rounds[i].Ended)), true
		}
	}
	switch {
	case least > most: // the span is longer than the request took
		clock.Ahead, clock.Doubt = (least+most)/2, (least-most)/2
	case most < 0:
		clock.Ahead, clock.Doubt = most, most-least
	case least > 0:
		clock.Ahead, clock.Doubt = least, most-least
	default:
		clock.Doubt = most - least
	}
	if clock.Ahead.Abs() <= clockSlack {
		if clock.Ahead = 0; local {
			clock.Doubt, clock.Known = 0, true
		}
	}
	return clock
}

// Timeline returns the steps of the call together with the spans of the server, in the order of their times.
func (c *Call) Timeline() []Step {
	steps := slices.Clone(c.Steps)
	for _, s := range c.ServerSpans[:min(len(c.ServerSpans), stepsMost)] {
		steps = append(steps, Step{At: s.Start, Kind: StepSpan, Depth: s.Depth, Text: s.Words(), Seq: s.Seq})
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return steps
}

// Words names the span, and says how long it took.
func (s *ServerSpan) Words() string {
	return s.Name + ", " + wording.Duration(s.End.Sub(s.Start)) + wording.Either(s.Failed, ", failed", "")
}
