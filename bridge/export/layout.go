package export

import (
	"cmp"
	"slices"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export/paper"
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
	return paper.Wrap(lane.Name, between/(letterWidth+1), 2)
}

// span sets where an arrow begins and ends, at a distance from the lanes, on which there
// are bars; and wraps its label.
func (l *Ladder) span(a *Arrow) {
	from, to := l.Lane(a.From), l.Lane(a.To)
	way := cmp.Compare(to, from)
	a.Tail, a.Tip = from+8*way, to-8*way
	columns := a.Length() / letterWidth
	if a.Numbered() {
		columns -= 3
	}
	a.Lines = paper.Wrap(a.Label, max(columns, 6), linesMost)
}

func (l *Ladder) place(rows []row) []int {
	var gaps []time.Duration
	for i := 1; i < len(rows); i++ {
		gaps = append(gaps, rows[i].at-rows[i-1].at)
	}
	cut, scale := scaleOf(gaps)
	ys := make([]int, len(rows))
	y := ladderTop
	for i, r := range rows {
		if i > 0 {
			gap := gaps[i-1]
			extra := int(scale * float64(min(gap, cut)))
			if gap > cut {
				l.Gaps = append(l.Gaps, Gap{Y: y + (extra+rowHeight)/2, Took: gap})
			}
			y += extra + rowHeight
			if r.hop {
				y += hopHeight - rowHeight
			}
		}
		lines := 1
		for j := range r.arrows {
			l.span(&r.arrows[j])
			lines = max(lines, len(r.arrows[j].Lines))
		}
		y += (lines - 1) * lineHeight
		ys[i] = y
		for _, a := range r.arrows {
			a.Y = y
			l.Arrows = append(l.Arrows, a)
		}
		if r.note != "" {
			l.Notes = append(l.Notes, Note{Y: y, Text: r.note})
		}
		if len(r.arrows) > 0 && !r.hop || r.round > 0 {
			l.Ticks = append(l.Ticks, Tick{y, r.at, r.round})
		}
	}
	l.Height = y + 34
	return ys
}

// scaleOf returns the longest time that is drawn in full, and the scale in pixels per
// nanosecond.
func scaleOf(gaps []time.Duration) (cut time.Duration, scale float64) {
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	var sum time.Duration
	for _, gap := range sorted {
		most := max(longGap, longFactor*sum)
		if gap > most {
			cut = most
			break
		}
		sum += gap
		cut = gap
	}
	if cut <= 0 {
		return 0, 0
	}
	sum = 0
	for _, gap := range gaps {
		sum += min(gap, cut)
	}
	return cut, min(gapHeight/float64(cut), allGaps/float64(sum))
}

// bars adds the bars for the parties' work and for requests that wait for a response.
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
				if a.Seq == r.Response && a.From == conversation.ServerParty {
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
	for _, s := range e.Spans() {
		if from, to := below(s.From), above(s.To); to > from {
			l.Bars = append(l.Bars, Bar{Party: s.With, From: from, To: to, Took: s.To.Sub(s.From)})
		}
	}
}
