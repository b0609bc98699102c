package elicit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
)

// problems returns problems as lines of the form "field pointer keyword: text".
func lines(problems []Problem) string {
	var list []string
	for _, p := range problems {
		list = append(list, fmt.Sprintf("%d %s %s: %s", p.Field, p.Pointer, p.Keyword, p.Text))
	}
	return strings.Join(list, "\n")
}

func TestCheckOneProperty(t *testing.T) {
	for _, tt := range []struct{ property, value, want string }{
		{`{"type":"string"}`, `"x"`, ""},
		{`{"type":"string"}`, `5`, `type: Must be text. You entered 5.`},
		{`{"type":"string"}`, `null`, `type: Must be text. You entered null.`},
		{`{"type":"string"}`, `{}`, `type: Must be text, not an object.`},
		{`{"type":"number"}`, `"abc"`, `type: Must be a number. You entered "abc".`},
		{`{"type":"number"}`, `1e3`, ""},
		{`{"type":"integer"}`, `1.5`, `type: Must be a whole number. You entered 1.5.`},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `1e3`, ""},
		{`{"type":"integer"}`, `9007199254740993`, ""},
		{`{"type":"boolean"}`, `"true"`, `type: Must be true or false. You entered "true".`},
		{`{"type":["string","null"]}`, `1`, `type: Must be null or text. You entered 1.`},
		{`{"type":"number","maximum":1}`, `1.50`, `maximum: At most 1. You entered 1.50.`},
		{`{"type":"number","maximum":1.50}`, `1.500`, ""},
		{`{"type":"number","maximum":1e2}`, `100.01`, `maximum: At most 1e2. You entered 100.01.`},
		{`{"type":"integer","maximum":9007199254740992}`, `9007199254740993`, `maximum: At most 9007199254740992. You entered 9007199254740993.`},
		{`{"type":"number","minimum":0.1}`, `0.1`, ""},
		{`{"type":"number","minimum":0.3}`, `0.29999999999999999999`, `minimum: At least 0.3. You entered 0.29999999999999999999.`},
		{`{"type":"number","exclusiveMinimum":0}`, `0.0`, `exclusiveMinimum: More than 0. You entered 0.0.`},
		{`{"type":"number","exclusiveMaximum":10}`, `10`, `exclusiveMaximum: Less than 10. You entered 10.`},
		{`{"type":"number","multipleOf":0.01}`, `19.99`, ""},
		{`{"type":"number","multipleOf":0.01}`, `19.995`, `multipleOf: Must be a multiple of 0.01. You entered 19.995.`},
		{`{"type":"string","minLength":3}`, `"éé"`, `minLength: At least 3 characters. You entered 2.`},
		{`{"type":"string","maxLength":1}`, `"😀"`, ""},
		{`{"type":"string","maxLength":1}`, `"e\u0301"`, `maxLength: At most 1 character. You entered 2.`},
		{`{"type":"string","maxLength":1e30}`, `"abc"`, ""},
		{`{"type":"string","pattern":"^[A-Z]+$"}`, `"abc"`, `pattern: Does not match the pattern ^[A-Z]+$`},
		{`{"type":"string","pattern":"b"}`, `"abc"`, ""},
		{`{"type":"string","format":"email"}`, `"a.b"`, `format: Not an email address: it has no @.`},
		{`{"type":"string","format":"uri"}`, `"a.b"`, `format: Not a URI: it has no scheme such as https.`},
		{`{"type":"string","format":"date"}`, `"2026-02-30"`, `format: Not a date: there is no 2026-02-30.`},
		{`{"type":"string","format":"date-time"}`, `"2026-02-03T10:00:00"`, `format: Not a date and time: the offset from UTC is missing; write Z or one such as +02:00.`},
		{`{"type":"string","format":"uuid"}`, `"x"`, `format: Not of the format "uuid": must have 5 elements.`},
		{`{"type":"string","format":"postcode"}`, `"x"`, ""},
		{`{"type":"string","enum":["a","b"]}`, `"c"`, `enum: "c" is not one of the choices.`},
		{`{"type":"integer","enum":[1,2]}`, `3`, `enum: 3 is not one of the choices.`},
		{`{"type":"integer","enum":[1,2]}`, `2.0`, ""},
		{`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `"b"`, ""},
		{`{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `"c"`, `oneOf: "c" is not one of the choices.`},
		{`{"type":"string","oneOf":[{"const":"a"},{"const":"a"}]}`, `"a"`, `oneOf: Fits two of the alternatives, 1 and 2; only one is allowed.`},
		{`{"type":"array","items":{"enum":["a","b"]},"minItems":1}`, `[]`, `minItems: Choose at least 1.`},
		{`{"type":"array","items":{"enum":["a","b"]},"minItems":2}`, `["a"]`, `minItems: Choose at least 2. You chose 1.`},
		{`{"type":"array","items":{"enum":["a","b"]},"maxItems":1}`, `["a","b"]`, `maxItems: Choose at most 1. You chose 2.`},
		{`{"type":"array","items":{"type":"number"},"maxItems":1}`, `[1,2]`, `maxItems: At most 1 item, not 2.`},
		{`{"type":"array","uniqueItems":true}`, `[1,2,1.0]`, `uniqueItems: Items 1 and 3 are the same.`},
		{`{"const":{"a":1}}`, `1`, `const: Must be exactly {"a":1}. You entered 1.`},
		{`false`, `1`, `: The schema allows no value here.`},
		{`true`, `1`, ""},
		{`{"not":{"type":"null"}}`, `null`, `not: The schema excludes this value.`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `anyOf: Fits none of the alternatives: Must be text. You entered 1; Must be null. You entered 1.`},
		{`{"allOf":[{"minLength":2},{"maxLength":3}],"type":"string"}`, `"abcd"`, `maxLength: At most 3 characters. You entered 4.`},
		{`{"$ref":"#/$defs/short"}`, `"abcd"`, `maxLength: At most 2 characters. You entered 4.`},
	} {
		schema := `{"type":"object","properties":{"p":` + tt.property + `},"$defs":{"short":{"maxLength":2}}}`
		problems, err := Check([]byte(schema), []byte(`{"p":`+tt.value+`}`))
		if err != nil {
			t.Errorf("%s: %v", tt.property, err)
			continue
		}
		want := tt.want
		if strings.HasPrefix(want, " ") {
			want = "-1 " + want
		} else if want != "" {
			want = "0 /p " + want
		}
		if got := lines(problems); got != want {
			t.Errorf("%s with %s\n got %s\nwant %s", tt.property, tt.value, got, want)
		}
	}
}

// A number that is too long to be compared makes no content invalid.
func TestCheckGivesUpOnLongNumbers(t *testing.T) {
	problems, err := Check([]byte(`{"properties":{"p":{"type":"number","maximum":5}}}`), []byte(`{"p":1e100000}`))
	if len(problems) > 0 || !Unchecked(err) || err.Error() != "the content cannot be checked: the number 1e100000 has too many digits to be compared" {
		t.Error(lines(problems), err)
	}
}

func TestCheckWholeContent(t *testing.T) {
	for _, tt := range []struct{ schema, content, want string }{
		{order, `{"price":1,"gift":true}`, ""},
		{order, `{}`, "3 /price required: Required.\n5 /gift required: Choose yes or no."},
		{order, `{"tags":["a","x"],"size":"XL","note":1,"price":"a","gift":true}`,
			"0 /note type: Must be text. You entered 1.\n3 /price type: Must be a number. You entered \"a\".\n6 /size enum: \"XL\" is not one of the choices.\n7 /tags/1 enum: \"x\" is not one of the choices."},
		{order, `[]`, "-1  type: Must be an object, not a list."},
		{order, `{"a":}`, "-1  : Not JSON: column 6: expected a value, found '}'."},
		{`{"type":"object","properties":{"a/b":{"type":"object","properties":{"c":{"type":"array","items":{"type":"string"}}},"required":["d"]}}}`, `{"a/b":{"c":["x",1]}}`,
			"0 /a~1b/c/1 type: At /c/1: Must be text. You entered 1.\n0 /a~1b/d required: At /d: Required."},
		{`{"properties":{"a":{}},"additionalProperties":false,"minProperties":3}`, `{"a":1,"c":1}`,
			"-1  minProperties: At least 3 members, not 2.\n-1 /c additionalProperties: At /c: The schema allows no such member."},
		{`{"type":"object","properties":{"a":{}},"required":["ghost"]}`, `{}`, "-1 /ghost required: At /ghost: Required."},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"dependentRequired":{"a":["b"]}}`, `{"a":"x"}`,
			"1 /b dependentRequired: Required, because \"a\" is given."},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "-1  propertyNames: The schema does not allow the name \"ab\"."},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"string","format":"date"}}}`, `{"a":"x"}`,
			"0 /a format: Not a date: it is not written like 2026-01-31."},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"type":"number","minimum":0.50,"exclusiveMinimum":true}}}`, `{"a":0.5}`,
			"0 /a exclusiveMinimum: More than 0.5. You entered 0.5."},
		{`true`, `{"a":1}`, ""},
		{`{"properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}}}}`, `{"a":["x","z"]}`,
			"0 /a/1 anyOf: \"z\" is not one of the choices."},
	} {
		problems, err := Check([]byte(tt.schema), []byte(tt.content))
		if got := lines(problems); got != tt.want || err != nil {
			t.Errorf("%s with %s\n got %s, %v\nwant %s", tt.schema, tt.content, got, err, tt.want)
		}
	}
}

func TestCheckInputsSaysOneThingPerField(t *testing.T) {
	fields := orderFields(t)
	in := Inputs{Fields: make([]Input, len(fields))}
	in.Fields[4].Text = "many"
	in.Fields[6].JSON = `"XL"`
	content, problems, err := CheckInputs([]byte(order), fields, in)
	want := "3 /price required: Required.\n4 /count type: Not a whole number. You entered \"many\".\n5 /gift required: Choose yes or no.\n6 /size enum: \"XL\" is not one of the choices."
	if string(content) != `{"count":"many","size":"XL"}` || lines(problems) != want || err != nil {
		t.Errorf("got %s\n%s\n%v", content, lines(problems), err)
	}
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"https://example.com/s.json"}`:              `the schema refers to "https://example.com/s.json", and other documents are never loaded`,
		`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`: `the schema refers to "file:///etc/passwd", and other documents are never loaded`,
		`{"$ref":"other.json"}`:                              `the schema refers to "other.json", and other documents are never loaded`,
		`{"$schema":"https://example.com/dialect"}`:          `the schema refers to "https://example.com/dialect", and other documents are never loaded`,
		`{"$ref":"#/$defs/none"}`:                            `the schema refers to "/$defs/none", which is not there`,
		`{"$ref":"#none"}`:                                   `the schema refers to "none", which is not there`,
		`{"properties":{"a":{"type":"strin"}}}`:              `the schema is wrong at /properties/a/type:`,
		`{"properties":{"a":{"minLength":-1}}}`:              `the schema is wrong at /properties/a/minLength: At least 0. It is -1`,
		`{"properties":{"a":{"pattern":"("}}}`:               `the schema is wrong at /properties/a/pattern: "(" is not an ECMA-262 regular expression: missing closing )`,
		`{"required":"a"}`:                                   `the schema is wrong at /required: Must be a list. It is "a"`,
		`{"properties":{"a":{"maximum":1e999999999}}}`:       `the number 1e999999999 has too many digits`,
		`{"type":"object"`:                                   `the schema is not JSON: column 17: the text ends where ',' or '}' should follow`,
		`7`:                                                  `the schema is wrong at its root`,
	} {
		problems, err := Check([]byte(schema), []byte(`{"a":"x"}`))
		if err == nil || !strings.Contains(err.Error(), want) || problems != nil {
			t.Errorf("%s\n got %v, %v\nwant %s", schema, problems, err, want)
		}
	}
}

// The referenced documents exist and are valid schemas, so that only the refusal to load
// them can make a check fail.
func TestOtherDocumentsAreNeverLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		_, _ = w.Write([]byte(`{"type":"object"}`))
	}))
	defer server.Close()
	for _, address := range []string{"file://" + path, path, server.URL + "/s.json"} {
		for _, schema := range []string{`{"$ref":%q}`, `{"properties":{"a":{"$ref":%q}}}`, `{"$schema":%q}`, `{"$dynamicRef":%q}`} {
			schema = fmt.Sprintf(schema, address)
			if problems, err := Check([]byte(schema), []byte(`{"a":{}}`)); err == nil || !strings.Contains(err.Error(), "other documents are never loaded") {
				t.Errorf("%s: %v, %v", schema, problems, err)
			}
		}
	}
	if len(asked) > 0 {
		t.Errorf("the server was asked for %s", <-asked)
	}
}

// A pattern match that is given up neither accepts nor rejects the content, wherever the
// schema has the pattern.
func TestPatternGivenUpLeavesContentUnchecked(t *testing.T) {
	text := strings.Repeat("a", 40) + "b"
	for _, property := range []string{`{"pattern":"^(a+)+$"}`, `{"not":{"pattern":"^(a+)+$"}}`} {
		problems, err := Check([]byte(`{"properties":{"p":`+property+`}}`), []byte(`{"p":"`+text+`"}`))
		want := `whether "` + text + `" matches the pattern ^(a+)+$ could not be told within 100ms`
		if !Unchecked(err) || err.Error() != want || problems != nil {
			t.Errorf("%s: got %v, %v", property, problems, err)
		}
	}
}

// manyChoices returns a schema with many choices under this keyword.
func manyChoices(n int, list func(entries []string) string, entry func(i int) string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = entry(i)
	}
	return `{"type":"object","properties":{"p":` + list(entries) + `}}`
}

func TestManyChoices(t *testing.T) {
	join := func(e []string) string { return strings.Join(e, ",") }
	text := func(i int) string { return fmt.Sprintf(`"c%d"`, i) }
	titled := func(i int) string { return fmt.Sprintf(`{"const":"c%d","title":"Choice %d"}`, i, i) }
	for name, schema := range map[string]string{
		"enum":        manyChoices(10_000, func(e []string) string { return `{"type":"string","enum":[` + join(e) + `]}` }, text),
		"oneOf":       manyChoices(10_000, func(e []string) string { return `{"type":"string","oneOf":[` + join(e) + `]}` }, titled),
		"items.anyOf": manyChoices(10_000, func(e []string) string { return `{"type":"array","items":{"anyOf":[` + join(e) + `]}}` }, titled),
	} {
		value := `"c9999"`
		wrong := `"c10000"`
		at := "/p"
		if name == "items.anyOf" {
			value, wrong, at = `["c0","c9999"]`, `["c10000"]`, "/p/0"
		}
		took := cost.Of(func() {
			if problems, err := Check([]byte(schema), []byte(`{"p":`+value+`}`)); len(problems) > 0 || err != nil {
				t.Errorf("%s: %s, %v", name, lines(problems), err)
			}
		})
		if took > 10*time.Second {
			t.Errorf("%s costs %v", name, took)
		}
		if problems, err := Check([]byte(schema), []byte(`{"p":`+wrong+`}`)); lines(problems) != "0 "+at+` enum: "c10000" is not one of the choices.` || err != nil {
			t.Errorf("%s: %s, %v", name, lines(problems), err)
		}
	}
	twice := manyChoices(largeChoice, func(e []string) string { return `{"oneOf":[` + join(e) + `,{"const":"c0"}]}` }, titled)
	if problems, _ := Check([]byte(twice), []byte(`{"p":"c0"}`)); len(problems) != 1 {
		t.Errorf("a constant that stands twice in oneOf passes: %v", problems)
	}
}

func BenchmarkCheck(b *testing.B) {
	schema := []byte(order)
	content := []byte(`{"note":"a","email":"a@example.com","day":"2026-02-28","price":1.50,"count":3,"gift":true,"size":"L","tags":["a","c"],"rest":{}}`)
	for b.Loop() {
		if problems, err := Check(schema, content); len(problems) > 0 || err != nil {
			b.Fatal(problems, err)
		}
	}
}
