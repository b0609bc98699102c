package elicit

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// breaches lists all ways to break a schema.
var breaches = []Breach{
	WrongType, BelowMinimum, AboveMaximum, Fraction, NumberAsText, NotMultiple, TooShort, TooLong,
	WrongFormat, PatternMismatch, NotInEnum, TooFewItems, TooManyItems, OtherScheme, FileTooLarge, TypeNotAccepted, LyingType,
}

// kindCase is a property, with all that its kind tells of it; see told.
type kindCase struct{ property, want string }

func testKind(t *testing.T, kind Kind, cases []kindCase) {
	t.Helper()
	for _, c := range cases {
		fields, err := FieldsOf([]byte(`{"properties":{"p":` + c.property + `},"required":["p"]}`))
		if err != nil || fields[0].Kind != kind {
			t.Errorf("%s is of kind %v, want %v (%v)", c.property, fields[0].Kind, kind, err)
			continue
		}
		if got := told(t, &fields[0]); got != strings.TrimSpace(c.want) {
			t.Errorf("%s tells\n%s\nwant\n%s", c.property, got, strings.TrimSpace(c.want))
		}
	}
}

// told returns what a kind tells of a field, a line each: its limits, its hints, what is said if it
// is missing, an example, what differs from that, and what breaks its schema. The values are
// checked against the schema, and against the control.
func told(t *testing.T, f *Field) string {
	t.Helper()
	var out []string
	line := func(name string, parts ...string) {
		if len(parts) > 0 {
			out = append(out, name+": "+strings.Join(parts, ", "))
		}
	}
	line("limits", f.Limits()...)
	line("hints", f.Kind.Hints(f)...)
	line("missing", f.Kind.missing(f))
	example := rawjson.Member(Valid([]Field{*f}), "p")
	line("example", wording.Shorten(string(example), 60))
	for _, value := range append(f.Kind.Others(f, 3), example) {
		if !f.Takes(value) {
			continue
		}
		if got, problem := f.value(f.input(value)); !rawjson.Same(got, value) || problem != nil {
			t.Errorf("%s: the control makes %s (%v) of %s", f.Schema, got, problem, value)
		}
	}
	for _, value := range f.Kind.Others(f, 3) {
		if f.Takes(value) && !rawjson.Same(value, example) {
			line("another", wording.Shorten(string(value), 60))
			break
		}
	}
	var spoiled []string
	for _, how := range breaches {
		value := f.Spoiled(how)
		if value == nil {
			continue
		}
		spoiled = append(spoiled, fmt.Sprintf("%s %s", how, wording.Shorten(string(value), 40)))
		if f.Refuses(value) == (how == LyingType) {
			t.Errorf("%s: %s of %s is not refused", f.Schema, value, how)
		}
	}
	line("spoiled", spoiled...)
	return strings.Join(out, "\n")
}

func TestWordsOfInputs(t *testing.T) {
	choices := []Choice{{"a", "Ay"}, {"b", "Bee"}}
	for _, c := range []struct {
		kind Kind
		in   Input
		want string
	}{
		{Text, Input{Text: "a"}, "a"}, {Integer, Input{Text: "5"}, "5"}, {Boolean, Input{Text: "true"}, "yes"}, {Boolean, Input{Text: "false"}, "no"}, {Boolean, Input{}, ""},
		{SingleChoice, Input{Picks: []int{1}}, "Bee"}, {MultiChoice, Input{Picks: []int{1, 0}}, "Bee, Ay"}, {MultiChoice, Input{Empty: true}, ""}, {JSON, Input{JSON: "{}"}, ""},
	} {
		if got := c.kind.Words(&Field{Kind: c.kind, Choices: choices}, c.in); got != c.want {
			t.Errorf("%v %+v: %q, want %q", c.kind, c.in, got, c.want)
		}
	}
}
