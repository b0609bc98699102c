package fault

import (
	"encoding/json"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// Valid returns content that a form's schema accepts, if it can find any: the fields'
// defaults, else made-up values. It omits optional fields without an acceptable value.
func Valid(r *elicit.Request) json.RawMessage {
	content := json.RawMessage("{}")
	for _, f := range r.Fields {
		if value, fits := validValue(f); fits || f.Required {
			content = withMember(content, f.Name, value)
		}
	}
	return content
}

// validValue returns a value that a field accepts. If it finds none, it returns false
// with the first candidate.
func validValue(f elicit.Field) (json.RawMessage, bool) {
	candidates := examples(f)
	for _, value := range candidates {
		if takes(f, value) {
			return value, true
		}
	}
	return candidates[0], false
}

// takes reports whether a field's schema accepts a value; false if the check fails with
// an error.
func takes(f elicit.Field, value json.RawMessage) bool {
	problems, err := elicit.Check(f.Schema, value)
	return err == nil && len(problems) == 0
}

// refuses reports whether a field's schema rejects a value; false if the check fails with
// an error.
func refuses(f elicit.Field, value json.RawMessage) bool {
	problems, err := elicit.Check(f.Schema, value)
	return err == nil && len(problems) > 0
}

// examples returns candidates for a field's value, the most likely first.
func examples(f elicit.Field) []json.RawMessage {
	var list []json.RawMessage
	if f.Default != nil {
		list = append(list, f.Default)
	}
	switch f.Kind {
	case elicit.Text:
		list = append(list, texts(f)...)
	case elicit.Number, elicit.Integer:
		list = append(list, numbers(f)...)
	case elicit.Boolean:
		list = append(list, json.RawMessage("true"))
	case elicit.SingleChoice:
		list = append(list, rawjson.Quoted(f.Choices[0].Value))
	case elicit.MultiChoice:
		list = append(list, choices(f, max(limit(f.MinItems, 0), 1)), json.RawMessage("[]"))
	case elicit.JSON:
		k := elicit.KeywordsOf(f.Schema)
		if value, ok := k["const"]; ok {
			list = append(list, value)
		}
		for _, value := range rawjson.Elements(k["enum"]) {
			list = append(list, value)
		}
		for _, text := range []string{`"text"`, "1", "true", "[]", "{}", `["text"]`, "[1]", "null"} {
			list = append(list, json.RawMessage(text))
		}
	}
	return list
}

// limit returns *n, or otherwise if n is nil.
func limit(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

var formatted = map[string]string{
	"email": "ada@example.com", "uri": "https://example.com/", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z",
	"time": "12:00:00Z", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"uuid": "123e4567-e89b-42d3-a456-426614174000",
}

// longest is the maximum length of made-up texts, in code points.
const longest = 1 << 20

func texts(f elicit.Field) []json.RawMessage {
	least, most := min(limit(f.MinLength, 0), longest), limit(f.MaxLength, longest)
	plain := []rune("text" + strings.Repeat("x", max(least-len("text"), 0)))
	list := []json.RawMessage{rawjson.Quoted(string(plain[:min(len(plain), most)]))}
	if text, ok := formatted[f.Format]; ok {
		list = slices.Insert(list, 0, rawjson.Quoted(text))
	}
	if re, err := syntax.Parse(f.Pattern, syntax.Perl); err == nil && f.Pattern != "" {
		match := []rune(matching(re))
		short := rawjson.Quoted(string(match))
		list = slices.Insert(list, 0, short, rawjson.Quoted(string(match)+strings.Repeat("x", max(least-len(match), 0))))
	}
	return list
}

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
	case syntax.OpCapture, syntax.OpPlus:
		return matching(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(matching(re.Sub[0]), min(re.Min, longest/64))
	case syntax.OpAlternate:
		return matching(re.Sub[0])
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

func numbers(f elicit.Field) []json.RawMessage {
	k := elicit.KeywordsOf(f.Schema)
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
		list = append(list, number(v))
	}
	return list
}

// number returns an exact decimal, or one with 30 digits after the point.
func number(r *big.Rat) json.RawMessage {
	digits, _ := r.FloatPrec()
	return json.RawMessage(r.FloatString(min(digits, 30)))
}

// choices returns an array of n choices, which repeat if the field has fewer.
func choices(f elicit.Field, n int) json.RawMessage {
	list := []byte{'['}
	for i := range min(n, 100_000) {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, rawjson.Quoted(f.Choices[i%len(f.Choices)].Value)...)
	}
	return append(list, ']')
}

// withMember returns an object with the given value for a member; nil removes the member.
func withMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	out, found := []byte{'{'}, false
	add := func(name string, value json.RawMessage) {
		if value == nil {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendQuoted(out, name), ':'), value...)
	}
	for is, was := range rawjson.Members(object) {
		if is == name {
			was, found = value, true
		}
		add(is, was)
	}
	if !found {
		add(name, value)
	}
	return append(out, '}')
}
