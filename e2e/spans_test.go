package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// tracedBinary is the server that is instrumented with the SDK of OpenTelemetry.
var tracedBinary = sync.OnceValue(func() string {
	path := filepath.Join(binaries, "traced")
	if err := inspector.Build(".", path, "./servers/traced"); err != nil {
		panic(err)
	}
	return path
})

// The spans of a server that is instrumented stand in the transcript when its process has ended, within its
// call. An address of its own is respected.
func TestSpansOfAServer(t *testing.T) {
	t.Parallel()
	answers := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(answers, []byte("answers:\n  - answer: {accept: {count: 1}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{"told": nil, "with an address of its own": {"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "spans.jsonl")
			r := inspector.Run(t, inspector.Options{Env: env}, "call", "order", "--args", `{"item":"tea"}`, "--answers", answers, "--record", path, "--protocol", "2025-11-25", "--otlp-listen", "--redact", "db.query.parameter.item", "--", tracedBinary())
			if r.Code != 0 {
				t.Fatal(r)
			}
			var spans []string
			for _, f := range inspector.WireFile(t, path).In("meta") {
				if f.Text != nil && strings.HasPrefix(*f.Text, "span ") {
					spans = append(spans, regexp.MustCompile(`, [\d.]+ \S+$`).ReplaceAllString(*f.Text, ""))
				}
			}
			got := strings.Join(spans, ", ")
			want := "span SELECT stock, span INSERT orders, span store order, span tools/call order"
			says := "traces: 1 span of other traces was left out"
			if env != nil {
				want, says = "", "traces: servers can send their spans to http://127.0.0.1:"
			}
			if got != want || !strings.Contains(r.Stderr, says) {
				t.Errorf("the spans are %s\nwant %s\n%s", got, want, r.Stderr)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"env":["OTEL_EXPORTER_OTLP_ENDPOINT","OTEL_EXPORTER_OTLP_PROTOCOL","OTEL_BSP_SCHEDULE_DELAY"]`) != (env == nil) ||
				strings.Contains(string(text), `"db.query.parameter.item":"[REDACTED]"`) != (env == nil) {
				t.Errorf("%s", text)
			}
			html := inspector.Run(t, inspector.Options{}, "export", path, "--format", "html")
			few := inspector.Run(t, inspector.Options{}, "export", path, "--format", "jsonl", "--filter", "span:insert")
			if strings.Contains(html.Stdout, "└ INSERT orders") != (env == nil) || strings.Count(few.Stdout, `"kind":"span"`) != strings.Count(want, "INSERT") {
				t.Errorf("the exports of spans: %d bytes as HTML, %s", len(html.Stdout), few.Stdout)
			}
		})
	}
}

// The page shows what a server did beside what a person did: in the sequence, the times and the log, live and opened.
func TestSpansOnThePage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "spans.jsonl")
	live := openOn(t, []string{tracedBinary()}, "--record", file, "--protocol", "2025-11-25")
	live.settings(func(server *page.Control) { server.Checkbox("Receive its traces").Click() })
	live.serverDetails().Contains("It can send its spans to http://127.0.0.1:")
	live.page.Press(page.Escape)
	live.call("order")
	live.question("Order tea?").Button("Accept").Click()
	live.result("is ordered")
	live.filter().Fill("is:span span:call")
	live.page.Region("Wire log").Contains("tools/call order,") // the last span
	live.filter().Fill("")
	shows := func(s *session) {
		call := s.page.Region("Call")
		call.Role("DisclosureTriangle", "Times").Click()
		call.Contains("· · INSERT orders,")
		s.page.Region("Wire log").Button("Sequence").Click()
		s.page.Region("Sequence").Contains("└ INSERT orders,").Contains("tools/call order,")
		attributes := 0
		for i := range s.Wire() { // whose numbers begin anew in each session
			if strings.Contains(s.get("/wire/frames/"+strconv.Itoa(i+1)), "INSERT INTO orders (item) VALUES (?)") {
				attributes++
			}
		}
		if attributes != 1 {
			t.Errorf("%d frames have the attributes of the insert", attributes)
		}
		if *screenshots != "" {
			s.picture(state{name: "spans", pane: log})
		}
	}
	shows(live)
	live.Stop()
	opened := openFiles(t, file)
	opened.page.Region("Call").Contains("order")
	shows(opened)
}
