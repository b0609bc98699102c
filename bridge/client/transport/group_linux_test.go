package transport

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The kernel's signal ends a server if both its inspector and the guardian were killed.
func TestDeathSignalEndsTheServer(t *testing.T) {
	keeper := program("keeper", "sleeper")
	cmd := exec.Command(keeper.Command[0], keeper.Command[1:]...)
	cmd.Env = append(os.Environ(), keeper.Env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	server, err := strconv.Atoi(strings.Fields(line)[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range append(shellsOf(t, cmd.Process.Pid), cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for pid != cmd.Process.Pid && running(pid) {
			runtime.Gosched() // the guardian must not see its input's end
		}
	}
	_ = cmd.Wait() // it was killed
	for deadline := time.Now().Add(patience); running(server); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(server, syscall.SIGKILL)
			t.Fatalf("process %d has survived", server)
		}
	}
}

// shellsOf returns the process ids of the shells that a process has started: the
// guardian.
func shellsOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	all, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // "PID (NAME) STATE PPID …": proc_pid_stat(5)
		line, err := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if err == nil && len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) && bytes.HasPrefix(line, []byte("/bin/sh\x00")) {
			pids = append(pids, pid)
		}
	}
	if len(pids) != 1 {
		t.Fatalf("%d guardians run, want one", len(pids))
	}
	return pids
}
