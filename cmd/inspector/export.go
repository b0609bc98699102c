package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

type exportOptions struct {
	format  string
	output  string
	filter  string
	title   string
	redact  redactOptions
	content bool
}

func newExport() *cobra.Command {
	var o exportOptions
	var formats strings.Builder
	for _, f := range export.Documents {
		fmt.Fprintf(&formats, "  %-9s %s\n", f.Name, f.For)
	}
	cmd := &cobra.Command{
		Use:   "export FILE... [--format FORMAT] [--output FILE]",
		Short: "Write a transcript in another format",
		Long: `Export writes transcripts, and whatever else open reads, in another format:

` + formats.String() + `
For bug reports, html, markdown and json have what the linter finds, what was
noted of frames, and which answers were sent although they do not satisfy their
schema.

Secrets in HTTP headers and the values in queries of addresses are left out, and
what --redact, --redact-value and --redact-file name. Where a value that --redact
leaves out still stands elsewhere, standard error names the frames.

A filter chooses frames and keeps no secrets: of a question, all frames are written
if it picks one of them, the answer among them, and in formats for reading,
exchanges keep the tool's name.

Damaged lines are reported on standard error and left out.`,
		Example: `  inspector export flow.jsonl --format html --output flow.html
  inspector export flow.jsonl --format markdown --filter call:3
  inspector export flow.jsonl --format har --redact password --output flow.har`,
		Args: someFiles,
		RunE: o.export,
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "`FORMAT` to write: "+export.Documents.Names()+" (default: what the ending of --output says)")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&o.filter, "filter", "", "only the frames that this filter line (`EXPR`) picks, as on the page: 'call:3', 'method:elicitation/*'")
	f.StringVar(&o.title, "title", "", "`TITLE` of html and markdown (default: what was called, and how it was answered)")
	o.redact.register(f, "of what is written")
	registerOTLPContent(f, &o.content)
	return cmd
}

func (o *exportOptions) export(cmd *cobra.Command, files []string) (err error) {
	format := export.Documents.Of(o.output)
	if o.format != "" {
		if format, err = export.Documents.Named(o.format); err != nil {
			return usage("--format %w", err)
		}
	}
	if format == nil {
		return usage("export needs --format, or an --output whose name ends in %s", export.Documents.Endings())
	}
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	filter, err := query.Parse(o.filter)
	if at := new(query.Error); errors.As(err, &at) && at.Pos < at.End && at.End <= len(o.filter) {
		return usage("--filter %q, at %q: %w", o.filter, o.filter[at.Pos:at.End], err)
	} else if err != nil {
		return usage("--filter %q: %w", o.filter, err)
	}
	if err := sparesInput(o.output, files); err != nil {
		return err
	}
	opened, err := readTranscripts(cmd, files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	log := opened.Log
	x := export.Document{Log: log, Redact: redaction, Title: o.title, Version: version(), Content: o.content}
	if o.filter != "" {
		if x.Seqs, err = picked(cmd, log, o.filter, filter); err != nil {
			return err
		}
	}
	err = writeTo(exact(cmd.OutOrStdout()), o.output, func(w io.Writer) error { return x.Write(cmd.Context(), w, format) })
	if err != nil {
		return fmt.Errorf("exporting %s as %s: %w", strings.Join(files, ", "), format, err)
	}
	for _, doubt := range redaction.Doubts() {
		warn(cmd, "%s", doubt)
	}
	return nil
}

// picked returns the frames that a filter selects, with those of [export.WithQuestions]. It lints the log if the filter has
// terms for findings.
func picked(cmd *cobra.Command, log *wire.Log, line string, filter *query.Filter) (iter.Seq[int64], error) {
	var rules func(seq int64) []string
	if filter.UsesFindings() {
		found, gaps, err := lint.FindingsOf(cmd.Context(), log)
		if err != nil {
			return nil, fmt.Errorf("looking for findings: %w", err)
		}
		if gaps != "" {
			warn(cmd, "of \"finding:\": %s", gaps)
		}
		rules = lint.RulesAt(found)
	}
	view := query.NewView(log, filter, rules)
	if err := view.Update(cmd.Context()); err != nil {
		return nil, fmt.Errorf("filtering: %w", err)
	}
	if view.Len() == 0 {
		warn(cmd, "the filter picks no frame%s", wording.After("; did you mean ", query.Meant(log, line, nil)))
	}
	seqs, err := export.WithQuestions(cmd.Context(), log, conversation.New(log), view)
	return slices.Values(seqs), err
}

func sparesInput(output string, files []string) error {
	to, err := os.Stat(output)
	if err != nil {
		return nil // nothing would be overwritten
	}
	for _, name := range files {
		if from, err := os.Stat(name); err == nil && os.SameFile(from, to) {
			return usage("--output %s is the transcript that is to be read", output)
		}
	}
	return nil
}

func namesOf(files []string) string {
	var names []string
	for _, name := range files {
		names = append(names, filepath.Base(name))
	}
	return strings.Join(names, ", ")
}

// writeTo writes to the file that --output names, or to standard output. The file is
// complete: if writing fails, the previous one stays. A file that is not regular, such as
// a pipe, is written directly.
func writeTo(standard io.Writer, path string, write func(io.Writer) error) (err error) {
	if path == "" || path == "-" {
		return write(standard)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	// Mode 0600, like a transcript's.
	file, err := os.CreateTemp(filepath.Dir(path), ".inspector-export-*")
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = path // which a person gave, and not the temporary one
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	out := bufio.NewWriterSize(file, 256<<10)
	err = errors.Join(write(out), out.Flush(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
