// Package wording puts values into English sentences.
package wording

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence makes the text of an error one: a capital first, a full stop last.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	text = string(unicode.ToUpper(r)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// Quoted shows a text that somebody else wrote inside a sentence: in quotation
// marks, invisible characters escaped, and cut when it is long.
func Quoted(text string) string { return strconv.Quote(Shorten(text, 80)) }

// Shorten cuts text to at most n code points, the last one an ellipsis.
func Shorten(text string, n int) string {
	for i := range text {
		if n--; n == 0 && utf8.RuneCountInString(text[i:]) > 1 {
			return text[:i] + "…"
		}
	}
	return text
}

// Plural is n and the noun, in the singular for one.
func Plural(n int, noun string) string {
	s := strconv.Itoa(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// Series is names in a sentence: "a, b and c".
func Series(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// QuotedSeries is Series of the first five names, each in quotation marks.
func QuotedSeries(names []string) string {
	const most = 5
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, Quoted(name))
	}
	if len(names) > most {
		list = append(list, "others")
	}
	return Series(list)
}

// WithArticle names a JSON type: "an object", "null", or "nothing" where there is
// no value.
func WithArticle[T ~string](kind T) string {
	switch kind {
	case "object", "array":
		return "an " + string(kind)
	case "null":
		return "null"
	case "":
		return "nothing"
	}
	return "a " + string(kind)
}
