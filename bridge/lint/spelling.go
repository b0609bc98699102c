package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/rawjson"

	"elicitation-inspector/bridge/wording"
)

var paramNames = []string{"mode", "message", "url", "elicitationId", "requestedSchema", "_meta", "task"}

// keywordNames lists the keywords of a schema that a misspelt keyword can mean.
var keywordNames = []string{
	"type", "title", "description", "default", "properties", "required", "additionalProperties",
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"enum", "enumNames", "oneOf", "anyOf", "allOf", "items", "minItems", "maxItems", "uniqueItems",
}

// otherNames lists words that people use in schemas on purpose, and that are not misspelt
// keywords.
var otherNames = map[string]bool{
	"const": true, "not": true, "if": true, "then": true, "else": true, "examples": true, "example": true, "readOnly": true, "writeOnly": true, "deprecated": true,
	"contains": true, "minContains": true, "maxContains": true, "prefixItems": true, "minProperties": true, "maxProperties": true, "patternProperties": true,
	"propertyNames": true, "dependentRequired": true, "dependentSchemas": true, "dependencies": true, "definitions": true,
	"unevaluatedItems": true, "unevaluatedProperties": true, "additionalItems": true, "contentEncoding": true, "contentMediaType": true, "contentSchema": true,
	"formatMinimum": true, "formatMaximum": true, "options": true, "order": true, "hint": true, "label": true, "name": true, "id": true, "value": true, "urls": true, "uri": true, "meta": true,
}

const spelledMost = 1000

func (l *linter) lintSpelling(ptr string, object json.RawMessage, known []string) {
	n := 0
	for name := range rawjson.Members(object) {
		if n++; n > spelledMost {
			return
		}
		if otherNames[name] || slices.Contains(known, name) || strings.ContainsAny(name, "$:-") {
			continue
		}
		if meant := wording.Nearest(name, known); meant != "" && rawjson.Member(object, meant) == nil {
			l.guess("keyword-misspelt", rawjson.PointerTo(ptr, name), "%s looks misspelt: did you mean %s? As it stands, clients ignore it.", wording.Quoted(name), wording.Quoted(meant))
		}
	}
}
