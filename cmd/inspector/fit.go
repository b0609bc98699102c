package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/wire/redact"
)

type fitOptions struct {
	headlessOptions
	clients  []string
	files    []string // of --client
	format   string
	output   string
	failOn   string
	args     string
	allowed  []string
	readOnly bool
}

func newFit() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit [--clients NAMES] [FILE... | [TOOL...] URL | [TOOL...] -- COMMAND [ARG...]]",
		Short: "Say how the clients of others show questions, and what they send",
		Long: `Fit holds questions against profiles of clients: how each of them draws the question,
and what goes back if a person changes nothing that need not be filled in, and accepts.
The questions are those of transcripts, or of FILEs that are one question (an object with
message and requestedSchema, or url), or those that a server asks: then the calls are made
that 'inspector check' makes, once, with honest answers: those of the TOOLs (tools, prompts
or resources), or all. Without a FILE and without a server the questions are those of the
built-in demo server.

The verdicts are fine, unknown, degraded, wrong (by default), not-shown, unanswerable and
guard (a question for consent is accepted although nobody agreed); docs/clients.md says
what they mean. Each says how to ask so that it works, and whether that is measured, read in
the client's source, or reported by somebody. --client FILE adds a client: a file by
'inspector schema client', or a report of 'inspector probe' in JSON.

Exit codes: 0 nothing at or above --fail-on; 8 something is; 1 a file cannot be read, or
there was no question; 2 a command line that cannot be understood, or a
TOOL that the server does not offer; 3 the server could not
be reached.`,
		Example: `  inspector fit flow.jsonl
  inspector fit --clients codex,vscode --format markdown question.json
  inspector fit --client client-report.json --fail-on wrong -- ./my-server`,
		Args: cobra.ArbitraryArgs,
		RunE: o.run,
	}
	var names []string
	for _, p := range fit.All() {
		names = append(names, p.Client)
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.clients, "clients", nil, "hold the questions against these clients (`NAMES`, with commas between them): "+strings.Join(names, ", ")+", or all (default: all, or those of --client)")
	f.StringArrayVar(&o.files, "client", nil, "add the client of a profile or of a probe's report in `FILE` (repeat)")
	f.StringVar(&o.format, "format", "", "`FORMAT` to write: "+fit.Formats.Names()+" (default: what the ending of --output says, else text)")
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.StringVar(&o.failOn, "fail-on", "never", "exit with 8 for this `VERDICT` or a graver one: "+strings.Join(fit.Failing(), ", ")+", or never")
	f.StringVar(&o.args, "args", "", "the arguments of each TOOL: a `JSON` object, or @FILE to read one from")
	f.StringArrayVar(&o.allowed, "allow-destructive", nil, "call tools whose name matches the `PATTERN`, although they are annotated with destructiveHint (repeat)")
	f.BoolVar(&o.readOnly, "read-only", false, "call only tools that are annotated with readOnlyHint")
	o.headlessOptions.register(f)
	return cmd
}

func (o *fitOptions) run(cmd *cobra.Command, args []string) error {
	files, rest, dash := splitTarget(args, cmd.ArgsLenAtDash())
	var tools []string
	if len(rest) > 0 || o.hasTarget() {
		files, tools = nil, files
	}
	format, err := formatOf(fit.Formats, o.format, o.output)
	if err != nil {
		return err
	}
	failOn := fit.Guard + 1
	if o.failOn != "never" {
		if failOn.UnmarshalText([]byte(o.failOn)) != nil || failOn < fit.Degraded {
			return usage("--fail-on must be %s or never, not %q", strings.Join(fit.Failing(), ", "), o.failOn)
		}
	}
	clients, err := o.profiles()
	if err != nil {
		return err
	}
	arguments, err := readJSON("--args", o.args)
	switch {
	case err != nil:
		return err
	case arguments != nil && len(tools) == 0:
		return usage("--args needs the name of a TOOL, and a server")
	}
	if err := sparesInput(o.output, files); err != nil {
		return err
	}
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	var questions []fit.Asked
	var skipped []report.NotMade
	for _, name := range files {
		list, err := o.questionsOf(cmd, name, redaction)
		if err != nil {
			return err
		}
		questions = append(questions, list...)
	}
	if len(files) == 0 {
		if err := o.readArguments(rest, dash); err != nil {
			return err
		}
		if questions, skipped, err = o.meet(cmd, redaction, wanted(new(script.Plan), tools, arguments)); err != nil {
			return err
		}
	}
	r := fit.Judge(questions, clients, time.Now())
	r.Inspector, r.Skipped = version(), skipped
	redaction.Document(r)
	if err := writeTo(cmd.OutOrStdout(), o.output, func(w io.Writer) error { return format.Write(w, r) }); err != nil {
		return fmt.Errorf("writing how the questions fit: %w", err)
	}
	switch {
	case len(questions) == 0:
		return errors.New("nothing to judge: there was no question")
	case r.Gravest() >= failOn:
		return exitCode(exitFindings)
	}
	return nil
}

// profiles returns the profiles that the flags choose.
func (o *fitOptions) profiles() ([]*fit.Profile, error) {
	if len(o.clients) == 0 && len(o.files) == 0 {
		o.clients = []string{"all"}
	}
	list, err := fit.Choose(o.clients)
	if err != nil {
		return nil, usage("--clients: %w", err)
	}
	for _, name := range o.files {
		text, err := written.ReadLarge(name, reportMost)
		var more []*fit.Profile
		if err == nil {
			more, err = fit.Parse(name, text)
		}
		if err != nil {
			return nil, usage("--client: %w", err)
		}
		list = append(list, more...)
	}
	return list, nil
}

// questionsOf returns the questions of a file: a single one, or those of a transcript.
func (o *fitOptions) questionsOf(cmd *cobra.Command, name string, redaction *redact.Redaction) (list []fit.Asked, err error) {
	if text, err := written.ReadFile(name); err == nil {
		if one, err := written.ParseJSON(text); err == nil && one.Member("message") != nil && one.Member("jsonrpc") == nil {
			return []fit.Asked{{Message: rawjson.Text(one.Member("message").JSON()), File: name, Times: 1, Params: one.JSON()}}, nil
		}
	}
	opened, err := readTranscripts(cmd, name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := redaction.Learn(cmd.Context(), opened.Log); err != nil {
		return nil, err
	}
	if list, err = fit.QuestionsIn(cmd.Context(), opened.Log); err != nil || opened.Converted(name) {
		return list, err
	}
	var seqs []int64
	for _, q := range list {
		seqs = append(seqs, q.Frame)
	}
	lines, err := opened.Log.LineNumbers(seqs)
	for i := range list {
		list[i].File, list[i].Line = name, lines[list[i].Frame]
	}
	return list, err
}

// meet makes the calls that a check makes of a server, with honest answers, and returns what was asked.
func (o *fitOptions) meet(cmd *cobra.Command, redaction *redact.Redaction, tools []check.Wanted) (list []fit.Asked, skipped []report.NotMade, err error) {
	options := check.Options{ReadOnly: o.readOnly, Wanted: tools}
	if options.AllowDestructive, err = patterns("--allow-destructive", o.allowed); err != nil {
		return nil, nil, err
	}
	honest, err := script.Parse("answers", []byte("default: {accept: valid}"), os.LookupEnv)
	if err != nil {
		return nil, nil, err
	}
	n := &narrator{out: cmd.ErrOrStderr(), quiet: o.quiet || !o.verbose}
	err = o.converse(cmd, n, nil, false, func(s *headless.Session) error {
		catalog, err := s.Catalog(cmd.Context())
		if err != nil {
			return err
		}
		calls, left, err := check.Calls(catalog.Items, options)
		if err != nil {
			return err
		}
		skipped = left
		for _, call := range calls {
			if _, err := s.Call(cmd.Context(), headless.Call{Kind: call.Kind, Key: call.Key, Arguments: call.Arguments, Scripts: []*script.Script{honest}}); err != nil {
				return err
			}
		}
		list, err = fit.QuestionsIn(cmd.Context(), s.Log())
		return errors.Join(err, redaction.Learn(cmd.Context(), s.Log()))
	})
	if errors.Is(err, check.ErrNotOffered) {
		err = usageError{err}
	}
	return list, skipped, err
}
