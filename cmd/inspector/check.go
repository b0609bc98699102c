package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
)

type checkOptions struct {
	headlessOptions
	args        string
	plan        string
	script      string
	format      string
	baseline    string
	failOn      string
	jobs        int
	revision    string
	behaviours  []string
	directory   string
	destructive []string
	readOnly    bool
	witness     string
	reset       string
	clients     []string
	demo        bool // the plan names the built-in server
}

func newCheck() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check [TOOL...] [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Judge a server under every behaviour that a client can have",
		Long: `Check makes the calls that ask something once per behaviour of a client and per
protocol revision that the server speaks, each in a session or process of its own:
answers that are accepted, declined and cancelled, that break the schema, that are no
answers, that come late, twice or never, connections that end, capabilities that are not
declared, several calls at once, and states that were tampered with. It judges by the
specification what the server did, with the frames that show it and a command line that
does the same again.

TOOLs are names of tools or prompts, or URIs of resources; without any, all that the
server offers are called. Arguments are those of --args or of the plan, or made up from
the defaults, examples and types of the input schema. A tool that is annotated with
destructiveHint is called only if --allow-destructive or the plan names it. What will be
called, and what not, is printed on standard error before it is.

With --witness the check sees what calls do: it looks at a tool, a resource or a command
before and after, and while a question waits. An accepted call must change what it says,
and a refused one must not.

With --clients the report also says how the questions fit clients of others, as 'inspector
fit' does. That changes no exit code.

With --baseline, an earlier report in the format json, what is new is marked, what is
mended is listed, and the exit code counts only what is new.

The report is printed on standard output, also where Ctrl-C ends the check: then it has
what was found so far. 'inspector schema plan' prints the JSON Schema of plans, and
docs/check.md tells more.

Exit codes: 0 nothing at or above --fail-on; 1 something failed here; 2 a command line,
a plan or an answers file that cannot be understood, or a TOOL that the server does not
offer; 3 the server could not be reached, or asks for a sign-in that nobody made
(--oauth-wait); 8 verdicts at or above --fail-on; 130 interrupted. Where nothing is found,
but something was not judged: 9 nothing was tried; 10 a call asked nothing and ended in an
error or without a response; 11 a call failed after honest answers; 12 a call that was
named asked nothing; 13 a revision is announced or named, and not spoken; 14 the witness
cannot see what an accepted call does; 15 no target where there is no terminal; 16 most
trials of a call could not be made; 17 something changed while several refused, and for
none of them alone; 18 a decline has the result of an accepted call, and no witness looked.`,
		Example: `  inspector check -- ./my-server
  inspector check deploy --args '{"service":"checkout"}' -- ./my-server
  inspector check --plan plan.yaml --format junit --record transcripts -- ./my-server
  inspector check deploy --behaviour decline --behaviour cancel https://example.com/mcp`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.args, "args", "", "the arguments of each TOOL: a `JSON` object, or @FILE to read one from")
	f.StringVar(&o.plan, "plan", "", "call, answer and forbid what a plan `FILE` says, YAML or JSON")
	f.StringVar(&o.script, "answers", "", "answer honestly by the rules in `FILE`, YAML or JSON; - reads standard input")
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the report: "+checkFormats.Names())
	f.StringSliceVar(&o.clients, "clients", nil, "also hold the questions against the clients of these `NAMES`, or all, as 'inspector fit' does")
	f.StringVar(&o.baseline, "baseline", "", "compare with an earlier report in the format json (`FILE`), and mark what is new")
	f.StringVar(&o.failOn, "fail-on", "must", "exit with 8 where a MUST of the specification is broken (fail), or also where a SHOULD is (warn), or also where nothing shows it: must, should or inconclusive (`SEVERITY`)")
	f.IntVar(&o.jobs, "jobs", max(2*runtime.NumCPU(), 4), "how many trials (`N`) at the same time, without those that only wait for the server")
	f.DurationVar(&o.timeout, "timeout", 0, "how long (`D`) the server may take for a call; 0 for what fits the call: three times what an honest client waits and 2s, 5s at least")
	f.StringArrayVar(&o.behaviours, "behaviour", nil, "try only the behaviour of this `NAME` (repeat)")
	f.StringVar(&o.revision, "protocol", "", "check only this protocol revision (`REV`): "+strings.Join(mcp.Revisions, ", "))
	f.StringVar(&o.directory, "record", "", "write a transcript of each trial into this `DIR`, which must be empty")
	f.StringArrayVar(&o.destructive, "allow-destructive", nil, "call tools whose name matches the `PATTERN`, in which * stands for any text, although they are annotated with destructiveHint (repeat)")
	f.BoolVar(&o.readOnly, "read-only", false, "call only tools that are annotated with readOnlyHint")
	f.StringVar(&o.witness, "witness", "", "look at what calls change, before and after them: `WHAT` is 'tool:NAME {ARGUMENTS}', 'resource:URI' or 'command:LINE'")
	f.StringVar(&o.reset, "reset", "", "before each trial, run this shell `COMMAND`, which undoes what calls change; trials then run one at a time")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print neither what is called nor the progress")
	o.registerRequests(f)
	o.registerTarget(f)
	o.otlp.registerListen(f)
	o.signIn.registerWait(f)
	return cmd
}

// connectMost is how long connecting to the server may take.
const connectMost = time.Minute

// checkFormats are the formats of package report, and the one for terminals.
var checkFormats = append(export.Formats[*report.Report]{{Name: "text", Write: func(w io.Writer, r *report.Report) error {
	return checkText(wording.EscapingWriter{To: w}, r)
}}}, report.Formats...)

func (o *checkOptions) run(cmd *cobra.Command, args []string) error {
	format, err := checkFormats.Named(o.format)
	switch {
	case err != nil:
		return usage("--format %w", err)
	case failing[o.failOn] == "":
		return usage("--fail-on must be must, should or inconclusive, not %q", o.failOn)
	case o.jobs < 1:
		return usage("--jobs must be 1 or more")
	}
	profiles, err := fit.Choose(o.clients)
	if err != nil {
		return usage("--clients: %w", err)
	}
	var earlier *report.Report
	if o.baseline != "" {
		if earlier, err = readReport(o.baseline, report.Read); err != nil {
			return usage("--baseline: %w", err)
		}
	}
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return err
	}
	defer told()
	options, err := o.options(cmd, args)
	if err != nil {
		return errors.Join(err, o.close())
	}
	p := newProgressLine(cmd.ErrOrStderr(), options.Server.Redaction)
	if !o.quiet {
		options.Chosen, options.Progress = p.chosen, p.tell
	}
	options.Server.SignIns = o.signIn.newDesk(cmd, false)
	asked := &askedInTrials{ctx: cmd.Context(), directory: o.directory}
	if len(profiles) > 0 {
		options.Asked = asked.add
	}
	var r *report.Report
	if options.Server.Target.Builtin != nil && !o.demo && !isTerminal(cmd.ErrOrStderr()) {
		r = check.Without(options)
	} else {
		r, err = check.Run(cmd.Context(), options)
	}
	p.end()
	if err := errors.Join(o.close(), options.Server.SignIns.Close()); err != nil {
		warn(cmd, "%v", err)
	}
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case errors.Is(err, check.ErrNotOffered):
		return usageError{err}
	case err != nil && (r == nil || !errors.Is(err, headless.ErrConnect)):
		return err
	}
	if earlier != nil {
		report.Compare(earlier, r)
	}
	for _, problem := range r.Problems {
		warn(cmd, "%s", report.Sentence(problem))
	}
	if len(profiles) > 0 {
		err = asked.write(exact(cmd.OutOrStdout()), o.format, r, profiles, options.Server.Redaction)
	} else {
		err = format.Write(exact(cmd.OutOrStdout()), r)
	}
	if err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	return o.code(cmd, r)
}

// failing holds the least verdict that each --fail-on counts. Violation and warning are older names.
var failing = map[string]report.Verdict{"must": report.Fail, "violation": report.Fail, "should": report.Warn, "warning": report.Warn, "inconclusive": report.Inconclusive}

// code returns the exit code for a report as an error, nil for exit code 0. It prints why
// the report is not complete.
func (o *checkOptions) code(cmd *cobra.Command, r *report.Report) error {
	grave := func(one report.Result) bool {
		return slices.ContainsFunc(one.Findings, func(f report.Finding) bool {
			return f.Verdict.Rank() <= failing[o.failOn].Rank() && (r.Baseline == nil || f.New || f.Verdict == report.Inconclusive)
		})
	}
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if r.Stopped != "" {
		warn(cmd, "%s", r.Stopped)
	}
	switch {
	case slices.ContainsFunc(r.Results, grave):
		return exitCode(exitFindings)
	case r.Stopped != "":
		return exitCode(exitError)
	case len(r.Problems) > 0:
		return exitCode(problemCodes[r.Problems[0].Kind])
	}
	return nil
}

var problemCodes = map[report.ProblemKind]int{
	report.NoTarget: exitNoTarget, report.Unreachable: exitConnect, report.NothingTried: exitNothingTried, report.CallBroken: exitCallBroken,
	report.HonestFailed: exitHonestFailed, report.AskedNothing: exitAskedNothing, report.NotSpoken: exitNotSpoken, report.WitnessBlind: exitWitnessBlind,
	report.MostlyUntried: exitUntried, report.EffectUnrepeated: exitUnrepeated, report.DeclineProceeds: exitProceeds,
}

// options returns the options of the check from the flags and the plan.
func (o *checkOptions) options(cmd *cobra.Command, args []string) (c check.Options, err error) {
	names, rest, dash := splitTarget(args, cmd.ArgsLenAtDash())
	if err := o.readTarget(rest, dash); err != nil {
		return c, err
	}
	plan := new(script.Plan)
	if o.plan != "" {
		text, err := written.ReadFile(o.plan)
		if err == nil {
			plan, err = script.ParsePlan(o.plan, text, os.LookupEnv, judge.BehaviourNames())
		}
		if err != nil {
			return c, usage("--plan: %w", err)
		}
		warnRenamed(cmd, &plan.Script)
	}
	if err := o.adopt(plan.Target, o.plan); err != nil {
		return c, err
	}
	o.demo = plan.Target.Demo
	if err := o.consistent(); err != nil {
		return c, err
	}
	if err := o.narrow(&c, plan); err != nil {
		return c, err
	}
	if o.script != "" {
		answers, err := readAnswers(cmd, o.script)
		if err != nil {
			return c, err
		}
		c.Honest = append(c.Honest, answers)
	}
	c.Honest = append(c.Honest, &plan.Script)
	arguments, err := readJSON("--args", o.args)
	switch {
	case err != nil:
		return c, err
	case arguments != nil && len(names) == 0:
		return c, usage("--args needs the name of a TOOL")
	}
	c.Wanted = wanted(plan, names, arguments)
	if c.Record = o.directory; o.directory != "" {
		if err := os.MkdirAll(o.directory, 0o700); err != nil {
			return c, usage("--record: %w", err)
		}
		switch files, err := os.ReadDir(o.directory); {
		case err != nil:
			return c, usage("--record: %w", err)
		case len(files) > 0:
			return c, usage("--record: the folder %s is not empty", o.directory)
		}
	}
	if c.Server, err = o.connection(cmd); err != nil {
		return c, err
	}
	c.Server.Timeout, c.Server.Record = connectMost, ""
	c.Server.Settings.Sampling, c.Server.Settings.Roots = o.sampling || plan.Sampling, o.roots || plan.Roots
	if o.config != "" { // which has what is secret
		c.Command = "--config " + wording.ShellWord(o.config)
		for _, name := range o.servers {
			c.Command += " --server " + wording.ShellWord(name)
		}
	}
	return c, nil
}

// splitTarget splits the arguments into the names of calls and the target: the
// arguments after --, or a URL at the end.
func splitTarget(args []string, dash int) (names, rest []string, restDash int) {
	switch last := len(args) - 1; {
	case dash >= 0:
		return args[:dash], args[dash:], 0
	case last >= 0 && (strings.HasPrefix(args[last], "http://") || strings.HasPrefix(args[last], "https://")):
		return args[:last], args[last:], -1
	}
	return args, nil, -1
}

// narrow sets the revisions, behaviours and timeouts to try, and the tools that must
// not be called. Flags take precedence over the plan.
func (o *checkOptions) narrow(c *check.Options, plan *script.Plan) error {
	c.Jobs, c.Timeout = o.jobs, cmp.Or(max(o.timeout, 0), plan.Timeout)
	c.Skip, c.ReadOnly, c.AllowDestructive = plan.Skip, plan.ReadOnly || o.readOnly, plan.AllowDestructive
	allowed, err := patterns("--allow-destructive", o.destructive)
	if err != nil {
		return err
	}
	c.AllowDestructive = append(c.AllowDestructive, allowed...)
	c.Witness, c.Reset = plan.Witness, cmp.Or(o.reset, plan.Reset)
	if o.witness != "" {
		witness, err := script.ParseWitness(o.witness)
		if err != nil {
			return usage("--witness: %w", err)
		}
		c.Witness = witness
	}
	c.Behaviours = plan.Behaviours
	names := judge.BehaviourNames()
	for _, name := range o.behaviours {
		if !slices.Contains(names, name) {
			return usage("--behaviour: there is none of the name %q%s", name, wording.DidYouMean(name, names))
		}
	}
	if len(o.behaviours) > 0 {
		c.Behaviours = o.behaviours
	}
	c.Revisions = slices.DeleteFunc(plan.Protocols, func(r string) bool { return r == "auto" })
	if o.revision != "" {
		if !slices.Contains(mcp.Revisions, o.revision) {
			return usage("--protocol must be one of %s, not %q", strings.Join(mcp.Revisions, ", "), o.revision)
		}
		c.Revisions = []string{o.revision}
	}
	return nil
}

// patterns reads the texts of a flag in which * stands for any text.
func patterns(flag string, sources []string) (list []*script.Text, err error) {
	for _, source := range sources {
		pattern, err := script.ParseText(source)
		if err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		list = append(list, pattern)
	}
	return list, nil
}

// wanted returns the calls to check. Without names, these are the calls of the plan;
// else the calls that the names select, whether or not the plan has them.
func wanted(plan *script.Plan, names []string, arguments []byte) (list []check.Wanted) {
	for _, call := range plan.Calls {
		if len(names) == 0 || slices.Contains(names, call.Key) {
			list = append(list, check.Wanted{
				Kind: conversation.Kind(call.Kind), Key: call.Key, Arguments: call.Arguments, Timeout: call.Timeout, Honest: []*script.Script{&call.Script}, Witness: call.Witness,
			})
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(w check.Wanted) bool { return w.Key == name }) {
			list = append(list, check.Wanted{Key: name})
		}
	}
	for i := range list {
		if arguments != nil {
			list[i].Arguments = arguments
		}
	}
	return list
}
