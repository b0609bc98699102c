// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestCommandLineMistakes(t *testing.T) {
	cases := []struct {
		args []string
		want string // part of the message
	}{
		{[]string{"flow"}, "neither a subcommand nor"},
		{[]string{"ftp://example.com"}, "neither a subcommand nor"},
		{[]string{"http://"}, "neither a subcommand nor"},
		{[]string{"--"}, "no command after --"},
		{[]string{"http://example.com/mcp", "--", "x"}, "cannot be used together"},
		{[]string{"http://example.com/mcp", "x"}, "unexpected argument"},
		{[]string{"--bogus"}, "unknown flag"},
		{[]string{"--header", "K: V"}, "--header needs a URL"},
		{[]string{"--header", "K", "http://example.com"}, "not of the form 'K: V'"},
		{[]string{"--env", "K=V"}, "need a command"},
		{[]string{"--env", "K", "--", "x"}, "not of the form K=V"},
		{[]string{"--transport", "carrier-pigeon", "http://example.com"}, "unknown transport"},
		{[]string{"--transport", "sse"}, "--transport needs a URL"},
		{[]string{"--config", "x", "http://example.com"}, "cannot be used together"},
		{[]string{"--server", "x"}, "--server needs --config"},
		{[]string{"--record-new"}, "--record-new needs --record"},
		{[]string{"--protocol", "2024-11-05"}, "unknown protocol revision"},
		{[]string{"--redact-file", "no-such-file"}, "no-such-file"},
		{[]string{"--elicitation", "telepathy"}, "unknown elicitation capability"},
		{[]string{"--elicit-rate", "-1"}, "must not be negative"},
		{[]string{"--redact", ""}, "--redact"},
		{[]string{"--max-frame", "much"}, "not a size"},
		{[]string{"--max-frame", "0"}, "not a size"},
		{[]string{"--max-frame", "9000000G"}, "not a size"},
		{[]string{"--listen", "foo"}, "HOST:PORT"},
		{[]string{"version", "x"}, "unexpected argument"},
		{[]string{"demo", "x"}, "unexpected argument"},
		{[]string{"demo", "--http", "127.0.0.1"}, "HOST:PORT"},
	}
	for _, c := range cases {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			var out, errOut bytes.Buffer
			root := newRoot(&out, &errOut)
			root.SetArgs(c.args)
			err := root.ExecuteContext(context.Background())
			var mistake usageError
			if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want a usage error with %q", err, c.want)
			}
			if out.Len() > 0 {
				t.Errorf("standard output has %q", out.String())
			}
		})
	}
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var said bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&said, nil))
	if l, err := listen(taken.Addr().String(), true, logger); err == nil {
		l.Close()
		t.Error("an address that was asked for and is taken is had all the same")
	}
	l, err := listen(taken.Addr().String(), false, logger)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Addr().String() == taken.Addr().String() || !strings.Contains(said.String(), "taken") {
		t.Errorf("listening on %s, and saying %q", l.Addr(), said.String())
	}
}

func TestCanOpen(t *testing.T) {
	cases := []struct {
		system string
		env    map[string]string
		want   bool
	}{
		{"linux", nil, false},
		{"linux", map[string]string{"DISPLAY": ":0"}, true},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, true},
		{"linux", map[string]string{"DISPLAY": ":0", "CI": "true"}, false},
		{"darwin", nil, true},
		{"darwin", map[string]string{"SSH_CONNECTION": "x"}, false},
		{"windows", map[string]string{"CI": "1"}, false},
	}
	for _, c := range cases {
		if got := canOpen(c.system, func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("on %s with %v: %v, want %v", c.system, c.env, got, c.want)
		}
	}
}
