package wording

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, é 🙂\n\t":      "",
		"a\x00b":                   "1-2 U+0000",
		"a\u202eb\u200b":           "1-4 U+202E, 5-8 U+200B",
		"\xffx\ufffd":              "0-1 broken",
		"a\u2003b\u3164\ufe0f\r\n": "1-4 U+2003, 5-8 U+3164, 8-11 U+FE0F, 11-12 U+000D",
		// What shapes a character is not hidden.
		"\u2764\ufe0f\u200d\U0001f525 \U0001f469\U0001f3fd\u200d\U0001f4bb 1\ufe0f\u20e3 \u3030\ufe0f \u00a9\ufe0e": "",
		"\U0001f3f4" + tags("gbeng") + " \u0645\u06cc\u200c\u062e \u0915\u094d\u200d":                               "",
		"oui\u00a0!\u202f\u3000": "",
		// Out of its place, or a second time, it is.
		"a\u200db 1\ufe0f":                            "1-4 U+200D, 7-10 U+FE0F",
		"\u2764\ufe0f\ufe0e\ufe0f":                    "6-9 U+FE0E, 9-12 U+FE0F",
		"\U0001f525\u200d\u200d\U0001f525":            "4-7 U+200D, 7-10 U+200D",
		"\U0001f3f4" + tags("x")[:4]:                  "4-8 U+E0078",
		"\u0645\u200c\u200c\u062e \u0645\u200d\u200d": "2-5 U+200C, 5-8 U+200C, 16-19 U+200D",
		"\U000e0041 tag, \u17b4 filler":               "0-4 U+E0041, 10-13 U+17B4",
	} {
		var got []string
		for c := range HiddenIn(text) {
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

func TestEscapes(t *testing.T) {
	text := "a\x00\x1b]8;;x\x07\x9b\u009b\u202e\u2028\U000e0041\r\n\t\u2764\ufe0f"
	if got, want := Escape(text), `a\u0000\u001b]8;;x\u0007`+"\ufffd"+`\u009b\u202e\u2028\udb40\udc41`+"\n\t\u2764\ufe0f"; got != want {
		t.Errorf("Escape: %q, want %q", got, want)
	}
	if got, want := EscapeLine("a\r\nb\tc"), `a\nb\tc`; got != want {
		t.Errorf("Line: %q, want %q", got, want)
	}
	if got, want := EscapeJSON([]byte("{\"a\":\r\"\u202e\"\r\n}")), "{\"a\": \"\\u202e\" \n}"; got != want {
		t.Errorf("JSON: %q, want %q", got, want)
	}
}

func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"::set-output name=a::b\n \t::error::c\n":          "\\u003a:set-output name=a::b\n \t\\u003a:error::c\n",
		"a ::error::b\nstd::string\n:: a\n:::note\n":       "a ::error::b\nstd::string\n:: a\n:::note\n",
		"a ##vso[task.x] ##[add-path]b ##teamcity[c] ## d": "a \\u0023#vso[task.x] \\u0023#[add-path]b \\u0023#teamcity[c] ## d",
		"\x1b[2J": `\u001b[2J`,
	} {
		var b strings.Builder
		if n, err := (EscapingWriter{&b}).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q: %q (%d, %v), want %q", text, b.String(), n, err, want)
		}
	}
	long := strings.Repeat("<b>\u200d</b>é", heldLeast/10)
	for text, want := range map[string]string{
		"<i>\u202e\x1b\u009b\n": "<i>&#x202e;\ufffd\ufffd\n",
		long:                    strings.ReplaceAll(long, "\u200d", "&#x200d;"),
	} {
		var b strings.Builder
		w := &HTMLWriter{To: &b}
		for piece := range slices.Chunk([]byte(text), 7) { // which cuts characters
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil || b.String() != want {
			t.Errorf("HTML of %.60q: %.60q (%v)", text, b.String(), err)
		}
	}
}
