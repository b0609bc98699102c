package views

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views/markup"
)

// SeenIn is a question as the clients of others show it.
type SeenIn struct {
	ID      string      // of the element with a client's drawing
	Source  string      // address of a drawing, without the client's name; "" where the page posts a draft
	Trouble string      // why no client can show it; "" if one can
	Seen    []*fit.Seen // by all clients
	Drawn   *Drawing    // by the chosen client; nil if none is
}

// Drawing is a question as one client shows it.
type Drawing struct {
	*fit.Seen
	Name    string // of the client
	Request *elicit.Request
	Now     time.Time
}

// ClientName names a client for people, with its surface where several profiles have its name.
func ClientName(p *fit.Profile) string {
	if slices.ContainsFunc(fit.All(), func(b *fit.Profile) bool { return b.Name == p.Name && b.Client != p.Client }) {
		return wording.Shorten(p.Name+", "+p.Surface, 48)
	}
	return p.Name
}

// verdictSigns are the shapes of verdicts in a mark.
var verdictSigns = map[fit.Verdict]string{fit.Fine: "✓", fit.Unknown: "?", fit.Degraded: "~", fit.Wrong: "≠", fit.NotShown: "∅", fit.Unanswerable: "✕", fit.Guard: "!"}

// seenAlike are the clients with one verdict.
type seenAlike struct {
	fit.Verdict
	seen []*fit.Seen
}

// alike groups the clients by verdict, the gravest first.
func (s SeenIn) alike() (groups []seenAlike) {
	for v := fit.Guard; v >= fit.Fine; v-- {
		g := seenAlike{Verdict: v}
		for _, one := range s.Seen {
			if one.Verdict() == v {
				g.seen = append(g.seen, one)
			}
		}
		if g.seen != nil {
			groups = append(groups, g)
		}
	}
	return groups
}

// advice lists what is wrong for these clients, and how to ask so that it works: for each client the gravest
// reason, and each sentence once.
func (g seenAlike) advice() (list []string) {
	for _, one := range g.seen {
		if len(one.Reasons) > 0 {
			if text := one.Reasons[0].Text + " " + one.Reasons[0].Advice; !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// chosen reports whether a client's drawing is on show.
func (s SeenIn) chosen(one *fit.Seen) bool { return s.Drawn != nil && s.Drawn.Client == one.Client }

// facts are what a profile says of a question apart from its fields, in pairs of a term and its description.
func (d Drawing) facts() (list [][2]string) {
	if d.As != fit.AsNothing {
		for _, way := range [][2]string{{"Decline", d.Decline}, {"Cancel", d.Cancel}} {
			list = append(list, [2]string{way[0], wording.Either(way[1] == "none", "no way", cmp.Or(wording.After("with ", way[1]), "not known"))})
		}
		message := map[string]string{"text": "drawn as text", "markdown": "drawn as Markdown"}
		list = append(list, [2]string{"Message", cmp.Or(message[d.Message], "not known")}, [2]string{"Time limit", cmp.Or(d.Limit, "none known")})
	}
	for _, one := range [][2]string{{"In results", d.Rounds}, {"In tasks", d.Tasks}, {"More", d.Says}} {
		if one[1] != "" {
			list = append(list, one)
		}
	}
	return list
}

// enters reports whether a person has to fill something in.
func (d Drawing) enters() bool {
	return slices.ContainsFunc(d.Fields, func(c fit.Control) bool { return c.Entered })
}

// presses name the ways to answer that are drawn.
func (d Drawing) presses() []string {
	names := []string{wording.Either(d.As == fit.AsApproval, "Yes", "Accept")}
	for _, way := range [][2]string{{"Decline", d.Decline}, {"Cancel", d.Cancel}} {
		if way[1] != "" && way[1] != "none" {
			names = append(names, way[0])
		}
	}
	return names
}

// hidden names what of the question is not drawn at all.
func (d Drawing) hidden() (names []string) {
	if d.As == fit.AsNothing {
		names = append(names, "the message")
	}
	if d.As == fit.AsNothing || d.As == fit.AsApproval {
		for i := range d.Request.Fields[:min(len(d.Request.Fields), hiddenMost)] {
			names = append(names, wording.Quoted(markup.Brief(d.Request.Fields[i].Name)))
		}
		if more := len(d.Request.Fields) - hiddenMost; more > 0 {
			names = append(names, wording.Count(more, "more field", "more fields"))
		}
	}
	return names
}

// hiddenMost bounds the names of fields in a list, and choicesDrawn the choices of a field.
const hiddenMost, choicesDrawn = 20, 12

// sources lists the evidence of the profile, and hows says in a word each how it is known.
func (d Drawing) sources() (list, hows []string) {
	for _, one := range d.Client.Sources {
		list, hows = append(list, one.String()), append(hows, string(one.How))
	}
	slices.Sort(list)
	slices.Sort(hows)
	return list, slices.Compact(hows)
}

// evidence says how a reason is known.
func (d Drawing) evidence(r fit.Reason) string {
	var list []string
	for _, key := range r.From {
		if s, ok := d.Client.Sources[key]; ok && !slices.Contains(list, s.String()) {
			list = append(list, s.String())
		}
	}
	return wording.Join("; ", list...)
}

// differences lists what a client's first Accept sends otherwise than ours.
func (d Drawing) differences() []rawjson.Difference {
	list, _, err := rawjson.Diff(fit.Ours(d.Request), d.Accept, 100)
	if err != nil || d.Accept == nil {
		return nil
	}
	return list
}

// picture is a field as a client draws it.
type picture fit.Control

// pictures are those of all fields.
func (d Drawing) pictures() []picture {
	list := make([]picture, len(d.Fields))
	for i, c := range d.Fields {
		list[i] = picture(c)
	}
	return list
}

// without says why a control has no picture.
func (c picture) without() string {
	if c.Control == "program" {
		return "A program answers: no control is drawn."
	}
	return "Nobody knows what it is drawn as."
}

// drawnChoice is a choice in the picture of a control.
type drawnChoice struct {
	title  string
	chosen bool
}

// options returns the choices that the picture of a control shows, and how many more there are.
func (c picture) options() (list []drawnChoice, more int) {
	titles := c.Choices
	if c.Field.Kind == elicit.Boolean {
		titles = []string{"true", "false"}
	}
	for i, title := range titles[:min(len(titles), choicesDrawn)] {
		value := json.RawMessage(title)
		if i < len(c.Field.Choices) {
			value = rawjson.Quoted(c.Field.Choices[i].Value)
		}
		chosen := rawjson.Same(c.Sends, value)
		if rawjson.KindOf(c.Sends) == rawjson.Array {
			for _, one := range rawjson.Elements(c.Sends) {
				chosen = chosen || rawjson.Same(one, value)
			}
		}
		list = append(list, drawnChoice{title, chosen && !c.Entered})
	}
	return list, len(titles) - len(list)
}

// filledIn is what stands in a control before anybody touches it.
func (c picture) filledIn() string {
	if c.Entered || c.Sends == nil {
		return ""
	}
	return markup.Brief(cmp.Or(rawjson.Text(c.Sends), string(c.Sends)))
}

// missing says what of a field a client does not draw or check.
func (c picture) missing() (notes []string) {
	for _, name := range c.Drops {
		text := c.Field.Keywords().Text(name)
		notes = append(notes, "not shown: "+name+wording.Either(text == "", "", " "+wording.Quoted(text)))
	}
	if len(c.Unchecked) > 0 && c.Control != "program" {
		notes = append(notes, "not checked: "+wording.Series(c.Unchecked))
	}
	if len(c.Field.Choices) > 0 && len(c.Choices) == 0 {
		notes = append(notes, "not shown: its "+strconv.Itoa(len(c.Field.Choices))+" choices")
	}
	if c.Entered {
		notes = append(notes, "has to be filled in")
	}
	if !c.Known {
		notes = append(notes, "nobody knows what it sends untouched")
	}
	return notes
}

// describes reports whether the description stands beside the label.
func (c picture) describes() bool {
	return c.Field.Description != "" && c.Label != c.Field.Description && c.Control != "" && c.Control != "program" && !slices.Contains(c.Drops, "description")
}
