package main

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/otlp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// otlpOptions are the flags for traces. What they leave open, the variables of OpenTelemetry
// say; see docs/traces.md.
type otlpOptions struct {
	url     string
	content bool
	effects []string // what in a span says that the server acts, besides the conventions
	listen  string   // the address for the spans of servers; "" for none
	traces  *traces  // set by begin
}

// traces sends the spans of sessions, and receives those of servers. It implements [session.Traces].
type traces struct {
	exporter *otlp.Exporter // nil unless spans are sent
	upstream otlp.Upstream
	receive  func() (*otlp.Receiver, error) // begins to receive, if that has not begun
	receiver atomic.Pointer[otlp.Receiver]  // nil until then
	say      func(text string)
	keeps    sync.Once // says that a process sends its spans elsewhere
}

// anyAddress is a port of this machine that is free.
const anyAddress = "127.0.0.1:0"

// otlpFromEnvironment is the value of --otlp without an address.
const otlpFromEnvironment = "from the environment"

func (o *otlpOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "otlp", "", "send traces to a collector, at this `URL` (--otlp=URL) or as the OTEL_EXPORTER_OTLP_* variables say (default http://localhost:4318)")
	f.Lookup("otlp").NoOptDefVal = otlpFromEnvironment
	registerOTLPContent(f, &o.content)
}

// registerListen adds the flag of the commands that begin traces.
func (o *otlpOptions) registerListen(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "otlp-listen", "", "receive the servers' own spans at this `ADDR` (--otlp-listen=HOST:PORT[/TOKEN]), which a process is told (default 127.0.0.1:0)")
	f.Lookup("otlp-listen").NoOptDefVal = anyAddress
	f.StringArrayVar(&o.effects, "effect", nil, "count received spans that match as effects: `KEY:TEXT` or KEY:~REGEXP, where KEY is name, kind, service, scope or an attribute; with a - before it, as none; repeatable")
}

func registerOTLPContent(f *pflag.FlagSet, content *bool) {
	f.BoolVar(content, "otlp-content", false, "put arguments, questions, answers and results into spans, too")
}

// begin begins to send, if --otlp is set, and to receive, if --otlp-listen is. end says what was lost.
func (o *otlpOptions) begin(cmd *cobra.Command) (end func(), err error) {
	say := func(text string) { warn(cmd, "%s", text) }
	for _, name := range []string{"otlp", "otlp-listen"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return nil, usage("--%s= has no value: leave out the =, or the flag", name)
		}
	}
	if o.url == "" && o.content {
		return nil, usage("--otlp-content needs --otlp")
	}
	effect, err := o.effect()
	switch {
	case err != nil:
		return nil, usage("--effect: %w", err)
	case effect != nil && o.listen == "":
		return nil, usage("--effect needs --otlp-listen")
	}
	t := &traces{say: say}
	var wrong []string
	if t.upstream, wrong = otlp.UpstreamOf(os.Getenv); len(wrong) > 0 && o.url+o.listen != "" {
		say("traces: " + wording.Join(", ", wrong...) + wording.Either(len(wrong) == 1, " is", " are") + " not as W3C wants it, and left out")
	}
	t.receive = sync.OnceValues(func() (*otlp.Receiver, error) {
		r, err := otlp.NewReceiver(cmp.Or(o.listen, anyAddress), say)
		if err == nil {
			r.Effect = effect
			t.receiver.Store(r)
			say("traces: servers can send their spans to " + r.Endpoint())
		}
		return r, err
	})
	if o.listen != "" {
		if _, err := t.receive(); err != nil {
			return nil, usage("--otlp-listen: %w", err)
		}
	}
	if o.url != "" {
		if t.exporter, err = o.exporter(say); err != nil {
			t.close()
			return nil, err
		}
	}
	o.traces = t
	return t.close, nil
}

func (t *traces) close() {
	if r := t.receiver.Load(); r != nil {
		r.Close()
	}
	if t.exporter != nil {
		t.exporter.Close()
	}
}

// effect returns the first value of --effect that a span matches, which is "" for none; nil without the flag.
func (o *otlpOptions) effect() (func(*wire.Span) string, error) {
	if o.effects == nil {
		return nil, nil
	}
	matches := make([]func(*wire.Span) bool, len(o.effects))
	for i, value := range o.effects {
		var err error
		if matches[i], err = conversation.ParseEffect(value); err != nil {
			return nil, err
		}
	}
	return func(s *wire.Span) string {
		if i := slices.IndexFunc(matches, func(is func(*wire.Span) bool) bool { return is(s) }); i >= 0 {
			return o.effects[i]
		}
		return ""
	}, nil
}

// exporter begins to send.
func (o *otlpOptions) exporter(say func(text string)) (*otlp.Exporter, error) {
	address, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	c := otlp.Config{URL: address, Version: version(), Content: o.content, Warn: say}
	if protocol := cmp.Or(otlpEnv("PROTOCOL"), "http/protobuf"); protocol != "http/protobuf" {
		return nil, usage("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and the inspector speaks http/protobuf", protocol)
	}
	if c.Compression = cmp.Or(otlpEnv("COMPRESSION"), "none"); c.Compression != "gzip" && c.Compression != "none" {
		return nil, usage("OTEL_EXPORTER_OTLP_COMPRESSION is %q, and must be gzip or none", c.Compression)
	}
	ms, err := strconv.ParseInt(cmp.Or(otlpEnv("TIMEOUT"), "10000"), 10, 32)
	if err != nil || ms <= 0 {
		return nil, usage("OTEL_EXPORTER_OTLP_TIMEOUT must be milliseconds, more than 0")
	}
	c.Timeout, c.Header = time.Duration(ms)*time.Millisecond, http.Header{}
	headers, err := pairsOf(otlpEnv("HEADERS"))
	if err != nil {
		return nil, usage("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	for _, h := range headers {
		c.Header.Add(h[0], h[1])
	}
	attributes, err := pairsOf(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return nil, usage("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := os.Getenv("OTEL_SERVICE_NAME"); name != "" {
		attributes = append(attributes, [2]string{"service.name", name})
	}
	for _, a := range attributes {
		c.Resource = append(c.Resource, otlp.Attribute{Key: a[0], Value: otlp.Value{Text: &a[1]}})
	}
	if c.Client, err = otlpClient(); err != nil {
		return nil, usageError{err}
	}
	return otlp.NewExporter(c), nil
}

// otlpEnv returns a variable for traces, or else the one for all signals.
func otlpEnv(name string) string {
	return strings.TrimSpace(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name)))
}

// endpoint returns the address that spans are sent to. To one for all signals the path is added.
func (o *otlpOptions) endpoint() (string, error) {
	const path = "/v1/traces"
	from, address := "--otlp", o.url
	if address == otlpFromEnvironment {
		from, address = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
		if address == "" {
			from, address = "OTEL_EXPORTER_OTLP_ENDPOINT", strings.TrimRight(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "http://localhost:4318"), "/")+path
		}
	} else if u, err := url.Parse(address); err == nil && strings.Trim(u.Path, "/") == "" {
		u.Path = path
		address = u.String()
	}
	if !isURL(address) {
		return "", usage("%s: %q is not an http or https URL", from, address)
	}
	return address, nil
}

// pairsOf reads a list such as "a=1,b=2", whose values are percent-encoded.
func pairsOf(list string) (pairs [][2]string, err error) {
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form K=V", part)
		}
		if value, err = url.PathUnescape(strings.TrimSpace(value)); err != nil {
			return nil, err
		}
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs, nil
}

// otlpClient returns the client that sends spans, with the certificates that the variables name.
func otlpClient() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{}
	if path := otlpEnv("CERTIFICATE"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		if transport.TLSClientConfig.RootCAs = x509.NewCertPool(); !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE has no certificate")
		}
	}
	if path := otlpEnv("CLIENT_CERTIFICATE"); path != "" {
		own, err := tls.LoadX509KeyPair(path, otlpEnv("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{own}
	}
	return &http.Client{Transport: transport}, nil
}

// follow sends the spans of a log until end is called, before the log is closed.
func (o *otlpOptions) follow(l *wire.Log, r *redact.Redaction) (end func()) {
	if o.traces == nil || o.traces.exporter == nil {
		return func() {}
	}
	return o.traces.exporter.Follow(l, r)
}

// Context gives a request of the inspector's own a trace. Where spans are received, each call has a trace of its
// own, by which it is known.
func (t *traces) Context(l *wire.Log, f wire.Frame, receives bool) (list []session.Member) {
	upstream := t.upstream
	if receives {
		r, err := t.receive()
		if err != nil {
			return nil // Hand has said so
		}
		upstream = upstream.Alone()
		r.Sent(l, f)
	} else if t.exporter == nil {
		return nil
	}
	parent, state, baggage := upstream.Context(f.Session, f.Call, f.Message)
	for _, m := range [][2]string{{"traceparent", parent}, {"tracestate", state}, {"baggage", baggage}} {
		if m[1] != "" {
			list = append(list, session.Member{Name: m[0], Value: rawjson.Quoted(m[1])})
		}
	}
	return list
}

// late returns what waits for the last spans of the servers of a log; nil where none are received.
func (o *otlpOptions) late() func(*wire.Log) {
	if o.listen == "" {
		return nil
	}
	return o.traces.receiver.Load().Late
}

// Hand tells a process where its spans are received, unless its environment names another place.
func (t *traces) Hand(spec target.Spec) (told target.Spec, endpoint string, err error) {
	r, err := t.receive()
	if err != nil {
		return spec, "", err
	}
	endpoint = r.Endpoint()
	has := func(name string) bool {
		return os.Getenv(name) != "" || slices.ContainsFunc(spec.Env, func(pair string) bool { return strings.HasPrefix(pair, name+"=") })
	}
	switch {
	case spec.Command == nil:
		return spec, endpoint, nil
	case has("OTEL_EXPORTER_OTLP_ENDPOINT") || has("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
		t.keeps.Do(func() {
			t.say("traces: the environment says where " + spec.Name + " sends its spans, which is not told otherwise")
		})
		return spec, endpoint, nil
	}
	spec.Env = append(slices.Clone(spec.Env), "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	if !has("OTEL_BSP_SCHEDULE_DELAY") { // SDKs collect spans for five seconds otherwise
		spec.Env = append(spec.Env, "OTEL_BSP_SCHEDULE_DELAY=500")
	}
	return spec, endpoint, nil
}
