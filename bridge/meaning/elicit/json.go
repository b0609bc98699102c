package elicit

import (
	"encoding/json"
	"mime/multipart"
	"net/url"
	"slices"

	"elicitation-inspector/bridge/base/rawjson"
)

// JSON is raw JSON text, for a property that fits no other control; see Field.Why.
var JSON Kind = anyJSON{common{
	name: "JSON", entry: Written, takes: "what an answer may have (strings, numbers, true or false, and lists of strings)", demand: "Required.",
}}

type anyJSON struct{ common }

func (anyJSON) posted(_ *Field, in *Input, form *multipart.Form, name string) {
	if in.JSON == "" {
		in.JSON = url.Values(form.Value).Get(name)
	}
}

func (anyJSON) read(*Field, Keywords, *references) error        { return nil }
func (anyJSON) value(*Field, Input) (json.RawMessage, *Problem) { return nil, nil }
func (anyJSON) input(*Field, json.RawMessage) (Input, bool)     { return Input{}, false }
func (anyJSON) Hints(*Field) []string                           { return []string{"JSON"} }

func (a anyJSON) misfit(f *Field, value json.RawMessage) string {
	if f.sends(value) {
		return ""
	}
	return a.isNot(value)
}

// limits describes the limits that were read before a kind found a keyword that it cannot show.
func (anyJSON) limits(f *Field) []string {
	return slices.Concat(Text.limits(f), Number.limits(f), MultiChoice.limits(f))
}

func (anyJSON) examples(f *Field) (list []json.RawMessage) {
	for _, value := range rawjson.Elements(f.Keywords()["enum"]) {
		list = append(list, value)
	}
	for _, text := range []string{`"text"`, "1", "true", "[]", "{}", `["text"]`, "[1]", "null"} {
		list = append(list, json.RawMessage(text))
	}
	return list
}
