package e2e

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"elicitation-inspector/e2e/internal/inspector"
)

// traceCollector takes spans, and decodes them by the messages of OTLP.
type traceCollector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*trace.Span
	wrong []string
}

func newTraceCollector(t *testing.T) *traceCollector {
	c := &traceCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Team") != "a b" {
			c.wrong = append(c.wrong, fmt.Sprint(err, r.URL, r.Header))
		}
		for _, resource := range request.ResourceSpans {
			if len(resource.ProtoReflect().GetUnknown()) > 0 || !strings.Contains(resource.Resource.String(), "team-a") {
				c.wrong = append(c.wrong, resource.Resource.String())
			}
			for _, scope := range resource.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// told is a span as both the collector and an export have it.
type told struct{ trace, span, parent, name, start, end, kind, attributes string }

func (c *traceCollector) told(t *testing.T) (list []told) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wrong != nil {
		t.Errorf("the collector got %q", c.wrong)
	}
	for _, s := range c.spans {
		var attributes []string
		for _, a := range s.Attributes {
			value := a.Value.GetStringValue()
			if value == "" {
				value = fmt.Sprint(a.Value.GetIntValue())
			}
			attributes = append(attributes, a.Key+"="+value)
		}
		list = append(list, told{hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId), s.Name, fmt.Sprint(s.StartTimeUnixNano), fmt.Sprint(s.EndTimeUnixNano), fmt.Sprint(int(s.Kind)), sorted(attributes)})
	}
	return sortedTold(list)
}

// sorted writes attributes in one order: receivers keep none.
func sorted(attributes []string) string {
	slices.Sort(attributes)
	return strings.Join(attributes, " ")
}

func sortedTold(list []told) []told {
	slices.SortFunc(list, func(a, b told) int { return strings.Compare(a.start+a.span, b.start+b.span) })
	return list
}

// sameSpans fails where a receiver has other spans than the transcript.
func sameSpans(t *testing.T, received, want []told) {
	t.Helper()
	without := func(list, others []told) []told {
		return slices.DeleteFunc(slices.Clone(list), func(s told) bool { return slices.Contains(others, s) })
	}
	if !slices.Equal(received, want) {
		t.Errorf("only the receiver has\n%+v\nonly the transcript has\n%+v", without(received, want), without(want, received))
	}
}

// exportedTraces exports transcripts as OTLP/JSON, and reads the spans.
func exportedTraces(t *testing.T, paths ...string) (list []told) {
	t.Helper()
	for _, path := range paths {
		r := inspector.Run(t, inspector.Options{}, "export", path, "--format", "otlp")
		if r.Code != 0 {
			t.Fatal(r)
		}
		list = append(list, tracesIn(t, []byte(r.Stdout))...)
	}
	return sortedTold(list)
}

// With --otlp each command that talks sends the spans that its transcript has, and its requests name
// their spans. A tap joins them, and changes nothing.
func TestTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	answers := write("answers.yaml", "answers:\n  - answer: decline\n")
	plan := write("plan.yaml", "behaviours: [decline, several-at-once]\ncalls:\n  - tool: deploy\n")
	scenario := write("s.yaml", "target: demo\ncalls:\n  - tool: deploy\n    answers:\n      - answer: decline\n")
	tapped := filepath.Join(dir, "tapped.jsonl")
	probed := filepath.Join(dir, "probed.jsonl")
	earlier := filepath.Join(dir, "earlier.jsonl")
	if r := inspector.Run(t, inspector.Options{}, "call", "deploy", "--answers", answers, "--record", earlier, "--", inspector.Binary, "demo"); r.Code != 0 {
		t.Fatal(r)
	}
	const trace, above = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for name, test := range map[string]struct {
		args   []string
		record string // a pattern
		ours   bool   // the requests are the inspector's own
	}{
		"call":   {[]string{"call", "deploy", "--answers", answers, "--record", filepath.Join(dir, "call.jsonl"), "--protocol", "2026-07-28"}, filepath.Join(dir, "call.jsonl"), true},
		"within": {[]string{"call", "deploy", "--answers", answers, "--record", filepath.Join(dir, "within.jsonl"), "--protocol", "2026-07-28"}, filepath.Join(dir, "within.jsonl"), true},
		"list":   {[]string{"list", "--record", filepath.Join(dir, "list.jsonl")}, filepath.Join(dir, "list.jsonl"), true},
		"check":  {[]string{"check", "--plan", plan, "--protocol", "2025-11-25", "--record", filepath.Join(dir, "check")}, filepath.Join(dir, "check", "*.jsonl"), true},
		"run":    {[]string{"run", scenario, "--protocol", "2025-11-25", "--record", filepath.Join(dir, "run")}, filepath.Join(dir, "run", "s-2025-11-25.jsonl"), true},
		"replay": {[]string{"replay", earlier, "--record", filepath.Join(dir, "replay.jsonl"), "--recorded-target"}, filepath.Join(dir, "replay.jsonl"), true},
		"tap":    {[]string{"call", "deploy", "--answers", answers, "--otlp", "--", inspector.Binary, "tap", "--record", tapped, "--otlp", "--", inspector.Binary, "demo"}, tapped, false},
		"probe":  {[]string{"call", "accept", "--answers", answers, "--otlp", "--", inspector.Binary, "probe", "--no-open", "--listen", "127.0.0.1:0", "--record", probed, "--otlp"}, probed, false},
		"page":   {[]string{"--no-open", "--listen", "127.0.0.1:0", "--record", filepath.Join(dir, "page.jsonl")}, filepath.Join(dir, "page.jsonl"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTraceCollector(t)
			o := inspector.Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_EXPORTER_OTLP_HEADERS=X-Team=a%20b", "OTEL_RESOURCE_ATTRIBUTES=team=team-a"}}
			if name == "within" {
				o.Env = append(o.Env, "TRACEPARENT=00-"+trace+"-"+above+"-01", "TRACESTATE=rojo=1", "BAGGAGE=team=a")
			}
			args := test.args
			if test.ours {
				args = append(args, "--otlp")
			}
			if name == "page" {
				inspector.StartWith(t, o, args...).Stop()
			} else if r := inspector.Run(t, o, args...); strings.Contains(r.Stderr, "traces:") || strings.Contains(r.Stderr, "panic") {
				t.Errorf("it says %q", r.Stderr)
			}
			records, _ := filepath.Glob(test.record)
			live, want := c.told(t), exportedTraces(t, records...)
			if !test.ours { // the collector got those of the client of the tap, too
				ours := map[string]bool{}
				for _, s := range want {
					ours[s.span] = true
				}
				outer := map[string]told{}
				for _, s := range live {
					outer[s.span] = s
				}
				live = slices.DeleteFunc(live, func(s told) bool { return !ours[s.span] })
				for _, s := range live {
					if s.kind == "3" && !strings.HasPrefix(s.name, "notifications/") && outer[s.parent].trace != s.trace {
						t.Errorf("%+v has not joined the trace of the client's span %+v", s, outer[s.parent])
					}
				}
			}
			sameSpans(t, live, want)
			roots := slices.DeleteFunc(slices.Clone(live), func(s told) bool { return s.trace != trace || s.parent != above })
			if name == "within" && len(roots) == 0 || name != "within" && len(roots) > 0 {
				t.Errorf("within the span of the environment are %+v", roots)
			}
			var frames []inspector.Frame
			for _, path := range records {
				frames = append(frames, inspector.WireFile(t, path).In("c2s")...)
			}
			for _, f := range frames {
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct {
						Meta struct{ Traceparent, Tracestate, Baggage string } `json:"_meta"`
					}
				}
				if err := json.Unmarshal(f.Bytes(), &m); err != nil || m.ID == nil || m.Method == "" {
					continue
				}
				if !slices.ContainsFunc(live, func(s told) bool {
					own := "00-" + s.trace + "-" + s.span + "-01"
					return m.Params.Meta.Traceparent == own || !test.ours && m.Params.Meta.Traceparent == "00-"+s.trace+"-"+s.parent+"-01"
				}) {
					t.Errorf("%s names the span %q, and no span is that", m.Method, m.Params.Meta.Traceparent)
				}
				if meta := m.Params.Meta; name == "within" && (meta.Tracestate != "elicitation-inspector="+above+",rojo=1" || meta.Baggage != "team=a") {
					t.Errorf("%s has the context %+v", m.Method, meta)
				}
			}
		})
	}
}
