package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/wording"
)

// keywords are the members of one schema object that are understood here, by
// name. Whatever else the object holds is no part of it, however much it is.
type keywords map[string]json.RawMessage

// understood names the keywords that a control is drawn from.
var understood = map[string]bool{
	"type": true, "title": true, "description": true, "default": true, "properties": true, "required": true,
	"minLength": true, "maxLength": true, "pattern": true, "format": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"enum": true, "enumNames": true, "oneOf": true, "anyOf": true, "const": true,
	"items": true, "minItems": true, "maxItems": true,
}

// beyond lists the keywords that say more of a value than a control can show,
// each with what it does.
var beyond = []struct{ name, does string }{
	{"$ref", "refers to another schema"},
	{"$dynamicRef", "refers to another schema"},
	{"$recursiveRef", "refers to another schema"},
	{"allOf", "combines several schemas"},
	{"not", "excludes what another schema allows"},
	{"if", "depends on a condition"},
	{"const", "allows one value only"},
	{"prefixItems", "describes a list place by place"},
	{"contains", "describes what a list has to contain"},
	{"properties", "describes a nested object"},
	{"patternProperties", "describes a nested object"},
}

func keywordsOf(schema json.RawMessage) keywords {
	k := make(keywords)
	for name, value := range members(schema) {
		if understood[name] {
			k[name] = value
			continue
		}
		for _, b := range beyond {
			if b.name == name {
				k[name] = value
			}
		}
	}
	return k
}

// text returns a keyword's string, "" if it is absent or no string.
func (k keywords) text(name string) string {
	s, _ := unquote(k[name])
	return s
}

// number returns the digits of a keyword's number, "" if it is absent or none.
func (k keywords) number(name string) string {
	if digits := string(k[name]); isNumber(digits) {
		return digits
	}
	return ""
}

func (k keywords) count(name string) *int { return count(k.number(name)) }

// stringsOf returns the strings in an array, leaving out what is no string.
func stringsOf(raw json.RawMessage) []string {
	var list []string
	for _, v := range elements(raw) {
		if typeOf(v) == typeString {
			s, _ := unquote(v)
			list = append(list, s)
		}
	}
	return list
}

// fieldOf reads one property.
func fieldOf(name string, schema json.RawMessage, required bool) Field {
	f := Field{Name: name, Label: name, Required: required, Kind: JSON, Schema: schema}
	switch typeOf(schema) {
	case typeObject:
	case typeBoolean:
		f.Why = "Its schema is just " + string(schema) + ", which says nothing of the value."
		if schema[0] == 'f' {
			f.Why = "Its schema is just false, which allows no value at all."
		}
		return f
	default:
		f.Why = "Its schema is " + withArticle(typeOf(schema)) + ", not an object."
		return f
	}
	k := keywordsOf(schema)
	if title := k.text("title"); strings.TrimSpace(title) != "" {
		f.Label = title
	}
	f.Description = k.text("description")
	f.Default = k["default"]
	if err := f.control(k); err != nil {
		f.Kind = JSON
		f.Choices = nil
		f.Why = wording.Sentence(err.Error())
	}
	return f
}

// control finds the control for a property, and its limits. The error says why
// there is none.
func (f *Field) control(k keywords) error {
	for _, b := range beyond {
		if _, ok := k[b.name]; ok {
			return fmt.Errorf("its schema %s (%s)", b.does, b.name)
		}
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
		f.Minimum, f.Maximum = k.number("minimum"), k.number("maximum")
		f.ExclusiveMinimum, f.ExclusiveMaximum = k.number("exclusiveMinimum"), k.number("exclusiveMaximum")
		f.MultipleOf = k.number("multipleOf")
		return k.noChoices("numbers")
	case "boolean":
		f.Kind = Boolean
		return k.noChoices("true or false")
	case "array":
		f.Kind = MultiChoice
		f.MinItems, f.MaxItems = k.count("minItems"), k.count("maxItems")
		f.Choices, err = itemChoices(k["items"])
		return err
	case "object":
		return errors.New("it is a nested object")
	case "null":
		return errors.New("it can only be null")
	}
	return fmt.Errorf("its type is %s, which JSON Schema does not have", wording.Quoted(kind))
}

// textControl is that of a string, or of choices without a type.
func (f *Field) textControl(k keywords, kind string) error {
	f.Kind = Text
	f.Format, f.Pattern = k.text("format"), k.text("pattern")
	f.MinLength, f.MaxLength = k.count("minLength"), k.count("maxLength")
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

// typeKeyword reads "type"; it is "" if there is none.
func typeKeyword(raw json.RawMessage) (string, error) {
	switch typeOf(raw) {
	case typeNone:
		return "", nil
	case typeString:
		name, _ := unquote(raw)
		return name, nil
	case typeArray:
		return "", fmt.Errorf("its schema allows several types (%s)", wording.Shorten(strings.Join(stringsOf(raw), ", "), 80))
	}
	return "", fmt.Errorf("its type is %s, not a name", withArticle(typeOf(raw)))
}

// noChoices refuses choices where the specification has none.
func (k keywords) noChoices(what string) error {
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		if _, ok := k[name]; ok {
			return fmt.Errorf("its choices (%s) are %s, not strings", name, what)
		}
	}
	return nil
}

// choicesOf reads the choices of a schema for one string; nil if it has none.
// The specification titles a single choice with oneOf and a multiple one with
// anyOf; where every entry is a constant the two mean the same, so both are read.
func choicesOf(k keywords) ([]Choice, error) {
	var given []string
	for _, name := range []string{"enum", "oneOf", "anyOf"} {
		if _, ok := k[name]; ok {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, fmt.Errorf("its choices are given twice, by %s", strings.Join(given, " and "))
	}
	name, list := given[0], k[given[0]]
	if t := typeOf(list); t != typeArray {
		return nil, fmt.Errorf("its %s is %s, not a list", name, withArticle(t))
	}
	choices := []Choice{}
	for i, entry := range elements(list) {
		if i == maxChoices {
			return nil, fmt.Errorf("it has more than %d choices", maxChoices)
		}
		value, title := entry, json.RawMessage(nil)
		if name != "enum" {
			if value, title = constant(entry); value == nil {
				return nil, fmt.Errorf("entry %d of its %s is not a constant", i+1, name)
			}
		}
		if t := typeOf(value); t != typeString {
			return nil, fmt.Errorf("choice %d is %s, not a string", i+1, withArticle(t))
		}
		c := Choice{}
		c.Value, _ = unquote(value)
		c.Title = c.Value
		if t, _ := unquote(title); strings.TrimSpace(t) != "" {
			c.Title = t
		}
		choices = append(choices, c)
	}
	if len(choices) == 0 {
		return nil, fmt.Errorf("its %s is empty, so there is nothing to choose", name)
	}
	if name == "enum" {
		for i, title := range elements(k["enumNames"]) {
			if i == len(choices) {
				break
			}
			if t, _ := unquote(title); strings.TrimSpace(t) != "" {
				choices[i].Title = t
			}
		}
	}
	return choices, nil
}

// constant reads an entry of oneOf or anyOf that stands for one value; value is
// nil if it does not.
func constant(entry json.RawMessage) (value, title json.RawMessage) {
	for name, v := range members(entry) {
		switch name {
		case "const":
			value = v
		case "title":
			title = v
		}
	}
	return value, title
}

// itemChoices reads the choices of a multiple choice from its "items".
func itemChoices(items json.RawMessage) ([]Choice, error) {
	free := errors.New("it is a list of free values")
	if typeOf(items) != typeObject {
		return nil, free
	}
	k := keywordsOf(items)
	for _, b := range beyond {
		if _, ok := k[b.name]; ok {
			return nil, fmt.Errorf("the schema of its items %s (%s)", b.does, b.name)
		}
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
