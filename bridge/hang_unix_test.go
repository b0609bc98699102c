//go:build unix

package bridge_test

import (
	"os/signal"
	"syscall"
)

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGPIPE) }

// alive reports whether a process runs: one that was killed and not reaped yet
// does not count, as its parent may be busy.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
