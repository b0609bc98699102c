package written

import (
	"errors"
	"testing"

	"elicitation-inspector/bridge/rawjson"
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
