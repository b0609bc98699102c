package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// Valid returns content that a form's schema accepts, if it can find any: the fields'
// defaults, else made-up values. It omits optional fields without an acceptable value.
func Valid(fields []Field) json.RawMessage {
	var content rawjson.ObjectWriter
	for _, f := range fields {
		candidates := examples(f)
		value := f.firstOf(candidates)
		if i := slices.IndexFunc(candidates, f.sends); value == nil && f.Required && i >= 0 {
			value = candidates[i]
		}
		content.Add(f.Name, value)
	}
	return content.JSON()
}

// Arguments makes up arguments that are valid by an input schema. It takes the default of
// each property; required properties without a default get an example of the schema, or
// else a value of their type, and optional ones are omitted. It returns nil for a schema
// without properties.
func Arguments(schema json.RawMessage) (json.RawMessage, error) {
	arguments, err := within(schema).arguments(schema)
	if arguments == nil || err != nil {
		return nil, err
	}
	problems, err := Check(schema, arguments)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its input schema cannot be used: %w", err)
	case len(problems) > 0:
		return nil, errors.New("its input schema refuses what was made up: " + problems[0].Text)
	}
	return arguments, nil
}

func (r *references) arguments(schema json.RawMessage) (json.RawMessage, error) {
	fields, err := r.fieldsOf(schema)
	if err != nil {
		return nil, err
	}
	var object rawjson.ObjectWriter
	for _, f := range fields {
		if !f.Required && f.Default == nil {
			continue
		}
		candidates := []json.RawMessage{f.Default}
		for _, example := range rawjson.Elements(f.Keywords()["examples"]) {
			candidates = append(candidates, example)
		}
		candidates = append(append(candidates, f.Keywords()["example"]), examples(f)...)
		if r.nested++; f.Keywords().Text("type") == "object" && r.nested <= nestedMost {
			if inner, err := r.arguments(f.Schema); err == nil {
				candidates = append(candidates, inner)
			}
		}
		value := f.firstOf(candidates)
		if value == nil {
			return nil, fmt.Errorf("no value could be made up for its argument %q", f.Name)
		}
		object.Add(f.Name, rawjson.AppendCompact(nil, value))
	}
	if object == nil {
		return nil, nil
	}
	return object.JSON(), nil
}

// firstOf returns the first of the candidates that the field's schema accepts; nil if it
// accepts none.
func (f Field) firstOf(candidates []json.RawMessage) json.RawMessage {
	for _, value := range candidates {
		if value != nil && f.sends(value) && f.Takes(value) {
			return value
		}
	}
	return nil
}

// Takes reports whether the field's schema accepts a value; false if the check fails with
// an error.
func (f Field) Takes(value json.RawMessage) bool {
	problems, err := f.check(value)
	return err == nil && len(problems) == 0
}

// Refuses reports whether the field's schema rejects a value; false if the check fails
// with an error.
func (f Field) Refuses(value json.RawMessage) bool {
	problems, err := f.check(value)
	return err == nil && len(problems) > 0
}

// check checks a value against the field's schema. Where that refers to other parts of the whole
// schema, it is checked as the items of a list beside these parts, so that nothing else applies.
func (f Field) check(value json.RawMessage) ([]Problem, error) {
	if f.root == nil {
		return Check(f.Schema, value)
	}
	var parts rawjson.ObjectWriter
	for name, part := range rawjson.Members(f.root) {
		if slices.Contains([]string{"$schema", "$id", "$defs", "definitions", "properties"}, name) {
			parts.Add(name, part)
		}
	}
	parts.Add("items", f.Schema)
	return Check(parts.JSON(), slices.Concat([]byte("["), value, []byte("]")))
}

// examples returns candidates for a field's value, the most likely first.
func examples(f Field) []json.RawMessage {
	var list []json.RawMessage
	if f.Default != nil {
		list = append(list, f.Default)
	}
	if f.Const != nil {
		list = append(list, f.Const)
	}
	least := min(Bound(f.MinLength, 0), Longest)
	switch f.Kind {
	case Text:
		if re, err := syntax.Parse(f.Pattern, syntax.Perl); err == nil && f.Pattern != "" {
			match := matching(re)
			list = append(list, rawjson.Quoted(match), rawjson.Quoted(match+strings.Repeat("x", max(least-len([]rune(match)), 0))))
		}
		if text, ok := formatted[f.Format]; ok {
			list = append(list, rawjson.Quoted(text))
		}
		plain := "text" + strings.Repeat("x", max(least-len("text"), 0))
		list = append(list, rawjson.Quoted(plain[:min(len(plain), Bound(f.MaxLength, Longest))]))
	case Number, Integer:
		list = append(list, numbers(f)...)
	case Boolean:
		list = append(list, json.RawMessage("true"))
	case SingleChoice:
		list = append(list, rawjson.Quoted(f.Choices[0].Value))
	case MultiChoice:
		list = append(list, SomeChoices(f, max(Bound(f.MinItems, 0), 1)), json.RawMessage("[]"))
	case JSON:
		for _, value := range rawjson.Elements(f.Keywords()["enum"]) {
			list = append(list, value)
		}
		for _, text := range []string{`"text"`, "1", "true", "[]", "{}", `["text"]`, "[1]", "null"} {
			list = append(list, json.RawMessage(text))
		}
	}
	return list
}

// Bound returns *n, or otherwise if n is nil.
func Bound(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

// MadeUpEmail is the address in made-up content. No server is likely to have it from
// elsewhere.
const MadeUpEmail = "made.up.4711@example.com"

var formatted = map[string]string{
	"email": MadeUpEmail, "uri": "https://example.com/", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z",
	"time": "12:00:00Z", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uuid": "123e4567-e89b-42d3-a456-426614174000",
}

// Longest is the maximum length of made-up texts, in code points.
const Longest = 1 << 20

// matching returns a short text that most likely matches an expression.
func matching(re *syntax.Regexp) string {
	var out strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			return string(slices.MaxFunc(re.Rune, func(a, b rune) int { return readable(a) - readable(b) }))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return matching(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(matching(re.Sub[0]), min(re.Min, Longest/64))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out.WriteString(matching(sub))
		}
	default: // anchors, and optional parts
	}
	return out.String()
}

// readable ranks characters of a class: letters and digits first, then other visible
// ASCII.
func readable(r rune) int {
	switch {
	case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z':
		return 2
	case r > ' ' && r <= '~':
		return 1
	}
	return 0
}

func numbers(f Field) []json.RawMessage {
	k := f.Keywords()
	one := big.NewRat(1, 1)
	values := []*big.Rat{one, new(big.Rat)}
	for _, name := range []string{"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		n := k.Exact(name)
		if n == nil {
			continue
		}
		whole := new(big.Rat).SetInt(new(big.Int).Quo(n.Num(), n.Denom()))
		for _, base := range []*big.Rat{n, whole} {
			values = append(values, base, new(big.Rat).Add(base, one), new(big.Rat).Sub(base, one))
		}
		if step := k.Exact("multipleOf"); step != nil && step.Sign() != 0 { // the multiples next to a limit
			times := new(big.Rat).Quo(n, step)
			floor := new(big.Rat).SetInt(new(big.Int).Div(times.Num(), times.Denom()))
			values = append(values, new(big.Rat).Mul(floor, step), new(big.Rat).Mul(floor.Add(floor, one), step))
		}
	}
	if low, high := k.Exact("exclusiveMinimum"), k.Exact("exclusiveMaximum"); low != nil && high != nil {
		values = append(values, new(big.Rat).Quo(new(big.Rat).Add(low, high), big.NewRat(2, 1)))
	}
	var list []json.RawMessage
	for _, v := range values {
		list = append(list, Decimal(v))
	}
	return list
}

// Decimal returns an exact decimal, or one with 30 digits after the point.
func Decimal(r *big.Rat) json.RawMessage {
	digits, _ := r.FloatPrec()
	return json.RawMessage(r.FloatString(min(digits, 30)))
}

// SomeChoices returns an array of n choices, which repeat if the field has fewer.
func SomeChoices(f Field, n int) json.RawMessage {
	var list rawjson.ArrayWriter
	for i := range min(n, 100_000) {
		list.Add(rawjson.Quoted(f.Choices[i%len(f.Choices)].Value))
	}
	return list.JSON()
}
