package lint

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"elicitation-inspector/bridge/wording"
)

// textMost is the number of characters of a text that are searched for words.
const textMost = 2000

// breaks holds the patterns of the ends of words inside a name.
var breaks = sync.OnceValue(func() (b struct{ apostrophes, humps, lastCapital *regexp.Regexp }) {
	b.apostrophes = regexp.MustCompile(`['’][st](\P{L}|$)`)          // key's and don't are key and don
	b.humps = regexp.MustCompile(`(\p{Ll}|\p{Lo}|\p{L}\d+)(\p{Lu})`) // fooBar and foo2Bar are two words, 2FA is one
	b.lastCapital = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`)     // APIKey is API and key
	return b
})

// wordsOf splits a name or a text into lower-case words: "APIKey", "api_key" and "API
// key's" all become api and key.
func wordsOf(text string) []string {
	b := breaks()
	text = b.apostrophes.ReplaceAllString(wording.Shorten(text, textMost), " $1")
	text = b.lastCapital.ReplaceAllString(b.humps.ReplaceAllString(text, "$1 $2"), "$1 $2")
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func sentencesOf(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for sentence := range strings.FieldsFuncSeq(wording.Shorten(text, textMost), func(r rune) bool { return strings.ContainsRune(".!?;:\n()", r) }) {
			if !yield(wordsOf(sentence)) {
				return
			}
		}
	}
}

func hasAny(words, set []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(set, w) })
}

// phraseAt returns the index of a phrase in a list of words; -1 if the list does not have
// it.
func phraseAt(list, phrase []string) int {
	for i := range list {
		if hasPrefix(list[i:], phrase) {
			return i
		}
	}
	return -1
}

func hasPrefix(list, prefix []string) bool {
	return len(list) >= len(prefix) && slices.Equal(list[:len(prefix)], prefix)
}
