package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/playback"
)

type diffOptions struct {
	format   string
	output   string
	volatile string
	learn    bool
	slower   float64
	redact   redactOptions
}

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff OLD NEW [--format FORMAT] [--output FILE]",
		Short: "Compare two recordings of a server by what they mean",
		Long: `Diff compares two transcripts, or whatever else open reads, by what they mean:
calls by tool and arguments, in them the questions by what they ask, then how the
calls ended. Each difference has a kind, both values, both frames, and how much it
matters:

  consent   what a person is asked before it happens: a question that is gone
            although the call still succeeds, another outcome after the same decline,
            work that is reported before it is asked about, another host to visit
  contract  what clients and people rely on: questions, fields, choices, tools,
            capabilities, error codes
  content   what the server says this time: results, messages, how long it took

What changes from run to run is no difference: ids, times, UUIDs, ports of this
machine, durations, tokens, and the protocol's own states and cursors. What else
changes, two recordings of the same build teach: --learn writes it into a file
beside the first (NAME.volatile.yaml), to be read, edited and committed. Diff reads
that file whenever it compares the first with another.

Exit codes: 0 when both are the same, 8 when consent or contract differs, 9 when
only content does, 1 when a file cannot be read, 2 for a command line that cannot be
understood.`,
		Example: `  inspector diff monday.jsonl tuesday.jsonl
  inspector diff --learn monday.jsonl again.jsonl
  inspector diff --format junit --output diff.xml monday.jsonl tuesday.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("diff needs two files, the old one and the new one")
			}
			return nil
		},
		RunE: o.diff,
	}
	f := cmd.Flags()
	f.BoolVar(&o.learn, "learn", false, "write what differs between two recordings of the same build into the file of --volatile")
	o.register(f)
	o.redact.register(f, "of what is written")
	return cmd
}

// register adds the flags of all commands that compare.
func (o *diffOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", "`FORMAT` to write: "+diff.Formats.Names()+" (default: what the ending of --output says, else text)")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&o.volatile, "volatile", "", "read from `FILE` what differs from run to run (default: NAME.volatile.yaml beside the recording)")
	f.Float64Var(&o.slower, "slower", diff.SlowerFactor, "report a call for which the server takes this `FACTOR` longer, and at least half a second")
}

// check returns the format to write, or the mistake in the flags.
func (o *diffOptions) check(files []string) (format *export.Format[*diff.Report], err error) {
	if format, err = formatOf(diff.Formats, o.format, o.output); err != nil {
		return nil, err
	}
	if o.slower <= 1 {
		return nil, usage("--slower must be more than 1, not %v", o.slower)
	}
	return format, sparesInput(o.output, files)
}

// formatOf returns the format of this name; without one that of the output file, and else the first.
func formatOf[T any](all export.Formats[T], name, output string) (*export.Format[T], error) {
	if name != "" {
		format, err := all.Named(name)
		if err != nil {
			err = usage("--format %w", err)
		}
		return format, err
	}
	return cmp.Or(all.Of(output), all[0]), nil
}

// Two transcripts of a million frames have 200 MiB of indexes and calls. diffMemory is the heap size in
// bytes at which the garbage collector works harder, so that the whole takes less than 300 MiB, and
// diffGrowth how far the heap may grow before, in percent: with more, the collector begins to work when
// the room is used up, and takes half as long again.
const (
	diffMemory = 270 << 20
	diffGrowth = 100
)

func (o *diffOptions) diff(cmd *cobra.Command, files []string) (err error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(diffMemory)
	}
	letHeapGrow(diffGrowth)
	format, err := o.check(files)
	if err != nil {
		return err
	}
	options := diff.Options{Slower: o.slower}
	if !o.learn {
		if options, err = o.readVolatile(cmd, files[0]); err != nil {
			return err
		}
	}
	var opened []*playback.Opened
	for _, name := range files {
		var one *playback.Opened
		if one, err = playback.Open(name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, one.Close()) }()
		opened = append(opened, one)
	}
	for _, one := range opened { // both are read at once
		if err := awaitTranscripts(cmd, one); err != nil {
			return err
		}
	}
	r, err := o.compare(cmd, files, opened, options)
	if err != nil {
		return err
	}
	if o.learn {
		return o.writeVolatile(cmd, r, volatileOf(o.volatile, files[0]))
	}
	if err := o.write(cmd, format, r); err != nil {
		return err
	}
	return codeOf(r)
}

// compare compares two transcripts, and leaves secrets out of the report.
func (o *diffOptions) compare(cmd *cobra.Command, names []string, opened []*playback.Opened, options diff.Options) (*diff.Report, error) {
	var sides []diff.Side
	for i, name := range names {
		if opened[i].Log.Len() == 0 {
			return nil, fmt.Errorf("%s has no frame to compare", name)
		}
		redaction, err := o.redact.redaction()
		if err != nil {
			return nil, err
		}
		sides = append(sides, diff.Side{Name: name, Log: opened[i].Log, Redact: redaction})
	}
	r, err := diff.Compare(cmd.Context(), sides[0], sides[1], options)
	if err != nil {
		return nil, err
	}
	r.Inspector = version()
	for _, side := range sides {
		side.Redact.Document(r)
	}
	return r, nil
}

func (o *diffOptions) write(cmd *cobra.Command, format *export.Format[*diff.Report], r *diff.Report) error {
	if err := writeTo(cmd.OutOrStdout(), o.output, func(w io.Writer) error { return format.Write(w, r) }); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// codeOf returns the exit code of a comparison; nil for 0.
func codeOf(r *diff.Report) error {
	switch counts := r.Counts(); {
	case counts[diff.Consent]+counts[diff.Contract] > 0:
		return exitCode(exitFindings)
	case counts[diff.Content] > 0:
		return exitCode(exitContent)
	}
	return nil
}

// volatileOf returns the file that says what varies in a recording.
func volatileOf(given, recording string) string {
	return cmp.Or(given, strings.TrimSuffix(recording, filepath.Ext(recording))+".volatile.yaml")
}

// readVolatile reads what varies in a recording. Unless a person gave the name of the file, it need
// not exist.
func (o *diffOptions) readVolatile(cmd *cobra.Command, recording string) (options diff.Options, err error) {
	options.Slower = o.slower
	path := volatileOf(o.volatile, recording)
	text, err := written.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && o.volatile == "" {
		return options, nil
	}
	if err != nil {
		return options, err
	}
	if options.Varies, err = diff.ParseVarying(path, text); err != nil {
		return options, usageError{err}
	}
	if o.volatile == "" {
		warn(cmd, "%s says what is no difference (%s)", path, wording.Plural(len(options.Varies), "place"))
	}
	return options, nil
}

// writeVolatile writes what two recordings of the same build teach. It replaces no file: people edit it.
func (o *diffOptions) writeVolatile(cmd *cobra.Command, r *diff.Report, path string) error {
	varies, rest := r.Learned()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(diff.WriteVarying(varies))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	warn(cmd, "%s has %s", path, wording.Plural(len(varies), "place"))
	if len(rest) == 0 {
		return nil
	}
	r.Differences = rest
	warn(cmd, "not learned, since it is more than another value at a place:")
	return diff.Formats[0].Write(cmd.ErrOrStderr(), r)
}
