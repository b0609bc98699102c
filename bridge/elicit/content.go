package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// object is a compact JSON object under construction; nil is an empty one.
type object []byte

func (o *object) add(name string, value json.RawMessage) {
	if *o == nil {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(rawjson.AppendQuoted(*o, name), ':')
	*o = rawjson.AppendCompact(*o, value)
}

func (o object) end() json.RawMessage {
	if o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(append(o, '}'))
}

// Content builds the answer's JSON object from inputs: one member per field that has a
// value, in the schema's order, then the extra members. It is compact, and numbers keep
// the digits that were entered. The problems are inputs without a value: a required
// field left empty, text in a number's control (which is sent as text), or invalid JSON
// (which is left out). [Check] tests the values against the schema.
func Content(fields []Field, in Inputs) (json.RawMessage, []Problem) {
	var out object
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
			out.add(f.Name, value)
			sent[f.Name] = true
		}
	}
	if len(in.Extra) > 0 && checkObject("", in.Extra) != nil {
		problems = append(problems, Problem{Field: -1, Text: "The further members are not a JSON object."})
		return out.end(), problems
	}
	for name, value := range rawjson.Members(in.Extra) {
		if !sent[name] {
			out.add(name, value)
		}
	}
	return out.end(), problems
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
			list := []byte{'['}
			for i, p := range picks {
				if i > 0 {
					list = append(list, ',')
				}
				list = rawjson.AppendQuoted(list, f.Choices[p].Value)
			}
			return append(list, ']'), nil
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
// without a field go to Inputs.Extra. It fails if content is no JSON object or has a
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
	var extra object
	for name, value := range rawjson.Members(content) {
		if seen[name] {
			return in, fmt.Errorf("the content has %s twice, and a form can only give it once", wording.Quoted(name))
		}
		seen[name] = true
		if i, ok := index[name]; ok {
			in.Fields[i] = fields[i].input(value)
		} else {
			extra.add(name, value)
		}
	}
	if extra != nil {
		in.Extra = extra.end()
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
