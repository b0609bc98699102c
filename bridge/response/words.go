package response

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

// Decode reads JSON that is known to be valid. Its error says which member is
// not what it has to be, without a word of Go.
func Decode(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	what, field := "it", wrong.Field
	var members map[string]json.RawMessage
	if first, rest, ok := strings.Cut(field, "."); ok && json.Unmarshal(raw, &members) == nil && members[first] == nil {
		field = rest // the first is a struct that is embedded in another
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

// KindOf names what a JSON value is, for use in a sentence.
func KindOf(raw json.RawMessage) string { return wording.WithArticle(rawjson.KindOf(raw)) }

// The SDK reads a few results by itself, and reports what is wrong with them as
// its JSON package does.
var goErrors = regexp.MustCompile(`(?:unmarshaling result: )?json: cannot unmarshal .* into Go (?:struct field (?:\S*mcp\.\w+\.)?(\S+)|value) of type [^\s)]+`)

// Plainly takes the words of Go out of an error of the SDK's.
func Plainly(text string) string {
	return goErrors.ReplaceAllStringFunc(text, func(match string) string {
		if member := goErrors.FindStringSubmatch(match)[1]; member != "" {
			return fmt.Sprintf("%q of the result is of the wrong type", member)
		}
		return "the result is of the wrong type"
	})
}

// textMost is how much of a text of a server's is shown where there is room for
// a few words. All of it stands in the log.
const textMost = 500

// Shortened is the beginning of a text.
func Shortened(text string) string { return wording.Shorten(text, textMost) }
