package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ text, err string }{
		{`{}`, ""},
		{" [1, 2.5e-3, -0, true, false, null, \"a\\u00e9\\n\"] \r\n", ""},
		{`"` + "\xff" + `"`, "column 2: not valid UTF-8"},
		{`"\ud800"`, ""}, // a lone surrogate is valid by RFC 8259
		{``, "column 1: the text ends where a value should follow"},
		{`{"a":1,}`, `column 8: expected a member's name in quotes, found '}'`},
		{"{\n  \"é\": 1\n  \"b\": 2}", `line 3, column 3: expected ',' or '}', found '"'`},
		{`{"é" 1}`, "column 6: expected ':', found '1'"},
		{`{a:1}`, "expected a member's name in quotes, found 'a'"},
		{`[1 2]`, "expected ',' or ']', found '2'"},
		{`{"a":1]`, "expected ',' or '}', found ']'"},
		{`01`, "column 2: expected nothing after the value, found '1'"},
		{`1.`, "the text ends inside a number"},
		{`1.e5`, "expected a digit after the decimal point, found 'e'"},
		{`1e+x`, "expected a digit in the exponent, found 'x'"},
		{`-`, "the text ends inside a number"},
		{`-x`, "expected a digit in a number, found 'x'"},
		{`.5`, "expected a value, found '.'"},
		{`NaN`, "expected a value, found 'N'"},
		{`nul`, "the text ends inside null"},
		{`nulL`, "expected a value, found 'n'"},
		{`"a`, "column 3: the text ends inside a string"},
		{`"\`, "the text ends inside an escape sequence"},
		{`"\q"`, "unknown escape sequence"},
		{`"\u12"`, "four hexadecimal digits"},
		{`"\u12`, "the text ends inside an escape sequence"},
		{`"` + "\xe6\x97", "the text ends inside a character"},
		{"\"a\tb\"", "control character U+0009 in a string must be escaped"},
		{`{"a":1} x`, "expected nothing after the value"},
		{"1\xc3", "found the byte 0xC3"},
		{strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), ""},
		{strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth), ""},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "nested more than 1024 deep"},
		{strings.Repeat("[", 10_000_000), "nested more than"},
	} {
		err := Check([]byte(tt.text))
		var syntax *SyntaxError
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("Check(%.40q) = %v, want nil", tt.text, err)
		case tt.err != "" && (!errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("Check(%.40q) = %v, want %q in it", tt.text, err, tt.err)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	const doc = ` {"b":1.50, "\u0061" : [ 1e3 , {"x":"\/"} ],"b":{},"":null} `
	var got []string
	for name, value := range Members([]byte(doc)) {
		got = append(got, fmt.Sprintf("%s=%s", name, value))
	}
	if want := []string{"b=1.50", `a=[ 1e3 , {"x":"\/"} ]`, "b={}", "=null"}; !slices.Equal(got, want) {
		t.Errorf("the members are %q, not %q", got, want)
	}
	got = nil
	for i, value := range Elements(Member([]byte(doc), "a")) {
		got = append(got, fmt.Sprintf("%d=%s", i, value))
	}
	if want := []string{"0=1e3", `1={"x":"\/"}`}; !slices.Equal(got, want) {
		t.Errorf("the elements are %q, not %q", got, want)
	}
	if got, want := Strings([]byte(` ["a\n", 1, "", "b"]`)), []string{"a\n", "", "", "b"}; !slices.Equal(got, want) {
		t.Errorf("the strings are %q, not %q", got, want)
	}
	for _, none := range []string{"", "1", "[1]", "{}", `{"a"`, `{"a":`, `{"a":x}`} {
		for name, value := range Members([]byte(none)) {
			t.Errorf("%s has the member %s=%s", none, name, value)
		}
	}
	for _, none := range []string{"", "1", `{"a":1}`, "[]", "[", "[x]"} {
		for i, value := range Elements([]byte(none)) {
			t.Errorf("%s has the element %d=%s", none, i, value)
		}
	}
}

func TestMember(t *testing.T) {
	const doc = `{"a":{"b":1,"b":{"c\n":"last"}},"n":null}`
	for _, tt := range []struct {
		path []string
		want string
	}{
		{nil, doc}, {[]string{"a", "b", "c\n"}, `"last"`}, {[]string{"n"}, "null"},
		{[]string{"n", "x"}, ""}, {[]string{"none"}, ""}, {[]string{"none", "b"}, ""},
	} {
		if got := string(Member([]byte(doc), tt.path...)); got != tt.want {
			t.Errorf("%q leads to %s, not to %s", tt.path, got, tt.want)
		}
	}
}

func TestCursor(t *testing.T) {
	c := NewCursor([]byte(` {"skipped":[1],"walked":[10,20,30],"left early":{"x":1,"y":2},"passed":"end"} {}`))
	var got []string
	for name := range c.Members() {
		switch name.String() {
		case "walked":
			for i := range c.Elements() {
				got = append(got, fmt.Sprint(i, c.Kind(), c.Offset()))
			}
		case "left early":
			for inner := range c.Members() {
				got = append(got, inner.String())
				break
			}
			got = append(got, string(c.Rest()[:7]))
		case "passed":
			got = append(got, string(c.Value()))
		}
	}
	if want := []string{"0number26", "1number29", "2number32", "x", `{"x":1,`, `"end"`}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if c.End() || c.Cut() || c.Skip() || c.Value() != nil {
		t.Error("the cursor goes on where nothing should follow")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "expected nothing after the value") {
		t.Errorf("the error is %v", err)
	}
}

func TestCursorInTextThatIsCutOff(t *testing.T) {
	const whole = `{"id":7,"a":[1,"é",true],"b":{"c":-2.5e1}}`
	for n := range len(whole) {
		c := NewCursor([]byte(whole[:n]))
		id := ""
		for name := range c.Members() {
			if name.Is("id") {
				id = string(c.Value())
			}
		}
		if c.Skip(); !c.Cut() || c.Err() == nil {
			t.Errorf("%s is not seen to be cut off: %v", whole[:n], c.Err())
		}
		if n > len(`{"id":7`) && id != "7" {
			t.Errorf("%s has the id %q", whole[:n], id)
		}
	}
	if c := NewCursor([]byte(`{"id":x`)); c.Skip() || c.Cut() {
		t.Error("what is wrong is seen as cut off")
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]struct {
		text  string
		exact bool
	}{
		` "a\u00e9\n\"\\\/\b\f\r\t" `: {"aé\n\"\\/\b\f\r\t", true},
		`"\ud83d\ude00"`:              {"😀", true},
		`"\ud83dx"`:                   {"\uFFFDx", false},
		`"\ude00\ud83d"`:              {"\uFFFD\uFFFD", false},
		`"\ud83d\u0041"`:              {"\uFFFDA", false},
		`"\ufffd"`:                    {"\uFFFD", true},
		`""`:                          {"", true},
		`1`:                           {"", false},
		``:                            {"", false},
	} {
		if text, exact := Unquote([]byte(in)); text != want.text || exact != want.exact {
			t.Errorf("Unquote(%s) = %q, %v", in, text, exact)
		}
	}
	for in, want := range map[string]string{"": `""`, "a\"\\\n\r\t\x01é\x7f": `"a\"\\\n\r\t\u0001é` + "\x7f\"", "a\xffb\xc3": `"a` + "\uFFFDb\uFFFD\""} {
		if valid := strings.ToValidUTF8(in, "\uFFFD"); QuotedSize([]byte(valid)) != len(want)-2 {
			t.Errorf("QuotedSize(%q) = %d, want that of %s", in, QuotedSize([]byte(valid)), want)
		}
		if got := string(AppendQuoted(nil, in)); got != want || string(AppendQuoted([]byte("x"), []byte(in))) != "x"+want {
			t.Errorf("AppendQuoted(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	const doc = ` {"a":5,"a":[{"b/c":1,"~":2.50}, [ 10 , 20 ] ],"":{"x":null},"01":4} `
	for pointer, want := range map[string]string{
		"": strings.TrimSpace(doc), "/a/0/b~1c": "1", "/a/0/~0": "2.50", "/a/1/1": "20", "/a/1": "[ 10 , 20 ]", "//x": "null", "/01": "4",
	} {
		if got := string(At([]byte(doc), pointer)); got != want {
			t.Errorf("%q leads to %q, not to %q", pointer, got, want)
		}
	}
	for _, pointer := range []string{"a", "/b", "/a/2", "/a/01", "/a/-1", "/a/-", "/a/0/b", "/01/x", "/a/1/1/0", strings.Repeat("/a", 100_000)} {
		if got := At([]byte(doc), pointer); got != nil {
			t.Errorf("%.40q leads to %q", pointer, got)
		}
	}
	for _, doc := range []string{"", "{", `{"a":`, `{"a":[`, `[`} {
		if got := At([]byte(doc), "/a"); got != nil {
			t.Errorf("/a leads into %q, to %q", doc, got)
		}
		if got := At([]byte(doc), "/0"); got != nil {
			t.Errorf("/0 leads into %q, to %q", doc, got)
		}
	}
	if got := PointerTo("/a", "b/c~"); got != "/a/b~1c~0" {
		t.Errorf("the pointer is %s", got)
	}
}

func TestPretty(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"z":1.50,"a":[1e3,9007199254740993],"e":{},"f":[ ],"s":"<\u00e9,:{>\""}`,
			"{\n  \"z\": 1.50,\n  \"a\": [\n    1e3,\n    9007199254740993\n  ],\n  \"e\": {},\n  \"f\": [],\n  \"s\": \"<\\u00e9,:{>\\\"\"\n}"},
		{" \"x\"\n", `"x"`},
		{`{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}"},
		{`[{},[[]]]`, "[\n  {},\n  [\n    []\n  ]\n]"},
		{`not json`, `not json`},
		{``, ``},
	} {
		if got := Pretty([]byte(tt.in)); got != tt.want {
			t.Errorf("Pretty(%q)\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
	deep := strings.Repeat("[", 400) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 400)
	if got := Pretty([]byte(deep)); len(got) > 10*len(deep) {
		t.Errorf("Pretty makes %d bytes of %d", len(got), len(deep))
	}
}

func TestCompact(t *testing.T) {
	got, err := Compact([]byte(" { \"z\" : [ 1.50 , 1e3 ],\n\"s\" : \"a b\\u00e9<\" } "))
	if string(got) != `{"z":[1.50,1e3],"s":"a b\u00e9<"}` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	for _, in := range []string{"", " ", "{", "1 2"} {
		if got, err := Compact([]byte(in)); err == nil {
			t.Errorf("Compact(%q) = %s", in, got)
		}
	}
}

// FuzzCheck compares the tokenizer with encoding/json. It is only stricter about depth
// and UTF-8.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,{"b":"\u00e9\\"}],"a":null}`, `[1e5,-0.0]`, `"\ud83d\ude00"`, `{"":{"":{}}}`, ` true `, `[,]`, `{"a":}`, "\"\xc2\xc2\"",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,2.5e-3,"\u00e9",null,true]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := Check(raw)
		if ok := json.Valid(raw) && utf8.Valid(raw); ok != (err == nil) && !(ok && strings.Contains(err.Error(), "nested")) {
			t.Fatalf("Check(%q) = %v, encoding/json and utf8 say %v", raw, err, ok)
		}
		if Valid(raw) != (err == nil) {
			t.Fatalf("Valid(%q) and Check differ", raw)
		}
		if err != nil {
			return
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return // a number out of float64's range
		}
		sameAsDecoded(t, raw, v)
		before := AppendCompact(nil, raw)
		if after := AppendCompact(nil, []byte(Pretty(raw))); string(before) != string(after) {
			t.Fatalf("Pretty(%q) changed more than white space: %q", raw, after)
		}
	})
}

// sameAsDecoded compares the values read from raw with those of encoding/json.
func sameAsDecoded(t *testing.T, raw []byte, v any) {
	switch v := v.(type) {
	case string:
		if s := Text(raw); s != v {
			t.Fatalf("Text(%q) = %q, want %q", raw, s, v)
		}
		if back := Text(AppendQuoted(nil, v)); back != v {
			t.Fatalf("%q comes back as %q", v, back)
		}
	case map[string]any:
		seen := map[string]bool{}
		for name := range Members(raw) {
			seen[name] = true
			sameAsDecoded(t, At(raw, PointerTo("", name)), v[name])
		}
		if len(seen) != len(v) {
			t.Fatalf("Members(%q) gives %d names, want %d", raw, len(seen), len(v))
		}
	case []any:
		n := 0
		for i, value := range Elements(raw) {
			if n++; i < len(v) {
				sameAsDecoded(t, value, v[i])
			}
		}
		if n != len(v) {
			t.Fatalf("Elements(%q) gives %d, want %d", raw, n, len(v))
		}
	default:
		if !Valid(raw) {
			t.Fatalf("%q is not valid", raw)
		}
	}
}
