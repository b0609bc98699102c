package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
)

// Ladder is a call or a sign-in drawn as a sequence diagram: a lane for each party, and
// time running down. Lengths are in pixels, from the upper left corner. The lanes stand
// from left to right, the person first and the server last.
//
// The space between two arrows has room for a label, and grows with the logarithm of the time
// between them, so that a millisecond and an hour can both be seen.
type Ladder struct {
	ID     string // unique among the calls of a log, for ids in a page
	Title  string
	Text   string // one or two sentences: what happened and how long it took
	Width  int
	Height int
	Lanes  []Lane
	Arrows []Arrow
	Bars   []Bar
	Spans  []SpanBar // of the server's own, beside its lane
	Ticks  []Tick
	Notes  []Note

	Foreign bool // its call is: nobody knows who answers questions
}

// Lane is the vertical line of one party.
type Lane struct {
	Party conversation.Party
	ID    string // its name in Mermaid
	Name  string
}

// Arrow is a frame on the wire, or the question or reply that a frame means for the
// person. A note of the inspector's own goes nowhere: it stands on the client's lane,
// which is From and To.
type Arrow struct {
	Seq      int64 // number of the frame
	Count    int   // how many frames from Seq on the arrow stands for; mostly 1
	From, To conversation.Party
	Kind     ArrowKind
	Outcome  Outcome // of the question that it asks or answers; "" if it does neither
	Y        int
	Label    string        // one line, cut to the room for it
	Lines    []string      // the label, wrapped to the width between two lanes
	Tail     int           // X where the shaft begins
	Tip      int           // X where the shaft ends
	Full     string        // one line, cut only at 400 columns
	At       time.Duration // time since the call began
}

// ArrowKind is the kind of an arrow.
type ArrowKind string

// The kinds of arrow.
const (
	ArrowRequest  ArrowKind = "request"
	ArrowResult   ArrowKind = "result"
	ArrowError    ArrowKind = "error"
	ArrowNote     ArrowKind = "note"     // a notification
	ArrowOwn      ArrowKind = "own"      // a note of the inspector's own
	ArrowSpan     ArrowKind = "span"     // a span of the server's own, which stands on its lane
	ArrowQuestion ArrowKind = "question" // a question on the wire
	ArrowAnswer   ArrowKind = "answer"   // the answer to a question on the wire
	ArrowAsk      ArrowKind = "ask"      // the client puts a question to the person
	ArrowReply    ArrowKind = "reply"    // the person answers
)

// Outcome is how a question or a call stands: its colour is the same wherever it is shown.
type Outcome string

// The outcomes.
const (
	Waits    Outcome = "waits"
	Done     Outcome = "done"
	Declined Outcome = "declined" // or cancelled
	Failed   Outcome = "failed"
)

func outcomeOf(q *conversation.Question) Outcome {
	switch {
	case q.State == conversation.Pending:
		return Waits
	case q.State == conversation.Withdrawn || q.Action == "decline" || q.Action == "cancel":
		return Declined
	case q.State == conversation.Answered && q.Action == "accept" || q.State == conversation.AnswerUnknown:
		return Done
	}
	return Failed
}

// Bar is a span of time in which a party worked on the call, or, with Open, in which a
// request of the client waited for its response.
type Bar struct {
	Party    conversation.Party
	Open     bool
	From, To int // Y of its ends
	Took     time.Duration
}

// SpanBar is a span of the server's own. One within another stands further to the right.
type SpanBar struct {
	X, From, To int
	Name        string // with how long it took
	Failed      bool
}

// Tick is a time label beside an arrow.
type Tick struct {
	Y     int
	At    time.Duration
	Round int // number of the round that begins here, 0 for none
}

// Note is a remark across the lanes.
type Note struct {
	Y      int
	Text   string
	Live   bool   // it says what a call that runs waits for
	awaits string // Text while the call runs; "" if that is the same
}

// Measures of a ladder, in pixels unless noted.
const (
	laneWidth   = 304 // between two lanes in a file
	laneLeast   = 80  // between two lanes: narrower, no label is readable
	ladderTop   = 58  // Y of the first arrow
	rowHeight   = 27  // smallest distance of two arrows with labels of one line
	lineHeight  = 12  // of a further line of a label
	letterWidth = 6   // of a column of a label, about
	linesMost   = 3   // of a label
	hopHeight   = 20  // smallest distance of two arrows of one frame
	timeHeight  = 14  // height that ten times the time adds
	allTimes    = 480 // most height that all times together add
	labelWidth  = 42  // width of a label, in columns
)

// Bounds on the size of a ladder.
const (
	runMost  = 6   // longest run of progress notifications and log messages that is drawn in full
	rowsMost = 300 // most rows of arrows

	spansMost = 100 // most spans of the server that are drawn
)

// row is the content of a ladder at one height.
type row struct {
	at     time.Duration
	arrows []Arrow
	hop    bool // it belongs to the same frame as the row above
	round  int
	note   string
	awaits string // note, while the call runs
}

// Draw returns the ladder of a call for a place of a width in pixels; 0 is for a file.
func Draw(e *conversation.Call, width int) *Ladder {
	l := &Ladder{
		ID: fmt.Sprintf("ladder-%d", e.Place), Foreign: e.Foreign(), Title: Line(strings.TrimSpace(e.Method+" "+e.Name), 120), Text: sentence(e, plain),
		Lanes: []Lane{
			{conversation.PersonParty, "P", answerer(e.Foreign())},
			{conversation.ClientParty, "C", "client"},
			{conversation.ServerParty, "S", Line(e.ServerName+" (server)", 34)},
		},
	}
	if e.Place == 0 && len(e.Frames) > 0 {
		l.ID = fmt.Sprintf("ladder-f%d", e.Frames[0].Seq)
	}
	rows := rowsOf(e)
	l.fit(width)
	ys := l.place(rows)
	l.bars(e, rows, ys)
	if clock := e.ServerClock.String(); clock != "" {
		l.Text += " " + clock
	}
	return l
}

// answerer names who answers questions. Of another client's nobody knows whether that is a person.
func answerer(foreign bool) string { return wording.Either(foreign, "person or program", "person") }

// Live changes the notes about a missing response or answer for a call that is still
// running.
func (l *Ladder) Live() {
	for i := range l.Notes {
		if n := &l.Notes[i]; n.awaits != "" {
			n.Text, n.Live = n.awaits, true
		}
	}
}

func rowsOf(e *conversation.Call) []row {
	var rows []row
	clock := e.Start
	for i, inRun := range runs(e.Frames) {
		f := &e.Frames[i]
		if f.Kind == wire.SpanFrame { // it came late; withSpans draws it at its time
			continue
		}
		now := f.Time
		if f.Dir == wire.Meta && f.Note != nil && !f.Note.At.IsZero() {
			now = f.Note.At
		}
		if now.After(clock) {
			clock = now
		}
		at := clock.Sub(e.Start)
		switch inRun {
		case 0:
			rows = append(rows, rowsOfFrame(e, f, at)...)
		case -1: // the arrow of the run stands for it
		default:
			a := wireArrow(f, at)
			a.Count = inRun
			a.Label = fmt.Sprintf("… %d more notifications", inRun)
			a.Full = a.Label
			rows = append(rows, row{at: at, arrows: []Arrow{a}})
		}
	}
	rows = withSpans(e, rows)
	if len(rows) > rowsMost {
		half := rowsMost / 2
		cut := row{at: rows[half].at, note: fmt.Sprintf("%d arrows are left out here", len(rows)-rowsMost)}
		rows = slices.Concat(rows[:half], []row{cut}, rows[len(rows)-half:])
	}
	last := clock.Sub(e.Start)
	switch e.State {
	case conversation.Running:
		rows = append(rows, row{at: last, note: "no response in the log", awaits: "waiting for the response…"})
	case conversation.Waiting:
		note := row{at: last, note: "the call has not been made again"}
		if e.Pending() > 0 {
			note.note, note.awaits = "no answer in the log yet", "waiting for an answer…"
		}
		rows = append(rows, note)
	}
	return rows
}

// withSpans adds the spans of the server to the rows, at the times when they began.
func withSpans(e *conversation.Call, rows []row) (all []row) {
	spans := slices.Clone(e.ServerSpans)
	slices.SortStableFunc(spans, func(a, b conversation.ServerSpan) int { return a.Start.Compare(b.Start) })
	var note []row
	if left := len(spans) - spansMost; left > 0 {
		spans = spans[:spansMost]
		note = []row{{at: spans[spansMost-1].Start.Sub(e.Start), note: wording.Count(left, "later span", "later spans") + " of the server left out here"}}
	}
	until := func(at time.Duration) {
		for len(spans) > 0 && spans[0].Start.Sub(e.Start) < at {
			s := &spans[0]
			a := Arrow{Seq: s.Seq, Count: 1, From: conversation.ServerParty, To: conversation.ServerParty, Kind: ArrowSpan, At: max(s.Start.Sub(e.Start), 0)}
			words := wording.Either(s.Depth > 0, "└ ", "") + s.Words()
			if a.Label, a.Full = Line(words, labelWidth), Line(words, 400); s.Failed {
				a.Outcome = Failed
			}
			all, spans = append(all, row{at: a.At, arrows: []Arrow{a}}), spans[1:]
		}
	}
	for i, r := range rows {
		if i > 0 && !r.hop {
			until(r.at)
		}
		all = append(all, r)
	}
	until(1 << 62)
	return append(all, note...)
}

// runs finds long runs of notifications that only report progress. In the result, 0
// means that the frame is drawn: frames outside of runs, and the first and last two of
// a run. The third frame of a run has the number of frames that its arrow stands for;
// the others have -1.
func runs(frames []wire.Row) []int {
	out := make([]int, len(frames))
	for i := 0; i < len(frames); {
		n := 0
		for i+n < len(frames) && frames[i+n].Kind == wire.Notification && conversation.IsReport(frames[i+n].Method) {
			n++
		}
		if n > runMost {
			for k := i + 2; k < i+n-2; k++ {
				out[k] = -1
			}
			out[i+2] = n - 4
		}
		i += max(n, 1)
	}
	return out
}

func wireArrow(f *wire.Row, at time.Duration) Arrow {
	a := Arrow{Seq: f.Seq, Count: 1, From: conversation.ServerParty, To: conversation.ClientParty, Kind: ArrowNote, At: at}
	words := f.Summary
	switch {
	case f.Dir == wire.ClientToServer:
		a.From, a.To = conversation.ClientParty, conversation.ServerParty
	case f.Dir == wire.Meta && f.Status == 0: // a status is what the server answered over HTTP
		if a.From, a.Kind = conversation.ClientParty, ArrowOwn; f.Failed {
			a.Outcome = Failed
		}
	}
	switch {
	case a.Kind == ArrowOwn:
	case f.Kind == wire.Request && mcp.IsInput(f.Method) && a.From == conversation.ServerParty:
		a.Kind, words = ArrowQuestion, f.Method
	case f.Kind == wire.Request:
		a.Kind, words = ArrowRequest, f.Method+" "+words
	case f.Kind == wire.Error && f.Elicits:
		a.Kind = ArrowError
	case f.Kind == wire.Error:
		a.Kind, words = ArrowError, "error "+words
	case f.Kind == wire.Result && mcp.IsInput(f.Method) && a.From == conversation.ClientParty:
		a.Kind, words = ArrowAnswer, "answer: "+words
	case f.Kind == wire.Result:
		switch a.Kind = ArrowResult; {
		case f.AsksInput:
			a.Kind = ArrowQuestion
		case f.Failed:
			if words = strings.TrimPrefix(words, "error: "); words == "error" { // the summary of isError without text
				words = ""
			}
			a.Kind, words = ArrowError, strings.TrimSuffix("failed: "+words, ": ")
		default:
			words = strings.TrimSuffix("result: "+words, ": ")
		}
	case f.Pair != 0: // a frame in place of the response
		a.Kind = ArrowError
	case f.Kind == wire.Notification && f.Method == mcp.NotificationMessage:
		words = "log " + words
	case f.Kind == wire.Notification:
		words = strings.TrimPrefix(f.Method, "notifications/") + " " + words
	}
	a.Label, a.Full = Line(words, labelWidth), Line(words, 400)
	return a
}

// rowsOfFrame returns the rows of one frame: its arrow, and arrows for the questions
// that it asks the person and the replies that it carries.
func rowsOfFrame(e *conversation.Call, f *wire.Row, at time.Duration) []row {
	a := wireArrow(f, at)
	hop := func(q *conversation.Question, kind ArrowKind) Arrow {
		h := Arrow{Seq: f.Seq, Count: 1, From: conversation.ClientParty, To: conversation.PersonParty, Kind: kind, At: at}
		words := q.Title()
		if v := link.Judge(q.URL()); v.ASCII != "" {
			words = v.ASCII + " · " + q.Message()
		}
		if q.State == conversation.Pending || kind == ArrowReply {
			h.Outcome = outcomeOf(q)
		}
		if kind == ArrowReply {
			h.From, h.To = conversation.PersonParty, conversation.ClientParty
			words = cmp.Or(q.Action, q.State.String())
		}
		if q.Via == elicit.InRound {
			words = q.Key + ": " + words
		}
		h.Label, h.Full = Line(words, labelWidth-2), Line(words, 400)
		return h
	}
	var asked, replied []Arrow
	for _, q := range e.Questions {
		if a.Kind == ArrowAnswer && q.AnswerSeq == f.Seq {
			a.Outcome = outcomeOf(q)
		}
		if !q.Personal() {
			continue
		}
		if q.AskedSeq == f.Seq {
			asked = append(asked, hop(q, ArrowAsk))
		}
		if cmp.Or(q.SaidSeq, q.AnswerSeq) == f.Seq && q.State == conversation.Answered && q.By != conversation.ByPolicy {
			replied = append(replied, hop(q, ArrowReply))
		}
	}
	if a.Kind == ArrowOwn && len(replied) > 0 { // the reply is what the note says
		return []row{{at: at, arrows: replied}}
	}
	if a.Kind == ArrowQuestion && f.Kind == wire.Request && len(asked) == 0 { // no arrow to the person has the message
		words := wording.Join(": ", f.Method, strings.TrimPrefix(f.Summary, "? "))
		a.Label, a.Full = Line(words, labelWidth), Line(words, 400)
	}
	round := 0 // that the frame begins, if the call has more than one
	for _, r := range e.Rounds {
		if r.Request == f.Seq && len(e.Rounds) > 1 {
			round = r.Number
		}
	}
	if len(asked) <= 1 && len(replied) <= 1 {
		// One row, from the person to the server or back.
		return []row{{at: at, arrows: slices.Concat(replied, []Arrow{a}, asked), round: round}}
	}
	var rows []row
	for i, h := range replied {
		rows = append(rows, row{at: at, arrows: []Arrow{h}, hop: i > 0})
	}
	rows = append(rows, row{at: at, arrows: []Arrow{a}, hop: len(rows) > 0, round: round})
	for _, h := range asked {
		rows = append(rows, row{at: at, arrows: []Arrow{h}, hop: true})
	}
	return rows
}
