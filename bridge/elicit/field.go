package elicit

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// FieldKind says which control stands for a property.
type FieldKind int

// The kinds of field.
const (
	Text         FieldKind = iota // a string; see Field.Format
	Number                        // any JSON number
	Integer                       // a number without a fraction
	Boolean                       // true, false, or unset
	SingleChoice                  // one of Field.Choices
	MultiChoice                   // any number of Field.Choices
	JSON                          // raw JSON text, where no other control will do; see Field.Why
)

// String names the kind in a word.
func (k FieldKind) String() string {
	return [...]string{"text", "number", "integer", "boolean", "choice", "multiple choice", "JSON"}[k]
}

// Choice is one value that can be picked.
type Choice struct {
	Value string // what goes over the wire
	Title string // what people read; the value where the schema names none
}

// Field is one property of a schema, as a control.
type Field struct {
	Name        string // the property's name
	Label       string // the schema's title, else Name
	Description string
	Kind        FieldKind
	Required    bool
	Format      string // email, uri, date, date-time, or whatever the schema said
	MinLength   *int   // in Unicode code points; nil if there is no limit
	MaxLength   *int   // in Unicode code points; nil if there is no limit
	Pattern     string // ECMA-262, unanchored; "" if none
	// The limits of a number with the schema's own digits, "" if there is none.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf string

	Choices  []Choice
	MinItems *int // of a MultiChoice; nil if there is no limit
	MaxItems *int
	Default  json.RawMessage // exact bytes; nil if the schema gives none
	Schema   json.RawMessage // exact bytes of the property's schema
	Why      string          // of Kind JSON: why no other control will do, in words
}

// Bounds on what is drawn as a form. A schema beyond them is answered as JSON.
const (
	maxFields  = 1_000
	maxChoices = 100_000 // of all fields together
)

// FieldsOf reads the fields of a form from a requestedSchema, or from a tool's
// inputSchema, in the schema's own order. No schema means no fields. The error
// says why no form can be drawn at all; a property that only has no control of
// its own becomes a field of kind [JSON]. Of a property that stands twice the
// last counts, as it does for JSON decoders, at the place of the first.
func FieldsOf(schema json.RawMessage) ([]Field, error) {
	if len(rawjson.Trim(schema)) == 0 {
		return nil, nil
	}
	if err := checkObject("the schema is", schema); err != nil {
		return nil, err
	}
	keyword := KeywordsOf(schema)
	if t, ok := keyword["type"]; ok {
		if name := rawjson.Text(t); name != "object" && !slices.Contains(stringsOf(t), "object") {
			return nil, fmt.Errorf("the schema does not ask for an object, its type is %s", wording.Shorten(string(t), 80))
		}
	}
	properties, ok := keyword["properties"]
	if !ok {
		return nil, nil
	}
	if t := rawjson.KindOf(properties); t != rawjson.Object {
		return nil, fmt.Errorf("the schema's properties are %s, not an object", wording.WithArticle(t))
	}
	fields, all := FieldsIn(properties, keyword["required"])
	if !all {
		return nil, fmt.Errorf("the schema has more than %d properties", maxFields)
	}
	return fields, nil
}

// FieldsIn reads the fields of a schema's properties, of which some are required. It
// stops after as many as a form can have, and reports whether that was all.
func FieldsIn(properties, required json.RawMessage) (fields []Field, all bool) {
	isRequired := make(map[string]bool)
	for _, name := range stringsOf(required) {
		isRequired[name] = true
	}
	index := make(map[string]int)
	choices := 0
	for name, property := range rawjson.Members(properties) {
		field := fieldOf(name, property, isRequired[name])
		if choices += len(field.Choices); choices > maxChoices {
			choices -= len(field.Choices)
			field.Kind, field.Choices = JSON, nil
			field.Why = fmt.Sprintf("The whole form has more than %d choices.", maxChoices)
		}
		if i, again := index[name]; again {
			fields[i] = field
			continue
		}
		if len(fields) == maxFields {
			return fields, false
		}
		index[name] = len(fields)
		fields = append(fields, field)
	}
	return fields, true
}

// checkObject says why raw is no JSON object. What it is called comes with its verb.
func checkObject(is string, raw json.RawMessage) error {
	if err := rawjson.Check(raw); err != nil {
		return fmt.Errorf("%s not JSON: %w", is, err)
	}
	if t := rawjson.KindOf(raw); t != rawjson.Object {
		return fmt.Errorf("%s %s, not an object", is, wording.WithArticle(t))
	}
	return nil
}
