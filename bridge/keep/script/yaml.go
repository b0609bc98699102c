package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// yamlText is a YAML text under construction. Unlike YAML encoders, it keeps the digits
// of numbers and the order of members.
type yamlText struct {
	text     strings.Builder
	dash     bool                // the next line begins a list item
	comments map[string][]string // see Script
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

// entry writes a key with a value that is already YAML.
func (y *yamlText) entry(indent int, key, value string) { y.line(indent, quoted(key)+": "+value) }

// whole is the depth for value that has everything in blocks that can be.
const whole = -1

// value writes a key with a JSON value. Objects as deep as depth are blocks, and all else is in one line.
func (y *yamlText) value(indent int, key string, raw json.RawMessage, depth int) {
	compact := string(rawjson.AppendCompact(nil, raw))
	switch kind := rawjson.KindOf(raw); {
	case compact == "{}" || compact == "[]":
		y.entry(indent, key, compact)
	case kind == rawjson.Object && depth != 0:
		y.line(indent, quoted(key)+":")
		for name, value := range rawjson.Members(raw) {
			y.value(indent+2, name, value, depth-1)
		}
	case kind == rawjson.Array && depth < 0:
		y.line(indent, quoted(key)+":")
		for _, value := range rawjson.Elements(raw) {
			y.line(indent+2, "- "+Flow(value))
		}
	default:
		y.entry(indent, key, Flow(raw))
	}
}

// Flow returns a JSON value as YAML in one line.
func Flow(raw json.RawMessage) string {
	var parts []string
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		for name, value := range rawjson.Members(raw) {
			parts = append(parts, quoted(name)+": "+Flow(value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case rawjson.Array:
		for _, value := range rawjson.Elements(raw) {
			parts = append(parts, Flow(value))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case rawjson.String:
		return quoted(rawjson.Text(raw))
	}
	return string(rawjson.Trim(raw))
}

// String returns the file as YAML: an answers file, or a scenario.
func (s *Script) String() string {
	y := yamlText{comments: s.comments}
	y.comment(0, "")
	y.members(0, s.Source, "")
	y.comment(0, "/")
	return y.String()
}

// comment writes the comments that stand before the value that a pointer leads to.
func (y *yamlText) comment(indent int, at string) {
	for _, one := range y.comments[at] {
		y.line(indent, "# "+one)
	}
}

// members writes the members of an object of the file, to which a pointer leads.
func (y *yamlText) members(indent int, raw json.RawMessage, at string) {
	faulty := rawjson.Member(raw, "fault") != nil
	for name, value := range rawjson.Members(raw) {
		here, kind := at+"/"+name, rawjson.KindOf(value)
		y.comment(indent, here)
		switch {
		case faulty && name != "fault": // its parameters are JSON
			y.entry(indent, name, string(rawjson.AppendCompact(nil, value)))
		case name == "answers" || name == "calls":
			y.line(indent, name+":"+wording.Either(string(value) == "[]", " []", ""))
			n := 0
			for i, one := range rawjson.Elements(value) {
				item := fmt.Sprintf("%s/%d", here, i)
				y.comment(indent+2, item)
				y.dash, n = true, i+1
				y.members(indent+4, one, item)
			}
			y.comment(indent+2, fmt.Sprintf("%s/%d", here, n))
		case kind == rawjson.Object && (name == "answer" || name == "default" || name == "expect"):
			y.line(indent, name+":")
			y.members(indent+2, value, here)
		case name == "allFields":
			y.value(indent, name, value, 1)
		case name == "match" || name == "target" && y.comments[here] == nil:
			y.value(indent, name, value, 2)
		case name == "accept" || name == "arguments" || name == "result" || name == "error":
			y.value(indent, name, value, whole)
		default:
			y.entry(indent, name, Flow(value))
		}
	}
}

// plain matches the texts that YAML reads as strings without quotation marks, also
// inside brackets.
var plain = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*\??$`)

func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plain().MatchString(text) {
			return text
		}
	}
	return string(rawjson.Quoted(text))
}
