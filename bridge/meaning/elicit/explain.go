package elicit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// explainer turns the validator's errors into problems.
type explainer struct {
	fields   []Field
	index    map[string]int  // of the fields, by name; nil before it is needed
	schema   json.RawMessage // the server's exact bytes
	content  json.RawMessage
	problems []Problem
}

func (x *explainer) add(location []string, keyword, text string) {
	p := Problem{Field: -1, Pointer: pointerOf(location), Keyword: keyword, Text: text}
	if len(location) > 0 {
		p.Field = x.fieldNamed(location[0])
	}
	if len(location) > 1 && p.Field >= 0 && x.fields[p.Field].Kind.Type() != rawjson.Array {
		p.Text = "At " + pointerOf(location[1:]) + ": " + text
	}
	x.problems = append(x.problems, p)
}

func (x *explainer) fieldNamed(name string) int {
	if x.index == nil {
		x.index = indexOf(x.fields)
	}
	if i, ok := x.index[name]; ok {
		return i
	}
	return -1
}

func pointerOf(location []string) (pointer string) {
	for _, name := range location {
		pointer = rawjson.PointerTo(pointer, name)
	}
	return pointer
}

func (x *explainer) explain(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	keyword := ""
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		keyword = path[0]
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			x.explain(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			text := "Required."
			if i := x.fieldNamed(name); i >= 0 && len(at) == 0 {
				text = x.fields[i].Kind.missing(&x.fields[i])
			}
			x.addMember(at, name, keyword, text)
		}
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		for _, name := range k.Properties {
			x.addMember(at, name, keyword, "The schema allows no such member.")
		}
	case *kind.DependentRequired:
		x.addDependent(at, keyword, k.Prop, k.Missing)
	case *kind.Dependency:
		x.addDependent(at, keyword, k.Prop, k.Missing)
	case *kind.AnyOf:
		x.add(at, keyword, x.noneFits(e))
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			x.add(at, keyword, fmt.Sprintf("Fits two of the alternatives, %d and %d; only one is allowed.", k.Subschemas[0]+1, k.Subschemas[1]+1))
			break
		}
		x.add(at, keyword, x.noneFits(e))
	case *kind.Not:
		x.add(at, "not", "The schema excludes this value.")
	default:
		x.add(at, keyword, x.words(e, keyword))
	}
}

func (x *explainer) addMember(at []string, name, keyword, text string) {
	x.add(append(slices.Clone(at), name), keyword, text)
}

func (x *explainer) addDependent(at []string, keyword, given string, missing []string) {
	for _, name := range missing {
		x.addMember(at, name, keyword, "Required, because "+wording.Quoted(given)+" is given.")
	}
}

func (x *explainer) noneFits(e *jsonschema.ValidationError) string {
	inner := &explainer{schema: x.schema, content: x.content}
	constants := true
	for _, cause := range e.Causes {
		_, constant := cause.ErrorKind.(*kind.Const)
		constants = constants && constant
		inner.explain(cause)
	}
	if constants {
		return x.noChoice(e)
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

func (x *explainer) noChoice(e *jsonschema.ValidationError) string {
	return wording.Sentence(x.entered(e) + " is not one of the choices")
}

func (x *explainer) words(e *jsonschema.ValidationError, keyword string) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		var want []string
		for _, t := range k.Want {
			want = append(want, typeWords[t])
		}
		text := "Must be " + strings.Join(want, " or ")
		if k.Got == "object" || k.Got == "array" {
			return text + ", not " + typeWords[k.Got] + "."
		}
		return text + ". You entered " + x.entered(e) + "."
	case *kind.Enum:
		return x.noChoice(e)
	case *kind.Const:
		return "Must be exactly " + briefly(x.wanted(e, keyword)) + ". You entered " + x.entered(e) + "."
	case *kind.Format:
		if k.Want == "regex" {
			return wording.Sentence(k.Err.Error())
		}
		what := cmp.Or(formats[k.Want].noun, "of the format "+wording.Quoted(k.Want))
		return "Not " + what + ": " + k.Err.Error() + "."
	case *kind.Pattern:
		return "Does not match the pattern " + wording.Shorten(k.Want, 120)
	case *kind.UniqueItems:
		return fmt.Sprintf("Items %d and %d are the same.", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.FalseSchema:
		return "The schema allows no value here."
	case *kind.PropertyNames:
		return "The schema does not allow the name " + wording.Quoted(k.Property) + "."
	case *kind.RefCycle:
		return "The schema refers to itself without end."
	}
	return x.limitWords(e)
}

func (x *explainer) limitWords(e *jsonschema.ValidationError) string {
	// The limit has the schema's own digits where they are known.
	exceeded := func(what, keyword string, want *big.Rat) string {
		limit := string(x.wanted(e, keyword))
		if precision, exact := want.FloatPrec(); !isNumber(limit) && exact {
			limit = want.FloatString(precision)
		} else if !isNumber(limit) {
			limit = want.RatString()
		}
		return what + " " + limit + ". You entered " + x.entered(e) + "."
	}
	counted := func(what string, want int, noun string, got int) string {
		return fmt.Sprintf("%s %s, not %d.", what, wording.Plural(want, noun), got)
	}
	isChoice := false
	if at := e.InstanceLocation; len(at) == 1 {
		i := x.fieldNamed(at[0])
		isChoice = i >= 0 && x.fields[i].Kind.Type() == rawjson.Array
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Minimum:
		return exceeded("At least", "minimum", k.Want)
	case *kind.Maximum:
		return exceeded("At most", "maximum", k.Want)
	case *kind.ExclusiveMinimum:
		return exceeded("More than", "exclusiveMinimum", k.Want)
	case *kind.ExclusiveMaximum:
		return exceeded("Less than", "exclusiveMaximum", k.Want)
	case *kind.MultipleOf:
		return exceeded("Must be a multiple of", "multipleOf", k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("At least %s. You entered %d.", wording.Plural(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("At most %s. You entered %d.", wording.Plural(k.Want, "character"), k.Got)
	case *kind.MinItems:
		switch {
		case isChoice && k.Got == 0:
			return "Choose at least " + strconv.Itoa(k.Want) + "."
		case isChoice:
			return fmt.Sprintf("Choose at least %d. You chose %d.", k.Want, k.Got)
		}
		return counted("At least", k.Want, "item", k.Got)
	case *kind.MaxItems:
		if isChoice {
			return fmt.Sprintf("Choose at most %d. You chose %d.", k.Want, k.Got)
		}
		return counted("At most", k.Want, "item", k.Got)
	case *kind.MinProperties:
		return counted("At least", k.Want, "member", k.Got)
	case *kind.MaxProperties:
		return counted("At most", k.Want, "member", k.Got)
	}
	return wording.Sentence(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

var typeWords = map[string]string{
	"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
	"array": "a list", "object": "an object", "null": "null",
}

func (x *explainer) entered(e *jsonschema.ValidationError) string {
	return briefly(rawjson.At(x.content, pointerOf(e.InstanceLocation)))
}

// wanted returns the value of the schema keyword that an error names; nil if the keyword
// is in another document.
func (x *explainer) wanted(e *jsonschema.ValidationError, keyword string) json.RawMessage {
	if !strings.HasPrefix(e.SchemaURL, schemaURL+"#") {
		return nil
	}
	return rawjson.At(x.schema, rawjson.PointerTo(fragment(e.SchemaURL), keyword))
}

// SchemaError reports that a schema is invalid by the JSON Schema dialect it uses.
type SchemaError struct {
	Faults []Problem // sorted by pointer, at least one; pointers lead into the schema
}

func (e *SchemaError) Error() string { return e.Faults[0].Text }

func schemaError(err error, schema json.RawMessage) error {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("the schema refers to %s, and other documents are never loaded", wording.Quoted(strings.TrimPrefix(load.URL, "inspector:///")))
	}
	if notFound, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return dangling(notFound.URL)
	}
	if noAnchor, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return dangling(noAnchor.Reference)
	}
	if regex, ok := errors.AsType[*jsonschema.InvalidRegexError](err); ok {
		return &SchemaError{[]Problem{fault(fragment(regex.URL), regex.Err.Error())}}
	}
	var failed *jsonschema.ValidationError
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok && errors.As(invalid.Err, &failed) {
		at := fragment(invalid.URL)
		x := &explainer{content: rawjson.At(schema, at)}
		x.explain(failed)
		var faults []Problem
		for _, p := range x.problems {
			faults = append(faults, fault(at+p.Pointer, strings.ReplaceAll(strings.TrimSuffix(p.Text, "."), "You entered", "It is")))
		}
		// The validator reports errors in no fixed order.
		slices.SortFunc(faults, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Text, b.Text))
		})
		if len(faults) > 0 {
			return &SchemaError{faults}
		}
	}
	return fmt.Errorf("the schema cannot be checked against: %w", err)
}

func dangling(reference string) error {
	return &SchemaError{[]Problem{{Field: -1, Text: fmt.Sprintf("the schema refers to %s, which is not there", wording.Quoted(fragment(reference)))}}}
}

func fault(pointer, what string) Problem {
	where := cmp.Or(pointer, "its root")
	return Problem{Field: -1, Pointer: pointer, Text: "the schema is wrong at " + where + ": " + what}
}

// fragment returns the decoded part of a URL after the #.
func fragment(u string) string {
	_, f, _ := strings.Cut(u, "#")
	if decoded, err := url.PathUnescape(f); err == nil {
		return decoded
	}
	return f
}

// words lists short phrases, such as "at most 5".
type words []string

func (w *words) add(words, value string) {
	if value != "" {
		*w = append(*w, words+value)
	}
}

func (w *words) count(words string, n *int, noun string) {
	if n != nil {
		*w = append(*w, words+wording.Plural(*n, noun))
	}
}

// Limits describes what the schema demands of the field's value, a few words each.
func (f *Field) Limits() []string { return f.Kind.limits(f) }

// Range describes a range of numbers, and reports whether at least one is needed; words
// is "" if there is no limit.
func Range(least, most *int) (words string, needed bool) {
	number := func(n *int) string { return wording.Grouped(int64(*n)) }
	switch low := least != nil && *least > 0; {
	case low && most != nil && *least == *most:
		return "exactly " + number(most), true
	case low && most != nil:
		return number(least) + " to " + number(most), false
	case most != nil:
		return "at most " + number(most), false
	case low:
		return "at least " + number(least), true
	}
	return "", false
}
