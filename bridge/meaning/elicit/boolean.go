package elicit

import (
	"encoding/json"

	"elicitation-inspector/bridge/base/rawjson"
)

// Boolean is true, false, or unset.
var Boolean Kind = boolean{common{name: "boolean", entry: Chosen, json: rawjson.Boolean, takes: "true or false", demand: "Choose yes or no."}}

type boolean struct{ common }

func (boolean) read(_ *Field, k Keywords, _ *references) error { return k.noChoices("true or false") }

func (boolean) Words(_ *Field, in Input) string {
	return map[string]string{"true": "yes", "false": "no"}[in.Text]
}

func (boolean) value(_ *Field, in Input) (json.RawMessage, *Problem) {
	if in.Text == "true" || in.Text == "false" {
		return json.RawMessage(in.Text), nil
	}
	return nil, nil
}

func (boolean) input(_ *Field, value json.RawMessage) (Input, bool) {
	return Input{Text: string(rawjson.Trim(value))}, rawjson.KindOf(value) == rawjson.Boolean
}

func (boolean) examples(*Field) []json.RawMessage { return []json.RawMessage{yes} }

func (boolean) Others(*Field, int) []json.RawMessage { return []json.RawMessage{yes, no} }

var yes, no = json.RawMessage("true"), json.RawMessage("false")
