package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/e2e/internal/servers"
)

// TestListsAreReadOnce checks a tool of a server that offers 40,000, and expects its lists
// to be read to begin with, and not for each trial.
func TestListsAreReadOnce(t *testing.T) {
	t.Parallel()
	const question = `"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}}}},"requestState":"s"}`
	server := servers.NewScripted(t, mcp.Revision20260728, map[string]servers.Script{"ask": func(_ int, c servers.Call) string {
		var answers struct{ Q struct{ Action string } }
		_ = json.Unmarshal([]byte(c.Member("inputResponses")), &answers)
		switch {
		case c.Member("inputResponses") == "":
			return question
		case answers.Q.Action != "accept":
			return `"error":{"code":-32602,"message":"Nothing was done"}`
		}
		return servers.Done("Done.")
	}})
	tools := []string{`{"name":"ask","inputSchema":{"type":"object"}}`}
	for i := range 40_000 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","inputSchema":{"type":"object"}}`, i))
	}
	list := fmt.Sprintf(`"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[%s]}`, strings.Join(tools, ","))
	var lists atomic.Int32
	server.List = func(n int) string {
		lists.Store(int32(n))
		return list
	}
	report, err := check.Run(t.Context(), check.Options{
		Server: headless.Config{Target: target.Spec{Name: "many", URL: server.URL}}, Jobs: 4,
		Wanted: []check.Wanted{{Key: "ask"}}, Revisions: []string{mcp.Revision20260728},
	})
	if err != nil || report.Stopped != "" || len(report.Results) < 20 {
		t.Fatalf("%v: %+v", err, report)
	}
	t.Logf("%d trials in %v read the list %d times", report.Made, report.Took, lists.Load())
	if n := lists.Load(); n > 4 { // for the check, for two honest calls, and for the trial that calls another tool
		t.Errorf("%d trials read the list %d times", report.Made, n)
	}
}
