package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/wire/query"
)

// Exit codes. They are documented in the README and do not change.
const (
	exitOK    = 0
	exitError = 1 // something went wrong while running
	exitUsage = 2 // the command line cannot be understood

	// Codes of calls without a page; see newCall. A tool result with isError is an
	// exitError.
	exitConnect    = 3 // the server could not be reached, or was lost
	exitRPC        = 4 // a JSON-RPC error, or a result that is none
	exitUnanswered = 5 // a question that nothing answers
	exitTimeout    = 6 // the time limit
	exitUnmet      = 7 // an expectation is not met
	exitFindings   = 8 // there are findings; see lint, too

	exitContent = 9 // of a comparison, in which only content differs

	// Codes of a check that could not judge what it was to judge; see check.Problem.
	exitNothingTried = 9
	exitCallBroken   = 10
	exitHonestFailed = 11
	exitAskedNothing = 12
	exitNotSpoken    = 13
	exitWitnessBlind = 14
	exitNoTarget     = 15
	exitUntried      = 16 // most trials of a call could not be made
	exitUnrepeated   = 17 // what changed during several trials, none changes alone
	exitProceeds     = 18 // a decline proceeds, and no witness looked

	exitInterrupted = 130 // by a signal such as Ctrl-C
)

// exitCode is the error of a program that has already printed why it ends.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, args []string) int {
	root := newRoot(os.Stdout, os.Stderr)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	warn(root, "%v", err)
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(os.Stderr, "Run 'inspector help%s' for usage.\n", strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()))
		return exitUsage
	}
	return exitError
}

// warn writes a line to standard error, and ignores write errors. Further lines of the text
// are indented, so that none of them looks like a line of the inspector.
func warn(cmd *cobra.Command, format string, args ...any) {
	text := furtherLine().ReplaceAllString(fmt.Sprintf(format, args...), "\n  $1")
	fmt.Fprintf(cmd.ErrOrStderr(), "inspector: %s\n", text)
}

var furtherLine = lazy.Regexp(`\n(\S)`)

// exact returns the writer below the one that escapes what a terminal would obey: for
// formats that do so themselves, and for those that have the bytes of the wire.
func exact(w io.Writer) io.Writer {
	if plain, ok := w.(wording.EscapingWriter); ok {
		return plain.To
	}
	return w
}

func newRoot(out, errOut io.Writer) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "inspector [flags] [URL | -- COMMAND [ARG...]]",
		Short: "See, answer and record what MCP servers ask their users",
		Long: `Inspector connects to an MCP server as a client and opens a page on which you
call its tools, see each elicitation as a person would, answer it, and read the
exact bytes that went over the wire.

Without a target it connects to a built-in demo server.`,
		Example: `  inspector                                   the built-in demo server
  inspector -- ./my-server --flag             a server that speaks over stdio
  inspector https://example.com/mcp           a server that speaks HTTP
  inspector --record flow.jsonl -- ./my-server`,
		Args:              cobra.ArbitraryArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Version:           version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if hint := meantCommand(cmd, args); hint != "" {
				return usage("there is no subcommand %q%s", args[0], hint)
			}
			if err := o.readArguments(args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			if err := o.page.check(); err != nil {
				return err
			}
			return inspect(cmd, o)
		},
	}
	root.SetOut(wording.EscapingWriter{To: out})
	root.SetErr(wording.EscapingWriter{To: errOut})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 {
			// The flag may be meant for the server's program.
			if hint := advice(rest(os.Args, args[0])); hint != "" {
				return usage("%w; %s", err, hint)
			}
		}
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			var names []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
			return usage("%w%s", err, wording.DidYouMean("--"+unknown.GetSpecifiedName(), names))
		}
		return usageError{err}
	})
	f := root.Flags()
	o.page.register(f)
	o.registerSession(f)
	f.StringVar(&o.answers, "answers", "", "answer questions by the rules in `FILE`, YAML or JSON, and leave the others to the page")
	f.BoolVar(&o.taps, "taps", false, "connect to no server, and show what 'inspector tap' sends")
	f.BoolVar(&o.allowAdd, "allow-add", false, "let the page connect to further servers; whoever can open it can then start programs")
	f.IntVar(&o.elicitRate, "elicit-rate", live.DefaultRate, "how many questions a minute (`N`) one server may put on show; further ones are held back; 0 for no limit")
	root.AddCommand(newCall(), newRun(), newCheck(), newTap(), newList(), newAnswers(), newSchema(), newOpen(), newExport(), newLint(), newDiff(), newReplay(), newMock(), newProbe(), newFit(), newDemo(), newVersion(), newFilterHelp(), newFaultHelp())
	for _, cmd := range append(root.Commands(), root) { // flags stand in the help as they are registered
		cmd.Flags().SortFlags = false
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, args []string) error {
			if _, left, _ := root.Find(args); len(left) > 0 {
				return usage("there is no help on %q%s", left[0], meantCommand(root, left))
			}
			return nil
		}
	}
	return root
}

// meantCommand returns the subcommand that the first of the arguments most likely means,
// with "did you mean"; "" if there is none, or if the argument is a file.
func meantCommand(root *cobra.Command, args []string) string {
	if len(args) == 0 || root.ArgsLenAtDash() == 0 {
		return ""
	}
	if _, err := os.Stat(args[0]); err == nil {
		return ""
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return wording.DidYouMean(args[0], names)
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "inspector %s\n", version())
			return err
		},
	}
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unexpected argument %q", args[0])
	}
	return nil
}

func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s needs a transcript FILE", cmd.Name())
	}
	return nil
}

// version returns the module's version, or the revision that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += "+" + s.Value[:12]
			}
		}
	}
	return v
}

func newLogger(cmd *cobra.Command, verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}

// newFilterHelp returns a help topic without a command: the language of filter lines.
func newFilterHelp() *cobra.Command {
	var b strings.Builder
	b.WriteString(`A filter line picks frames: in the page's text box Filter, and in the flag
--filter of 'inspector export'. It is made of terms, words and regular expressions.

`)
	for _, t := range query.Terms() {
		fmt.Fprintf(&b, "  %-22s %s\n", t.Example, t.Means)
	}
	b.WriteString(`
  word "two words"       the text in the frame, upper and lower case being the same
  /re+gexp/ /re/i        a regular expression (RE2) that matches in the frame

Side by side, or with "and" or "&&" between them, they must all hold. "or" or
"||" means either, "!", "-" or "not" before one its opposite, and parentheses
group. Several values of one term are separated by commas; * stands for any
text. Numbers and sizes are compared with : > >= < <=, and != is the opposite
of the colon. White space may stand around these. "error" is all that failed:
JSON-RPC errors (rpc-error alone), results with isError, HTTP statuses of 400
and above, processes that exit with a code other than 0.

  method:tools/* !kind:noise ms>500
  (kind:error or finding:any) after:+10s`)
	return &cobra.Command{Use: "filter", Short: "The language of filter lines", Long: b.String()}
}

// newFaultHelp returns a help topic without a command: the names of faults.
func newFaultHelp() *cobra.Command {
	var b strings.Builder
	b.WriteString(`An answers file may answer wrongly on purpose, by the name of a fault: {fault: NAME},
with its parameters beside it. The page has the same in its menu Misbehave.
`)
	for _, group := range fault.Groups() {
		fmt.Fprintf(&b, "\n%s\n", group.Title())
		for _, f := range fault.All() {
			if f.Group != group {
				continue
			}
			fmt.Fprintf(&b, "  %-24s %s", f.Name, f.Does)
			if len(f.Params) > 0 {
				fmt.Fprintf(&b, " [%s]", strings.Join(f.Params, ", "))
			}
			b.WriteString("\n")
		}
	}
	return &cobra.Command{Use: "faults", Short: "The names of faults, for answers files", Long: strings.TrimSuffix(b.String(), "\n")}
}
