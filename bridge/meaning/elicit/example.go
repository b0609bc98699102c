package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/base/rawjson"
)

// Valid returns content that a form's schema accepts, if it can find any: the fields'
// defaults, else made-up values. It omits optional fields without an acceptable value.
func Valid(fields []Field) json.RawMessage {
	var content rawjson.ObjectWriter
	for i := range fields {
		f := &fields[i]
		candidates := f.examples()
		value := f.firstOf(candidates)
		if i := slices.IndexFunc(candidates, f.sends); value == nil && f.Required && i >= 0 {
			value = candidates[i]
		}
		content.Add(f.Name, value)
	}
	return content.JSON()
}

// Arguments makes up arguments that are valid by an input schema. It takes the default of
// each property; required properties without a default get an example of the schema, or
// else a value of their type, and optional ones are omitted. It returns nil for a schema
// without properties.
func Arguments(schema json.RawMessage) (json.RawMessage, error) {
	arguments, err := within(schema).arguments(schema)
	if arguments == nil || err != nil {
		return nil, err
	}
	problems, err := Check(schema, arguments)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its input schema cannot be used: %w", err)
	case len(problems) > 0:
		return nil, errors.New("its input schema refuses what was made up: " + problems[0].Text)
	}
	return arguments, nil
}

func (r *references) arguments(schema json.RawMessage) (json.RawMessage, error) {
	fields, err := r.fieldsOf(schema)
	if err != nil {
		return nil, err
	}
	var object rawjson.ObjectWriter
	for i := range fields {
		f := &fields[i]
		if !f.Required && f.Default == nil {
			continue
		}
		candidates := []json.RawMessage{f.Default}
		for _, example := range rawjson.Elements(f.Keywords()["examples"]) {
			candidates = append(candidates, example)
		}
		candidates = append(append(candidates, f.Keywords()["example"]), f.examples()...)
		if r.nested++; f.Keywords().Text("type") == "object" && r.nested <= nestedMost {
			if inner, err := r.arguments(f.Schema); err == nil {
				candidates = append(candidates, inner)
			}
		}
		value := f.firstOf(candidates)
		if value == nil {
			return nil, fmt.Errorf("no value could be made up for its argument %q", f.Name)
		}
		object.Add(f.Name, rawjson.AppendCompact(nil, value))
	}
	if object == nil {
		return nil, nil
	}
	return object.JSON(), nil
}

// firstOf returns the first of the candidates that the field's schema accepts; nil if it
// accepts none.
func (f *Field) firstOf(candidates []json.RawMessage) json.RawMessage {
	for _, value := range candidates {
		if value != nil && f.sends(value) && f.Takes(value) {
			return value
		}
	}
	return nil
}

// Takes reports whether the field's schema accepts a value; false if the check fails with
// an error.
func (f *Field) Takes(value json.RawMessage) bool {
	problems, err := f.check(value)
	return err == nil && len(problems) == 0
}

// Refuses reports whether the field's schema rejects a value; false if the check fails
// with an error.
func (f *Field) Refuses(value json.RawMessage) bool {
	problems, err := f.check(value)
	return err == nil && len(problems) > 0
}

// check checks a value against the field's schema. Where that refers to other parts of the whole
// schema, it is checked as the items of a list beside these parts, so that nothing else applies.
func (f *Field) check(value json.RawMessage) ([]Problem, error) {
	if f.root == nil {
		return Check(f.Schema, value)
	}
	var parts rawjson.ObjectWriter
	for name, part := range rawjson.Members(f.root) {
		if slices.Contains([]string{"$schema", "$id", "$defs", "definitions", "properties"}, name) {
			parts.Add(name, part)
		}
	}
	parts.Add("items", f.Schema)
	return Check(parts.JSON(), slices.Concat([]byte("["), value, []byte("]")))
}

// examples returns candidates for a field's value, the most likely first.
func (f *Field) examples() []json.RawMessage {
	var list []json.RawMessage
	if f.Default != nil {
		list = append(list, f.Default)
	}
	if f.Const != nil {
		list = append(list, f.Const)
	}
	return append(list, f.Kind.examples(f)...)
}

// bound returns *n, or otherwise if n is nil.
func bound(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}
