package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/judges/diff"
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
	f.StringVar(&o.format, "format", "", "`FORMAT` to write: "+diff.Formats.Names()+" (default: what the ending of --output says, else text)")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&o.volatile, "volatile", "", "read from `FILE` what differs from run to run (default: NAME.volatile.yaml beside OLD)")
	f.BoolVar(&o.learn, "learn", false, "write what differs between two recordings of the same build into the file of --volatile")
	f.Float64Var(&o.slower, "slower", diff.SlowerFactor, "report a call for which the server takes this `FACTOR` longer, and at least 100 ms")
	o.redact.register(f, "of what is written")
	return cmd
}

func (o *diffOptions) diff(cmd *cobra.Command, files []string) (err error) {
	format := diff.Formats.Of(o.output)
	if format == nil {
		format = diff.Formats[0]
	}
	if o.format != "" {
		if format, err = diff.Formats.Named(o.format); err != nil {
			return usage("--format %w", err)
		}
	}
	if o.slower <= 1 {
		return usage("--slower must be more than 1, not %v", o.slower)
	}
	if err := sparesInput(o.output, files); err != nil {
		return err
	}
	given := o.volatile != ""
	if !given {
		o.volatile = strings.TrimSuffix(files[0], filepath.Ext(files[0])) + ".volatile.yaml"
	}
	options := diff.Options{Slower: o.slower}
	if !o.learn {
		if options.Varies, err = readVolatile(cmd, o.volatile, given); err != nil {
			return err
		}
	}
	sides, end, err := o.sides(cmd, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	r, err := diff.Compare(cmd.Context(), sides[0], sides[1], options)
	if err != nil {
		return err
	}
	r.Inspector = version()
	for _, side := range sides {
		side.Redact.Document(r)
	}
	if o.learn {
		return o.writeVolatile(cmd, r)
	}
	if err := writeTo(cmd.OutOrStdout(), o.output, func(w io.Writer) error { return format.Write(w, r) }); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	switch counts := r.Counts(); {
	case counts[diff.Consent]+counts[diff.Contract] > 0:
		return exitCode(exitFindings)
	case counts[diff.Content] > 0:
		return exitCode(exitContent)
	}
	return nil
}

// sides opens the files. end closes them.
func (o *diffOptions) sides(cmd *cobra.Command, files []string) (sides []diff.Side, end func() error, err error) {
	var opened []*playback.Opened
	end = func() (err error) {
		for _, one := range opened {
			err = errors.Join(err, one.Close())
		}
		return err
	}
	for _, name := range files {
		one, err := readTranscripts(cmd, name)
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		opened = append(opened, one)
		redaction, err := o.redact.redaction()
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		sides = append(sides, diff.Side{Name: name, Log: one.Log, Redact: redaction})
	}
	return sides, end, nil
}

// readVolatile reads a file of what varies. Unless a person gave its name, it need not exist.
func readVolatile(cmd *cobra.Command, path string, given bool) ([]diff.Varying, error) {
	text, err := written.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := diff.ParseVarying(path, text)
	if err != nil {
		return nil, usage("%w", err)
	}
	if !given {
		warn(cmd, "%s says what is no difference (%s)", path, wording.Plural(len(list), "place"))
	}
	return list, nil
}

// writeVolatile writes what two recordings of the same build teach. It replaces no file: people edit it.
func (o *diffOptions) writeVolatile(cmd *cobra.Command, r *diff.Report) error {
	varies, rest := r.Learned()
	file, err := os.OpenFile(o.volatile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(diff.WriteVarying(varies))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	warn(cmd, "%s has %s", o.volatile, wording.Plural(len(varies), "place"))
	if len(rest) == 0 {
		return nil
	}
	r.Differences = rest
	warn(cmd, "not learned, since it is more than another value at a place:")
	return diff.Formats[0].Write(cmd.ErrOrStderr(), r)
}
