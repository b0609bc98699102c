package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The two tools of the reference server that ask through tasks, one per direction.
const (
	researchTool = "simulate-research-query"
	asyncTool    = "trigger-elicitation-request-async"
)

// Without the capability, the reference server does not offer to ask through a task.
func TestTasksSwitchedOff(t *testing.T) {
	t.Parallel()
	s := open(t, append([]string{"--"}, servers.Everything(t, "stdio")...)...)
	s.choose("Tools", asyncTool)
	s.settings(func(server *page.Control) { server.Checkbox("Tasks").Click() })
	s.page.Until(func() string { return "the tool is gone" }, func() bool {
		return s.page.Region("Tools").Button(asyncTool).Count() == 0
	})
}

// The call command calls a tool as a task where it has to be, and answers questions that
// are tasks; what is opened later says the same.
func TestCallTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, tool, arguments, want string }{
		{"{accept: {interpretation: snake}}", researchTool, `{"topic":"python","ambiguous":true}`, "python (snake)"},
		{"decline", researchTool, `{"topic":"python","ambiguous":true}`, "User declined"},
		{"{accept: {name: Ada}}", asyncTool, "{}", "Name: Ada"},
		{"cancel", asyncTool, "{}", "[CANCELLED]"},
	} {
		dir := t.TempDir()
		answers, flow := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "flow.jsonl")
		if err := os.WriteFile(answers, []byte("answers: [{answer: "+c.answer+"}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"call", c.tool, "--args", c.arguments, "--answers", answers, "--record", flow, "--ttl", "1m", "--no-input", "--"}, servers.Everything(t, "stdio")...)
		if got := inspector.Run(t, inspector.Options{}, args...); got.Code != 0 || !strings.Contains(got.Stdout, c.want) {
			t.Errorf("%s, %s: exit code %d\n%s%s", c.tool, c.answer, got.Code, got.Stdout, got.Stderr)
		}
		for format, want := range map[string]string{"markdown": c.want, "mermaid": "task", "html": c.want} {
			if got := inspector.Run(t, inspector.Options{}, "export", "--format", format, flow); got.Code != 0 || !strings.Contains(got.Stdout, want) {
				t.Errorf("%s of %s, %s: exit code %d, without %q\n%.3000s%s", format, c.tool, c.answer, got.Code, want, got.Stdout, got.Stderr)
			}
		}
	}
}
