package elicit

import (
	"reflect"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

func TestParse(t *testing.T) {
	r, err := Parse([]byte(` { "message" : "Who?", "requestedSchema":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}, "_meta":{} } `))
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != ModeForm || r.Message != "Who?" || r.Trouble != "" {
		t.Errorf("got %+v", r)
	}
	if names(r.Fields) != "z a" {
		t.Errorf("fields are %q, want them in the schema's order", names(r.Fields))
	}
	r, err = Parse([]byte(`{"mode":"url","message":"Sign in","url":"https://example.com/x","elicitationId":"e-1"}`))
	if err != nil || r.Mode != ModeURL || r.URL != "https://example.com/x" || r.ElicitationID != "e-1" || r.Trouble != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = Parse([]byte(`{"mode":"voice"}`))
	if err != nil || r.Mode != "voice" {
		t.Errorf("got %+v, %v", r, err)
	}
	for params, want := range map[string]string{
		``:                  "has no params",
		`null`:              "are null, not an object",
		`[]`:                "are an array, not an object",
		`{"message":1}`:     `"message" is a number, not a string`,
		`{"mode":null}`:     `"mode" is null, not a string`,
		`{"url":{}}`:        `"url" is an object, not a string`,
		`{"message":"a"`:    "are not JSON: column 15: the text ends",
		`{"message":"a"} {`: "expected nothing after the value",
	} {
		if _, err := Parse([]byte(params)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want %q in it", params, err, want)
		}
	}
	for params, want := range map[string]string{
		`{"message":"a"}`:                                                                          "The question has no requestedSchema.",
		`{"message":"a","requestedSchema":true}`:                                                   "The schema is a boolean, not an object.",
		`{"message":"a","requestedSchema":null}`:                                                   "The schema is null, not an object.",
		`{"message":"a","requestedSchema":{"type":"string"}}`:                                      `The schema does not ask for an object, its type is "string".`,
		`{"message":"a","requestedSchema":{"properties":[]}}`:                                      "The schema's properties are an array, not an object.",
		`{"message":"a","requestedSchema":{"type":["object","null"]}}`:                             "",
		`{"message":"a","requestedSchema":{"type":"object"}}`:                                      "",
		`{"message":"a","requestedSchema":{"required":["a"]}}`:                                     "The schema has no properties, and says in another way what it takes (required).",
		`{"message":"a","requestedSchema":{"allOf":[{},{}]}}`:                                      "The schema has no properties, and combines several schemas (allOf).",
		`{"message":"a","requestedSchema":{"properties":{},"anyOf":[{"properties":{"a":{}}},{}]}}`: "The schema has no properties, and says in another way what it takes (anyOf).",
		`{"message":"a","requestedSchema":{"additionalProperties":{"not":{}},"required":[ ]}}`:     "",
		`{"message":"a","requestedSchema":{"properties":{"a":{"b":1}}}`:                            "",
	} {
		r, err := Parse([]byte(params + strings.Repeat("}", strings.Count(params, "{")-strings.Count(params, "}"))))
		if err != nil || r.Trouble != want {
			t.Errorf("Parse(%s): trouble %q, %v; want %q", params, r.Trouble, err, want)
		}
	}
}

func names(fields []Field) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.Name)
	}
	return strings.Join(list, " ")
}

func ptr(n int) *int { return &n }

// field returns the field of a schema's only property.
func field(t *testing.T, property string) Field {
	t.Helper()
	fields, err := FieldsOf([]byte(`{"type":"object","properties":{"p":` + property + `},"required":["p"]}`))
	if err != nil || len(fields) != 1 {
		t.Fatalf("%s gives %v, %v", property, fields, err)
	}
	f := fields[0]
	if f.Name != "p" || !f.Required || string(f.Schema) != property {
		t.Errorf("%s gives %+v", property, f)
	}
	f.Name, f.Required, f.Schema, f.keywords = "", false, nil, nil
	return f
}

func TestEveryKindOfField(t *testing.T) {
	for _, tt := range []struct {
		property string
		want     Field
	}{
		{`{"type":"string"}`, Field{Label: "p", Kind: Text}},
		{`{"type":"string","title":"Name","description":"Yours","minLength":2,"maxLength":5e0,"pattern":"^a","format":"email","default":"x"}`,
			Field{Label: "Name", Description: "Yours", Kind: Text, MinLength: ptr(2), MaxLength: ptr(5), Pattern: "^a", Format: "email", Default: []byte(`"x"`)}},
		{`{"type":"string","title":" "}`, Field{Label: "p", Kind: Text}},
		{`{"type":"number","minimum":0.10,"maximum":1e3,"default":0.50}`,
			Field{Label: "p", Kind: Number, Minimum: "0.10", Maximum: "1e3", Default: []byte(`0.50`)}},
		{`{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":9007199254740993,"multipleOf":2,"minimum":"no"}`,
			Field{Label: "p", Kind: Integer, ExclusiveMinimum: "1", ExclusiveMaximum: "9007199254740993", MultipleOf: "2"}},
		{`{"type":"boolean","default":false}`, Field{Label: "p", Kind: Boolean, Default: []byte(`false`)}},
		{`{"type":"string","enum":["a","b"]}`, Field{Label: "p", Kind: SingleChoice, Choices: []Choice{{"a", "a"}, {"b", "b"}}}},
		{`{"enum":["a"]}`, Field{Label: "p", Kind: SingleChoice, Choices: []Choice{{"a", "a"}}}},
		{`{"type":"string","enum":["a","b","c"],"enumNames":["A","",3,"more"],"default":"a"}`,
			Field{Label: "p", Kind: SingleChoice, Choices: []Choice{{"a", "A"}, {"b", "b"}, {"c", "c"}}, Default: []byte(`"a"`)}},
		{`{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"x"}]}`,
			Field{Label: "p", Kind: SingleChoice, Choices: []Choice{{"#f00", "Red"}, {"x", "x"}}}},
		{`{"type":"string","anyOf":[{"const":"a","title":"A"}]}`, Field{Label: "p", Kind: SingleChoice, Choices: []Choice{{"a", "A"}}}},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2,"default":["a"]}`,
			Field{Label: "p", Kind: MultiChoice, Choices: []Choice{{"a", "a"}, {"b", "b"}}, MinItems: ptr(1), MaxItems: ptr(2), Default: []byte(`["a"]`)}},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`, Field{Label: "p", Kind: MultiChoice, Choices: []Choice{{"a", "A"}}}},
		{`{"type":"array","items":{"type":"string","oneOf":[{"const":"a","title":"A"}]}}`, Field{Label: "p", Kind: MultiChoice, Choices: []Choice{{"a", "A"}}}},
	} {
		if got := field(t, tt.property); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s\n got %+v\nwant %+v", tt.property, got, tt.want)
		}
	}
}

func TestWhatIsNoOrdinaryFieldIsJSON(t *testing.T) {
	for property, why := range map[string]string{
		`true`:              "Its schema is just true, which says nothing of the value.",
		`false`:             "Its schema is just false, which allows no value at all.",
		`3`:                 "Its schema is a number, not an object.",
		`{}`:                "Its schema names no type.",
		`{"type":"object"}`: "It is a nested object.",
		`{"type":"object","properties":{"a":{"type":"string"}}}`: "Its schema describes a nested object (properties).",
		`{"type":"null"}`:                                          "It can only be null.",
		`{"type":"file"}`:                                          `Its type is "file", which JSON Schema does not have.`,
		`{"type":3}`:                                               "Its type is a number, not a name.",
		`{"type":["string","integer"]}`:                            "Its schema allows several types (string, integer).",
		`{"type":"string","$ref":"#/$defs/x"}`:                     "Its schema refers to another schema ($ref).",
		`{"type":"string","allOf":[]}`:                             "Its schema combines several schemas (allOf).",
		`{"const":{"a":1}}`:                                        "It is a nested object.",
		`{"type":"string","not":{"enum":["a"]}}`:                   "Its schema excludes what another schema allows (not).",
		`{"anyOf":[{"type":"string"},{"type":"integer"}]}`:         "Entry 1 of its anyOf is not a constant.",
		`{"type":"string","oneOf":[{"const":1,"title":"One"}]}`:    "Choice 1 is a number, not a string.",
		`{"type":"string","enum":["a",1]}`:                         "Choice 2 is a number, not a string.",
		`{"minLength":1,"allOf":[{"minLength":2}]}`:                "Its schema gives minLength in two places.",
		`{"type":"string","enum":[]}`:                              "Its enum is empty, so there is nothing to choose.",
		`{"type":"string","enum":"a"}`:                             "Its enum is a string, not a list.",
		`{"type":"string","enum":["a"],"oneOf":[{"const":"a"}]}`:   "Its choices are given twice, by enum and oneOf.",
		`{"type":"integer","enum":[1,2]}`:                          "Its choices (enum) are numbers, not strings.",
		`{"type":"array"}`:                                         "It is a list of free values.",
		`{"type":"array","items":true}`:                            "It is a list of free values.",
		`{"type":"array","items":{"type":"string"}}`:               "It is a list of free values.",
		`{"type":"array","items":{"type":"object"}}`:               `It is a list of values of type "object", not of choices.`,
		`{"type":"array","items":{"$ref":"#"}}`:                    "The schema of its items describes a nested object (properties).",
		`{"type":"array","prefixItems":[],"items":{"enum":["a"]}}`: "Its schema describes a list place by place (prefixItems).",
		`{"type":"array","items":{"type":["null","integer"]}}`:     `It is a list of values of type "integer", not of choices.`,
	} {
		f := field(t, property)
		if f.Kind != JSON || f.Why != why {
			t.Errorf("%s is of kind %v: %q, want JSON: %q", property, f.Kind, f.Why, why)
		}
	}
}

func TestDuplicatePropertyKeepsItsPlaceAndTheLastMeaning(t *testing.T) {
	fields, err := FieldsOf([]byte(`{"properties":{"a":{"type":"string"},"b":{"type":"string"},"a":{"type":"integer"}}}`))
	if err != nil || names(fields) != "a b" || fields[0].Kind != Integer {
		t.Errorf("got %+v, %v", fields, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X"]},"b":{"type":"array","items":{"anyOf":[{"const":"y","title":"Y"}]}}},"required":["a"]}}`,
		`{"mode":"url","url":"https://example.com","elicitationId":"1","message":"go"}`,
		`{"requestedSchema":{"properties":{"a":{"type":"integer","minimum":1e999,"default":[]},"a":true}}}`,
		`{"requestedSchema":{"properties":{"":{"oneOf":[{"const":"\ud800"}]}}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		r, err := Parse(params)
		if err != nil {
			return
		}
		for _, field := range r.Fields {
			if (field.Kind == JSON) != (field.Why != "") {
				t.Fatalf("field %+v of %q", field, params)
			}
			if choice := field.Kind == SingleChoice || field.Kind == MultiChoice; choice != (len(field.Choices) > 0) {
				t.Fatalf("field %+v of %q", field, params)
			}
		}
		content, _ := Content(r.Fields, Defaults(r.Fields))
		if err := rawjson.Check(content); err != nil {
			t.Fatalf("defaults of %q give %q: %v", params, content, err)
		}
		if r.Schema != nil {
			_, _ = Check(r.Schema, content)
		}
	})
}
