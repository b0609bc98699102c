package markup

import (
	"strings"
	"testing"
)

// A piece never ends inside a character.
func TestExcerpt(t *testing.T) {
	const text = "a€🙂b"
	for most := 4; most < 12; most++ {
		var got string
		for from := int64(0); from < int64(len(text)); {
			e := excerpt([]byte(text), from, most)
			if e.next == from || strings.ContainsRune(e.text, '\uFFFD') {
				t.Fatalf("%d: %q at %d, then %d", most, e.text, from, e.next)
			}
			got, from = got+e.text, e.next
		}
		if got != text {
			t.Errorf("%d: %q", most, got)
		}
	}
	if e := excerpt([]byte("\xff\xfe\xff\xfe\xff\xfe"), 0, 4); e.text != "\xff\xfe\xff\xfe" {
		t.Errorf("bytes that are no text: %q", e.text)
	}
	if e := excerpt([]byte("abc"), 99, 4); e.text != "" || e.next != 3 {
		t.Errorf("past the end: %+v", e)
	}
}

func TestGist(t *testing.T) {
	for in, want := range map[string]string{
		`{ "a" : 1,` + "\n" + `"b":[ true ] }`: `{"a": 1, "b": [true]}`,
		`["x: y, z \" :",2]`:                   `["x: y, z \" :", 2]`,
		`["` + strings.Repeat("é", 99) + `"]`:  `["` + strings.Repeat("é", 62) + "…",
		`{}`:                                   `{}`,
	} {
		got, whole := gist([]byte(in))
		if got != want || whole == strings.HasSuffix(got, "…") {
			t.Errorf("%s: %s, whole: %v", in, got, whole)
		}
	}
}
