// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Transcripts whose gravest finding breaks a MUST, a SHOULD, nothing, and without findings.
const (
	asks     = `{"session_id":"a","server_label":"files","direction":"s2c","transport":"stdio","call":1,"elicitation":1,"raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":`
	asksFine = asks + `{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}` + "\n"
	asksURL  = asks + `{"mode":"url","elicitationId":"e","message":"Sign in","url":"http://example.com/in"}}}` + "\n"
	asksNone = asks + `{"message":" ","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}` + "\n"
	asksBad  = "not a frame\n" + asksFine + asks + `{"message":"Who?","requestedSchema":{"type":"array","properties":{"name":{"type":"string"}}}}}}` + "\n"
)

func runLint(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := newLint()
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

func TestLint(t *testing.T) {
	t.Parallel()
	var mistake usageError
	for _, c := range []struct {
		text, failOn string
		want         string
		fails        bool
	}{
		{asksFine, "advice", "no findings\n", false},
		{asksBad, "must", ":3: MUST: ", true},
		{asksBad, "violation", ":3: MUST: ", true},
		{asksBad, "advice", "[root-not-object]\n    frame 2, at /params/requestedSchema", true},
		{asksBad, "never", "[root-not-object]", false},
		{asksURL, "must", ":1: SHOULD: ", false},
		{asksURL, "should", "; MCP 2025-11-25, client/elicitation, Safe URL Handling\n    https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#safe-url-handling\n", true},
		{asksNone, "should", ":1: advice: ", false},
		{asksNone, "advice", "1 finding (advice)\n", true},
	} {
		out, errOut, err := runLint(t, "--fail-on", c.failOn, writeFlow(t, c.text))
		if !strings.Contains(out, c.want) || errors.Is(err, exitCode(exitFindings)) != c.fails || !c.fails && err != nil {
			t.Errorf("--fail-on %s: %v\n%s\nwant %q in it, fails: %t", c.failOn, err, out, c.want, c.fails)
		}
		if strings.Contains(errOut, "line 1") != strings.HasPrefix(c.text, "not") {
			t.Errorf("standard error has %q", errOut)
		}
	}
	for _, args := range [][]string{{}, {"--format", "yaml", "x"}, {"--fail-on", "all", "x"}} {
		if _, _, err := runLint(t, args...); !errors.As(err, &mistake) {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none.jsonl"), writeFlow(t, "not a frame\n")} {
		if _, _, err := runLint(t, path); err == nil || errors.Is(err, exitCode(exitFindings)) || errors.As(err, &mistake) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLintJSON(t *testing.T) {
	t.Parallel()
	path, fine := writeFlow(t, asksBad), writeFlow(t, asksFine)
	out, _, err := runLint(t, "--format", "json", fine, path)
	if !errors.Is(err, exitCode(exitFindings)) {
		t.Error(err)
	}
	var list []struct {
		File, Server, Session, Rule, Severity, Text, Pointer, Section, Reference string
		Line, Frame, Call, Question                                              int
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	one := fmt.Sprint(list[0].File, list[0].Line, list[0].Frame, list[0].Call, list[0].Question, list[0].Server, list[0].Session, list[0].Rule, list[0].Severity)
	if want := fmt.Sprint(path, 3, 2, 1, 1, "files", "a", "root-not-object", "violation"); one != want {
		t.Errorf("got %s, want %s", one, want)
	}
	if out, _, err := runLint(t, "--format", "json", fine); out != "[]\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// The SARIF output is valid by the official schema.
func TestLintSARIF(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"findings": asksBad, "none": asksFine, "no line": `[{"timestamp":"2026-07-28T10:00:00Z","direction":"request","origin":"server","message":{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}}]`} {
		out, _, err := runLint(t, "--format", "sarif", writeFlow(t, text))
		if err != nil && !errors.Is(err, exitCode(exitFindings)) {
			t.Fatalf("%s: %v", name, err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for want, is := range map[string]bool{`"level": "error"`: name != "none", `"startLine": 3`: name == "findings", `"results": []`: name == "none"} {
			if strings.Contains(out, want) != is {
				t.Errorf("%s: %s is there: %t\n%s", name, want, !is, out)
			}
		}
	}
}

// The exit codes are tested with the whole program.
// TestLintOfNothing checks that a transcript without a message of a server is not green.
func TestLintOfNothing(t *testing.T) {
	t.Parallel()
	asked := writeFlow(t, strings.NewReplacer("s2c", "c2s", "elicitation/create", "tools/call").Replace(asksFine))
	out, _, err := runLint(t, "--fail-on", "never", asked)
	if err == nil || !strings.Contains(err.Error(), "nothing to judge") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err = runLint(t, "--format", "json", asked, writeFlow(t, asksFine)); err == nil || out != "[]\n" {
		t.Errorf("with another one: %v\n%s", err, out)
	}
}

func TestLintExitCode(t *testing.T) {
	t.Parallel()
	for want, args := range map[int][]string{
		0: {"lint", writeFlow(t, asksFine)},
		8: {"lint", writeFlow(t, asksBad)},
		1: {"lint", filepath.Join(t.TempDir(), "none.jsonl")},
		2: {"lint"},
	} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), asInspector+"=1")
		err = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: exit code %d, want %d; %v", args, got, want, err)
		}
	}
}
