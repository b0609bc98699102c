package elicit

import (
	"encoding/json"
	"mime/multipart"
	"net/url"
	"reflect"
	"strconv"
	"testing"
)

// order is a schema with a field of each kind.
const order = `{"type":"object","properties":{
	"note":{"type":"string"},
	"email":{"type":"string","format":"email"},
	"day":{"type":"string","format":"date"},
	"price":{"type":"number"},
	"count":{"type":"integer"},
	"gift":{"type":"boolean"},
	"size":{"type":"string","enum":["S","M","L"]},
	"tags":{"type":"array","items":{"enum":["a","b","c"]}},
	"rest":{"type":"object"}
},"required":["price","gift"]}`

func orderFields(t testing.TB) []Field {
	fields, err := FieldsOf([]byte(order))
	if err != nil || len(fields) != 9 {
		t.Fatalf("got %d fields, %v", len(fields), err)
	}
	return fields
}

func TestContent(t *testing.T) {
	for _, tt := range []struct {
		name, form, want string
		problems         []Problem
	}{
		{"nothing", "", `{}`, []Problem{
			{3, "/price", "required", "Required."}, {5, "/gift", "required", "Choose yes or no."}}},
		{"each kind", "f0=Hi%0D%0Athere&f1=a@b.c&f2=2026-01-31&f3=1.50&f4=3&f5=false&f6=1&f7=0&f7=2&f8=%7B%22x%22:+1e3%7D",
			`{"note":"Hi\nthere","email":"a@b.c","day":"2026-01-31","price":1.50,"count":3,"gift":false,"size":"M","tags":["a","c"],"rest":{"x":1e3}}`, nil},
		{"digits stay", "f3=0.10&f4=9007199254740993&f5=true", `{"price":0.10,"count":9007199254740993,"gift":true}`, nil},
		{"digits stay, exponent", "f3=+1e3+&f4=-0&f5=true", `{"price":1e3,"count":-0,"gift":true}`, nil},
		{"explicit empties", "f0.empty=1&f3=1&f5=true&f7.empty=1", `{"note":"","price":1,"gift":true,"tags":[]}`, nil},
		{"text is not trimmed", "f0=+a+&f3=1&f5=true", `{"note":" a ","price":1,"gift":true}`, nil},
		{"no HTML escaping", "f0=%3Cb%3E%26%E2%80%A8%22%5C%01%7F&f3=1&f5=true", "{\"note\":\"<b>&\u2028\\\"\\\\\\u0001\u007f\",\"price\":1,\"gift\":true}", nil},
		{"no number is sent as it is", "f3=1,5&f4=many&f5=true", `{"price":"1,5","count":"many","gift":true}`, []Problem{
			{3, "/price", "type", `Write the decimal separator as a point. You entered "1,5".`},
			{4, "/count", "type", `Not a whole number. You entered "many".`}}},
		{"fractions are for the check", "f3=1&f4=1.5&f5=true", `{"price":1,"count":1.5,"gift":true}`, nil},
		{"JSON overrides", "f0=x&f0.json=+%5B1,+2%5D+&f3=1&f5=true&f5.json=null", `{"note":[1,2],"price":1,"gift":null}`, nil},
		{"no JSON is left out", "f3=1&f5=true&f8=%7B", `{"price":1,"gift":true}`, []Problem{
			{8, "/rest", "", "Not JSON: column 2: the text ends where a member's name in quotes should follow."}}},
		{"picks beyond the choices", "f3=1&f5=true&f6=3&f7=-1&f7=x&f7=1", `{"price":1,"gift":true,"tags":["b"]}`, nil},
		{"order of picks", "f3=1&f5=true&f7=0&f7=1&f7=2&f7.order=2,0", `{"price":1,"gift":true,"tags":["c","a","b"]}`, nil},
		{"extra", "f3=1&f5=true&extra=%7B%22x%22:+%5B1.0,+2%5D,%22price%22:2,%22size%22:%22XL%22%7D", `{"price":1,"gift":true,"x":[1.0,2],"size":"XL"}`, nil},
		{"extra that is none", "f3=1&f5=true&extra=7", `{"price":1,"gift":true}`, []Problem{{-1, "", "", "The further members are not a JSON object."}}},
	} {
		form, err := url.ParseQuery(tt.form)
		if err != nil {
			t.Fatal(err)
		}
		fields := orderFields(t)
		in := InputsFrom(fields, &multipart.Form{Value: form})
		got, problems := Content(fields, in)
		if string(got) != tt.want || !reflect.DeepEqual(problems, tt.problems) {
			t.Errorf("%s\n got %s %+v\nwant %s %+v", tt.name, got, problems, tt.want, tt.problems)
		}
		if again := InputsFrom(fields, posted(in)); !reflect.DeepEqual(again, in) {
			t.Errorf("%s: through its form\n%+v becomes\n%+v", tt.name, in, again)
		}
	}
}

func TestNoNumberSaysWhy(t *testing.T) {
	for in, want := range map[string]string{
		"1,5":       "Write the decimal separator as a point",
		"1,000,000": "Write the number without grouping its digits",
		"1 000.5":   "Write the number without grouping its digits",
		"+5":        "Write the number without a plus sign",
		".5":        "Write a digit before and after the decimal point",
		"-.5":       "Write a digit before and after the decimal point",
		"5.":        "Write a digit before and after the decimal point",
		"007":       "Write the number without leading zeros",
		"0x10":      "Not a number",
		"NaN":       "Not a number",
		"1e":        "Not a number",
	} {
		_, p := (&Field{Kind: Number}).value(Input{Text: in})
		if p == nil || p.Text != want+`. You entered "`+in+`".` {
			t.Errorf("%s: %+v, want %s", in, p, want)
		}
	}
}

// TestSwitchLosesNothing converts JSON to the inputs of the form, through the encoding of
// an HTML form, and back.
func TestSwitchLosesNothing(t *testing.T) {
	for _, tt := range []struct {
		content string
		want    string // the resulting JSON; "" if it is unchanged
		json    []int  // indexes of fields that need Input.JSON
	}{
		{`{}`, "", nil},
		{`{"note":"a\nb","email":"x","day":"2026-02-28","price":1.50,"count":1e3,"gift":true,"size":"L","tags":["a","c"]}`, "", nil},
		{`{"note":"","tags":[]}`, "", nil},
		{`{"price":"much","count":"1 2"}`, "", nil},
		{`{"tags":["c","a"]}`, "", nil},
		{`{"note":1,"email":null,"day":[],"price":"1","count":true,"gift":"true","size":"XL","tags":["a","a"],"rest":{"b":{"c":1.0}}}`, "", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{`{"size":"","tags":["a","x"]}`, "", []int{6, 7}},
		{`{"price":"","gift":null,"tags":"a"}`, "", []int{3, 5, 7}},
		{"{\"note\":\"a\\r\\nb\",\"email\":\" x\",\"day\":\"2026-02-30\"}", "", []int{0, 1}},
		{`{"note":"\u0000","email":"a\nb","day":"0000-01-01"}`, "", []int{0, 1, 2}},
		{`{"note":"\ud800","price":" 1 ","size":"\udc00"}`, "", []int{0, 3, 6}},
		{`{"note":"\n"}`, "", []int{0}},
		{`{"zz":1.0,"note":"a\u00e9\/","yy":{"n": 1e3, "n": 2}}`, `{"note":"aé/","zz":1.0,"yy":{"n":1e3,"n":2}}`, nil},
		{`{"count":5,"price":6}`, `{"price":6,"count":5}`, nil},
		{` { "rest" : [ 1 , 2 ] } `, `{"rest":[1,2]}`, []int{8}},
	} {
		fields := orderFields(t)
		in, err := InputsOf(fields, []byte(tt.content))
		if err != nil {
			t.Errorf("%s: %v", tt.content, err)
			continue
		}
		for i, input := range in.Fields {
			wantJSON := false
			for _, j := range tt.json {
				wantJSON = wantJSON || i == j
			}
			if (input.JSON != "") != wantJSON {
				t.Errorf("%s: field %s has the input %+v", tt.content, fields[i].Name, input)
			}
		}
		in = InputsFrom(fields, posted(in))
		want := tt.want
		if want == "" {
			want = tt.content
		}
		if got, _ := Content(fields, in); string(got) != want {
			t.Errorf("%s\nbecomes %s\n   want %s", tt.content, got, want)
		}
	}
	for content, want := range map[string]string{
		``:                   "there is no content; an empty one is {}",
		`[1]`:                "the content is an array, not an object",
		`{"a":1`:             "the content is not JSON: column 7: the text ends where ',' or '}' should follow",
		`{"a":1,"\u0061":2}`: `the content has "a" twice, and a form can only give it once`,
	} {
		if _, err := InputsOf(orderFields(t), []byte(content)); err == nil || err.Error() != want {
			t.Errorf("InputsOf(%s) = %v, want %s", content, err, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	fields, err := FieldsOf([]byte(`{"properties":{
		"a":{"type":"string","default":"x"},
		"b":{"type":"number","default":0.10},
		"c":{"type":"boolean","default":false},
		"d":{"type":"string","oneOf":[{"const":"p","title":"P"},{"const":"q","title":"Q"}],"default":"q"},
		"e":{"type":"array","items":{"enum":["p","q"]},"default":["q","p"]},
		"f":{"type":"string","default":null},
		"g":{"type":"object","default":{"h":[1.0]}},
		"h":{"type":"string","default":""},
		"i":{"type":"integer","default":"3"},
		"j":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Input{{Text: "x"}, {Text: "0.10"}, {Text: "false"}, {Picks: []int{1}}, {Picks: []int{1, 0}}, {},
		{JSON: "{\n  \"h\": [\n    1.0\n  ]\n}"}, {Empty: true}, {}, {}}
	in := Defaults(fields)
	if !reflect.DeepEqual(in.Fields, want) {
		t.Errorf("got %+v", in.Fields)
	}
	const content = `{"a":"x","b":0.10,"c":false,"d":"q","e":["q","p"],"g":{"h":[1.0]},"h":""}`
	if got, problems := Content(fields, InputsFrom(fields, posted(in))); string(got) != content || problems != nil {
		t.Errorf("got %s, %v", got, problems)
	}
}

// A default that no control can show leaves the ordinary control empty, and the field has
// a hint.
func TestDefaultProblem(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{"type":"string","enum":["red","blue"],"default":"purple"}`, `The schema’s default, "purple", is not one of the choices, so nothing is chosen.`},
		{`{"type":"string","oneOf":[{"const":"r","title":"Red"}],"default":"Red"}`, `The schema’s default, "Red", is not one of the choices, so nothing is chosen.`},
		{`{"type":"string","enum":["1","2"],"default":1}`, "The schema’s default, 1, is not one of the choices, so nothing is chosen."},
		{`{"type":"array","items":{"enum":["a","b"]},"default":["a","c"]}`, `The schema’s default names "c", which is not one of the choices, so nothing is chosen.`},
		{`{"type":"array","items":{"enum":["a","b"]},"default":["a",1]}`, "The schema’s default names 1, which is not one of the choices, so nothing is chosen."},
		{`{"type":"array","items":{"enum":["a","b"]},"default":["a","a"]}`, `The schema’s default names "a" twice, so nothing is chosen.`},
		{`{"type":"array","items":{"enum":["a","b"]},"default":"a"}`, `The schema’s default, "a", is not a list of choices, so nothing is chosen.`},
		{`{"type":"boolean","default":"yes"}`, `The schema’s default, "yes", is not true or false, so nothing is chosen.`},
		{`{"type":"number","default":"five"}`, `The schema’s default, "five", is not a number, so the field is left empty.`},
		{`{"type":"integer","default":"3"}`, `The schema’s default, "3", is not a whole number, so the field is left empty.`},
		{`{"type":"string","default":null}`, "The schema’s default, null, is not text, so the field is left empty."},
		{`{"type":"string","default":{"a": [1]}}`, `The schema’s default, {"a":[1]}, is not text, so the field is left empty.`},
		// Values that a control can show are judged by the linter and the check.
		{`{"type":"string","format":"date","default":"tomorrow"}`, ""},
		{`{"type":"string","maxLength":1,"default":"long"}`, ""},
		{`{"type":"integer","default":1.5}`, ""},
		{`{"type":"object","default":7}`, ""},
		{`{"type":"string"}`, ""},
	} {
		fields, err := FieldsOf([]byte(`{"properties":{"x":` + tt.schema + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fields[0].DefaultProblem(); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.schema, got, tt.want)
		}
		in := Defaults(fields).Fields[0]
		if empty := in.Equal(Input{}); empty != (tt.want != "" || fields[0].Default == nil) {
			t.Errorf("%s: the control begins with %+v", tt.schema, in)
		}
		if in.JSON != "" && fields[0].Kind != JSON {
			t.Errorf("%s: the control is JSON", tt.schema)
		}
	}
}

func FuzzContentRoundTrip(f *testing.F) {
	for _, s := range []string{
		`{"note":"a","price":1.50,"tags":["c","a"],"x":{"y":1e3}}`, `{"note":"\ud800\u0000","day":"2026-01-01","gift":"no"}`,
		`{"price":"1,5","count":-0,"size":"M","rest":[]}`, `{"tags":[],"email":"\n","":""}`, `{"email":" ","price":"\t"}`,
		"{\"\xe5\xe5\":\"\"}", "{\"note\":\"\x80\\u1000\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fields := orderFields(t)
		in, err := InputsOf(fields, raw)
		if err != nil {
			return
		}
		content, _ := Content(fields, InputsFrom(fields, posted(in)))
		again, err := InputsOf(fields, content)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", raw, content, err)
		}
		if twice, _ := Content(fields, InputsFrom(fields, posted(again))); string(twice) != string(content) {
			t.Fatalf("%q becomes %q, then %q", raw, content, twice)
		}
		var before, after map[string]any
		if json.Unmarshal(raw, &before) == nil && json.Unmarshal(content, &after) == nil && !reflect.DeepEqual(before, after) {
			t.Fatalf("%q becomes %q", raw, content)
		}
	})
}

// posted returns the HTML form that InputsFrom reads as these inputs.
func posted(in Inputs) *multipart.Form {
	form := make(url.Values)
	for i, input := range in.Fields {
		name := InputName(i)
		if input.Text != "" {
			form.Set(name, input.Text)
		}
		for _, p := range input.Picks {
			form.Add(name, strconv.Itoa(p))
		}
		if input.Empty {
			form.Set(name+".empty", "1")
		}
		if input.JSON != "" {
			form.Set(name+".json", input.JSON)
		}
		if order := input.Order(); order != "" {
			form.Set(name+".order", order)
		}
	}
	if in.Extra != nil {
		form.Set(extraName, string(in.Extra))
	}
	return &multipart.Form{Value: form}
}
