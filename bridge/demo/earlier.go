package demo

import (
	"encoding/json"
	"strings"

	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// written returns the question with its form as the revision allows it. 2025-06-18 has the titles of choices in
// enumNames and no multiple choice, so each choice of such a field becomes a boolean.
func (q question) written(revision string) question {
	properties := rawjson.Member([]byte(q.schema), "properties")
	if revision > protocol.Revision20250618 || q.unruly || q.params != nil || properties == nil {
		return q
	}
	var members []string
	for name, p := range rawjson.Members(properties) {
		if rawjson.Text(rawjson.Member(p, "type")) == "array" {
			for _, c := range choicesOf(p) {
				members = append(members, string(mustJSON(c.property(name)))+":"+c.yesOrNo(p))
			}
			continue
		}
		members = append(members, string(mustJSON(name))+":"+titled(p))
	}
	var required []string
	for _, name := range rawjson.Elements(rawjson.Member([]byte(q.schema), "required")) {
		if rawjson.Text(rawjson.Member(properties, rawjson.Text(name), "type")) != "array" {
			required = append(required, rawjson.Text(name))
		}
	}
	q.schema = object(strings.Join(members, ","), required...)
	return q
}

// gathered adds to the content of a form of 2025-06-18 the lists of chosen values that its booleans stand for.
func (q question) gathered(content json.RawMessage) json.RawMessage {
	var members []string
	for name, value := range rawjson.Members(content) {
		members = append(members, string(mustJSON(name))+":"+string(value))
	}
	for name, p := range rawjson.Members(rawjson.Member([]byte(q.schema), "properties")) {
		picked := []string{}
		for _, c := range choicesOf(p) {
			if string(rawjson.Member(content, c.property(name))) == "true" {
				picked = append(picked, c.Const)
			}
		}
		if len(picked) > 0 {
			members = append(members, string(mustJSON(name))+":"+string(mustJSON(picked)))
		}
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// choice is one of the choices of a multiple-choice property.
type choice struct{ Const, Title string }

// choicesOf returns the choices of a multiple-choice property; nil for other properties.
func choicesOf(property json.RawMessage) (list []choice) {
	items := rawjson.Member(property, "items")
	for _, value := range rawjson.Elements(rawjson.Member(items, "enum")) {
		list = append(list, choice{rawjson.Text(value), rawjson.Text(value)})
	}
	for _, c := range rawjson.Elements(rawjson.Member(items, "anyOf")) {
		list = append(list, choice{rawjson.Text(rawjson.Member(c, "const")), rawjson.Text(rawjson.Member(c, "title"))})
	}
	return list
}

// property returns the name of the boolean that replaces the choice.
func (c choice) property(of string) string { return of + "_" + strings.ReplaceAll(c.Const, " ", "_") }

// yesOrNo returns the schema of the boolean that replaces the choice.
func (c choice) yesOrNo(of json.RawMessage) string {
	title := mustJSON(rawjson.Text(rawjson.Member(of, "title")) + ": " + c.Title)
	for _, value := range rawjson.Elements(rawjson.Member(of, "default")) {
		if rawjson.Text(value) == c.Const {
			return `{"type":"boolean","title":` + string(title) + `,"default":true}`
		}
	}
	return `{"type":"boolean","title":` + string(title) + `}`
}

// titled returns the schema of a property with the titles of its choices in enumNames.
func titled(property json.RawMessage) string {
	var members, values, titles []string
	for _, c := range rawjson.Elements(rawjson.Member(property, "oneOf")) {
		values = append(values, string(rawjson.Member(c, "const")))
		titles = append(titles, string(rawjson.Member(c, "title")))
	}
	for name, value := range rawjson.Members(property) {
		if name == "oneOf" {
			members = append(members, `"enum":[`+strings.Join(values, ",")+`],"enumNames":[`+strings.Join(titles, ",")+`]`)
		} else {
			members = append(members, string(mustJSON(name))+":"+string(value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}
