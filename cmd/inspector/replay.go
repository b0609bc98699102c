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

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/judges/replay"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
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
		Use:   "replay FILE [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Make the calls of a recording again, and compare",
		Long: `Replay makes the calls of a transcript again, one after the other, and answers each
question as the one of the recording that means the same. Then it compares both
sessions, as 'inspector diff' does. The calls are made in the recorded revision, on the
server that is named; --recorded-target starts the command, or opens the address, that
the recording has.

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
  inspector replay flow.jsonl --recorded-target --accept`,
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
	case len(files) != 1:
		return usage("replay needs one FILE")
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
	compared, err := o.readVolatile(cmd, files[0])
	if err != nil {
		return err
	}
	old, err := readTranscripts(cmd, files[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	calls, scenario, err := o.calls(cmd.Context(), old, files[0])
	if err != nil {
		return err
	}
	newName := cmp.Or(o.record, "new session")
	if o.record == "" {
		folder, err := os.MkdirTemp(filepath.Dir(files[0]), ".inspector-replay-*") // beside the file whose place it may take
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		o.record = filepath.Join(folder, "new.jsonl")
	} else if o.recordNew = true; o.accept {
		return usage("--accept and --record cannot be used together: the new session is the recording then")
	}
	played, lost := o.play(cmd, calls, scenario)
	if played == nil {
		return lost
	}
	now, err := readTranscripts(cmd, o.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	compared.Carried = played.Carried
	r, err := o.compare(cmd, []string{files[0], newName}, []*playback.Opened{old, now}, compared)
	if err != nil {
		return err
	}
	tellPlayed(cmd.ErrOrStderr(), played)
	if err := o.write(cmd, format, r); err != nil {
		return err
	}
	switch {
	case lost != nil:
		return lost
	case len(played.Unanswered) > 0:
		return exitCode(exitUnanswered)
	case o.accept:
		return os.Rename(o.record, files[0])
	}
	return codeOf(r)
}

// calls returns the calls of a recording that can be made again, and its target and settings.
func (o *replayOptions) calls(ctx context.Context, old *playback.Opened, file string) ([]*conversation.Call, *script.Scenario, error) {
	talk := conversation.New(old.Log)
	if err := talk.Update(ctx); err != nil {
		return nil, nil, err
	}
	all, err := script.CallsIn(ctx, talk, 0, conversation.Reading{})
	if err != nil {
		return nil, nil, err
	}
	calls := replay.Calls(all)
	servers := map[string]bool{}
	for _, call := range calls {
		servers[call.Server] = true
	}
	switch {
	case len(calls) == 0:
		return nil, nil, fmt.Errorf("%s has no call to make again", file)
	case len(servers) > 1:
		return nil, nil, fmt.Errorf("%s has calls of %s; replay makes those of one", file, wording.Plural(len(servers), "server"))
	}
	scenario, _ := script.FromCalls(calls, script.Writing{From: file, Servers: talk.Servers()}) // of which only the target and the settings count
	switch t := scenario.Target; {
	case o.hasTarget():
	case o.recorded:
		if err := o.adopt(t, file); err != nil {
			return nil, nil, err
		}
	case !t.Demo:
		recorded := target.Spec{Command: t.Command, URL: t.URL}.Address()
		if recorded == "" {
			return nil, nil, usage("replay needs a URL, or a COMMAND after --: the recording does not say which server it is of")
		}
		return nil, nil, usage("replay needs a URL, a COMMAND after --, or --recorded-target, which is: %s", wording.EscapeLine(recorded))
	}
	return calls, scenario, o.consistent()
}

// play makes the calls again. An error besides what was played means that the server was lost meanwhile.
func (o *replayOptions) play(cmd *cobra.Command, calls []*conversation.Call, scenario *script.Scenario) (played *replay.Played, err error) {
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
	protocol := o.protocol
	if !cmd.Flags().Changed("protocol") && len(scenario.Protocols) > 0 {
		protocol = scenario.Protocols[0]
	}
	if config.Settings, err = conversation.ParseClientSettings(protocol, cmp.Or(o.elicitation, scenario.Elicitation)); err != nil {
		return nil, usageError{err}
	}
	config.Settings.Sampling, config.Settings.Roots = o.sampling || scenario.Sampling, o.roots || scenario.Roots
	n := &narrator{out: cmd.ErrOrStderr(), quiet: o.quiet || !o.verbose}
	config.Watch = n.watch
	if o.unknown == string(diff.UnknownAsk) {
		config.Ask = theTerminal(n).ask
	}
	config.SignIns = o.signIn.newDesk(cmd, false)
	defer func() { err = errors.Join(err, config.SignIns.Close()) }()
	s, err := connect(cmd.Context(), config)
	if err == nil {
		played, err = replay.Run(cmd.Context(), s, calls, replay.Options{Unknown: diff.Unknown(o.unknown), Paced: o.pace == "recorded"})
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
