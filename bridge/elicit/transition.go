package elicit

import (
	"encoding/json"
	"iter"
	"math/big"
)

// What package lint reads JSON with, until bridge/rawjson does it for both.

type (
	JSONType = jsonType
)

const (
	TypeObject  = typeObject
	TypeArray   = typeArray
	TypeString  = typeString
	TypeNumber  = typeNumber
	TypeBoolean = typeBoolean
	TypeNull    = typeNull
	TypeNone    = typeNone

	MaxFields = maxFields
)

func Valid(raw []byte) error                                  { return valid(raw) }
func TypeOf(raw []byte) JSONType                              { return typeOf(raw) }
func Members(raw []byte) iter.Seq2[string, json.RawMessage]   { return members(raw) }
func Elements(raw []byte) iter.Seq2[int, json.RawMessage]     { return elements(raw) }
func Member(raw []byte, name string) json.RawMessage          { return member(raw, name) }
func Unquote(raw []byte) (string, bool)                       { return unquote(raw) }
func Pointer(base, name string) string                        { return pointer(base, name) }
func Exact(number string) *big.Rat                            { return exact(number) }
func Count(number string) *int                                { return count(number) }
func IsNumber(text string) bool                               { return isNumber(text) }
func WithArticle(t JSONType) string                           { return withArticle(t) }
func Keywords(raw json.RawMessage) map[string]json.RawMessage { return keywordsOf(raw) }
func FieldOf(name string, schema json.RawMessage) Field       { return fieldOf(name, schema, false) }
func Strings(raw json.RawMessage) []string                    { return stringsOf(raw) }
