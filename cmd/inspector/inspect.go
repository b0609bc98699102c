package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
	"elicitation-inspector/web"
)

// inspect runs the inspector until the command's context ends.
func inspect(cmd *cobra.Command, o options) (err error) {
	logger := newLogger(cmd, o.verbose)
	if o.taps {
		return showTaps(cmd, o, logger)
	}
	settings, err := o.settings(cmd.Flags().Changed("protocol"))
	if err != nil {
		return err
	}
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	var source *inspection.ScriptSource
	if o.answers != "" {
		answers, err := readAnswers(cmd, o.answers)
		if err != nil {
			return err
		}
		source = inspection.NewScriptSource(filepath.Base(o.answers), answers)
	}
	defer func() { err = errors.Join(err, o.close()) }()
	settings.Traces = o.otlp.listen != ""
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return err
	}
	defer told()
	specs, err := o.targets(redaction, logger)
	if err != nil {
		return err
	}
	if o.name != "" {
		specs[0].Name = o.name
	}
	log, err := wire.NewLog(wire.Options{MaxFrame: o.maxFrame})
	if err != nil {
		return fmt.Errorf("making the wire log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	place, err := o.page.place(cmd, logger)
	if err != nil {
		return err
	}
	defer place.browser.close()
	place.warnOfOthers()
	defer o.otlp.follow(log, redaction)()
	desk := signin.NewDesk(signin.DeskConfig{
		Page: "http://" + shownAddress(place.listener.Addr()),
		Warn: func(text string) { logger.Warn(text) },
	})
	defer func() { err = errors.Join(err, desk.Close()) }()
	in := inspection.New(inspection.Config{
		Targets: specs, Log: log, Logger: logger, Settings: settings, Rate: o.elicitRate,
		MaxFrame: o.maxFrame, Version: version(), SignIns: desk, Traces: o.otlp.traces,
	})
	in.AnswerBy(source)
	record := playback.NewRecording(log, logger, redaction, in.RecordingChanged)
	// Deferred calls run last to first: the file also gets the frames of the end.
	defer func() { err = errors.Join(err, record.Close()) }()
	if o.record != "" {
		if err := record.Begin(o.record, o.recordNew); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	config := place.config(redaction)
	config.Callback = desk
	config.Inspection, config.Recording, config.RecordFolder, config.MaxFrame = in, record, filepath.Dir(o.record), o.maxFrame
	if o.allowAdd {
		config.Put = func(ctx context.Context, typed views.NewServer) (field string, err error) {
			spec, field, err := typedSpec(typed)
			if err != nil {
				return field, err
			}
			redaction.Credentials(spec.Header)
			return "address", in.Put(ctx, typed.ID, spec)
		}
	}
	return serve(cmd, in, web.New(config), place)
}

// serve connects to the servers and serves the page, until the command's context
// ends or the page cannot be served.
func serve(cmd *cobra.Command, in *inspection.Inspection, page *web.Server, place *place) (err error) {
	ctx := cmd.Context()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- page.Serve(serving, place.listener) }()
	in.Start()
	place.announce(cmd.OutOrStdout(), 0)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	// The page is served while the connections end, so that it shows how they end.
	closed := make(chan error, 1)
	go func() { closed <- in.Close(context.WithoutCancel(ctx)) }()
	place.browser.logger.Info("ending") // while Close runs, because standard error may block
	err = errors.Join(err, <-closed)
	if err == nil || ctx.Err() != nil {
		stop()
		err = errors.Join(err, <-served)
	}
	return err
}
