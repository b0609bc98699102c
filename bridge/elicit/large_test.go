package elicit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestVeryManyRequired expects a check to end in its time however many names a schema
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
	began := time.Now()
	_, problems, err := CheckInputs(schema, fields, Defaults(fields))
	took := time.Since(began)
	if t.Logf("%s", took); took > 2*checkBudget {
		t.Errorf("it took %s", took)
	}
	if err != nil && !Unchecked(err) {
		t.Error(err)
	}
	if err == nil && len(problems) != many {
		t.Errorf("%d problems", len(problems))
	}
}
