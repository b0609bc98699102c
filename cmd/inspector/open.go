package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/judges/replay"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/web"
)

type openOptions struct {
	options
	play     bool
	speed    float64
	full     bool
	frame    int64
	recorded bool // the recorded target can be replayed on
}

func newOpen() *cobra.Command {
	var o openOptions
	cmd := &cobra.Command{
		Use:   "open FILE... [flags] [URL | -- COMMAND [ARG...]]",
		Short: "Show transcripts, and play them back",
		Long: `Open shows transcripts on the same page, read-only: the log, the calls, and each
question as it looked, with the answer that was given. They can be played back
on the page as the session went, without a server. With a URL, a COMMAND after --, the
servers of a --config or --recorded-target, the page can make the calls again there,
and compare both sessions; nothing is connected before that.

It reads what --record writes, the session logs of mcpsnoop, and the protocol
history that the official MCP Inspector exports (JSON). The latter has no exact
bytes and no HTTP headers. Damaged lines are reported on standard error and left
out.`,
		Example: `  inspector open flow.jsonl
  inspector open --play --speed 4 flow.jsonl
  inspector open monday.jsonl tuesday.jsonl
  inspector open flow.jsonl -- node dist/server.js`,
		Args: someFiles,
		RunE: o.open,
	}
	f := cmd.Flags()
	o.page.register(f)
	f.BoolVar(&o.play, "play", false, "begin to play, instead of showing all of it")
	f.Float64Var(&o.speed, "speed", 1, fmt.Sprintf("how fast to play, as a factor (`X`) from %g to %d", playback.SlowestSpeed, playback.FastestSpeed))
	f.BoolVar(&o.full, "full-pauses", false, fmt.Sprintf("play pauses as long as they were, not shortened to %s", playback.ShortGap))
	f.Int64Var(&o.frame, "frame", 0, "begin at the frame of this number (`N`)")
	f.BoolVar(&o.recorded, "recorded-target", false, "let the page replay on the command, or the address, that the recording has")
	o.registerTarget(f)
	return cmd
}

func (o *openOptions) open(cmd *cobra.Command, args []string) (err error) {
	files, rest, dash := splitTarget(args, cmd.ArgsLenAtDash())
	if err := errors.Join(someFiles(cmd, files), o.readTarget(rest, dash)); err != nil {
		return err
	}
	logger := newLogger(cmd, o.verbose)
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	if !(o.speed >= playback.SlowestSpeed && o.speed <= playback.FastestSpeed) { // NaN is neither
		return usage("--speed must be from %g to %d, not %g", playback.SlowestSpeed, playback.FastestSpeed, o.speed)
	}
	if o.frame < 0 {
		return usage("--frame must not be negative")
	}
	opened, err := playback.Open(files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	switch err := opened.WaitFirst(cmd.Context()); {
	case cmd.Context().Err() != nil:
		return nil
	case err != nil:
		return err
	case opened.Len() == 0:
		if err := reportDamage(cmd, opened.Log); err != nil {
			return err
		}
	}
	live, err := o.live(cmd, opened, files[0], redaction, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	place, err := o.page.place(cmd, logger)
	if err != nil {
		return err
	}
	defer place.browser.close()
	desk := signin.NewDesk(signin.DeskConfig{Page: "http://" + shownAddress(place.listener.Addr()), Warn: func(text string) { logger.Warn(text) }})
	defer func() { err = errors.Join(err, desk.Close()) }()
	live.SignIns = desk
	gap := playback.ShortGap
	if o.full {
		gap = 0
	}
	player, err := playback.NewPlayer(opened.Log, playback.Options{Logger: logger, Play: o.play, Speed: o.speed, Gap: gap})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(cmd.Context())
	var work sync.WaitGroup
	work.Go(func() { player.Run(running) })
	work.Go(func() {
		for _, p := range opened.Problems {
			logger.Warn("an entry of a history cannot be read", "problem", p)
		}
		err := opened.Wait(running)
		if err == nil {
			err = reportDamage(cmd, opened.Log)
		}
		if err != nil && running.Err() == nil {
			logger.Error("reading", "error", err)
		}
	})
	defer func() {
		stop()
		work.Wait()
		player.Close()
	}()
	config := place.config(redaction)
	config.Callback, config.MaxFrame = desk, o.maxFrame
	page := web.NewPlayback(web.PlaybackConfig{Config: config, Player: player, Files: files, Problems: opened.Problems, Live: live})
	place.announce(cmd.OutOrStdout(), o.frame)
	return page.Serve(cmd.Context(), place.listener)
}

// live configures the sessions of replays on the target of the command line, if there is one.
func (o *openOptions) live(cmd *cobra.Command, opened *playback.Opened, file string, redaction *redact.Redaction, logger *slog.Logger) (c inspection.Config, err error) {
	if o.recorded && !o.hasTarget() {
		if err := opened.Wait(cmd.Context()); err != nil {
			return c, err
		}
		recorded, err := replay.Read(cmd.Context(), opened.Log, file)
		if err != nil {
			return c, err
		}
		if err := o.adopt(recorded.Scenario.Target, file); err != nil {
			return c, err
		}
	}
	c = inspection.Config{Logger: logger, MaxFrame: o.maxFrame, Version: version()}
	if err = o.consistent(); err == nil && (o.hasTarget() || o.recorded) {
		c.Targets, err = o.targets(redaction, logger)
	}
	return c, err
}

// readTranscripts opens transcripts, reads them to their end, and prints which parts
// could not be read. It fails if nothing could be read. The caller must close the result.
func readTranscripts(cmd *cobra.Command, files ...string) (*playback.Opened, error) {
	opened, err := playback.Open(files...)
	if err != nil {
		return nil, err
	}
	if err := awaitTranscripts(cmd, opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// awaitTranscripts waits until opened transcripts are read, and prints which parts could not be
// read. It fails if nothing could be read.
func awaitTranscripts(cmd *cobra.Command, opened *playback.Opened) error {
	if err := opened.Wait(cmd.Context()); err != nil {
		return err
	}
	for _, p := range opened.Problems {
		warn(cmd, "%s", p)
	}
	return reportDamage(cmd, opened.Log)
}

// reportDamage prints the lines that could not be read. It fails if the log has no other
// lines.
func reportDamage(cmd *cobra.Command, log *wire.Log) error {
	list, total := log.Damage()
	if total > 0 && log.Len() == 0 {
		return fmt.Errorf("%w; there is no frame in it: it is not a transcript", &list[0])
	}
	for _, d := range list {
		warn(cmd, "%v", &d)
	}
	if more := total - int64(len(list)); more > 0 {
		warn(cmd, "%d more damaged lines", more)
	}
	return nil
}
