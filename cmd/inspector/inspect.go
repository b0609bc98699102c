package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/web"
)

// inspect runs the inspector until ctx ends.
func inspect(ctx context.Context, o options, out io.Writer, logger *slog.Logger) (err error) {
	settings, err := o.settings()
	if err != nil {
		return err
	}
	var demonstration *demo.Server
	specs, err := o.specs(func() *demo.Server {
		demonstration = demo.New(demo.Options{})
		return demonstration
	})
	if err != nil {
		return err
	}
	if specs, err = o.enabled(specs, logger); err != nil {
		return err
	}
	if demonstration != nil {
		defer func() { err = errors.Join(err, demonstration.Close()) }()
	}
	log, err := wire.NewLog(wire.Options{MaxFrame: o.maxFrame})
	if err != nil {
		return fmt.Errorf("making the wire log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	redaction, err := o.redact.redaction()
	if err != nil {
		return err
	}
	for _, spec := range specs {
		redaction.Credentials(spec.Header)
	}
	in := bridge.New(bridge.Config{
		Targets: specs, Log: log, Logger: logger, Settings: settings, Rate: o.elicitRate,
		MaxFrame: o.maxFrame, Version: version(),
	})
	recording := bridge.NewRecording(in, redaction)
	// Deferred calls run last to first: the frames of the end are in the file.
	defer func() { err = errors.Join(err, recording.Close()) }()
	if o.record != "" {
		if err := recording.Begin(o.record, o.recordNew); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
	}
	listener, err := listen(o.listen, o.listenGiven, logger)
	if err != nil {
		return err
	}
	if a, ok := listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		logger.Warn("the page can be reached from other machines, and whoever has its address can use the servers behind it", "listen", a.String())
	}
	token := web.NewToken()
	opener := &browser{logger: logger}
	defer opener.close()
	page := web.New(web.Config{
		Inspection: in, Logger: logger, Token: token, Version: version(), Redaction: redaction, Opened: opener.close,
		Recording: recording, RecordFolder: filepath.Dir(o.record),
	})
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- page.Serve(serving, listener) }()

	in.Start()
	announce(out, listener, token, o.noOpen, opener)

	select {
	case err = <-served:
	case <-ctx.Done():
	}
	// The page goes on while the connections end, so that it shows how they do.
	closed := make(chan error, 1)
	go func() { closed <- in.Close(context.WithoutCancel(ctx)) }()
	logger.Info("ending") // beside it: standard error may be held up
	err = errors.Join(err, <-closed)
	if err == nil || ctx.Err() != nil {
		stop()
		err = errors.Join(err, <-served)
	}
	return err
}

// announce says where the page is, and opens it unless that is not wanted.
func announce(out io.Writer, l net.Listener, token string, noOpen bool, opener *browser) {
	address := fmt.Sprintf("http://%s/?token=%s", shownAddress(l.Addr()), token)
	if _, err := fmt.Fprintf(out, "Inspector ready: %s\n", address); err != nil {
		opener.logger.Warn("standard output is closed", "error", err)
	}
	if !noOpen {
		opener.open(address)
	}
}

// portsTried is how many ports after a taken default one are tried.
const portsTried = 20

// listen opens the page's address. Only the default port may give way to
// another: an address that was asked for is either had or refused.
func listen(address string, given bool, logger *slog.Logger) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l, nil
	}
	if given || !errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	host, port, splitErr := net.SplitHostPort(address)
	first, numErr := strconv.Atoi(port)
	if splitErr != nil || numErr != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	for p := first + 1; p <= first+portsTried; p++ {
		l, next := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p)))
		if next == nil {
			logger.Info("the default port is taken, using the next free one", "taken", first, "port", p)
			return l, nil
		}
	}
	return nil, fmt.Errorf("ports %d to %d are all taken: %w", first, first+portsTried, err)
}

// shownAddress is the address under which a person opens the page.
func shownAddress(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
