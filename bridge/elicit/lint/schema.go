package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// wellScoped is how many fields a single request may have before it is advised
// to ask for less.
const wellScoped = 10

func (q *question) lintSchema() {
	const root = "/requestedSchema"
	switch t := typeOf(q.schema); t {
	case typeObject:
	default:
		q.find("root-not-object", root, "The schema is %s, not an object.", withArticle(t))
		return
	}
	k := keywordsOf(q.schema)
	switch t, _ := unquote(k["type"]); {
	case t == "object":
	case k["type"] == nil:
		q.find("root-not-object", root, `The schema has to say "type": "object".`)
	default:
		q.find("root-not-object", root+"/type", `The schema's type is %s; it has to be "object".`, wording.Shorten(string(k["type"]), 60))
	}
	q.lintKeywords(root, q.schema, "The schema")
	q.lintSpelling(root, q.schema, keywordNames)
	properties := k["properties"]
	switch t := typeOf(properties); t {
	case typeObject:
	case typeNone:
		q.find("properties-missing", root, "The schema has no properties, so there is nothing to fill in.")
	default:
		q.find("properties-missing", root+"/properties", "The schema's properties are %s, not an object.", withArticle(t))
	}
	q.lintProperties(properties, stringsOf(k["required"]))
	q.lintValid(root, q.schema)
}

// lintProperties judges each property as decoders see it: the last of those
// that share a name.
func (q *question) lintProperties(properties json.RawMessage, required []string) {
	last := make(map[string]json.RawMessage)
	var order []string
	for name, schema := range members(properties) {
		if _, again := last[name]; !again {
			if len(order) == elicit.MaxFields {
				break
			}
			order = append(order, name)
		}
		last[name] = schema
	}
	if len(order) > wellScoped {
		q.find("too-many-fields", "/requestedSchema/properties", "The form has %d fields. Short forms get answered; consider asking in steps.", len(order))
	}
	for _, name := range order {
		q.lintProperty(name, last[name])
	}
	for i, name := range required {
		if last[name] == nil {
			q.find("required-unknown", fmt.Sprintf("/requestedSchema/required/%d", i), "The required property %s is not among the properties, so no form can give it.", wording.Quoted(name))
		}
	}
}

func (q *question) lintProperty(name string, schema json.RawMessage) {
	switch t := typeOf(schema); t {
	case typeObject:
	default:
		q.find("property-no-schema", q.place(name), "%s is described by %s, not by an object.", wording.Quoted(name), withArticle(t))
		return
	}
	k := keywordsOf(schema)
	f := elicit.FieldOf(name, schema)
	q.lintKeywords(q.place(name), schema, wording.Quoted(name))
	q.lintSpelling(q.place(name), schema, keywordNames)
	q.lintType(name, k)
	q.lintChoices(q.place(name), name, k)
	q.lintFormat(name, k)
	q.lintLimits(name, f, k)
	q.lintPattern(name, k)
	q.lintTexts(name, f, k)
	q.lintDefault(name, schema, k)
	q.lintSecretField(name, f)
}

// invalidMost is how many faults of one schema are looked for.
const invalidMost = 10

// lintValid finds what is not valid by the schema's own dialect, unless a finding
// says so already. One fault can hide others from the validator, so each is left
// out in turn.
func (q *question) lintValid(root string, schema json.RawMessage) {
	start := time.Now()
	for range invalidMost {
		at, fault, found := elicit.Fault(schema)
		if !found || time.Since(start) > validTime {
			return
		}
		if at == "" {
			if !slices.ContainsFunc(q.findings, func(f Finding) bool { return f.Rule == "keyword-unsupported" || f.Rule == "root-not-object" }) {
				q.find("schema-invalid", root, "%s", wording.Sentence(fault))
			}
			return
		}
		if !q.saysFault(root + at) {
			q.find("schema-invalid", root+at, "%s", wording.Sentence(fault))
		}
		path := strings.Split(at[1:], "/")
		if path[0] == "properties" {
			path = path[:min(len(path), 3)]
		} else {
			path = path[:1]
		}
		schema = without(schema, path)
	}
}

// validTime bounds the search for faults of a schema.
const validTime = time.Second

// saysFault tells whether a finding already says what is wrong at a place, or at one
// that it is part of.
func (q *question) saysFault(ptr string) bool {
	return slices.ContainsFunc(q.findings, func(f Finding) bool {
		switch f.Rule {
		case "type-unknown", "text-not-string", "property-no-schema", "properties-missing", "pattern-invalid", "keyword-unsupported":
			return ptr == f.Pointer || strings.HasPrefix(ptr, f.Pointer+"/")
		}
		return ptr == f.Pointer
	})
}

// without is an object without the member that a path of escaped names leads to.
func without(object json.RawMessage, path []string) json.RawMessage {
	out := []byte{'{'}
	for name, value := range members(object) {
		switch {
		case pointer("", name) != "/"+path[0]:
		case len(path) == 1:
			continue
		default:
			value = without(value, path[1:])
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name)
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}')
}

// advanced are the keywords that refer to other schemas, combine them or depend
// on one.
var advanced = []string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
	"dependentSchemas", "dependentRequired", "dependencies", "patternProperties", "propertyNames",
	"unevaluatedProperties", "unevaluatedItems", "prefixItems", "contains",
}

// lintKeywords finds what the restricted subset of JSON Schema leaves out.
func (q *question) lintKeywords(ptr string, schema json.RawMessage, what string) {
	for name, value := range members(schema) {
		if !slices.Contains(advanced, name) || (name == "oneOf" || name == "anyOf") && listsChoices(value) {
			continue
		}
		q.find("keyword-unsupported", pointer(ptr, name), "%s uses %s, which a form's schema must not have.", what, name)
	}
}

// listsChoices tells whether the entries of oneOf or anyOf are meant as choices:
// one of them is a constant, or all of them are just texts.
func listsChoices(list json.RawMessage) bool {
	onlyTexts, n := true, 0
	for _, entry := range elements(list) {
		n++
		for name := range members(entry) {
			if name == "const" {
				return true
			}
			onlyTexts = onlyTexts && (name == "title" || name == "description")
		}
		onlyTexts = onlyTexts && typeOf(entry) == typeObject
	}
	return n > 0 && onlyTexts
}

func (q *question) lintType(name string, k keywords) {
	raw := k["type"]
	t, _ := unquote(raw)
	switch {
	case raw == nil:
		if !q.found(q.place(name)) {
			q.find("type-missing", q.place(name), "%s has no type.", wording.Quoted(name))
		}
	case typeOf(raw) == typeArray:
		q.find("type-union", q.place(name, "type"), "%s has several types, %s; it can only have one.", wording.Quoted(name), wording.Shorten(string(raw), 60))
	case t == "object":
		q.find("nested-object", q.place(name), "%s is an object inside the object; a form is flat.", wording.Quoted(name))
	case t == "array":
		q.lintArray(name, k)
	case !slices.Contains([]string{"string", "number", "integer", "boolean"}, t):
		q.find("type-unknown", q.place(name, "type"), "%s has the type %s; it can be string, number, integer, boolean, or array for choices.", wording.Quoted(name), wording.Shorten(string(raw), 60))
	}
}

func (q *question) lintArray(name string, k keywords) {
	if q.revision == rev2025June {
		q.find("newer-than-revision", q.place(name), "%s is a multiple choice, which came with revision 2025-11-25.", wording.Quoted(name))
		return
	}
	items := k["items"]
	if typeOf(items) != typeObject {
		q.find("array-without-choices", q.place(name), "%s is a list of anything; a list in a form has to be one of choices.", wording.Quoted(name))
		return
	}
	ik := keywordsOf(items)
	titled := ik["anyOf"] != nil && listsChoices(ik["anyOf"]) || ik["oneOf"] != nil && listsChoices(ik["oneOf"])
	for member := range members(items) {
		if slices.Contains(advanced, member) && !(titled && (member == "anyOf" || member == "oneOf")) {
			q.find("keyword-unsupported", q.place(name, "items", member), "%s uses %s, which a form's schema must not have.", wording.Quoted(name), member)
		}
	}
	switch t, _ := unquote(ik["type"]); {
	case t == "object" && !titled:
		q.find("array-of-objects", q.place(name, "items"), "%s is a list of objects.", wording.Quoted(name))
	case titled && ik["type"] != nil:
		q.find("items-type-stray", q.place(name, "items", "type"), "The items of a multiple choice with titles have anyOf and no type.")
	case !titled && ik["enum"] == nil && !q.found(q.place(name, "items")):
		q.find("array-without-choices", q.place(name, "items"), "%s is a list without choices; its items need enum or anyOf.", wording.Quoted(name))
	}
	q.lintChoices(q.place(name, "items"), name, ik)
	if typeOf(ik["enum"]) == typeArray && ik["type"] == nil {
		q.find("type-missing", q.place(name, "items"), `The items of %s need "type": "string" beside their enum.`, wording.Quoted(name))
	}
}

// supportedFormats are those of the specification, for strings.
var supportedFormats = []string{"email", "uri", "date", "date-time"}

func (q *question) lintFormat(name string, k keywords) {
	raw := k["format"]
	if raw == nil || k.text("type") != "string" || k["enum"] != nil || k["oneOf"] != nil {
		return
	}
	if format, _ := unquote(raw); !slices.Contains(supportedFormats, format) {
		q.find("format-unsupported", q.place(name, "format"), "%s has the format %s; only email, uri, date and date-time are supported.", wording.Quoted(name), wording.Shorten(string(raw), 60))
	}
}

// lintTexts judges what people read of a property. A field for an address may
// well show one.
func (q *question) lintTexts(name string, f elicit.Field, k keywords) {
	for _, keyword := range []string{"title", "description"} {
		if t := typeOf(k[keyword]); t != typeNone && t != typeString {
			q.find("text-not-string", q.place(name, keyword), "The %s of %s is %s, not a string.", keyword, wording.Quoted(name), withArticle(t))
		}
	}
	q.lintLinks(q.place(name, "title"), "title", k.text("title"))
	if f.Format != "uri" {
		q.lintLinks(q.place(name, "description"), "description", f.Description)
	}
}

func (q *question) lintDefault(name string, schema json.RawMessage, k keywords) {
	value := k["default"]
	if value == nil {
		return
	}
	if wanted := q.defaultType(k); wanted != "" {
		q.find("default-type", q.place(name, "default"), "The default of %s is %s, where the type wants %s.", wording.Quoted(name), wording.Shorten(string(value), 60), wanted)
		return
	}
	if k["pattern"] != nil && time.Now().After(q.deadline) {
		return
	}
	problems, err := elicit.Check(schema, value)
	if err != nil || len(problems) == 0 {
		return
	}
	q.find("default-invalid", q.place(name, "default"), "The default of %s is not valid by its own schema: %s", wording.Quoted(name), strings.ReplaceAll(problems[0].Text, "You entered", "It is"))
}

// defaultType is what a property's default has to be, in words, where it is something
// else. Revision 2025-06-18 knows defaults of booleans only.
func (q *question) defaultType(k keywords) string {
	value := k["default"]
	t := k.text("type")
	if q.revision == rev2025June && t != "boolean" {
		return ""
	}
	got := typeOf(value)
	switch t {
	case "string", "boolean":
		if string(got) != t {
			return "a " + t
		}
	case "number", "integer":
		if got != typeNumber {
			return "a number"
		}
	case "array":
		if got != typeArray {
			return "a list of choices"
		}
		for _, v := range elements(value) {
			if typeOf(v) != typeString {
				return "a list of strings"
			}
		}
	}
	return ""
}
