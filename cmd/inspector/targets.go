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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
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
	return transport.Spec{Name: demo.Name, Builtin: server.Connect}, server.Close
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
	if err := checkEnv(o.env); err != nil {
		return nil, usage("--env %w", err)
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
	header, err := headersOf(o.headers)
	if err != nil {
		return nil, usage("--header %w", err)
	}
	signIn, err := o.signIn.config()
	if err != nil {
		return nil, err
	}
	return []transport.Spec{{Name: cmp.Or(o.name, u.Host, o.url), URL: o.url, Transport: kind, Header: header, SignIn: signIn}}, nil
}

// typedSpec returns the server that a person has typed on the page. With an error, field is
// the name of the form's field with the mistake.
func typedSpec(typed views.NewServer) (spec transport.Spec, field string, err error) {
	line, dir := strings.TrimSpace(typed.Address), strings.TrimSpace(typed.Dir)
	headers, env := typedLines(typed.Headers), typedLines(typed.Env)
	if u, err := url.Parse(line); err == nil && isURL(line) {
		switch {
		case len(env) > 0:
			return spec, "env", errors.New("an environment needs a command")
		case dir != "":
			return spec, "dir", errors.New("a folder needs a command")
		}
		spec = transport.Spec{Name: cmp.Or(strings.TrimSpace(typed.Name), u.Host), URL: line}
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
	return transport.Spec{Name: cmp.Or(strings.TrimSpace(typed.Name), serverName(words, dir)), Command: words, Env: env, Dir: dir}, "dir", err
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

type signInOptions struct {
	clientID, issuer, secretFile, keyFile, metadataURL string
	scopes                                             string
	port                                               int
	off, keep                                          bool
	wait                                               time.Duration // for a person, in commands without a page
}

func (o *signInOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.clientID, "oauth-client-id", "", "the `ID` of a client that the authorization server knows already")
	f.StringVar(&o.issuer, "oauth-issuer", "", "the authorization server that knows that client, as its `URL`; without it the first one that gives it a token")
	f.StringVar(&o.secretFile, "oauth-client-secret-file", "", "the `FILE` that has the secret of that client")
	f.StringVar(&o.keyFile, "oauth-client-key-file", "", "the PEM `FILE` that has the private key of that client, in place of a secret")
	f.StringVar(&o.metadataURL, "oauth-client-metadata-url", "", "the https `URL` of a client-ID metadata document")
	f.StringVar(&o.scopes, "oauth-scope", "", "the `SCOPES` to ask for, separated by spaces, in place of those that the server names")
	f.IntVar(&o.port, "oauth-redirect-port", 0, "the `PORT` of this machine to which the browser comes back; 0 for that of the page, or any")
	f.BoolVar(&o.keep, "oauth-keep", false, "keep tokens in the keyring of the system")
	f.BoolVar(&o.off, "no-oauth", false, "do not sign in where a server asks for a token")
}

// named returns the first flag that is given and belongs to one server; "" if there is
// none.
func (o *signInOptions) named() string {
	for _, f := range []struct {
		given bool
		flag  string
	}{
		{o.clientID != "", "--oauth-client-id"}, {o.issuer != "", "--oauth-issuer"}, {o.secretFile != "", "--oauth-client-secret-file"},
		{o.keyFile != "", "--oauth-client-key-file"}, {o.metadataURL != "", "--oauth-client-metadata-url"},
		{o.scopes != "", "--oauth-scope"}, {o.port != 0, "--oauth-redirect-port"},
	} {
		if f.given {
			return f.flag
		}
	}
	return ""
}

func (o *signInOptions) config() (signin.Config, error) {
	c := signin.Config{
		Off: o.off, Keep: o.keep, ClientID: o.clientID, Issuer: o.issuer, MetadataURL: o.metadataURL,
		Scopes: strings.Fields(o.scopes), RedirectPort: o.port,
	}
	if o.secretFile != "" {
		secret, err := signin.ReadSecret(o.secretFile)
		if err != nil {
			return c, usage("--oauth-client-secret-file: %w", err)
		}
		c.ClientSecret = secret
	}
	if o.keyFile != "" {
		key, err := signin.ReadKey(o.keyFile)
		if err != nil {
			return c, usage("--oauth-client-key-file: %w", err)
		}
		c.ClientKey = key
	}
	if err := c.Check(); err != nil {
		return c, usage("%w", err)
	}
	return c, nil
}

// usualWait is how long a command on a terminal waits for a person to sign in.
const usualWait = 5 * time.Minute

// registerWait adds the flag of the commands without a page about the person who signs in.
func (o *signInOptions) registerWait(f *pflag.FlagSet) {
	f.DurationVar(&o.wait, "oauth-wait", 0, "how long (`D`) to wait for a person to sign in where a server asks for that; 0 not to wait (default 5m on a terminal, 0 elsewhere)")
}

// newDesk returns the desk of a command without a page. Where a person must sign in, it
// prints the address on standard error and waits as long as --oauth-wait says. Without that
// flag it waits only if somebody is there: on a terminal, unless nobody is true.
func (o *signInOptions) newDesk(cmd *cobra.Command, nobody bool) *signin.Desk {
	wait := o.wait
	if !cmd.Flags().Changed("oauth-wait") && !nobody && onTerminal() {
		wait = usualWait
	}
	c := signin.DeskConfig{Headless: true, Wait: wait, Warn: func(text string) { warn(cmd, "%s", text) }}
	if wait > 0 {
		c.Tell = func(server, address string) {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s asks you to sign in. Open this address in a browser, within %v (--oauth-wait):\n%s\n", server, wait, address)
		}
	}
	return signin.NewDesk(c)
}
