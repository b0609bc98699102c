// The race detector makes each process of these tests several times slower. Tests of the running
// inspector and of interrupted checks have it, and so has the code below, in its own packages.

//go:build !race

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/judges/probe/report"
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

// In CI, a report is judged by --fail-on and by the verdicts that are expected.
func TestProbeInCI(t *testing.T) {
	var b bytes.Buffer
	client := probe.Client{Results: []probe.Result{
		{Probe: "accept", Verdict: probe.Works}, {Probe: "exact-integer", Verdict: probe.Partly, How: "The digits changed."}, {Probe: "version-header-missing", Verdict: probe.Fails, How: "No header."},
	}}
	client.Revision = mcp.Revision20251125
	for _, r := range []*probe.Report{{Format: 1, Clients: []probe.Client{client}}, {Format: 1, Clients: []probe.Client{}}} {
		if err := report.Formats.Of("one.json").Write(&b, r); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\x00")
	}
	full, none, _ := strings.Cut(b.String(), "\x00")
	path, empty := write(t, "client.json", full), write(t, "none.json", strings.TrimSuffix(none, "\x00"))
	for _, one := range []struct {
		report, failOn, expect string
		code                   int
		says                   string
	}{
		{path, "never", "", 0, ""},
		{path, "fails", "", 8, "version-header-missing is fails"},
		{path, "fails", "version-header-missing: fails", 0, ""},
		{path, "partly", "version-header-missing: fails # known", 8, "exact-integer is partly"},
		{path, "partly", "version-header-missing: fails\nexact-integer: partly\n", 0, ""},
		{path, "never", "accept: fails", 8, "accept is works, expected fails"},
		{path, "never", "accept: fine", 2, "is no probe with a verdict"},
		{path, "often", "", 2, "--fail-on must be"},
		{empty, "fails", "", 8, "nothing to judge"},
		{empty, "never", "", 0, ""},
	} {
		args := []string{"probe", "--compare", one.report, "--fail-on", one.failOn}
		if one.expect != "" {
			args = append(args, "--expect", write(t, "expected.txt", one.expect))
		}
		if got := inspectorRun(t, args...); got.code != one.code || !strings.Contains(got.err, one.says) {
			t.Errorf("%v: exit code %d, want %d\n%s", one, got.code, one.code, got.err)
		}
	}
}
