package elicit

import (
	"strconv"
	"strings"

	"elicitation-inspector/bridge/wording"
)

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
	return what + ". You entered " + wording.Quoted(text) + "."
}

// Limits describes what the schema demands of the field's value, a few words each.
func (f Field) Limits() (out []string) {
	add := func(words, value string) {
		if value != "" {
			out = append(out, words+value)
		}
	}
	count := func(words string, n *int, noun string) {
		if n != nil {
			out = append(out, words+wording.Plural(*n, noun))
		}
	}
	add("format ", f.Format)
	add("pattern ", f.Pattern)
	add("at least ", f.Minimum)
	add("at most ", f.Maximum)
	add("more than ", f.ExclusiveMinimum)
	add("less than ", f.ExclusiveMaximum)
	add("a multiple of ", f.MultipleOf)
	count("at least ", f.MinLength, "character")
	count("at most ", f.MaxLength, "character")
	count("at least ", f.MinItems, "choice")
	count("at most ", f.MaxItems, "choice")
	return out
}
