package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
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
	for i := range fields {
		f, input := &fields[i], Input{}
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
func (f *Field) value(in Input) (json.RawMessage, *Problem) {
	if strings.TrimSpace(in.JSON) != "" {
		if err := rawjson.Check([]byte(in.JSON)); err != nil {
			return nil, &Problem{Text: "Not JSON: " + err.Error() + "."}
		}
		return json.RawMessage(in.JSON), nil
	}
	value, problem := f.Kind.value(f, in)
	if value == nil && f.Required {
		problem = &Problem{Keyword: "required", Text: f.Kind.missing(f)}
	}
	return value, problem
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
func (f *Field) input(value json.RawMessage) Input {
	if in, ok := f.Kind.input(f, value); ok {
		return in
	}
	return Input{JSON: rawjson.Pretty(value)}
}

// Defaults returns a form filled in with the schema's defaults, and with the value of a
// required field that allows only one. A field whose control cannot show its default stays
// empty; see [Field.DefaultProblem]. Null as the default of what may be null means unset.
func Defaults(fields []Field) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i := range fields {
		f := &fields[i]
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
func (f *Field) sends(value json.RawMessage) bool { return !f.Restricted || Sendable(value) }

// unsets reports whether a default only says that the field has no value.
func (f *Field) unsets(value json.RawMessage) bool {
	return f.Nullable && f.Kind.Entry() != Written && rawjson.KindOf(value) == rawjson.Null
}

// DefaultProblem says in a sentence why the field is empty although its schema has a
// default: the default has another type, or is none of the choices. It returns "" if the
// control can show the default, even an invalid one.
func (f *Field) DefaultProblem() string {
	if f.Default == nil || f.unsets(f.Default) {
		return ""
	}
	why := f.Kind.misfit(f, f.Default)
	if why == "" {
		return ""
	}
	return "The schema’s default" + why + wording.Either(f.Kind.Entry() == Chosen, ", so nothing is chosen.", ", so the field is left empty.")
}

func briefly(value json.RawMessage) string {
	if text, exact := rawjson.Unquote(value); exact {
		return wording.Quoted(text)
	}
	return wording.Shorten(string(rawjson.AppendCompact(nil, value)), 80)
}

// Input is the state of one field's control. The zero Input is an untouched control: the
// property is left out of the content.
type Input struct {
	Text  string // for Text, Number and Integer; for File a data: URI; for Boolean "true", "false" or ""
	Picks []int  // indexes into Field.Choices, in the order in which they are sent
	Name  string // name of a chosen File, which is not sent
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
// suffix: ".empty" (any value), ".json", ".order" and ".name".
func InputName(i int) string { return "f" + strconv.Itoa(i) }

// extraName is the name of the control that holds Inputs.Extra.
const extraName = "extra"

// InputsFrom reads the inputs from a posted HTML form. Field 0 comes from f0 (for
// choices, their indexes), f0.empty, f0.json and f0.order; Inputs.Extra comes from
// extra. A form in parts has files beside its values; a kind of field may read either.
func InputsFrom(fields []Field, form *multipart.Form) Inputs {
	in, values := Inputs{Fields: make([]Input, len(fields))}, url.Values(form.Value)
	for i := range fields {
		f, name, input := &fields[i], InputName(i), &in.Fields[i]
		input.Empty = values.Get(name+".empty") != ""
		input.JSON = values.Get(name + ".json")
		f.Kind.posted(f, input, form, name)
	}
	if extra := values.Get(extraName); extra != "" {
		in.Extra = json.RawMessage(extra)
	}
	return in
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
			words = append(words, f.Kind.Words(&f, in))
		}
	}
	return wording.Shorten(strings.Join(words, ", "), 80)
}
