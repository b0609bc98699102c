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
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/judges/replay"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/keep/playback"
)

type replayOptions struct {
	headlessOptions
	diffOptions
	unknown  string
	pace     string
	recorded bool // the recorded target is used
	accept   bool
}

func newReplay() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay FILE... [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Make the calls of a recording again, and compare",
		Long: `Replay makes the calls of a transcript again, one after the other, and answers each
question as the one of the recording that means the same. Then it compares both
sessions, as 'inspector diff' does. The calls are made in the recorded revision, on the
server that is named; --recorded-target starts the command, or opens the address, that
the recording has.

Several FILEs are replayed one after the other, each in a session of its own, and compared
each with its own. --record and --output are folders then, in which each has a file. What
came of each stands on standard error at the end, and the exit code is the worst: 1, 3, 5,
8, 9, and then 0.

Values that this session makes anew are carried: what an earlier recorded result had,
and a later recorded request repeated, such as the number of a ticket, is sent as this
session has it. What was carried is listed, and so is each question that is answered
although it is worded in another way, or has other fields.

A question that the recording does not have is cancelled, and the replay ends with 5
(--unknown fail); it can be asked on the terminal, cancelled or declined instead. Where
nobody answered in time, nobody does now.

Exit codes: 0 when both sessions are the same, 8 when consent or contract differs, 9
when only content does; 3 when the server could not be reached or was lost, 5 for a
question that the recording does not have, 1 when a file cannot be read, 2 for a command
line that cannot be understood.`,
		Example: `  inspector replay flow.jsonl -- node dist/server.js
  inspector replay flow.jsonl --record new.jsonl --format junit --output diff.xml https://example.com/mcp
  inspector replay flow.jsonl --recorded-target --accept
  inspector replay recordings/*.jsonl -- node dist/server.js`,
		Args: cobra.ArbitraryArgs,
		RunE: o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.unknown, "unknown", string(diff.UnknownFail), "what happens to a question that the recording does not have (`WHAT`): "+wording.Alternatives(diff.Unknowns))
	f.StringVar(&o.pace, "pace", "fast", "fast, or recorded, which answers as late as the person did (`PACE`)")
	f.BoolVar(&o.recorded, "recorded-target", false, "start the command, or open the address, that the recording has")
	f.BoolVar(&o.accept, "accept", false, "put the new session in the place of the recording")
	o.diffOptions.register(f)
	o.headlessOptions.register(f)
	return cmd
}

func (o *replayOptions) run(cmd *cobra.Command, args []string) (err error) {
	files, rest, dash := splitTarget(args, cmd.ArgsLenAtDash())
	switch {
	case len(files) == 0:
		return usage("replay needs a FILE")
	case !slices.Contains(diff.Unknowns, o.unknown):
		return usage("--unknown must be %s, not %q", wording.Alternatives(diff.Unknowns), o.unknown)
	case o.pace != "fast" && o.pace != "recorded":
		return usage("--pace must be fast or recorded, not %q", o.pace)
	case o.unknown == string(diff.UnknownAsk) && !onTerminal():
		return usage("--unknown ask needs a terminal")
	}
	o.diffOptions.redact = o.options.redact
	format, err := o.check(files)
	if err != nil {
		return err
	}
	if err := o.readTarget(rest, dash); err != nil {
		return err
	}
	if len(files) == 1 {
		_, err = o.replay(cmd, format, files[0])
		return err
	}
	return o.several(cmd, format, files)
}

// worse are the exit codes of a replay, the worst first.
var worse = []exitCode{exitError, exitConnect, exitUnanswered, exitFindings, exitContent, exitOK}

// several replays recordings one after the other, and returns the worst of their exit codes.
func (o *replayOptions) several(cmd *cobra.Command, format *export.Format[*diff.Report], files []string) error {
	if o.output == "" && (format.Name == "junit" || format.Name == "sarif") {
		return usage("--format %s with several FILEs needs --output, a folder for a report of each", format.Name)
	}
	worst, said, seen := exitCode(exitOK), "", map[string]bool{}
	for _, file := range files {
		one, name := *o, filepath.Base(file)
		if seen[name] && o.output+o.record != "" {
			return usage("two recordings are called %s, so that one folder cannot have a file of each", name)
		}
		seen[name] = true
		for _, path := range []*string{&one.output, &one.record} {
			if *path != "" {
				if err := os.MkdirAll(*path, 0o700); err != nil {
					return err
				}
				*path = filepath.Join(*path, name)
			}
		}
		if one.output != "" {
			one.output = strings.TrimSuffix(one.output, filepath.Ext(name)) + cmp.Or(format.Ending, ".txt")
		}
		sum, err := one.replay(cmd, format, file)
		code := exitCode(exitOK)
		if err != nil && !errors.As(err, &code) {
			code, sum = exitError, err.Error()
		}
		if !slices.Contains(worse, code) || errors.As(err, new(usageError)) {
			return err
		}
		worst = worse[min(slices.Index(worse, worst), slices.Index(worse, code))]
		said += fmt.Sprintf("\n%s: %s", file, cmp.Or(sum, code.Error()))
	}
	warn(cmd, "%s:%s", wording.Plural(len(files), "recording"), said)
	if worst == exitOK {
		return nil
	}
	return worst
}

// replay makes the calls of a recording again, compares, and returns a summary. The error may be an
// exit code.
func (o *replayOptions) replay(cmd *cobra.Command, format *export.Format[*diff.Report], file string) (sum string, err error) {
	compared, err := o.readVolatile(cmd, file)
	if err != nil {
		return "", err
	}
	old, err := readTranscripts(cmd, file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	recorded, err := o.read(cmd.Context(), old, file)
	if err != nil {
		return "", err
	}
	newName := cmp.Or(o.record, "new session")
	if o.record == "" {
		folder, err := os.MkdirTemp(filepath.Dir(file), ".inspector-replay-*") // beside the file whose place it may take
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		o.record = filepath.Join(folder, "new.jsonl")
	} else if o.recordNew = true; o.accept {
		return "", usage("--accept and --record cannot be used together: the new session is the recording then")
	}
	played, lost := o.play(cmd, recorded)
	if played == nil {
		return "", lost
	}
	now, err := readTranscripts(cmd, o.record)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	compared.Carried = played.Carried
	r, err := o.compare(cmd, []string{file, newName}, []*playback.Opened{old, now}, compared)
	if err != nil {
		return "", err
	}
	tellPlayed(cmd.ErrOrStderr(), played)
	if err := o.write(cmd, format, r); err != nil {
		return "", err
	}
	switch {
	case lost != nil:
		return r.Sum(), lost
	case len(played.Unanswered) > 0:
		return r.Sum(), exitCode(exitUnanswered)
	case o.accept:
		return r.Sum(), os.Rename(o.record, file)
	}
	return r.Sum(), codeOf(r)
}

// read reads the calls of a recording, and finds the target to make them on.
func (o *replayOptions) read(ctx context.Context, old *playback.Opened, file string) (*replay.Recorded, error) {
	recorded, err := replay.Read(ctx, old.Log, file)
	if err != nil {
		return nil, err
	}
	switch t := recorded.Scenario.Target; {
	case o.hasTarget():
	case o.recorded:
		if err := o.adopt(t, file); err != nil {
			return nil, err
		}
	case !t.Demo:
		address := target.Spec{Command: t.Command, URL: t.URL}.Address()
		if address == "" {
			return nil, usage("replay needs a URL, or a COMMAND after --: the recording does not say which server it is of")
		}
		return nil, usage("replay needs a URL, a COMMAND after --, or --recorded-target, which is: %s", wording.EscapeLine(address))
	}
	return recorded, o.consistent()
}

// play makes the calls again. An error besides what was played means that the server was lost meanwhile.
func (o *replayOptions) play(cmd *cobra.Command, recorded *replay.Recorded) (played *replay.Played, err error) {
	defer func() { err = errors.Join(err, o.close()) }()
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return nil, err
	}
	defer told()
	config, err := o.connection(cmd)
	if err != nil {
		return nil, err
	}
	protocol := ""
	if cmd.Flags().Changed("protocol") {
		protocol = o.protocol
	}
	if config.Settings, err = recorded.Settings(protocol, o.elicitation); err != nil {
		return nil, usageError{err}
	}
	config.Settings.Sampling, config.Settings.Roots = config.Settings.Sampling || o.sampling, config.Settings.Roots || o.roots
	n := &narrator{out: cmd.ErrOrStderr(), quiet: o.quiet || !o.verbose}
	config.Watch = n.watch
	if o.unknown == string(diff.UnknownAsk) {
		config.Ask = theTerminal(n).ask
	}
	config.SignIns = o.signIn.newDesk(cmd, false)
	defer func() { err = errors.Join(err, config.SignIns.Close()) }()
	s, err := connect(cmd.Context(), config)
	if err == nil {
		played, err = replay.Run(cmd.Context(), s, recorded.Calls, replay.Options{Unknown: diff.Unknown(o.unknown), Paced: o.pace == "recorded"})
		err = errors.Join(err, s.Close())
	}
	switch {
	case cmd.Context().Err() != nil:
		return nil, exitCode(exitInterrupted)
	case errors.Is(err, headless.ErrConnect):
		warn(cmd, "%v", err)
		return played, exitCode(exitConnect)
	case err != nil:
		return nil, err
	}
	return played, nil
}

// tellPlayed says what was not as recorded.
func tellPlayed(w io.Writer, p *replay.Played) {
	for _, note := range p.Notes {
		fmt.Fprintf(w, "inspector: %s\n", wording.EscapeLine(note))
	}
	for _, c := range p.Carried {
		fmt.Fprintf(w, "inspector: %s was sent as %s%s\n", wording.Quoted(c.Old), wording.Quoted(c.New), wording.Times(c.Times))
	}
	for _, u := range p.Unanswered {
		tellUnanswered(w, u)
	}
}
