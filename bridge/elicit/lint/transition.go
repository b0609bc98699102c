package lint

import (
	"encoding/json"

	"elicitation-inspector/bridge/elicit"
)

// What bridge/rawjson will do.

const (
	typeObject  = elicit.TypeObject
	typeArray   = elicit.TypeArray
	typeString  = elicit.TypeString
	typeNumber  = elicit.TypeNumber
	typeBoolean = elicit.TypeBoolean
	typeNull    = elicit.TypeNull
	typeNone    = elicit.TypeNone
)

var (
	valid       = elicit.Valid
	typeOf      = elicit.TypeOf
	members     = elicit.Members
	elements    = elicit.Elements
	member      = elicit.Member
	unquote     = elicit.Unquote
	pointer     = elicit.Pointer
	exact       = elicit.Exact
	withArticle = elicit.WithArticle
	stringsOf   = elicit.Strings
)

// keywords are the members of one schema object that are understood.
type keywords map[string]json.RawMessage

func keywordsOf(schema json.RawMessage) keywords { return elicit.Keywords(schema) }

func (k keywords) text(name string) string {
	s, _ := unquote(k[name])
	return s
}

func (k keywords) number(name string) string {
	if digits := string(k[name]); elicit.IsNumber(digits) {
		return digits
	}
	return ""
}

func (k keywords) count(name string) *int { return elicit.Count(k.number(name)) }
