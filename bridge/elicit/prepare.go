package elicit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wording"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/rawjson"
)

// prepare readies a decoded schema for the validator, which compares a value
// with every choice in turn, compiles each entry of oneOf for itself, and lets
// limits overflow.
func (c *checker) prepare(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.prepare(e)
		}
	case map[string]any:
		c.schemas++
		for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
			if n, ok := v[name].(json.Number); ok {
				if i := count(string(n)); i != nil {
					v[name] = json.Number(fmt.Sprint(*i))
				}
			}
		}
		for _, name := range []string{"oneOf", "anyOf", "enum"} {
			if set := choiceSet(name, v[name]); set != nil && v[setKeyword] == nil {
				delete(v, name)
				v[setKeyword] = set
			}
		}
		for name, e := range v {
			if name != "enum" && name != "const" && name != "default" && name != "examples" {
				c.prepare(e)
			}
		}
	}
}

// vocabulary and setKeyword are how a set of choices reaches the validator.
const (
	vocabulary = "inspector:///vocabulary"
	setKeyword = "inspector:choices"
)

// choices are the texts that can be chosen.
type choices map[string]bool

// choiceSet makes a set of a long list of texts, as enum has it, or of constants
// with titles, as oneOf and anyOf have it; nil if the list is anything else.
func choiceSet(keyword string, v any) choices {
	list, _ := v.([]any)
	if len(list) < largeChoice {
		return nil
	}
	set := make(choices, len(list))
	var twice []string
	for _, e := range list {
		if keyword != "enum" {
			entry, ok := e.(map[string]any)
			if !ok || !onlyConstant(entry) {
				return nil
			}
			e = entry["const"]
		}
		text, ok := e.(string)
		if !ok {
			return nil
		}
		if set[text] {
			twice = append(twice, text)
		}
		set[text] = true
	}
	if keyword == "oneOf" {
		for _, text := range twice { // exactly one entry has to fit
			delete(set, text)
		}
	}
	return set
}

func onlyConstant(entry map[string]any) bool {
	for name, v := range entry {
		switch name {
		case "const", "title", "description", "$comment", "deprecated":
		case "type":
			if v != "string" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// SchemaError says that a schema is not valid by its own dialect.
type SchemaError struct {
	Faults []Problem // by place, at least one; pointers lead into the schema
}

func (e *SchemaError) Error() string { return e.Faults[0].Text }

// schemaError says in words why a schema does not compile.
func schemaError(err error, doc any) error {
	var load *jsonschema.LoadURLError
	var notFound *jsonschema.JSONPointerNotFoundError
	var noAnchor *jsonschema.AnchorNotFoundError
	var regex *jsonschema.InvalidRegexError
	var invalid *jsonschema.SchemaValidationError
	var failed *jsonschema.ValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Errorf("the schema refers to %s, and %w", wording.Quoted(strings.TrimPrefix(load.URL, "inspector:///")), errRefused)
	case errors.As(err, &notFound):
		return missing(notFound.URL)
	case errors.As(err, &noAnchor):
		return missing(noAnchor.Reference)
	case errors.As(err, &regex):
		return &SchemaError{[]Problem{fault(fragment(regex.URL), regex.Err.Error())}}
	case errors.As(err, &invalid) && errors.As(invalid.Err, &failed):
		c := &checker{content: valueAt(doc, fragment(invalid.URL))}
		c.explain(failed)
		var faults []Problem
		for _, p := range c.problems {
			faults = append(faults, fault(fragment(invalid.URL)+p.Pointer, strings.ReplaceAll(strings.TrimSuffix(p.Text, "."), "You entered", "It is")))
		}
		// The validator looks at members in no order.
		slices.SortFunc(faults, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Text, b.Text))
		})
		if len(faults) > 0 {
			return &SchemaError{faults}
		}
	}
	return fmt.Errorf("the schema cannot be checked against: %w", err)
}

func missing(reference string) error {
	return &SchemaError{[]Problem{{Field: -1, Text: fmt.Sprintf("the schema refers to %s, which is not there", wording.Quoted(fragment(reference)))}}}
}

func fault(pointer, what string) Problem {
	where := cmp.Or(pointer, "its root")
	return Problem{Field: -1, Pointer: pointer, Text: "the schema is wrong at " + where + ": " + what}
}

// fragment is the decoded part of a URL after the #.
func fragment(u string) string {
	_, f, _ := strings.Cut(u, "#")
	if decoded, err := url.PathUnescape(f); err == nil {
		return decoded
	}
	return f
}

// valueAt is the part of a decoded document that a JSON pointer names.
func valueAt(doc any, ptr string) any {
	for _, name := range rawjson.SplitPointer(ptr) {
		doc = child(doc, name)
	}
	return doc
}
