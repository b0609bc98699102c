package elicit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// withArticle names a JSON type in a sentence.
func withArticle(t jsonType) string {
	switch t {
	case typeObject, typeArray:
		return "an " + string(t)
	case typeNull:
		return "null"
	case typeNone:
		return "nothing"
	}
	return "a " + string(t)
}

// sentence makes the text of an error one: a capital first, a full stop last.
func sentence(text string) string {
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

// quoted shows a text that somebody else wrote inside a sentence: in quotation
// marks, invisible characters escaped, and cut when it is long.
func quoted(text string) string { return strconv.Quote(shorten(text, 80)) }

// shorten cuts text to at most n code points, the last one an ellipsis.
func shorten(text string, n int) string {
	for i := range text {
		if n--; n == 0 && utf8.RuneCountInString(text[i:]) > 1 {
			return text[:i] + "…"
		}
	}
	return text
}

// plural is n and the noun, in the singular for one.
func plural(n int, noun string) string {
	s := strconv.Itoa(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// missing says that a required field has been left alone.
func (f Field) missing() string {
	switch f.Kind {
	case SingleChoice:
		return "Choose one."
	case MultiChoice:
		if n := f.MinItems; n != nil && *n > 1 {
			return "Choose at least " + strconv.Itoa(*n) + "."
		}
		return "Choose at least 1, or send the empty list."
	case Boolean:
		return "Choose yes or no."
	}
	return "Required."
}

// notNumber says why a text is no number, as plainly as it can be told.
func notNumber(kind FieldKind, text string) string {
	what := "Not a number"
	if kind == Integer {
		what = "Not a whole number"
	}
	switch {
	case isNumber(strings.ReplaceAll(text, ",", ".")):
		what = "Write the decimal separator as a point"
	case isNumber(strings.NewReplacer(",", "", "_", "", " ", "", "'", "", "\u00a0", "", "\u202f", "").Replace(text)):
		what = "Write the number without grouping its digits"
	case isNumber(strings.TrimPrefix(text, "+")):
		what = "Write the number without a plus sign"
	case strings.HasSuffix(text, ".") && isNumber(text+"0"), isNumber(strings.Replace(text, ".", "0.", 1)):
		what = "Write a digit before and after the decimal point"
	case isNumber(strings.TrimLeft(text, "0")):
		what = "Write the number without leading zeros"
	}
	return what + ". You entered " + quoted(text) + "."
}
