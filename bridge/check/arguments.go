package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/rawjson"
)

// MadeUp makes up arguments that are valid by an input schema. It takes the default of
// each property; required properties without a default get an example, or else a value of
// their type, and optional ones are omitted. It returns nil for a schema without
// properties.
func MadeUp(schema json.RawMessage) (json.RawMessage, error) {
	fields, err := elicit.FieldsOf(schema)
	if err != nil {
		return nil, err
	}
	var members []string
	for _, f := range fields {
		if !f.Required && f.Default == nil {
			continue
		}
		value, err := argument(f)
		if err != nil {
			return nil, err
		}
		members = append(members, string(rawjson.Quoted(f.Name))+":"+string(value))
	}
	if members == nil {
		return nil, nil
	}
	arguments := json.RawMessage("{" + strings.Join(members, ",") + "}")
	problems, err := elicit.Check(schema, arguments)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its input schema cannot be used: %w", err)
	case len(problems) > 0:
		return nil, errors.New("its input schema refuses what was made up: " + problems[0].Text)
	}
	return arguments, nil
}

// argument returns a valid value for a property of the schema.
func argument(f elicit.Field) (json.RawMessage, error) {
	candidates := []json.RawMessage{f.Default}
	for _, example := range rawjson.Elements(rawjson.Member(f.Schema, "examples")) {
		candidates = append(candidates, example)
	}
	candidates = append(candidates, rawjson.Member(f.Schema, "example"), rawjson.Member(fault.Valid(&elicit.Request{Fields: []elicit.Field{f}}), f.Name))
	if rawjson.Text(rawjson.Member(f.Schema, "type")) == "object" {
		if inner, err := MadeUp(f.Schema); err == nil && inner != nil {
			candidates = append(candidates, inner)
		}
	}
	for _, value := range candidates {
		if value == nil {
			continue
		}
		if problems, err := elicit.Check(f.Schema, value); err == nil && len(problems) == 0 {
			return rawjson.AppendCompact(nil, value), nil
		}
	}
	return nil, fmt.Errorf("no value could be made up for its argument %q", f.Name)
}
