package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/check/report"
)

const scenarioText = `
target: demo
protocol: [2025-11-25, 2026-07-28]
default: cancel
calls:
  - name: deploys
    tool: deploy
    answers:
      - match: {withFields: [environment]}
        answer: {accept: {environment: staging}, rest: valid}
      - answer: {accept: valid}
    expect: {result: "*is deployed in staging."}
  - name: puts it off
    tool: deploy
    expect: {result: "*was put off*", findings: none}
  - prompt: release_notes
    arguments: {version: 1.4.0}
    default: {accept: valid}
    expect: {result: {messages: [{role: user}]}}
`

func TestRun(t *testing.T) {
	t.Parallel()
	good := write(t, "good.yaml", scenarioText)
	bad := write(t, "bad.yaml", scenarioText+"  - {name: wrong, tool: deploy, expect: {result: Nothing}}\n")
	if got := inspectorRun(t, "run", good); got.code != 0 || !strings.HasSuffix(got.out, "6 of 6 calls as expected\n") || got.err != "" {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	records := filepath.Join(t.TempDir(), "records")
	got := inspectorRun(t, "run", "--jobs", "4", "--record", records, good, bad)
	if got.code != exitUnmet || !strings.HasSuffix(got.out, "12 of 14 calls as expected\n") || !strings.Contains(got.out, "want: Nothing\n           got:  The deployment was put off") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if text, err := os.ReadFile(filepath.Join(records, "good-2025-11-25.jsonl")); err != nil || !strings.Contains(string(text), "elicitation/create") {
		t.Errorf("the transcript: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got := inspectorRun(t, "run", good, "--", self, "demo"); got.code != 0 {
		t.Errorf("with another target: exit code %d\n%s", got.code, got.out)
	}
	if got := inspectorRun(t, "run", good, "--", "false"); got.code != exitConnect || !strings.Contains(got.out, "0 of 6") {
		t.Errorf("with no target: exit code %d\n%s", got.code, got.out)
	}
}

func TestRunFormats(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "target: demo\ncalls:\n  - {tool: deploy, default: decline}\n  - {name: 'a # b', tool: nothing}\n")
	got := inspectorRun(t, "run", "--format", "junit", file)
	var suites report.Suites
	if err := xml.Unmarshal([]byte(got.out), &suites); err != nil || suites.Tests != 2 || suites.Failures != 1 || suites.Suites[0].Cases[1].Failure.Type != "exit 4" {
		t.Errorf("JUnit: %v\n%s", err, got.out)
	}
	got = inspectorRun(t, "run", "--format", "json", file)
	var list []struct {
		Calls []struct {
			Name, Event string
			Exit        int
			Result      json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || list[0].Calls[0].Result == nil || list[0].Calls[1].Exit != exitRPC || list[0].Calls[1].Event != "error" {
		t.Errorf("JSON: %v\n%s", err, got.out)
	}
	got = inspectorRun(t, "run", "--format", "tap", file)
	if !strings.HasPrefix(got.out, "TAP version 14\n1..2\nok 1 - ") || !strings.Contains(got.out, "\nnot ok 2 - ") || !strings.Contains(got.out, `a \# b`) || got.code != exitRPC {
		t.Errorf("TAP: %s", got.out)
	}
}

func TestRunMistakes(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want string }{
		{"target: dmeo\ncalls: [{tool: x}]\n", `:1:9: target cannot be "dmeo"; did you mean "demo"?`},
		{"target: {command: [x], url: y}\ncalls: [{tool: x}]\n", "target needs a command or a url"},
		{"target: {url: '${NO_SUCH_VARIABLE}/mcp'}\ncalls: [{tool: x}]\n", "no variable NO_SUCH_VARIABLE"},
		{"calls: [{tool: x, prompt: y}]\n", "a call needs one of tool, prompt and resource"},
		{"calls: [{tol: x}]\n", `a call has no key "tol"; did you mean "tool"?`},
		{"target: demo\n", "a scenario needs calls"},
		{"calls: [{tool: x}]\nexpect: {}\n", `a scenario has no key "expect"`},
		{"calls: [{tool: x}]\nprotocol: 2024-11-05\n", `protocol cannot be "2024-11-05"`},
	}
	for _, c := range cases {
		file := write(t, "s.yaml", c.text)
		if got := inspectorRun(t, "run", file); got.code != exitUsage || !strings.Contains(got.err, c.want) || got.out != "" {
			t.Errorf("%q: exit code %d: %s", c.text, got.code, got.err)
		}
	}
	if got := inspectorRun(t, "run"); got.code != exitUsage {
		t.Errorf("exit code %d without a file", got.code)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for transport, target := range over(t) {
		got := inspectorRun(t, append([]string{"list"}, target...)...)
		if got.code != 0 || !strings.HasPrefix(got.out, "tool ") || !strings.Contains(got.out, "release_notes") || !strings.Contains(got.out, "contract://") {
			t.Errorf("over %s: exit code %d\n%s%s", transport, got.code, got.out, got.err)
		}
		var items []offered
		got = inspectorRun(t, append([]string{"list", "--format", "json"}, target...)...)
		if err := json.Unmarshal([]byte(got.out), &items); err != nil || len(items) < 20 || items[0].Name != "deploy" || items[0].Schema == nil {
			t.Errorf("over %s: %v\n%s", transport, err, got.out)
		}
	}
	if got := inspectorRun(t, "list", "--", "false"); got.code != exitConnect {
		t.Errorf("exit code %d, want %d", got.code, exitConnect)
	}
}

func TestSchemaCommand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"answers", "scenario"} {
		if got := inspectorRun(t, "schema", name); got.code != 0 || !json.Valid([]byte(got.out)) {
			t.Errorf("%s: exit code %d\n%s", name, got.code, got.err)
		}
	}
	if got := inspectorRun(t, "schema"); got.code != exitUsage {
		t.Errorf("exit code %d without a name", got.code)
	}
}
