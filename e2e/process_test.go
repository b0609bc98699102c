package e2e

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// One line on standard output, before the server has connected; the page loads
// as soon as the line is there.
func TestReadyLine(t *testing.T) {
	t.Parallel()
	p := inspector.Start(t, "--", "sh", "-c", "sleep 5; echo never reached")
	res, err := http.Get(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the page is %s", res.Status)
	}
	p.Stop()
	if out := p.Stdout(); strings.Count(out, "\n") != 1 {
		t.Errorf("standard output is %q", out)
	}
	if len(p.Token) < 22 {
		t.Errorf("the token has %d characters", len(p.Token))
	}
}

// If the default port is taken, the next free one is used, with a message. If a requested
// port is taken, this is an error. Port 0 is a free one.
func TestPorts(t *testing.T) {
	t.Parallel()
	// Another program may already use the default port, which has the same effect.
	l, err := net.Listen("tcp", "127.0.0.1:6280")
	if err == nil {
		defer l.Close()
	}
	p := inspector.StartWith(t, inspector.Options{}, "--no-open")
	if strings.HasSuffix(p.Base, ":6280") || !regexp.MustCompile(`^http://127\.0\.0\.1:62\d\d$`).MatchString(p.Base) {
		t.Errorf("with the default port taken it listens at %s", p.Base)
	}
	p.LogLine("about the taken port", func(s string) bool { return strings.Contains(s, "6280") })

	r := inspector.Run(t, inspector.Options{}, "--no-open", "--listen", strings.TrimPrefix(p.Base, "http://"))
	if r.Code == 0 || !strings.Contains(r.Stderr, strings.TrimPrefix(p.Base, "http://")) {
		t.Errorf("asked for a taken port it ends with %d and says %q", r.Code, r.Stderr)
	}
	if strings.Contains(r.Stdout, "ready") {
		t.Errorf("it says that it is ready: %q", r.Stdout)
	}
}

// No process survives Ctrl-C, although the server ignores the end of its input and
// SIGTERM, and has a child that ignores all signals but SIGKILL and keeps the pipes open.
func TestNoSurvivor(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-grandchild", "-stubborn")
	s := openOn(t, rude.Command)
	s.call("ask")
	s.question("Who signs the release?")
	if n := len(s.Children()); n != 2 {
		t.Fatalf("%d processes were started, want the server and its child: %q", n, s.Children())
	}
	before := time.Now()
	s.Stop() // checks: exit code 0, no process left
	if took := time.Since(before); took > endMost {
		t.Errorf("it took %v to end", took)
	}
}

// No process survives when the server is disconnected or reconnected from the page.
func TestNoSurvivorOfReconnect(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-grandchild")
	s := openOn(t, rude.Command, "--name", "twice")
	bar := s.page.Region("Servers")
	bar.Contains("ready")
	first := s.Children()
	chip := bar.Role("listitem", "").All().Nth(0).Role("button", "").All().Nth(0)
	chip.Click()
	s.page.Button("Disconnect").Click()
	bar.Contains("disconnected")
	s.page.Until(func() string { return "the server's processes are gone: " + strings.Join(s.Children(), "; ") },
		func() bool { return len(s.Children()) == 0 })
	bar.Button("Reconnect").Click() // the server's details are still open
	bar.Contains("ready")
	if again := s.Children(); len(again) != len(first) {
		t.Errorf("after reconnecting there are %q, before there were %q", again, first)
	}
	s.page.Press(page.Escape)
	s.call("ask")
	s.question("Who signs the release?")
}

// Ctrl-C cancels a pending question, and the transcript has the cancellation.
func TestInterruptCancelsQuestions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command, "--record", path)
	s.call("ask")
	s.question("Who signs the release?")
	s.Stop()
	answers := rude.Answers()
	if len(answers) != 1 || !strings.Contains(answers[0], `"cancel"`) {
		t.Errorf("the server got %q, want its question cancelled", answers)
	}
	if got := answersOnWire(t, inspector.WireFile(t, path)); len(got) != 1 || got[0] != `{"action":"cancel"}` {
		t.Errorf("the transcript has the answers %q", got)
	}
}

// Mistakes on the command line are reported at once, and nothing is started.
func TestMistakesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(broken, []byte(`{"mcpServers": {"a": ["cat"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"unknown flag", []string{"--no-such-flag"}, "no-such-flag"},
		{"two targets", []string{"http://127.0.0.1:1/mcp", "--", "cat"}, ""},
		{"not a URL", []string{"ftp://example.org/"}, "ftp"},
		{"unknown transport", []string{"--transport", "pigeon", "http://127.0.0.1:1/mcp"}, "pigeon"},
		{"header without a colon", []string{"--header", "Authorization", "http://127.0.0.1:1/mcp"}, "header"},
		{"env without a value", []string{"--env", "=x", "--", "cat"}, "env"},
		{"no such config", []string{"--config", "/no/such/mcp.json"}, "/no/such/mcp.json"},
		{"broken config", []string{"--config", broken}, "mcp.json"},
		{"no such server in the config", []string{"--config", broken, "--server", "b"}, ""},
		{"bad address", []string{"--listen", "nonsense"}, "nonsense"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := inspector.Run(t, inspector.Options{}, append([]string{"--no-open"}, c.args...)...)
			if r.Code == 0 {
				t.Error("it ends with exit code 0")
			}
			if r.Stdout != "" {
				t.Errorf("standard output is %q", r.Stdout)
			}
			if !strings.Contains(r.Stderr, c.says) || r.Stderr == "" {
				t.Errorf("it does not say %q: %q", c.says, r.Stderr)
			}
		})
	}
}

func TestVersionHelpAndCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"version"}, []string{"inspector"}},
		{[]string{"help"}, []string{"--listen", "--record", "--config", "demo"}},
		{[]string{"--help"}, []string{"--no-open", "--header"}},
		{[]string{"completion", "bash"}, []string{"inspector"}},
		{[]string{"demo", "--help"}, []string{"--http"}},
	} {
		r := inspector.Run(t, inspector.Options{}, c.args...)
		if r.Code != 0 {
			t.Errorf("inspector %s ends with %d: %s", strings.Join(c.args, " "), r.Code, r.Stderr)
		}
		for _, word := range c.says {
			if !strings.Contains(strings.ToLower(r.Stdout), strings.ToLower(word)) {
				t.Errorf("inspector %s does not say %q:\n%s", strings.Join(c.args, " "), word, r.Stdout)
			}
		}
	}
}

// The demo server alone serves other clients, such as this inspector.
func TestDemoForOtherClients(t *testing.T) {
	t.Parallel()
	s := openOn(t, []string{inspector.Binary, "demo"})
	s.page.Region("Servers").Contains("stdio").Contains("ready")
	s.call("deploy")
	s.question("Which build should go out?").Button("Decline").Click()
	s.result("No build was chosen. Nothing was deployed.")
}
