package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/cost"
)

// TestForbiddenCalls expects forbidden calls to be skipped with a reason, and all others
// to be made.
func TestForbiddenCalls(t *testing.T) {
	t.Parallel()
	items := []conversation.Item{
		{Kind: conversation.Tool, Key: "reads", ReadOnly: true},
		{Kind: conversation.Tool, Key: "writes"},
		{Kind: conversation.Tool, Key: "deletes", Destructive: true},
		{Kind: conversation.Tool, Key: "runs long", Tasks: conversation.TaskRequired},
		{Kind: conversation.Tool, Key: "takes what cannot be made up", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"not":{}}},"required":["a"]}`)},
		{Kind: conversation.Prompt, Key: "prompt"},
		{Kind: conversation.Resource, Key: "file:///a"},
		{Kind: conversation.Template, Key: "file:///{name}"},
	}
	internal, err := script.ParseText("w*")
	if err != nil {
		t.Fatal(err)
	}
	deletes, err := script.ParseText("del*")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		options Options
		calls   []string
		skipped map[string]string // reasons, by key of calls that are forbidden for a special reason
	}{
		{"nothing is said", Options{}, []string{"reads", "writes", "runs long", "prompt", "file:///a"}, map[string]string{"deletes": "--allow-destructive deletes"}},
		{"only what reads", Options{ReadOnly: true}, []string{"reads", "prompt", "file:///a"}, map[string]string{"writes": "readOnlyHint"}},
		{"what reads, and what is allowed", Options{ReadOnly: true, AllowDestructive: []*script.Text{deletes}}, []string{"reads", "prompt", "file:///a"}, map[string]string{"deletes": "readOnlyHint"}},
		{"a tool is allowed", Options{AllowDestructive: []*script.Text{deletes}}, []string{"reads", "writes", "deletes", "runs long", "prompt", "file:///a"}, nil},
		{"a tool is named", Options{Wanted: []Wanted{{Key: "deletes"}}}, nil, map[string]string{"deletes": "destructiveHint"}},
		{"a pattern is skipped", Options{Skip: []*script.Text{internal}}, []string{"reads", "runs long", "prompt", "file:///a"}, map[string]string{"writes": "plan skips"}},
	} {
		calls, skipped, err := test.options.choose(items)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var keys []string
		for _, c := range calls {
			keys = append(keys, c.Key)
		}
		if !slices.Equal(keys, test.calls) {
			t.Errorf("%s: %v are called", test.name, keys)
		}
		for key, why := range test.skipped {
			if !slices.ContainsFunc(skipped, func(s report.NotMade) bool { return s.Key == key && strings.Contains(s.Why, why) }) {
				t.Errorf("%s: %s is not skipped for %q: %+v", test.name, key, why, skipped)
			}
		}
	}
	if _, _, err := (&Options{Wanted: []Wanted{{Key: "delets"}}}).choose(items); !errors.Is(err, ErrNotOffered) || !strings.Contains(err.Error(), `did you mean "deletes"?`) {
		t.Errorf("what is not offered: %v", err)
	}
}

// TestChoosingOfVeryManyTools expects the choice to take no time, however much is offered.
func TestChoosingOfVeryManyTools(t *testing.T) {
	items := make([]conversation.Item, 40_000)
	for i := range items {
		items[i] = conversation.Item{Kind: conversation.Tool, Key: fmt.Sprint("tool_", i)}
	}
	var calls []chosen
	var err error
	took := cost.Of(func() { calls, _, err = new(Options).choose(items) })
	if t.Logf("%s", took); err != nil || len(calls) != len(items) || took > 5*time.Second {
		t.Errorf("%d calls after %s, %v", len(calls), took, err)
	}
}
