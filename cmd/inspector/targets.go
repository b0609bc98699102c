package main

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
)

// targets returns the servers to connect to: the built-in server if the command line names
// none. redaction leaves out their credentials. The caller must call closing, which ends
// the built-in server.
func (o *options) targets(redaction *redact.Redaction, logger *slog.Logger) (specs []transport.Spec, closing func() error, err error) {
	if !o.hasTarget() {
		spec, closing := builtin()
		return []transport.Spec{spec}, closing, nil
	}
	specs, err = o.specs()
	if err == nil {
		specs, err = o.enabled(specs, logger)
	}
	for _, spec := range specs {
		redaction.Credentials(spec.Header)
	}
	return specs, func() error { return nil }, err
}

// builtin returns the built-in demo server as a target, and the function that ends it.
func builtin() (spec transport.Spec, closing func() error) {
	server := demo.New(demo.Options{})
	return transport.Spec{Name: demo.Name, Builtin: server.MCP}, server.Close
}

// specs returns the servers that the command line names, by an mcp.json or directly.
func (o *options) specs() ([]transport.Spec, error) {
	if o.config != "" {
		specs, err := transport.LoadConfig(o.config, os.LookupEnv, o.servers...)
		if err != nil {
			return nil, usage("--config: %w", err)
		}
		for i := range specs {
			specs[i].SignIn.Off = specs[i].SignIn.Off || o.signIn.off
			specs[i].SignIn.Keep = specs[i].SignIn.Keep || o.signIn.keep
		}
		return specs, nil
	}
	for _, e := range o.env {
		if k, _, ok := strings.Cut(e, "="); !ok || k == "" {
			return nil, usage("--env %q is not of the form K=V", e)
		}
	}
	if o.command != nil {
		dir, err := filepath.Abs(o.dir)
		if err != nil {
			dir = o.dir
		}
		return []transport.Spec{{Name: cmp.Or(o.name, serverName(o.command, dir)), Command: o.command, Env: o.env, Dir: o.dir}}, nil
	}
	u, err := url.Parse(o.url)
	if err != nil {
		return nil, usageError{err}
	}
	kind, err := transport.ParseTransport(o.transport)
	if err != nil {
		return nil, usageError{err}
	}
	header := http.Header{}
	for _, line := range o.headers {
		k, v, ok := strings.Cut(line, ":")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, usage("--header %q is not of the form 'K: V'", line)
		}
		header.Add(k, strings.TrimSpace(v))
	}
	signIn, err := o.signIn.config()
	if err != nil {
		return nil, err
	}
	return []transport.Spec{{Name: cmp.Or(o.name, u.Host, o.url), URL: o.url, Transport: kind, Header: header, SignIn: signIn}}, nil
}

// typedSpec returns the server that a person has typed on the page: a URL, or a command
// with its arguments.
func typedSpec(line string) (transport.Spec, error) {
	line = strings.TrimSpace(line)
	if u, err := url.Parse(line); err == nil && isURL(line) {
		return transport.Spec{Name: u.Host, URL: line}, nil
	}
	words, err := wording.ShellWords(line)
	switch {
	case err != nil:
		return transport.Spec{}, err
	case len(words) == 0:
		return transport.Spec{}, errors.New("type a URL, or a command")
	}
	return transport.Spec{Name: serverName(words, ""), Command: words}, nil
}

// enabled removes servers that the file disables, and logs them. Servers named on the
// command line are never disabled.
func (o *options) enabled(specs []transport.Spec, logger *slog.Logger) ([]transport.Spec, error) {
	var out []transport.Spec
	var skipped []string
	for _, s := range specs {
		if s.Disabled {
			skipped = append(skipped, s.Name)
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 && len(skipped) > 0 {
		return nil, usage("all servers of %s are disabled; name one with --server: %s", o.config, strings.Join(skipped, ", "))
	}
	for _, name := range skipped {
		logger.Info("skipping a server that is disabled; --server would connect to it", "server", name, "config", o.config)
	}
	return out, nil
}
