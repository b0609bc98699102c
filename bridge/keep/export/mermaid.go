package export

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
)

// Mermaid writes the ladder as the text of a Mermaid sequence diagram. Mermaid has no
// time scale, so long times are written as notes.
func (l *Ladder) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	for _, lane := range l.Lanes {
		if lane.Party == conversation.PersonParty {
			b.WriteString(answers(l.Foreign))
		} else {
			fmt.Fprintf(&b, "  participant %s as %s\n", lane.ID, mermaid(lane.Name))
		}
	}
	l.mermaid(&b, "S", false)
	_, err := io.WriteString(w, b.String())
	return err
}

// answers declares who answers questions. An actor is drawn as a person.
func answers(foreign bool) string {
	return "  " + wording.Either(foreign, "participant", "actor") + " P as " + answerer(foreign) + "\n"
}

// noteworthy is the shortest time of a bar that gets a note.
const noteworthy = time.Second

// writeMermaid writes the statements of the ladder. server is the id of its server's lane.
// titled adds the title, for a diagram with several ladders.
func (l *Ladder) mermaid(b *strings.Builder, server string, titled bool) {
	lanes := map[conversation.Party]string{}
	for _, lane := range l.Lanes {
		lanes[lane.Party] = lane.ID
	}
	lanes[conversation.ServerParty] = server
	if titled {
		fmt.Fprintf(b, "  Note over %s,P: %s\n", server, mermaid(l.Title+" · "+l.Text))
	}
	notes, bars := l.Notes, l.Bars
	until := func(y int) {
		for len(notes) > 0 && notes[0].Y < y {
			fmt.Fprintf(b, "  Note over %s,P: %s\n", server, mermaid(notes[0].Text))
			notes = notes[1:]
		}
		for len(bars) > 0 && (bars[0].Open || bars[0].To <= y) {
			if bar := bars[0]; !bar.Open && bar.Took >= noteworthy {
				fmt.Fprintf(b, "  Note over %s: %s\n", lanes[bar.Party], mermaid(wording.Duration(bar.Took)))
			}
			bars = bars[1:]
		}
	}
	ticks, round := l.Ticks, 0
	for _, a := range l.Arrows {
		until(a.Y)
		for len(ticks) > 0 && ticks[0].Y <= a.Y {
			if r := ticks[0].Round; r > round {
				round = r
				fmt.Fprintf(b, "  Note over %s,C: round %d\n", server, r)
			}
			ticks = ticks[1:]
		}
		arrow := "->>"
		switch a.Kind {
		case ArrowResult, ArrowAnswer, ArrowReply:
			arrow = "-->>"
		case ArrowError:
			arrow = "--x"
		case ArrowNote:
			arrow = "-)"
		}
		words := a.Full
		if a.Numbered() {
			words = fmt.Sprintf("%d %s", a.Seq, words)
		}
		words = mermaid(Line(words, mermaidColumns))
		if a.Stays() {
			fmt.Fprintf(b, "  Note over %s: %s\n", lanes[a.From], words)
			continue
		}
		fmt.Fprintf(b, "  %s%s%s: %s\n", lanes[a.From], arrow, lanes[a.To], words)
	}
	until(1 << 30)
}

// mermaidColumns is the greatest length of a label. Mermaid does not wrap lines itself.
const mermaidColumns = 70

// mermaid escapes text, so that Mermaid cannot take it for syntax, markup or
// mathematics: such characters become character codes. Line breaks become spaces.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(Visible(s)), " ") {
		if r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" .,:_-/()=!?'+", r)) {
			// The number is decimal; Mermaid's entities have no ampersand.
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// mermaidMost bounds the text of a diagram in bytes: by default, Mermaid refuses more
// than 50,000 characters.
const mermaidMost = 45_000

func writeMermaid(w io.Writer, x *export) error {
	if err := errors.Join(x.follow(), x.readSignIns()); err != nil {
		return err
	}
	var body strings.Builder
	lanes := make(map[string]string)
	var names []string
	left, signsIn, foreign := 0, false, false
	add := func(l *Ladder, server string) {
		lane := lanes[server]
		if lane == "" {
			lane = fmt.Sprintf("S%d", len(lanes)+1)
		}
		var one strings.Builder
		l.mermaid(&one, lane, true)
		if left > 0 || body.Len()+one.Len() > mermaidMost {
			left++
			return
		}
		if lanes[server] == "" {
			lanes[server] = lane
			names = append(names, l.Lanes[len(l.Lanes)-1].Name)
		}
		foreign = foreign || l.Foreign
		signsIn = signsIn || l.Lanes[0].Party == browserLane
		body.WriteString(one.String())
	}
	for i, place := range x.Places {
		if left > 0 {
			left += len(x.Places) - i
			break
		}
		call, err := x.call(place)
		if err != nil {
			return err
		}
		if len(call.Frames) == 0 {
			continue
		}
		for _, s := range x.SignInsBefore(call.Frames[0].Seq) {
			add(s.Ladder, s.Server)
		}
		add(Draw(call, 0), call.ServerName)
	}
	for _, s := range x.SignInsLeft() {
		add(s.Ladder, s.Server)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "sequenceDiagram\n  %%%% Written by the %s %s\n", wording.Product, x.Version)
	head.WriteString(answers(foreign))
	if signsIn {
		head.WriteString("  participant B as browser\n  participant A as authorization server\n")
	}
	head.WriteString("  participant C as client\n")
	for i, name := range names {
		fmt.Fprintf(&head, "  participant S%d as %s\n", i+1, mermaid(name))
	}
	if left > 0 {
		fmt.Fprintf(&body, "  Note over C,P: %s more left out, as Mermaid draws no larger diagrams\n", wording.Plural(left, "exchange"))
	}
	if body.Len() == 0 {
		body.WriteString("  Note over C,P: no exchanges\n")
	}
	_, err := io.WriteString(w, head.String()+body.String())
	return err
}
