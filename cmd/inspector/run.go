package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

type runOptions struct {
	headlessOptions
	format    string
	failOn    string
	directory string
	jobs      int
	desk      *signin.Desk
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE... [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Run scenario files: calls with answers and expectations, as tests",
		Long: `Run makes the calls of scenario files and says which of them were as expected. A
scenario has a target, calls in order with their arguments, answers and expectations,
and may name several protocol revisions; 'inspector schema scenario' prints the JSON
Schema of such files, and docs/answers.md tells more. A URL, a COMMAND after -- or the
server of a --config is called in place of the targets that the files name, and flags go
before what the files say. A revision that a file or --protocol names is spoken, or the
calls fail.

Formats are text, tap (version 14), junit (XML) and json. The exit code is that of 'inspector
call' for the gravest of the calls that failed: 3, 6, 5, 7, 4, 1, 8, in this order.`,
		Example: `  inspector run scenarios/*.yaml
  inspector run --format junit --jobs 4 scenarios/*.yaml > results.xml
  inspector run deploy.yaml -- node dist/server.js
  inspector run deploy.yaml --protocol 2025-11-25 --header 'X-Key: abc' https://example.com/mcp`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT` to print: "+runFormats.Names())
	f.IntVar(&o.jobs, "jobs", 1, "how many targets (`N`) to run at the same time")
	f.StringVar(&o.failOn, "fail-on", "never", "fail for findings of this `SEVERITY` or a graver one: must, should, advice, or never")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long (`D`) connecting, and each call, may take, unless the file says; 0 for no limit")
	f.StringVar(&o.directory, "record", "", "write a transcript of each target into this `DIR`")
	o.registerRequests(f)
	o.registerTarget(f)
	o.otlp.registerListen(f)
	o.registerClient(f)
	o.signIn.registerWait(f)
	f.Lookup("verbose").Usage = "tell what happens in the calls, and log more, on standard error"
	return cmd
}

// suite holds the outcomes of the calls of one file in one revision.
type suite struct {
	File     string   `json:"file"`
	Protocol string   `json:"protocol,omitempty"` // as in the file
	Calls    []tested `json:"calls"`
	Idle     []string `json:"idle,omitempty"` // rules that answered no question, in words

	options  options // of its target
	config   headless.Config
	scenario *script.Scenario
	took     time.Duration
	failed   error // of closing the connection and the transcript after the last call
}

func (s *suite) name() string {
	return s.File + wording.Either(s.Protocol != "", " ("+s.Protocol+")", "")
}

type tested struct {
	Name    string  `json:"name"`
	Exit    int     `json:"exit"`
	Why     string  `json:"why,omitempty"` // why the call failed
	Seconds float64 `json:"seconds"`
	event           // the last event of the call
}

// gravest lists the exit codes by precedence: if calls fail with several codes, the first
// of them is used.
var gravest = []int{exitConnect, exitTimeout, exitUnanswered, exitUnmet, exitRPC, exitError, exitFindings}

func (o *runOptions) run(cmd *cobra.Command, args []string) (err error) {
	files, rest, dash := splitTarget(args, cmd.ArgsLenAtDash())
	if err := o.readTarget(rest, dash); err != nil {
		return err
	}
	format, err := runFormats.Named(o.format)
	if err != nil {
		return usage("--format %w", err)
	}
	failOn, err := severity(o.failOn)
	switch {
	case err != nil:
		return err
	case len(files) == 0:
		return usage("run needs a scenario FILE")
	case o.jobs < 1:
		return usage("--jobs must be 1 or more")
	}
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return err
	}
	defer told()
	suites, err := o.readSuites(cmd, files, cmd.Flags().Changed("protocol"))
	if err != nil {
		return err
	}
	o.desk = o.signIn.newDesk(cmd, false)
	defer func() { err = errors.Join(err, o.desk.Close()) }()
	for _, s := range suites {
		defer func() { err = errors.Join(err, s.options.close()) }()
		if s.config, err = o.config(cmd, s); err != nil {
			return err
		}
	}
	turns := make(chan struct{}, o.jobs)
	var running sync.WaitGroup
	for _, s := range suites {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			o.runSuite(cmd, s, failOn)
		})
	}
	running.Wait()
	for _, s := range suites {
		for _, text := range s.Idle {
			warn(cmd, "%s", text)
		}
	}
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if err := format.Write(cmd.OutOrStdout(), suites); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	for _, s := range suites {
		if s.failed != nil {
			warn(cmd, "%s: %v", s.name(), s.failed)
		}
	}
	for _, code := range gravest {
		for _, s := range suites {
			if code == exitError && s.failed != nil || slices.ContainsFunc(s.Calls, func(c tested) bool { return c.Exit == code }) {
				return exitCode(code)
			}
		}
	}
	return nil
}

// readSuites reads all files, and finds their targets, before any call is made.
func (o *runOptions) readSuites(cmd *cobra.Command, files []string, protocolGiven bool) (suites []*suite, err error) {
	var wrong []error
	for _, file := range files {
		text, err := written.ReadFile(file)
		if err != nil {
			return nil, usageError{err}
		}
		scenario, err := script.ParseScenario(file, text, os.LookupEnv)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		warnRenamed(cmd, &scenario.Script)
		own := o.options
		if err := own.adopt(scenario.Target, file); err != nil {
			wrong = append(wrong, err)
			continue
		}
		err = own.consistent()
		if err == nil && !own.hasTarget() && !scenario.Target.Demo {
			err = errors.New("it has no target, and the command line no URL and no command after --")
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", file, err))
			continue
		}
		revisions := scenario.Protocols
		switch {
		case protocolGiven:
			revisions = []string{o.protocol}
		case len(revisions) == 0:
			revisions = []string{""}
		}
		for _, revision := range revisions {
			suites = append(suites, &suite{File: file, Protocol: revision, options: own, scenario: scenario})
		}
	}
	if wrong != nil {
		return nil, usageError{errors.Join(wrong...)}
	}
	return suites, nil
}

func (o *runOptions) runSuite(cmd *cobra.Command, s *suite, failOn *lint.Severity) {
	began := time.Now()
	err := o.callAll(cmd, s, failOn)
	s.took = time.Since(began)
	if err == nil {
		return
	}
	code := exitError
	if errors.Is(err, headless.ErrConnect) {
		code = exitConnect
	}
	left := s.scenario.Calls[len(s.Calls):]
	if len(left) == 0 {
		s.failed = err
	}
	for _, c := range left {
		s.Calls = append(s.Calls, tested{Name: c.Name, Exit: code, Why: err.Error(), event: event{Event: "failure"}})
	}
}

func (o *runOptions) callAll(cmd *cobra.Command, s *suite, failOn *lint.Severity) (err error) {
	n := &narrator{out: cmd.ErrOrStderr(), quiet: !o.verbose}
	s.config.Watch, s.config.SignIns = n.watch, o.desk
	session, err := connect(cmd.Context(), s.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	rested := map[*script.Rule]int{} // number of calls in which a rule answered nothing
	for _, c := range s.scenario.Calls {
		one, out, err := o.callOne(cmd.Context(), session, s.scenario, c, failOn)
		if err != nil {
			return err
		}
		s.Calls = append(s.Calls, one)
		for _, rule := range out.Idle {
			rested[rule]++
			if slices.Contains(c.Rules, rule) || rested[rule] == len(s.scenario.Calls) {
				s.Idle = append(s.Idle, idle(s.File, rule))
			}
		}
	}
	return nil
}

func (o *runOptions) callOne(ctx context.Context, session *headless.Session, scenario *script.Scenario, c *script.Call, failOn *lint.Severity) (one tested, out headless.Outcome, err error) {
	out, err = session.Call(ctx, headless.Call{
		Kind: conversation.Kind(c.Kind), Key: c.Key, Arguments: c.Arguments, Timeout: cmp.Or(c.Timeout, scenario.Timeout),
		Scripts: []*script.Script{&c.Script, &scenario.Script}, Expect: c.Expect, Judge: failOn != nil,
	})
	if err != nil {
		return one, out, err
	}
	code := verdict(out, c.Expect, failOn)
	one = tested{Name: c.Name, Exit: code, Seconds: out.Took.Seconds(), event: endEvent(out, code)}
	one.event.Exit = nil
	if code == exitOK {
		return one, out, nil
	}
	var why strings.Builder
	for _, u := range out.Unanswered {
		tellUnanswered(&why, u)
	}
	for _, line := range slices.Concat(out.Unmet, reasons(out)) {
		why.WriteString(line + "\n")
	}
	switch code {
	case exitError:
		why.WriteString("the tool says that it failed: " + script.TextOf(out.Result) + "\n")
	case exitFindings:
		for _, f := range out.Findings {
			fmt.Fprintf(&why, "%s: %s [%s]\n", f.Severity.Word(), wording.EscapeLine(f.Text), f.Rule)
		}
	}
	one.Why = strings.TrimSuffix(why.String(), "\n")
	return one, out, nil
}

// config returns the configuration of a suite's connection.
func (o *runOptions) config(cmd *cobra.Command, s *suite) (c headless.Config, err error) {
	own := o.headlessOptions
	own.options = s.options
	c, err = own.connection(cmd)
	if s.options.builtin = own.builtin; err != nil {
		return c, err
	}
	if c.Settings, err = conversation.ParseClientSettings(s.Protocol, cmp.Or(o.elicitation, s.scenario.Elicitation)); err != nil {
		return c, usageError{err}
	}
	c.Settings.Sampling, c.Settings.Roots = o.sampling || s.scenario.Sampling, o.roots || s.scenario.Roots
	if o.directory == "" {
		return c, nil
	}
	if err := os.MkdirAll(o.directory, 0o700); err != nil {
		return c, fmt.Errorf("--record: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
	if s.Protocol != "" {
		name += "-" + s.Protocol
	}
	c.Record = filepath.Join(o.directory, name+".jsonl")
	return c, nil
}

var runFormats = export.Formats[[]*suite]{
	{Name: "text", Write: reportText}, {Name: "tap", Write: reportTAP}, {Name: "junit", Write: reportJUnit},
	{Name: "json", Write: func(w io.Writer, suites []*suite) error { return report.WriteIndented(w, suites) }},
}

func below(indent, text string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

func reportText(w io.Writer, suites []*suite) error {
	var b strings.Builder
	good, all := 0, 0
	for _, s := range suites {
		b.WriteString(s.name() + "\n")
		for _, c := range s.Calls {
			all++
			word := "FAIL"
			if c.Exit == exitOK {
				word = "ok  "
				good++
			}
			fmt.Fprintf(&b, "  %s %s (%.0f ms)\n", word, wording.EscapeLine(c.Name), c.Seconds*1000)
			if c.Why != "" {
				b.WriteString(below("       ", c.Why) + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "%d of %s as expected\n", good, wording.Plural(all, "call"))
	_, err := io.WriteString(w, b.String())
	return err
}

func reportTAP(w io.Writer, suites []*suite) error {
	var b strings.Builder
	n := 0
	for _, s := range suites {
		for _, c := range s.Calls {
			n++
			word := "not ok"
			if c.Exit == exitOK {
				word = "ok"
			}
			name := strings.NewReplacer("#", `\#`, "\\", `\\`).Replace(wording.EscapeLine(s.name() + ": " + c.Name))
			fmt.Fprintf(&b, "%s %d - %s\n", word, n, name)
			if c.Exit != exitOK {
				fmt.Fprintf(&b, "  ---\n  exit: %d\n  message: |\n%s\n  ...\n", c.Exit, below("    ", c.Why))
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", n, b.String())
	return err
}

func reportJUnit(w io.Writer, suites []*suite) error {
	list := []report.Suite{}
	for _, s := range suites {
		one := report.Suite{Name: s.name(), Time: report.Seconds(s.took)}
		for _, c := range s.Calls {
			test := report.Case{Name: wording.EscapeLine(c.Name), Class: s.name(), Time: report.Seconds(time.Duration(c.Seconds * float64(time.Second)))}
			if c.Exit != exitOK {
				why := wording.Escape(c.Why) // XML has no controls
				first, _, _ := strings.Cut(why, "\n")
				test.Failure = &report.Failure{Message: first, Type: "exit " + strconv.Itoa(c.Exit), Text: why}
			}
			one.Add(test)
		}
		list = append(list, one)
	}
	return report.WriteSuites(w, list)
}
