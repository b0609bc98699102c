package elicit

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValidAgreesWithRFC8259(t *testing.T) {
	for _, tt := range []struct{ text, err string }{
		{`{}`, ""},
		{" [1, 2.5e-3, -0, true, false, null, \"a\\u00e9\\n\"] \r\n", ""},
		{`"` + "\xff" + `"`, ""}, // not UTF-8, which is for others to mind
		{``, "it ends where a value should be"},
		{`{"a":1,}`, `column 8: '}' is not expected where the name of a member should be`},
		{"{\n  \"é\": 1\n  \"b\": 2}", `line 3, column 3: '"' is not expected after a value; a comma or } should be there`},
		{`{"a" 1}`, "a colon should be there"},
		{`{a:1}`, "where the name of a member should be"},
		{`[1 2]`, "a comma or ] should be there"},
		{`01`, "something follows the end of the value"},
		{`1.`, "not a number"},
		{`-`, "not a number"},
		{`.5`, "is not expected where a value should be"},
		{`NaN`, "is not expected where a value should be"},
		{`"a`, "this string does not end"},
		{`"\`, "this string does not end"},
		{`"\q"`, "after a backslash"},
		{`"\u12"`, "four hexadecimal digits"},
		{"\"a\tb\"", "a control character"},
		{`{"a":1} x`, "something follows"},
		{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), ""},
		{strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), "nested more than"},
		{strings.Repeat("[", 10_000_000), "nested more than"},
	} {
		err := valid([]byte(tt.text))
		switch {
		case tt.err == "" && err != nil:
			t.Errorf("valid(%.40q) = %v, want nil", tt.text, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("valid(%.40q) = %v, want %q in it", tt.text, err, tt.err)
		}
	}
}

// FuzzValid holds the reader to encoding/json, which it is stricter than only in depth.
func FuzzValid(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\u00e9\\"}],"a":null}`, `[1e5,-0.0]`, `"\ud83d\ude00"`, `{"":{"":{}}}`, ` true `, `[,]`, `{"a":}`, "\"\xc2\xc2\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := valid(raw)
		if ok := json.Valid(raw); ok != (err == nil) && !(ok && strings.Contains(err.Error(), "nested")) {
			t.Fatalf("valid(%q) = %v, json.Valid = %v", raw, err, ok)
		}
		if err != nil {
			return
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return // a number out of float64's range
		}
		switch v := v.(type) {
		case string:
			if s, _ := unquote(raw); s != v {
				t.Fatalf("unquote(%q) = %q, want %q", raw, s, v)
			}
		case map[string]any:
			seen := map[string]bool{}
			for name, value := range members(raw) {
				seen[name] = true
				if valid(value) != nil {
					t.Fatalf("members(%q) yields %q", raw, value)
				}
			}
			if len(seen) != len(v) {
				t.Fatalf("members(%q) yields %d names, want %d", raw, len(seen), len(v))
			}
		case []any:
			n := 0
			for _, value := range elements(raw) {
				n++
				if valid(value) != nil {
					t.Fatalf("elements(%q) yields %q", raw, value)
				}
			}
			if n != len(v) {
				t.Fatalf("elements(%q) yields %d, want %d", raw, n, len(v))
			}
		}
		before := appendCompact(nil, raw)
		if after := appendCompact(nil, []byte(Pretty(raw))); string(before) != string(after) {
			t.Fatalf("Pretty(%q) changed more than white space: %q", raw, after)
		}
	})
}

func TestPretty(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"z":1.50,"a":[1e3,9007199254740993],"e":{},"f":[ ],"s":"<\u00e9,:{>\""}`,
			"{\n  \"z\": 1.50,\n  \"a\": [\n    1e3,\n    9007199254740993\n  ],\n  \"e\": {},\n  \"f\": [],\n  \"s\": \"<\\u00e9,:{>\\\"\"\n}"},
		{" \"x\"\n", `"x"`},
		{`{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}"},
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

func TestAt(t *testing.T) {
	doc := json.RawMessage(`{"a/b":{"~":[10,{"x":1.50}]}}`)
	for ptr, want := range map[string]string{
		"": string(doc), "/a~1b/~0/1/x": "1.50", "/a~1b/~0/0": "10", "/none": "", "/a~1b/~0/7": "", "/a~1b/~0/0/x": "",
	} {
		if got := string(at(doc, ptr)); got != want {
			t.Errorf("at(%q) = %q, want %q", ptr, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for in, want := range map[string]int{"3": 3, "3.0": 3, "3e0": 3, "30e-1": 3, "0": 0, "1e30": 1<<31 - 1, "1e999999999": 1<<31 - 1, "-1": -1, "1.5": -1, "x": -1, "1e-99999": -1} {
		got := -1
		if n := count(in); n != nil {
			got = *n
		}
		if got != want {
			t.Errorf("count(%s) = %d, want %d", in, got, want)
		}
	}
}
