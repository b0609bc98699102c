package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// headlessOptions are the flags of the commands that make calls without a page.
type headlessOptions struct {
	options
	timeout         time.Duration
	quiet           bool
	sampling, roots bool
}

func (o *headlessOptions) register(f *pflag.FlagSet) {
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long (`D`) connecting, and the server's own time in a call, may take; 0 for no limit")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not print on standard error what happens during the call")
	o.registerRequests(f)
	o.registerSession(f)
	o.signIn.registerWait(f)
}

// registerRequests adds the flags about what a server may ask besides questions.
func (o *headlessOptions) registerRequests(f *pflag.FlagSet) {
	f.BoolVar(&o.sampling, "sampling", false, "declare sampling; its requests are answered like questions")
	f.BoolVar(&o.roots, "roots", false, "declare roots; requests for them are answered like questions")
}

// connection returns the configuration of the connection. The caller must call close.
func (o *headlessOptions) connection(cmd *cobra.Command) (c headless.Config, err error) {
	logger := newLogger(cmd, o.verbose)
	c = headless.Config{MaxFrame: o.maxFrame, Version: version(), Timeout: o.timeout, Record: o.record, RecordNew: o.recordNew, Follow: o.otlp.follow, Late: o.otlp.late(), Traces: o.otlp.traces, ReceiveSpans: o.otlp.listen != ""}
	if o.verbose {
		c.Logger = logger
	}
	if c.Settings, err = o.settings(cmd.Flags().Changed("protocol")); err != nil {
		return c, err
	}
	c.Settings.Sampling, c.Settings.Roots = o.sampling, o.roots
	if c.Redaction, err = o.redact.redaction(); err != nil {
		return c, err
	}
	specs, err := o.targets(c.Redaction, logger)
	switch {
	case err != nil:
		return c, err
	case len(specs) > 1:
		return c, usage("%s has %d servers; name one with --server", o.options.config, len(specs))
	}
	c.Target = specs[0]
	return c, nil
}

// connect opens a session. Where a revision is named, there is none in another revision.
func connect(ctx context.Context, c headless.Config) (*headless.Session, error) {
	s, err := headless.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	server, err := s.Server()
	if named := server.Settings.Protocol; err == nil && named != "" && server.Info.Protocol != named && server.State == conversation.ServerReady { // else it is getting a new session
		err = fmt.Errorf("%w to %s in revision %s, which was named: it speaks %s", headless.ErrConnect, server.DisplayName(), named, server.Info.Protocol)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// converse connects, has use talk to the server, and closes the connection. n tells what
// happens, ask asks a person if it is not nil, and nobody says that no person can sign in.
// If the connection fails, it prints why, and the error is the exit code.
func (o *headlessOptions) converse(cmd *cobra.Command, n *narrator, ask asker, nobody bool, use func(*headless.Session) error) error {
	err := func() (err error) {
		defer func() { err = errors.Join(err, o.close()) }()
		told, err := o.otlp.begin(cmd)
		if err != nil {
			return err
		}
		defer told()
		config, err := o.connection(cmd)
		if err != nil {
			return err
		}
		config.SignIns = o.signIn.newDesk(cmd, nobody)
		defer func() { err = errors.Join(err, config.SignIns.Close()) }()
		config.Watch, config.Ask = n.watch, ask
		s, err := connect(cmd.Context(), config)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return use(s)
	}()
	switch {
	case cmd.Context().Err() != nil:
		return exitCode(exitInterrupted)
	case errors.Is(err, headless.ErrConnect):
		warn(cmd, "%v", err)
		return exitCode(exitConnect)
	}
	return err
}

type callOptions struct {
	headlessOptions
	prompt, resource string
	args             string
	script           string
	output           string
	failOn           string
	noInput          bool
	task, each       bool
	ttl              time.Duration
}

func newCall() *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use:   "call TOOL [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Make one call without a page, and answer its questions by a script",
		Long: `Call makes one call of a tool, a prompt or a resource, answers what the server asks
meanwhile, and prints the result. Without a target it calls the built-in demo server.

Questions are answered by the rules of --answers FILE, in YAML or JSON; 'inspector
schema answers' prints the JSON Schema of such files, and docs/answers.md tells more.
On a terminal, what no rule answers is asked there. Elsewhere it is cancelled, shown on
standard error, and the exit code is 5.

Standard output has the result and nothing else: its texts, its exact JSON, or with
--output jsonl one JSON object for each thing that happens, the result last. Questions,
answers, progress, log messages and the lines of the server's standard error, each after
"stderr: ", are printed on standard error.

Exit codes: 0 done; 1 the tool said isError, or something failed here; 2 a command line
or an answers file that cannot be understood; 3 the server could not be reached, was
lost, or asks for a sign-in that nobody made (--oauth-wait); 4 a JSON-RPC error, or a
result that is none; 5 a question that nothing answers; 6 the time limit; 7 an
expectation of the answers file is not met; 8 findings at or above --fail-on; 130
interrupted. Where the answers file expects a result or an error, that decides in place
of 1 and 4.`,
		Example: `  inspector call deploy --answers answers.yaml -- ./my-server
  inspector call deploy --args '{"branch":"main"}' --output json https://example.com/mcp
  inspector call --prompt release_notes --args @arguments.json -- ./my-server
  inspector call --resource contract://lease/old-mill -- ./my-server`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.args, "args", "", "the arguments: a `JSON` object, or @FILE to read one from")
	f.StringVar(&o.prompt, "prompt", "", "get the prompt of this `NAME` instead of calling a tool")
	f.StringVar(&o.resource, "resource", "", "read the resource at this `URI` instead of calling a tool")
	f.StringVar(&o.script, "answers", "", "answer questions by the rules in `FILE`, YAML or JSON; - reads standard input")
	f.StringVar(&o.output, "output", "text", "how to print the result (`FORMAT`): text, json or jsonl")
	f.StringVar(&o.failOn, "fail-on", "never", "exit with 8 for findings of this `SEVERITY` or a graver one: must, should, advice, or never")
	f.BoolVar(&o.task, "task", false, "call the tool as a task where it may be one; a tool that has to be called so always is")
	f.BoolVar(&o.each, "each", false, "send each answer to a question of a task as it is given, instead of all together")
	f.DurationVar(&o.ttl, "ttl", 0, "how long (`D`) the server is asked to keep the task; without it the server decides")
	f.BoolVar(&o.noInput, "no-input", false, "do not ask on the terminal, and wait for nobody to sign in")
	o.headlessOptions.register(f)
	return cmd
}

func (o *callOptions) run(cmd *cobra.Command, args []string) error {
	call, err := o.call(cmd, args)
	if err != nil {
		return err
	}
	failOn, err := severity(o.failOn)
	if err != nil {
		return err
	}
	n := &narrator{out: cmd.ErrOrStderr(), quiet: o.quiet}
	switch o.output {
	case "text", "json":
	case "jsonl":
		n.events = json.NewEncoder(cmd.OutOrStdout())
		n.events.SetEscapeHTML(false)
	default:
		return usage("--output must be text, json or jsonl, not %q", o.output)
	}
	call.Judge = failOn != nil
	var ask asker
	if !o.noInput && onTerminal() {
		ask = theTerminal(n).ask
	}
	var out headless.Outcome
	err = o.converse(cmd, n, ask, o.noInput, func(s *headless.Session) (err error) {
		out, err = s.Call(cmd.Context(), call)
		return err
	})
	if err != nil {
		return err
	}
	return o.tell(cmd, n, out, verdict(out, call.Expect, failOn))
}

func (o *callOptions) call(cmd *cobra.Command, args []string) (c headless.Call, err error) {
	dash := cmd.ArgsLenAtDash()
	named := 0
	for kind, key := range map[conversation.Kind]string{conversation.Prompt: o.prompt, conversation.Resource: o.resource} {
		if key != "" {
			c.Kind, c.Key, named = kind, key, named+1
		}
	}
	switch {
	case named > 1:
		return c, usage("--prompt and --resource cannot be used together")
	case named == 0 && (len(args) == 0 || dash == 0):
		return c, usage("call needs the name of a TOOL, --prompt or --resource")
	case named == 0:
		c.Kind, c.Key, args, dash = conversation.Tool, args[0], args[1:], dash-1
	}
	if c.AsTask, c.TTL, c.Each = o.task, o.ttl, o.each; o.ttl < 0 {
		return c, usage("--ttl must not be negative")
	}
	if err := o.readArguments(args, dash); err != nil {
		return c, err
	}
	if c.Arguments, err = readJSON("--args", o.args); err != nil {
		return c, err
	}
	if c.Arguments != nil && c.Kind == conversation.Resource {
		return c, usage("--args: a resource takes no arguments")
	}
	if o.script != "" {
		answers, err := readAnswers(cmd, o.script)
		if err != nil {
			return c, err
		}
		c.Scripts, c.Expect = []*script.Script{answers}, answers.Expect
	}
	return c, nil
}

// readJSON returns the JSON object in a flag, or in the file that the flag names with @;
// nil if the flag is empty.
func readJSON(flag, value string) (json.RawMessage, error) {
	text := []byte(value)
	if path, isFile := strings.CutPrefix(value, "@"); isFile {
		var err error
		if text, err = written.ReadFile(path); err != nil {
			return nil, usage("%s: %w", flag, err)
		}
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if len(text) == 0 {
		return nil, nil
	}
	if err := rawjson.Check(text); err != nil {
		return nil, usage("%s: this is not JSON: %w", flag, err)
	}
	if rawjson.KindOf(text) != rawjson.Object {
		return nil, usage("%s: want a JSON object", flag)
	}
	return rawjson.Trim(text), nil
}

// readAnswers reads an answers file; - stands for standard input.
func readAnswers(cmd *cobra.Command, path string) (*script.Script, error) {
	name := path
	var text []byte
	var err error
	if path == "-" {
		name = "standard input"
		text, err = written.ReadAll(name, cmd.InOrStdin())
	} else {
		text, err = written.ReadFile(path)
	}
	if err != nil {
		return nil, usage("--answers: %w", err)
	}
	answers, err := script.Parse(name, text, os.LookupEnv)
	if err != nil {
		return nil, usage("--answers: %w", err)
	}
	warnRenamed(cmd, answers)
	return answers, nil
}

// warnRenamed says once for a file that it has keys by their former names.
func warnRenamed(cmd *cobra.Command, s *script.Script) {
	if s.Renamed != "" {
		warn(cmd, "%s", s.Renamed)
	}
}

// severity parses --fail-on; nil stands for never.
func severity(name string) (*lint.Severity, error) {
	if name == "never" {
		return nil, nil
	}
	least := new(lint.Severity)
	if err := least.UnmarshalText([]byte(name)); err != nil {
		return nil, usage("--fail-on must be must, should, advice or never, not %q", name)
	}
	return least, nil
}

func verdict(out headless.Outcome, expect *script.Outcome, failOn *lint.Severity) int {
	switch {
	case out.TimedOut:
		return exitTimeout
	case len(out.Unanswered) > 0:
		return exitUnanswered
	case out.Lost:
		return exitConnect
	case len(out.Unmet) > 0:
		return exitUnmet
	case expect.Decides():
	case out.Result == nil:
		return exitRPC
	case out.IsError:
		return exitError
	}
	for _, f := range out.Findings {
		if failOn != nil && f.Severity <= *failOn {
			return exitFindings
		}
	}
	return exitOK
}

// tell prints the outcome of a call. The error is the exit code, nil for exitOK.
func (o *callOptions) tell(cmd *cobra.Command, n *narrator, out headless.Outcome, code int) error {
	for _, u := range out.Unanswered {
		tellUnanswered(cmd.ErrOrStderr(), u)
	}
	for _, text := range reasons(out) {
		warn(cmd, "%s", text)
	}
	for _, unmet := range out.Unmet {
		warn(cmd, "not as expected: %s", unmet)
	}
	for _, rule := range out.Idle {
		warn(cmd, "%s", idle(o.script, rule))
	}
	if code == exitFindings {
		for _, f := range out.Findings {
			warn(cmd, "%s: %s [%s]", f.Severity.Word(), wording.EscapeLine(f.Text), f.Rule)
		}
	}
	var err error
	switch {
	case n.events != nil:
		err = n.events.Encode(endEvent(out, code))
	case out.Result == nil:
	case o.output == "json":
		_, err = fmt.Fprintln(cmd.OutOrStdout(), wording.EscapeJSON(out.Result))
	default:
		err = writeResult(cmd.OutOrStdout(), out.Result)
	}
	if err == nil && code != exitOK {
		err = exitCode(code)
	}
	return err
}

// reasons says why there is no result, and what helps.
func reasons(out headless.Outcome) []string {
	var list []string
	if out.Error != nil {
		text := ""
		if e, err := conversation.ErrorOf(out.Error); err != nil {
			text = err.Error()
		} else {
			text = fmt.Sprintf("the server answered with error %d: %s", e.Code, e.Message)
			if data := rawjson.Member(out.Error, "data"); data != nil {
				text += " " + string(rawjson.AppendCompact(nil, data))
			}
		}
		list = append(list, wording.EscapeLine(text))
	} else if out.Result == nil {
		list = append(list, wording.EscapeLine(out.Failure))
	}
	list = append(list, out.Misfit)
	if out.Unsent != "" {
		list = append(list, conversation.UnsentBefore+wording.EscapeLine(out.Unsent)+conversation.UnsentAfter+" With --protocol "+mcp.Revision20251125+" it can.")
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

func idle(file string, r *script.Rule) string {
	if file == "-" {
		file = "standard input"
	}
	return fmt.Sprintf("%s:%d: this rule answered no question", file, r.Line)
}

func writeResult(w io.Writer, raw json.RawMessage) error {
	result, err := conversation.ReadResult(raw)
	if err != nil || len(result.Content) == 0 && result.Structured == nil {
		_, err := fmt.Fprintf(w, "%s\n", rawjson.Pretty(raw))
		return err
	}
	var b strings.Builder
	told := false
	for _, c := range result.Content {
		line := c.Text
		switch {
		case c.Problem != "":
			line = "[" + c.Problem + "]"
		case c.Text != "":
			told = true
		case c.Bytes != nil:
			line = fmt.Sprintf("[%s %s, %d bytes]", c.Type, c.MIME, len(c.Bytes))
		default:
			line = strings.TrimSpace("[" + c.Type + " " + c.URI + "] " + c.Name)
		}
		if c.Role != "" {
			line = c.Role + ": " + line
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	if result.Structured != nil && !told {
		b.WriteString(rawjson.Pretty(result.Structured) + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}
