package wording

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Sentence("é is wrong"):                           "É is wrong.",
		Sentence("Done."):                                "Done.",
		Sentence(""):                                     "",
		Quoted("a\u202eb\n"):                             `"a\u202eb\n"`,
		Shorten("äöü", 3):                                "äöü",
		Shorten("äöüß", 3):                               "äö…",
		Plural(1, "choice"):                              "1 choice",
		Plural(0, "choice"):                              "0 choices",
		Series([]string{"a"}):                            "a",
		Series([]string{"a", "b", "c"}):                  "a, b and c",
		QuotedSeries(strings.Split("abcdef", "")):        `"a", "b", "c", "d", "e" and others`,
		WithArticle("array") + " " + WithArticle("null"): "an array null",
		WithArticle("string") + " " + WithArticle(""):    "a string nothing",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestShellWords(t *testing.T) {
	for line, want := range map[string][]string{
		"": nil, "  a  b\tc ": {"a", "b", "c"}, `node 'my server.js' --x="a b"`: {"node", "my server.js", "--x=a b"},
		`a\ b '' "it's \"so\" \n"`: {"a b", "", `it's "so" \n`}, `'it'\''s'`: {"it's"},
	} {
		if got, err := ShellWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", line, got, err, want)
		}
		again := ""
		for _, word := range want {
			again += ShellWord(word) + " "
		}
		if got, err := ShellWords(again); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, quoted as %q: %q, %v", want, again, got, err)
		}
	}
	for _, line := range []string{`a "b`, `a 'b`, `a \`} {
		if got, err := ShellWords(line); err == nil {
			t.Errorf("%q: %q, want an error", line, got)
		}
	}
}

func TestDuration(t *testing.T) {
	durations := map[time.Duration]string{
		0: "0 ms", 98 * time.Microsecond: "98 µs", 99600 * time.Nanosecond: "0.1 ms", 400 * time.Nanosecond: "0.4 µs", 120 * time.Microsecond: "0.12 ms", 45 * time.Millisecond: "45 ms", 1234 * time.Millisecond: "1.23 s", 12340 * time.Millisecond: "12.3 s",
		999700 * time.Microsecond: "1.00 s", 9996 * time.Millisecond: "10.0 s", 59960 * time.Millisecond: "1 min 0 s",
		59*time.Minute + 48*time.Second: "59 min 48 s", 59*time.Minute + 59900*time.Millisecond: "1 h 0 min", 90 * time.Minute: "1 h 30 min", -time.Second: "-1.00 s",
	}
	for d, want := range durations {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%s) = %q, want %q", d, got, want)
		}
	}
}
