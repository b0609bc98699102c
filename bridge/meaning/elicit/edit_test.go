package elicit

import (
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

func TestEdited(t *testing.T) {
	const start = `{"x":1.50,"requestedSchema":{"required":["b"],"properties":{"a":{"type":"number","title":"A","maximum":2.50},"b":{"type":"string"}},"type":"object"},"message":"Go on?"}`
	for _, c := range []struct {
		name string
		edit Edit
		want string // of the schema's members, or of the error
		at   string // below the properties
	}{
		{"insert", Edit{Do: Insert, Value: "date"}, `"b":{"type":"string"},"date":{"type":"string","title":"Date","format":"date"}}`, "date"},
		{"down", Edit{Do: Down, Field: "a"}, `"properties":{"b":{"type":"string"},"a":{"type":"number","title":"A","maximum":2.50}}`, "a"},
		{"up", Edit{Do: Up, Field: "b"}, `"properties":{"b":{"type":"string"},"a":`, "b"},
		{"beyond", Edit{Do: Up, Field: "a"}, "cannot be moved further", ""},
		{"remove", Edit{Do: Remove, Field: "b"}, `"required":[],"properties":{"a":`, ""},
		{"require", Edit{Do: Require, Field: "a"}, `"required":["b","a"]`, "a"},
		{"no longer", Edit{Do: Require, Field: "b"}, `"required":[]`, "b"},
		{"rename", Edit{Do: Rename, Field: "b", Value: "c/d"}, `"required":["c/d"],"properties":{"a":{"type":"number","title":"A","maximum":2.50},"c/d":{`, "c~1d"},
		{"taken", Edit{Do: Rename, Field: "b", Value: "a"}, "a name of its own", ""},
		{"title", Edit{Do: Retitle, Field: "b", Value: `"B"`}, `"b":{"type":"string","title":"\"B\""}`, "b"},
		{"no title", Edit{Do: Retitle, Field: "a"}, `"a":{"type":"number","maximum":2.50}`, "a"},
		{"keyword", Edit{Do: Keyword, Field: "a", Value: "minimum"}, `"maximum":2.50,"minimum":0}`, "a/minimum"},
		{"keyword there", Edit{Do: Keyword, Field: "a", Value: "maximum"}, "takes no further", ""},
		{"default", Edit{Do: Keyword, Field: "a", Value: "default"}, `"maximum":2.50,"default":1}`, "a/default"},
		{"unknown field", Edit{Do: Remove, Field: "z"}, "no field", ""},
		{"unknown edit", Edit{Do: "paint", Field: "a"}, "no edit", ""},
	} {
		edited, at, err := Edited(json.RawMessage(start), c.edit)
		compact, _ := rawjson.Compact([]byte(edited))
		if err != nil {
			compact = []byte(err.Error())
		} else if !strings.HasPrefix(edited, "{\n  \"x\": 1.50,\n") || !strings.HasSuffix(string(compact), `,"type":"object"},"message":"Go on?"}`) {
			t.Errorf("%s: something else has changed: %s", c.name, edited)
		}
		if !strings.Contains(string(compact), c.want) || strings.TrimPrefix(at, "/requestedSchema/properties/") != c.at {
			t.Errorf("%s: %q, %s, want %q, %s", c.name, at, compact, c.at, c.want)
		}
	}
}

// TestReworded checks that a question gets another message, and one in URL mode, too.
func TestReworded(t *testing.T) {
	for _, question := range []string{`{"message":"Go on?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","maximum":2.50}}}}`, `{"mode":"url","message":"Go on?","url":"https://a.example/"}`} {
		edited, at, err := Edited(json.RawMessage(question), Edit{Do: Reword, Value: `"Now"?`})
		want := strings.Replace(question, `"Go on?"`, `"\"Now\"?"`, 1)
		if compact, _ := rawjson.Compact([]byte(edited)); err != nil || at != "/message" || string(compact) != want {
			t.Errorf("%s at %q, %v, want %s", compact, at, err, want)
		}
	}
}

// TestChoices checks that the choices of each kind of field can be written as lines and read back, in their keywords.
func TestChoices(t *testing.T) {
	for _, c := range []struct{ schema, lines, write, want string }{
		{`{"type":"string","enum":["a","b: c"],"title":"T"}`, "a\nb: c", " x \n\n y: z\r\n", `{"type":"string","enum":["x","y: z"],"title":"T"}`},
		{`{"type":"string","enum":["a"],"enumNames":["A"]}`, "a: A", "x: X\ny", `{"type":"string","enum":["x","y"],"enumNames":["X","y"]}`},
		{`{"type":"string","oneOf":[{"const":"a","title":"A: 1"}]}`, "a: A: 1", "x: X", `{"type":"string","oneOf":[{"const":"x","title":"X"}]}`},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"maxItems":2}`, "a: A", "x: X", `{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"maxItems":2}`},
		{`{"type":"array","items":{"type":"string","enum":["a","b"]}}`, "a\nb", "x", `{"type":"array","items":{"type":"string","enum":["x"]}}`},
		{`{"type":"string","oneOf":[{"const":"a: b","title":"A"}]}`, "", "", ""},
		{`{"type":"string","oneOf":[{"const":"a","title":"A","description":"more"}]}`, "", "", ""},
		{`{"type":"string","enum":["a\nb"]}`, "", "", ""},
		{`{"type":"string"}`, "", "", ""},
	} {
		question := func(schema string) string {
			return `{"message":"m","requestedSchema":{"type":"object","properties":{"f":` + schema + `}}}`
		}
		r, err := Parse(json.RawMessage(question(c.schema)))
		if err != nil || len(r.Fields) != 1 || r.Fields[0].ChoiceLines() != c.lines {
			t.Errorf("%s: %v, %+v", c.schema, err, r)
			continue
		}
		edited, _, err := Edited(json.RawMessage(question(c.schema)), Edit{Do: Choose, Field: "f", Value: c.write})
		if compact, _ := rawjson.Compact([]byte(edited)); c.want != "" && (err != nil || string(compact) != question(c.want)) || c.want == "" && err == nil {
			t.Errorf("%s became %s, %v, want %s", c.schema, compact, err, c.want)
		}
	}
}

// TestTemplates checks that each kind of field can be added to any form, twice, and makes a control of its kind.
func TestTemplates(t *testing.T) {
	text := `{"message":"Go on?"}`
	for range 2 {
		for _, template := range Templates() {
			var err error
			if text, _, err = Edited(json.RawMessage(text), Edit{Do: Insert, Value: template.Name}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := Parse(json.RawMessage(text))
	if err != nil || r.Trouble != "" || len(r.Fields) != 26 {
		t.Fatalf("%d fields, %v, %s", len(r.Fields), err, r.Trouble)
	}
	for _, f := range r.Fields {
		if f.Kind == JSON || len(f.Addable()) == 0 {
			t.Errorf("%s is %s, and takes %q", f.Name, f.Kind, f.Addable())
		}
	}
	for _, question := range []string{`{"mode":"url","message":"m","url":"https://a.example/"}`, `{"message":"m","requestedSchema":[]}`} {
		if edited, _, err := Edited(json.RawMessage(question), Edit{Do: Insert, Value: "text"}); err == nil {
			t.Errorf("%s became %s", question, edited)
		}
	}
}
