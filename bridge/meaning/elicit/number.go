package elicit

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// The kinds of numbers.
var (
	Number  Kind = number{common{name: "number", json: rawjson.Number, takes: "a number", demand: "Required."}}
	Integer Kind = number{common{name: "integer", json: rawjson.Number, takes: "a whole number", demand: "Required."}}
)

type number struct{ common }

func (n number) reads(t string, _ Keywords) bool { return t == n.name }

func (number) read(f *Field, k Keywords, _ *references) error {
	f.Minimum, f.Maximum = k.Number("minimum"), k.Number("maximum")
	f.ExclusiveMinimum, f.ExclusiveMaximum = k.Number("exclusiveMinimum"), k.Number("exclusiveMaximum")
	f.MultipleOf = k.Number("multipleOf")
	return k.noChoices("numbers")
}

func (n number) value(_ *Field, in Input) (json.RawMessage, *Problem) {
	text := strings.TrimFunc(in.Text, unicode.IsSpace)
	switch {
	case isNumber(text):
		return json.RawMessage(text), nil
	case text != "":
		return rawjson.Quoted(in.Text), &Problem{Keyword: "type", Text: n.notNumber(text)}
	}
	return nil, nil
}

func (n number) notNumber(text string) string {
	what := "Not " + n.takes
	switch {
	case isNumber(strings.ReplaceAll(text, ",", ".")):
		what = "Write the decimal separator as a point"
	case isNumber(strings.NewReplacer(",", "", "_", "", " ", "", "'", "", "\u00a0", "", "\u202f", "").Replace(text)):
		what = "Write the number without grouping its digits"
	case isNumber(strings.TrimPrefix(text, "+")):
		what = "Write the number without a plus sign"
	case strings.HasSuffix(text, ".") && isNumber(text+"0"), isNumber(strings.Replace(text, ".", "0.", 1)):
		what = "Write a digit before and after the decimal point"
	case isNumber(strings.TrimLeft(text, "0")):
		what = "Write the number without leading zeros"
	}
	return what + ". You entered " + wording.Quoted(text) + "."
}

func (number) input(_ *Field, value json.RawMessage) (Input, bool) {
	if rawjson.KindOf(value) == rawjson.Number {
		return Input{Text: string(rawjson.Trim(value))}, true
	}
	text, exact := rawjson.Unquote(value)
	return Input{Text: text}, exact && text != "" && !isNumber(text) && oneLine(text)
}

func (number) limits(f *Field) []string {
	var out words
	out.add("at least ", f.Minimum)
	out.add("at most ", f.Maximum)
	out.add("more than ", f.ExclusiveMinimum)
	out.add("less than ", f.ExclusiveMaximum)
	out.add("a multiple of ", f.MultipleOf)
	return out
}

func (number) takesKeywords() []string { return []string{"minimum", "maximum"} }

func (n number) Hints(f *Field) []string {
	out := n.limits(f)
	if f.Minimum != "" && f.Maximum != "" {
		out = slices.Replace(out, 0, 2, "from "+f.Minimum+" to "+f.Maximum)
	}
	if n == Integer {
		out = slices.Insert(out, 0, n.takes)
	}
	return out
}

func (number) examples(f *Field) []json.RawMessage {
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
			floor := multiple(n, step)
			values = append(values, floor, new(big.Rat).Add(floor, step))
		}
	}
	if low, high := k.Exact("exclusiveMinimum"), k.Exact("exclusiveMaximum"); low != nil && high != nil {
		values = append(values, new(big.Rat).Quo(new(big.Rat).Add(low, high), big.NewRat(2, 1)))
	}
	var list []json.RawMessage
	for _, v := range values {
		list = append(list, decimal(v, 30))
	}
	return list
}

// multiple returns the greatest multiple of step that is at most n, for a positive step.
func multiple(n, step *big.Rat) *big.Rat {
	times := new(big.Rat).Quo(n, step)
	return times.Mul(new(big.Rat).SetInt(new(big.Int).Div(times.Num(), times.Denom())), step)
}

// decimal returns an exact decimal, or one with so many digits after the point.
func decimal(r *big.Rat, most int) json.RawMessage {
	digits, _ := r.FloatPrec()
	return json.RawMessage(r.FloatString(min(digits, most)))
}

// unlikely returns a number that no server says by itself.
func unlikely(n int) int { return 73519 + 1009*n }

// Others lists multiples of the field's step, and numbers between its limits.
func (number) Others(f *Field, n int) (list []json.RawMessage) {
	k := f.Keywords()
	step := k.Exact("multipleOf")
	if step == nil || step.Sign() <= 0 {
		step = big.NewRat(1, 1)
	}
	add := func(n *big.Rat) { list = append(list, decimal(multiple(n, step), 12)) }
	low, high := k.Exact("minimum"), k.Exact("maximum")
	for _, n := range []int{unlikely(n), 7351 + 101*n, 735 + 11*n, 57 + n, 31 + n%7, 7 + n%3, 4 + n%3, 2, 0} {
		add(big.NewRat(int64(n), 1))
		switch {
		case low != nil && high != nil: // a part of the range, which n chooses
			span := new(big.Rat).Sub(high, low)
			add(new(big.Rat).Add(low, span.Mul(span, big.NewRat(int64(n%89+5), 97))))
		case low != nil:
			add(new(big.Rat).Add(low, big.NewRat(int64(n), 1)))
		case high != nil:
			add(new(big.Rat).Sub(high, big.NewRat(int64(n), 1)))
		}
	}
	return list
}

func (n number) spoiled(f *Field, how Breach) json.RawMessage {
	switch how {
	case BelowMinimum:
		return beyond(f, "minimum", "exclusiveMinimum", -1)
	case AboveMaximum:
		return beyond(f, "maximum", "exclusiveMaximum", 1)
	case Fraction:
		if n == Integer {
			return json.RawMessage("1.5")
		}
	case NumberAsText: // which languages turn into a number without a word
		if value := rawjson.Quoted(string(rawjson.Member(Valid([]Field{*f}), f.Name))); f.Refuses(value) {
			return value
		}
	case NotMultiple:
		if step := f.Keywords().Exact("multipleOf"); step != nil {
			return decimal(step.Quo(step, big.NewRat(2, 1)), 30)
		}
	}
	return nil
}

// beyond gives the first number outside of a limit: limit plus by, or the exclusive limit
// itself.
func beyond(f *Field, limit, excluded string, by int64) json.RawMessage {
	if n := f.Keywords().Exact(limit); n != nil {
		return decimal(n.Add(n, big.NewRat(by, 1)), 30)
	}
	if n := f.Keywords().Exact(excluded); n != nil {
		return decimal(n, 30)
	}
	return nil
}
