package elicit

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Defaults returns a form filled in with the schema's defaults. A field whose control
// cannot show its default stays empty; see [Field.DefaultProblem].
func Defaults(fields []Field) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		if f.Default != nil && f.DefaultProblem() == "" {
			in.Fields[i] = f.input(f.Default)
		}
	}
	return in
}

// DefaultProblem says in a sentence why the field is empty although its schema has a
// default: the default has another type, or is none of the choices. It returns "" if the
// control can show the default, even an invalid one.
func (f Field) DefaultProblem() string {
	t := rawjson.KindOf(f.Default)
	fits, what, left := true, "", "the field is left empty"
	switch f.Kind {
	case Text:
		fits, what = t == rawjson.String, "text"
	case Number:
		fits, what = t == rawjson.Number, "a number"
	case Integer:
		fits, what = t == rawjson.Number, "a whole number"
	case Boolean:
		fits, what, left = t == rawjson.Boolean, "true or false", "nothing is chosen"
	case SingleChoice:
		fits, what, left = f.Default == nil || f.input(f.Default).JSON == "", "one of the choices", "nothing is chosen"
	case MultiChoice:
		fits, what, left = t == rawjson.Array, "a list of choices", "nothing is chosen"
		switch _, odd, twice := f.picksOf(f.Default); {
		case twice:
			return "The schema’s default names " + briefly(odd) + " twice, so nothing is chosen."
		case odd != nil:
			return "The schema’s default names " + briefly(odd) + ", which is not one of the choices, so nothing is chosen."
		}
	case JSON:
	}
	if fits || f.Default == nil {
		return ""
	}
	return "The schema’s default, " + briefly(f.Default) + ", is not " + what + ", so " + left + "."
}

// briefly shows a JSON value inside a sentence.
func briefly(value json.RawMessage) string {
	if text, exact := rawjson.Unquote(value); exact {
		return wording.Quoted(text)
	}
	return wording.Shorten(string(rawjson.AppendCompact(nil, value)), 80)
}

// typable tells whether the control for a string of this format returns the text
// unchanged. A text area drops a leading line feed and every carriage return; a date
// control has no year 0.
func typable(text, format string) bool {
	switch format {
	case "":
		return plain(text) && text[0] != '\n'
	case "date": // a text that is no date gets a one-line control
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text > "0001"
		}
	}
	return oneLine(text)
}

// oneLine tells whether a one-line control, which drops white space around the text and
// line breaks in it, returns the text unchanged.
func oneLine(text string) bool {
	return plain(text) && !strings.ContainsAny(text, "\n\t") && strings.TrimFunc(text, unicode.IsSpace) == text
}

// plain tells whether tab and line feed are the only control characters in a text.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' })
}
