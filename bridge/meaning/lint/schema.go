package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// wellScoped is the largest number of fields for which the linter does not advise to ask
// for less.
const wellScoped = 10

// schemaAt is the pointer to the schema in an elicitation's params.
const schemaAt = "/requestedSchema"

func (q *question) lintSchema(schema json.RawMessage) {
	if t := rawjson.KindOf(schema); t != rawjson.Object {
		q.find("root-not-object", schemaAt, "The schema is %s, not an object.", wording.WithArticle(t))
		return
	}
	k := elicit.KeywordsOf(schema)
	switch {
	case k.Text("type") == "object":
	case k["type"] == nil:
		q.find("root-not-object", schemaAt, `The schema has to say "type": "object".`)
	default:
		q.find("root-not-object", schemaAt+"/type", `The schema's type is %s; it has to be "object".`, wording.Shorten(string(k["type"]), 60))
	}
	q.lintKeywords(schemaAt, schema, "The schema")
	q.lintSpelling(schemaAt, schema, keywordNames)
	switch t := rawjson.KindOf(k["properties"]); t {
	case rawjson.Object:
	case rawjson.None:
		q.find("properties-missing", schemaAt, "The schema has no properties, so there is nothing to fill in.")
	default:
		q.find("properties-missing", schemaAt+"/properties", "The schema's properties are %s, not an object.", wording.WithArticle(t))
	}
	q.fields, _ = elicit.FieldsIn(schema)
	known := make(map[string]bool) // also those that are too many for a form
	for name := range rawjson.Members(k["properties"]) {
		known[name] = true
	}
	if len(known) > wellScoped {
		q.find("too-many-fields", schemaAt+"/properties", "The form has %d fields. Short forms get answered; consider asking in steps.", len(known))
	}
	for _, f := range q.fields {
		f.Label, f.Description = wording.Head(f.Label, wording.TextMost), wording.Head(f.Description, wording.TextMost)
		q.lintProperty(f)
	}
	for i, raw := range rawjson.Elements(k["required"]) {
		if name := rawjson.Text(raw); !known[name] && rawjson.KindOf(raw) == rawjson.String {
			q.find("required-unknown", fmt.Sprintf("%s/required/%d", schemaAt, i), "The required property %s is not among the properties, so no form can give it.", wording.Quoted(name))
		}
	}
	_, err := elicit.Check(schema, json.RawMessage(`{}`))
	invalid, ok := errors.AsType[*elicit.SchemaError](err)
	if !ok {
		return
	}
	for _, fault := range invalid.Faults[:min(len(invalid.Faults), invalidMost)] {
		if !q.saysFault(fault.Pointer) {
			q.find("schema-invalid", schemaAt+fault.Pointer, "%s", wording.Sentence(fault.Text))
		}
	}
}

const invalidMost = 10

// saysFault reports whether a finding covers the place in the schema, or a place around
// it.
func (q *question) saysFault(pointer string) bool {
	if pointer == "" {
		return q.has("keyword-unsupported", "root-not-object")
	}
	whole := []string{"type-unknown", "text-not-string", "property-no-schema", "properties-missing", "pattern-invalid", "keyword-unsupported"}
	return slices.ContainsFunc(q.findings, func(f Finding) bool {
		rest, inside := strings.CutPrefix(schemaAt+pointer, f.Pointer)
		return inside && (rest == "" || rest[0] == '/' && slices.Contains(whole, f.Rule))
	})
}

// advanced lists the keywords that refer to other schemas, combine schemas or make them
// conditional.
var advanced = []string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
	"dependentSchemas", "dependentRequired", "dependencies", "patternProperties", "propertyNames",
	"unevaluatedProperties", "unevaluatedItems", "prefixItems", "contains",
}

// lintKeywords finds keywords that are not in the subset of JSON Schema for forms.
func (q *question) lintKeywords(ptr string, schema json.RawMessage, what string) {
	for name, value := range rawjson.Members(schema) {
		if slices.Contains(advanced, name) && !isChoices(name, value) {
			q.find("keyword-unsupported", rawjson.PointerTo(ptr, name), "%s uses %s, which a form's schema must not have.", what, name)
		}
	}
}

// isChoices reports whether a oneOf or anyOf lists choices: an entry has const, or all
// entries are objects with nothing but a title and a description.
func isChoices(keyword string, list json.RawMessage) bool {
	if keyword != "oneOf" && keyword != "anyOf" {
		return false
	}
	onlyTexts, n := true, 0
	for _, entry := range rawjson.Elements(list) {
		n++
		onlyTexts = onlyTexts && rawjson.KindOf(entry) == rawjson.Object
		for name := range rawjson.Members(entry) {
			if name == "const" {
				return true
			}
			onlyTexts = onlyTexts && (name == "title" || name == "description")
		}
	}
	return n > 0 && onlyTexts
}

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
		seen := make(map[string]bool)
		faults := p.faults()
		for i, entry := range rawjson.Elements(list) {
			place := fmt.Sprintf("%s/%d", place, i)
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
		p.find("enum-names-deprecated", at, "enumNames is not part of JSON Schema and is deprecated; list the choices in oneOf with const and title.")
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
