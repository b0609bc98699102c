package elicit

import (
	"strings"
	"testing"
)

// What a schema says by a reference, or of X or null, becomes the control for X.
func TestSchemasMeanAField(t *testing.T) {
	const defs = `"$defs":{"Colour":{"title":"Colour","enum":["red","green"],"type":"string"},"Maybe":{"anyOf":[{"$ref":"#/$defs/Colour"},{"type":"null"}],"default":null},"a/b c":{"type":"integer","minimum":3}}`
	for property, want := range map[string]struct {
		kind      Kind
		untouched string // what an untouched form sends
		valid     string // what is made up
	}{
		`{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}],"default":null}`: {Text, `{}`, ``},
		`{"type":["integer","null"],"default":null}`:                                 {Integer, `{}`, ``},
		`{"type":["null","boolean"]}`:                                                {Boolean, `{}`, `{"p":true}`},
		`{"enum":["a",null],"default":null}`:                                         {SingleChoice, `{}`, ``},
		`{"oneOf":[{"const":"a"},{"const":"b"},{"type":"null"}],"default":"b"}`:      {SingleChoice, `{"p":"b"}`, `{"p":"b"}`},
		`{"$ref":"#/$defs/Colour","default":"red"}`:                                  {SingleChoice, `{"p":"red"}`, `{"p":"red"}`},
		`{"$ref":"#/$defs/Maybe"}`:                                                   {SingleChoice, `{}`, ``},
		`{"allOf":[{"$ref":"#/$defs/a~1b%20c"}],"description":"many"}`:               {Integer, `{}`, `{"p":3}`},
		`{"type":"array","items":{"$ref":"#/$defs/Colour"}}`:                         {MultiChoice, `{}`, `{"p":["red"]}`},
		`{"const":"only"}`:          {SingleChoice, `{"p":"only"}`, `{"p":"only"}`},
		`{"const":5.0}`:             {Number, `{"p":5.0}`, `{"p":5.0}`},
		`{"const":{"a":1}}`:         {JSON, `{"p":{"a":1}}`, `{"p":{"a":1}}`},
		`{"$ref":"#/$defs/none"}`:   {JSON, `{}`, ``},
		`{"$ref":"#/properties/p"}`: {JSON, `{}`, ``},
	} {
		required := ""
		if strings.Contains(property, "const\":") && want.kind != SingleChoice || strings.Contains(property, "only") {
			required = `"p"`
		}
		schema := []byte(`{"type":"object","properties":{"p":` + property + `},"required":[` + required + `],` + defs + `}`)
		fields, err := FieldsOf(schema)
		if err != nil || len(fields) != 1 || fields[0].Kind != want.kind || fields[0].Label != "p" {
			t.Errorf("%s gives %+v, %v", property, fields, err)
			continue
		}
		if got, _ := Content(fields, Defaults(fields)); string(got) != want.untouched {
			t.Errorf("%s: an untouched form sends %s, want %s", property, got, want.untouched)
		}
		if got := Valid(fields); want.valid != "" && string(got) != want.valid {
			t.Errorf("%s: %s is made up, want %s", property, got, want.valid)
		}
	}
}

// Of itself, nothing answers with a value that no answer may have, and Check says why.
func TestAnswersHaveOnlySomeValues(t *testing.T) {
	for property, want := range map[string]struct{ untouched, valid string }{
		`{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}`: {`{}`, `{"p":"text"}`},
		`{"type":"string","default":null}`:                             {`{}`, `{"p":"text"}`},
		`{"default":null}`:                                             {`{}`, `{"p":"text"}`},
		`{"type":"object","default":{"a":1}}`:                          {`{}`, `{}`},
		`{"type":"array","items":{"type":"integer"},"default":[1]}`:    {`{}`, `{"p":[]}`},
		`{"type":"array","items":{"type":"string"},"default":["a"]}`:   {`{"p":["a"]}`, `{"p":["a"]}`},
		`{"enum":[null,{"a":1},7]}`:                                    {`{}`, `{"p":7}`},
		`{"const":null}`:                                               {`{}`, `{}`},
		`{"type":["integer","string"],"default":5}`:                    {`{"p":5}`, `{"p":5}`},
		`{"type":"array","items":{"enum":["a","b"]},"default":["b"]}`:  {`{"p":["b"]}`, `{"p":["b"]}`},
		`{"type":"string","enum":["a"],"default":null}`:                {`{}`, `{"p":"a"}`},
	} {
		r, err := Parse([]byte(`{"message":"m","requestedSchema":{"type":"object","properties":{"p":` + property + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		got, problems, err := CheckInputs(r.Schema, r.Fields, Defaults(r.Fields))
		if string(got) != want.untouched || len(problems) > 0 || err != nil {
			t.Errorf("%s: an untouched form sends %s, want %s; %v %v", property, got, want.untouched, problems, err)
		}
		if got := Valid(r.Fields); string(got) != want.valid {
			t.Errorf("%s: %s is made up, want %s", property, got, want.valid)
		}
	}
}

// Made-up arguments follow references, and end where those do not.
func TestArgumentsFollowReferences(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"required":["b"]},"B":{"type":"object","properties":{"c":{"$ref":"#/$defs/C"}},"required":["c"]},"C":{"type":"integer","minimum":7}}}`: `{"b":{"c":7}}`,
		`{"type":"object","properties":{"n":{"$ref":"#"}},"required":["n"]}`: "",
		`{"anyOf":[{"properties":{"a":{}}},{}]}`:                             "",
	} {
		got, err := Arguments([]byte(schema))
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s gives %s, %v", schema, got, err)
		}
	}
}
