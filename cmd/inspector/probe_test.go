package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

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
