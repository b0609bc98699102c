package lint

import (
	"encoding/json"
	"fmt"
	"math/big"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// maxPerList is how many entries of one list are named before the rest is left
// out: a list of 10,000 choices has the same fault in most of them.
const maxPerList = 3

// lintChoices judges the choices in the schema at ptr, which is that of a
// property or of its items.
func (q *question) lintChoices(ptr, name string, k keywords) {
	items := ptr != q.place(name)
	if enum := k["enum"]; typeOf(enum) == typeArray {
		q.lintEnum(ptr, name, k, enum)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		list := k[keyword]
		if !listsChoices(list) {
			continue
		}
		if q.revision == rev2025June && !items {
			q.find("newer-than-revision", pointer(ptr, keyword), "%s has choices with titles, which came with revision 2025-11-25; write enum and enumNames.", wording.Quoted(name))
			continue
		}
		if keyword == "oneOf" && items {
			q.find("choice-keyword", pointer(ptr, keyword), "The items of a multiple choice with titles are listed in anyOf, not in oneOf.")
		}
		if keyword == "anyOf" && !items {
			q.find("choice-keyword", pointer(ptr, keyword), "The choices of a single choice with titles are listed in oneOf, not in anyOf.")
		}
		q.lintTitled(pointer(ptr, keyword), name, list)
	}
}

func (q *question) lintEnum(ptr, name string, k keywords, enum json.RawMessage) {
	seen := make(map[string]bool)
	n, notText, twice := 0, 0, 0
	isText := true
	if t := k.text("type"); t != "" && t != "string" {
		isText = false
		q.find("enum-not-text", pointer(ptr, "enum"), "%s has choices and the type %s; choices are of type string.", wording.Quoted(name), wording.Quoted(t))
	}
	for i, v := range elements(enum) {
		n++
		if typeOf(v) != typeString && isText {
			if notText++; notText <= maxPerList {
				q.find("enum-not-text", fmt.Sprintf("%s/enum/%d", ptr, i), "A choice of %s is %s, not a string.", wording.Quoted(name), withArticle(typeOf(v)))
			}
			continue
		}
		if seen[string(v)] {
			if twice++; twice <= maxPerList {
				q.find("enum-duplicate", fmt.Sprintf("%s/enum/%d", ptr, i), "The choice %s of %s is listed twice.", wording.Shorten(string(v), 60), wording.Quoted(name))
			}
		}
		seen[string(v)] = true
	}
	if n == 0 {
		q.find("enum-empty", pointer(ptr, "enum"), "%s has an empty list of choices, so no answer is possible.", wording.Quoted(name))
	}
	names := k["enumNames"]
	if names == nil {
		return
	}
	if q.revision != rev2025June {
		q.find("enum-names-deprecated", pointer(ptr, "enumNames"), "enumNames is no part of JSON Schema and will go; list the choices in oneOf with const and title.")
	}
	if t := typeOf(names); t != typeArray {
		q.find("text-not-string", pointer(ptr, "enumNames"), "The enumNames of %s are %s, not a list of strings.", wording.Quoted(name), withArticle(t))
		return
	}
	count, wrong := 0, 0
	for i, v := range elements(names) {
		count++
		if t := typeOf(v); t != typeString {
			if wrong++; wrong <= maxPerList {
				q.find("text-not-string", fmt.Sprintf("%s/enumNames/%d", ptr, i), "A name in the enumNames of %s is %s, not a string.", wording.Quoted(name), withArticle(t))
			}
		}
	}
	if count != n {
		q.find("enum-names-length", pointer(ptr, "enumNames"), "%s has %s and %s.", wording.Quoted(name), wording.Plural(n, "choice"), wording.Plural(count, "name")+" for them")
	}
}

// lintTitled judges the entries of oneOf or anyOf.
func (q *question) lintTitled(ptr, name string, list json.RawMessage) {
	seen := make(map[string]bool)
	incomplete, twice, notText := 0, 0, 0
	for i, entry := range elements(list) {
		at := fmt.Sprintf("%s/%d", ptr, i)
		value, title := constant(entry)
		missing := ""
		switch {
		case value == nil && title == nil:
			missing = "neither const nor title"
		case value == nil:
			missing = "no const"
		case typeOf(title) != typeString:
			missing = "no title"
		}
		if missing != "" {
			if incomplete++; incomplete <= maxPerList {
				q.find("choice-incomplete", at, "Choice %d of %s has %s.", i+1, wording.Quoted(name), missing)
			}
		}
		if value == nil {
			continue
		}
		if typeOf(value) != typeString {
			if notText++; notText <= maxPerList {
				q.find("enum-not-text", at+"/const", "A choice of %s is %s, not a string.", wording.Quoted(name), withArticle(typeOf(value)))
			}
		}
		if seen[string(value)] {
			if twice++; twice <= maxPerList {
				q.find("choice-duplicate", at, "The choice %s of %s is listed twice; under oneOf, validators then reject it.", wording.Shorten(string(value), 60), wording.Quoted(name))
			}
		}
		seen[string(value)] = true
	}
}

// lintLimits finds limits that no value can keep.
func (q *question) lintLimits(name string, f elicit.Field, k keywords) {
	crossed := func(keyword, low, high string) {
		q.find("limits-crossed", q.place(name, keyword), "%s can have no value: %s is above %s.", wording.Quoted(name), low, high)
	}
	for _, pair := range [][2]string{{"minLength", "maxLength"}, {"minItems", "maxItems"}} {
		low, high := k.count(pair[0]), k.count(pair[1])
		if low != nil && high != nil && *low > *high {
			crossed(pair[0], fmt.Sprintf("%s %s", pair[0], k.number(pair[0])), fmt.Sprintf("%s %s", pair[1], k.number(pair[1])))
		}
	}
	q.lintRange(name, k, crossed)
	if f.Kind != elicit.MultiChoice {
		return
	}
	different := make(map[string]bool)
	for _, c := range f.Choices {
		different[c.Value] = true
	}
	for _, keyword := range []string{"minItems", "maxItems"} {
		if n := k.count(keyword); n != nil && *n > len(different) {
			q.find("limits-beyond-choices", q.place(name, keyword), "%s of %s is %s, with no more than %s to pick from.", keyword, wording.Quoted(name), k.number(keyword), wording.Plural(len(different), "choice"))
		}
	}
}

// lintRange compares the limits of a number, exactly.
func (q *question) lintRange(name string, k keywords, crossed func(keyword, low, high string)) {
	limit := func(keyword string) *big.Rat { return exact(k.number(keyword)) }
	for _, low := range []string{"minimum", "exclusiveMinimum"} {
		for _, high := range []string{"maximum", "exclusiveMaximum"} {
			l, h := limit(low), limit(high)
			if l == nil || h == nil {
				continue
			}
			order := l.Cmp(h)
			if order > 0 || order == 0 && (low != "minimum" || high != "maximum") {
				crossed(low, low+" "+k.number(low), high+" "+k.number(high))
				return
			}
		}
	}
}

func (q *question) lintPattern(name string, k keywords) {
	if typeOf(k["pattern"]) != typeString {
		return
	}
	if err := elicit.CheckPattern(k.text("pattern")); err != nil {
		q.find("pattern-invalid", q.place(name, "pattern"), "The pattern of %s is no ECMA-262 expression: %s.", wording.Quoted(name), err)
	}
}
