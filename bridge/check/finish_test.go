package check

import (
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/bridge/catalog"
)

// TestToldOnce expects one linter finding for each defect of a call and revision, and one
// for each declaration if a question comes in an undeclared mode.
func TestToldOnce(t *testing.T) {
	t.Parallel()
	one := func(behaviour, rule string) Result {
		return Result{Trial: Trial{Behaviour: behaviour, Revision: "2025-11-25"}, Findings: []Finding{{Rule: rule, Verdict: Fail}}}
	}
	results := []Result{
		one(behaviourAccept, "secret-in-form"), one(behaviourDecline, "secret-in-form"),
		one(behaviourNone, undeclaredMode), one(behaviourURL, undeclaredMode), one(behaviourURL, undeclaredMode),
		one(behaviourDecline, ruleNoResponse), one(behaviourCancel, ruleNoResponse),
	}
	tellOnce(results)
	var verdicts []string
	for _, r := range results {
		verdicts = append(verdicts, string(r.Verdict))
	}
	if got := strings.Join(verdicts, " "); got != "fail pass fail fail pass fail fail" {
		t.Error(got)
	}
}

// TestToolsGetArguments expects tools to be called with an arguments object, even with an
// empty one.
func TestToolsGetArguments(t *testing.T) {
	t.Parallel()
	for kind, want := range map[catalog.Kind]string{catalog.Tool: "{}", catalog.Prompt: ""} {
		var c chosen
		if why := c.makeUp(catalog.Item{Kind: kind, Schema: json.RawMessage(`{"type":"object"}`)}); why != "" || string(c.Arguments) != want || c.MadeUp {
			t.Errorf("%s: %q, %s", kind, why, c.Arguments)
		}
	}
}
