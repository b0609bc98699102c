package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Content builds the answer's JSON object from inputs: one member per field that has a
// value, in the schema's order, then the extra members. It is compact, and numbers keep
// the digits that were entered. The problems are inputs without a value: a required
// field left empty, text in a number's control (which is sent as text), or invalid JSON
// (which is left out). [Check] tests the values against the schema.
func Content(fields []Field, in Inputs) (json.RawMessage, []Problem) {
	var out rawjson.ObjectWriter
	var problems []Problem
	sent := make(map[string]bool)
	for i, f := range fields {
		var input Input
		if i < len(in.Fields) {
			input = in.Fields[i]
		}
		value, problem := f.value(input)
		if problem != nil {
			problem.Field, problem.Pointer = i, rawjson.PointerTo("", f.Name)
			problems = append(problems, *problem)
		}
		if value != nil {
			out.Add(f.Name, rawjson.AppendCompact(nil, value))
			sent[f.Name] = true
		}
	}
	if len(in.Extra) > 0 && checkObject("", in.Extra) != nil {
		problems = append(problems, Problem{Field: -1, Text: "The further members are not a JSON object."})
		return out.JSON(), problems
	}
	for name, value := range rawjson.Members(in.Extra) {
		if !sent[name] {
			out.Add(name, rawjson.AppendCompact(nil, value))
		}
	}
	return out.JSON(), problems
}

// value returns the JSON of one field's input, nil if the field is left out.
func (f Field) value(in Input) (json.RawMessage, *Problem) {
	if strings.TrimSpace(in.JSON) != "" {
		if err := rawjson.Check([]byte(in.JSON)); err != nil {
			return nil, &Problem{Text: "Not JSON: " + err.Error() + "."}
		}
		return json.RawMessage(in.JSON), nil
	}
	picks := slices.DeleteFunc(slices.Clone(in.Picks), func(p int) bool { return p < 0 || p >= len(f.Choices) })
	switch f.Kind {
	case Text:
		if in.Text != "" || in.Empty {
			return rawjson.Quoted(in.Text), nil
		}
	case Number, Integer:
		text := strings.TrimFunc(in.Text, unicode.IsSpace)
		switch {
		case isNumber(text):
			return json.RawMessage(text), nil
		case text != "":
			return rawjson.Quoted(in.Text), &Problem{Keyword: "type", Text: notNumber(f.Kind, text)}
		}
	case Boolean:
		if in.Text == "true" || in.Text == "false" {
			return json.RawMessage(in.Text), nil
		}
	case SingleChoice:
		if len(picks) > 0 {
			return rawjson.Quoted(f.Choices[picks[0]].Value), nil
		}
	case MultiChoice:
		if len(picks) > 0 || in.Empty {
			var list rawjson.ArrayWriter
			for _, p := range picks {
				list.Add(rawjson.Quoted(f.Choices[p].Value))
			}
			return list.JSON(), nil
		}
	case JSON:
	}
	if f.Required {
		return nil, &Problem{Keyword: "required", Text: f.missing()}
	}
	return nil, nil
}

// InputsOf is the inverse of [Content]: it returns the inputs that produce this content.
// Nothing is lost: a value that a control cannot express goes to Input.JSON, and members
// without a field go to Inputs.Extra. It fails if content is not a JSON object or has a
// member twice, because no form can produce that.
func InputsOf(fields []Field, content json.RawMessage) (Inputs, error) {
	in := Inputs{Fields: make([]Input, len(fields))}
	if len(rawjson.Trim(content)) == 0 {
		return in, errors.New("there is no content; an empty one is {}")
	}
	if err := checkObject("the content is", content); err != nil {
		return in, err
	}
	index := indexOf(fields)
	seen := make(map[string]bool)
	var extra rawjson.ObjectWriter
	for name, value := range rawjson.Members(content) {
		if seen[name] {
			return in, fmt.Errorf("the content has %s twice, and a form can only give it once", wording.Quoted(name))
		}
		seen[name] = true
		if i, ok := index[name]; ok {
			in.Fields[i] = fields[i].input(value)
		} else {
			extra.Add(name, rawjson.AppendCompact(nil, value))
		}
	}
	if extra != nil {
		in.Extra = extra.JSON()
	}
	return in, nil
}

// input returns the state of the field's control that produces a value.
func (f Field) input(value json.RawMessage) Input {
	text, isText := rawjson.Unquote(value)
	switch f.Kind {
	case Text:
		switch {
		case isText && text == "":
			return Input{Empty: true}
		case isText && typable(text, f.Format):
			return Input{Text: text}
		}
	case Number, Integer:
		if rawjson.KindOf(value) == rawjson.Number {
			return Input{Text: string(rawjson.Trim(value))}
		}
		if isText && text != "" && !isNumber(text) && oneLine(text) {
			return Input{Text: text}
		}
	case Boolean:
		if rawjson.KindOf(value) == rawjson.Boolean {
			return Input{Text: string(rawjson.Trim(value))}
		}
	case SingleChoice:
		i := slices.IndexFunc(f.Choices, func(c Choice) bool { return c.Value == text })
		if isText && i >= 0 {
			return Input{Picks: []int{i}}
		}
	case MultiChoice:
		if picks, odd, _ := f.picksOf(value); rawjson.KindOf(value) == rawjson.Array && odd == nil {
			return Input{Picks: picks, Empty: len(picks) == 0}
		}
	case JSON:
	}
	return Input{JSON: rawjson.Pretty(value)}
}

// picksOf returns the indexes of the choices in an array. It stops at the first element
// that is no choice or repeats one, and returns that element as odd; twice says that it
// repeats one.
func (f Field) picksOf(array json.RawMessage) (picks []int, odd json.RawMessage, twice bool) {
	index := make(map[string]int, len(f.Choices))
	for i := len(f.Choices) - 1; i >= 0; i-- {
		index[f.Choices[i].Value] = i
	}
	seen := make(map[int]bool)
	for _, v := range rawjson.Elements(array) {
		text, exact := rawjson.Unquote(v)
		i, ok := index[text]
		if !ok || !exact || seen[i] {
			return nil, v, ok && exact
		}
		seen[i] = true
		picks = append(picks, i)
	}
	return picks, nil, false
}

// Defaults returns a form filled in with the schema's defaults, and with the value of a
// required field that allows only one. A field whose control cannot show its default stays
// empty; see [Field.DefaultProblem]. Null as the default of what may be null means unset.
func Defaults(fields []Field) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		value := f.Default
		if value == nil && f.Required {
			value = f.Const
		}
		if value != nil && f.DefaultProblem() == "" && f.sends(value) && !f.unsets(value) {
			in.Fields[i] = f.input(value)
		}
	}
	return in
}

// Sendable reports whether the content of an answer may have a value: ElicitResult of all
// revisions has strings, numbers and booleans, and since 2025-11-25 lists of strings. The
// latter pass everywhere, because a server that asks for a list has left its revision itself.
func Sendable(value json.RawMessage) bool {
	for _, one := range rawjson.Elements(value) {
		if rawjson.KindOf(one) != rawjson.String {
			return false
		}
	}
	kind := rawjson.KindOf(value)
	return kind != rawjson.Object && kind != rawjson.Null
}

// sends reports whether the field may send a value by itself.
func (f Field) sends(value json.RawMessage) bool { return !f.Restricted || Sendable(value) }

// unsets reports whether a default only says that the field has no value.
func (f Field) unsets(value json.RawMessage) bool {
	return f.Nullable && f.Kind != JSON && rawjson.KindOf(value) == rawjson.Null
}

// DefaultProblem says in a sentence why the field is empty although its schema has a
// default: the default has another type, or is none of the choices. It returns "" if the
// control can show the default, even an invalid one.
func (f Field) DefaultProblem() string {
	t := rawjson.KindOf(f.Default)
	fits, what, left := true, "", "the field is left empty"
	switch f.Kind {
	case Text:
		fits, what = t == rawjson.String, "text"
	case Number:
		fits, what = t == rawjson.Number, "a number"
	case Integer:
		fits, what = t == rawjson.Number, "a whole number"
	case Boolean:
		fits, what, left = t == rawjson.Boolean, "true or false", "nothing is chosen"
	case SingleChoice:
		fits, what, left = f.Default == nil || f.input(f.Default).JSON == "", "one of the choices", "nothing is chosen"
	case MultiChoice:
		fits, what, left = t == rawjson.Array, "a list of choices", "nothing is chosen"
		switch _, odd, twice := f.picksOf(f.Default); {
		case twice:
			return "The schema’s default names " + briefly(odd) + " twice, so nothing is chosen."
		case odd != nil:
			return "The schema’s default names " + briefly(odd) + ", which is not one of the choices, so nothing is chosen."
		}
	case JSON:
		fits, what = f.Default == nil || f.sends(f.Default), "what an answer may have (strings, numbers, true or false, and lists of strings)"
	}
	if fits || f.Default == nil || f.unsets(f.Default) {
		return ""
	}
	return "The schema’s default, " + briefly(f.Default) + ", is not " + what + ", so " + left + "."
}

func briefly(value json.RawMessage) string {
	if text, exact := rawjson.Unquote(value); exact {
		return wording.Quoted(text)
	}
	return wording.Shorten(string(rawjson.AppendCompact(nil, value)), 80)
}

// typable tells whether the control for a string of this format returns the text
// unchanged. A text area drops a leading line feed and every carriage return; a date
// control has no year 0.
func typable(text, format string) bool {
	switch format {
	case "":
		return plain(text) && text[0] != '\n'
	case "date": // a text that is no date gets a one-line control
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text > "0001"
		}
	}
	return oneLine(text)
}

// oneLine tells whether a one-line control, which drops white space around the text and
// line breaks in it, returns the text unchanged.
func oneLine(text string) bool {
	return plain(text) && !strings.ContainsAny(text, "\n\t") && strings.TrimFunc(text, unicode.IsSpace) == text
}

// plain tells whether tab and line feed are the only control characters in a text.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' })
}

// Input is the state of one field's control. The zero Input is an untouched control: the
// property is left out of the content.
type Input struct {
	Text  string // for Text, Number and Integer; for Boolean "true", "false" or ""
	Picks []int  // indexes into Field.Choices, in the order in which they are sent
	Empty bool   // send the empty value ("" or []) rather than leaving the property out
	JSON  string // for Kind JSON, or a value that the control cannot express; if not "", it overrides the other members
}

// Order returns the value of the hidden control [InputName]+".order". It keeps the order
// in which choices were picked, since a browser submits checkboxes from top to bottom.
// It is "" if the picks are in the schema's order.
func (in Input) Order() string {
	if slices.IsSorted(in.Picks) {
		return ""
	}
	var list []string
	for _, p := range in.Picks {
		list = append(list, strconv.Itoa(p))
	}
	return strings.Join(list, ",")
}

// Equal tells whether two inputs hold the same values. A nil and an empty list of picks
// are equal.
func (in Input) Equal(other Input) bool {
	return in.Text == other.Text && in.Empty == other.Empty && in.JSON == other.JSON && slices.Equal(in.Picks, other.Picks)
}

// Inputs is the state of all controls of a form.
type Inputs struct {
	Fields []Input         // by field index
	Extra  json.RawMessage // JSON object of the members without a field; nil if there are none
}

// InputName returns the name of field i's control in an HTML form. Its companions have a
// suffix: ".empty" (any value), ".json" and ".order".
func InputName(i int) string { return "f" + strconv.Itoa(i) }

// extraName is the name of the control that holds Inputs.Extra.
const extraName = "extra"

// InputsFrom reads the inputs from a posted HTML form. Field 0 comes from f0 (for
// choices, their indexes), f0.empty, f0.json and f0.order; Inputs.Extra comes from
// extra.
func InputsFrom(fields []Field, form url.Values) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		name := InputName(i)
		input := &in.Fields[i]
		input.Empty = form.Get(name+".empty") != ""
		input.JSON = form.Get(name + ".json")
		switch f.Kind {
		case SingleChoice, MultiChoice:
			input.Picks = picks(form[name], form.Get(name+".order"), f)
		case JSON:
			if input.JSON == "" {
				input.JSON = form.Get(name)
			}
		default:
			// Form encoding turns line breaks into CRLF, and no control can contain a
			// carriage return of its own.
			input.Text = strings.ReplaceAll(form.Get(name), "\r\n", "\n")
		}
	}
	if extra := form.Get(extraName); extra != "" {
		in.Extra = json.RawMessage(extra)
	}
	return in
}

// picks reads the indexes of the picked choices. Those listed in order come first, in
// that order. Values that are no index of a choice are ignored.
func picks(values []string, order string, f Field) []int {
	var picked []int
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < len(f.Choices) {
			picked = append(picked, n)
		}
	}
	if f.Kind == SingleChoice && len(picked) > 1 {
		return picked[:1]
	}
	if order == "" || len(picked) < 2 {
		return picked
	}
	rank := make(map[int]int)
	for i, v := range strings.Split(order, ",") {
		if n, err := strconv.Atoi(v); err == nil {
			rank[n] = i - len(order) // negative, so they come before choices without a rank (0)
		}
	}
	slices.SortStableFunc(picked, func(a, b int) int { return rank[a] - rank[b] })
	return picked
}

// Digest describes content in a few words, by its fields: "build 2291".
func Digest(fields []Field, content json.RawMessage) string {
	if content == nil {
		return ""
	}
	inputs, err := InputsOf(fields, content)
	if err != nil {
		return ""
	}
	var words []string
	for i, f := range fields {
		in := inputs.Fields[i]
		switch {
		case in.JSON != "":
			words = append(words, in.JSON)
		case len(in.Picks) > 0:
			for _, p := range in.Picks {
				words = append(words, f.Choices[p].Title)
			}
		case in.Text == "true":
			words = append(words, f.Label)
		case in.Text != "" && in.Text != "false":
			words = append(words, in.Text)
		}
	}
	return wording.Shorten(strings.Join(words, ", "), 80)
}
