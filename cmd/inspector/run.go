package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/headless"
	"elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire/redact"
)

// runOptions are the flags of the run command.
type runOptions struct {
	format  string
	failOn  string
	record  string
	jobs    int
	timeout time.Duration
	verbose bool
	redact  redactOptions
	signIn  signInOptions
	desk    *signin.Desk
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE... [flags] [-- COMMAND [ARG...]]",
		Short: "Run scenario files: calls with answers and expectations, as tests",
		Long: `Run makes the calls of scenario files and says which of them were as expected. A
scenario has a target, calls in order with their arguments, answers and expectations,
and may name several protocol revisions; 'inspector schema scenario' prints the JSON
Schema of such files, and docs/answers.md tells more. A COMMAND after -- is called in
place of the targets that the files name.

Formats are text, tap (version 14), junit (XML) and json. The exit code is that of 'inspector
call' for the gravest of the calls that failed: 3, 6, 5, 7, 4, 1, 8, in this order.`,
		Example: `  inspector run scenarios/*.yaml
  inspector run --format junit --jobs 4 scenarios/*.yaml > results.xml
  inspector run deploy.yaml -- node dist/server.js`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", "text", "`FORMAT` to print: text, tap, junit or json")
	f.IntVar(&o.jobs, "jobs", 1, "how many targets (`N`) to run at the same time")
	f.StringVar(&o.failOn, "fail-on", "never", "fail for findings of this `SEVERITY` or a graver one: violation, should, advice, or never")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long (`D`) connecting, and each call, may take, unless the file says; 0 for no limit")
	f.StringVar(&o.record, "record", "", "write a transcript of each target into this `DIR`")
	o.redact.register(f, "of transcripts")
	o.signIn.register(f)
	o.signIn.registerWait(f)
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell what happens in the calls on standard error")
	return cmd
}

// suite holds the outcomes of the calls of one file in one revision.
type suite struct {
	File     string   `json:"file"`
	Protocol string   `json:"protocol,omitempty"` // as in the file
	Calls    []tested `json:"calls"`

	scenario *script.Scenario
	took     time.Duration
}

// name returns the display name of a suite.
func (s *suite) name() string {
	if s.Protocol == "" {
		return s.File
	}
	return s.File + " (" + s.Protocol + ")"
}

// tested is the outcome of one call.
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
	var command []string
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		if args, command = args[:dash], args[dash:]; len(command) == 0 {
			return usage("there is no command after --")
		}
	}
	write := reports[o.format]
	failOn, err := severity(o.failOn)
	switch {
	case err != nil:
		return err
	case write == nil:
		return usage("--format must be text, tap, junit or json, not %q", o.format)
	case len(args) == 0:
		return usage("run needs a scenario FILE")
	case o.jobs < 1:
		return usage("--jobs must be 1 or more")
	}
	suites, err := readSuites(args)
	if err != nil {
		return err
	}
	o.desk = o.signIn.newDesk(cmd, false)
	defer func() { err = errors.Join(err, o.desk.Close()) }()
	turns := make(chan struct{}, o.jobs)
	var running sync.WaitGroup
	for _, s := range suites {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			o.runSuite(cmd, s, command, failOn)
		})
	}
	running.Wait()
	if cmd.Context().Err() != nil {
		return exitCode(exitInterrupted)
	}
	if err := write(cmd.OutOrStdout(), suites); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	for _, code := range gravest {
		for _, s := range suites {
			if slices.ContainsFunc(s.Calls, func(c tested) bool { return c.Exit == code }) {
				return exitCode(code)
			}
		}
	}
	return nil
}

// readSuites reads all files before any call is made.
func readSuites(files []string) (suites []*suite, err error) {
	var wrong []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, usageError{err}
		}
		scenario, err := script.ParseScenario(file, text, os.LookupEnv)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		revisions := scenario.Protocols
		if len(revisions) == 0 {
			revisions = []string{""}
		}
		for _, revision := range revisions {
			suites = append(suites, &suite{File: file, Protocol: revision, scenario: scenario})
		}
	}
	if wrong != nil {
		return nil, usageError{errors.Join(wrong...)}
	}
	return suites, nil
}

// runSuite makes the calls of a suite.
func (o *runOptions) runSuite(cmd *cobra.Command, s *suite, command []string, failOn *lint.Severity) {
	began := time.Now()
	err := o.callAll(cmd, s, command, failOn)
	s.took = time.Since(began)
	if err == nil {
		return
	}
	code := exitError
	if errors.Is(err, headless.ErrConnect) {
		code = exitConnect
	}
	for _, c := range s.scenario.Calls[len(s.Calls):] {
		s.Calls = append(s.Calls, tested{Name: c.Name, Exit: code, Why: err.Error(), event: event{Event: "failure"}})
	}
}

func (o *runOptions) callAll(cmd *cobra.Command, s *suite, command []string, failOn *lint.Severity) (err error) {
	config, closing, err := o.config(s, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	n := &narrator{out: cmd.ErrOrStderr(), quiet: !o.verbose}
	config.Watch, config.SignIns = n.watch, o.desk
	session, err := headless.Open(cmd.Context(), config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	for _, c := range s.scenario.Calls {
		one, err := o.callOne(cmd.Context(), session, s.scenario, c, failOn)
		if err != nil {
			return err
		}
		s.Calls = append(s.Calls, one)
	}
	return nil
}

// kinds maps a scenario's keys for calls to kinds.
var kinds = map[string]catalog.Kind{"tool": catalog.Tool, "prompt": catalog.Prompt, "resource": catalog.Resource}

func (o *runOptions) callOne(ctx context.Context, session *headless.Session, scenario *script.Scenario, c *script.Call, failOn *lint.Severity) (tested, error) {
	out, err := session.Call(ctx, headless.Call{
		Kind: kinds[c.Kind], Key: c.Key, Arguments: c.Arguments, Timeout: cmp.Or(c.Timeout, scenario.Timeout),
		Scripts: scenario.Scripts(c), Expect: c.Expect, Judge: failOn != nil,
	})
	if err != nil {
		return tested{}, err
	}
	code := verdict(out, c.Expect, failOn)
	one := tested{Name: c.Name, Exit: code, Seconds: out.Took.Seconds(), event: endEvent(out, code)}
	one.event.Exit = nil
	if code == exitOK {
		return one, nil
	}
	var why strings.Builder
	for _, u := range out.Unanswered {
		tellUnanswered(&why, u)
	}
	for _, line := range append(slices.Clone(out.Unmet), failure(out)) {
		if line != "" {
			why.WriteString(line + "\n")
		}
	}
	switch code {
	case exitError:
		why.WriteString("the tool says that it failed: " + plainLines(script.TextOf(out.Result)) + "\n")
	case exitFindings:
		for _, f := range out.Findings {
			fmt.Fprintf(&why, "%s: %s [%s]\n", f.Severity, plainText(f.Text), f.Rule)
		}
	}
	one.Why = strings.TrimSuffix(why.String(), "\n")
	return one, nil
}

// config returns the configuration of a suite's connection. The caller must call closing,
// which ends the built-in server if it is the target.
func (o *runOptions) config(s *suite, command []string) (c headless.Config, closing func() error, err error) {
	closing = func() error { return nil }
	c = headless.Config{Version: version(), Timeout: o.timeout}
	if c.Settings, err = client.ParseSettings(s.Protocol, s.scenario.Elicitation); err != nil {
		return c, closing, err
	}
	c.Settings.Sampling, c.Settings.Roots = s.scenario.Sampling, s.scenario.Roots
	if c.Redaction, err = o.redact.redaction(); err != nil {
		return c, closing, err
	}
	if o.record != "" {
		if err := os.MkdirAll(o.record, 0o700); err != nil {
			return c, closing, fmt.Errorf("--record: %w", err)
		}
		name := strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
		if s.Protocol != "" {
			name += "-" + s.Protocol
		}
		c.Record = filepath.Join(o.record, name+".jsonl")
	}
	if command != nil {
		c.Target = target.Spec{Name: serverName(command, ""), Command: command}
		return c, closing, nil
	}
	if c.Target, closing, err = scenarioTarget(s.scenario.Target, s.File, c.Redaction); err == nil {
		c.Target.SignIn, err = o.signIn.config()
	}
	return c, closing, err
}

// scenarioTarget returns the target that a scenario file names. The caller must call
// closing, which ends the built-in server if it is the target.
func scenarioTarget(t script.Target, file string, r *redact.Redaction) (spec target.Spec, closing func() error, err error) {
	closing = func() error { return nil }
	switch {
	case t.Command != nil:
		dir := t.Dir
		if dir != "" && !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		return target.Spec{Name: serverName(t.Command, dir), Command: t.Command, Env: t.Env, Dir: dir}, closing, nil
	case t.URL != "":
		transport, err := target.ParseTransport(t.Transport)
		if err != nil {
			return spec, closing, err
		}
		header := http.Header{}
		for _, h := range t.Header {
			header.Add(h[0], h[1])
		}
		r.Credentials(header)
		return target.Spec{Name: t.URL, URL: t.URL, Transport: transport, Header: header}, closing, nil
	case t.Demo:
		spec, closing = builtin()
		return spec, closing, nil
	}
	return spec, closing, fmt.Errorf("%w: %s names no target, and the command line no command after --", headless.ErrConnect, file)
}
