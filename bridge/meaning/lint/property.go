package lint

import (
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

type property struct {
	*question
	name  string // in quotation marks
	at    string // pointer to its schema
	k     elicit.Keywords
	field elicit.Field
}

func (q *question) lintProperty(f elicit.Field) {
	p := property{q, wording.Quoted(f.Name), rawjson.PointerTo(schemaAt+"/properties", f.Name), elicit.KeywordsOf(f.Schema), f}
	if t := rawjson.KindOf(f.Schema); t != rawjson.Object {
		q.find("property-no-schema", p.at, "%s is described by %s, not by an object.", p.name, wording.WithArticle(t))
		return
	}
	q.lintKeywords(p.at, f.Schema, p.name)
	q.lintSpelling(p.at, f.Schema, keywordNames)
	raw := p.k["type"]
	t := p.k.Text("type")
	switch {
	case raw == nil:
		if !p.isWrong(p.at) {
			p.find("type-missing", p.at, "%s has no type.", p.name)
		}
	case rawjson.KindOf(raw) == rawjson.Array:
		p.find("type-union", p.at+"/type", "%s has several types, %s; it can only have one.", p.name, wording.Shorten(string(raw), 60))
	case t == "object":
		p.find("nested-object", p.at, "%s is an object inside the object; a form is flat.", p.name)
	case t == "array":
		p.lintArray()
	case !slices.Contains([]string{"string", "number", "integer", "boolean"}, t):
		p.find("type-unknown", p.at+"/type", "%s has the type %s; it can be string, number, integer, boolean, or array for choices.", p.name, wording.Shorten(string(raw), 60))
	}
	p.lintChoices(p.at, p.k)
	isText := p.k.Text("type") == "string" && p.k["enum"] == nil && p.k["oneOf"] == nil
	if raw := p.k["format"]; raw != nil && isText && !slices.Contains(supportedFormats, p.k.Text("format")) {
		p.find("format-unsupported", p.at+"/format", "%s has the format %s; only email, uri, date and date-time are supported.", p.name, wording.Shorten(string(raw), 60))
	}
	p.lintLimits()
	if rawjson.KindOf(p.k["pattern"]) == rawjson.String {
		if err := elicit.CheckPattern(p.k.Text("pattern")); err != nil {
			p.find("pattern-invalid", p.at+"/pattern", "The pattern of %s is not an ECMA-262 regular expression: %s.", p.name, err)
		}
	}
	for _, keyword := range []string{"title", "description"} {
		if t := rawjson.KindOf(p.k[keyword]); t != rawjson.None && t != rawjson.String {
			p.find("text-not-string", p.at+"/"+keyword, "The %s of %s is %s, not a string.", keyword, p.name, wording.WithArticle(t))
		}
	}
	p.lintLinks(p.at+"/title", "title", wording.Head(p.k.Text("title"), wording.TextMost))
	if p.field.Format != "uri" {
		p.lintLinks(p.at+"/description", "description", p.field.Description)
	}
	p.lintDefault()
	if p.k[elicit.FileKeyword] != nil {
		p.find("file-draft", p.at+"/"+elicit.FileKeyword, "%s has x-mcp-file, which is a draft%s.", p.name, wording.Either(f.Kind == elicit.File, ": clients that do not know it show a text field for a URI", ", and counts only as an object beside the type string and the format uri"))
	}
	asked := secretIn(f)
	isValue := func(f elicit.Field) bool { return f.Name == "value" }
	if asked.sort == likely && isKey(wordsOf(f.Name)) && slices.ContainsFunc(q.fields, isValue) {
		return // the name of a setting beside its value
	}
	q.findSecret(p.at, wording.Quoted(f.Label), asked)
}

// isWrong reports whether the schema at a pointer, or a part of it, already has a finding
// about its structure that is more than advice.
func (p property) isWrong(at string) bool {
	return slices.ContainsFunc(p.findings, func(f Finding) bool {
		rest, inside := strings.CutPrefix(f.Pointer, at)
		return inside && (rest == "" || rest[0] == '/') && f.Severity != Advice &&
			!slices.Contains([]string{"secret-in-form", "url-in-form", "text-not-string"}, f.Rule)
	})
}

func (p property) lintArray() {
	if p.revision == june {
		p.find("newer-than-revision", p.at, "%s is a multiple choice, which came with revision 2025-11-25.", p.name)
		return
	}
	items, at := p.k["items"], p.at+"/items"
	if rawjson.KindOf(items) != rawjson.Object {
		p.find("array-without-choices", p.at, "%s is a list of anything; a list in a form has to be one of choices.", p.name)
		return
	}
	k := elicit.KeywordsOf(items)
	titled := isChoices("anyOf", k["anyOf"]) || isChoices("oneOf", k["oneOf"])
	p.lintKeywords(at, items, p.name)
	switch {
	case k.Text("type") == "object" && !titled:
		p.find("array-of-objects", at, "%s is a list of objects.", p.name)
	case titled && k["type"] != nil:
		p.find("items-type-stray", at+"/type", "The items of a multiple choice with titles have anyOf and no type.")
	case !titled && k["enum"] == nil && !p.isWrong(at):
		p.find("array-without-choices", at, "%s is a list without choices; its items need enum or anyOf.", p.name)
	}
	p.lintChoices(at, k)
	if rawjson.KindOf(k["enum"]) == rawjson.Array && k["type"] == nil {
		p.find("type-missing", at, `The items of %s need "type": "string" beside their enum.`, p.name)
	}
}

var supportedFormats = []string{"email", "uri", "date", "date-time"}

// limits lists the pairs of keywords whose values are the lower and the upper limit of a
// value.
var limits = [][2]string{
	{"minLength", "maxLength"}, {"minItems", "maxItems"},
	{"minimum", "maximum"}, {"minimum", "exclusiveMaximum"}, {"exclusiveMinimum", "maximum"}, {"exclusiveMinimum", "exclusiveMaximum"},
}

func (p property) lintLimits() {
	for _, pair := range limits {
		low, high := p.k.Exact(pair[0]), p.k.Exact(pair[1])
		if low == nil || high == nil {
			continue
		}
		order, exclusive := low.Cmp(high), pair[0] == "exclusiveMinimum" || pair[1] == "exclusiveMaximum"
		if order > 0 || order == 0 && exclusive {
			p.find("limits-crossed", p.at+"/"+pair[0], "%s can have no value: %s %s is above %s %s.", p.name, pair[0], p.k.Number(pair[0]), pair[1], p.k.Number(pair[1]))
			break
		}
	}
	if p.field.Kind.Type() != rawjson.Array {
		return
	}
	different := make(map[string]bool)
	for _, c := range p.field.Choices {
		different[c.Value] = true
	}
	for _, keyword := range []string{"minItems", "maxItems"} {
		if n := p.k.Count(keyword); n != nil && *n > len(different) {
			p.find("limits-beyond-choices", p.at+"/"+keyword, "%s of %s is %s, with no more than %s to pick from.", keyword, p.name, p.k.Number(keyword), wording.Plural(len(different), "choice"))
		}
	}
}

func (p property) lintDefault() {
	value := p.k["default"]
	if value == nil {
		return
	}
	if wanted := p.defaultType(); wanted != "" {
		p.find("default-type", p.at+"/default", "The default of %s is %s, where the type wants %s.", p.name, wording.Shorten(string(value), 60), wanted)
		return
	}
	if p.k["pattern"] != nil && time.Now().After(p.deadline) {
		return
	}
	problems, err := elicit.Check(p.field.Schema, value)
	if err == nil && len(problems) > 0 && problems[0].Keyword != elicit.FileKeyword {
		p.find("default-invalid", p.at+"/default", "The default of %s is not valid by its own schema: %s", p.name, strings.ReplaceAll(problems[0].Text, "You entered", "It is"))
	}
}

// defaultType names the type that a property's default must have; "" if the default has
// it. Revision 2025-06-18 has only defaults of booleans.
func (p property) defaultType() string {
	t, got := p.k.Text("type"), rawjson.KindOf(p.k["default"])
	if p.revision == june && t != "boolean" {
		return ""
	}
	switch t {
	case "string", "boolean":
		if string(got) != t {
			return "a " + t
		}
	case "number", "integer":
		if got != rawjson.Number {
			return "a number"
		}
	case "array":
		if got != rawjson.Array {
			return "a list of choices"
		}
		for _, v := range rawjson.Elements(p.k["default"]) {
			if rawjson.KindOf(v) != rawjson.String {
				return "a list of strings"
			}
		}
	}
	return ""
}
