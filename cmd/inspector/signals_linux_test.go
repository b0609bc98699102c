package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startStubborn starts the inspector with a server that sends nothing and ignores SIGTERM and the
// end of its input, and returns the server's process id.
func startStubborn(t *testing.T) (r *running, server int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	r = startInspector(t, "--", "sh", "-c", `trap "" TERM; echo $$ >`+file+`.new; mv `+file+`.new `+file+`; while :; do sleep 0.1; done`)
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if err == nil {
			if server, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
				t.Fatal(err)
			}
			return r, server
		}
	}
	t.Fatal("the server did not start")
	return nil, 0
}

// dies waits until a process has ended.
func dies(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d has survived", pid)
}

func TestHangUpEndsInOrder(t *testing.T) {
	t.Parallel()
	r, server := startStubborn(t)
	if err := r.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Errorf("it ended with %v, want an end in good order", err)
	}
	dies(t, server)
}

func TestSecondCtrlCLeavesNoServer(t *testing.T) {
	t.Parallel()
	r, server := startStubborn(t)
	ended := make(chan struct{})
	go func() { _ = r.Wait(); close(ended) }()
	for over := false; !over; {
		_ = r.Process.Signal(syscall.SIGINT) // an error means that it has ended, as expected
		select {
		case <-ended:
			over = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	if code := r.ProcessState.ExitCode(); code != exitError {
		t.Errorf("it ended with %s, want exit code %d", r.ProcessState, exitError)
	}
	dies(t, server)
}
