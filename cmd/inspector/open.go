package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/web"
)

// openOptions are the flags of the open command, and its files.
type openOptions struct {
	listen  string
	noOpen  bool
	play    bool
	speed   float64
	full    bool
	redact  redactOptions
	verbose bool

	listenGiven bool
	files       []string
}

func newOpen(out, errOut io.Writer) *cobra.Command {
	var o openOptions
	cmd := &cobra.Command{
		Use:   "open FILE...",
		Short: "Show transcripts, and play them back",
		Long: `Open shows transcripts on the same page, read-only: the log, the calls, and each
question as it looked, with the answer that was given. They can be played back
on the page as the session went, without a server.

It reads what --record writes, the session logs of mcpsnoop, and the protocol
history that the official MCP Inspector exports (JSON). The latter has no exact
bytes and no HTTP headers. Damaged lines are reported on standard error and left
out.`,
		Example: `  inspector open flow.jsonl
  inspector open --play --speed 4 flow.jsonl
  inspector open monday.jsonl tuesday.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("open needs a transcript FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.files, o.listenGiven = args, cmd.Flags().Changed("listen")
			return open(cmd.Context(), o, out, errOut)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", defaultListen, "`ADDR` of the page; port 0 picks a free one")
	f.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	f.BoolVar(&o.play, "play", false, "begin to play, instead of showing all of it")
	f.Float64Var(&o.speed, "speed", 1, fmt.Sprintf("how fast to play, as a factor (`X`) from %g to %d", playback.SlowestSpeed, playback.FastestSpeed))
	f.BoolVar(&o.full, "full-pauses", false, fmt.Sprintf("play pauses as long as they were, not shortened to %s", playback.ShortGap))
	o.redact.register(f, "of what is downloaded")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log more to standard error")
	return cmd
}

// open shows transcripts until ctx ends.
func open(ctx context.Context, o openOptions, out, errOut io.Writer) (err error) {
	logger := newLogger(errOut, o.verbose)
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	if !(o.speed >= playback.SlowestSpeed && o.speed <= playback.FastestSpeed) { // NaN is neither
		return usage("--speed must be from %g to %d, not %g", playback.SlowestSpeed, playback.FastestSpeed, o.speed)
	}
	opened, err := playback.Open(o.files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	listener, err := listen(o.listen, o.listenGiven, logger)
	if err != nil {
		return err
	}
	gap := playback.ShortGap
	if o.full {
		gap = 0
	}
	player, err := playback.NewPlayer(opened.Log, playback.Options{Logger: logger, Play: o.play, Speed: o.speed, Gap: gap})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { player.Run(running) })
	work.Go(func() { reportOpened(running, opened, errOut, logger) })
	defer func() {
		stop()
		work.Wait()
		player.Close()
	}()
	token := web.NewToken()
	opener := &browser{logger: logger}
	defer opener.close()
	page := web.NewStage(web.StageConfig{
		Config:   web.Config{Logger: logger, Token: token, Version: version(), Redaction: redaction, Opened: opener.close},
		Player:   player,
		Files:    o.files,
		Problems: opened.Problems,
	})
	announce(out, listener, token, o.noOpen, opener)
	return page.Serve(ctx, listener)
}

// reportOpened says what could not be read, once everything else has been.
func reportOpened(ctx context.Context, opened *playback.Opened, errOut io.Writer, logger *slog.Logger) {
	for _, p := range opened.Problems {
		logger.Warn("an entry of a history cannot be read", "problem", p)
	}
	if err := opened.Wait(ctx); err != nil {
		if ctx.Err() == nil {
			logger.Error("reading", "error", err)
		}
		return
	}
	if err := reportDamage(opened.Log, errOut); err != nil {
		logger.Error("reading", "error", err)
	}
}
