package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
)

// The page of a probe fills in while a client is at work, and takes a person's word, which
// stands in the log and in the report.
func TestProbePage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	report, answers := filepath.Join(folder, "probe.json"), filepath.Join(folder, "answers.yaml")
	if err := os.WriteFile(answers, []byte("default: {accept: valid}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := inspector.StartWith(t, inspector.Options{}, "probe", "--no-open", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--report", report)
	s := &session{t: t, Process: p, page: browser.Open(t, p.URL)}
	probes := s.page.Region("Probes").Contains("No client yet")
	for _, probe := range []string{"choice", "fields-labels"} {
		url := regexp.MustCompile(`Probe ready: (\S+)`).FindStringSubmatch(p.Stdout())[1]
		if done := inspector.Run(t, inspector.Options{}, "call", probe, "--no-input", "--protocol", "2025-11-25", "--answers", answers, url); done.Code != 0 {
			t.Fatalf("%s: %s", probe, done.Stderr)
		}
	}
	probes.Contains("elicitation-inspector").Contains("1 works").Contains(`The content is {"value":"Red"}.`)
	no := probes.Button(`No: Was "Favourite colour" beside the field?`)
	no.Click()
	probes.Contains(`A person says no: Was "Favourite colour" beside the field?`)
	no.HasAttr("aria-pressed", "true")
	s.page.Region("Wire log").Contains("a person says no on probe fields-labels")
	patiently(t, "the report has the person's word", func() bool {
		text, err := os.ReadFile(report)
		return err == nil && strings.Contains(string(text), `"yes": false`) || strings.Contains(string(text), `"yes":false`)
	})
	no.Click()
	no.HasAttr("aria-pressed", "false")
	s.page.Region("Wire log").Contains("takes the word back")
}
