package elicit

import (
	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Keywords holds the members of a JSON object, a schema or params, by name, with the
// exact bytes of their values. Of several members with the same name the last counts.
type Keywords map[string]json.RawMessage

// KeywordsOf reads the members of a JSON object. Any other value has none.
func KeywordsOf(schema json.RawMessage) Keywords {
	k := make(Keywords)
	for name, value := range rawjson.Members(schema) {
		k[name] = value
	}
	return k
}

// Text returns a keyword's string, "" if it is absent or not a string.
func (k Keywords) Text(name string) string { return rawjson.Text(k[name]) }

// Number returns the digits of a keyword's number, "" if it is absent or not a number.
func (k Keywords) Number(name string) string {
	if digits := string(k[name]); isNumber(digits) {
		return digits
	}
	return ""
}

// Exact returns a keyword's number without rounding; nil if it is absent, not a number,
// or has too many digits (see computable).
func (k Keywords) Exact(name string) *big.Rat {
	number := k.Number(name)
	if number == "" || !computable(number) {
		return nil
	}
	r, _ := new(big.Rat).SetString(number)
	return r
}

// Count returns a keyword's non-negative whole number, such as minLength; nil if it is
// absent or anything else.
func (k Keywords) Count(name string) *int { return count(k.Number(name)) }

func stringsOf(raw json.RawMessage) []string {
	var list []string
	for _, v := range rawjson.Elements(raw) {
		if rawjson.KindOf(v) == rawjson.String {
			list = append(list, rawjson.Text(v))
		}
	}
	return list
}

// noControl lists the keywords that constrain a value in ways that no form control can
// show, each with its effect in words.
var noControl = []struct{ name, does string }{
	{"$ref", "refers to another schema"},
	{"$dynamicRef", "refers to another schema"},
	{"$recursiveRef", "refers to another schema"},
	{"allOf", "combines several schemas"},
	{"not", "excludes what another schema allows"},
	{"if", "depends on a condition"},
	{"prefixItems", "describes a list place by place"},
	{"contains", "describes what a list has to contain"},
	{"properties", "describes a nested object"},
	{"patternProperties", "describes a nested object"},
}

func (k Keywords) beyond(whose string) error {
	for _, b := range noControl {
		if _, ok := k[b.name]; ok {
			return fmt.Errorf("%s %s (%s)", whose, b.does, b.name)
		}
	}
	return nil
}

// isNumber tells whether text is a JSON number (RFC 8259, section 6), without white
// space around it.
func isNumber(text string) bool {
	raw := []byte(text)
	return rawjson.KindOf(raw) == rawjson.Number && len(rawjson.Trim(raw)) == len(raw) && rawjson.Valid(raw)
}

// maxDigits is the length in bytes of the longest number that is computed with.
const maxDigits = 2000

// hugeExponent matches numbers with an exponent of four or more digits. Their exact
// value would take too much memory: 1e1000000000 has a billion digits.
var hugeExponent = lazy.Regexp(`[eE][+-]?0*[1-9][0-9]{3,}$`)

// computable tells whether a JSON number is small enough for exact arithmetic.
func computable(number string) bool {
	return len(number) <= maxDigits && !hugeExponent().MatchString(number)
}

// count reads a non-negative whole JSON number, such as minLength: 3, 3.0 and 3e0 are
// the same. It returns nil if the number is negative or has a fraction, and at most
// math.MaxInt32, a length that no answer reaches.
func count(number string) *int {
	f, _ := strconv.ParseFloat(number, 64) // infinite where it is out of range
	if !isNumber(number) || f < 0 || f != math.Trunc(f) {
		return nil
	}
	n := int(min(f, math.MaxInt32))
	return &n
}
