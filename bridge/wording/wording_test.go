package wording

import (
	"strings"
	"testing"
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
