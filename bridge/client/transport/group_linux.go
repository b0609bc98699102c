package transport

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// groupAttr makes the child lead a process group of its own. If the inspector is
// killed, the kernel sends the child SIGTERM, a signal that wrappers such as npx, uv or
// docker pass on. This is bound to the thread that starts the child; see Child.run.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// onlyZombies reports whether every process left in a group is waiting to be reaped. In
// a container without an init process such a zombie stays forever.
func onlyZombies(pgid int) bool {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return false
	}
	found := false
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // the process has just ended
		}
		// "PID (NAME) STATE PPID PGRP …", and the name may hold anything: proc_pid_stat(5).
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(pgid) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		found = true
	}
	return found
}
