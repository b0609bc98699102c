package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/bridge/judges/check/report"
)

// TestCheckInterrupted ends a check by Ctrl-C, and checks that the report has the findings so far
// and that no server process is left.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	started := filepath.Join(folder, "started")
	var out strings.Builder
	r := exec.Command(self, "check", "deploy", "ask", "--format", "json", "--behaviour", "decline", "--behaviour", "never", "--jobs", "2", "--",
		"sh", "-c", "echo $$ >>"+started+"; "+asInspector+"=1 exec "+self+" demo")
	r.Env, r.Stdout = append(os.Environ(), asInspector+"=1"), &out
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Process.Kill() }()
	var pids []string
	for end := time.Now().Add(90 * time.Second); len(pids) < 12 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(started)
		pids = strings.Fields(string(text))
	}
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = r.Wait() // the exit code is checked
	if code := r.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	var report report.Report
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil || report.Stopped != "interrupted" {
		t.Errorf("the report says %q: %v\n%s", report.Stopped, err, out.String())
	}
	text, err := os.ReadFile(started)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		dies(t, n)
	}
}
