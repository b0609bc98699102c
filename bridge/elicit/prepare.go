package elicit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/wording"
)

// Bounds on a schema for [Check].
const (
	maxSchemas  = 5_000 // JSON objects in the schema, not counting long lists of choices
	largeChoice = 32    // a list with this many choices is long
)

// decode decodes JSON for the validator and keeps the digits of numbers. It fails on
// numbers that exact arithmetic cannot handle.
func decode(raw json.RawMessage) (any, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if number := uncomputable(v); number != "" {
		return nil, fmt.Errorf("the number %s has too many digits to be compared", wording.Shorten(number, 40))
	}
	return v, nil
}

// uncomputable returns the first number in a decoded value that is not computable; "" if
// there is none.
func uncomputable(v any) (number string) {
	switch v := v.(type) {
	case json.Number:
		if !computable(string(v)) {
			return string(v)
		}
	case []any:
		for i := 0; i < len(v) && number == ""; i++ {
			number = uncomputable(v[i])
		}
	case map[string]any:
		for _, e := range v {
			if number == "" {
				number = uncomputable(e)
			}
		}
	}
	return number
}

// prepare changes a decoded schema for the validator: it caps length limits, which would
// overflow, and turns long lists of constants into enum, because the validator compiles
// each entry of oneOf separately. It returns the number of objects in the schema.
func prepare(v any) (objects int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			objects += prepare(e)
		}
	case map[string]any:
		objects = 1
		for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
			if n, ok := v[name].(json.Number); ok {
				if i := count(string(n)); i != nil {
					v[name] = json.Number(fmt.Sprint(*i))
				}
			}
		}
		for _, name := range []string{"oneOf", "anyOf"} {
			if list := constantsOf(v[name], name == "oneOf"); list != nil && v["enum"] == nil {
				delete(v, name)
				v["enum"] = list
			}
		}
		for name, e := range v {
			if name != "enum" && name != "const" && name != "default" && name != "examples" {
				objects += prepare(e)
			}
		}
	}
	return objects
}

// constantsOf returns the values of a long list of titled constants, for use as enum;
// nil for any other list. With exactlyOne (oneOf), values that occur twice are left out,
// because they never match exactly one entry.
func constantsOf(v any, exactlyOne bool) []any {
	entries, _ := v.([]any)
	if len(entries) < largeChoice {
		return nil
	}
	times := make(map[string]int, len(entries))
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		text, ok := entry["const"].(string)
		if !ok || !isTitledConstant(entry) {
			return nil
		}
		times[text]++
	}
	list := make([]any, 0, len(times))
	for text, n := range times {
		if n == 1 || !exactlyOne {
			list = append(list, text)
		}
	}
	return list
}

func isTitledConstant(entry map[string]any) bool {
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
