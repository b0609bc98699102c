//go:build unix

package transport

import "syscall"

// Signal sends a signal to the process, or to its whole group: that is where the signals of
// a terminal go.
func (c *Child) Signal(signal syscall.Signal, group bool) error {
	pid := c.Started.PID
	if group {
		pid = -pid
	}
	return syscall.Kill(pid, signal)
}
