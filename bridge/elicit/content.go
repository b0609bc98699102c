package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Content is the JSON object that inputs amount to: one member per field that
// has a value, in the schema's order, then the extra members. It is compact,
// and the digits in it are those that were entered. The problems are inputs
// that are no value: a required field left alone, text in a number's control
// (which is sent as the text it is), or JSON that is none (which is left out).
// Whether the values satisfy the schema is for [Check] to say.
func Content(fields []Field, in Inputs) (json.RawMessage, []Problem) {
	out := []byte{'{'}
	var problems []Problem
	add := func(name string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendQuoted(out, name), ':')
	}
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
			add(f.Name)
			out = append(out, value...)
			sent[f.Name] = true
		}
	}
	if len(in.Extra) > 0 {
		if err := rawjson.Check(in.Extra); err != nil || rawjson.KindOf(in.Extra) != rawjson.Object {
			problems = append(problems, Problem{Field: -1, Text: "The further members are not a JSON object."})
			return append(out, '}'), problems
		}
		for name, value := range rawjson.Members(in.Extra) {
			if !sent[name] {
				add(name)
				out = rawjson.AppendCompact(out, value)
			}
		}
	}
	return append(out, '}'), problems
}

// value is the compact JSON of one field's input, nil if it is left out.
func (f Field) value(in Input) ([]byte, *Problem) {
	if strings.TrimSpace(in.JSON) != "" {
		if err := rawjson.Check([]byte(in.JSON)); err != nil {
			return nil, &Problem{Text: "Not JSON: " + err.Error() + "."}
		}
		return rawjson.AppendCompact(nil, json.RawMessage(in.JSON)), nil
	}
	switch f.Kind {
	case Text:
		if in.Text != "" || in.Empty {
			return rawjson.AppendQuoted(nil, in.Text), nil
		}
	case Number, Integer:
		text := strings.TrimFunc(in.Text, unicode.IsSpace)
		switch {
		case text == "":
		case isNumber(text):
			return []byte(text), nil
		default:
			return rawjson.AppendQuoted(nil, in.Text), &Problem{Keyword: "type", Text: notNumber(f.Kind, text)}
		}
	case Boolean:
		if in.Text == "true" || in.Text == "false" {
			return []byte(in.Text), nil
		}
	case SingleChoice:
		if len(in.Picks) > 0 && in.Picks[0] >= 0 && in.Picks[0] < len(f.Choices) {
			return rawjson.AppendQuoted(nil, f.Choices[in.Picks[0]].Value), nil
		}
	case MultiChoice:
		out := []byte{'['}
		for _, p := range in.Picks {
			if p < 0 || p >= len(f.Choices) {
				continue
			}
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = rawjson.AppendQuoted(out, f.Choices[p].Value)
		}
		if len(out) > 1 || in.Empty {
			return append(out, ']'), nil
		}
	case JSON:
	}
	if f.Required {
		return nil, &Problem{Keyword: "required", Text: f.missing()}
	}
	return nil, nil
}

// Defaults is the form as the schema fills it in. A default that the field's
// control has no place for leaves it empty; see [Field.DefaultProblem].
func Defaults(fields []Field) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		if f.Default != nil && f.DefaultProblem() == "" {
			in.Fields[i] = f.input(f.Default)
		}
	}
	return in
}

// DefaultProblem says in a sentence why the field is empty although its schema
// gives a default: the default has another type, or is none of the choices. It
// is "" where the default can stand in the control, be it valid or not.
func (f Field) DefaultProblem() string {
	if f.Default == nil {
		return ""
	}
	t := rawjson.KindOf(f.Default)
	switch f.Kind {
	case Text:
		return f.otherThan("text", t == rawjson.String)
	case Number:
		return f.otherThan("a number", t == rawjson.Number)
	case Integer:
		return f.otherThan("a whole number", t == rawjson.Number)
	case Boolean:
		return f.otherThan("true or false", t == rawjson.Boolean)
	case SingleChoice:
		return f.otherThan("one of the choices", f.input(f.Default).JSON == "")
	case MultiChoice:
		if t != rawjson.Array {
			return f.otherThan("a list of choices", false)
		}
		seen := make(map[string]bool)
		for _, v := range rawjson.Elements(f.Default) {
			text := rawjson.Text(v)
			switch {
			case rawjson.KindOf(v) != rawjson.String || !slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == text }):
				return "The schema’s default names " + briefly(v) + ", which is not one of the choices, so nothing is chosen."
			case seen[text]:
				return "The schema’s default names " + briefly(v) + " twice, so nothing is chosen."
			}
			seen[text] = true
		}
	case JSON:
	}
	return ""
}

// otherThan says that the default is not what the field takes, unless it fits.
func (f Field) otherThan(what string, fits bool) string {
	if fits {
		return ""
	}
	left := "the field is left empty"
	if f.Choices != nil || f.Kind == Boolean {
		left = "nothing is chosen"
	}
	return "The schema’s default, " + briefly(f.Default) + ", is not " + what + ", so " + left + "."
}

// briefly shows a JSON value inside a sentence.
func briefly(value json.RawMessage) string {
	if text, exact := rawjson.Unquote(value); exact && rawjson.KindOf(value) == rawjson.String {
		return wording.Quoted(text)
	}
	return wording.Shorten(string(rawjson.AppendCompact(nil, value)), 80)
}

// InputsOf is the way back from [Content]: the inputs that amount to this
// content. Nothing is lost: what a control cannot express goes to Input.JSON,
// and members that no field stands for go to Inputs.Extra. It fails if content
// is no JSON object, or names a member twice, since no form stands for that.
func InputsOf(fields []Field, content json.RawMessage) (Inputs, error) {
	in := Inputs{Fields: make([]Input, len(fields))}
	if len(rawjson.Trim(content)) == 0 {
		return in, errors.New("there is no content; an empty one is {}")
	}
	if err := rawjson.Check(content); err != nil {
		return in, fmt.Errorf("the content is not JSON: %w", err)
	}
	if t := rawjson.KindOf(content); t != rawjson.Object {
		return in, fmt.Errorf("the content is %s, and a form can only give an object", wording.WithArticle(t))
	}
	index := make(map[string]int, len(fields))
	for i, f := range fields {
		index[f.Name] = i
	}
	seen := make(map[string]bool)
	extra := []byte{'{'}
	for name, value := range rawjson.Members(content) {
		if seen[name] {
			return in, fmt.Errorf("the content has %s twice, and a form can only give it once", wording.Quoted(name))
		}
		seen[name] = true
		if i, ok := index[name]; ok {
			in.Fields[i] = fields[i].input(value)
			continue
		}
		if len(extra) > 1 {
			extra = append(extra, ',')
		}
		extra = append(rawjson.AppendQuoted(extra, name), ':')
		extra = rawjson.AppendCompact(extra, value)
	}
	if len(extra) > 1 {
		in.Extra = append(extra, '}')
	}
	return in, nil
}

// input is what the field's control has to hold to give that value.
func (f Field) input(value json.RawMessage) Input {
	raw := Input{JSON: rawjson.Pretty(value)}
	text, exact := rawjson.Unquote(value)
	isText := exact && rawjson.KindOf(value) == rawjson.String
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
		for i, c := range f.Choices {
			if isText && c.Value == text {
				return Input{Picks: []int{i}}
			}
		}
	case MultiChoice:
		if rawjson.KindOf(value) == rawjson.Array {
			if picks, ok := f.picksOf(value); ok {
				return Input{Picks: picks, Empty: len(picks) == 0}
			}
		}
	case JSON:
	}
	return raw
}

// picksOf finds the choices in an array; not ok if one of them is no choice, or
// stands there twice.
func (f Field) picksOf(array json.RawMessage) ([]int, bool) {
	index := make(map[string]int, len(f.Choices))
	for i := len(f.Choices) - 1; i >= 0; i-- {
		index[f.Choices[i].Value] = i
	}
	var picks []int
	for _, v := range rawjson.Elements(array) {
		text, exact := rawjson.Unquote(v)
		i, ok := index[text]
		if !ok || !exact || rawjson.KindOf(v) != rawjson.String {
			return nil, false
		}
		delete(index, text)
		picks = append(picks, i)
	}
	return picks, true
}

// typable tells whether the control for a string of that format gives back just
// this text. A text area drops a line feed at its beginning and every carriage
// return; a date's control holds no year 0.
func typable(text, format string) bool {
	switch format {
	case "":
		return plain(text) && text[0] != '\n'
	case "date": // what is no date at all stands in a control of one line
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text > "0001"
		}
	}
	return oneLine(text)
}

// oneLine tells whether a control of one line, which drops white space around
// the text and line ends in it, gives back just this text.
func oneLine(text string) bool {
	return plain(text) && !strings.ContainsAny(text, "\n\t") && strings.TrimFunc(text, unicode.IsSpace) == text
}

// plain tells whether a text has no control characters but tab and line feed.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' })
}
