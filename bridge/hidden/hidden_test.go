package hidden

import (
	"fmt"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, é 🙂\n\t":           "",
		"a\x00b":                        "1-2 U+0000",
		"a\u202eb\u200b":                "1-4 U+202E, 5-8 U+200B",
		"\xffx\ufffd":                   "0-1 broken",
		"a\u00a0b\u3164\ufe0f\r\n":      "1-3 U+00A0, 4-7 U+3164, 7-10 U+FE0F, 10-11 U+000D",
		"\U000e0041 tag, \u17b4 filler": "0-4 U+E0041, 10-13 U+17B4",
	} {
		var got []string
		for c := range In(text) {
			words := fmt.Sprintf("U+%04X", c.Rune)
			if c.Broken {
				words = "broken"
			}
			got = append(got, fmt.Sprintf("%d-%d %s", c.At, c.End, words))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
