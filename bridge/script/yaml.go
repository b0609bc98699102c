package script

import (
	"encoding/json"
	"regexp"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// yamlText is a YAML text under construction. Unlike YAML encoders, it keeps the digits
// of numbers and the order of members.
type yamlText struct {
	text strings.Builder
	dash bool // the next line begins a list item
}

// String returns the text with escapes in place of hidden characters, which are in
// comments and in double quotation marks alone.
func (y *yamlText) String() string { return wording.Escape(y.text.String()) }

func (y *yamlText) line(indent int, text string) {
	if y.dash && indent >= 2 {
		y.text.WriteString(strings.Repeat(" ", indent-2) + "- ")
		y.dash = false
	} else {
		y.text.WriteString(strings.Repeat(" ", indent))
	}
	y.text.WriteString(text + "\n")
}

func (y *yamlText) item(int) { y.dash = true }

// entry writes a key with a value that is already YAML.
func (y *yamlText) entry(indent int, key, value string) { y.line(indent, quoted(key)+": "+value) }

// value writes a key with a JSON value. text formats its strings.
func (y *yamlText) value(indent int, key string, raw json.RawMessage, text func(string) string) {
	if raw == nil {
		return
	}
	if empty := string(rawjson.AppendCompact(nil, raw)); empty == "{}" || empty == "[]" {
		y.entry(indent, key, empty)
		return
	}
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		y.line(indent, quoted(key)+":")
		for name, value := range rawjson.Members(raw) {
			y.value(indent+2, name, value, text)
		}
	case rawjson.Array:
		y.line(indent, quoted(key)+":")
		for _, value := range rawjson.Elements(raw) {
			y.line(indent+2, "- "+flow(value, text))
		}
	default:
		y.entry(indent, key, flow(raw, text))
	}
}

// Flow returns a JSON value as YAML in one line.
func Flow(raw json.RawMessage) string { return flow(raw, quoted) }

// flow is Flow for texts that are written in a way of their own.
func flow(raw json.RawMessage, text func(string) string) string {
	var parts []string
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		for name, value := range rawjson.Members(raw) {
			parts = append(parts, quoted(name)+": "+flow(value, text))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case rawjson.Array:
		for _, value := range rawjson.Elements(raw) {
			parts = append(parts, flow(value, text))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case rawjson.String:
		return text(rawjson.Text(raw))
	}
	return string(rawjson.Trim(raw))
}

// plain matches the texts that YAML reads as strings without quotation marks, also
// inside brackets.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*\??$`)

func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plain.MatchString(text) {
			return text
		}
	}
	return string(rawjson.Quoted(text))
}
