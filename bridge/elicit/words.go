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
