package elicit

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// FieldKind is the kind of form control for a property.
type FieldKind int

// The kinds of field.
const (
	Text         FieldKind = iota // a string; see Field.Format
	Number                        // any JSON number
	Integer                       // a number without a fraction
	Boolean                       // true, false, or unset
	SingleChoice                  // one of Field.Choices
	MultiChoice                   // any number of Field.Choices
	JSON                          // raw JSON text, for a property that fits no other control; see Field.Why
)

// String returns the kind as a word for people, such as "choice".
func (k FieldKind) String() string {
	return [...]string{"text", "number", "integer", "boolean", "choice", "multiple choice", "JSON"}[k]
}

// Choice is one value that a person can pick.
type Choice struct {
	Value string // the value in the answer
	Title string // the label in the form; Value if the schema has no title
}

// Field is one property of a schema, as a form control.
type Field struct {
	Name        string // the property's name
	Label       string // the schema's title, else Name
	Description string
	Kind        FieldKind
	Required    bool
	Format      string // email, uri, date, date-time, or any other value of the schema's "format"
	MinLength   *int   // in Unicode code points; nil if there is no limit
	MaxLength   *int   // in Unicode code points; nil if there is no limit
	Pattern     string // ECMA-262, unanchored; "" if none
	// The limits of a number in the schema's own digits; "" if the schema has no such
	// limit.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf string

	Choices  []Choice
	MinItems *int // least number of picks in a MultiChoice; nil if there is no limit
	MaxItems *int
	Default  json.RawMessage // exact bytes; nil if the schema gives none
	Schema   json.RawMessage // exact bytes of the property's schema
	Why      string          // for Kind JSON: why no other control fits, in words
}

// Bounds on the size of a form. A larger schema is answered as JSON.
const (
	maxFields  = 1_000
	maxChoices = 100_000 // of all fields together
)

// FieldsOf reads the fields of a form from a requestedSchema, or from a tool's
// inputSchema, in the schema's own order. No schema means no fields. The error says why
// the schema as a whole cannot be a form; a single property that fits no control becomes
// a field of kind [JSON]. If a property is given twice, the last one counts, as it does
// for JSON decoders, in the position of the first.
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

// FieldsIn reads the fields of a schema's "properties", with the names in its
// "required". It reads at most as many fields as a form can have; all reports whether
// these are all of them.
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

// indexOf returns the indexes of fields by their names.
func indexOf(fields []Field) map[string]int {
	index := make(map[string]int, len(fields))
	for i, f := range fields {
		index[f.Name] = i
	}
	return index
}

// checkObject returns an error if raw is no JSON object. is begins its text: a subject
// and verb, such as "the schema is".
func checkObject(is string, raw json.RawMessage) error {
	if err := rawjson.Check(raw); err != nil {
		return fmt.Errorf("%s not JSON: %w", is, err)
	}
	if t := rawjson.KindOf(raw); t != rawjson.Object {
		return fmt.Errorf("%s %s, not an object", is, wording.WithArticle(t))
	}
	return nil
}
