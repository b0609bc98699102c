package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/tap"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/judges/probe/report"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/web"
)

// tapOptions are the flags of the tap command.
type tapOptions struct {
	http      string
	name      string
	record    string
	recordNew bool
	reports   []string
	maxFrame  int64
	redact    redactOptions
	otlp      otlpOptions
	verbose   bool
}

func newTap() *cobra.Command {
	var o tapOptions
	cmd := &cobra.Command{
		Use:   "tap [flags] (-- COMMAND [ARG...] | --http ADDR URL)",
		Short: "Stand between a client and a server, and show what they say",
		Long: `Tap takes the place of a server in the configuration of a client, starts the
server, and passes all bytes on in both directions, unchanged. With --http it
listens on an address, and stands before a server that is reached by HTTP.

What it sees goes to the page of 'inspector --taps', whichever of the two starts
first, and to --record. Neither can hold up the client or the server: if the
inspector hangs, the disk is full, or messages come faster than they can be
looked at, they are passed on all the same.

Signals go on to the server, and the tap exits as the server does: with its exit
code, or by the signal that ended it. If the server cannot be started, it exits
with 127. docs/tap.md says more.`,
		Example: `  inspector tap -- ./my-server --flag
  inspector tap --record session.jsonl --report client.html -- npx -y some-server
  inspector tap --http 127.0.0.1:7000 https://example.com/mcp`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkReports(o.reports); err != nil {
				return err
			}
			switch dash := cmd.ArgsLenAtDash(); {
			case o.recordNew && o.record == "":
				return usage("--record-new needs --record")
			case o.http != "" && (dash >= 0 || len(args) != 1 || !isURL(args[0])):
				return usage("--http needs the URL of one server")
			case o.http != "":
				return o.proxy(cmd, args[0])
			case dash != 0 || len(args) == 0:
				return usage("tap needs the command of a server after --, or --http ADDR and a URL")
			}
			return o.relay(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "stand before a server that speaks Streamable HTTP or HTTP+SSE, at this `ADDR`, such as 127.0.0.1:7000; port 0 picks a free one")
	f.StringVar(&o.name, "name", "", "the `NAME` of the server, instead of its command or host")
	f.StringVar(&o.record, "record", "", "append every frame to a transcript `FILE` as it happens")
	f.BoolVar(&o.recordNew, "record-new", false, "refuse to record to a file that exists, rather than continue it")
	f.StringArrayVar(&o.reports, "report", nil, "at the end, write into `FILE` what was seen of the client, as 'inspector probe' does: "+report.Formats.Endings()+" for JUnit (repeat)")
	o.redact.register(f, "of what is recorded, reported and sent to the page")
	o.otlp.register(f)
	registerMaxFrame(f, &o.maxFrame, "the `SIZE` past which a message is cut in the log, in bytes, or with k, M, G, Ki, Mi or Gi (default 64Mi); it is passed on whole")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "say on standard error what the tap itself does")
	return cmd
}

// observer begins to look. end waits for the rest of what was passed on, while that moves on,
// and says what is missing.
func (o *tapOptions) observer(cmd *cobra.Command, name string) (watch *tap.Observer, end func(), err error) {
	redaction, err := o.redact.redaction()
	if err != nil {
		return nil, nil, err
	}
	// Standard error is the server's: the tap speaks there only of its own trouble.
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	watch, err = tap.NewObserver(tap.Config{
		Name: name, MaxFrame: o.maxFrame, Record: o.record, RecordNew: o.recordNew, Redaction: redaction, Logger: logger,
	})
	if watch == nil {
		return nil, nil, err
	}
	if err != nil {
		logger.Error("the session is not recorded", "error", err)
	}
	told, wrong := o.otlp.begin(cmd)
	if wrong != nil {
		return nil, nil, errors.Join(wrong, watch.Close())
	}
	untold := o.otlp.follow(watch.Log(), redaction)
	sending, stop := context.WithCancel(context.WithoutCancel(cmd.Context()))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		path, err := tap.SocketPath()
		if err != nil {
			logger.Error("no inspector is looked for", "error", err)
			return
		}
		watch.Send(sending, path)
	}()
	return watch, func() {
		ended := make(chan error, 1)
		var judging atomic.Bool
		go func() { // a disk or an inspector may hang
			err := watch.Settle(sending)
			judging.Store(true)
			if len(o.reports) > 0 {
				err = errors.Join(err, o.report(sending, watch.Log(), redaction))
			}
			untold()
			told()
			judging.Store(false)
			<-sent
			ended <- errors.Join(err, watch.Close())
		}()
		defer stop()
		for at, before, stopped := time.Now(), watch.Progress(), false; ; {
			select {
			case err := <-ended:
				if err != nil {
					logger.Error("not all was kept", "error", err)
				}
				return
			case <-time.After(tap.Flush):
			}
			now := watch.Progress()
			if stuck := now == before && !judging.Load() || time.Since(at) > flushMost; stuck && stopped {
				return
			} else if stuck {
				why := "not all was kept: the inspector or the disk takes no more"
				if judging.Load() {
					why = "no report: what was seen is too much to judge in " + wording.Duration(flushMost)
				}
				logger.Error(why)
				stop()
				stopped = true
			}
			before = now
		}
	}, nil
}

// report writes the reports on the client.
func (o *tapOptions) report(ctx context.Context, log *wire.Log, redaction *redact.Redaction) error {
	r, err := probe.Seen(ctx, log, version(), redaction)
	if err != nil {
		return err
	}
	err = r.AddEvidence(log, redaction)
	for _, path := range o.reports {
		err = errors.Join(err, writeReport(path, r))
	}
	return err
}

// flushMost is how long the end of a tap may take beyond that of its server.
const flushMost = 10 * time.Second

// relay runs a server over stdio. It ends the program in the way in which the server ended.
func (o *tapOptions) relay(cmd *cobra.Command, command []string) error {
	wd, err := os.Getwd()
	if err != nil {
		wd = ""
	}
	name := cmp.Or(o.name, serverName(command, wd))
	forward, release := takeSignals()
	defer release()
	child, err := transport.StartChild(target.Spec{Name: name, Derived: o.name == "", Command: command})
	if err != nil {
		warn(cmd, "%v", err)
		return exitCode(exitNoServer)
	}
	watch, end, err := o.observer(cmd, name)
	if err != nil {
		warn(cmd, "nothing is kept: %v", err)
		if watch, err = tap.NewObserver(tap.Config{Name: name}); watch == nil {
			return err
		}
		end = func() {}
	}
	go forward(child)
	tap.Relay(child, os.Stdin, os.Stdout, open{os.Stderr}, watch)
	end()
	return exitAs(child.State)
}

// open is a file that stays open: the tap may have something to say at its end.
type open struct{ *os.File }

func (open) Close() error { return nil }

// exitNoServer is the exit code of a tap whose server cannot be started, as of a shell.
const exitNoServer = 127

// proxy stands before a server that is reached by HTTP, until the command's context ends.
func (o *tapOptions) proxy(cmd *cobra.Command, address string) error {
	target, err := url.Parse(address)
	if err != nil {
		return usageError{err}
	}
	name := cmp.Or(o.name, target.Host)
	l, err := listenAt(cmd, o.http)
	if err != nil {
		return err
	}
	watch, end, err := o.observer(cmd, name)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer end()
	p := tap.NewProxy(target, watch)
	server := &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Tap ready: %s stands before %s\n", p.Address(l.Addr()), wording.EscapeLine(target.Redacted())); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		warn(cmd, "standard output is closed: %v", err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("standing before %s: %w", name, err)
	case <-cmd.Context().Done():
	}
	err = server.Close()
	<-served
	return err
}

// showTaps serves the page of what taps send, until the command's context ends.
func showTaps(cmd *cobra.Command, o options, logger *slog.Logger) (err error) {
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	path, err := tap.SocketPath()
	if err != nil {
		return fmt.Errorf("--taps: %w", err)
	}
	log, err := wire.NewLog(wire.Options{MaxFrame: o.maxFrame})
	if err != nil {
		return fmt.Errorf("making the wire log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	told, err := o.otlp.begin(cmd)
	if err != nil {
		return err
	}
	defer told()
	defer o.otlp.follow(log, redaction)()
	if o.record != "" {
		record := playback.NewRecording(log, logger, redaction, func() {})
		defer func() { err = errors.Join(err, record.Close()) }()
		if err := record.Begin(o.record, o.recordNew); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	place, err := o.page.place(cmd, logger)
	if err != nil {
		return err
	}
	defer place.browser.close()
	place.warnOfOthers()
	var listener *tap.Listener
	listening := make(chan struct{})
	replay := inspection.NewTapped(log, func(label string) bool {
		<-listening
		_, connected := listener.Connected(label)
		return connected
	}, logger)
	listener, err = tap.Listen(path, log, logger, func() {
		if err := replay.Refresh(cmd.Context()); err != nil && cmd.Context().Err() == nil {
			logger.Error("showing what taps send", "error", err)
		}
	})
	if err != nil {
		return fmt.Errorf("--taps: %w", err)
	}
	close(listening)
	defer func() { err = errors.Join(err, listener.Close()) }()
	page := web.NewTaps(web.TapsConfig{Config: place.config(redaction), Replay: replay, Socket: path, Connected: func() int {
		taps, _ := listener.Connected("")
		return taps
	}})
	place.announce(cmd.OutOrStdout(), 0)
	return page.Serve(cmd.Context(), place.listener)
}
