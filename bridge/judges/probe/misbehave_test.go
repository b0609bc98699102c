package probe_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
)

// seen maps each misbehaviour of our own client that a probe can see to the probe, the
// revision and the verdict. "" stands for 2025-11-25.
var seen = map[string]struct {
	probe, revision string
	want            probe.Verdict
	params          string // of the fault
}{
	"missing-field":           {"required", "", probe.Fails, ""},
	"wrong-type":              {"integer", "", probe.Fails, ""},
	"below-minimum":           {"integer-limits", "", probe.Partly, ""},
	"above-maximum":           {"integer-limits", "", probe.Partly, ""},
	"fraction":                {"integer", "", probe.Fails, ""},
	"number-as-text":          {"integer", "", probe.Fails, ""},
	"too-short":               {"string-length", "", probe.Partly, ""},
	"too-long":                {"string-length", "", probe.Partly, ""},
	"wrong-format":            {"format-email", "", probe.Partly, ""},
	"pattern-mismatch":        {"string-pattern", "", probe.Partly, ""},
	"not-in-enum":             {"choice", "", probe.Fails, ""},
	"too-few-items":           {"choices-limits", "", probe.Partly, ""},
	"too-many-items":          {"choices-limits", "", probe.Partly, ""},
	"extra-field":             {"accept", "", probe.Partly, ""},
	"no-content":              {"accept", "", probe.Fails, ""},
	"null-content":            {"accept", "", probe.Fails, ""},
	"array-content":           {"accept", "", probe.Fails, ""},
	"given-content":           {"accept", "", probe.Fails, `json: {"value":1}`},
	"unknown-action":          {"accept", "", probe.Fails, ""},
	"no-action":               {"accept", "", probe.Fails, ""},
	"decline-with-content":    {"decline", "", probe.Partly, ""},
	"cancel-with-content":     {"cancel", "", probe.Partly, ""},
	"null-result":             {"accept", "", probe.Fails, ""},
	"string-result":           {"accept", "", probe.Fails, ""},
	"given-result":            {"accept", "", probe.Fails, `json: {"action":"maybe"}`},
	"method-not-found":        {"accept", "", probe.Fails, ""},
	"invalid-params":          {"accept", "", probe.Fails, ""},
	"internal-error":          {"accept", "", probe.Refuses, ""},
	"request-cancelled":       {"accept", "", probe.Refuses, ""},
	"any-error":               {"accept", "", probe.Refuses, ""},
	"invalid-json":            {"accept", "", probe.Fails, ""},
	"wrong-id":                {"accept", "", probe.Fails, ""},
	"retyped-id":              {"accept", "", probe.Fails, ""},
	"response-twice":          {"accept", "", probe.Fails, ""},
	"cancel-then-accept":      {"cancel", "", probe.Fails, ""},
	"response-after-cancel":   {"accept", "", probe.Fails, ""},
	"answer-withdrawn":        {"withdrawn", "", probe.Partly, ""},
	"never":                   {"accept", "", probe.Fails, ""},
	"close-connection":        {"accept", "", probe.Fails, ""},
	"new-session":             {"accept", "", probe.Fails, ""},
	"missing-key":             {"round-keys", mcp.Revision20260728, probe.Fails, ""},
	"extra-key":               {"round-keys", mcp.Revision20260728, probe.Fails, ""},
	"changed-state":           {"round-state", mcp.Revision20260728, probe.Fails, ""},
	"changed-state-start":     {"round-state", mcp.Revision20260728, probe.Fails, ""},
	"changed-state-end":       {"round-state", mcp.Revision20260728, probe.Fails, ""},
	"changed-state-inside":    {"round-state", mcp.Revision20260728, probe.Fails, ""},
	"invented-state":          {"round-state", mcp.Revision20260728, probe.Fails, `json: "mine"`},
	"no-state":                {"round-state", mcp.Revision20260728, probe.Fails, ""},
	"earlier-state":           {"round-ten", mcp.Revision20260728, probe.Fails, ""},
	"other-tool":              {"round-arguments", mcp.Revision20260728, probe.Fails, `tool: accept`},
	"same-id":                 {"round-id", mcp.Revision20260728, probe.Fails, ""},
	"accept-with-content":     {"url-consent", "", probe.Partly, ""},
	"update-twice":            {"task-keys", mcp.Revision20260728, probe.Partly, ""},
	"unknown-update-key":      {"task-keys", mcp.Revision20260728, probe.Fails, ""},
	"result-never-fetched":    {"task-call", "", probe.Fails, ""},
	"poll-storm":              {"task-call", "", probe.Partly, ""},
	"status-backwards":        {"task-question", "", probe.Fails, ""},
	"result-before-completed": {"task-question", "", probe.Fails, ""},
	"task-forgotten":          {"task-question", "", probe.Fails, ""},
}

// unseen says why no probe can see a misbehaviour.
var unseen = map[string]string{
	"not-multiple":            "no schema of the specification has multipleOf",
	"half-then-rest":          "the message is whole once it is read",
	"byte-by-byte":            "the message is whole once it is read",
	"late":                    "a person may take as long",
	"kill-process":            "the probe itself is killed",
	"drop-stream":             "the answer comes, and is right",
	"accept-unopened":         "an accept is consent, and opens nothing",
	"retry-before-completion": "a client may make the call again whenever it likes",
	"never-retry":             "a client need not make the call again",
	"other-scheme":            "no question of the probe has x-mcp-file, which is a draft",
	"file-too-large":          "no question of the probe has x-mcp-file, which is a draft",
	"type-not-accepted":       "no question of the probe has x-mcp-file, which is a draft",
	"lying-type":              "no question of the probe has x-mcp-file, which is a draft",
	"cancel-after-answer":     "a client may cancel a task whenever it likes",
}

// Each misbehaviour of docs/misbehave.md that a probe can see is seen: our own client sends it,
// and the probe names it.
func TestMisbehavioursAreSeen(t *testing.T) {
	for _, f := range fault.All() {
		of, ok := seen[f.Name]
		if !ok {
			if unseen[f.Name] == "" {
				t.Errorf("nothing is said of %s", f.Name)
			}
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			s, url := serve(t, probe.Options{Patience: 15 * time.Second, Pause: time.Second})
			revision := of.revision
			if revision == "" {
				revision = mcp.Revision20251125
			}
			settings, err := conversation.ParseClientSettings(revision, "")
			if err != nil {
				t.Fatal(err)
			}
			client, err := headless.Open(t.Context(), headless.Config{Target: target.Spec{Name: "probe", URL: url}, Settings: settings})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() }) // a fault may have broken the connection
			times := "times: 1, "
			if f.Name == "earlier-state" {
				times = "match: {nth: 3}, "
			}
			params := ""
			if of.params != "" {
				params = ", " + of.params
			}
			answers, err := script.Parse("answers", fmt.Appendf(nil, "answers: [{%sanswer: {fault: %s%s}}]\ndefault: {accept: valid}\n", times, f.Name, params), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Catalog(t.Context()); err != nil { // other-tool needs to know another one
				t.Fatal(err)
			}
			called := make(chan error, 1)
			go func() {
				_, err := client.Call(t.Context(), headless.Call{Kind: conversation.Tool, Key: of.probe, Scripts: []*script.Script{answers}, Timeout: time.Minute})
				called <- err // which may fail: the fault may have ended the connection
			}()
			deadline := time.After(2 * time.Minute)
			for {
				changed := s.Changed()
				for _, c := range s.Report().Clients {
					i := slices.IndexFunc(c.Results, func(r probe.Result) bool { return r.Probe == of.probe && r.Called() })
					if i < 0 || c.Results[i].Verdict == probe.Running {
						continue
					}
					if r := c.Results[i]; r.Verdict == of.want {
						return
					} else if r.Verdict != probe.Works { // which a further message may change
						t.Fatalf("%s: %s: %s", of.probe, r.Verdict, r.How)
					}
				}
				select {
				case <-changed:
				case <-deadline:
					t.Fatalf("%s does not name it", of.probe)
				}
			}
		})
	}
}
