//go:build unix

package transport

import (
	"errors"
	"os"
	"syscall"
)

// group is a process group, identified by the process id of its leader.
type group struct{ leader int }

func newGroup(leader *os.Process) group { return group{leader.Pid} }

// terminate sends SIGTERM to the group, kill sends SIGKILL. Their errors are ignored:
// the caller checks alive.
func (g group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

func (g group) alive() bool {
	return !errors.Is(syscall.Kill(-g.leader, 0), syscall.ESRCH) && !onlyZombies(g.leader)
}

func (g group) release() {}

// exitOf returns how a process ended.
func exitOf(state *os.ProcessState) Exit {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: -1, Signal: status.Signal().String()}
	}
	return Exit{Code: state.ExitCode()}
}
