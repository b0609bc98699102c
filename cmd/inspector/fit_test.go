package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/fit"
)

// TestFit runs fit on questions of a file, of a recording and of a server, and checks formats and exit codes.
func TestFit(t *testing.T) {
	t.Parallel()
	question := write(t, "question.json", `{"message":"Deploy?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}}`)
	mine := write(t, "mine.yaml", "client: mine\nname: Mine\nversion: '1'\nsurface: page\nsources: {a: {how: measured, path: x, date: '2026-11-28'}}\nfacts: [{of: ['*'], from: [a], untouched: omit, default: sent}]\n")
	flow := filepath.Join(t.TempDir(), "flow.jsonl")
	answers := write(t, "answers.yaml", "default: {accept: valid}\n")
	if r := inspectorRun(t, "call", "deploy", "--answers", answers, "--record", flow, "--quiet"); r.code != exitOK {
		t.Fatalf("%d: %s", r.code, r.err)
	}
	for _, c := range []struct {
		args []string
		code int
		has  []string
	}{
		{[]string{question, "--clients", "codex"}, exitOK, []string{`codex: guard passes unseen; the first Accept sends {"action":"accept","content":{"confirm":true}}`, "Give \"confirm\" the default false.", "[guard-untouched, read]", "1 question and 1 client"}},
		{[]string{question, "--clients", "codex", "--fail-on", "guard"}, exitFindings, nil},
		{[]string{question, "--clients", "goose-cli", "--fail-on", "guard"}, exitOK, nil},
		{[]string{question, "--clients", "goose", "--fail-on", "degraded"}, exitFindings, []string{"goose-cli", "goose-desktop"}},
		{[]string{question, "--client", mine}, exitOK, []string{`mine: guard passes unseen; the first Accept sends {"action":"accept","content":{}}`}},
		{[]string{question, "--format", "markdown"}, exitOK, []string{"| question |", "vscode-chat", "closed"}},
		{[]string{question, "--clients", "codex,gemini-cli", "--format", "junit"}, exitOK, []string{`tests="2" failures="1"`, "<skipped"}},
		{[]string{question, "--clients", "codex", "--format", "sarif"}, exitOK, []string{`"ruleId": "guard-untouched"`, `"level": "error"`}},
		{[]string{flow, "--clients", "mcpjam"}, exitOK, []string{"deploy: ", "flow.jsonl:", "mcpjam: fine"}},
		{[]string{"--clients", "mcpjam", "--read-only"}, exitOK, []string{"not called: tool deploy"}},
		{[]string{question, "--clients", "gemini-cli", "--format", "markdown"}, exitOK, []string{"read 2026-08-21: google-gemini/gemini-cli"}},
		{[]string{question, "--clients", "kodex"}, exitUsage, []string{`did you mean "codex"`}},
		{[]string{question, "--fail-on", "fine"}, exitUsage, nil},
		{[]string{question, "--format", "html"}, exitUsage, nil},
		{[]string{question, "--client", question}, exitUsage, []string{"inspector schema client"}},
		{[]string{"--args", "{}"}, exitUsage, []string{"--args needs the name of a TOOL"}},
		{[]string{"none.jsonl"}, exitError, nil},
	} {
		r := inspectorRun(t, append([]string{"fit"}, c.args...)...)
		if r.code != c.code {
			t.Errorf("%q ends with %d: %s", c.args, r.code, r.err)
		}
		for _, part := range c.has {
			if !strings.Contains(r.out+r.err, part) {
				t.Errorf("%q does not say %q:\n%s%s", c.args, part, r.out, r.err)
			}
		}
	}
	for _, c := range []struct {
		args []string
		code int
		has  []string
	}{
		{[]string{"delete_files", "--args", `{"folder":"Cats"}`, "--allow-destructive", "*", "--clients", "mcpjam"}, exitOK, []string{"delete_files: ", "Cats", "2 questions and 1 client"}},
		{[]string{"deplo", "--clients", "mcpjam"}, exitUsage, []string{`did you mean "deploy"`}},
	} {
		r := inspectorRun(t, slices.Concat([]string{"fit"}, c.args, over(t)["stdio"])...)
		if r.code != c.code {
			t.Errorf("%q ends with %d: %s", c.args, r.code, r.err)
		}
		for _, part := range c.has {
			if !strings.Contains(r.out+r.err, part) {
				t.Errorf("%q does not say %q:\n%s%s", c.args, part, r.out, r.err)
			}
		}
	}
	output := filepath.Join(t.TempDir(), "fit.json")
	if r := inspectorRun(t, "fit", question, "--output", output); r.code != exitOK {
		t.Fatalf("%d: %s", r.code, r.err)
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var r fit.Report
	if err := json.Unmarshal(text, &r); err != nil || len(r.Questions) != 1 || len(r.Questions[0].Fits) != len(fit.All()) {
		t.Errorf("%v: %s", err, text)
	}
	for _, f := range r.Questions[0].Fits {
		for _, reason := range f.Reasons {
			if reason.Text == "" || reason.Advice == "" {
				t.Errorf("%s: %+v", f.Client, reason)
			}
		}
	}
}

// TestFitRedacts checks that a value that is left out of transcripts is left out of what fit prints.
func TestFitRedacts(t *testing.T) {
	t.Parallel()
	question := write(t, "question.json", `{"message":"Send hunter22 on?","requestedSchema":{"type":"object","properties":{"pin":{"type":"string","default":"hunter22"}}}}`)
	for _, format := range []string{"text", "json", "markdown", "junit", "sarif"} {
		r := inspectorRun(t, "fit", question, "--redact-value", "hunter22", "--format", format)
		if r.code != exitOK || strings.Contains(r.out, "hunter22") {
			t.Errorf("%s: %d: %s", format, r.code, r.out)
		}
	}
}

// TestDocumentedProfile reads the profile of the documentation.
func TestDocumentedProfile(t *testing.T) {
	for _, text := range examples(t, "clients.md", "json") {
		if _, err := fit.Parse("profile", []byte(text)); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
