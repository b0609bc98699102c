package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// DecodeResult unmarshals valid JSON. Its error names the member of the wrong type, without
// names of Go types.
func DecodeResult(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	what, field := "it", wrong.Field
	var members map[string]json.RawMessage
	if first, rest, ok := strings.Cut(field, "."); ok && json.Unmarshal(raw, &members) == nil && members[first] == nil {
		field = rest // the first part is an embedded struct
	}
	if field != "" {
		what = fmt.Sprintf("%q", field)
	}
	return fmt.Errorf("%s is %s, not %s", what, article(wrong.Value), wanted(wrong.Type))
}

func article(kind string) string {
	switch name, value, _ := strings.Cut(kind, " "); {
	case value != "":
		return value // "number 1.5"
	case name == "array" || name == "object":
		return "an " + name
	case name == "bool":
		return "true or false"
	default:
		return "a " + name
	}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number of a usual size"
	}
}

// ContentKind names the type of a JSON value, for use in a sentence.
func ContentKind(raw json.RawMessage) string { return wording.WithArticle(rawjson.KindOf(raw)) }

// The SDK reads some results itself, and returns errors of its JSON package.
var goErrors = regexp.MustCompile(`(?:unmarshaling result: )?json: cannot unmarshal .* into Go (?:struct field (?:\S*mcp\.\w+\.)?(\S+)|value) of type [^\s)]+`)

// PlainError replaces the names of Go types in an error of the SDK.
func PlainError(text string) string {
	return goErrors.ReplaceAllStringFunc(text, func(match string) string {
		if member := goErrors.FindStringSubmatch(match)[1]; member != "" {
			return fmt.Sprintf("%q of the result is of the wrong type", member)
		}
		return "the result is of the wrong type"
	})
}

// textMost is the maximum length, in code points, of a server's text in a message. The
// log has the whole text.
const textMost = 500

// ShortError cuts a text to textMost.
func ShortError(text string) string { return wording.Shorten(text, textMost) }
