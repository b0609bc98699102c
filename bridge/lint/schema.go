package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
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
	q.lintProperties(k)
	q.lintValid(schema)
}

func (q *question) lintProperties(k elicit.Keywords) {
	q.fields, _ = elicit.FieldsIn(k["properties"], k["required"])
	if len(q.fields) > wellScoped {
		q.find("too-many-fields", schemaAt+"/properties", "The form has %d fields. Short forms get answered; consider asking in steps.", len(q.fields))
	}
	known := make(map[string]bool)
	for _, f := range q.fields {
		known[f.Name] = true
		f.Label, f.Description = wording.Head(f.Label, wording.TextMost), wording.Head(f.Description, wording.TextMost)
		q.lintProperty(f)
	}
	for i, raw := range rawjson.Elements(k["required"]) {
		if name := rawjson.Text(raw); !known[name] && rawjson.KindOf(raw) == rawjson.String {
			q.find("required-unknown", fmt.Sprintf("%s/required/%d", schemaAt, i), "The required property %s is not among the properties, so no form can give it.", wording.Quoted(name))
		}
	}
}

const invalidMost = 10

// lintValid adds findings for parts of the schema that are invalid by its own dialect,
// unless another finding covers them.
func (q *question) lintValid(schema json.RawMessage) {
	_, err := elicit.Check(schema, json.RawMessage(`{}`))
	var invalid *elicit.SchemaError
	if !errors.As(err, &invalid) {
		return
	}
	for _, fault := range invalid.Faults[:min(len(invalid.Faults), invalidMost)] {
		if !q.saysFault(fault.Pointer) {
			q.find("schema-invalid", schemaAt+fault.Pointer, "%s", wording.Sentence(fault.Text))
		}
	}
}

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
