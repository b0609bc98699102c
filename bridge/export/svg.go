package export

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
)

//go:embed ladder.svg.tmpl report.html.tmpl
var templateFiles embed.FS

// LadderStyle is the style sheet of ladders: it colours the classes of an
// embedded one, light or dark as the system is.
//
//go:embed ladder.css
var LadderStyle string

var templates = template.Must(template.New("").ParseFS(templateFiles, "*.tmpl"))

// Drawing says how a ladder becomes an SVG.
type Drawing int

// The drawings.
const (
	// Embedded is a part of a page. It has classes, and neither styles nor
	// scripts, for pages whose content security policy forbids them; the page
	// has the rules of LadderStyle or others.
	Embedded Drawing = iota
	// Standalone is a file of its own, with its title in the picture.
	Standalone
)

// SVG writes the ladder as an SVG element. Each arrow is a g element with the
// number of its frame in data-seq.
func (l *Ladder) SVG(w io.Writer, how Drawing) error { return l.write(w, how, nil) }

// Linked writes the ladder as an SVG element embedded in a page, in which each
// arrow is a link to where href says.
func (l *Ladder) Linked(w io.Writer, href func(seq int64) string) error {
	return l.write(w, Embedded, href)
}

func (l *Ladder) write(w io.Writer, how Drawing, href func(seq int64) string) error {
	if err := templates.ExecuteTemplate(w, "ladder", l.picture(how, href)); err != nil {
		return fmt.Errorf("drawing %s: %w", l.ID, err)
	}
	return nil
}

// picture is a ladder with everything worked out that its template writes.
type picture struct {
	L           *Ladder
	Standalone  bool
	Style       template.CSS
	Role        string
	Top, Height int
	Bars        []barPicture
	Gaps        []gapPicture
	Takes       []textPicture // beside bars
	Ticks       []textPicture
	Notes       []textPicture
	Arrows      []arrowPicture
}

type barPicture struct {
	Class, Says         string
	X, Y, Width, Height int
}

type gapPicture struct {
	Top, Width, Text int
	Upper, Lower     string // paths
	Says             string
}

type textPicture struct {
	X, Y int
	Says string
}

type arrowPicture struct {
	Arrow
	Href                      string
	Number, Says, Head        string
	Left, HitY, Span          int
	X1, X2, Middle, Y1, TextY int
}

const (
	captionHeight = 44 // of a standalone ladder's title
	tookColumns   = 20 // of the text beside a person's bar
)

func (l *Ladder) picture(how Drawing, href func(int64) string) picture {
	p := picture{L: l, Role: "group", Height: l.Height}
	if how == Standalone {
		p.Standalone, p.Role = true, "img"
		p.Top, p.Height = -captionHeight, l.Height+captionHeight
		p.Style = template.CSS(LadderStyle) // our own
	}
	x := map[conversation.Party]int{}
	for _, lane := range l.Lanes {
		x[lane.Party] = lane.X
	}
	for _, b := range l.Bars {
		bar := barPicture{Class: "l-bar l-" + b.Party.String(), X: x[b.Party] - 4, Y: b.From, Width: 8, Height: b.To - b.From}
		bar.Says = fmt.Sprintf("%s with the %s", duration(b.Took), b.Party)
		if b.Open {
			bar.Class, bar.X, bar.Width = "l-open", bar.X-3, bar.Width+6
			bar.Says = "the server has not answered"
			if b.Took > 0 {
				bar.Says = fmt.Sprintf("answered after %s", duration(b.Took))
			}
		} else if b.Took > 0 && bar.Height >= 12 && b.Party != conversation.ServerParty {
			says := duration(b.Took)
			if b.Party == conversation.PersonParty {
				says = "took " + says
			}
			p.Takes = append(p.Takes, textPicture{bar.X + 14, b.From + bar.Height/2 + 4, line(says, tookColumns)})
		}
		p.Bars = append(p.Bars, bar)
	}
	for _, g := range l.Gaps {
		p.Gaps = append(p.Gaps, gapPicture{
			Top: g.Y - 9, Width: l.Width - 100, Text: g.Y + 3,
			Upper: tear(g.Y-9, l.Width-10), Lower: tear(g.Y+9, l.Width-10), Says: duration(g.Took) + ", cut short here",
		})
	}
	for _, t := range l.Ticks {
		says := since(t.At)
		if t.Round > 0 {
			p.Ticks = append(p.Ticks, textPicture{Y: t.Y - 8, Says: fmt.Sprintf("round %d", t.Round)})
		}
		p.Ticks = append(p.Ticks, textPicture{Y: t.Y + 4, Says: says})
	}
	for _, n := range l.Notes {
		p.Notes = append(p.Notes, textPicture{laneServer + 14, n.Y + 4, n.Text})
	}
	for _, a := range l.Arrows {
		p.Arrows = append(p.Arrows, draw(a, x, href))
	}
	return p
}

// draw works out an arrow between the lanes at x.
func draw(a Arrow, x map[conversation.Party]int, href func(int64) string) arrowPicture {
	from, to, tip := x[a.From]+8, x[a.To]-8, -6
	if from > to {
		from, to, tip = x[a.From]-8, x[a.To]+8, 6
	}
	d := arrowPicture{
		Arrow: a, X1: from, X2: to, Left: min(from, to), Span: max(from, to) - min(from, to),
		HitY: a.Y - 14, Middle: (from + to) / 2, TextY: a.Y - 4,
		Head: fmt.Sprintf("M%d %d L%d %d L%d %d", to+tip, a.Y-4, to, a.Y, to+tip, a.Y+4),
		Says: fmt.Sprintf("Frame %d, %s: %s", a.Seq, since(a.At), a.Full),
	}
	if a.Count > 1 {
		d.Says = fmt.Sprintf("From frame %d, %s: %s", a.Seq, since(a.At), a.Full)
	}
	if a.Kind != ArrowAsk && a.Kind != ArrowReply {
		d.Number = fmt.Sprint(a.Seq)
	}
	if href != nil {
		d.Href = href(a.Seq)
	}
	return d
}

// since is a time after the beginning.
func since(d time.Duration) string { return "+" + duration(d) }

// tear is the edge of torn paper.
func tear(y, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M90 %d", y)
	for x, up := 96, true; x <= width; x, up = x+6, !up {
		if up {
			fmt.Fprintf(&b, " L%d %d", x, y-3)
		} else {
			fmt.Fprintf(&b, " L%d %d", x, y)
		}
	}
	return b.String()
}
