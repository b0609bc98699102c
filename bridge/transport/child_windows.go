package transport

import "syscall"

// Signal sends CTRL_BREAK to the group of the process: Windows has no other signals.
func (c *Child) Signal(syscall.Signal, bool) error {
	c.leader.group.terminate()
	return nil
}
