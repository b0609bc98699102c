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
	ID      string      // begins the ids of its elements
	Source  string      // address of a drawing, without the client's name; "" where the page posts a draft
	Trouble string      // why no client is asked; "" if they are
	Seen    []*fit.Seen // by all clients
	Drawn   *Drawing    // by the chosen client; nil if none is
}

// Drawing is a question as one client shows it.
type Drawing struct {
	*fit.Seen
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

// verdictSigns are the shapes of verdicts in a mark, and gravest their order.
var (
	verdictSigns = map[fit.Verdict]string{fit.Fine: "✓", fit.Unknown: "?", fit.Degraded: "~", fit.Wrong: "≠", fit.NotShown: "∅", fit.Unanswerable: "✕", fit.Guard: "!"}
	gravest      = []fit.Verdict{fit.Guard, fit.Unanswerable, fit.NotShown, fit.Wrong, fit.Degraded, fit.Unknown, fit.Fine}
)

// with returns the clients with a verdict, and what is wrong for them and how to ask instead: the gravest reason of
// each, each sentence once.
func (s SeenIn) with(v fit.Verdict) (seen []*fit.Seen, advice []string) {
	for _, one := range s.Seen {
		if one.Verdict() != v {
			continue
		}
		seen = append(seen, one)
		for _, r := range firstOf(one.Reasons, 1) {
			if text := r.Text + " " + r.Advice; !slices.Contains(advice, text) {
				advice = append(advice, text)
			}
		}
	}
	return seen, advice
}

// facts are what a profile says of a question apart from its fields, in pairs of a term and its description.
func (d Drawing) facts() (list [][2]string) {
	how := func(way string) string {
		return wording.Either(way == "none", "no way", cmp.Or(wording.After("with ", way), "not known"))
	}
	if d.As != fit.AsNothing {
		message := map[string]string{"text": "drawn as text", "markdown": "drawn as Markdown"}[d.Message]
		list = [][2]string{{"Decline", how(d.Decline)}, {"Cancel", how(d.Cancel)}, {"Message", cmp.Or(message, "not known")}, {"Time limit", cmp.Or(d.Limit, "none known")}}
	}
	list = append(list, [2]string{"In results", d.Rounds}, [2]string{"In tasks", d.Tasks}, [2]string{"More", d.Says})
	return slices.DeleteFunc(list, func(one [2]string) bool { return one[1] == "" })
}

// hiddenMost bounds the names of fields in a list, and choicesDrawn the choices of a field.
const hiddenMost, choicesDrawn = 20, 12

// hidden names what of the question is not drawn at all.
func (d Drawing) hidden() (names []string) {
	if d.As == fit.AsNothing {
		names = append(names, "the message")
	}
	if d.As == fit.AsNothing || d.As == fit.AsApproval {
		for _, f := range firstOf(d.Request.Fields, hiddenMost) {
			names = append(names, wording.Quoted(f.Name))
		}
		if more := len(d.Request.Fields) - hiddenMost; more > 0 {
			names = append(names, wording.Count(more, "more field", "more fields"))
		}
	}
	return names
}

// sources lists the evidence of the profile with these keys, and in a word each how it is known.
func (d Drawing) sources(keys []string) (list, hows []string) {
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		list, hows = append(list, d.Client.Sources[key].String()), append(hows, string(d.Client.Sources[key].How))
	}
	slices.Sort(hows)
	return list, slices.Compact(hows)
}

// picture is a field as a client draws it.
type picture fit.Control

// choices returns the choices that are drawn; what is not drawn of them is counted.
func (c picture) choices() (titles []string, more int) {
	titles = c.Choices
	if c.Field.Kind == elicit.Boolean {
		titles = []string{"true", "false"}
	}
	return firstOf(titles, choicesDrawn), len(titles) - choicesDrawn
}

// chosen reports whether a choice is chosen before anybody touches it.
func (c picture) chosen(i int, title string) bool {
	value := json.RawMessage(title) // of a boolean
	if i < len(c.Field.Choices) {
		value = rawjson.Quoted(c.Field.Choices[i].Value)
	}
	chosen := rawjson.Same(c.Sends, value)
	for _, one := range rawjson.Elements(c.Sends) {
		chosen = chosen || rawjson.Same(one, value)
	}
	return chosen && !c.Entered
}

// filledIn returns the value of a control before anybody touches it.
func (c picture) filledIn() string {
	return wording.Either(c.Entered, "", markup.Brief(cmp.Or(rawjson.Text(c.Sends), string(c.Sends))))
}

// draws reports whether a keyword of the field is drawn beside its control.
func (c picture) draws(keyword string) bool {
	return c.Control != "" && c.Control != "program" && !slices.Contains(c.Drops, keyword)
}

// notes say what of the field the client does not draw or check, and what is left to a person.
func (c picture) notes() (notes []string) {
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
