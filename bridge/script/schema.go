package script

import (
	_ "embed"
	"encoding/json"
	"maps"
)

//go:embed schema/answers.json
var answersSchema []byte

//go:embed schema/scenario.json
var scenarioSchema []byte

// AnswersSchema returns the JSON Schema of answers files.
func AnswersSchema() []byte { return answersSchema }

// ScenarioSchema returns the JSON Schema of scenario files. It copies the definitions
// shared with answers files from their schema.
func ScenarioSchema() ([]byte, error) {
	var shared struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	var own map[string]json.RawMessage
	var defs map[string]json.RawMessage
	if err := json.Unmarshal(answersSchema, &shared); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(scenarioSchema, &own); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(own["$defs"], &defs); err != nil {
		return nil, err
	}
	maps.Copy(defs, shared.Defs)
	all, err := json.Marshal(defs)
	if err != nil {
		return nil, err
	}
	own["$defs"] = all
	text, err := json.MarshalIndent(own, "", "  ")
	return append(text, '\n'), err
}
