package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/judges/probe/report"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/web"
)

// probeOptions are the flags of the probe command.
type probeOptions struct {
	page      pageOptions
	http      string
	protocol  []string
	patience  time.Duration
	reports   []string
	compare   bool
	failOn    string
	expect    string
	record    string
	recordNew bool
	redact    redactOptions
	otlp      otlpOptions
	verbose   bool
}

func newProbe() *cobra.Command {
	var o probeOptions
	cmd := &cobra.Command{
		Use:   "probe [flags] | probe --compare REPORT.json...",
		Short: "Judge a client: a server whose questions show what the client does",
		Long: `Probe is an MCP server of which every tool is a probe of the client that calls it: it
asks a question that says in its message what to do, and the bytes that come back show
what the client did. Each verdict is works, partly, fails, refuses openly or not seen, with
the frames that show it, or may: no rule forbids it. docs/probe.md lists the probes.

Exit codes: 0 also where probes fail, unless --fail-on or --expect says otherwise; 2 for a
mistake in the command line; 8 for a verdict at or below --fail-on, or one that is not the
expected one, which is then said on standard error.

Over stdio, the client starts it: paste this where the client keeps its servers (the name of
the file and of the outer member differ from client to client).

  {"mcpServers": {"probe": {"command": "` + shownProgram() + `", "args": ["probe", "--report", "/tmp/probe.html"]}}}      Claude Desktop, Cursor, most others
  {"servers": {"probe": {"type": "stdio", "command": "` + shownProgram() + `", "args": ["probe"]}}}                      VS Code
  claude mcp add probe -- ` + shownProgram() + ` probe                                                                    Claude Code

With --http it serves Streamable HTTP at http://ADDR/mcp.

Then call probe_all in the client, and what it leaves out one by one. A page shows the
verdicts as they come, beside the log; its address is printed, over stdio on standard
error.`,
		Example: `  inspector probe --http 127.0.0.1:8931 --report client.html
  inspector probe --report client.json --report client.xml     as a client starts it
  inspector probe --compare one.json another.json
  inspector probe --compare client.json --fail-on partly --expect expected.txt     in CI`,
		Args: func(_ *cobra.Command, args []string) error {
			if !o.compare {
				return noArgs(nil, args)
			}
			if len(args) == 0 {
				return usage("probe --compare needs a REPORT.json")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			judge, err := o.judge()
			if err != nil {
				return err
			}
			if o.compare {
				var list []*probe.Report
				for _, path := range args {
					r, err := readReport(path, probe.Read)
					if err != nil {
						return usage("%s: %w", path, err)
					}
					list = append(list, r)
				}
				return cmp.Or(report.WriteComparison(exact(cmd.OutOrStdout()), list...), judge(cmd, list...))
			}
			return o.run(cmd, judge)
		},
	}
	f := cmd.Flags()
	o.page.register(f)
	f.StringVar(&o.http, "http", "", "serve Streamable HTTP at `ADDR` instead of stdio")
	f.StringArrayVar(&o.protocol, "protocol", nil, "speak only this protocol revision (`REV`): "+strings.Join(mcp.Revisions, ", ")+" (repeat)")
	f.DurationVar(&o.patience, "patience", 10*time.Minute, "how long (`D`) a question waits for its answer")
	f.StringArrayVar(&o.reports, "report", nil, "write the report into `FILE` whenever it changes: "+report.Formats.Endings()+" for JUnit (repeat)")
	f.BoolVar(&o.compare, "compare", false, "compare the reports (.json) of several runs in a table, and serve nothing")
	f.StringVar(&o.failOn, "fail-on", "never", "exit with 8 where a probe fails, or also where it works partly (`VERDICT`): fails, partly or never")
	f.StringVar(&o.expect, "expect", "", "exit with 8 where a verdict is not as in `FILE`, which has lines such as 'exact-integer: partly'; --fail-on is for all other probes")
	f.StringVar(&o.record, "record", "", "append a transcript to `FILE` as it happens")
	f.BoolVar(&o.recordNew, "record-new", false, "with --record: refuse an existing file")
	o.redact.register(f, "of what is recorded and reported")
	o.otlp.register(f)
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log more to standard error")
	return cmd
}

// shownProgram is the path of this program, for a configuration.
func shownProgram() string {
	if path, err := os.Executable(); err == nil {
		return filepath.ToSlash(path)
	}
	return "inspector"
}

func checkReports(paths []string) error {
	for _, path := range paths {
		if report.Formats.Of(path) == nil {
			return usage("--report %s: the name must end in %s", path, report.Formats.Endings())
		}
	}
	return nil
}

// judge returns what judges reports by --fail-on and --expect: an error with the exit code, nil
// where all is as it should be.
func (o *probeOptions) judge() (func(*cobra.Command, ...*probe.Report) error, error) {
	grave := map[string][]probe.Verdict{"never": {}, "fails": {probe.Fails}, "partly": {probe.Fails, probe.Partly}}[o.failOn]
	if grave == nil {
		return nil, usage("--fail-on must be fails, partly or never, not %q", o.failOn)
	}
	expected := map[string]probe.Verdict{}
	if o.expect != "" {
		text, err := os.ReadFile(o.expect)
		if err != nil {
			return nil, usage("--expect: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			if strings.TrimSpace(line) == "" {
				continue
			}
			name, verdict, _ := strings.Cut(strings.TrimSpace(line), ":")
			want := probe.Verdict(strings.TrimSpace(verdict))
			if !slices.Contains(probe.Verdicts(), want) || probe.Find(name) == nil && lint.RuleOf(name).ID == "" {
				return nil, usage("--expect: %q is no probe with a verdict, such as 'exact-integer: partly'", line)
			}
			expected[name] = want
		}
	}
	return func(cmd *cobra.Command, reports ...*probe.Report) (code error) {
		for _, r := range reports {
			if len(r.Clients) == 0 && o.failOn+o.expect != "never" {
				warn(cmd, "no client has called a probe: there is nothing to judge")
				code = exitCode(exitFindings)
			}
			for _, c := range r.Clients {
				for _, one := range c.Results {
					want, listed := expected[one.Probe]
					if listed && one.Verdict != want || !listed && slices.Contains(grave, one.Verdict) {
						warn(cmd, "%s: %s is %s, expected %s. %s", c.Label(), one.Probe, one.Verdict, cmp.Or(want, "none such"), wording.Join(" ", one.How, one.Change))
						code = exitCode(exitFindings)
					}
				}
			}
		}
		return code
	}, nil
}

func (o *probeOptions) run(cmd *cobra.Command, judge func(*cobra.Command, ...*probe.Report) error) (err error) {
	for _, revision := range o.protocol {
		if !slices.Contains(mcp.Revisions, revision) {
			return usage("--protocol must be one of %s, not %q", strings.Join(mcp.Revisions, ", "), revision)
		}
	}
	if err := checkReports(o.reports); err != nil {
		return err
	}
	if o.recordNew && o.record == "" {
		return usage("--record-new needs --record")
	}
	if o.patience <= 0 {
		return usage("--patience must be more than 0")
	}
	if err := o.page.check(); err != nil {
		return err
	}
	logger := newLogger(cmd, o.verbose)
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return err
	}
	defer told()
	defer o.otlp.follow(log, redaction)()
	recording := playback.NewRecording(log, logger, redaction, func() {})
	defer func() { err = errors.Join(err, recording.Close()) }()
	if o.record != "" {
		if err := recording.Begin(o.record, o.recordNew); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	address := o.http
	if address == "" {
		address = "127.0.0.1:0" // for the pages that clients are asked to open
	}
	l, err := listenAt(cmd, address)
	if err != nil {
		return err
	}
	base := "http://" + shownAddress(l.Addr())
	server := probe.New(probe.Options{Log: log, Version: version(), Base: base, Patience: o.patience, Revisions: o.protocol})
	place, err := o.page.place(cmd, logger)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer place.browser.close()
	config := place.config(redaction)
	config.Recording = recording
	page := web.NewProbe(config, server, log)

	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var work sync.WaitGroup
	failed := make(chan error, 3)
	work.Go(func() {
		failed <- o.keepReports(ctx, server, log, redaction, func(err error) { logger.Error("writing the report", "error", err) })
	})
	work.Go(func() { failed <- page.Serve(ctx, place.listener) })
	pages := &http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second}
	work.Go(func() {
		if err := pages.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("serving on %s: %w", l.Addr(), err)
		}
	})
	if o.http != "" {
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Probe ready: %s/mcp\n", base); err != nil {
			logger.Warn("standard output is closed", "error", err)
		}
		place.announce(cmd.OutOrStdout(), 0)
		select {
		case err = <-failed:
		case <-ctx.Done():
		}
	} else {
		if onTerminal() {
			warn(cmd, "This is a server that a client starts: see 'inspector probe --help' for what to paste there, or use --http ADDR.")
		}
		place.noOpen = true // a client may start its servers again and again
		place.announce(cmd.ErrOrStderr(), 0)
		err = server.ServeLines(ctx, cmd.InOrStdin(), exact(cmd.OutOrStdout()))
	}
	server.Close()
	stop()
	err = errors.Join(err, pages.Close())
	work.Wait()
	close(failed)
	for one := range failed {
		err = errors.Join(err, one)
	}
	return cmp.Or(err, judge(cmd, server.Report()))
}

// reportEvery is the shortest time between two writings of the reports.
const reportEvery = time.Second

// keepReports writes the reports whenever they change, and once more at the end, when it
// returns. What fails before is told, and tried again.
func (o *probeOptions) keepReports(ctx context.Context, server *probe.Server, log *wire.Log, redaction *redact.Redaction, tell func(error)) error {
	for {
		over := ctx.Err() != nil // asked before the report is made, so that the last one has everything
		changed := server.Changed()
		r := server.Report()
		err := r.AddEvidence(log, redaction)
		for _, path := range o.reports {
			err = errors.Join(err, writeReport(path, r))
		}
		if over {
			return err
		}
		if err != nil {
			tell(err)
		}
		select {
		case <-ctx.Done():
			continue
		case <-changed:
		}
		select {
		case <-ctx.Done():
		case <-time.After(reportEvery):
		}
	}
}

// writeReport replaces a report as a whole, so that nobody reads half of one.
func writeReport(path string, r *probe.Report) error {
	if err := writeTo(nil, path, func(w io.Writer) error { return report.Formats.Of(path).Write(w, r) }); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return nil
}

// reportMost is the size in bytes of the largest report that is read.
const reportMost = 64 << 20

// readReport reads a report from a file.
func readReport[R any](path string, read func(io.Reader) (R, error)) (r R, err error) {
	text, err := written.ReadLarge(path, reportMost)
	if err != nil {
		return r, err
	}
	return read(bytes.NewReader(text))
}
