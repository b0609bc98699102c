package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
)

// TestDestructiveToolsAreTicked checks that a destructive tool is checked only if its
// box is ticked.
func TestDestructiveToolsAreTicked(t *testing.T) {
	o := inspectDemo(t, conversation.ClientSettings{}).serve()
	form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"delete_files"}, "arguments": {`{"folder":"scans"}`}}
	status, plan := o.post("/check", form)
	if box := regexp.MustCompile(`<input type="checkbox" name="destructive"[^>]* required`); status != http.StatusOK || !box.MatchString(plan) {
		t.Fatalf("the plan: %d %s", status, plan)
	}
	report := func(number int) (r report.Report) {
		saved, _ := o.get(fmt.Sprintf("/checks/%d/report.json", number))
		if err := json.Unmarshal([]byte(saved), &r); err != nil {
			t.Fatalf("%v: %s", err, saved)
		}
		return r
	}
	pushes := o.watch(0)
	o.done("/check/start", form)
	o.pushed(pushes, "It is annotated with destructiveHint.")
	if r := report(1); len(r.Results) > 0 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Why, "destructiveHint") {
		t.Errorf("without a tick there are %d results, and skipped: %+v", len(r.Results), r.Skipped)
	}
	form.Set("destructive", "1")
	o.done("/check/start", form)
	o.pushed(pushes, "decline, 2026-07-28: ")
	o.done("/checks/2/stop", nil)
	o.pushed(pushes, "It was stopped.")
	if r := report(2); len(r.Results) == 0 || len(r.Skipped) > 0 {
		t.Errorf("with a tick there are %d results, and skipped: %+v", len(r.Results), r.Skipped)
	}
}
