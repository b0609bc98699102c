package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
)

var collectorBinary = flag.String("collector", "", "send spans to the program of e2e/collector, which the task traces builds as this `FILE`")

// The receiver of the OpenTelemetry Collector takes the spans of four sessions, and has of them what their
// transcripts have: with forms asked by request and in rounds, a URL, and a task.
func TestCollector(t *testing.T) {
	if *collectorBinary == "" {
		t.Skip("the task traces builds the collector")
	}
	dir := t.TempDir()
	answers := filepath.Join(dir, "answers.yaml")
	if err := os.WriteFile(answers, []byte("answers:\n  - match: {mode: form}\n    answer: {accept: valid}\n  - answer: decline\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string][]string{
		"form":   {"deploy", "--protocol", "2025-11-25"},
		"rounds": {"deploy", "--protocol", "2026-07-28"},
		"URL":    {"pay_invoice", "--protocol", "2025-11-25"},
		"task":   {"confirm_delete", "--", inspector.Binary, "demo", "--conformance"},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint, end := startCollector(t)
			record := filepath.Join(dir, name+".jsonl")
			r := inspector.Run(t, inspector.Options{}, append([]string{"call", "--answers", answers, "--record", record, "--otlp=" + endpoint}, call...)...)
			if strings.Contains(r.Stderr, "traces:") || r.Code > 1 {
				t.Fatal(r)
			}
			received, want := end(), exportedTraces(t, record)
			if !slices.Equal(received, want) {
				t.Errorf("the collector received\n%+v\nthe transcript has\n%+v", received, want)
			}
			if !slices.ContainsFunc(want, func(s told) bool { return strings.HasPrefix(s.name, "question ") }) {
				t.Errorf("nothing was asked: %+v", want)
			}
		})
	}
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
				attributes := ""
				for _, a := range s.Attributes {
					attributes += a.Key + "=" + a.Value.StringValue + a.Value.IntValue + " "
				}
				list = append(list, told{s.TraceID, s.SpanID, s.ParentSpanID, s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, s.Kind.String(), attributes})
			}
		}
	}
	return list
}
