package fit

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Drawing is the way in which a client shows a question.
type Drawing string

// The ways in which clients show questions.
const (
	AsForm     Drawing = "form"
	AsURL      Drawing = "url"
	AsApproval Drawing = "approval" // Yes or No, without any field
	AsNothing  Drawing = "nothing"
)

// Seen is a question as a client draws it.
type Seen struct {
	Client  *Profile
	As      Drawing
	Message string    // how the message is drawn: text or markdown; "" if nobody knows
	Fields  []Control // in the order of the schema; only of a form
	Decline string    // how a person declines, after "with"; "none" if there is no way, "" if nobody knows
	Cancel  string
	Limit   string // how long the question waits; "" for no limit that is known
	Rounds  string // yes or no: questions in results are shown; "" if nobody knows
	Tasks   string // yes or no: questions of tasks are shown; "" if nobody knows
	// Accept is the result that is sent if a person fills in only what the client demands, and accepts;
	// nil if that is not known. A client that shows nothing sends it without a person.
	Accept  json.RawMessage
	Reasons []Reason // the gravest first; none if all is fine
	Says    string   // what else is known of the client, in sentences
}

// Control is a field as a client draws it.
type Control struct {
	Field     *elicit.Field
	Kind      string   // one of Kinds
	Control   string   // what it is drawn as; "" if nobody knows
	Label     string   // the text beside it
	Choices   []string // as they are drawn
	Drops     []string // keywords of the field that are not drawn
	Unchecked []string // keywords of the field that the client lets a person break
	// Sends is the value of this field in the content of Seen.Accept; nil if the content does not have the field.
	Sends   json.RawMessage
	Entered bool // Sends is a value that a person has to enter: an example
	Known   bool // Sends is known
}

// KindOf returns the kind of a field, as clients tell them apart.
func KindOf(f *elicit.Field) string {
	switch k := f.Keywords(); {
	case f.Kind == elicit.JSON:
		return "other"
	case f.Kind == elicit.File: // no profile knows x-mcp-file: without it, the field is a text
		return elicit.Text.String()
	case f.Kind == elicit.MultiChoice && rawjson.Member(k["items"], "enum") == nil:
		return "choices-titled"
	case f.Kind == elicit.MultiChoice:
		return "choices"
	case f.Kind == elicit.SingleChoice && (k["oneOf"] != nil || k["anyOf"] != nil):
		return "choice-titled"
	case f.Kind == elicit.SingleChoice && k["enumNames"] != nil:
		return "choice-names"
	}
	return f.Kind.String()
}

// Ours returns what the inspector's own first Accept sends, for comparison. What has to be filled in has an
// example, as in [Seen.Accept].
func Ours(q *elicit.Request) json.RawMessage {
	if q.Mode != elicit.ModeForm {
		return result("accept", nil)
	}
	content, _ := elicit.Content(q.Fields, elicit.Defaults(q.Fields))
	values := maps.Collect(rawjson.Members(content))
	var filled rawjson.ObjectWriter
	for i := range q.Fields {
		f := &q.Fields[i]
		value := values[f.Name]
		if value == nil && f.Required {
			value = example(f)
		}
		filled.Add(f.Name, value) // nil adds nothing
	}
	return result("accept", filled.JSON())
}

// example returns a value that a person could enter for a field that has to be filled in.
func example(f *elicit.Field) json.RawMessage {
	must := *f
	must.Required = true
	return rawjson.Member(elicit.Valid([]elicit.Field{must}), f.Name)
}

// answers are the results that a client can send without a person. An error is none.
var answers = map[string]json.RawMessage{"decline": result("decline", nil), "cancel": result("cancel", nil)}

func result(action string, content json.RawMessage) json.RawMessage {
	var out rawjson.ObjectWriter
	out.Add("action", rawjson.Quoted(action))
	if content != nil {
		out.Add("content", content)
	}
	return out.JSON()
}

// See returns a question as a client draws it, with what is wrong with that, and how to ask so that it works.
func See(q *elicit.Request, p *Profile) *Seen {
	s := see(q, p)
	s.advise(q, advisedMost)
	return s
}

// Glance is See with remedies tried for the gravest reason alone.
func Glance(q *elicit.Request, p *Profile) *Seen {
	s := see(q, p)
	s.advise(q, 1)
	return s
}

// see is See without advice.
func see(q *elicit.Request, p *Profile) *Seen {
	of := string(q.Mode)
	client, k := p.about("client"), p.about(of)
	s := &Seen{
		Client: p, As: AsNothing, Message: k.Message, Limit: cmp.Or(k.Limit, client.Limit),
		Decline: cmp.Or(k.Decline, client.Decline), Cancel: cmp.Or(k.Cancel, client.Cancel), Says: wording.Join(" ", client.Says, k.Says),
		Rounds: client.Rounds, Tasks: client.Tasks,
	}
	switch {
	case cmp.Or(k.Shows, client.Shows) == "no":
		how := cmp.Or(k.Answers, client.Answers)
		s.Accept = answers[how]
		s.find(notShown, "", "It shows nothing"+wording.After(", and answers with ", how)+".", append(k.from["Shows"], client.from["Shows"]...)...)
	case q.Mode == elicit.ModeForm:
		s.As = AsForm
		s.seeForm(q, k)
	case q.Mode == elicit.ModeURL && client.Declares != nil && rawjson.Member(client.Declares, "url") == nil:
		s.find(urlUndeclared, "", "It does not declare URLs, so that a server must not ask for one.", client.from["Declares"]...)
	case len(k.from) == 0:
		s.find(notKnown, "", "Nobody knows what it does with a question of the mode "+of+".")
	default:
		s.As, s.Accept = AsURL, result("accept", nil)
		if s.Decline == "none" {
			s.find(noDecline, "", "A person cannot decline it, only cancel"+wording.After(" with ", s.Cancel)+".", append(k.from["Decline"], client.from["Decline"]...)...)
		}
	}
	slices.SortStableFunc(s.Reasons, func(a, b Reason) int { return cmp.Compare(b.Verdict, a.Verdict) })
	return s
}

func (s *Seen) seeForm(q *elicit.Request, form known) {
	if cause, field, from := s.falls(q, form); cause != "" {
		s.fallBack(q, form, cause, field, from)
		return
	}
	certain := true
	for i := range q.Fields {
		c := s.control(&q.Fields[i], len(q.Fields) == 1, form)
		s.Fields = append(s.Fields, c)
		certain = certain && c.Known
	}
	switch content := contentOf(s.Fields, form.Order); {
	case certain && form.Empty == "left out" && string(content) == "{}":
		s.Accept = result("accept", nil)
	case certain:
		s.Accept = result("accept", content)
	}
	s.judgeForm(q, form)
}

// contentOf writes the content of an answer in an order of its members.
func contentOf(fields []Control, order string) json.RawMessage {
	sorted := slices.SortedStableFunc(slices.Values(fields), func(a, b Control) int {
		switch order {
		case "sorted":
			return cmp.Compare(a.Field.Name, b.Field.Name)
		case "javascript": // names that are an array index come first, in the order of numbers
			return cmp.Compare(indexOf(a.Field.Name), indexOf(b.Field.Name))
		case "javascript, defaults first": // what a person enters comes last
			return cmp.Or(cmp.Compare(indexOf(a.Field.Name), indexOf(b.Field.Name)), cmp.Compare(wording.Either(a.Entered, "1", ""), wording.Either(b.Entered, "1", "")))
		}
		return 0
	})
	var content rawjson.ObjectWriter
	for _, c := range sorted {
		content.Add(c.Field.Name, c.Sends) // nil adds nothing
	}
	return content.JSON()
}

// indexOf returns the array index that a name is, or a number beyond all.
func indexOf(name string) uint64 {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil && strconv.FormatUint(n, 10) == name {
		return n
	}
	return 1 << 32
}

// falls says why the whole form falls back, in words, and which field is the cause; "" if it does not.
func (s *Seen) falls(q *elicit.Request, form known) (cause, field string, from []string) {
	if len(q.Fields) == 0 && slices.Contains(form.Falls, "empty") {
		return "it has no fields", "", form.from["Falls"]
	}
	for i := range q.Fields {
		f := &q.Fields[i]
		kind := KindOf(f)
		if slices.Contains(form.Falls, kind) {
			return "it has " + kindWords[kind], f.Name, form.from["Falls"]
		}
		k := s.Client.about(kind, conditionsOf(f, len(q.Fields) == 1)...)
		for name := range rawjson.Members(f.Schema) {
			if k.Only != nil && !slices.Contains(k.Only, name) {
				return "a field has " + name, f.Name, k.from["Only"]
			}
		}
	}
	return "", "", nil
}

func conditionsOf(f *elicit.Field, alone bool) []string {
	return []string{wording.Either(f.Required, "required", "optional"), wording.Either(alone, "alone", "together")}
}

// control returns a field as the client draws it, and finds what is wrong with that.
func (s *Seen) control(f *elicit.Field, alone bool, form known) Control {
	c := Control{Field: f, Kind: KindOf(f)}
	k := s.Client.about(c.Kind, conditionsOf(f, alone)...)
	c.Control, c.Label = k.Control, f.Name
	keywords := f.Keywords()
	switch given := keywords.Text(cmp.Or(k.Label, "name")); {
	case k.Label == "":
		c.Label = f.Label
	case given != "" && k.Label != "name":
		c.Label = given
	}
	for _, choice := range f.Choices {
		drawn := choice.Title
		switch {
		case k.Choices == "value":
			drawn = choice.Value
		case k.Choices == "both" && choice.Title != choice.Value:
			drawn = choice.Value + " - " + choice.Title
		}
		if k.Choices != "none" {
			c.Choices = append(c.Choices, drawn)
		}
	}
	drops := k.Drops
	if title := keywords.Text("title"); title != "" && title != f.Name && k.Label != "" && k.Label != "title" {
		drops = append([]string{"title"}, drops...)
	}
	for _, name := range drops {
		if keywords[name] != nil {
			c.Drops = append(c.Drops, name)
		}
	}
	if k.Control != "" {
		for _, name := range limits {
			if keywords[name] != nil && !slices.Contains(k.Checks, name) {
				c.Unchecked = append(c.Unchecked, name)
			}
		}
	}
	c.send(f, k, form)
	s.judgeField(&c, k, form, alone)
	return c
}

// limits are the keywords that hold a value.
var limits = []string{"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}

// send sets what the first Accept sends for a field.
func (c *Control) send(f *elicit.Field, k, form known) {
	exact := func(value json.RawMessage) json.RawMessage {
		if form.Numbers == "float64" {
			return floats(value)
		}
		return rawjson.AppendCompact(nil, value)
	}
	if f.Default != nil && (k.Default == "sent" || k.Default == "truthy" && truthy(f.Default)) {
		c.Sends, c.Known = exact(f.Default), true
		return
	}
	if f.Default != nil && k.Default == "" {
		return
	}
	c.Known, c.Sends = k.Untouched != "", untouched(f, k.Untouched)
	if k.Untouched == "fill" || k.Held == "yes" && c.Sends != nil && breaks(f, c.Sends, k.Checks) {
		c.Sends, c.Entered = exact(example(f)), true
		if k.Enters == "string" && rawjson.KindOf(c.Sends) != rawjson.String {
			c.Sends = rawjson.Quoted(string(c.Sends))
		}
	}
}

// untouched returns what an untouched field becomes, by a word of the vocabulary; nil if it is left out.
func untouched(f *elicit.Field, word string) json.RawMessage {
	switch word {
	case "", "omit", "fill":
		return nil
	case "first":
		if len(f.Choices) > 0 {
			return rawjson.Quoted(f.Choices[0].Value)
		}
		return json.RawMessage("true")
	case "minimum":
		return json.RawMessage(cmp.Or(f.Minimum, "0"))
	}
	return json.RawMessage(cmp.Or(map[string]string{"zero": "0", "empty": `""`, "empty list": "[]"}[word], word))
}

// breaks reports whether a value breaks one of these keywords of a field.
func breaks(f *elicit.Field, value json.RawMessage, keywords []string) bool {
	problems, err := elicit.Check(f.Schema, value)
	return err == nil && slices.ContainsFunc(problems, func(p elicit.Problem) bool { return slices.Contains(keywords, p.Keyword) })
}

// floats returns a value as a program writes it that keeps numbers as 64-bit floats.
func floats(value json.RawMessage) json.RawMessage {
	if text, exact := rawjson.Unquote(value); exact {
		return rawjson.Quoted(text)
	}
	var decoded any
	if json.Unmarshal(value, &decoded) == nil {
		if text, err := rawjson.Encode(decoded); err == nil {
			return text
		}
	}
	return rawjson.AppendCompact(nil, value)
}

// truthy reports whether JavaScript takes a value for true.
func truthy(value json.RawMessage) bool {
	return !slices.Contains([]string{"", "false", "null", `""`, "0", "-0"}, string(floats(value)))
}
