// Package values has what the clients for docs/reports/clients answer questions with.
package values

import (
	"fmt"
	"strings"
)

// formats has valid values for the formats and limits of the probes' strings, by the keyword.
var formats = map[string]any{"email": "ada@example.com", "uri": "https://example.com/", "date": "2028-02-29", "date-time": "2028-02-29T12:00:00Z"}

// TakenBack begins the message of a question that the probe takes back: nobody answers it.
const TakenBack = "Do nothing"

// Action returns the action that a question's message asks for.
func Action(message string) string {
	switch {
	case strings.HasPrefix(message, "Close this question"):
		return "cancel"
	case strings.HasPrefix(message, "Decline"), strings.HasSuffix(message, "and decline."):
		return "decline"
	}
	return "accept"
}

// Content returns valid content for a form: values for the fields that are required, and where
// defaults is true, the defaults of all others.
func Content(requestedSchema any, defaults bool) map[string]any {
	schema, _ := requestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	content := map[string]any{}
	for name, field := range properties {
		if v, ok := field.(map[string]any)["default"]; ok && defaults {
			content[name] = v
		}
	}
	for _, name := range required {
		name := name.(string)
		content[name] = value(properties[name].(map[string]any))
	}
	return content
}

// value returns a value that a field takes: its default, or one for its type.
func value(field map[string]any) any {
	if v, ok := field["default"]; ok {
		return v
	}
	choices := func(schema map[string]any) (list []any) {
		list, _ = schema["enum"].([]any)
		for _, key := range []string{"oneOf", "anyOf"} {
			titled, _ := schema[key].([]any)
			for _, one := range titled {
				list = append(list, one.(map[string]any)["const"])
			}
		}
		return list
	}
	switch field["type"] {
	case "boolean":
		return true
	case "integer":
		return 7
	case "number":
		return 0.5
	case "array":
		return choices(field["items"].(map[string]any))[:2]
	}
	if list := choices(field); len(list) > 0 {
		return list[0]
	}
	if v, ok := formats[fmt.Sprint(field["format"])]; ok {
		return v
	}
	if field["pattern"] != nil {
		return "AB-1234"
	}
	return "text"
}
