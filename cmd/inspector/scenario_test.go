// The race detector makes these tests several times slower. Other tests run the same code
// concurrently.

//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// older starts a server that speaks 2025-11-25 whatever it is asked for, and whose one tool
// wants the header X-Key: abc.
func older(t *testing.T) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := `"error":{"code":-32601,"message":"Method not found"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"older","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			answer = fmt.Sprintf(`"result":{"content":[{"type":"text","text":"Hello."}],"isError":%t}`, r.Header.Get("X-Key") != "abc")
		}
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// changing starts a server of 2026-07-28 whose one tool asks what questions returns, one
// requestedSchema after the other with its message, and then succeeds whatever the answers are.
func changing(t *testing.T, questions func() [][2]string) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				InputResponses json.RawMessage
				RequestState   string
			}
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := `"error":{"code":-32601,"message":"Method not found"}`
		switch m.Method {
		case "server/discover":
			answer = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"changing","version":"1"},"ttlMs":0,"cacheScope":"private"}`
		case "tools/list":
			answer = `"result":{"resultType":"complete","tools":[{"name":"book","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		case "tools/call":
			asked, list := len(m.Params.RequestState), questions()
			if asked < len(list) {
				answer = fmt.Sprintf(`"result":{"resultType":"input_required","requestState":%q,"inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":%q,"requestedSchema":%s}}}}`,
					strings.Repeat("x", asked+1), list[asked][0], list[asked][1])
			} else {
				answer = `"result":{"resultType":"complete","content":[{"type":"text","text":"Booked."}]}`
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// TestScenarioIsAContract checks that a scenario which is written from a transcript fails when a
// question of its server changes, although the result stays as it was, and says in the first line
// of JUnit which rule it was, and what differs.
func TestScenarioIsAContract(t *testing.T) {
	t.Parallel()
	where := [2]string{"Where?", `{"type":"object","properties":{"city":{"type":"string","enum":["Rome","Lisbon"]},"why":{"type":"string"}},"required":["city"]}`}
	when := [2]string{"When?", `{"type":"object","properties":{"day":{"type":"string","default":"Monday"}}}`}
	now := [][2]string{where, when}
	changed := func(old, text string) [][2]string {
		return [][2]string{{where[0], strings.Replace(where[1], old, text, 1)}, when}
	}
	address := changing(t, func() [][2]string { return now })
	dir := t.TempDir()
	flow, strict, loose := filepath.Join(dir, "flow.jsonl"), filepath.Join(dir, "strict.yaml"), filepath.Join(dir, "loose.yaml")
	if got := inspectorRun(t, "call", "book", "--answers", write(t, "a.yaml", "default: {accept: valid}"), "--record", flow, address); got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	for file, flags := range map[string][]string{strict: nil, loose: {"--loose"}} {
		if got := inspectorRun(t, append([]string{"answers", "--scenario", "--output", file, flow}, flags...)...); got.code != 0 {
			t.Fatalf("exit code %d\n%s", got.code, got.err)
		}
	}
	cases := []struct {
		name      string
		questions [][2]string
		code, lax int
		message   string // in the message of JUnit's failure
	}{
		{"as recorded", now, 0, 0, ""},
		{"a question is gone", [][2]string{when}, exitUnmet, 0, "line 8: the rule was to answer 1 question, and answered 0"},
		{"all questions are gone", nil, exitUnmet, 0, "line 8: the rule was to answer 1 question, and answered 0"},
		{"a question is asked twice", [][2]string{where, where, when}, exitUnanswered, exitUnanswered, "no rule matches it; line 8 has answered 1 question, as its times say"},
		{"a new question", [][2]string{where, {"Why?", "{}"}, when}, exitUnanswered, exitUnanswered, "it has Why?"},
		{"a field is renamed", changed(`"why"`, `"reason"`), exitUnanswered, exitUnanswered, "line 8 wants the fields why; the form has city, reason"},
		{"a field is added", changed(`"why"`, `"pin":{"type":"string"},"why"`), exitUnmet, 0, `line 8: question "Where?": fields: there is pin, which is not expected`},
		{"other choices", changed(`"Rome","Lisbon"`, `"Rome","Lisbon","Oslo"`), exitUnmet, 0, `line 8: question "Where?": fields.city.choices (3 elements, not 2)`},
		{"the choices have another spelling", changed(`"enum":["Rome","Lisbon"]`, `"oneOf":[{"const":"Rome","title":"R"},{"const":"Lisbon","title":"L"}]`), 0, 0, ""},
		{"no choices", changed(`,"enum":["Rome","Lisbon"]`, ``), exitUnmet, 0, `line 8: question "Where?": fields.city.choices`},
		{"newly required", changed(`["city"]`, `["city","why"]`), exitUnmet, 0, `line 8: question "Where?": fields.why.required`},
		{"another type", changed(`"why":{"type":"string"}`, `"why":{"type":"boolean"}`), exitUnanswered, exitUnanswered, `the answer in line 14 cannot be given: the answer does not satisfy the schema`},
	}
	for _, c := range cases {
		now = c.questions
		if got := inspectorRun(t, "run", "--format", "junit", strict); got.code != c.code || !strings.Contains(firstFailure(got.out), c.message) {
			t.Errorf("%s: exit code %d, want %d and %s\n%s%s", c.name, got.code, c.code, c.message, got.out, got.err)
		}
		if got := inspectorRun(t, "run", loose); got.code != c.lax {
			t.Errorf("%s: exit code %d of the loose one, want %d\n%s%s", c.name, got.code, c.lax, got.out, got.err)
		}
	}
	now = [][2]string{where, when}
	text, err := os.ReadFile(strict)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.NewReplacer("withFields", "fields", "allFields", "fields").Replace(string(text))
	if got := inspectorRun(t, "run", write(t, "old.yaml", old)); got.code != 0 || strings.Count(got.err, "is called") != 1 || !strings.Contains(got.err, "match.fields is called match.withFields now") {
		t.Errorf("former names: exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// firstFailure returns the message of the first failure in a report in JUnit's format.
func firstFailure(text string) string {
	_, after, _ := strings.Cut(text, `<failure message="`)
	message, _, _ := strings.Cut(after, `"`)
	return html.UnescapeString(message)
}

// TestNamedRevision checks that no command takes another revision than the one that is
// named, by a flag or a file.
func TestNamedRevision(t *testing.T) {
	t.Parallel()
	address := older(t)
	config := write(t, "mcp.json", fmt.Sprintf(`{"mcpServers":{"older":{"url":%q,"protocol":"2026-07-28"}}}`, address))
	file := write(t, "s.yaml", fmt.Sprintf("target: {url: %q, headers: {X-Key: abc}}\nprotocol: 2026-07-28\ncalls: [{tool: greet}]\n", address))
	for _, args := range [][]string{
		{"call", "greet", "--protocol", "2026-07-28", address}, {"call", "greet", "--config", config},
		{"list", "--protocol", "2026-07-28", address},
		{"run", file}, {"run", file, "--protocol", "2025-06-18"},
	} {
		if got := inspectorRun(t, args...); got.code != exitConnect || !strings.Contains(got.out+got.err, "it speaks 2025-11-25") {
			t.Errorf("%q: exit code %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
	for _, revision := range []string{"2025-11-25", "auto"} {
		if got := inspectorRun(t, "run", file, "--protocol", revision); got.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", revision, got.code, got.out, got.err)
		}
	}
}

// TestRunFlags checks that run takes the flags that reach a server, before what its files
// say.
func TestRunFlags(t *testing.T) {
	t.Parallel()
	address := older(t)
	there := write(t, "there.yaml", fmt.Sprintf("target: {url: %q, headers: {x-key: wrong}}\ncalls: [{tool: greet}]\n", address))
	nowhere := write(t, "nowhere.yaml", "calls: [{tool: greet}]\n")
	demo := write(t, "demo.yaml", "target: demo\ncalls: [{tool: greet}]\n")
	config := write(t, "mcp.json", fmt.Sprintf(`{"mcpServers":{"older":{"url":%q,"headers":{"X-Key":"abc"}},"other":{"command":"x"}}}`, address))
	cases := []struct {
		args []string
		code int
		want string
	}{
		{[]string{there}, exitError, "the tool says that it failed"},
		{[]string{there, "--header", "X-Key: abc"}, 0, "1 of 1"},
		{[]string{demo, nowhere, "--header", "X-Key: abc", address}, 0, "2 of 2"},
		{[]string{nowhere, "--config", config, "--server", "older"}, 0, "1 of 1"},
		{[]string{nowhere, "--config", config}, exitUsage, "name one with --server"},
		{[]string{nowhere}, exitUsage, "nowhere.yaml: it has no target"},
		{[]string{there, "--env", "A=b"}, exitUsage, "there.yaml: --env and --cwd need a command"},
		{[]string{there, "--transport", "sse"}, exitConnect, "over SSE"},
		{[]string{there, "--protocol", "2024-01-01"}, exitUsage, "unknown protocol revision"},
		{[]string{there, "--", address}, exitUsage, "is a URL: write it without --, which begins a command"},
	}
	for _, c := range cases {
		if got := inspectorRun(t, append([]string{"run"}, c.args...)...); got.code != c.code || !strings.Contains(got.out+got.err, c.want) {
			t.Errorf("%q: exit code %d, want %d\n%s%s", c.args, got.code, c.code, got.out, got.err)
		}
	}
	for _, args := range [][]string{{"--", address}, {"call", "greet", "--", address}, {"list", "--", address, "x"}, {"check", "--", address}} {
		if got := inspectorRun(t, args...); got.code != exitUsage || !strings.Contains(got.err, "write it without --") {
			t.Errorf("%q: exit code %d\n%s", args, got.code, got.err)
		}
	}
}

// TestScenarioOfTranscript checks that a scenario written from a transcript runs as it is
// written, over each way to reach a server.
func TestScenarioOfTranscript(t *testing.T) {
	t.Setenv("X_KEY", "abc")
	way := over(t)
	way["HTTP with a header"] = []string{"--header", "X-Key: abc", older(t)}
	for name, target := range way {
		dir := t.TempDir()
		flow, file := filepath.Join(dir, "flow.jsonl"), filepath.Join(dir, "flow.yaml")
		tool := "deploy"
		if strings.Contains(name, "header") {
			tool = "greet"
		}
		answers := write(t, "a.yaml", firstAnswers["accepting"])
		call := append([]string{"call", tool, "--elicitation", "form", "--sampling", "--answers", answers, "--record", flow}, target...)
		if got := inspectorRun(t, call...); got.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", name, got.code, got.err)
		}
		if got := inspectorRun(t, "answers", "--scenario", "--output", file, flow); got.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", name, got.code, got.err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\nprotocol: ", "\nelicitation: form\nsampling: true\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		if strings.Contains(string(text), "target: demo") != (target == nil) {
			t.Errorf("%s: the target of\n%s", name, text)
		}
		if got := inspectorRun(t, "run", file); got.code != 0 || got.err != "" {
			t.Errorf("%s: exit code %d\n%s%s\n%s", name, got.code, got.out, got.err, text)
		}
	}
}

// TestScenarioWithoutTarget writes a scenario from a transcript that does not have the
// command of its server, as those of earlier versions.
func TestScenarioWithoutTarget(t *testing.T) {
	t.Parallel()
	target := over(t)["stdio"]
	flow := filepath.Join(t.TempDir(), "flow.jsonl")
	if got := inspectorRun(t, append([]string{"call", "deploy", "--answers", write(t, "a.yaml", "default: decline"), "--record", flow}, target...)...); got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	text, err := os.ReadFile(flow)
	if err != nil {
		t.Fatal(err)
	}
	old := write(t, "old.jsonl", regexp.MustCompile(`,"note":\{"kind":"process-started".*?\}`).ReplaceAllString(string(text), ""))
	written := inspectorRun(t, "answers", "--scenario", old)
	if !strings.Contains(written.out, `target: {command: [put the command here]}`) {
		t.Fatalf("exit code %d\n%s%s", written.code, written.out, written.err)
	}
	file := write(t, "s.yaml", written.out)
	if got := inspectorRun(t, "run", file); got.code != exitUsage || !strings.Contains(got.err, "s.yaml:3:20: put the command here") || got.out != "" {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got := inspectorRun(t, append([]string{"run", file}, target...)...); got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got := inspectorRun(t, "check", "--plan", write(t, "plan.yaml", "target: {command: [put the command here]}\n")); got.code != exitUsage || !strings.Contains(got.err, "put the command here") {
		t.Errorf("check: exit code %d\n%s", got.code, got.err)
	}
}

// TestAnswersLeftOut checks that what a transcript leaves out is asked for, and never sent.
func TestAnswersLeftOut(t *testing.T) {
	t.Parallel()
	flow := filepath.Join(t.TempDir(), "flow.jsonl")
	answers := write(t, "a.yaml", "answers:\n  - {match: {withFields: [environment]}, answer: {accept: {environment: staging}, rest: valid}}\ndefault: {accept: valid}\n")
	if got := inspectorRun(t, "call", "deploy", "--answers", answers, "--redact", "environment", "--record", flow); got.code != 0 {
		t.Fatalf("exit code %d\n%s", got.code, got.err)
	}
	written := inspectorRun(t, "answers", "--no-expect", flow)
	if !strings.Contains(written.out, "# The transcript leaves values out. Set ENVIRONMENT,") || !strings.Contains(written.out, `"$env": ENVIRONMENT`) {
		t.Errorf("exit code %d\n%s%s", written.code, written.out, written.err)
	}
	file := write(t, "b.yaml", written.out)
	if got := inspectorRun(t, "call", "deploy", "--answers", file); got.code != exitUsage || !strings.Contains(got.err, "the environment has no variable ENVIRONMENT") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	for _, text := range []string{
		`answers: [{answer: {accept: {a: {b: ["[REDACTED]"]}}}}]`, `answers: [{answer: {accept: {"[REDACTED]": 1}}}]`,
		`answers: [{answer: {result: {a: "x [REDACTED]"}}}]`, `answers: [{answer: {fault: any-error, data: "[REDACTED]"}}]`,
	} {
		if got := inspectorRun(t, "call", "deploy", "--answers", write(t, "c.yaml", text)); got.code != exitUsage || !strings.Contains(got.err, "put it here") {
			t.Errorf("%s: exit code %d\n%s", text, got.code, got.err)
		}
	}
	for _, text := range []string{`calls: [{tool: x, arguments: {pin: "[REDACTED]"}}]`, `calls: [{resource: "a://[REDACTED]"}]`, `{target: {url: "https://h/?key=[REDACTED]"}, calls: [{tool: x}]}`} {
		if got := inspectorRun(t, "run", write(t, "c.yaml", text)); got.code != exitUsage || !strings.Contains(got.err, "put it here") {
			t.Errorf("%s: exit code %d\n%s", text, got.code, got.err)
		}
	}
}

// TestScenarioOfSeveralServers checks that a scenario has the calls of one server.
func TestScenarioOfSeveralServers(t *testing.T) {
	t.Parallel()
	address := older(t)
	flow := filepath.Join(t.TempDir(), "flow.jsonl")
	for _, name := range []string{"one", "two"} {
		inspectorRun(t, "call", "greet", "--name", name, "--record", flow, address)
	}
	if got := inspectorRun(t, "answers", "--scenario", flow); got.code != exitUsage || !strings.Contains(got.err, "one and two: choose with --server") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
	if got := inspectorRun(t, "answers", "--scenario", "--server", "two", flow); got.code != 0 || strings.Count(got.out, "tool: greet") != 1 {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}

// TestIdleRules checks that rules which answer nothing are told, and that those which are
// to answer nothing, or answer in another call, are not.
func TestIdleRules(t *testing.T) {
	t.Parallel()
	const rules = `answers:
  - {match: {tool: deplyo}, answer: accept}
  - {match: {tool: other}, answer: accept, expect: {asked: 0}}
  - {match: {tool: deploy}, answer: decline}
  - {match: {prompt: "*"}, answer: decline}
`
	answers := write(t, "a.yaml", "\ufeff"+rules)
	arguments := write(t, "args.json", "\ufeff{}")
	if got := inspectorRun(t, "call", "deploy", "--quiet", "--args", "@"+arguments, "--answers", answers); got.code != 0 || strings.Count(got.err, "answered no question") != 2 ||
		!strings.Contains(got.err, "a.yaml:2: this rule answered no question\n") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	file := write(t, "s.yaml", "target: demo\ncalls:\n  - tool: deploy\n    answers: [{match: {tool: x}, answer: accept}]\n  - {prompt: release_notes, arguments: {version: 1.4.0}}\n"+rules)
	got := inspectorRun(t, "run", "--format", "json", file)
	if got.code != exitRPC || strings.Count(got.err, "answered no question") != 2 || strings.Count(got.out, "answered no question") != 2 ||
		!strings.Contains(got.err, "s.yaml:4: this") || !strings.Contains(got.err, "s.yaml:7: this") {
		t.Errorf("exit code %d\n%s%s", got.code, got.out, got.err)
	}
}
