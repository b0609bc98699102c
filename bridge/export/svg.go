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
	"elicitation-inspector/bridge/wording"
)

// LadderStyle is the style sheet of ladders: it colours the classes of an
// embedded one, light or dark as the system is.
//
//go:embed ladder.css
var LadderStyle string

// SVG writes the ladder as an SVG file, with its title in the picture.
func (l *Ladder) SVG(w io.Writer) error {
	return l.write(w, drawing{Ladder: l, Style: template.CSS(LadderStyle)})
}

// Embed writes the ladder as an SVG element of a page. It has classes, and
// neither styles nor scripts, for pages whose content security policy forbids
// them; the page has the rules of LadderStyle or others. Each arrow has the
// number of its frame in data-seq, and is a link to where href says, unless href
// is nil.
func (l *Ladder) Embed(w io.Writer, href func(seq int64) string) error {
	return l.write(w, drawing{Ladder: l, Href: href})
}

func (l *Ladder) write(w io.Writer, d drawing) error {
	if err := templates.ExecuteTemplate(w, "ladder", d); err != nil {
		return fmt.Errorf("drawing %s: %w", l.ID, err)
	}
	return nil
}

// drawing is a ladder on its way into an SVG.
type drawing struct {
	*Ladder
	Style template.CSS // of a file of its own, "" of an element in a page
	Href  func(seq int64) string
}

// Top is where the picture begins: a file of its own has its title above.
func (d drawing) Top() int {
	const caption = 44
	if d.Style != "" {
		return -caption
	}
	return 0
}

func laneOf(p conversation.Party) int { return 120 + 240*int(p) }

// Label says beside a bar how long it took, where there is room for it.
func (b Bar) Label() string {
	if b.Open || b.Took <= 0 || b.To-b.From < 12 || b.Party == conversation.ServerParty {
		return ""
	}
	words := wording.Duration(b.Took)
	if b.Party == conversation.PersonParty {
		words = "took " + words
	}
	return line(words, 20)
}

// Middle is that of a bar.
func (b Bar) Middle() int { return b.From + (b.To-b.From)/2 }

// Tail is where the shaft of an arrow begins, and Tip where it ends. Both keep
// off the lanes, which have bars on them.
func (a Arrow) Tail() int { return laneOf(a.From) + 8*a.way() }
func (a Arrow) Tip() int  { return laneOf(a.To) - 8*a.way() }

// way is 1 for an arrow to the right, and -1 for one to the left.
func (a Arrow) way() int { return cmp.Compare(a.To, a.From) }

func (a Arrow) Left() int   { return min(a.Tail(), a.Tip()) }
func (a Arrow) Length() int { return max(a.Tail(), a.Tip()) - a.Left() }
func (a Arrow) Middle() int { return (a.Tail() + a.Tip()) / 2 }

// Head is the path of the arrow's head.
func (a Arrow) Head() string {
	tip, barb := a.Tip(), a.Tip()-6*a.way()
	return fmt.Sprintf("M%d %d L%d %d L%d %d", barb, a.Y-4, tip, a.Y, barb, a.Y+4)
}

// Numbered reports whether an arrow is drawn with the number of its frame. What
// happens at the person's end is not on the wire.
func (a Arrow) Numbered() bool { return a.Kind != ArrowAsk && a.Kind != ArrowReply }

func since(d time.Duration) string { return "+" + wording.Duration(d) }

// tear is the edge of torn paper.
func tear(y int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M90 %d", y)
	for x, up := 96, 3; x <= ladderWidth-10; x, up = x+6, 3-up {
		fmt.Fprintf(&b, " L%d %d", x, y-up)
	}
	return b.String()
}
