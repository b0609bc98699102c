package check

import (
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/bridge/catalog"
)

// TestToldOnce has what the linter finds told once for a call and a revision, and what is
// asked in a mode that was not declared once for each declaration.
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

// TestToolsGetArguments has tools called with an object, also where nothing is in it.
func TestToolsGetArguments(t *testing.T) {
	t.Parallel()
	for kind, want := range map[catalog.Kind]string{catalog.Tool: "{}", catalog.Prompt: ""} {
		var c chosen
		if why := c.makeUp(catalog.Item{Kind: kind, Schema: json.RawMessage(`{"type":"object"}`)}); why != "" || string(c.Arguments) != want || c.MadeUp {
			t.Errorf("%s: %q, %s", kind, why, c.Arguments)
		}
	}
}
