package elicit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/cost"
)

// TestVeryManyRequired expects a check not to cost more than its time however many names a schema
// requires, with a problem for each.
func TestVeryManyRequired(t *testing.T) {
	const many = 100_000
	var names, properties strings.Builder
	for i := range many {
		fmt.Fprintf(&names, `,"r%d"`, i)
	}
	for i := range maxFields {
		fmt.Fprintf(&properties, `,"p%d":{"type":"string"}`, i)
	}
	schema := json.RawMessage(`{"type":"object","properties":{` + properties.String()[1:] + `},"required":[` + names.String()[1:] + `]}`)
	fields, err := FieldsOf(schema)
	if err != nil {
		t.Fatal(err)
	}
	var problems []Problem
	took := cost.Of(func() { _, problems, err = CheckInputs(schema, fields, Defaults(fields)) })
	if t.Logf("%s", took); took > 2*checkBudget {
		t.Errorf("it costs %s", took)
	}
	if err != nil && !Unchecked(err) {
		t.Error(err)
	}
	if err == nil && len(problems) != many {
		t.Errorf("%d problems", len(problems))
	}
}
