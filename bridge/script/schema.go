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

//go:embed schema/plan.json
var planSchema []byte

// AnswersSchema returns the JSON Schema of answers files.
func AnswersSchema() []byte { return answersSchema }

// ScenarioSchema returns the JSON Schema of scenario files. It copies the definitions
// shared with answers files from their schema.
func ScenarioSchema() ([]byte, error) { return joined(scenarioSchema, answersSchema) }

// PlanSchema returns the JSON Schema of plan files. It copies the definitions shared with
// scenarios from their schema.
func PlanSchema() ([]byte, error) { return joined(planSchema, scenarioSchema, answersSchema) }

// joined returns a schema with the definitions of others.
func joined(schema []byte, others ...[]byte) ([]byte, error) {
	var own map[string]json.RawMessage
	if err := json.Unmarshal(schema, &own); err != nil {
		return nil, err
	}
	defs := map[string]json.RawMessage{}
	for _, text := range append(others, schema) { // its own come before those of the others
		var shared struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(text, &shared); err != nil {
			return nil, err
		}
		maps.Copy(defs, shared.Defs)
	}
	all, err := json.Marshal(defs)
	if err != nil {
		return nil, err
	}
	own["$defs"] = all
	text, err := json.MarshalIndent(own, "", "  ")
	return append(text, '\n'), err
}
