package elicit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Choice is one value that a person can pick.
type Choice struct {
	Value string // the value in the answer
	Title string // the label in the form; Value if the schema has no title
}

// SingleChoice is one of Field.Choices.
var SingleChoice Kind = singleChoice{choice{common{name: "choice", entry: Chosen, json: rawjson.String, takes: "one of the choices", demand: "Choose one."}}}

type singleChoice struct{ choice }

// choice reads the choices of a schema and explains them, for the kinds where a person picks one or several.
type choice struct{ common }

func (choice) Words(f *Field, in Input) string {
	var titles []string
	for _, i := range in.Picks {
		titles = append(titles, f.Choices[i].Title)
	}
	return strings.Join(titles, ", ")
}

// picks reads the indexes of picked choices. It ignores values that are no index of a choice.
func (f *Field) picks(values []string) (picked []int) {
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < len(f.Choices) {
			picked = append(picked, n)
		}
	}
	return picked
}

// picked lists the values of the choices that are picked.
func (f *Field) picked(in Input) (values []json.RawMessage) {
	for _, p := range in.Picks {
		if p >= 0 && p < len(f.Choices) {
			values = append(values, rawjson.Quoted(f.Choices[p].Value))
		}
	}
	return values
}

// noneOf returns a value that is not among the choices.
func (f *Field) noneOf() json.RawMessage {
	value := "not one of the choices"
	for slices.ContainsFunc(f.Choices, func(c Choice) bool { return c.Value == value }) {
		value += "!"
	}
	return rawjson.Quoted(value)
}

func (singleChoice) reads(t string, k Keywords) bool {
	return (t == "string" || t == "") && (k["enum"] != nil || k["oneOf"] != nil || k["anyOf"] != nil || rawjson.KindOf(k["const"]) == rawjson.String)
}

func (singleChoice) read(f *Field, k Keywords, r *references) (err error) {
	f.Choices, err = choicesOf(k)
	return cmp.Or(err, Text.read(f, k, r))
}

func (singleChoice) posted(f *Field, in *Input, form *multipart.Form, name string) {
	picked := f.picks(form.Value[name])
	in.Picks = picked[:min(len(picked), 1)]
}

func (singleChoice) value(f *Field, in Input) (json.RawMessage, *Problem) {
	if values := f.picked(in); values != nil {
		return values[0], nil
	}
	return nil, nil
}

func (singleChoice) input(f *Field, value json.RawMessage) (Input, bool) {
	text, exact := rawjson.Unquote(value)
	i := slices.IndexFunc(f.Choices, func(c Choice) bool { return c.Value == text })
	return Input{Picks: []int{i}}, exact && i >= 0
}

func (s singleChoice) misfit(f *Field, value json.RawMessage) string {
	if _, ok := s.input(f, value); ok {
		return ""
	}
	return s.isNot(value)
}

func (singleChoice) limits(f *Field) []string { return Text.limits(f) }

func (singleChoice) examples(f *Field) []json.RawMessage {
	return []json.RawMessage{rawjson.Quoted(f.Choices[0].Value)}
}

func (singleChoice) Others(f *Field, n int) (list []json.RawMessage) {
	for i := range f.Choices {
		list = append(list, rawjson.Quoted(f.Choices[(2*len(f.Choices)-1-n%len(f.Choices)+i)%len(f.Choices)].Value))
	}
	return list
}

func (singleChoice) spoiled(f *Field, how Breach) json.RawMessage {
	if how == NotInEnum {
		return f.noneOf()
	}
	return nil
}

// noChoices returns an error if a property that is not a string has choices, which the
// specification does not allow. what describes its values.
func (k Keywords) noChoices(what string) error {
	if given := k.choiceLists(); len(given) > 0 {
		return fmt.Errorf("its choices (%s) are %s, not strings", given[0], what)
	}
	return nil
}

// choiceLists returns the names of the keywords that list choices and are present.
func (k Keywords) choiceLists() []string {
	return slices.DeleteFunc([]string{"enum", "oneOf", "anyOf"}, func(name string) bool { return k[name] == nil })
}

// choicesOf reads the choices of a string's schema; nil if it has none. The
// specification gives titles with oneOf for a single choice and with anyOf for a
// multiple choice. If every entry is a constant, both mean the same, so both are
// accepted.
func choicesOf(k Keywords) ([]Choice, error) {
	given := k.choiceLists()
	if only := k["const"]; rawjson.KindOf(only) == rawjson.String {
		return []Choice{{Value: rawjson.Text(only), Title: rawjson.Text(only)}}, nil
	}
	switch len(given) {
	case 0:
		return nil, nil
	case 1:
		return choicesIn(given[0], k[given[0]], k["enumNames"])
	}
	return nil, fmt.Errorf("its choices are given twice, by %s", strings.Join(given, " and "))
}

func choicesIn(keyword string, list, enumNames json.RawMessage) ([]Choice, error) {
	if t := rawjson.KindOf(list); t != rawjson.Array {
		return nil, fmt.Errorf("its %s is %s, not a list", keyword, wording.WithArticle(t))
	}
	var choices []Choice
	for i, value := range rawjson.Elements(list) {
		if i == maxChoices {
			return nil, fmt.Errorf("it has more than %d choices", maxChoices)
		}
		title := ""
		if keyword != "enum" {
			title = rawjson.Text(rawjson.Member(value, "title"))
			if value = rawjson.Member(value, "const"); value == nil {
				return nil, fmt.Errorf("entry %d of its %s is not a constant", i+1, keyword)
			}
		}
		if t := rawjson.KindOf(value); t != rawjson.String {
			return nil, fmt.Errorf("choice %d is %s, not a string", i+1, wording.WithArticle(t))
		}
		c := Choice{Value: rawjson.Text(value)}
		c.Title = titled(title, c.Value)
		choices = append(choices, c)
	}
	if choices == nil {
		return nil, fmt.Errorf("its %s is empty, so there is nothing to choose", keyword)
	}
	for i, name := range rawjson.Elements(enumNames) {
		if keyword == "enum" && i < len(choices) {
			choices[i].Title = titled(rawjson.Text(name), choices[i].Value)
		}
	}
	return choices, nil
}

func titled(title, otherwise string) string {
	if strings.TrimSpace(title) == "" {
		return otherwise
	}
	return title
}
