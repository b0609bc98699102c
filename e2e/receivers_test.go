package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
)

var (
	collectorBinary = flag.String("collector", "", "send spans to the program of e2e/collector, which the task traces builds as this `FILE`")
	jaegerBinary    = flag.String("jaeger", "", "send spans to Jaeger, which the task traces builds as this `FILE`")
)

// The receiver of the OpenTelemetry Collector, and Jaeger, take the spans of four sessions, and have of them what
// their transcripts have: with forms asked by request and in rounds, a URL, and a task.
func TestReceivers(t *testing.T) {
	t.Parallel()
	if *collectorBinary == "" || *jaegerBinary == "" {
		t.Skip("the task traces builds the receivers")
	}
	dir := t.TempDir()
	answers := filepath.Join(dir, "answers.yaml")
	if err := os.WriteFile(answers, []byte("answers:\n  - match: {mode: form}\n    answer: {accept: valid}\n  - answer: decline\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	jaeger, query := startJaeger(t)
	for name, call := range map[string][]string{
		"form":   {"deploy", "--protocol", "2025-11-25"},
		"rounds": {"deploy", "--protocol", "2026-07-28"},
		"URL":    {"pay_invoice", "--protocol", "2025-11-25"},
		"task":   {"confirm_delete", "--", inspector.Binary, "demo", "--conformance"},
	} {
		send := func(t *testing.T, endpoint string) []told {
			record := filepath.Join(t.TempDir(), name+".jsonl")
			r := inspector.Run(t, inspector.Options{}, append([]string{"call", "--answers", answers, "--record", record, "--otlp=" + endpoint}, call...)...)
			if strings.Contains(r.Stderr, "traces:") || r.Code > 1 {
				t.Fatal(r)
			}
			want := exportedTraces(t, record)
			if !slices.ContainsFunc(want, func(s told) bool { return strings.HasPrefix(s.name, "question ") }) {
				t.Errorf("nothing was asked: %+v", want)
			}
			return want
		}
		t.Run(name+" at the collector", func(t *testing.T) {
			endpoint, end := startCollector(t)
			want := send(t, endpoint)
			sameSpans(t, end(), want)
		})
		t.Run(name+" at Jaeger", func(t *testing.T) {
			want := send(t, jaeger)
			sameSpans(t, tracesAtJaeger(t, query, want), want)
		})
	}
}

// startJaeger starts Jaeger, which keeps spans in memory, and returns the addresses where it receives spans and
// answers queries.
func startJaeger(t *testing.T) (endpoint, query string) {
	t.Helper()
	receiver, queries := freeAddress(t), freeAddress(t)
	config := filepath.Join(t.TempDir(), "jaeger.yaml")
	text := `service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines: {traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}}
  telemetry: {metrics: {level: none}}
extensions:
  jaeger_storage: {backends: {memory: {memory: {max_traces: 1000}}}}
  jaeger_query: {storage: {traces: memory}, http: {endpoint: "` + queries + `"}, grpc: {endpoint: "` + freeAddress(t) + `"}}
receivers: {otlp: {protocols: {http: {endpoint: "` + receiver + `"}}}}
exporters: {jaeger_storage_exporter: {trace_storage: memory}}
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(*jaegerBinary, "--config", config)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, said := make(chan bool, 1), make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "Everything is ready") {
				ready <- true
			}
			text.WriteString(lines.Text() + "\n")
		}
		said <- text.String()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-said
		_ = cmd.Wait()
	})
	select {
	case <-ready:
	case text := <-said:
		said <- text
		t.Fatalf("Jaeger has not begun to receive: %s", text)
	}
	return "http://" + receiver, "http://" + queries
}

// freeAddress returns an address of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// tracesAtJaeger reads the traces of these spans back.
func tracesAtJaeger(t *testing.T, query string, of []told) (list []told) {
	t.Helper()
	read := map[string]bool{}
	for _, s := range of {
		if read[s.trace] {
			continue
		}
		read[s.trace] = true
		response, err := http.Get(query + "/api/v3/traces/" + s.trace)
		if err != nil {
			t.Fatal(err)
		}
		var trace struct{ Result json.RawMessage }
		err = json.NewDecoder(response.Body).Decode(&trace)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("Jaeger answers %s for trace %s: %v", response.Status, s.trace, err)
		}
		list = append(list, tracesIn(t, trace.Result)...)
	}
	return sortedTold(list)
}

// startCollector starts a collector. end interrupts it, and returns the spans that it has received.
func startCollector(t *testing.T) (endpoint string, end func() []told) {
	t.Helper()
	cmd := exec.Command(*collectorBinary)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() {
		t.Fatalf("the collector has not begun to receive: %v", lines.Err())
	}
	return lines.Text(), func() []told {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var list []told
		for lines.Scan() {
			list = append(list, tracesIn(t, lines.Bytes())...)
		}
		if err := cmd.Wait(); err != nil || lines.Err() != nil {
			t.Fatal(err, lines.Err())
		}
		return sortedTold(list)
	}
}

// tracesIn reads the spans of a message of OTLP/JSON.
func tracesIn(t *testing.T, message []byte) (list []told) {
	t.Helper()
	var file struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano, EndTimeUnixNano string
					Kind                                                                    json.Number
					Attributes                                                              []struct {
						Key   string
						Value struct{ StringValue, IntValue string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(message, &file); err != nil {
		t.Fatal(err)
	}
	for _, resource := range file.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				var attributes []string
				for _, a := range s.Attributes {
					if a.Key == "@jaeger@warnings" { // it wonders about what begins after its parent has ended
						continue
					}
					attributes = append(attributes, a.Key+"="+a.Value.StringValue+a.Value.IntValue)
				}
				list = append(list, told{s.TraceID, s.SpanID, s.ParentSpanID, s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, s.Kind.String(), sorted(attributes)})
			}
		}
	}
	return list
}
