package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/probe"
)

// serveProbe starts the probe over HTTP, and returns its address. stop ends it, so that its
// reports are whole.
func serveProbe(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"probe", "--http", "127.0.0.1:0", "--no-open", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), asInspector+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		}
	}
	t.Cleanup(stop)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "Probe ready: "); ok {
			go func() {
				for lines.Scan() {
				}
			}()
			return address, stop
		}
	}
	t.Fatal("the probe does not start")
	return "", nil
}

func readProbe(t *testing.T, path string) probe.Client {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := probe.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Clients) != 1 {
		t.Fatalf("%d clients in the report", len(r.Clients))
	}
	return r.Clients[0]
}

// TestProbeOfOurselves checks that our own client, without a person, comes out of the probes
// clean: with works, or with not seen where only a person could follow the message.
func TestProbeOfOurselves(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	valid := write(t, "valid.yaml", "default: {accept: valid}\n")
	unseen := []string{ // by a client that accepts all
		"decline", "cancel", "url-decline", "optional-empty", "text-long",
		"withdrawn", "outside-call", "patience", "url-required", "round-unknown-type", "round-prompt", "round-resource", "elicitation-undeclared", "task-undeclared",
	}
	for _, revision := range mcp.Revisions {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(revision+" over "+transport, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "report.json")
				target := []string{"--env", asInspector + "=1", "--", self, "probe", "--listen", "127.0.0.1:0", "--report", path}
				stop := func() {}
				if transport == "http" {
					var url string
					url, stop = serveProbe(t, "--report", path)
					target = []string{url}
				}
				calls := []string{probe.All}
				if transport == "http" { // where the report is of all calls
					for _, name := range []string{"task-call", "task-poll", "task-keys"} {
						if probe.Find(name).In(revision) {
							calls = append(calls, name)
						}
					}
				}
				for _, name := range calls {
					got := inspectorRun(t, append([]string{"call", name, "--protocol", revision, "--args", `{"rounds":1000}`, "--answers", valid, "--timeout", "0"}, target...)...)
					if got.code != 0 {
						t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
					}
				}
				stop()
				c := readProbe(t, path)
				if c.Revision != revision || c.Transport != transport || !strings.HasPrefix(c.Name, "elicitation-inspector") {
					t.Errorf("the client is %+v", c.Identity)
				}
				for _, r := range c.Results {
					want := probe.Works
					if slices.Contains(unseen, r.Probe) || probe.Find(r.Probe).OnlyLooks || probe.Find(r.Probe).Group == probe.Tasks && probe.Find(r.Probe).Apart && !slices.Contains(calls, r.Probe) {
						want = probe.NotSeen
					}
					if r.Verdict != want || want == probe.Works && r.Probe != "declared" && (len(r.Frames) == 0 || len(r.Evidence) == 0) {
						t.Errorf("%s: %s: %s %v", r.Probe, r.Verdict, r.How, r.Frames)
					}
				}
			})
		}
	}
}
