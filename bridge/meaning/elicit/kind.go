package elicit

import (
	"encoding/json"
	"mime/multipart"
	"net/url"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
)

// Kind is a kind of field, such as text or a choice. All that differs between the kinds stands
// in their files; whoever needs it asks the kind of a field, and compares none. The methods take
// the field whose kind it is.
type Kind interface {
	// String returns the kind as a word for people, such as "choice".
	String() string
	// Entry says how a person gives a value.
	Entry() Entry
	// Type is the JSON type of the values; None if they can have any.
	Type() rawjson.Kind
	// Words returns what is entered as a person reads it; "" for nothing.
	Words(f *Field, in Input) string
	// Hints describes the limits of a value to a person who enters one, a part of a sentence each.
	Hints(f *Field) []string
	// Others lists values that no server is likely to say by itself. Each number n gives others.
	Others(f *Field, n int) []json.RawMessage

	// reads reports whether a schema of JSON type t ("" for none) is for this kind.
	reads(t string, k Keywords) bool
	// read sets what a schema says of the field. The error says why the control cannot show it.
	read(f *Field, k Keywords, r *references) error
	// posted reads from an HTML form what the control of this name holds, besides Empty and JSON.
	posted(f *Field, in *Input, form *multipart.Form, name string)
	// value returns the JSON of an input; nil if the field is left out.
	value(f *Field, in Input) (json.RawMessage, *Problem)
	// input is the inverse of value; false if the control cannot express the value.
	input(f *Field, value json.RawMessage) (Input, bool)
	// misfit says why the control cannot show a default, after "The schema’s default"; "" if it can.
	misfit(f *Field, value json.RawMessage) string
	// missing says in a sentence that the field is required.
	missing(f *Field) string
	// limits describes what the schema demands of a value, a few words each.
	limits(f *Field) []string
	// examples lists candidates for a value, the most likely first.
	examples(f *Field) []json.RawMessage
	// takesKeywords lists the keywords that limit the values, of those that a form's schema may have.
	takesKeywords() []string
	// spoiled returns a value that breaks the schema in one way; nil if the field has no such limit.
	spoiled(f *Field, how Breach) json.RawMessage
}

// kinds lists the kinds in the order in which they are offered a schema. What none of them reads is
// JSON.
var kinds = []Kind{SingleChoice, File, Text, Number, Integer, Boolean, MultiChoice}

// Entry is how a person gives the value of a field.
type Entry int

// The ways to give a value.
const (
	Typed   Entry = iota // as text or as a file in the field's own control
	Chosen               // by picking what is offered
	Written              // as JSON
)

// common has the methods that most kinds share. A kind embeds it, and defines again those in which it differs.
type common struct {
	name   string       // as a word for people
	entry  Entry        // how a value is given
	json   rawjson.Kind // the JSON type of the values and of the schema
	takes  string       // what a value has to be, after "is not"
	demand string       // what a person who left a required field out has to do
}

func (c common) String() string                       { return c.name }
func (c common) Entry() Entry                         { return c.entry }
func (c common) Type() rawjson.Kind                   { return c.json }
func (c common) reads(t string, _ Keywords) bool      { return t == string(c.json) }
func (common) Words(_ *Field, in Input) string        { return in.Text }
func (common) Hints(*Field) []string                  { return nil }
func (common) Others(*Field, int) []json.RawMessage   { return nil }
func (c common) missing(*Field) string                { return c.demand }
func (common) limits(*Field) []string                 { return nil }
func (common) takesKeywords() []string                { return nil }
func (common) spoiled(*Field, Breach) json.RawMessage { return nil }

// Form encoding turns line breaks into CRLF, and no control can contain a carriage return of its
// own.
func (common) posted(_ *Field, in *Input, form *multipart.Form, name string) {
	in.Text = strings.ReplaceAll(url.Values(form.Value).Get(name), "\r\n", "\n")
}

func (c common) misfit(_ *Field, value json.RawMessage) string {
	if rawjson.KindOf(value) == c.json {
		return ""
	}
	return c.isNot(value)
}

func (c common) isNot(value json.RawMessage) string {
	return ", " + briefly(value) + ", is not " + c.takes
}

// Breach is a way in which a value breaks the schema of a field.
type Breach string

// The breaches of a field's limits.
const (
	WrongType       Breach = "wrong-type"
	BelowMinimum    Breach = "below-minimum"
	AboveMaximum    Breach = "above-maximum"
	Fraction        Breach = "fraction" // where a whole number is asked for
	NumberAsText    Breach = "number-as-text"
	NotMultiple     Breach = "not-multiple"
	TooShort        Breach = "too-short"
	TooLong         Breach = "too-long"
	WrongFormat     Breach = "wrong-format"
	PatternMismatch Breach = "pattern-mismatch"
	NotInEnum       Breach = "not-in-enum"
	TooFewItems     Breach = "too-few-items"
	TooManyItems    Breach = "too-many-items"
	OtherScheme     Breach = "other-scheme" // where a file is asked for
	FileTooLarge    Breach = "file-too-large"
	TypeNotAccepted Breach = "type-not-accepted"
	LyingType       Breach = "lying-type" // the schema cannot tell: the bytes are of another type
)

// Spoiled returns a value that breaks the field's schema in one way; nil if the field has no such
// limit.
func (f *Field) Spoiled(how Breach) json.RawMessage {
	if how != WrongType {
		return f.Kind.spoiled(f, how)
	}
	for _, text := range []string{"12345", `"not of the type that the schema names"`, "true", "[]", "{}"} {
		// A value of the right type can be one that only a limit forbids.
		if value := json.RawMessage(text); rawjson.KindOf(value) != f.Kind.Type() && f.Refuses(value) {
			return value
		}
	}
	return nil
}
