package inspector

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// marked lists the living processes, except one, whose environment contains a mark.
// Children inherit the environment, so that it also finds processes that have left their
// process group or parent.
func marked(mark string, except int) []string {
	var found []string
	for _, pid := range withMark(mark) {
		if pid != except {
			found = append(found, fmt.Sprintf("%d %s", pid, commandLine(pid)))
		}
	}
	return found
}

func killAll(mark string) {
	for _, pid := range withMark(mark) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func withMark(mark string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return withMarkByPS(mark)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// A process that has ended and was not reaped has no environment.
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil {
			continue
		}
		for kv := range bytes.SplitSeq(environ, []byte{0}) {
			if string(kv) == mark {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// withMarkByPS finds the processes on systems without /proc, such as macOS.
func withMarkByPS(mark string) []int {
	out, err := exec.Command("ps", "-A", "-E", "-ww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, mark) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Fields(line)[0]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
}
