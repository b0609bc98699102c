package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
)

// askerBinary is the server that asks a given number of questions.
var askerBinary = sync.OnceValue(func() string {
	path := filepath.Join(binaries, "asker")
	if err := inspector.Build(".", path, "./servers/asker"); err != nil {
		panic(err)
	}
	return path
})

// askerAnswers writes a script that answers the asker's questions, and returns its path.
func askerAnswers(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "answers.yaml")
	rules := "answers:\n  - match: {message: Question *}\n    answer: {accept: {name: Ada, size: m}}\n"
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// callAsker makes one call with these arguments, and returns the text of its result.
func callAsker(t testing.TB, answers, arguments string) string {
	t.Helper()
	cmd := exec.Command(inspector.Binary, "call", "ask", "-q", "--protocol", "2025-11-25", "--args", arguments, "--answers", answers, "--", askerBinary())
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, said.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// measureCall measures a call with one scripted question, from the start of the inspector
// to its end, without the server's time to start and answer initialize.
func measureCall(b *testing.B, runs int) []figure {
	f := figure{what: "call with one scripted question, beyond the server's own start", unit: "ms", bound: 60, noise: 2}
	answers := askerAnswers(b)
	for range runs {
		own := greeting(b)
		began := time.Now()
		callAsker(b, answers, `{"count":1}`)
		f.values = append(f.values, ms(time.Since(began)-own))
	}
	return []figure{f}
}

// greeting returns the time until the server has answered initialize.
func greeting(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	server := exec.Command(askerBinary())
	in, err := server.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}` + "\n"
	if _, err := io.WriteString(in, hello); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	took := time.Since(began)
	if err != nil || !json.Valid(line) {
		b.Fatalf("the server answered %q: %v", line, err)
	}
	in.Close()
	_ = server.Wait() // its exit code does not matter
	return took
}

// measureScript measures from the asker how fast a thousand questions are answered: by a
// script, and by the SDK's client alone, in turn.
func measureScript(b *testing.B, runs int) []figure {
	f := figure{what: "a thousand scripted questions: time, to that of the bare client", unit: "×", bound: 1 / 0.9, noise: 1.2, note: "1.11 is 90 % of the rate"}
	const arguments = `{"count":1000}`
	answers := askerAnswers(b)
	for range runs {
		bare := exec.Command(plainClient(), "-protocol", "2025-11-25", "-call", "ask", "-arguments", arguments, "-accept", `{"name":"Ada","size":"m"}`, askerBinary())
		bare.Stderr = os.Stderr
		out, err := bare.Output()
		if err != nil {
			b.Fatalf("the bare client: %v", err)
		}
		text, _, _ := strings.Cut(string(out), "\n")
		f.values = append(f.values, took(b, callAsker(b, answers, arguments)).Seconds()/took(b, text).Seconds())
	}
	return []figure{f}
}

func took(b *testing.B, text string) time.Duration {
	b.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkScript measures only the calls without a page.
func BenchmarkScript(b *testing.B) {
	for b.Loop() {
		for _, f := range append(measureCall(b, 21), measureScript(b, 7)...) {
			b.Logf("%s: median %.4g %s, best %.4g, worst %.4g, bound %.4g: %s", f.what, f.median(), f.unit,
				quantile(f.values, 0), quantile(f.values, 1), f.bound, f.verdict())
		}
	}
}

// measureCheck measures a check of ten tools that ask, with all behaviours and
// revisions and with the default limits.
func measureCheck(b *testing.B) []figure {
	wall := figure{what: "check of ten tools under all behaviours", unit: "s", bound: 60, noise: 2}
	busy := figure{what: "its processor time in each trial, with the server's", unit: "ms", bound: 45, noise: 2}
	tools := []string{"deploy", "transfer_money", "book_table", "onboard", "every_field", "ask", "connect_calendar", "connect_mailbox", "plan_trip", "haggle"}
	cmd := exec.Command(inspector.Binary, slices.Concat([]string{"check", "-q", "--format", "json"}, tools, []string{"--", inspector.Binary, "demo"})...)
	began := time.Now()
	out, _ := cmd.Output() // the exit code depends on the findings
	wall.values = []float64{time.Since(began).Seconds()}
	var report struct{ Results []struct{} }
	if err := json.Unmarshal(out, &report); err != nil || len(report.Results) < 100*len(tools) {
		b.Fatalf("%d trials: %v", len(report.Results), err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() // includes the servers, which have ended
	busy.values = []float64{ms(used) / float64(len(report.Results))}
	wall.note = fmt.Sprintf("%d trials, %.0f s of processor time", len(report.Results), used.Seconds())
	return []figure{wall, busy}
}
