package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/views"
)

// targets returns the servers to connect to: if the command line names none, the built-in
// server, which close ends. redaction leaves out their credentials.
func (o *options) targets(redaction *redact.Redaction, logger *slog.Logger) ([]target.Spec, error) {
	if !o.hasTarget() {
		o.builtin = demo.New(demo.Options{})
		return []target.Spec{{Name: demo.Name, Builtin: o.builtin.ServeLines}}, nil
	}
	specs, err := o.specs()
	if err == nil {
		specs, err = o.enabled(specs, logger)
	}
	for _, spec := range specs {
		redaction.Credentials(spec.Header)
	}
	return specs, err
}

// close ends the built-in server, if it is the target.
func (o *options) close() error {
	if o.builtin == nil {
		return nil
	}
	return o.builtin.Close()
}

// specs returns the servers that the command line names, by an mcp.json or directly.
func (o *options) specs() ([]target.Spec, error) {
	if o.config != "" {
		specs, err := target.LoadConfig(o.config, os.LookupEnv, o.servers...)
		if err != nil {
			return nil, usage("--config: %w", err)
		}
		for i := range specs {
			specs[i].SignIn.Off = specs[i].SignIn.Off || o.signIn.off
			specs[i].SignIn.Keep = specs[i].SignIn.Keep || o.signIn.keep
		}
		return specs, nil
	}
	if err := checkEnv(o.env); err != nil {
		return nil, usage("--env %w", err)
	}
	if o.command != nil {
		dir, err := filepath.Abs(o.dir)
		if err != nil {
			dir = o.dir
		}
		return []target.Spec{{Name: cmp.Or(o.name, serverName(o.command, dir)), Derived: o.name == "", Command: o.command, Env: o.env, Dir: o.dir}}, nil
	}
	u, err := url.Parse(o.url)
	if err != nil {
		return nil, usageError{err}
	}
	kind, err := target.ParseTransport(o.transport)
	if err != nil {
		return nil, usageError{err}
	}
	header, err := headersOf(o.headers)
	if err != nil {
		return nil, usage("--header %w", err)
	}
	signIn, err := o.signIn.config()
	if err != nil {
		return nil, err
	}
	return []target.Spec{{Name: cmp.Or(o.name, u.Host, o.url), Derived: o.name == "", URL: o.url, Transport: kind, Header: header, SignIn: signIn}}, nil
}

// typedSpec returns the server that a person has typed on the page. With an error, field is
// the name of the form's field with the mistake.
func typedSpec(typed views.NewServer) (spec target.Spec, field string, err error) {
	line, dir, name := strings.TrimSpace(typed.Address), strings.TrimSpace(typed.Dir), strings.TrimSpace(typed.Name)
	headers, env := typedLines(typed.Headers), typedLines(typed.Env)
	if u, err := url.Parse(line); err == nil && isURL(line) {
		switch {
		case len(env) > 0:
			return spec, "env", errors.New("an environment needs a command")
		case dir != "":
			return spec, "dir", errors.New("a folder needs a command")
		}
		spec = target.Spec{Name: cmp.Or(name, u.Host), Derived: name == "", URL: line}
		spec.Header, err = headersOf(headers)
		return spec, "headers", err
	}
	words, err := wording.ShellWords(line)
	switch {
	case err != nil:
		return spec, "address", err
	case len(words) == 0:
		return spec, "address", errors.New("type a URL, or a command")
	case len(headers) > 0:
		return spec, "headers", errors.New("headers need a URL")
	}
	if err := checkEnv(env); err != nil {
		return spec, "env", err
	}
	if dir != "" {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", dir)
		}
	}
	return target.Spec{Name: cmp.Or(name, serverName(words, dir)), Derived: name == "", Command: words, Env: env, Dir: dir}, "dir", err
}

// typedLines returns the lines of a text box, without blank ones.
func typedLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// headersOf reads lines of the form 'K: V'.
func headersOf(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		k, v, ok := strings.Cut(line, ":")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, fmt.Errorf("%q is not of the form 'K: V'", line)
		}
		header.Add(k, strings.TrimSpace(v))
	}
	return header, nil
}

func checkEnv(lines []string) error {
	for _, e := range lines {
		if k, _, ok := strings.Cut(e, "="); !ok || k == "" {
			return fmt.Errorf("%q is not of the form K=V", e)
		}
	}
	return nil
}

// enabled removes servers that the file disables, and logs them. Servers named on the
// command line are never disabled.
func (o *options) enabled(specs []target.Spec, logger *slog.Logger) ([]target.Spec, error) {
	var out []target.Spec
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
