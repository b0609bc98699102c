package wording

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFoldFiles(t *testing.T) {
	data := strings.Repeat("AAAA", 20)
	const of60 = "[60 bytes, sha256 5dcc1b5872dd]"
	for text, want := range map[string]string{
		`{"a": "data:image/png;base64,` + data + `", "b": 1.50}`: `{"a": "data:image/png;base64,` + of60 + `", "b": 1.50}`,
		`"data:image\/png;base64,` + data[4:] + `\/\/\/\/"`:      `"data:image\/png;base64,[60 bytes, sha256 7c3072f34cbd]"`,
		`"{\"a\":\"data:;name=a.b;base64,` + data + `\"}"`:       `"{\"a\":\"data:;name=a.b;base64,` + of60 + `\"}"`,
		`["data:a/b;base64,` + data + `","data:,b","x;base64,"]`: `["data:a/b;base64,` + of60 + `","data:,b","x;base64,"]`,
		`"data:a/b;base64,AAAA"`:                                 "",
		`"data:a/b;base64,` + data + `A"`:                        "", // no base64
		`"data:a/b;base64,` + data + `-"`:                        "",
		`"data:a/b;base64,` + data:                               "",
		`"see data:a/b;base64,` + data + `"`:                     "",
		`{"data:":"data:","x":";base64,` + data + `"}`:           "",
		"": "",
	} {
		if want == "" {
			want = text
		}
		got := FoldFiles(text)
		if got != want || json.Valid([]byte(text)) != json.Valid([]byte(got)) {
			t.Errorf("%s became\n%s, want\n%s", text, got, want)
		}
	}
}
