package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Field is one property of a schema, as a form control.
type Field struct {
	Name        string // the property's name
	Label       string // the schema's title, else Name
	Description string
	Kind        Kind
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
	fileLimits
	Default  json.RawMessage // exact bytes; nil if the schema gives none
	Const    json.RawMessage // the only value that the schema allows; nil if it names none
	Nullable bool            // the schema also allows null
	Schema   json.RawMessage // exact bytes of the property's schema
	Why      string          // for Kind JSON: why no other control fits, in words
	// Restricted says that the value goes into the answer to a question, where only some
	// values may be; see [Sendable].
	Restricted bool

	keywords Keywords        // of the schema that Schema means
	root     json.RawMessage // the whole schema if this one refers to it, else nil
}

// Keywords returns the keywords that the control is made from: those of the property's schema,
// or of the schema that it refers to.
func (f *Field) Keywords() Keywords {
	if f.keywords == nil {
		return KeywordsOf(f.Schema)
	}
	return f.keywords
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
func FieldsOf(schema json.RawMessage) ([]Field, error) { return within(schema).fieldsOf(schema) }

func (r *references) fieldsOf(schema json.RawMessage) ([]Field, error) {
	if len(rawjson.Trim(schema)) == 0 {
		return nil, nil
	}
	if err := checkObject("the schema is", schema); err != nil {
		return nil, err
	}
	keyword, _, _ := r.meant(schema)
	if t, ok := keyword["type"]; ok {
		if name := rawjson.Text(t); name != "object" && !slices.Contains(stringsOf(t), "object") {
			return nil, fmt.Errorf("the schema does not ask for an object, its type is %s", wording.Shorten(string(t), 80))
		}
	}
	properties, ok := keyword["properties"]
	if t := rawjson.KindOf(properties); ok && t != rawjson.Object {
		return nil, fmt.Errorf("the schema's properties are %s, not an object", wording.WithArticle(t))
	}
	fields, all := r.fieldsIn(properties, keyword["required"])
	switch {
	case !all:
		return nil, fmt.Errorf("the schema has more than %d properties, and this inspector draws no more", maxFields)
	case len(fields) == 0:
		return nil, keyword.otherMembers()
	}
	return fields, nil
}

// otherMembers returns an error if a schema without properties asks for members in another
// way, which no form can show.
func (k Keywords) otherMembers() error {
	delete(k, "properties")
	if err := k.beyond("the schema has no properties, and"); err != nil {
		return err
	}
	for _, name := range []string{"anyOf", "oneOf", "required", "minProperties", "additionalProperties"} {
		if value := string(rawjson.AppendCompact(nil, k[name])); !slices.Contains([]string{"", "[]", "0", "true", "false", `{"not":{}}`}, value) {
			return fmt.Errorf("the schema has no properties, and says in another way what it takes (%s)", name)
		}
	}
	return nil
}

// FieldsIn reads the fields of a schema's "properties", with the names in its
// "required". It reads at most as many fields as a form can have; all is false if there are more.
func FieldsIn(schema json.RawMessage) (fields []Field, all bool) {
	return within(schema).fieldsIn(rawjson.Member(schema, "properties"), rawjson.Member(schema, "required"))
}

// fieldsIn returns a field for each property that it can read. all is false if it left one out.
func (r *references) fieldsIn(properties, required json.RawMessage) (fields []Field, all bool) {
	isRequired := make(map[string]bool)
	for _, name := range stringsOf(required) {
		isRequired[name] = true
	}
	index := make(map[string]int)
	choices := 0
	var field Field
	for name, property := range rawjson.Members(properties) {
		field = Field{Name: name, Label: name, Required: isRequired[name], Kind: JSON, Schema: property}
		r.readField(&field)
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

func indexOf(fields []Field) map[string]int {
	index := make(map[string]int, len(fields))
	for i, f := range fields {
		index[f.Name] = i
	}
	return index
}

// checkObject returns an error if raw is not a JSON object. is begins its text: a subject
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

// readField reads what the schema of a property says.
func (r *references) readField(f *Field) {
	schema := f.Schema
	switch rawjson.KindOf(schema) {
	case rawjson.Object:
	case rawjson.Boolean:
		f.Why = "Its schema is just " + string(schema) + ", which says nothing of the value."
		if schema[0] == 'f' {
			f.Why = "Its schema is just false, which allows no value at all."
		}
		return
	default:
		f.Why = "Its schema is " + wording.WithArticle(rawjson.KindOf(schema)) + ", not an object."
		return
	}
	k, nullable, err := r.meant(schema)
	if bytes.Contains(schema, []byte(`"$ref"`)) {
		f.root = r.root
	}
	f.keywords, f.Nullable = k, nullable
	f.Label = titled(k.Text("title"), f.Name)
	f.Description = k.Text("description")
	f.Default, f.Const = k["default"], k["const"]
	if err == nil {
		err = f.control(r, k)
	}
	if err != nil {
		f.Kind = JSON
		f.Choices = nil
		f.Why = wording.Sentence(err.Error())
	}
}

// control sets the kind of control for a property, and its limits. The error says why no
// control but JSON fits.
func (f *Field) control(r *references, k Keywords) error {
	if err := k.beyond("its schema"); err != nil {
		return err
	}
	t, err := typeKeyword(k["type"])
	if err != nil {
		return err
	}
	if t == "" && f.Const != nil {
		t = string(rawjson.KindOf(f.Const))
	}
	for _, kind := range kinds {
		if kind.reads(t, k) {
			f.Kind = kind
			return kind.read(f, k, r)
		}
	}
	switch t {
	case "":
		_ = Text.read(f, k, r) // it is most often meant as a string
		return errors.New("its schema names no type")
	case "object":
		return errors.New("it is a nested object")
	case "null":
		return errors.New("it can only be null")
	}
	return fmt.Errorf("its type is %s, which JSON Schema does not have", wording.Quoted(t))
}

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
