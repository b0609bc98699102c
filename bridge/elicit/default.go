package elicit

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Defaults is the form as the schema fills it in. A default that the field's
// control has no place for leaves it empty; see [Field.DefaultProblem].
func Defaults(fields []Field) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		if f.Default != nil && f.DefaultProblem() == "" {
			in.Fields[i] = f.input(f.Default)
		}
	}
	return in
}

// DefaultProblem says in a sentence why the field is empty although its schema
// gives a default: the default has another type, or is none of the choices. It
// is "" where the default can stand in the control, be it valid or not.
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

// typable tells whether the control for a string of that format gives back just
// this text. A text area drops a line feed at its beginning and every carriage
// return; a date's control holds no year 0.
func typable(text, format string) bool {
	switch format {
	case "":
		return plain(text) && text[0] != '\n'
	case "date": // what is no date at all stands in a control of one line
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return text > "0001"
		}
	}
	return oneLine(text)
}

// oneLine tells whether a control of one line, which drops white space around
// the text and line ends in it, gives back just this text.
func oneLine(text string) bool {
	return plain(text) && !strings.ContainsAny(text, "\n\t") && strings.TrimFunc(text, unicode.IsSpace) == text
}

// plain tells whether a text has no control characters but tab and line feed.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' })
}
