package elicit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Text is a string; see Field.Format.
var Text Kind = text{common{name: "text", json: rawjson.String, takes: "text", demand: "Required."}}

type text struct{ common }

func (text) read(f *Field, k Keywords, _ *references) error {
	f.Format, f.Pattern = k.Text("format"), k.Text("pattern")
	f.MinLength, f.MaxLength = k.Count("minLength"), k.Count("maxLength")
	return nil
}

func (text) value(_ *Field, in Input) (json.RawMessage, *Problem) {
	if in.Text == "" && !in.Empty {
		return nil, nil
	}
	return rawjson.Quoted(in.Text), nil
}

func (text) input(f *Field, value json.RawMessage) (Input, bool) {
	text, exact := rawjson.Unquote(value)
	if exact && text == "" {
		return Input{Empty: true}, true
	}
	return Input{Text: text}, exact && typable(text, f.Format)
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

func (text) limits(f *Field) []string {
	var out words
	out.add("format ", f.Format)
	out.add("pattern ", f.Pattern)
	out.count("at least ", f.MinLength, "character")
	out.count("at most ", f.MaxLength, "character")
	return out
}

func (text) takesKeywords() []string {
	return []string{"minLength", "maxLength", "format", "pattern"}
}

func (text) Hints(f *Field) []string {
	var out words
	if f.Format != "" {
		out.add("", cmp.Or(formats[f.Format].hint, "format "+f.Format))
	}
	if length, _ := Range(f.MinLength, f.MaxLength); length != "" {
		out.add(length, wording.Either(*cmp.Or(f.MaxLength, f.MinLength) == 1, " character", " characters"))
	}
	if f.Pattern != "" {
		out.add("", "must match")
	}
	return out
}

// longest is the maximum length of made-up texts, in code points.
const longest = 1 << 20

func (text) examples(f *Field) (list []json.RawMessage) {
	least := min(bound(f.MinLength, 0), longest)
	if re, err := syntax.Parse(f.Pattern, syntax.Perl); err == nil && f.Pattern != "" {
		match := matching(re)
		list = append(list, rawjson.Quoted(match), rawjson.Quoted(match+strings.Repeat("x", max(least-len([]rune(match)), 0))))
	}
	if example := formats[f.Format].example; example != "" {
		list = append(list, rawjson.Quoted(example))
	}
	plain := "text" + strings.Repeat("x", max(least-len("text"), 0))
	return append(list, rawjson.Quoted(plain[:min(len(plain), bound(f.MaxLength, longest))]))
}

// matching returns a short text that most likely matches an expression.
func matching(re *syntax.Regexp) string {
	var out strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			return string(slices.MaxFunc(re.Rune, func(a, b rune) int { return readable(a) - readable(b) }))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return matching(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(matching(re.Sub[0]), min(re.Min, longest/64))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out.WriteString(matching(sub))
		}
	default: // anchors, and optional parts
	}
	return out.String()
}

// readable ranks characters of a class: letters and digits first, then other visible
// ASCII.
func readable(r rune) int {
	switch {
	case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
		return 2
	case r > ' ' && r <= '~':
		return 1
	}
	return 0
}

// animals are words that no server says by itself.
var animals = []string{"narwhal", "quokka", "axolotl", "pangolin", "okapi", "tapir", "gecko", "lemur", "marmot", "numbat", "wombat"}

func (text) Others(_ *Field, n int) (list []json.RawMessage) {
	add := func(format string, args ...any) { list = append(list, rawjson.Quoted(fmt.Sprintf(format, args...))) }
	animal := animals[n%len(animals)]
	for _, format := range []string{"%s-%d", "%[1]s-%[2]d-%[1]s-%[2]d-%[1]s", "%s%d@example.com", "https://%s%d.example/", "%s%d.example"} {
		add(format, animal, unlikely(n))
	}
	for _, most := range []int{5, 4, 3, 2} {
		add("%.*s", most, animal)
	}
	add("2031-07-%02dT09:41:17Z", 11+n%17)
	add("2031-07-%02d", 11+n%17)
	return list
}

func (text) spoiled(f *Field, how Breach) json.RawMessage {
	var candidates []string
	switch least, most := bound(f.MinLength, 0), bound(f.MaxLength, longest); {
	case how == TooShort && least > 0:
		return rawjson.Quoted(strings.Repeat("x", min(least-1, longest)))
	case how == TooLong && most < longest:
		return rawjson.Quoted(strings.Repeat("x", most+1))
	case how == WrongFormat && f.Format != "":
		candidates = []string{"not a valid " + f.Format}
	case how == PatternMismatch && f.Pattern != "":
		candidates = []string{"does not match", "0", "~", ""}
	}
	for _, text := range candidates {
		if value := rawjson.Quoted(text); f.Refuses(value) {
			return value
		}
	}
	return nil
}
