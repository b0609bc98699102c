package elicit

import (
	"encoding/json"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
)

// ChoiceLines writes the choices of a field for a person to change: one a line, as "value: title" where they have
// titles of their own. It is "" where the schema of the field has none, or lines would not say which they are.
func (f *Field) ChoiceLines() string {
	if f.Kind != SingleChoice && f.Kind != MultiChoice {
		return ""
	}
	var lines []string
	for _, c := range f.Choices {
		line := c.Value
		if haveTitles(f.Schema) {
			line += ": " + c.Title
		}
		if value, _, _ := strings.Cut(line, ": "); strings.TrimSpace(line) != line || strings.ContainsAny(line, "\r\n") || haveTitles(f.Schema) && value != c.Value {
			return ""
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	if !rawjson.Same(withChoices(f.Schema, text), f.Schema) { // it says more of them, or elsewhere
		return ""
	}
	return text
}

// haveTitles reports whether the choices of a schema have titles of their own.
func haveTitles(schema json.RawMessage) bool {
	k := membersOf(schema)
	if items := k.get("items"); items != nil {
		return haveTitles(items)
	}
	return k.get("oneOf") != nil || k.get("anyOf") != nil || k.get("enumNames") != nil
}

// withChoices returns the schema of a field with other choices, in the keywords that it has them in.
func withChoices(schema json.RawMessage, lines string) json.RawMessage {
	list := membersOf(schema)
	if items := list.get("items"); items != nil {
		return list.with("items", withChoices(items, lines)).json()
	}
	type option struct {
		Const string `json:"const"`
		Title string `json:"title"`
	}
	var options []option
	var values, titles []string
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		value, title := line, line
		if before, after, is := strings.Cut(line, ": "); is && before != "" && haveTitles(schema) {
			value, title = strings.TrimSpace(before), strings.TrimSpace(after)
		}
		options, values, titles = append(options, option{value, title}), append(values, value), append(titles, title)
	}
	set := func(keyword string, value any) {
		if raw, err := rawjson.Encode(value); err == nil {
			list = list.with(keyword, raw)
		}
	}
	switch {
	case list.get("oneOf") != nil:
		set("oneOf", options)
	case list.get("anyOf") != nil:
		set("anyOf", options)
	default:
		set("enum", values)
		if list.get("enumNames") != nil {
			set("enumNames", titles)
		}
	}
	return list.json()
}
