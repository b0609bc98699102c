package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

// Ladder is an exchange drawn up as a sequence diagram: three lanes, server,
// client and person, time running down. Lengths are in pixels, from the upper
// left corner.
//
// Between two arrows there is room for a label, and then as much as their
// distance in time asks for, on one scale for the whole drawing. Only where
// that would make everything else vanish a distance is cut short, and marked as
// a Gap.
type Ladder struct {
	ID     string // unique among the exchanges of a log, for names in a page
	Title  string
	Text   string // in a sentence or two: what happened and how long it took
	Width  int
	Height int
	Lanes  []Lane
	Arrows []Arrow
	Bars   []Bar
	Gaps   []Gap
	Ticks  []Tick
	Notes  []Note
}

// Lane is the line of one of the parties.
type Lane struct {
	Party conversation.Party
	Name  string
}

// Arrow is a frame on its way, or what a frame does at the person's end.
type Arrow struct {
	Seq      int64 // frame
	Count    int   // how many frames it stands for, from Seq on; 1 for most
	From, To conversation.Party
	Kind     ArrowKind
	Y        int
	Label    string        // one line, cut to what there is room for
	Full     string        // as much as a summary says
	At       time.Duration // since the exchange began
}

// ArrowKind says what an arrow is.
type ArrowKind string

// The kinds of arrow.
const (
	ArrowRequest  ArrowKind = "request"
	ArrowResult   ArrowKind = "result"
	ArrowError    ArrowKind = "error"
	ArrowNote     ArrowKind = "note"     // a notification
	ArrowQuestion ArrowKind = "question" // a question on the wire
	ArrowAnswer   ArrowKind = "answer"   // its answer on the wire
	ArrowAsk      ArrowKind = "ask"      // the client puts a question to the person
	ArrowReply    ArrowKind = "reply"    // the person answers
)

// Bar is a time in which something was with a party: its work, or, with Open,
// a request of the client's that waits for its response.
type Bar struct {
	Party    conversation.Party
	Open     bool
	From, To int // Y
	Took     time.Duration
}

// Gap is a distance in time that was cut short.
type Gap struct {
	Y    int // its middle
	Took time.Duration
}

// Tick is the time of what stands beside it.
type Tick struct {
	Y     int
	At    time.Duration
	Round int // number of the round that begins here, 0 if none does
}

// Note is a remark across the lanes.
type Note struct {
	Y    int
	Text string
}

// The measures of a ladder.
const (
	ladderWidth = 760
	ladderTop   = 58  // of the first arrow
	rowHeight   = 27  // from arrow to arrow at least
	hopHeight   = 20  // where both are of one frame
	gapHeight   = 130 // that the longest distance adds
	allGaps     = 480 // that all distances add together
	labelWidth  = 32  // columns of a label
)

// longGap is how long a distance may be in any case without being cut short;
// longFactor how many times as long as all shorter ones together.
const (
	longGap    = 30 * time.Second
	longFactor = 4
)

// Bounds on what is drawn.
const (
	runMost  = 6   // progress notifications and log messages in a row
	rowsMost = 300 // arrows, one below the other
)

// row is what stands at one height.
type row struct {
	at     time.Duration
	arrows []Arrow
	hop    bool // it is of the same frame as the one above
	round  int
	note   string
}

// Draw draws a call up.
func Draw(e *conversation.Call) *Ladder {
	l := &Ladder{
		ID: fmt.Sprintf("ladder-%d", e.Place), Title: line(strings.TrimSpace(e.Method+" "+e.Name), 120), Text: sentence(e), Width: ladderWidth,
		Lanes: []Lane{
			{conversation.ServerParty, line(e.Server+" (server)", 34)},
			{conversation.ClientParty, "client"},
			{conversation.PersonParty, "person"},
		},
	}
	if e.Place == 0 && len(e.Frames) > 0 {
		l.ID = fmt.Sprintf("ladder-f%d", e.Frames[0].Seq)
	}
	rows := rowsOf(e)
	ys := l.place(rows)
	l.bars(e, rows, ys)
	return l
}

func rowsOf(e *conversation.Call) []row {
	var rows []row
	clock := e.Start
	for i, inRun := range runs(e.Frames) {
		f := &e.Frames[i]
		if f.Time.After(clock) {
			clock = f.Time
		}
		at := clock.Sub(e.Start)
		switch inRun {
		case 0:
			rows = append(rows, rowsOfFrame(e, f, at)...)
		case -1: // another stands for it
		default:
			a := wireArrow(f, at)
			a.Count = inRun
			a.Label = fmt.Sprintf("… %d more notifications", inRun)
			a.Full = a.Label
			rows = append(rows, row{at: at, arrows: []Arrow{a}})
		}
	}
	if len(rows) > rowsMost {
		half := rowsMost / 2
		cut := row{at: rows[half].at, note: fmt.Sprintf("%d arrows are left out here", len(rows)-rowsMost)}
		rows = slices.Concat(rows[:half], []row{cut}, rows[len(rows)-half:])
	}
	last := clock.Sub(e.Start)
	switch e.State {
	case conversation.Running:
		rows = append(rows, row{at: last, note: "no response in the log"})
	case conversation.Waiting:
		note := "the call has not been made again"
		if e.Pending() > 0 {
			note = "no answer in the log yet"
		}
		rows = append(rows, row{at: last, note: note})
	}
	return rows
}

// runs finds long runs of frames that only tell of progress. Of each, the first
// two and the last two are drawn: they are 0, as are all frames outside of
// runs. The one after the first two stands for those between, and is their
// number; the others are -1.
func runs(frames []wire.Row) []int {
	out := make([]int, len(frames))
	for i := 0; i < len(frames); {
		n := 0
		for i+n < len(frames) && frames[i+n].Kind == wire.Notification && conversation.OnlyTells(frames[i+n].Method) {
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
	if f.Dir == wire.ClientToServer {
		a.From, a.To = conversation.ClientParty, conversation.ServerParty
	}
	words := f.Summary
	switch {
	case f.Kind == wire.Request && mcp.IsInput(f.Method) && a.From == conversation.ServerParty:
		a.Kind, words = ArrowQuestion, f.Method
	case f.Kind == wire.Request:
		a.Kind, words = ArrowRequest, f.Method+" "+words
	case f.Kind == wire.Error:
		a.Kind, words = ArrowError, "error "+words
	case f.Kind == wire.Result && mcp.IsInput(f.Method) && a.From == conversation.ClientParty:
		a.Kind, words = ArrowAnswer, "answer: "+words
	case f.Kind == wire.Result:
		switch a.Kind = ArrowResult; {
		case f.AsksInput:
			a.Kind = ArrowQuestion
		case f.Failed:
			if words = strings.TrimPrefix(words, "error: "); words == "error" { // so a summary says isError
				words = ""
			}
			a.Kind, words = ArrowError, strings.TrimSuffix("failed: "+words, ": ")
		default:
			words = strings.TrimSuffix("result: "+words, ": ")
		}
	case f.Pair != 0: // it stands in for the response
		a.Kind = ArrowError
	case f.Kind == wire.Notification && f.Method == mcp.NotificationMessage:
		words = "log " + words
	case f.Kind == wire.Notification:
		words = strings.TrimPrefix(f.Method, "notifications/") + " " + words
	}
	a.Label, a.Full = line(words, labelWidth), line(words, 400)
	return a
}

// rowsOfFrame are the rows of one frame: its arrow, and what it makes the client ask
// the person, or the person reply.
func rowsOfFrame(e *conversation.Call, f *wire.Row, at time.Duration) []row {
	a := wireArrow(f, at)
	hop := func(q *conversation.Question, kind ArrowKind) Arrow {
		h := Arrow{Seq: f.Seq, Count: 1, From: conversation.ClientParty, To: conversation.PersonParty, Kind: kind, At: at}
		words := prompt(q)
		if kind == ArrowReply {
			h.From, h.To = conversation.PersonParty, conversation.ClientParty
			words = cmp.Or(q.Action, q.State.String())
		}
		if q.Via == elicit.InRound {
			words = q.Key + ": " + words
		}
		h.Label, h.Full = line(words, labelWidth-2), line(words, 400)
		return h
	}
	var asked, replied []Arrow
	for _, q := range e.Questions {
		if !q.Personal() {
			continue
		}
		if q.AskedSeq == f.Seq {
			asked = append(asked, hop(q, ArrowAsk))
		}
		if q.AnswerSeq == f.Seq && q.State == conversation.Answered && q.By != conversation.ByPolicy {
			replied = append(replied, hop(q, ArrowReply))
		}
	}
	if len(asked) <= 1 && len(replied) <= 1 {
		// One line from end to end.
		rows := []row{{at: at, arrows: slices.Concat(replied, []Arrow{a}, asked)}}
		rows[0].round = roundOf(e, f.Seq)
		return rows
	}
	var rows []row
	for i, h := range replied {
		rows = append(rows, row{at: at, arrows: []Arrow{h}, hop: i > 0})
	}
	rows = append(rows, row{at: at, arrows: []Arrow{a}, hop: len(rows) > 0, round: roundOf(e, f.Seq)})
	for _, h := range asked {
		rows = append(rows, row{at: at, arrows: []Arrow{h}, hop: true})
	}
	return rows
}

// prompt is what a person is asked, in one line.
func prompt(q *conversation.Question) string {
	if url := q.URL(); url != "" {
		if v := link.Judge(url); v.ASCII != "" {
			return v.ASCII + " · " + q.Message()
		}
	}
	return q.Title()
}

// roundOf is the number of the round that a frame begins, where there are
// several.
func roundOf(e *conversation.Call, seq int64) int {
	if len(e.Rounds) > 1 {
		for _, r := range e.Rounds {
			if r.Request == seq {
				return r.Number
			}
		}
	}
	return 0
}
