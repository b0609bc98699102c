//go:build unix

package inspection_test

import (
	"os/signal"
	"syscall"
)

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE) }

// alive reports whether a process exists. A killed process exists until its parent reaps
// it.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
