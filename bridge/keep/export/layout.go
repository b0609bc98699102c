package export

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
)

// fit sets the width of the ladder: that of its place, but enough for readable labels;
// or, if it is 0, that for a file.
func (l *Ladder) fit(width int) {
	between := len(l.Lanes) - 1
	if width == 0 {
		width = 92 + laneWidth*between + 60
	}
	l.Width = max(width, 62+laneLeast*between+28)
}

// margins are the room beside the lanes: the times stand on the left of all of them.
func (l *Ladder) margins() (left, right int) {
	if l.Width >= 600 {
		return 92, 60
	}
	return 62, 28
}

// Lane returns the X of a party's lane.
func (l *Ladder) Lane(p conversation.Party) int {
	left, right := l.margins()
	at := slices.IndexFunc(l.Lanes, func(lane Lane) bool { return lane.Party == p })
	return left + (l.Width-left-right)*at/(len(l.Lanes)-1)
}

// Called returns the name of a lane, wrapped to the width between two lanes.
func (l *Ladder) Called(lane Lane) []string {
	left, right := l.margins()
	between := (l.Width - left - right) / (len(l.Lanes) - 1)
	return Wrap(lane.Name, between/(letterWidth+1), 2)
}

func (l *Ladder) place(rows []row) []int {
	times := make([]float64, len(rows)) // height that the time before each row adds
	sum := 0.0
	for i := 1; i < len(rows); i++ {
		times[i] = timeHeight * math.Log10(1+(rows[i].at-rows[i-1].at).Seconds()*1000)
		sum += times[i]
	}
	scale := min(1, allTimes/max(sum, 1))
	ys := make([]int, len(rows))
	y := ladderTop
	for i, r := range rows {
		if i > 0 && r.hop {
			y += int(scale*times[i]) + hopHeight
		} else if i > 0 {
			y += int(scale*times[i]) + rowHeight
		}
		lines := 1
		for j := range r.arrows {
			a := &r.arrows[j]
			from, to := l.Lane(a.From), l.Lane(a.To)
			if a.Kind == ArrowOwn { // its words stand to the right of the lane
				to = l.Lane(conversation.ServerParty)
			} else if a.Kind == ArrowSpan { // and those of a span to the left
				to = l.Lane(conversation.ClientParty)
			}
			way := cmp.Compare(to, from)
			a.Tail, a.Tip = from+8*way, to-8*way
			columns := a.Length() / letterWidth
			if a.Numbered() {
				columns -= 3
			}
			a.Lines = Wrap(a.Label, max(columns, 6), linesMost)
			lines = max(lines, len(r.arrows[j].Lines))
		}
		y += (lines - 1) * lineHeight
		ys[i] = y
		for _, a := range r.arrows {
			a.Y = y
			l.Arrows = append(l.Arrows, a)
		}
		if r.note != "" {
			l.Notes = append(l.Notes, Note{Y: y, Text: r.note, awaits: r.awaits})
		}
		if len(r.arrows) > 0 && !r.hop || r.round > 0 {
			l.Ticks = append(l.Ticks, Tick{y, r.at, r.round})
		}
	}
	l.Height = y + 34
	return ys
}

func (l *Ladder) bars(e *conversation.Call, rows []row, ys []int) {
	// At a time that several rows share, a bar begins at the lowest and ends at the
	// uppermost of them.
	below := func(t time.Time) int {
		at, y := t.Sub(e.Start), ladderTop
		for i, r := range rows {
			if r.at > at {
				break
			}
			y = ys[i]
		}
		return y
	}
	above := func(t time.Time) int {
		at := t.Sub(e.Start)
		for i, r := range rows {
			if r.at >= at {
				return ys[i]
			}
		}
		return ys[len(ys)-1]
	}
	if len(ys) == 0 {
		return
	}
	for _, r := range e.Rounds {
		bar := Bar{Party: conversation.ServerParty, Open: true, From: ys[0], To: l.Height - 20}
		for i, row := range rows {
			for _, a := range row.arrows {
				if a.Seq == r.Request && a.Kind == ArrowRequest {
					bar.From = ys[i]
				}
				if a.Seq == r.Response && a.Numbered() {
					bar.To = ys[i]
				}
			}
		}
		if !r.Ended.IsZero() {
			bar.Took = r.Ended.Sub(r.Began)
		}
		if bar.To > bar.From {
			l.Bars = append(l.Bars, bar)
		}
	}
	lane := l.Lane(conversation.ServerParty)
	_, right := l.margins()
	for _, s := range e.ServerSpans {
		i := slices.IndexFunc(l.Arrows, func(a Arrow) bool { return a.Kind == ArrowSpan && a.Seq == s.Seq })
		if i < 0 {
			continue
		}
		from := l.Arrows[i].Y - 4
		l.Spans = append(l.Spans, SpanBar{lane + 11 + min(s.Depth*5, right-16), from, max(above(s.End), from+8), s.Words(), s.Failed})
	}
	for _, s := range e.Spans() {
		if from, to := below(s.From), above(s.To); to > from {
			l.Bars = append(l.Bars, Bar{Party: s.With, From: from, To: to, Took: s.To.Sub(s.From)})
		}
	}
}

// LadderStyle is the style sheet of ladders, for the classes of an embedded ladder. It
// follows the system's light or dark scheme.
//
//go:embed ladder.css
var LadderStyle string

// SVG writes the ladder as an SVG file, with its title above the drawing.
func (l *Ladder) SVG(w io.Writer) error {
	return l.drawing(LadderStyle, nil).Render(context.Background(), w)
}

// Embed draws the ladder as an SVG element for a page. The element has classes, but no
// styles and scripts, which many content security policies forbid; the page must
// include LadderStyle or rules of its own. Each arrow has the number of its frame in
// data-seq, and links to href(seq) unless href is nil.
func (l *Ladder) Embed(href func(seq int64) string) templ.Component { return l.drawing("", href) }

// Label returns the text beside a bar: how long it took; "" if there is no room for it.
func (b Bar) Label() string {
	if b.Open || b.Took <= 0 || b.To-b.From < 12 || b.Party == conversation.ServerParty {
		return ""
	}
	words := wording.Duration(b.Took)
	if b.Party == conversation.PersonParty {
		words = "took " + words
	}
	return Line(words, 20)
}

// Middle is the Y of the bar's middle.
func (b Bar) Middle() int { return b.From + (b.To-b.From)/2 }

func (a Arrow) Left() int   { return min(a.Tail, a.Tip) }
func (a Arrow) Length() int { return max(a.Tail, a.Tip) - a.Left() }
func (a Arrow) Middle() int { return (a.Tail + a.Tip) / 2 }

// Top is the upper edge of the arrow's label.
func (a Arrow) Top() int { return a.Y - 4 - (len(a.Lines)-1)*lineHeight }

// End is the X where the shaft ends, which is not drawn for a note.
func (a Arrow) End() int {
	if a.Stays() {
		return a.Tail
	}
	return a.Tip
}

// Stays reports whether it stands on its lane: a note of the inspector's own, or a span of the server.
func (a Arrow) Stays() bool { return a.Kind == ArrowOwn || a.Kind == ArrowSpan }

// Head is the path of the arrow's head, or the mark of a note on its lane.
func (a Arrow) Head() string {
	if a.Stays() {
		way := cmp.Compare(a.Tip, a.Tail)
		return fmt.Sprintf("M%d %d h%d", a.Tail-8*way, a.Y, 6*way)
	}
	tip, barb := a.Tip, a.Tip-6*cmp.Compare(a.Tip, a.Tail)
	return fmt.Sprintf("M%d %d L%d %d L%d %d", barb, a.Y-4, tip, a.Y, barb, a.Y+4)
}

// Numbered reports whether an arrow is drawn with the number of its frame. Questions
// and replies of the person are no frames.
func (a Arrow) Numbered() bool { return a.Kind != ArrowAsk && a.Kind != ArrowReply }

// Times is the X where times and rounds end.
func (l *Ladder) Times() int {
	left, _ := l.margins()
	return left - 12
}

// First is the X of the first lane.
func (l *Ladder) First() int { return l.Lane(l.Lanes[0].Party) }
