package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/sarif"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

type lintOptions struct {
	format string
	failOn string
	redact redactOptions
}

var lintFormats = export.Formats[[]lintFinding]{
	{Name: "text", Write: writeLintText},
	{Name: "json", Write: func(w io.Writer, list []lintFinding) error { return report.WriteIndented(w, list) }},
	{Name: "sarif", Write: writeSARIF},
}

func newLint() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint FILE... [--format FORMAT] [--fail-on SEVERITY]",
		Short: "Print where servers and clients break the protocol in transcripts",
		Long: `Lint prints what the linter finds in transcripts, and in whatever else open
reads: which rule of the specification is broken, where, and how binding the rule
is. The findings are those that the page shows, live and opened. Each file is
judged by itself. Each finding says whom it judges, the server or the client. What
the inspector did wrong on purpose, as a client, is left out: answers and messages
that a misbehaviour made, and contents that it sent although the form was invalid.

A finding breaks a MUST of the specification (or the protocol's own schema) or a
SHOULD, or it is advice: no rule is broken, but people or clients will stumble.

Formats are text (file:line: severity: what is wrong [rule]), json (an array of
objects with file, line, server, session, frame, call, question, rule, judges,
severity, text, pointer, section, reference and link) and sarif (SARIF 2.1.0, for code
scanning). The severities MUST, SHOULD and advice are "violation", "should" and
"advice" in json, and error, warning and note in sarif.

Exit codes: 0 when nothing is found at or above --fail-on, 8 when something is,
1 when a file cannot be read or has no message of a server, so that there is nothing to
judge, 2 for a command line that cannot be understood.
Damaged lines are reported on standard error and left out.`,
		Example: `  inspector lint flow.jsonl
  inspector lint --fail-on should monday.jsonl tuesday.jsonl
  inspector lint --format sarif flow.jsonl > flow.sarif`,
		Args: someFiles,
		RunE: o.lint,
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT` to print: "+lintFormats.Names())
	o.redact.register(f, "of what is printed")
	f.StringVar(&o.failOn, "fail-on", "must", "exit with 8 for findings of this `SEVERITY` or a graver one: must, should, advice, or never")
	return cmd
}

// lintFinding is a finding in the output.
type lintFinding struct {
	File    string `json:"file"`
	Line    int64  `json:"line,omitempty"` // 0 if the frames are not on lines of the file
	Server  string `json:"server"`
	Session string `json:"session"`
	lint.Finding
	Frame    int64 `json:"frame"`
	Call     int   `json:"call"`
	Question int   `json:"question"`
}

func (o *lintOptions) lint(cmd *cobra.Command, files []string) error {
	format, err := lintFormats.Named(o.format)
	if err != nil {
		return usage("--format %w", err)
	}
	failOn, err := severity(o.failOn)
	if err != nil {
		return err
	}
	all := []lintFinding{}
	var empty []string
	for _, name := range files {
		list, some, err := lintFile(cmd, name, o.redact)
		if err != nil {
			return err
		}
		if all = append(all, list...); !some {
			empty = append(empty, name)
		}
	}
	if o.format != "text" || len(all) > 0 || len(empty) < len(files) { // "no findings" would say that something was judged
		if err := format.Write(cmd.OutOrStdout(), all); err != nil {
			return fmt.Errorf("printing the findings: %w", err)
		}
	}
	for _, f := range all {
		if failOn != nil && f.Severity <= *failOn { // the gravest severity is the lowest number
			return exitCode(exitFindings)
		}
	}
	if empty != nil {
		return fmt.Errorf("nothing to judge: no message of a server is in %s", wording.Series(empty))
	}
	return nil
}

// lintFile lints one file, and reports whether it has a message of a server.
func lintFile(cmd *cobra.Command, name string, redact redactOptions) (list []lintFinding, some bool, err error) {
	ctx := cmd.Context()
	redaction, err := redact.redaction()
	if err != nil {
		return nil, false, err
	}
	opened, err := readTranscripts(cmd, name)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	log := opened.Log
	found, gaps, err := lint.FindingsOf(ctx, log)
	if err != nil {
		return nil, false, err
	}
	if gaps != "" {
		warn(cmd, "%s: %s", name, gaps)
	}
	lines := map[int64]int64{}
	if !opened.Converted(name) {
		var seqs []int64
		for _, f := range found {
			seqs = append(seqs, f.Seq)
		}
		if lines, err = log.LineNumbers(seqs); err != nil {
			return nil, false, err
		}
	}
	if err := redaction.Learn(ctx, log); err != nil {
		return nil, false, err
	}
	for _, f := range found {
		if f.Finding, err = lint.Shared(f.Finding, f.Seq, log, redaction); err != nil {
			return nil, false, err
		}
		head := log.Head(f.Seq)
		list = append(list, lintFinding{
			File: name, Line: lines[f.Seq], Server: head.Server, Session: head.Session, Finding: f.Finding,
			Frame: f.Seq, Call: head.Call, Question: head.Question,
		})
	}
	for seq := int64(1); seq <= log.Len() && !some; seq++ {
		head := log.Head(seq)
		some = head.Dir == wire.ServerToClient && head.Kind.IsMessage()
	}
	return list, some, nil
}

func writeLintText(w io.Writer, list []lintFinding) error {
	var b strings.Builder
	counts := lint.Tally{}
	for _, f := range list {
		counts[f.Severity]++
		place := f.File
		if f.Line != 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		about := fmt.Sprintf("frame %d", f.Frame)
		if f.Pointer != "" {
			about += ", at " + wording.EscapeLine(f.Pointer)
		}
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n    %s; %s; %s\n", place, f.Severity.Word(), wording.EscapeLine(f.Text), f.Rule, about, f.Judges.Words(), f.Reference)
		if f.Link != "" {
			b.WriteString("    " + f.Link + "\n")
		}
	}
	if len(list) == 0 {
		b.WriteString("no findings\n")
	} else {
		b.WriteString(counts.Sum() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var sarifLevels = map[lint.Severity]string{lint.Violation: "error", lint.Should: "warning", lint.Advice: "note"}

// writeSARIF writes findings in the Static Analysis Results Interchange Format
// (OASIS, version 2.1.0).
func writeSARIF(w io.Writer, list []lintFinding) error {
	run := sarif.New(version())
	for _, r := range lint.Rules() {
		help := ""
		for _, revision := range mcp.Revisions { // the latest revision that has the rule
			if help = r.Sources[revision].Link(revision); help != "" {
				break
			}
		}
		run.AddRule(r.ID, r.Breaks, help)
	}
	for _, f := range list {
		location := sarif.Location{Physical: sarif.At(sarif.FileURI(f.File), int(f.Line))}
		if f.Pointer != "" {
			location.Logical = []sarif.Logical{{Name: f.Pointer}}
		}
		run.Results = append(run.Results, sarif.Result{
			RuleID: f.Rule, Level: sarifLevels[f.Severity], Message: sarif.Text{Text: f.Text}, Locations: []sarif.Location{location},
			Properties: map[string]any{
				"reference": f.Reference, "link": f.Link, "judges": f.Judges, "server": f.Server, "session": f.Session, "frame": f.Frame, "call": f.Call, "question": f.Question,
			},
		})
	}
	return report.WriteIndented(w, run.File())
}
