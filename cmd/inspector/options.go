package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// options are the flags of the main command, and the target from its arguments.
type options struct {
	page        pageOptions
	transport   string
	headers     []string
	env         []string
	dir         string
	name        string
	config      string
	servers     []string
	record      string
	recordNew   bool
	redact      redactOptions
	otlp        otlpOptions
	signIn      signInOptions
	protocol    string
	elicitation string
	elicitRate  int
	answers     string
	allowAdd    bool
	taps        bool
	maxFrame    int64
	verbose     bool

	command []string
	url     string
	builtin *demo.Server // set by targets; nil for another target
}

// registerSession adds the flags of the commands whose sessions a person decides on.
func (o *options) registerSession(f *pflag.FlagSet) {
	o.registerTarget(f)
	o.otlp.registerListen(f)
	f.StringVar(&o.record, "record", "", "append every frame to a transcript `FILE` as it happens")
	f.BoolVar(&o.recordNew, "record-new", false, "refuse to record to a file that exists, rather than continue it")
	o.registerClient(f)
}

// registerClient adds the flags about how the client presents itself.
func (o *options) registerClient(f *pflag.FlagSet) {
	f.StringVar(&o.protocol, "protocol", "auto", "protocol revision (`REV`): auto, "+strings.Join(mcp.Revisions, ", "))
	f.StringVar(&o.elicitation, "elicitation", "", "what the client declares (`MODES`): form,url, form, url, empty or none; no-tasks and apps may follow, after commas")
}

// registerTarget adds the flags of all commands that connect to servers.
func (o *options) registerTarget(f *pflag.FlagSet) {
	f.StringVar(&o.transport, "transport", "auto", "for a URL, the `WAY`: auto, http (Streamable HTTP) or sse (legacy HTTP+SSE)")
	f.StringArrayVar(&o.headers, "header", nil, "add `'K: V'` to each HTTP request (repeat)")
	f.StringArrayVar(&o.env, "env", nil, "add `K=V` to the command's environment (repeat)")
	f.StringVar(&o.dir, "cwd", "", "working `DIR` of the command")
	f.StringVar(&o.name, "name", "", "the `NAME` of the server, instead of its command or host")
	f.StringVar(&o.config, "config", "", "connect to the servers of an mcp.json `FILE`")
	f.StringArrayVar(&o.servers, "server", nil, "with --config: only this server, by its `NAME` (repeat)")
	o.signIn.register(f)
	o.redact.register(f, "of transcripts")
	o.otlp.register(f)
	registerMaxFrame(f, &o.maxFrame, "the `SIZE` past which a message is cut in the log and not passed on, in bytes, or with k, M, G, Ki, Mi or Gi (default 64Mi)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log more to standard error")
}

// readArguments reads the target from the arguments: nothing, one URL, or the command
// after --.
func (o *options) readArguments(args []string, dash int) error {
	if err := o.readTarget(args, dash); err != nil {
		return err
	}
	return o.consistent()
}

// readTarget is readArguments for commands whose target can also come from a file, so that
// which flags fit is known later.
func (o *options) readTarget(args []string, dash int) error {
	switch {
	case dash == 0 && len(args) == 0:
		return usage("there is no command after --")
	case dash == 0 && isURL(args[0]):
		return usage("%q is a URL: write it without --, which begins a command", args[0])
	case dash == 0:
		o.command = args
	case dash > 0:
		hint := wording.Either(o.otlp.url == otlpFromEnvironment, "; the address of a collector is written --otlp=URL", "")
		return usage("a URL and a command cannot be used together: %q%s", args[0], hint)
	case len(args) > 0:
		hint := ""
		if !isURL(args[0]) {
			hint = advice(args)
		}
		switch {
		case hint != "":
			return usage("%q is not an http or https URL; %s", args[0], hint)
		case len(args) > 1 && !isURL(args[0]) && !strings.ContainsAny(args[0], "./:"):
			if hint = advice(args[1:2]); hint == "" {
				hint = "to start a command, put -- before it"
			}
			return usage("there is no subcommand %q; %s", args[0], hint)
		case len(args) > 1:
			return usage("unexpected argument %q; to start a command, put -- before it", args[1])
		case !isURL(args[0]):
			return usage("%q is neither a subcommand nor an http or https URL; to start a command, put -- before it", args[0])
		}
		o.url = args[0]
	}
	return nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (o *options) hasTarget() bool { return o.config != "" || o.command != nil || o.url != "" }

// adopt takes the target of a scenario or a plan, unless the command line names one. Flags
// take precedence over what the file says.
func (o *options) adopt(t script.Target, file string) error {
	switch {
	case o.hasTarget():
		return nil
	case t.Missing != nil:
		return usageError{t.Missing}
	}
	o.command, o.url, o.env = t.Command, t.URL, slices.Concat(t.Env, o.env)
	if o.transport == "auto" && t.Transport != "" {
		o.transport = t.Transport
	}
	if o.dir == "" && t.Dir != "" {
		if o.dir = t.Dir; !filepath.IsAbs(o.dir) {
			o.dir = filepath.Join(filepath.Dir(file), o.dir)
		}
	}
	given := o.headers
	o.headers = slices.Clone(given)
	for _, h := range t.Header {
		if !slices.ContainsFunc(given, func(line string) bool {
			name, _, _ := strings.Cut(line, ":")
			return strings.EqualFold(strings.TrimSpace(name), h[0])
		}) {
			o.headers = append(o.headers, h[0]+": "+h[1])
		}
	}
	return nil
}

// consistent returns an error for flags that would have no effect.
func (o *options) consistent() error {
	switch {
	case o.config != "" && (o.url != "" || o.command != nil):
		return usage("--config and a target on the command line cannot be used together")
	case o.config == "" && len(o.servers) > 0:
		return usage("--server needs --config")
	case len(o.headers) > 0 && o.url == "":
		return usage("--header needs a URL")
	case (len(o.env) > 0 || o.dir != "") && o.command == nil:
		return usage("--env and --cwd need a command")
	case o.signIn.named() != "" && o.url == "":
		return usage("%s needs a URL", o.signIn.named())
	case o.transport != "auto" && o.url == "":
		return usage("--transport needs a URL")
	case o.elicitRate < 0:
		return usage("--elicit-rate must not be negative")
	case o.taps && o.hasTarget():
		return usage("--taps and a target cannot be used together: put 'inspector tap' before the server's command, where its client starts it")
	case o.taps && (o.answers != "" || o.allowAdd):
		return usage("--taps shows the sessions of others: --answers and --allow-add have nothing to act on")
	case o.recordNew && o.record == "":
		return usage("--record-new needs --record")
	case o.name != "" && o.config != "":
		return usage("--name and --config cannot be used together: the file names its servers")
	}
	return nil
}

// settings returns how the client presents itself. The command line takes precedence over
// an mcp.json.
func (o *options) settings(protocolGiven bool) (conversation.ClientSettings, error) {
	protocol := ""
	if protocolGiven {
		protocol = o.protocol
	}
	s, err := conversation.ParseClientSettings(protocol, o.elicitation)
	if err != nil {
		return s, usage("%w", err)
	}
	return s, nil
}

// mostFrame is the greatest frame size in bytes that a log supports.
const mostFrame = 1 << 30

// registerMaxFrame adds the flag --max-frame.
func registerMaxFrame(f *pflag.FlagSet, n *int64, usage string) {
	*n = wire.DefaultMaxFrame
	f.Func("max-frame", usage, func(text string) (err error) {
		if *n, err = query.ParseSize(text); err == nil && (*n < 1 || *n > mostFrame) {
			err = fmt.Errorf("%q is not a size from 1 to 1Gi", text)
		}
		return err
	})
}

// redactOptions are the redaction flags of transcripts and exports.
type redactOptions struct {
	rules  []string
	values []string
	files  []string
}

// register adds the flags. of describes what they redact.
func (o *redactOptions) register(f *pflag.FlagSet, of string) {
	f.StringArrayVar(&o.rules, "redact", nil, "leave the values of this header, JSON member or JSON path (`RULE`) out "+of+", wherever else they stand too (repeat)")
	f.StringArrayVar(&o.values, "redact-value", nil, "leave this `VALUE` out "+of+" (repeat); other users of the machine can see it in the command line")
	f.StringArrayVar(&o.files, "redact-file", nil, "leave the values in this `FILE` out "+of+", one a line (repeat)")
}

func (o *redactOptions) redaction() (*redact.Redaction, error) {
	r, err := redact.New(o.rules...)
	if err != nil {
		return nil, usage("--redact: %w", err)
	}
	if err := r.Values("--redact-value", o.values...); err != nil {
		return nil, usage("--redact-value: %w", err)
	}
	for _, path := range o.files {
		text, err := written.ReadFile(path)
		if err != nil {
			return nil, usage("--redact-file: %w", err)
		}
		for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
			line = strings.TrimRight(line, "\r")
			if line != "" && r.Values("--redact-file", line) != nil {
				return nil, usage("--redact-file %s, line %d: it has less than %d characters, and would be found where it is not meant", path, i+1, redact.LeastValue)
			}
		}
	}
	return r, nil
}
