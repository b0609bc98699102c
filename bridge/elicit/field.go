package elicit

import "encoding/json"

// FieldKind says which control stands for a property.
type FieldKind int

// The kinds of field.
const (
	Text        FieldKind = iota // a string; see Field.Format
	Number                       // any JSON number
	Integer                      // a number without a fraction
	Boolean                      // true, false, or unset
	SingleChoice                 // one of Field.Choices
	MultiChoice                  // any number of Field.Choices
	JSON                         // raw JSON text, where no other control will do; see Field.Why
)

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
	Default  json.RawMessage // exact bytes; nil if none
	Schema   json.RawMessage // exact bytes of the property's schema
	Why      string          // of Kind JSON: why no other control will do, in words
}

// String names the kind in a word.
func (k FieldKind) String() string {
	switch k {
	case Text:
		return "text"
	case Number:
		return "number"
	case Integer:
		return "integer"
	case Boolean:
		return "boolean"
	case SingleChoice:
		return "choice"
	case MultiChoice:
		return "multiple choice"
	case JSON:
		return "JSON"
	}
	return "unknown"
}
