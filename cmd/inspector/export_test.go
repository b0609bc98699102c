package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// flow is a short transcript with two damaged lines.
const flow = `{"v":1,"session_id":"files-1","server_label":"files","seq":1,"ts":"2026-07-28T10:02:03Z","direction":"c2s","transport":"stdio","call":1,"raw":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"deploy","arguments":{"ref":"main","pin":"1234"}}}}
{"v":1,"session_id":"files-1",
{"v":1,"session_id":"files-1","server_label":"files","seq":2,"ts":"2026-07-28T10:02:09Z","direction":"s2c","transport":"stdio","call":1,"raw":{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"deployed"}]}}}
{"v":1,"session_id":"files-1","server_label":"files","seq":3,"ts":"2026-07-28T10:02:10Z","direction":"stderr","transport":"stdio","text":"bye"}
{"v":1`

// runExport runs the command like the program.
func runExport(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := newExport()
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func writeFlow(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExport(t *testing.T) {
	path := writeFlow(t, flow)
	cases := []struct {
		args      []string
		want, not string // required and forbidden text in the output
	}{
		{[]string{"--format", "jsonl"}, `"method":"tools/call"`, "unknown"},
		{[]string{"--format", "json"}, "[\n{", "unknown"},
		{[]string{"--format", "markdown"}, "## 1. tools/call `deploy`", "unknown"},
		{[]string{"--format", "mermaid"}, "sequenceDiagram\n", "unknown"},
		{[]string{"--format", "html"}, "<!doctype html>", "unknown"},
		{[]string{"--format", "jsonl", "--redact", "pin"}, "[REDACTED]", "1234"},
		{[]string{"--format", "html", "--redact", "$.params.arguments.pin"}, "[REDACTED]", "1234"},
		{[]string{"--format", "jsonl", "--filter", "kind:stderr"}, "bye", "deploy"},
		{[]string{"--format", "markdown", "--filter", "!kind:stderr"}, "deployed", "bye"},
	}
	for _, c := range cases {
		out, errOut, err := runExport(t, append(c.args, path)...)
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		}
		if !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("%v: the output has no %q, or has %q:\n%s", c.args, c.want, c.not, out)
		}
		if lines := strings.Split(strings.TrimSpace(errOut), "\n"); len(lines) != 2 ||
			!strings.Contains(lines[0], "flow.jsonl, line 2: ") || !strings.Contains(lines[1], "line 5: the last line is incomplete") {
			t.Errorf("%v: standard error has %q", c.args, errOut)
		}
	}
}

func TestExportToFile(t *testing.T) {
	path := writeFlow(t, flow)
	to := filepath.Join(t.TempDir(), "flow.html")
	for range 2 { // the second time overwrites the first
		if out, _, err := runExport(t, path, "-o", to); err != nil || out != "" {
			t.Fatalf("%v, %q", err, out)
		}
	}
	page, err := os.ReadFile(to)
	if err != nil || !strings.HasPrefix(string(page), "<!doctype html>") || !strings.HasSuffix(string(page), "</html>\n") {
		t.Errorf("%v, %.100s", err, page)
	}
	// A failure leaves no new file, and an existing one unchanged.
	if _, _, err := runExport(t, path, "--format", "har", "-o", to); err == nil || !strings.Contains(err.Error(), "HTTP") {
		t.Errorf("HAR of a session over stdio: %v", err)
	}
	after, err := os.ReadFile(to)
	if err != nil || !bytes.Equal(after, page) {
		t.Errorf("the file was changed: %v", err)
	}
	if list, err := os.ReadDir(filepath.Dir(to)); err != nil || len(list) != 1 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// "-" is standard output, and no file of that name.
func TestExportToStandardOutput(t *testing.T) {
	path := writeFlow(t, flow)
	t.Chdir(t.TempDir())
	out, _, err := runExport(t, path, "--format", "jsonl", "--output", "-")
	if err != nil || !strings.Contains(out, "deployed") {
		t.Errorf("%v, %q", err, out)
	}
	if list, err := os.ReadDir("."); err != nil || len(list) > 0 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

func TestExportOfNothing(t *testing.T) {
	path := writeFlow(t, strings.SplitAfter(flow, "\n")[0])
	for filter, want := range map[string]string{"zzzz": "inspector: the filter picks no frame\n", "tool:deplyo": "inspector: the filter picks no frame; did you mean tool:deploy\n", "deploy": "", "": ""} {
		if _, errOut, err := runExport(t, path, "--format", "json", "--filter", filter); err != nil || errOut != want {
			t.Errorf("%q: %v, standard error has %q, want %q", filter, err, errOut, want)
		}
	}
}

// A filter that picks one frame of a question brings the question with its answer, and nothing else.
func TestExportKeepsQuestionsWhole(t *testing.T) {
	line := func(dir, raw string) string {
		return fmt.Sprintf(`{"session_id":"s","server_label":"s","direction":%q,"transport":"stdio","ts":"2026-07-28T10:00:00Z","raw":%s}`+"\n", dir, raw)
	}
	call := func(id int, more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"deploy"%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, id, more)
	}
	log := line("s2c", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"up"}}`)
	flows := map[string]string{
		"request": log + line("c2s", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`) +
			line("s2c", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which build?","requestedSchema":{"type":"object","properties":{}}}}`) + log +
			line("c2s", `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`) + line("s2c", `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`),
		"rounds": log + line("c2s", call(1, "")) +
			line("s2c", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"a","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Which build?","requestedSchema":{"type":"object","properties":{}}}}}}}`) + log +
			line("c2s", call(2, `,"requestState":"a","inputResponses":{"q":{"action":"decline"}}`)) + line("s2c", `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`),
	}
	for name, seqs := range map[string][]string{"request": {"3", "5"}, "rounds": {"2", "3", "5", "6"}} {
		path := writeFlow(t, flows[name])
		for _, filter := range []string{"seq:3", "seq:5", "is:answer"} {
			out, _, err := runExport(t, path, "--format", "jsonl", "--filter", filter)
			if err != nil || strings.Count(out, "\n") != len(seqs) {
				t.Errorf("%s, %s: %v\n%s\nwant frames %v", name, filter, err, out, seqs)
			}
			opened, _, err := runExport(t, writeFlow(t, out), "--format", "markdown")
			if err != nil || !strings.Contains(opened, "Which build?") || !strings.Contains(opened, "decline") {
				t.Errorf("%s, %s: %v, opened it is\n%s", name, filter, err, opened)
			}
		}
		if out, _, err := runExport(t, path, "--format", "jsonl", "--filter", "seq:1"); err != nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: another frame brings %v\n%s", name, err, out)
		}
	}
}

func TestExportMistakes(t *testing.T) {
	path := writeFlow(t, flow)
	cases := []struct {
		args []string
		want string
	}{
		{nil, "needs a transcript"},
		{[]string{path}, "needs --format"},
		{[]string{path, "--output", "x.pdf"}, "needs --format"},
		{[]string{path, "--format", "pdf"}, `--format must be html, markdown, jsonl, json, har, mermaid or otlp, not "pdf"`},
		{[]string{path, "--format", "jsonl", "--filter", "kind:nothing"}, "--filter"},
		{[]string{path, "--format", "jsonl", "--redact", "$["}, "--redact"},
		{[]string{path, "--output", path}, "is the transcript that is to be read"},
	}
	for _, c := range cases {
		_, _, err := runExport(t, c.args...)
		var mistake usageError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want a mistake in the command line: %s", c.args, err, c.want)
		}
	}
	fails := []struct {
		args []string
		want string
	}{
		{[]string{filepath.Join(t.TempDir(), "none.jsonl"), "--format", "json"}, "none.jsonl"},
		{[]string{writeFlow(t, "no transcript\n"), "--format", "json"}, "not a transcript"},
		{[]string{path, "--output", filepath.Join(t.TempDir(), "no", "such.json")}, "such"},
	}
	for _, c := range fails {
		_, _, err := runExport(t, c.args...)
		var mistake usageError
		if err == nil || errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want a failure: %s", c.args, err, c.want)
		}
	}
}

// Other files that open reads can be exported too: histories of the official Inspector, and logs of
// mcpsnoop.
func TestExportOfForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"history.json": `[{"id":"a","timestamp":"2026-07-28T10:00:00.000Z","direction":"request","origin":"client",
   "message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask"}},
   "response":{"jsonrpc":"2.0","id":3,"result":{"content":[]}},"duration":2000}, 17]`,
		"snoop.jsonl": `{"session_id":"x","server_label":"files","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"http","conn_id":"c1","raw":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"x","server_label":"files","seq":2,"ts":"2026-07-28T10:00:02Z","direction":"s2c","transport":"http","conn_id":"c1","raw":{"jsonrpc":"2.0","id":3,"result":{"content":[]}}}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errOut, err := runExport(t, path, "--format", "markdown")
		if err != nil || !strings.Contains(out, "## 1. tools/call `ask`") || !strings.Contains(out, "after 2.00 s") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if told := strings.Contains(errOut, "entry 2"); told != (name == "history.json") {
			t.Errorf("%s: standard error has %q", name, errOut)
		}
	}
}

func TestExportOfFindings(t *testing.T) {
	path := writeFlow(t, `{"session_id":"a","server_label":"s","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","seq":2,"ts":"2026-07-28T10:00:01Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"array"}}}}
{"session_id":"a","server_label":"s","seq":3,"ts":"2026-07-28T10:00:02Z","direction":"s2c","transport":"stdio","text":"listening"}
`)
	for filter, want := range map[string]string{"finding:any": "23", "finding:stdout-noise": "3", "!finding:any": "1", "finding:no-such-rule": ""} {
		out, errOut, err := runExport(t, path, "--format", "jsonl", "--filter", filter)
		got := ""
		for _, seq := range []string{"1", "2", "3"} {
			if strings.Contains(out, `"seq":`+seq+",") {
				got += seq
			}
		}
		if err != nil || got != want || (errOut != "") != (want == "") {
			t.Errorf("%s picks %q, want %q (%v, %s)", filter, got, want, err, errOut)
		}
	}
}
