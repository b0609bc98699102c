package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/testdata/logtest"
)

// write writes a text to a temporary file.
func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// over returns the command lines to reach the demo server: as a process, over HTTP, and built in.
func over(t *testing.T) map[string][]string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"stdio":    {"--env", asInspector + "=1", "--", self, "demo"},
		"HTTP":     {serveDemo(t)},
		"built in": nil,
	}
}

// TestCallExitCodes runs the built binary for each exit code over each transport.
func TestCallExitCodes(t *testing.T) {
	t.Parallel()
	accept := write(t, "accept.yaml", "answers:\n  - answer: {accept: valid}\n")
	expecting := write(t, "expecting.yaml", "answers:\n  - answer: decline\n    expect: {message: Which door?}\nexpect: {result: Deployed*}\n")
	failing := write(t, "failing.yaml", "expect: {result: {isError: true}}\n")
	refused := write(t, "refused.yaml", "expect: {error: {code: -32602}}\n")
	wrong := write(t, "wrong.yaml", "answers:\n  - match: {tol: x}\n    answer: maybe\n")
	cases := []struct {
		name     string
		args     []string
		code     int
		out, err string // text that they must contain
	}{
		{"done", []string{"deploy", "--answers", accept}, 0, "is deployed in staging.\n", "→ {\"action\":\"accept\""},
		{"done, quietly", []string{"deploy", "--answers", accept, "-q"}, 0, "is deployed in staging.\n", ""},
		{"a prompt", []string{"--prompt", "release_notes", "--args", `{"version":"1.4.0"}`, "--answers", accept}, 0, "user: ", ""},
		{"a resource", []string{"--resource", "contract://lease/old-mill", "--answers", accept}, 0, "", ""},
		{"isError", []string{"deploy", "--args", `{"x":1}`}, 1, "", ""},
		{"isError, as expected", []string{"deploy", "--args", `{"x":1}`, "--answers", failing}, 0, "", ""},
		{"arguments that do not fit", []string{"deploy", "--args", `{"service":7}`}, 1, "", "the arguments do not satisfy the inputSchema of deploy: service: "},
		{"usage", []string{"deploy", "--args", "{"}, 2, "", "Run 'inspector help call' for usage."},
		{"a mistake in the answers", []string{"deploy", "--answers", wrong}, 2, "", "wrong.yaml:2:13: match has no key \"tol\"; did you mean \"tool\"?"},
		{"no such tool", []string{"depoly"}, 4, "", "error -32602"},
		{"no such tool, as expected", []string{"depoly", "--answers", refused}, 0, "", ""},
		{"unanswered", []string{"deploy"}, 5, "", "message: Which build should go out?\n  field build: choice, required"},
		{"time limit", []string{"slow_count", "--answers", accept, "--timeout", "3s"}, 6, "", "timed out after 3.00 s"},
		{"unmet", []string{"deploy", "--answers", expecting}, 7, "", "want: Which door?\n    got:  Which build should go out?"},
		{"findings", []string{"rule_breaker", "--args", `{"rule":"nested_object"}`, "--answers", accept, "--fail-on", "should"}, 8, "", ""},
		{"findings, but none so grave", []string{"deploy", "--answers", accept, "--fail-on", "violation"}, 0, "", ""},
	}
	for transport, target := range over(t) {
		for _, c := range cases {
			t.Run(c.name+" over "+transport, func(t *testing.T) {
				t.Parallel()
				got := inspectorRun(t, append(append([]string{"call"}, c.args...), target...)...)
				if got.code != c.code || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.err) {
					t.Errorf("exit code %d, want %d\n%s\n%s", got.code, c.code, got.out, got.err)
				}
				if slices.Contains([]int{exitUsage, exitRPC, exitTimeout}, c.code) && got.out != "" {
					t.Errorf("standard output has %q", got.out)
				}
			})
		}
	}
	for name, target := range map[string][]string{"no program": {"--", "/nonexistent/server"}, "it ends": {"--", "false"}, "no HTTP server": {"http://127.0.0.1:1/mcp"}} {
		t.Run("could not connect: "+name, func(t *testing.T) {
			t.Parallel()
			if got := inspectorRun(t, append([]string{"call", "deploy"}, target...)...); got.code != exitConnect || got.out != "" {
				t.Errorf("exit code %d, want %d\n%s", got.code, exitConnect, got.err)
			}
		})
	}
}

// TestCallEvents parses --output jsonl like a program.
func TestCallEvents(t *testing.T) {
	t.Parallel()
	answers := write(t, "answers.json", `{"answers": [{"answer": {"accept": "valid"}}]}`)
	got := inspectorRun(t, "call", "deploy", "--answers", answers, "--output", "jsonl")
	var kinds []string
	var last event
	for line := range strings.Lines(got.out) {
		last = event{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds = append(kinds, last.Event)
	}
	if all := strings.Join(kinds, " "); strings.Count(all, "question") != 3 || strings.Count(all, "answer") != 3 || !strings.Contains(all, "progress") {
		t.Errorf("events: %s", all)
	}
	if last.Event != "result" || last.Exit == nil || *last.Exit != 0 || !strings.Contains(string(last.Result), "is deployed") {
		t.Errorf("the last event is %+v", last)
	}
	if got.err != "" {
		t.Errorf("standard error has %s", got.err)
	}
}

// TestCallRecords records a call, with only the result on standard output.
func TestCallRecords(t *testing.T) {
	t.Parallel()
	answers := write(t, "answers.yaml", "answers:\n  - answer: {accept: valid}\n")
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	got := inspectorRun(t, "call", "deploy", "--answers", answers, "--output", "json", "--record", path)
	var result struct{ StructuredContent struct{ Outcome string } }
	if err := json.Unmarshal([]byte(got.out), &result); err != nil || result.StructuredContent.Outcome != "deployed" {
		t.Errorf("%s: %v\n%s", got.out, err, got.err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"actor":"script"`) {
		t.Errorf("the transcript has no answer of a script: %v\n%s", err, text)
	}
}

// TestOwnName looks for the name of a server on the terminal, in a transcript that is opened and in
// exports: its own, unless a person has named it.
func TestOwnName(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	url := serveDemo(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	title := "Demo server"
	for name, c := range map[string]struct {
		args        []string
		label, want string
	}{
		"a command":         {[]string{"--env", asInspector + "=1", "--", self, "demo"}, filepath.Base(self), title},
		"a URL":             {[]string{url}, host, title},
		"a named command":   {[]string{"--name", "mine", "--env", asInspector + "=1", "--", self, "demo"}, "mine", "mine"},
		"a URL with a name": {[]string{"--name", "mine", url}, "mine", "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "flow.jsonl")
			if got := inspectorRun(t, slices.Concat([]string{"call", "nothing", "--record", path}, c.args)...); !strings.Contains(got.err, c.want+" (") {
				t.Errorf("call: %s", got.err)
			}
			log := logtest.Open(t, path)
			replay := inspection.NewReplay(log, nil, nil)
			if err := replay.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := replay.Inspection().Servers()[0]; s.Label != c.label || s.DisplayName() != c.want {
				t.Errorf("opened: %q, %q", s.Label, s.DisplayName())
			}
			for format, want := range map[string]string{"markdown": "On `" + c.want + "`", "html": "<b><bdi>" + c.want + "</bdi></b>", "mermaid": " as " + c.want, "jsonl": `"server_label":"` + c.label + `"`} {
				if out, _, err := runExport(t, "--format", format, path); err != nil || !strings.Contains(out, want) {
					t.Errorf("%s: %v, no %s in\n%.3000s", format, err, want, out)
				}
			}
		})
	}
}

// serveDemo runs the demo server over HTTP, and returns its address.
func serveDemo(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "demo", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), asInspector+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(line), "ready: ")
	if err != nil || !ok {
		t.Fatalf("the demo server said %q: %v", line, err)
	}
	return address
}

// TestCallInterrupted interrupts a call whose answer is delayed, like Ctrl-C.
func TestCallInterrupted(t *testing.T) {
	t.Parallel()
	answers := write(t, "slow.yaml", "answers: [{answer: decline, delay: 1h}]")
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "call", "deploy", "--answers", answers, "--timeout", "0", "--record", path)
	cmd.Env = append(os.Environ(), asInspector+"=1")
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(said); lines.Scan() && !strings.HasPrefix(lines.Text(), "? "); {
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is checked
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"notifications/cancelled"`) {
		t.Errorf("the server was not told: %v\n%s", err, text)
	}
}
