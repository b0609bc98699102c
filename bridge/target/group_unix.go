//go:build unix

package target

import (
	"errors"
	"os"
	"syscall"
)

// group is a process group, by the number of the process that leads it.
type group struct{ leader int }

func newGroup(leader *os.Process) group { return group{leader.Pid} }

// terminate asks the group to end, kill makes it. That nobody is left to hear
// it is no failure: the caller looks at alive.
func (g group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g group) alive() bool {
	return !errors.Is(syscall.Kill(-g.leader, 0), syscall.ESRCH) && !onlyZombies(g.leader)
}

func (g group) release() {}

// exitOf says how a process that has ended did so.
func exitOf(state *os.ProcessState) Exit {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: -1, Signal: status.Signal().String()}
	}
	return Exit{Code: state.ExitCode()}
}
