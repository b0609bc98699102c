package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// newFolder makes a folder for transcripts. It removes the folders of processes that were
// killed.
func newFolder() (string, error) {
	host, err := os.Hostname() // containers that share the folder have process ids of their own
	if err != nil {
		return "", err
	}
	prefix := "inspector-check-" + host + "-"
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		rest, mine := strings.CutPrefix(e.Name(), prefix)
		number, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); mine && err == nil && gone(pid) {
			_ = os.RemoveAll(filepath.Join(os.TempDir(), e.Name())) // it may belong to another user
		}
	}
	return os.MkdirTemp("", fmt.Sprintf("%s%d-", prefix, os.Getpid()))
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
