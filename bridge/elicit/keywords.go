package elicit

import (
	"encoding/json"
	"fmt"
	"math/big"

	"elicitation-inspector/bridge/rawjson"
)

// Keywords are the members of one object by name, of a schema or of params, with the
// exact bytes of their values. Of those that share a name the last counts.
type Keywords map[string]json.RawMessage

// KeywordsOf reads the members of an object; none if it is no object.
func KeywordsOf(schema json.RawMessage) Keywords {
	k := make(Keywords)
	for name, value := range rawjson.Members(schema) {
		k[name] = value
	}
	return k
}

// Text returns a keyword's string, "" if it is absent or no string.
func (k Keywords) Text(name string) string { return rawjson.Text(k[name]) }

// Number returns the digits of a keyword's number, "" if it is absent or none.
func (k Keywords) Number(name string) string {
	if digits := string(k[name]); isNumber(digits) {
		return digits
	}
	return ""
}

// Exact returns the value of a keyword's number without rounding; nil if it is
// absent, none, or has more digits than are computed with.
func (k Keywords) Exact(name string) *big.Rat { return exact(k.Number(name)) }

// Count returns the value of a keyword that counts something, such as minLength;
// nil if it is absent or no count.
func (k Keywords) Count(name string) *int { return count(k.Number(name)) }

// stringsOf returns the strings in an array, leaving out what is no string.
func stringsOf(raw json.RawMessage) []string {
	var list []string
	for _, v := range rawjson.Elements(raw) {
		if rawjson.KindOf(v) == rawjson.String {
			list = append(list, rawjson.Text(v))
		}
	}
	return list
}

// noControl are the keywords that say more of a value than a control can show,
// each with what it does.
var noControl = []struct{ name, does string }{
	{"$ref", "refers to another schema"},
	{"$dynamicRef", "refers to another schema"},
	{"$recursiveRef", "refers to another schema"},
	{"allOf", "combines several schemas"},
	{"not", "excludes what another schema allows"},
	{"if", "depends on a condition"},
	{"const", "allows one value only"},
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
