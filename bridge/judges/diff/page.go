package diff

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// PageStyle is the style sheet of a comparison, below that of all exported pages.
//
//go:embed page.css
var PageStyle string

// Bounds of a page: the calls that are drawn, the differences, the fields of one card, and the bytes of frames.
const (
	pairsMost    = 100
	foundMost    = 1000
	fieldsMost   = 40
	evidenceMost = 8 << 20
)

// Page is a comparison as people see it.
type Page struct {
	*Report
	Pairs []*Pair
	Rest  []*Found // what belongs to no call that is drawn
	Alike int      // calls without a difference
	// Href returns the address that shows a frame of the old (0) or the new (1) side; "" if none does.
	Href func(side int, seq int64) string

	listed []*Found
}

// Found is a difference with its two frames.
type Found struct {
	*Difference
	Number int // among the differences of the page, from 1
	Frames [2]*evidence
	ends   [2]*rung // the rungs of the old and the new ladder that it is drawn at; nil if that ladder has none
}

// evidence is a frame with its bytes, as far as there is room for them. Seq is its number for people.
type evidence struct {
	Seq  int64
	Text string
}

// Pair is a call of both sides, drawn as two ladders that are joined where they are the same.
type Pair struct {
	Name  string
	Steps []step
	Notes [2][]string // what the ladders say below their arrows
}

// step is a rung of both ladders; nil stands for one that only one of them has.
type step struct {
	Rungs [2]*rung
	Found []*Found
}

// How a step is drawn: joined, with differences, or of one side alone.
func (s *step) class() string {
	switch {
	case len(s.Found) > 0:
		return "differs"
	case s.Rungs[0] == nil || s.Rungs[1] == nil:
		return "alone"
	}
	return "same"
}

// rung is a frame as a ladder shows it: an arrow between client and server, and what it asked of the person.
type rung struct {
	Seq   int64 // as people know it
	Wire  export.Arrow
	Hops  []export.Arrow // between the client and the person
	Cards []card
	alike string // its words without what varies
	lone  bool   // the other side has nothing like it
}

// card is a question with its fields.
type card struct {
	Message string
	Fields  []cardField
}

type cardField struct {
	Name, About string
	Differs     bool
}

// NewPage reads the calls that differ. It must be made before the logs are closed.
func (r *Report) NewPage(ctx context.Context) (*Page, error) {
	p := &Page{Report: r, Alike: r.Calls, Href: func(int, int64) string { return "" }}
	of := map[int][]*Found{}
	room := evidenceMost
	for i := range r.Differences[:min(len(r.Differences), foundMost)] {
		f := &Found{Difference: &r.Differences[i], Number: i + 1}
		for n, seq := range []int64{f.OldFrame, f.NewFrame} {
			e, err := r.sides[n].evidence(seq, &room)
			if err != nil {
				return nil, err
			}
			f.Frames[n] = e
		}
		p.listed = append(p.listed, f)
		of[f.pair] = append(of[f.pair], f)
	}
	p.Rest = of[0]
	for i, pair := range r.pairs {
		if pair.old != nil && pair.now != nil {
			p.Alike--
		}
		found := of[i+1]
		if len(found) == 0 || len(p.Pairs) == pairsMost {
			p.Rest = append(p.Rest, found...)
			continue
		}
		drawn, err := r.draw(ctx, pair, found)
		if err != nil {
			return nil, err
		}
		p.Pairs = append(p.Pairs, drawn)
	}
	return p, nil
}

// number returns the number that people know a frame by.
func (s *side) number(seq int64) int64 {
	if s.Seqs != nil && seq >= 1 && seq <= int64(len(s.Seqs)) {
		return s.Seqs[seq-1]
	}
	return seq
}

// evidence reads a frame, if there is room for it.
func (s *side) evidence(seq int64, room *int) (*evidence, error) {
	f, err := s.frame(seq)
	if f == nil || err != nil {
		return nil, err
	}
	e := &evidence{Seq: s.number(seq)}
	if size := min(len(f.Raw), export.CutAt); size <= *room {
		*room -= size
		if e.Text = string(f.Raw); f.Kind.IsMessage() {
			e.Text = rawjson.Pretty(f.Raw)
		}
	}
	return e, nil
}

// draw joins the two ladders of a call, and puts the differences where their frames are.
func (r *Report) draw(ctx context.Context, of pair, found []*Found) (*Pair, error) {
	p := &Pair{Name: found[0].Call}
	var ladders [2][]*rung
	for n, o := range []*outline{of.old, of.now} {
		if o == nil {
			continue
		}
		call, err := r.sides[n].conversation.Call(ctx, o.place, conversation.Reading{Redact: r.sides[n].Redact})
		if err != nil {
			return nil, err
		}
		ladder := export.Draw(call, 0)
		for _, note := range ladder.Notes {
			p.Notes[n] = append(p.Notes[n], note.Text)
		}
		ladders[n] = r.sides[n].rungs(call, ladder, found, n)
	}
	p.Steps = joined(ladders[0], ladders[1], found)
	for _, f := range found {
		at := max(0, slices.IndexFunc(p.Steps, func(s step) bool {
			return f.ends[0] != nil && f.ends[0] == s.Rungs[0] || f.ends[1] != nil && f.ends[1] == s.Rungs[1]
		}))
		p.Steps[at].Found = append(p.Steps[at].Found, f)
	}
	return p, nil
}

// rungs returns the rungs of a ladder, one a frame, with the questions that each asks as cards, and says
// where differences are drawn on this side.
func (s *side) rungs(call *conversation.Call, ladder *export.Ladder, found []*Found, n int) (out []*rung) {
	frames := map[int64]*rung{}
	for _, a := range ladder.Arrows {
		at := frames[a.Seq]
		if at == nil {
			at = &rung{Seq: s.number(a.Seq), Wire: a}
			frames[a.Seq] = at
			out = append(out, at)
		}
		if a.Kind == export.ArrowAsk || a.Kind == export.ArrowReply {
			at.Hops = append(at.Hops, a)
		} else {
			at.Wire = a
		}
		at.alike += masked(a.Full) + "\n"
	}
	asks := map[int64][]*Found{}
	for _, f := range found {
		seq, only := []int64{f.OldFrame, f.NewFrame}[n], f.only()
		asks[seq] = append(asks[seq], f)
		if at := frames[seq]; at != nil && (only < 0 || only == n) {
			f.ends[n], at.lone = at, at.lone || only == n && f.Kind != actsFirst.ID
		}
	}
	for _, q := range call.Questions {
		if at := frames[q.AskedSeq]; at != nil && q.Method == mcp.MethodElicit {
			at.Cards = append(at.Cards, cardOf(q, asks[q.AskedSeq]))
		}
	}
	return out
}

func cardOf(q *conversation.Question, found []*Found) card {
	c := card{Message: q.Title()}
	fields, _ := elicit.FieldsIn(rawjson.Member(q.Params, "requestedSchema"))
	for _, f := range fields[:min(len(fields), fieldsMost)] {
		at := rawjson.PointerTo("/properties", f.Name)
		c.Fields = append(c.Fields, cardField{
			Name: f.Name, About: wording.Join(", ", f.Kind.String(), wording.Either(f.Required, "required", "")),
			Differs: slices.ContainsFunc(found, func(d *Found) bool {
				return d.Pointer == at || len(d.Pointer) > len(at) && d.Pointer[:len(at)+1] == at+"/" || d.Kind == fieldRenamed.ID && rawjson.Text(d.Old) == f.Name
			}),
		})
	}
	return c
}

// only returns the side that a difference is of, where the frame of the other one is only what came in
// its place: 0 for the old one, 1 for the new one, -1 for both.
func (f *Found) only() int {
	switch {
	case f.Kind == questionGone.ID || f.Kind == questionLost.ID || f.Kind == notification.ID && f.New == nil:
		return 0
	case f.Kind == questionNew.ID || f.Kind == notification.ID || f.Kind == actsFirst.ID:
		return 1
	}
	return -1
}

// joined joins two ladders in order so that as much as possible goes together.
func joined(old, now []*rung, found []*Found) (steps []step) {
	bound := map[[2]*rung]bool{}
	for _, f := range found {
		bound[f.ends] = true
	}
	together := func(a, b *rung) int {
		switch {
		case bound[[2]*rung{a, b}]:
			return 8
		case a.Wire.Kind != b.Wire.Kind || a.lone || b.lone:
			return 0
		}
		if a.alike == b.alike {
			return 3
		}
		return 1
	}
	best := make([][]int, len(old)+1) // of what is left from there on
	for i := range best {
		best[i] = make([]int, len(now)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for k := len(now) - 1; k >= 0; k-- {
			best[i][k] = max(best[i+1][k], best[i][k+1])
			if n := together(old[i], now[k]); n > 0 {
				best[i][k] = max(best[i][k], n+best[i+1][k+1])
			}
		}
	}
	i, k := 0, 0
	for i < len(old) || k < len(now) {
		switch {
		case i < len(old) && k < len(now) && together(old[i], now[k]) > 0 && best[i][k] == together(old[i], now[k])+best[i+1][k+1]:
			steps = append(steps, step{Rungs: [2]*rung{old[i], now[k]}})
			i, k = i+1, k+1
		case i < len(old) && best[i][k] == best[i+1][k]:
			steps = append(steps, step{Rungs: [2]*rung{old[i], nil}})
			i++
		default:
			steps = append(steps, step{Rungs: [2]*rung{nil, now[k]}})
			k++
		}
	}
	if steps == nil {
		steps = []step{{}} // for the differences
	}
	return steps
}

// left says what a page leaves out; "" for nothing.
func (p *Page) left() string {
	return wording.Join(" ",
		wording.Either(len(p.Differences) > len(p.listed), fmt.Sprintf("The first %d of %d differences are shown.", len(p.listed), len(p.Differences)), ""),
		wording.Either(len(p.pairs) > len(p.Pairs), fmt.Sprintf("The first %d of %d calls that differ are drawn.", len(p.Pairs), len(p.pairs)), ""))
}

// title names the two sides.
func (p *Page) title() string {
	return export.Line(p.Old, 60) + " and " + export.Line(p.New, 60) + " compared"
}

// which names the frames of a difference: "Old frame 12, new frame 14".
func (f *Found) which() string {
	var names [2]string
	for n, e := range f.Frames {
		if e != nil {
			names[n] = fmt.Sprintf("%s frame %d", sideNames[n], e.Seq)
		}
	}
	return wording.Capital(wording.Join(", ", names[:]...))
}

// writeHTML writes a page that needs no server, network or script.
func writeHTML(w io.Writer, r *Report) error {
	ctx := context.Background()
	p, err := r.NewPage(ctx)
	if err != nil {
		return err
	}
	return export.WritePage(ctx, w, p.Document())
}
