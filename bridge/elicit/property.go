package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

func fieldOf(name string, schema json.RawMessage, required bool) Field {
	f := Field{Name: name, Label: name, Required: required, Kind: JSON, Schema: schema}
	switch rawjson.KindOf(schema) {
	case rawjson.Object:
	case rawjson.Boolean:
		f.Why = "Its schema is just " + string(schema) + ", which says nothing of the value."
		if schema[0] == 'f' {
			f.Why = "Its schema is just false, which allows no value at all."
		}
		return f
	default:
		f.Why = "Its schema is " + wording.WithArticle(rawjson.KindOf(schema)) + ", not an object."
		return f
	}
	k := KeywordsOf(schema)
	f.Label = titled(k.Text("title"), name)
	f.Description = k.Text("description")
	f.Default = k["default"]
	if err := f.control(k); err != nil {
		f.Kind = JSON
		f.Choices = nil
		f.Why = wording.Sentence(err.Error())
	}
	return f
}

// control sets the kind of control for a property, and its limits. The error says why no
// control but JSON fits.
func (f *Field) control(k Keywords) error {
	if err := k.beyond("its schema"); err != nil {
		return err
	}
	kind, err := typeKeyword(k["type"])
	if err != nil {
		return err
	}
	switch kind {
	case "string", "":
		return f.textControl(k, kind)
	case "number", "integer":
		f.Kind = Number
		if kind == "integer" {
			f.Kind = Integer
		}
		f.Minimum, f.Maximum = k.Number("minimum"), k.Number("maximum")
		f.ExclusiveMinimum, f.ExclusiveMaximum = k.Number("exclusiveMinimum"), k.Number("exclusiveMaximum")
		f.MultipleOf = k.Number("multipleOf")
		return k.noChoices("numbers")
	case "boolean":
		f.Kind = Boolean
		return k.noChoices("true or false")
	case "array":
		f.Kind = MultiChoice
		f.MinItems, f.MaxItems = k.Count("minItems"), k.Count("maxItems")
		f.Choices, err = itemChoices(k["items"])
		return err
	case "object":
		return errors.New("it is a nested object")
	case "null":
		return errors.New("it can only be null")
	}
	return fmt.Errorf("its type is %s, which JSON Schema does not have", wording.Quoted(kind))
}

func (f *Field) textControl(k Keywords, kind string) error {
	f.Kind = Text
	f.Format, f.Pattern = k.Text("format"), k.Text("pattern")
	f.MinLength, f.MaxLength = k.Count("minLength"), k.Count("maxLength")
	choices, err := choicesOf(k)
	switch {
	case err != nil:
		return err
	case choices != nil:
		f.Kind, f.Choices = SingleChoice, choices
	case kind == "":
		return errors.New("its schema names no type")
	}
	return nil
}

// typeKeyword returns the value of "type"; "" if it is absent.
func typeKeyword(raw json.RawMessage) (string, error) {
	switch rawjson.KindOf(raw) {
	case rawjson.None:
		return "", nil
	case rawjson.String:
		return rawjson.Text(raw), nil
	case rawjson.Array:
		return "", fmt.Errorf("its schema allows several types (%s)", wording.Shorten(strings.Join(stringsOf(raw), ", "), 80))
	}
	return "", fmt.Errorf("its type is %s, not a name", wording.WithArticle(rawjson.KindOf(raw)))
}

// noChoices returns an error if a property that is no string has choices, which the
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

// titled returns title, or otherwise if title is blank.
func titled(title, otherwise string) string {
	if strings.TrimSpace(title) == "" {
		return otherwise
	}
	return title
}

func itemChoices(items json.RawMessage) ([]Choice, error) {
	free := errors.New("it is a list of free values")
	if rawjson.KindOf(items) != rawjson.Object {
		return nil, free
	}
	k := KeywordsOf(items)
	if err := k.beyond("the schema of its items"); err != nil {
		return nil, err
	}
	kind, err := typeKeyword(k["type"])
	if err != nil {
		return nil, fmt.Errorf("of its items: %w", err)
	}
	if kind != "string" && kind != "" {
		return nil, fmt.Errorf("it is a list of values of type %s, not of choices", wording.Quoted(kind))
	}
	choices, err := choicesOf(k)
	if err == nil && choices == nil {
		err = free
	}
	return choices, err
}
