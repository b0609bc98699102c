package written

import (
	"errors"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

// TestParseJSON reads JSON with comments and trailing commas, which keep their places.
func TestParseJSON(t *testing.T) {
	n, err := ParseJSON([]byte("\ufeff// one, {two}\n{\"a\": [1, /* ] */ 2.50,], // \"b\"\n \"//\": \"/*é*/\\\",]\", \"\":\n{\"c\" : 1e3 , } ,\n}\n/**/"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(n.JSON()), `{"a":[1,2.50],"//":"/*é*/\",]","":{"c":1e3}}`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	empty := n.Names[2]
	c := n.Member("").Names[0]
	if empty.Line != 3 || empty.Column != 21 || c.Line != 4 || c.Column != 2 {
		t.Errorf("the places are %d:%d and %d:%d", empty.Line, empty.Column, c.Line, c.Column)
	}
}

func TestParseJSONErrors(t *testing.T) {
	for text, column := range map[string]int{`{,}`: 2, `[,]`: 2, `[1,,]`: 4, `{"a":,}`: 6, `{"a" 1}`: 6, `{} {}`: 4, `/* {}`: 1, `{"a": [1, // ]`: 15, ``: 1, `/`: 1} {
		_, err := ParseJSON([]byte(text))
		at := new(rawjson.SyntaxError)
		if !errors.As(err, &at) || at.Column != column {
			t.Errorf("%s: %v, want column %d", text, err, column)
		}
	}
}

// TestParseFlow reads texts that begin with a brace and are no JSON: YAML has such mappings,
// too, and its mistakes are found in them as elsewhere.
func TestParseFlow(t *testing.T) {
	n, err := Parse([]byte("{a: &x {b: 1}, c: *x}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(n.JSON()), `{"a":{"b":1},"c":{"b":1}}`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for text, want := range map[string]string{
		"{a: 1,\n b: *x}":       `2:5: there is no anchor "x" before this alias`,
		"{a: {<<: 1}}":          "1:6: what << names is not a mapping",
		"{a: .nan, b: [1, *x]}": "1:5: JSON has no such value: .nan",
		"{\"a\": 1 \"b\": [}":   "1:9: this is not JSON: ",
		"{a: 1}\n---\n{b: 1}":   "1:2: this is not JSON: ",
		"{\"a\": 1, \"a\": 2}":  `1:10: "a" stands there twice`,
		"{a: 1, b: [1, ?]":      "1:2: this is not JSON: ",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
