package lint

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// maxPerList is the number of entries of one list with a finding of the same rule. A list
// of 10,000 choices usually has the same defect in most of them.
const maxPerList = 3

type listFaults struct {
	property
	count map[string]int // by rule
}

func (p property) faults() listFaults { return listFaults{p, make(map[string]int)} }

func (l listFaults) find(rule, at, format string, args ...any) {
	if l.count[rule]++; l.count[rule] <= maxPerList {
		l.property.find(rule, at, format, args...)
	}
}

// lintChoices judges the choices of a property, or of its items. at is the pointer to the
// schema that has them.
func (p property) lintChoices(at string, k elicit.Keywords) {
	items := at != p.at
	if enum := k["enum"]; rawjson.KindOf(enum) == rawjson.Array {
		n := p.lintEnum(at, k, enum)
		p.lintNames(at+"/enumNames", k["enumNames"], n)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list, place := k[keyword], at+"/"+keyword
		switch {
		case !isChoices(keyword, list):
			continue
		case p.revision == june && !items:
			p.find("newer-than-revision", place, "%s has choices with titles, which came with revision 2025-11-25; write enum and enumNames.", p.name)
			continue
		case keyword == "oneOf" && items:
			p.find("choice-keyword", place, "The items of a multiple choice with titles are listed in anyOf, not in oneOf.")
		case keyword == "anyOf" && !items:
			p.find("choice-keyword", place, "The choices of a single choice with titles are listed in oneOf, not in anyOf.")
		}
		p.lintTitled(place, list)
	}
}

// lintEnum judges the entries of enum and returns their number.
func (p property) lintEnum(at string, k elicit.Keywords, enum json.RawMessage) (n int) {
	seen := make(map[string]bool)
	t := k.Text("type")
	isText := t == "" || t == "string"
	if !isText {
		p.find("enum-not-text", at+"/enum", "%s has choices and the type %s; choices are of type string.", p.name, wording.Quoted(t))
	}
	faults := p.faults()
	for i, v := range rawjson.Elements(enum) {
		n++
		place := fmt.Sprintf("%s/enum/%d", at, i)
		if rawjson.KindOf(v) != rawjson.String && isText {
			faults.find("enum-not-text", place, "A choice of %s is %s, not a string.", p.name, wording.WithArticle(rawjson.KindOf(v)))
			continue
		}
		if seen[string(v)] {
			faults.find("enum-duplicate", place, "The choice %s of %s is listed twice.", wording.Shorten(string(v), 60), p.name)
		}
		seen[string(v)] = true
	}
	if n == 0 {
		p.find("enum-empty", at+"/enum", "%s has an empty list of choices, so no answer is possible.", p.name)
	}
	return n
}

func (p property) lintNames(at string, names json.RawMessage, choices int) {
	if names == nil {
		return
	}
	if p.revision != june {
		p.find("enum-names-deprecated", at, "enumNames is no part of JSON Schema and will go; list the choices in oneOf with const and title.")
	}
	if t := rawjson.KindOf(names); t != rawjson.Array {
		p.find("text-not-string", at, "The enumNames of %s are %s, not a list of strings.", p.name, wording.WithArticle(t))
		return
	}
	n := 0
	faults := p.faults()
	for i, v := range rawjson.Elements(names) {
		n++
		if t := rawjson.KindOf(v); t != rawjson.String {
			faults.find("text-not-string", fmt.Sprintf("%s/%d", at, i), "A name in the enumNames of %s is %s, not a string.", p.name, wording.WithArticle(t))
		}
	}
	if n != choices {
		p.find("enum-names-length", at, "%s has %s and %s for them.", p.name, wording.Plural(choices, "choice"), wording.Plural(n, "name"))
	}
}

func (p property) lintTitled(at string, list json.RawMessage) {
	seen := make(map[string]bool)
	faults := p.faults()
	for i, entry := range rawjson.Elements(list) {
		place := fmt.Sprintf("%s/%d", at, i)
		value, title := rawjson.Member(entry, "const"), rawjson.Member(entry, "title")
		missing := ""
		switch {
		case value == nil && title == nil:
			missing = "neither const nor title"
		case value == nil:
			missing = "no const"
		case rawjson.KindOf(title) != rawjson.String:
			missing = "no title"
		}
		if missing != "" {
			faults.find("choice-incomplete", place, "Choice %d of %s has %s.", i+1, p.name, missing)
		}
		if value == nil {
			continue
		}
		if rawjson.KindOf(value) != rawjson.String {
			faults.find("enum-not-text", place+"/const", "A choice of %s is %s, not a string.", p.name, wording.WithArticle(rawjson.KindOf(value)))
		}
		if seen[string(value)] {
			faults.find("choice-duplicate", place, "The choice %s of %s is listed twice; under oneOf, validators then reject it.", wording.Shorten(string(value), 60), p.name)
		}
		seen[string(value)] = true
	}
}
