package elicit

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// add notes a problem at a place in the content.
func (c *checker) add(location []string, keyword, text string) {
	p := Problem{Field: -1, Keyword: keyword, Text: text}
	for _, name := range location {
		p.Pointer = rawjson.PointerTo(p.Pointer, name)
	}
	if len(location) > 0 {
		p.Field = slices.IndexFunc(c.fields, func(f Field) bool { return f.Name == location[0] })
	}
	if len(location) > 1 && p.Field >= 0 && c.fields[p.Field].Kind != MultiChoice {
		p.Text = "At " + strings.TrimPrefix(p.Pointer, rawjson.PointerTo("", location[0])) + ": " + text
	}
	c.problems = append(c.problems, p)
}

// field is the field at a place, if a field is what stands there.
func (c *checker) field(location []string) (Field, bool) {
	if len(location) != 1 {
		return Field{}, false
	}
	i := slices.IndexFunc(c.fields, func(f Field) bool { return f.Name == location[0] })
	if i < 0 {
		return Field{}, false
	}
	return c.fields[i], true
}

// explain turns what the validator found into problems.
func (c *checker) explain(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	keyword := ""
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		keyword = path[0]
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			c.explain(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			place := append(slices.Clone(at), name)
			text := "Required."
			if f, ok := c.field(place); ok {
				text = f.missing()
			}
			c.add(place, keyword, text)
		}
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		for _, name := range k.Properties {
			c.add(append(slices.Clone(at), name), keyword, "The schema allows no such member.")
		}
	case *kind.DependentRequired:
		c.dependent(at, keyword, k.Prop, k.Missing)
	case *kind.Dependency:
		c.dependent(at, keyword, k.Prop, k.Missing)
	case *kind.AnyOf:
		c.add(at, keyword, c.noneFits(e))
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			c.add(at, keyword, fmt.Sprintf("Fits two of the alternatives, %d and %d; only one is allowed.", k.Subschemas[0]+1, k.Subschemas[1]+1))
			break
		}
		c.add(at, keyword, c.noneFits(e))
	default:
		if _, ok := k.(*kind.Not); ok {
			keyword = "not"
		}
		c.add(at, keyword, c.words(e))
	}
}

func (c *checker) dependent(at []string, keyword, given string, missing []string) {
	for _, name := range missing {
		c.add(append(slices.Clone(at), name), keyword, "Required, because "+wording.Quoted(given)+" is given.")
	}
}

// noneFits says why a value fits none of several alternatives.
func (c *checker) noneFits(e *jsonschema.ValidationError) string {
	inner := &checker{schema: c.schema, content: c.content}
	constants := true
	for _, cause := range e.Causes {
		_, constant := cause.ErrorKind.(*kind.Const)
		constants = constants && constant
		inner.explain(cause)
	}
	if constants {
		return capital(c.entered(e.InstanceLocation)) + " is not one of the choices."
	}
	var why []string
	for _, p := range inner.problems {
		if text := strings.TrimSuffix(p.Text, "."); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	if len(why) == 0 || len(why) > 3 {
		return "Fits none of the alternatives."
	}
	return "Fits none of the alternatives: " + strings.Join(why, "; ") + "."
}

// words says what is wrong with one value.
func (c *checker) words(e *jsonschema.ValidationError) string {
	f, isField := c.field(e.InstanceLocation)
	entered := " You entered " + c.entered(e.InstanceLocation) + "."
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return c.wrongType(e, k)
	case *kind.Enum:
		return capital(c.entered(e.InstanceLocation)) + " is not one of the choices."
	case *kind.Const:
		return "Must be exactly " + compactOf(k.Want) + "." + entered
	case *kind.Format:
		return wrongFormat(k)
	case *kind.MinLength:
		return fmt.Sprintf("At least %s. You entered %d.", wording.Plural(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("At most %s. You entered %d.", wording.Plural(k.Want, "character"), k.Got)
	case *kind.Pattern:
		return "Does not match the pattern " + wording.Shorten(k.Want, 120)
	case *kind.Minimum:
		return "At least " + c.limit(e, "minimum", k.Want) + "." + entered
	case *kind.Maximum:
		return "At most " + c.limit(e, "maximum", k.Want) + "." + entered
	case *kind.ExclusiveMinimum:
		return "More than " + c.limit(e, "exclusiveMinimum", k.Want) + "." + entered
	case *kind.ExclusiveMaximum:
		return "Less than " + c.limit(e, "exclusiveMaximum", k.Want) + "." + entered
	case *kind.MultipleOf:
		return "Must be a multiple of " + c.limit(e, "multipleOf", k.Want) + "." + entered
	case *kind.MinItems:
		if isField && f.Kind == MultiChoice {
			text := "Choose at least " + strconv.Itoa(k.Want) + "."
			if k.Got > 0 {
				text += " You chose " + strconv.Itoa(k.Got) + "."
			}
			return text
		}
		return "At least " + wording.Plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got) + "."
	case *kind.MaxItems:
		if isField && f.Kind == MultiChoice {
			return fmt.Sprintf("Choose at most %d. You chose %d.", k.Want, k.Got)
		}
		return "At most " + wording.Plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got) + "."
	case *kind.UniqueItems:
		return fmt.Sprintf("Items %d and %d are the same.", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.MinProperties:
		return "At least " + wording.Plural(k.Want, "member") + ", not " + strconv.Itoa(k.Got) + "."
	case *kind.MaxProperties:
		return "At most " + wording.Plural(k.Want, "member") + ", not " + strconv.Itoa(k.Got) + "."
	case *kind.FalseSchema:
		return "The schema allows no value here."
	case *kind.Not:
		return "The schema excludes this value."
	case *kind.PropertyNames:
		return "The schema does not allow the name " + wording.Quoted(k.Property) + "."
	case *kind.RefCycle:
		return "The schema refers to itself without end."
	}
	return wording.Sentence(e.ErrorKind.LocalizedString(english))
}

var english = message.NewPrinter(language.English)

// typeWords names the types of JSON Schema for people.
var typeWords = map[string]string{
	"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"array": "a list", "object": "an object", "null": "null",
}

func (c *checker) wrongType(e *jsonschema.ValidationError, k *kind.Type) string {
	var want []string
	for _, t := range k.Want {
		want = append(want, typeWords[t])
	}
	text := "Must be " + strings.Join(want, " or ")
	switch k.Got {
	case "object", "array":
		return text + ", not " + typeWords[k.Got] + "."
	}
	return text + ". You entered " + c.entered(e.InstanceLocation) + "."
}

func wrongFormat(k *kind.Format) string {
	what := "Not of the format " + wording.Quoted(k.Want)
	switch k.Want {
	case "email":
		what = "Not an email address"
	case "uri":
		what = "Not a URI"
	case "date":
		what = "Not a date"
	case "time":
		what = "Not a time"
	case "date-time":
		what = "Not a date and time"
	case "regex":
		return wording.Sentence(k.Err.Error())
	}
	return what + ": " + k.Err.Error() + "."
}

// entered shows the value at a place as it was written.
func (c *checker) entered(location []string) string {
	v := c.content
	for _, name := range location {
		v = child(v, name)
	}
	return compactOf(v)
}

// child is one member or element of a decoded value, nil if it is not there.
func child(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// compactOf shows a decoded value in a sentence.
func compactOf(v any) string {
	switch v := v.(type) {
	case string:
		return wording.Quoted(v)
	case json.Number:
		return wording.Shorten(v.String(), 80)
	case map[string]any:
		return "this object"
	case []any:
		return "this list"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

func capital(text string) string { return strings.TrimSuffix(wording.Sentence(text), ".") }

// limit is the value of a schema's keyword with the digits it is written with.
func (c *checker) limit(e *jsonschema.ValidationError, keyword string, want *big.Rat) string {
	if strings.HasPrefix(e.SchemaURL, schemaURL+"#") {
		if digits := string(rawjson.At(c.schema, rawjson.PointerTo(fragment(e.SchemaURL), keyword))); isNumber(digits) {
			return digits
		}
	}
	if precision, exact := want.FloatPrec(); exact {
		return want.FloatString(precision)
	}
	return want.RatString()
}
