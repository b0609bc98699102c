package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asBooking is the environment variable that makes the test binary a server that books tickets: its
// value is the number of the ticket, and what this build does in another way.
const asBooking = "INSPECTOR_TEST_BOOKING"

func beBooking(how string) {
	ticket, build, _ := strings.Cut(how, " ")
	s := mcp.NewServer(&mcp.Implementation{Name: "booking", Version: "1"}, nil)
	ask := func(ctx context.Context, r *mcp.CallToolRequest, message, schema string) (*mcp.ElicitResult, error) {
		return r.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
	}
	said := func(format string, args ...any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "book"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		message, field := "How many seats?", "seats"
		switch build {
		case "reworded":
			message, field = "For how many people?", "seats"
		case "renamed":
			field = "places"
		case "narrow":
			if _, err := ask(ctx, r, message, `{"type":"object","properties":{"seats":{"type":"integer","maximum":1}}}`); err != nil {
				return nil, nil, err
			}
			return said("Booked, ticket %s.", ticket)
		case "unasked":
			return said("Booked, ticket %s.", ticket)
		}
		if _, err := ask(ctx, r, message, fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"integer","title":"Seats"}}}`, field)); err != nil {
			return nil, nil, err
		}
		if build == "more" {
			if _, err := ask(ctx, r, "A window?", `{"type":"object","properties":{"window":{"type":"boolean"}}}`); err != nil {
				return nil, nil, err
			}
		}
		return said("Booked, ticket %s.", ticket)
	})
	mcp.AddTool(s, &mcp.Tool{Name: "cancel"}, func(ctx context.Context, r *mcp.CallToolRequest, in struct {
		Ticket string `json:"ticket"`
	},
	) (*mcp.CallToolResult, any, error) {
		if in.Ticket != ticket {
			return said("There is no ticket %s.", in.Ticket)
		}
		answer, err := ask(ctx, r, fmt.Sprintf("Cancel ticket %s?", ticket), `{"type":"object","properties":{"sure":{"type":"string"}}}`)
		if err != nil {
			return nil, nil, err
		}
		return said("%s: %v", answer.Action, answer.Content["sure"])
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // ends with its input
}

// TestReplay records two calls, of which the second repeats a value that the first one made, and makes
// them again on other builds of the server.
func TestReplay(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	scenario := write(t, "s.yaml", fmt.Sprintf(`target: {command: [env, %[2]s=T-17, %[1]q]}
protocol: 2025-11-25
calls:
- {tool: book, answers: [{answer: {accept: {seats: 2}}}]}
- {tool: cancel, arguments: {ticket: T-17}, answers: [{answer: {accept: {sure: yes to T-17}}}]}
`, self, asBooking))
	if got := inspectorRun(t, "run", scenario, "--record", dir); got.code != exitOK {
		t.Fatalf("recording: %d\n%s%s", got.code, got.out, got.err)
	}
	recorded := filepath.Join(dir, "s-2025-11-25.jsonl")
	on := func(how string) []string { return []string{"--env", asBooking + "=" + how, "--", self} }
	for _, c := range []struct {
		name string
		args []string
		code int
		out  string // what standard output begins with
		err  []string
	}{
		{"the same", on("T-17"), exitOK, "no differences; 2 calls compared", nil},
		{"another ticket", on("T-4711"), exitOK, "no differences; 2 calls compared", []string{`"T-17" was sent as "T-4711"`, `"yes to T-17" was sent as "yes to T-4711"`}},
		{"reworded", on("T-17 reworded"), exitFindings, `contract: tool book, "How many seats?": the message`, []string{`the question "For how many people?" is answered as "How many seats?" was, which it is like by its fields`}},
		{"renamed", on("T-17 renamed"), exitFindings, `contract: tool book, "How many seats?": the field "seats" is called "places" now`, []string{`has its "seats" as "places", as the field is called now`}},
		{"not asked", on("T-17 unasked"), exitFindings, `consent: tool book, "How many seats?": the question is gone`, nil},
		{"one question more", on("T-17 more"), exitUnanswered, `contract: tool book, "A window?": this question is new`, []string{"the recording has no question that means the same; all of its questions were asked already"}},
		{"one question more, declined", append([]string{"--unknown", "decline"}, on("T-17 more")...), exitFindings, `contract: tool book, "A window?": this question is new`, []string{`the question "A window?" got decline`}},
		{"the answer is not allowed", on("T-17 narrow"), exitUnanswered, "contract: ", []string{"its schema does not allow the recorded answer", "seats"}},
		{"as recorded", []string{"--recorded-target"}, exitOK, "no differences", nil},
		{"no target", nil, exitUsage, "", []string{"or --recorded-target, which is: env " + asBooking + "=T-17 " + self}},
		{"no such command", []string{"--", "no-such-command-at-all"}, exitConnect, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := inspectorRun(t, append([]string{"replay", recorded}, c.args...)...)
			if got.code != c.code || !strings.HasPrefix(got.out, c.out) {
				t.Errorf("it ends with %d, want %d and %q:\n%s%s", got.code, c.code, c.out, got.out, got.err)
			}
			for _, want := range c.err {
				if !strings.Contains(got.err, want) {
					t.Errorf("it does not say %q:\n%s", want, got.err)
				}
			}
		})
	}
}

// TestReplayAccepts puts a new session in the place of the recording.
func TestReplayAccepts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	answers := write(t, "a.yaml", "default: {accept: valid}\n")
	if got := inspectorRun(t, "call", "onboard", "--args", "{}", "--answers", answers, "--record", path); got.code != exitOK {
		t.Fatalf("recording: %s", got.err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := inspectorRun(t, "replay", path, "--accept"); got.code != exitOK || got.out != "no differences; 1 call compared\n" {
		t.Fatalf("%d: %s%s", got.code, got.out, got.err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(before) == string(after) {
		t.Errorf("the recording is as it was, or gone: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// TestReplaySeveral replays two recordings and a file that is none, each in a session of its own. The
// first has more in one call than a scenario may have, which does not cost it its revision.
func TestReplaySeveral(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	record := func(name, arguments string) string {
		path := filepath.Join(dir, name)
		answers := write(t, "a.yaml", "default: {accept: {seats: 2}}\n")
		for _, args := range []string{arguments, "{}"} {
			if got := inspectorRun(t, "call", "book", "--protocol", "2025-11-25", "--args", args, "--answers", answers, "--record", path, "--env", asBooking+"=T-17", "--", self); got.code == exitUsage {
				t.Fatalf("recording: %s", got.err)
			}
		}
		return path
	}
	large, small := record("large.jsonl", `{"pad":[`+strings.Repeat("1,", 60_000)+`1]}`), record("small.jsonl", "{}")
	on := func(how string) []string { return []string{"--env", asBooking + "=" + how, "--", self} }

	records, reports := filepath.Join(dir, "new"), filepath.Join(dir, "reports")
	got := inspectorRun(t, append([]string{"replay", large, small, "--record", records, "--format", "junit", "--output", reports}, on("T-17")...)...)
	if got.code != exitOK || !strings.Contains(got.err, "2 recordings:") || strings.Count(got.err, ": no differences; 2 calls compared") != 2 {
		t.Errorf("it ends with %d:\n%s%.4000s", got.code, got.out, got.err)
	}
	for _, path := range []string{filepath.Join(records, "large.jsonl"), filepath.Join(records, "small.jsonl"), filepath.Join(reports, "large.xml"), filepath.Join(reports, "small.xml")} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Error(err)
		}
	}
	none := write(t, "none.jsonl", "no transcript\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		err  string
	}{
		{"another build", append([]string{small, small}, on("T-17 unasked")...), exitFindings, "small.jsonl: 2 differences: 2 of consent; 2 calls compared"},
		{"one cannot be read", append([]string{none, small}, on("T-17")...), exitError, "small.jsonl: no differences; 2 calls compared"},
		{"no server", []string{small, none, "--", "no-such-command-at-all"}, exitError, "small.jsonl: exit code 3"},
		{"two of one name", append([]string{small, small, "--record", filepath.Join(dir, "twice")}, on("T-17")...), exitUsage, "two recordings are called small.jsonl"},
		{"reports that cannot follow each other", append([]string{small, small, "--format", "sarif"}, on("T-17")...), exitUsage, "a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := inspectorRun(t, append([]string{"replay"}, c.args...)...); got.code != c.code || !strings.Contains(got.err, c.err) {
				t.Errorf("it ends with %d, want %d and %q:\n%s%s", got.code, c.code, c.err, got.out, got.err)
			}
		})
	}
}

// TestMock replays a recording against the built binary that is a mock of it, over stdio and HTTP, and has it tell at
// its end of what it does not have.
func TestMock(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	answers := write(t, "a.yaml", "default: {accept: valid}\n")
	if got := inspectorRun(t, "call", "onboard", "--args", "{}", "--answers", answers, "--record", path); got.code != exitOK {
		t.Fatalf("recording: %s", got.err)
	}
	stdio := []string{"--env", asInspector + "=1", "--", self, "mock", path, "--fail-unmatched"}
	ctx, cancel := context.WithCancel(t.Context())
	served := exec.CommandContext(ctx, self, "mock", path, "--http", "127.0.0.1:0", "--fail-unmatched")
	served.Env = append(os.Environ(), asInspector+"=1")
	served.Cancel = func() error { return served.Process.Signal(os.Interrupt) }
	var told strings.Builder
	served.Stderr = &told
	out, err := served.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := served.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanf(out, "Mock ready: %s\n", &address); err != nil {
		t.Fatal(err)
	}
	for _, target := range [][]string{stdio, {address}} {
		if got := inspectorRun(t, append([]string{"replay", path}, target...)...); got.code != exitOK || got.out != "no differences; 1 call compared\n" {
			t.Errorf("%v: %d: %s%s", target, got.code, got.out, got.err)
		}
		got := inspectorRun(t, append([]string{"call", "onboard", "--args", `{"team":"other"}`, "--answers", answers}, target...)...)
		if got.code != exitError || !strings.Contains(got.out, "the nearest recorded call is call 1 of "+path+`, in whose arguments /team was absent, and is "other".`) {
			t.Errorf("%v: %d: %s%s", target, got.code, got.out, got.err)
		}
	}
	cancel()
	_ = served.Wait() // the exit code is checked
	if code := served.ProcessState.ExitCode(); code != exitUnmet || strings.Count(told.String(), "in no recording: tools/call onboard: ") != 1 {
		t.Errorf("it ended with %d: %s", code, told.String())
	}
	for text, want := range map[string]string{
		`{"log":{"version":"1.2","entries":[]}}`: "there is no frame in it",
		"not a transcript":                       "bad.jsonl",
		"":                                       "there is no call and no list",
	} {
		bad := write(t, "bad.jsonl", text)
		if got := inspectorRun(t, "mock", bad); got.code != exitError || !strings.Contains(got.err, want) {
			t.Errorf("%q: %d: %s", text, got.code, got.err)
		}
	}
}
