package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The two tools of the reference server that ask through tasks, one per direction.
const (
	researchTool, researchAsks = "simulate-research-query", `The research query "python" could have multiple interpretations. Please clarify what you're looking for:`
	asyncTool, asyncAsks       = "trigger-elicitation-request-async", "Please provide inputs for the following fields (async task demo):"
)

// A call that is a task, and a question that is one, end on the page with the answer that
// a person gave.
func TestTasksOfTheReferenceServer(t *testing.T) {
	t.Parallel()
	s := open(t, append([]string{"--"}, servers.Everything(t, "stdio")...)...)
	for _, c := range []struct{ answer, research, async string }{
		{"Accept", "(programming)", "Name: Ada"},
		{"Decline", "User declined", "[DECLINED]"},
		{"Cancel", "User cancelled", "[CANCELLED]"},
	} {
		call := s.choose("Tools", researchTool)
		call.Contains("It is called as a task.")
		call.Field("topic").Paste("python")
		call.Field("ambiguous").Choose("Yes")
		call.Button("Call").Click()
		q := s.question(researchAsks)
		s.page.Region("Task").Contains("input_required")
		if c.answer == "Accept" {
			q.Field("Clarification").Choose("Python programming language")
		}
		q.Button(c.answer).Click()
		s.result(c.research)
		s.page.Region("Task").Contains("completed").Contains("kept for 5 min")

		s.call(asyncTool)
		q = s.question(asyncAsks)
		q.Contains("The server asked this as a task")
		if c.answer == "Accept" {
			q.Field("Your Name").Type("Ada")
		}
		s.page.Region("Task").Contains("is a task that the server asks about: input_required")
		q.Button(c.answer).Click()
		s.result(c.async)
	}
	s.choose("Tools", researchTool).Field("topic").Paste("python")
	s.page.Region("Call").Field("ambiguous").Choose("Yes")
	s.page.Region("Call").Button("Call").Click()
	s.question(researchAsks)
	log := s.page.Region("Wire log")
	grid, fold := log.Role("grid", "Frames"), log.Button("Fold polls")
	grid.Matches("one row counts the polls", regexp.MustCompile(`tasks/get ?×\d`).MatchString)
	s.page.Region("Call").Button("Stop").Click()
	s.page.Region("Task").Contains("cancelled")
	rows := func() (n int) {
		n, _ = strconv.Atoi(grid.Attr("aria-rowcount")) // 0 does not do below
		return n
	}
	s.page.Until(func() string { return "polls are folded" }, func() bool { return rows() > 0 && rows() < len(s.Wire()) })
	fold.HasAttr("aria-pressed", "true").Click()
	s.page.Until(func() string { return "every frame has a row" }, func() bool { return rows() == len(s.Wire()) })
	fold.Click()
	log.Field("Filter").Paste("method:tasks/get")
	s.page.Until(func() string { return "the filter finds every poll" }, func() bool {
		return rows() > len(s.Wire().Requests("c2s", "tasks/get"))+len(s.Wire().Requests("s2c", "tasks/get")) // with the responses
	})
}

// A call that is a task on a server of the TypeScript SDK over HTTP ends on the page with the
// answer that a person gave.
func TestTasksOfTheSDKExample(t *testing.T) {
	t.Parallel()
	s := open(t, servers.SDKExample(t, "simpleTaskInteractive"))
	for _, c := range []struct{ answer, want string }{{"Accept", "Deleted 'x.txt'"}, {"Decline", "Deletion cancelled"}, {"Cancel", "Deletion cancelled"}} {
		call := s.choose("Tools", "confirm_delete")
		call.Field("filename").Paste("x.txt")
		call.Button("Call").Click()
		q := s.question("Are you sure you want to delete 'x.txt'?")
		if c.answer == "Accept" {
			q.Field("confirm").Choose("Yes")
		}
		q.Button(c.answer).Click()
		s.result(c.want)
		s.page.Region("Task").Contains("completed")
	}
}

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
