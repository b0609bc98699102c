package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Exit codes. They are documented in the README and do not change.
const (
	exitOK    = 0
	exitError = 1 // something went wrong while running
	exitUsage = 2 // the command line cannot be understood
	// exitFindings: what was looked for was found, see lint.
	exitFindings = 8
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string) int {
	root := newRoot(os.Stdout, os.Stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var mistake usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &mistake):
		fmt.Fprintf(os.Stderr, "inspector: %v\nRun 'inspector help' for usage.\n", err)
		return exitUsage
	default:
		fmt.Fprintf(os.Stderr, "inspector: %v\n", err)
		return exitError
	}
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
		Args:              func(*cobra.Command, []string) error { return nil },
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Version:           version(),
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if err := o.target(args, dash); err != nil {
				return err
			}
			return inspect(cmd.Context(), o, out, newLogger(errOut, o.verbose))
		},
	}
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 {
			// The flag may have been meant for a server's program.
			if hint := advice(rest(os.Args, args[0])); hint != "" {
				err = fmt.Errorf("%w; %s", err, hint)
			}
		}
		return usageError{err}
	})
	o.register(root)
	root.AddCommand(newOpen(out, errOut), newExport(out, errOut), newLint(out, errOut), newDemo(out, errOut), newVersion(out), newFilterHelp())
	return root
}

func newVersion(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(out, "inspector %s\n", version())
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

// version is the module's version, or the revision that it was built from.
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

func newLogger(w io.Writer, verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
