package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
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
	for _, probe := range []string{"string", "fields-labels"} {
		url := regexp.MustCompile(`Probe ready: (\S+)`).FindStringSubmatch(p.Stdout())[1]
		if done := inspector.Run(t, inspector.Options{}, "call", probe, "--no-input", "--protocol", "2025-11-25", "--answers", answers, url); done.Code != 0 {
			t.Fatalf("%s: %s", probe, done.Stderr)
		}
	}
	probes.Contains("elicitation-inspector").Contains("1 works").Contains(`The content is {"value":"`)
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

// The probes find in two SDKs' clients what is known of them and true, see
// docs/reports/clients, and nothing else; the TypeScript one takes and makes tasks.
func TestProbesOfOtherClients(t *testing.T) {
	t.Parallel()
	mcpgo := filepath.Join(t.TempDir(), "mcpgo")
	if err := inspector.Build(".", mcpgo, "elicitation-inspector/e2e/clients/mcpgo"); err != nil {
		t.Fatal(err)
	}
	node := servers.Node(t)
	for name, c := range map[string]struct {
		command []string
		known   []string // probes that do not work
		works   []string
	}{
		"mcp-go": {[]string{mcpgo}, []string{"exact-integer", "exact-number", "round-ten"}, []string{"accept", "decline", "cancel", "round-keys"}},
		"TypeScript": {
			[]string{node[0], "clients/typescript/client.mjs", node[1], "tasks"},
			[]string{"exact-integer", "exact-number", "string-pattern", "mode-undeclared"}, []string{
				"accept", "decline", "cancel", "withdrawn", "url-decline",
				"task-call", "task-poll", "task-cancel", "task-question", "task-question-list", "task-question-cancelled",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "report.json")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			command := slices.Concat(c.command, []string{inspector.Binary, "probe", "--no-open", "--listen", "127.0.0.1:0", "--report", path})
			if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := probe.Read(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if name == "TypeScript" {
				sameProfile(t, text, "typescript-sdk")
			}
			for _, one := range r.Clients[0].Results {
				switch known := slices.Contains(c.known, one.Probe); {
				case slices.Contains(c.works, one.Probe) && one.Verdict != probe.Works, !known && one.Verdict != probe.Works && one.Verdict != probe.NotSeen, known && one.Verdict == probe.Works:
					t.Errorf("%s: %s: %s", one.Probe, one.Verdict, one.How)
				}
			}
		})
	}
}

// sameProfile expects of the client in a report what one of our profiles says that it sends, where the report knows it.
func sameProfile(t *testing.T, report []byte, client string) {
	t.Helper()
	list, err := fit.Parse("report.json", report)
	if err != nil {
		t.Fatal(err)
	}
	ours := slices.DeleteFunc(fit.All(), func(p *fit.Profile) bool { return p.Client != client })
	known := 0
	for _, q := range fitQuestions(t) {
		sent := fit.See(q, list[0]).Accept
		if sent == nil {
			continue
		}
		known++
		if want := fit.See(q, ours[0]).Accept; !rawjson.Same(sent, want) {
			t.Errorf("%s: by the report %s is sent, and by the profile %s", q.Params, sent, want)
		}
	}
	if known < 15 {
		t.Errorf("the report knows %d of the answers", known)
	}
}
