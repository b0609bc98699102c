package export

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/wording"
)

// LadderStyle is the style sheet of ladders, for the classes of an embedded ladder. It
// follows the system's light or dark scheme.
//
//go:embed ladder.css
var LadderStyle string

// SVG writes the ladder as an SVG file, with its title above the drawing.
func (l *Ladder) SVG(w io.Writer) error {
	return l.write(w, drawing{Ladder: l, Style: template.CSS(LadderStyle)})
}

// Embed writes the ladder as an SVG element for a page. The element has classes, but no
// styles and scripts, which many content security policies forbid; the page must
// include LadderStyle or rules of its own. Each arrow has the number of its frame in
// data-seq, and links to href(seq) unless href is nil.
func (l *Ladder) Embed(w io.Writer, href func(seq int64) string) error {
	return l.write(w, drawing{Ladder: l, Href: href})
}

func (l *Ladder) write(w io.Writer, d drawing) error {
	if err := templates().ExecuteTemplate(w, "ladder", d); err != nil {
		return fmt.Errorf("drawing %s: %w", l.ID, err)
	}
	return nil
}

// drawing is the data of the SVG template.
type drawing struct {
	*Ladder
	Style template.CSS // style of an SVG file; "" for an element in a page
	Href  func(seq int64) string
}

// Top is the upper edge of the picture: an SVG file has room for the title above the
// ladder.
func (d drawing) Top() int {
	const caption = 44
	if d.Style != "" {
		return -caption
	}
	return 0
}

// Label returns the text beside a bar: how long it took; "" if there is no room for it.
func (b Bar) Label() string {
	if b.Open || b.Took <= 0 || b.To-b.From < 12 || b.Party == conversation.ServerParty {
		return ""
	}
	words := wording.Duration(b.Took)
	if b.Party == conversation.PersonParty {
		words = "took " + words
	}
	return paper.Line(words, 20)
}

// Middle is the Y of the bar's middle.
func (b Bar) Middle() int { return b.From + (b.To-b.From)/2 }

func (a Arrow) Left() int   { return min(a.Tail, a.Tip) }
func (a Arrow) Length() int { return max(a.Tail, a.Tip) - a.Left() }
func (a Arrow) Middle() int { return (a.Tail + a.Tip) / 2 }

// Top is the upper edge of the arrow's label.
func (a Arrow) Top() int { return a.Y - 4 - (len(a.Lines)-1)*lineHeight }

// Head is the path of the arrow's head.
func (a Arrow) Head() string {
	tip, barb := a.Tip, a.Tip-6*cmp.Compare(a.Tip, a.Tail)
	return fmt.Sprintf("M%d %d L%d %d L%d %d", barb, a.Y-4, tip, a.Y, barb, a.Y+4)
}

// Numbered reports whether an arrow is drawn with the number of its frame. Questions
// and replies of the person are no frames.
func (a Arrow) Numbered() bool { return a.Kind != ArrowAsk && a.Kind != ArrowReply }

func since(d time.Duration) string { return "+" + wording.Duration(d) }

// Times is the X where times and rounds end.
func (l *Ladder) Times() int {
	left, _ := l.margins()
	return left - 12
}

// First is the X of the first lane.
func (l *Ladder) First() int { return l.Lane(l.Lanes[0].Party) }

// Tear returns the path of a jagged line, which marks a Gap.
func (l *Ladder) Tear(y int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", l.Times(), y)
	for x, up := l.Times()+6, 3; x <= l.Width-10; x, up = x+6, 3-up {
		fmt.Fprintf(&b, " L%d %d", x, y-up)
	}
	return b.String()
}
