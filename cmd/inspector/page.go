package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/web"
	"elicitation-inspector/web/guard"
)

type pageOptions struct {
	listen string
	noOpen bool
}

func (o *pageOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "127.0.0.1:6280", "`ADDR` of the page; port 0 picks a free one")
	f.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
}

func (o *pageOptions) check() error { return checkAddress("--listen", o.listen) }

// listenAt listens at the address of --http.
func listenAt(cmd *cobra.Command, address string) (net.Listener, error) {
	if err := checkAddress("--http", address); err != nil {
		return nil, err
	}
	l, err := guard.Listen(address)
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", address, err)
	}
	if !l.Named {
		warn(cmd, "another program listens at the other loopback address of this port: clients that are given localhost in place of %s reach that one", l.Addr())
	}
	return l, nil
}

// checkAddress returns an error unless the value of a flag is an address to listen at, of the
// form HOST:PORT.
func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usage("%s %q is not of the form HOST:PORT", flag, address)
	}
	return nil
}

// place is the address of a page, and the means to open it in a browser.
type place struct {
	listener net.Listener
	token    string
	browser  *browser
	noOpen   bool
}

// place listens on the address of the page. The caller must close the browser.
func (o pageOptions) place(cmd *cobra.Command, logger *slog.Logger) (*place, error) {
	l, err := listen(o.listen, cmd.Flags().Changed("listen"), logger)
	if err != nil {
		return nil, err
	}
	letHeapGrow(pageGrowth)
	return &place{l, guard.NewToken(), &browser{logger: logger}, o.noOpen}, nil
}

func (p *place) config(r *redact.Redaction) web.Config {
	return web.Config{Logger: p.browser.logger, Token: p.token, Version: version(), Redaction: r, Opened: p.opened}
}

// warnOfOthers logs a warning if the page listens on more than a loopback address.
func (p *place) warnOfOthers() {
	if a, ok := p.listener.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		p.browser.logger.Warn("the page can be reached from other machines, and whoever has its address can use the servers behind it", "listen", a.String())
	}
}

// startTime is how long after the first request for the page its start takes: the browser
// has what it needs, and the servers are connected.
const startTime = time.Second

// opened is called when the page is first requested. The start takes megabytes once, for
// schemas, compressed scripts and handshakes; they are given back afterwards.
func (p *place) opened() {
	p.browser.close()
	time.AfterFunc(startTime, debug.FreeOSMemory)
}

// announce prints the address of the page, and opens it in a browser unless --no-open is
// set. The page begins at a frame, unless that is 0.
func (p *place) announce(out io.Writer, frame int64) {
	address := fmt.Sprintf("http://%s/?token=%s", shownAddress(p.listener.Addr()), p.token)
	if frame > 0 {
		address += fmt.Sprintf("&frame=%d", frame)
	}
	if _, err := fmt.Fprintf(out, "Inspector ready: %s\n", address); err != nil {
		p.browser.logger.Warn("standard output is closed", "error", err)
	}
	if !p.noOpen {
		p.browser.open(address)
	}
}

// portsTried is how many ports after the default one are tried if it is taken.
const portsTried = 20

// listen listens on the page's address. Only the default port is replaced by another one
// if it is taken, at one loopback address or the other.
func listen(address string, given bool, logger *slog.Logger) (net.Listener, error) {
	l, err := guard.Listen(address)
	if err == nil && (l.Named || given) {
		return l, nil
	}
	host, port, _ := net.SplitHostPort(address)
	first, numErr := strconv.Atoi(port)
	if err != nil && (given || numErr != nil || !errors.Is(err, syscall.EADDRINUSE)) {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	for p := first; ; {
		if err == nil && l.Named {
			logger.Info("the default port is taken, using the next free one", "taken", first, "port", p)
			return l, nil
		}
		if err == nil {
			err = cmp.Or(l.Close(), error(syscall.EADDRINUSE))
		}
		if p++; p > first+portsTried {
			return nil, fmt.Errorf("ports %d to %d are all taken: %w", first, first+portsTried, err)
		}
		l, err = guard.Listen(net.JoinHostPort(host, strconv.Itoa(p)))
	}
}

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
