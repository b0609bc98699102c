package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
)

// exportOptions are the flags of the export command, and its files.
type exportOptions struct {
	format string
	output string
	filter string
	redact redactOptions
	files  []string
}

func newExport(out, errOut io.Writer) *cobra.Command {
	var o exportOptions
	var names []string
	for _, f := range export.Formats() {
		names = append(names, string(f))
	}
	cmd := &cobra.Command{
		Use:   "export FILE... [--format FORMAT] [--output FILE]",
		Short: "Write a transcript in another format",
		Long: `Export writes transcripts, and whatever else open reads, in another format:
jsonl (a transcript again), json (one array), har (what went over HTTP, for the
developer tools of browsers), markdown (for reading), mermaid (a sequence
diagram), or html (one page that shows the log, the exchanges and the questions
without a server, to attach to a bug report).

For bug reports, html, markdown and json have what the linter finds, what was
noted of frames, and which answers were sent although they do not satisfy their
schema.

Secrets in HTTP headers and the values in queries of addresses are left out, and
what --redact, --redact-value and --redact-file name. Where a value that --redact
leaves out still stands elsewhere, standard error names the frames.

A filter chooses frames and keeps no secrets: in formats for reading, exchanges
keep the tool's name, and questions whose answers it picks their message.

Damaged lines are reported on standard error and left out.`,
		Example: `  inspector export flow.jsonl --format html --output flow.html
  inspector export flow.jsonl --format markdown --filter call:3
  inspector export flow.jsonl --format har --redact password --output flow.har`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("export needs a transcript FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files = args
			if o.output == "-" {
				o.output = ""
			}
			return exportFiles(cmd.Context(), o, out, errOut)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "", "`FORMAT` to write: "+strings.Join(names, ", ")+" (default: what the ending of --output says)")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&o.filter, "filter", "", "only the frames that this filter line (`EXPR`) picks, as on the page: 'call:3', 'method:elicitation/*'")
	o.redact.register(f, "of what is written")
	return cmd
}

// exportFiles writes the frames of transcripts that the options pick.
func exportFiles(ctx context.Context, o exportOptions, out, errOut io.Writer) (err error) {
	format, err := o.parseFormat()
	if err != nil {
		return err
	}
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	filter, err := query.Parse(o.filter)
	if err != nil {
		return filterError(o.filter, err)
	}
	if err := o.sparesInput(); err != nil {
		return err
	}
	opened, err := playback.Open(o.files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	log := opened.Log
	if err := log.Wait(ctx); err != nil {
		return err
	}
	if err := reportProblems(opened, errOut); err != nil {
		return err
	}
	x := export.Document{Log: log, Redact: redaction, Title: o.title(), Tool: "elicitation-inspector", Version: version()}
	if o.filter != "" {
		rules, err := findingRules(ctx, log, filter, errOut)
		if err != nil {
			return err
		}
		view := query.NewView(log, filter, rules)
		if err := view.Update(ctx); err != nil {
			return fmt.Errorf("filtering: %w", err)
		}
		if view.Len() == 0 {
			if _, err := fmt.Fprintln(errOut, "inspector: the filter picks no frame"); err != nil {
				return fmt.Errorf("reporting that nothing is exported: %w", err)
			}
		}
		x.Seqs = view.All()
	}
	if o.output == "" {
		err = x.Write(ctx, out, format)
	} else {
		err = writeFile(o.output, func(w io.Writer) error { return x.Write(ctx, w, format) })
	}
	if err != nil {
		return fmt.Errorf("exporting %s as %s: %w", strings.Join(o.files, ", "), format, err)
	}
	return reportRemains(ctx, redaction, log, x.Seqs, errOut)
}

// findingRules has the linter look at the log, if the filter asks what it finds.
func findingRules(ctx context.Context, log *wire.Log, filter *query.Filter, errOut io.Writer) (func(seq int64) []string, error) {
	if !filter.UsesFindings() {
		return nil, nil
	}
	found, all, err := findings.Of(ctx, log)
	if err != nil {
		return nil, fmt.Errorf("looking for findings: %w", err)
	}
	if !all {
		if _, err := fmt.Fprintf(errOut, "inspector: only the first %d findings are known to \"finding:\"\n", len(found)); err != nil {
			return nil, fmt.Errorf("reporting what cannot be found: %w", err)
		}
	}
	return findings.Rules(found), nil
}

// filterError says what is wrong in a filter line, and where.
func filterError(line string, err error) error {
	var at *query.Error
	if errors.As(err, &at) && at.Pos < at.End && at.End <= len(line) {
		return usageError{fmt.Errorf("--filter %q, at %q: %w", line, line[at.Pos:at.End], err)}
	}
	return usageError{fmt.Errorf("--filter %q: %w", line, err)}
}

func (o exportOptions) parseFormat() (export.Format, error) {
	name := o.format
	if name == "" {
		end := filepath.Ext(o.output)
		for _, f := range export.Formats() {
			if end != "" && f.Extension() == end {
				return f, nil
			}
		}
		return "", usage("export needs --format, or an --output whose name ends in .jsonl, .json, .har, .md, .mmd or .html")
	}
	f, err := export.ParseFormat(name)
	if err != nil {
		return "", usageError{fmt.Errorf("--format: %w", err)}
	}
	return f, nil
}

// sparesInput refuses to write over what is to be read.
func (o exportOptions) sparesInput() error {
	to, err := os.Stat(o.output)
	if err != nil {
		return nil // there is nothing to write over
	}
	for _, name := range o.files {
		if from, err := os.Stat(name); err == nil && os.SameFile(from, to) {
			return usage("--output %s is the transcript that is to be read", o.output)
		}
	}
	return nil
}

func (o exportOptions) title() string {
	var names []string
	for _, name := range o.files {
		names = append(names, filepath.Base(name))
	}
	title := strings.Join(names, ", ")
	if o.filter != "" {
		title += ": " + o.filter
	}
	return title
}

// reportProblems says what of the files could not be read. It is an error if
// there was nothing else.
func reportProblems(opened *playback.Opened, errOut io.Writer) error {
	for _, p := range opened.Problems {
		if _, err := fmt.Fprintf(errOut, "inspector: %s\n", p); err != nil {
			return fmt.Errorf("reporting what cannot be read: %w", err)
		}
	}
	return reportDamage(opened.Log, errOut)
}

// reportDamage says which lines could not be read. It is an error if there was
// nothing else.
func reportDamage(log *wire.Log, errOut io.Writer) error {
	list, total := log.Damage()
	for _, d := range list {
		if _, err := fmt.Fprintf(errOut, "inspector: %v\n", &d); err != nil {
			return fmt.Errorf("reporting damaged lines: %w", err)
		}
	}
	if more := total - int64(len(list)); more > 0 {
		if _, err := fmt.Fprintf(errOut, "inspector: %d more damaged lines\n", more); err != nil {
			return fmt.Errorf("reporting damaged lines: %w", err)
		}
	}
	if total > 0 && log.Len() == 0 {
		return errors.New("there is no frame in it: it is no transcript")
	}
	return nil
}

// writeFile writes a file as a whole: where writing fails, what was there
// before stays. What is no regular file, such as a pipe, is written to.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	// Mode 0600, like a transcript's.
	file, err := os.CreateTemp(filepath.Dir(path), ".inspector-export-*")
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
