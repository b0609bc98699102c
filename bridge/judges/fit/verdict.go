package fit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Verdict says how well a question fits a client. A greater one is graver.
type Verdict int

// The verdicts.
const (
	Fine         Verdict = iota
	Unknown              // nobody knows what the client sends
	Degraded             // something of the question is not drawn, or not checked
	Wrong                // what nobody touched is sent as something that the server did not say
	NotShown             // no person sees it
	Unanswerable         // no answer can be given that the server takes
	Guard                // a question for consent is accepted although nobody agreed
)

var verdicts = []struct{ name, words string }{
	{"fine", "fine"}, {"unknown", "not known"}, {"degraded", "degraded"}, {"wrong", "wrong by default"},
	{"not-shown", "not shown"}, {"unanswerable", "unanswerable"}, {"guard", "guard passes unseen"},
}

// Words names the verdict for people: "wrong by default".
func (v Verdict) Words() string { return verdicts[v].words }

// String names the verdict in options and reports: "wrong".
func (v Verdict) String() string { return verdicts[v].name }

// MarshalText writes the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a name.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.IndexFunc(verdicts, func(one struct{ name, words string }) bool { return one.name == string(text) })
	if i < 0 {
		return fmt.Errorf("there is no verdict %q", text)
	}
	*v = Verdict(i)
	return nil
}

// Failing lists the verdicts that a check can fail on, the gravest first.
func Failing() (names []string) {
	for v := Guard; v >= Degraded; v-- {
		names = append(names, v.String())
	}
	return names
}

// Rule is a reason for which a question does not fit.
type Rule struct {
	ID      string
	Verdict Verdict // that a finding has, unless it is less grave there
	Says    string  // what it means, for people who know no question yet
	// advice says how to ask so that it works, unless one of the remedies helps. %s is the name of the field.
	advice   string
	remedies []remedy
}

// remedy is another way to ask for a field.
type remedy struct {
	says string          // %s is the name of the field
	drop []string        // keywords to leave out
	add  json.RawMessage // keywords to give, as an object
	must bool            // make the field required
}

var (
	falseFirst = remedy{"Give %s the default false.", []string{"default"}, json.RawMessage(`{"default":false}`), false}
	refusal    = remedy{"Ask for %s as a required choice whose first value refuses, such as \"no\".", []string{"type", "default", "enum", "oneOf", "enumNames"}, json.RawMessage(`{"type":"string","enum":["no","yes"]}`), true}
	typed      = remedy{"Ask for %s as a required text that has to be typed, such as the name of what will change.", []string{"type", "default", "enum", "oneOf", "enumNames"}, json.RawMessage(`{"type":"string"}`), true}
	asText     = remedy{"Ask for %s as a text, and have the server read the number.", append([]string{"type", "default"}, limits...), json.RawMessage(`{"type":"string"}`), false}
	plain      = remedy{"Leave the limits out of %s, and check the value in the server.", limits, nil, false}
	noDefault  = remedy{"Say the default of %s in its description, leave out the keyword, and have the server fill it in where the field is missing.", []string{"default"}, nil, false}
	required   = remedy{"Make %s required, so that a person has to enter it.", nil, nil, true}
	mustType   = remedy{"Make %s required and without a default, so that a person has to enter it.", []string{"default"}, nil, true}
)

// The rules.
var (
	notShown       = &Rule{"not-shown", NotShown, "The client shows no such question to a person.", "Offer another way as well, such as an argument of the tool, and take a refusal for nobody having been asked.", nil}
	urlUndeclared  = &Rule{"url-undeclared", NotShown, "The client does not declare URLs.", "Give the address in the result of the tool where the client does not declare url.", nil}
	noRounds       = &Rule{"no-rounds", NotShown, "The client takes no questions in results.", "Ask by a request of 2025-11-25 where the client does not speak 2026-07-28.", nil}
	noTasks        = &Rule{"no-tasks", NotShown, "The client takes no questions of tasks.", "Ask in a call that is no task.", nil}
	noDecline      = &Rule{"no-decline", Degraded, "A person cannot decline.", "Take cancel for a refusal, and have a value that refuses.", nil}
	notKnown       = &Rule{"unknown", Unknown, "Nobody knows what the client sends.", "Measure it: have the client call 'inspector probe', and give the report to 'inspector fit --client'.", nil}
	formApproval   = &Rule{"form-becomes-approval", Unanswerable, "The whole form becomes Yes or No.", "Ask for %s in another way, or in a question of its own.", []remedy{plain, asText}}
	formRefused    = &Rule{"form-refused", Unanswerable, "The client answers the whole form by itself.", "Ask for %s in another way: as a text, a number, a boolean, or a choice with values of its own.", []remedy{plain, asText}}
	guardUntouched = &Rule{"guard-untouched", Guard, "Consent is sent although nobody chose it.", "Ask for %s as a text that has to be typed.", []remedy{falseFirst, refusal, typed}}
	guardEmpty     = &Rule{"guard-empty", Guard, "A question for consent is accepted with nothing.", "Do nothing unless the content has the consent itself.", []remedy{required, refusal, typed}}
	guardKey       = &Rule{"guard-key", Guard, "One key press accepts a form without fields.", "Ask for a text that has to be typed, such as the name of what will change.", nil}
	defaultLost    = &Rule{"default-lost", Wrong, "A default is not filled in.", "Have the server fill in the default of %s where the field is missing.", []remedy{noDefault, mustType}}
	defaultChanged = &Rule{"default-changed", Wrong, "Another value is sent for a default that nobody touched.", "Do not take %s for what a person chose.", []remedy{noDefault, mustType, asText}}
	untouchedSent  = &Rule{"untouched-sent", Wrong, "A value is sent for a field that nobody touched.", "Do not take %s for what a person chose.", []remedy{required}}
	chosenBefore   = &Rule{"chosen-beforehand", Degraded, "A value is chosen before a person chooses.", "Put the value of %s first that does the least.", nil}
	wrongType      = &Rule{"wrong-type", Unanswerable, "What is entered is sent as a text.", "Ask for %s as one choice, or with a yes-or-no field for each value.", nil}
	dropped        = &Rule{"dropped", Degraded, "A keyword of a field is not drawn.", "Give %s a name that people understand, or say in the message what it means.", nil}
	untitled       = &Rule{"choices-untitled", Degraded, "Choices are drawn by their values.", "Use values for %s that people understand.", nil}
	choicesHidden  = &Rule{"choices-hidden", Degraded, "Choices are not drawn, and any text passes.", "List the choices of %s in the message, and check the value in the server.", nil}
	unchecked      = &Rule{"unchecked", Degraded, "A limit is not checked before it is sent.", "Check %s in the server, and ask again where it does not hold.", nil}
	fileUnknown    = &Rule{"file-draft", Unknown, "No profile says whether the client knows files (x-mcp-file, a draft).", "Make %s optional, and take the file in another way as well, such as at a URL.", nil}
	missingDenies  = &Rule{"missing-declines", Degraded, "A required field that is left empty declines the whole form.", "Take a decline for a mistake, and ask again, or give %s a default.", nil}
)

// Reason is one way in which a question does not fit.
type Reason struct {
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`
	Field   string  `json:"field,omitempty"` // name of the property
	Text    string  `json:"text"`            // a sentence
	Advice  string  `json:"advice"`          // how to ask so that it works
	// Instead is a schema with the field as it is advised, alone; nil where the advice is no schema.
	Instead json.RawMessage `json:"instead,omitempty"`
	From    []string        `json:"from,omitempty"` // keys of the profile's sources
	How     How             `json:"how,omitempty"`  // the least sure of them
	rule    *Rule
}

func (s *Seen) find(r *Rule, field, text string, from ...string) *Reason {
	how := How("")
	for _, key := range from {
		if one := s.Client.Sources[key].How; one == Reported || how == "" || one == Read && how == Measured {
			how = one
		}
	}
	if i := slices.IndexFunc(s.Reasons, func(b Reason) bool { return b.Rule == r.ID && b.Text == text }); i >= 0 {
		return &s.Reasons[i]
	}
	s.Reasons = append(s.Reasons, Reason{Verdict: r.Verdict, Rule: r.ID, Field: field, Text: text, From: from, How: how, rule: r})
	return &s.Reasons[len(s.Reasons)-1]
}

// Verdict returns the gravest verdict.
func (s *Seen) Verdict() (v Verdict) {
	for _, r := range s.Reasons {
		v = max(v, r.Verdict)
	}
	return v
}

// kindWords names kinds of fields: "it has a number".
var kindWords = map[string]string{
	"text": "a text", "number": "a number", "integer": "a whole number", "boolean": "a boolean", "choice": "a choice", "choice-names": "a choice with names",
	"choice-titled": "a choice with titles", "choices": "several choices at once", "choices-titled": "several choices with titles", "other": "a field outside of the specification’s kinds",
}

func brief(value json.RawMessage) string { return wording.Shorten(string(value), 60) }

func (s *Seen) fallBack(q *elicit.Request, form known, cause, field string, from []string) {
	from = append(slices.Clone(from), form.from["Becomes"]...)
	if form.Becomes != "approval" {
		s.As, s.Accept = AsNothing, answers[form.Becomes]
		s.find(formRefused, field, "It answers the whole form with "+form.Becomes+", because "+cause+".", from...)
		return
	}
	s.As = AsApproval
	s.Accept = result("accept", json.RawMessage("{}"))
	if len(q.Fields) == 0 {
		s.judgeForm(q, form)
		return
	}
	s.find(formApproval, field, "The whole form becomes Yes or No, because "+cause+"; Yes sends {}.", from...)
	for i := range q.Fields {
		if f := &q.Fields[i]; judge.ConsentIn(*f, true) != nil {
			s.find(guardEmpty, f.Name, "Yes accepts without a word of "+f.Label+".", from...)
		}
	}
}

// judgeForm finds what is wrong with a form as a whole.
func (s *Seen) judgeForm(q *elicit.Request, form known) {
	consent := len(q.Fields) == 0
	for i := range q.Fields {
		f := &q.Fields[i]
		consent = consent || judge.ConsentIn(*f, true) != nil
		if form.Missing == "declined" && f.Required && s.Fields[i].Entered {
			s.find(missingDenies, f.Name, "If "+f.Name+" is left empty, the whole form is declined.", form.from["Missing"]...)
		}
	}
	if len(q.Fields) == 0 && form.Key == "accepts" {
		s.find(guardKey, "", "One key press accepts.", form.from["Key"]...)
	}
	if consent && s.Decline == "none" {
		s.find(noDecline, "", "A person cannot decline"+wording.Either(s.Cancel == "none", "", wording.After(", only cancel with ", s.Cancel))+".", append(slices.Clone(form.from["Decline"]), s.Client.about("client").from["Decline"]...)...)
	}
}

// judgeField finds what is wrong with a field.
func (s *Seen) judgeField(c *Control, k, form known, alone bool) {
	f := c.Field
	name := wording.Quoted(f.Name)
	if !c.Known {
		s.find(notKnown, "", "Nobody knows what it sends for fields that are not touched.")
	}
	if k.Enters == "string" && f.Kind.Type() != rawjson.String {
		r := s.find(wrongType, f.Name, "What is entered for "+name+" is sent as a text.", k.from["Enters"]...)
		if !f.Required || f.Default != nil && k.Default == "sent" {
			r.Verdict = Degraded
		}
	}
	s.judgeSent(c, k, form, alone)
	if f.Kind == elicit.File {
		s.find(fileUnknown, f.Name, "No profile says whether the client knows x-mcp-file, which is a draft: "+name+" is drawn as a text here, which is a guess.")
	}
	for _, keyword := range c.Drops {
		s.find(dropped, f.Name, "The keyword "+keyword+" of "+name+" is not drawn.", append(slices.Clone(k.from["Label"]), k.from["Drops"]...)...)
	}
	switch hidden := slices.ContainsFunc(f.Choices, func(one elicit.Choice) bool { return one.Title != one.Value }); {
	case k.Choices == "none" && len(f.Choices) > 0:
		s.find(choicesHidden, f.Name, "The choices of "+name+" are not drawn, and any text passes.", k.from["Choices"]...)
	case k.Choices == "value" && hidden:
		s.find(untitled, f.Name, "The choices of "+name+" are drawn by their values, such as "+wording.Quoted(f.Choices[0].Value)+".", k.from["Choices"]...)
	}
	if len(c.Unchecked) > 0 && k.Control != "program" {
		s.find(unchecked, f.Name, wording.Series(c.Unchecked)+" of "+name+wording.Either(len(c.Unchecked) == 1, " is", " are")+" not checked before it is sent.", append(slices.Clone(k.from["Checks"]), k.from["Control"]...)...)
	}
}

// judgeSent finds what is wrong with what the first Accept sends for a field.
func (s *Seen) judgeSent(c *Control, k, form known, alone bool) {
	f, name, sent := c.Field, wording.Quoted(c.Field.Name), brief(c.Sends)
	if !c.Known {
		return
	}
	from := k.from["Untouched"]
	if f.Default != nil {
		from = append(slices.Clone(k.from["Default"]), from...)
	}
	refused := wording.Either(c.Sends != nil && f.Refuses(c.Sends), ", which its schema refuses", "")
	switch untouched := !c.Entered && c.Sends != nil; {
	case f.Default != nil && c.Entered:
		s.find(defaultLost, f.Name, "The default of "+name+", "+brief(f.Default)+", is not filled in: a person has to enter it.", from...).Verdict = Degraded
	case f.Default != nil && c.Sends == nil:
		s.find(defaultLost, f.Name, "The default of "+name+", "+brief(f.Default)+", is not filled in, and the field is left out.", from...)
	case f.Default != nil && rawjson.KindOf(f.Default) == rawjson.Number && k.Default == "sent" && !rawjson.Same(c.Sends, f.Default):
		s.find(defaultChanged, f.Name, "The default of "+name+", "+brief(f.Default)+", loses digits: "+sent+" is sent.", form.from["Numbers"]...)
	case f.Default != nil && !rawjson.Same(c.Sends, f.Default):
		s.find(defaultChanged, f.Name, sent+" is sent for "+name+", whose default is "+brief(f.Default)+refused+".", from...)
	case f.Default == nil && untouched && !f.Required, f.Default == nil && untouched && refused != "":
		s.find(untouchedSent, f.Name, sent+" is sent for "+name+", which nobody touched"+refused+".", from...)
	case f.Default == nil && untouched && k.Untouched != "false":
		s.find(chosenBefore, f.Name, sent+" is chosen for "+name+" before a person chooses.", from...)
	}
	switch yes := judge.ConsentIn(*f, true); {
	case yes == nil || c.Entered:
	case c.Sends == nil && alone:
		s.find(guardEmpty, f.Name, name+" is accepted with nothing.", from...)
	case c.Sends != nil && rawjson.Same(c.Sends, yes):
		s.find(guardUntouched, f.Name, sent+" is sent for "+name+", although nobody chose it.", from...)
	}
}

// advisedMost bounds how many reasons get a remedy that was tried, because each try draws the whole form again.
const advisedMost = 20

// advise gives each reason a sentence about how to ask so that it works: of the rule's remedies the first after
// which the client is better at the question, or else what the rule says. It tries remedies for the first reasons,
// at most most.
func (s *Seen) advise(q *elicit.Request, most int) {
	for i := range s.Reasons {
		r := &s.Reasons[i]
		name := wording.Either(r.Field == "", "it", wording.Quoted(r.Field))
		r.Advice = wording.Capital(strings.ReplaceAll(r.rule.advice, "%s", name))
		at := slices.IndexFunc(q.Fields, func(f elicit.Field) bool { return f.Name == r.Field })
		if at < 0 || i >= most {
			continue
		}
		for _, one := range r.rule.remedies {
			again, form := asked(q, at, one)
			if again == nil {
				continue
			}
			then := see(again, s.Client)
			if !slices.ContainsFunc(then.Reasons, func(b Reason) bool { return b.Field == r.Field && b.Verdict >= r.Verdict }) && then.Verdict() <= s.Verdict() {
				r.Advice, r.Instead = strings.ReplaceAll(one.says, "%s", name), form
				break
			}
		}
	}
}

// asked returns a question with one field asked for in another way, and a schema of an object with that field
// alone; nil if it is asked so already.
func asked(q *elicit.Request, at int, how remedy) (*elicit.Request, json.RawMessage) {
	f, again := &q.Fields[at], *q
	var schema, properties rawjson.ObjectWriter
	for name, value := range rawjson.Members(f.Schema) {
		if !slices.Contains(how.drop, name) {
			schema.Add(name, value)
		}
	}
	for name, value := range rawjson.Members(how.add) {
		schema.Add(name, value)
	}
	must := f.Required || how.must
	properties.Add(f.Name, schema.JSON())
	form := fmt.Appendf(nil, `{"type":"object","properties":%s,"required":[%s]}`, properties.JSON(), wording.Either(must, string(rawjson.Quoted(f.Name)), ""))
	fields, err := elicit.FieldsOf(form)
	if err != nil || rawjson.Same(schema.JSON(), f.Schema) && must == f.Required {
		return nil, nil
	}
	fields[0].Restricted = true
	again.Fields = slices.Clone(q.Fields)
	again.Fields[at] = fields[0]
	return &again, form
}

// Carried returns s, and says instead that nobody sees the question if the client is known to take none from what
// carried it.
func (s *Seen) Carried(via elicit.Via) *Seen {
	client := s.Client.about("client")
	r, does, from, what := noRounds, "", client.from["Rounds"], "in results (2026-07-28)"
	switch via {
	case elicit.InRound:
		does = client.Rounds
	case elicit.InTask:
		r, does, from, what = noTasks, client.Tasks, client.from["Tasks"], "of tasks"
	}
	if does == "no" && s.As != AsNothing {
		s.As, s.Accept, s.Fields, s.Reasons = AsNothing, nil, nil, nil
		s.find(r, "", "It takes no questions "+what+": where a server asks in no other way, nobody sees it.", from...).Advice = r.advice
	}
	return s
}
