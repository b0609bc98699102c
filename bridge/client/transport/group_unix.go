//go:build unix

package transport

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// group is a process group, identified by the process id of its leader.
type group struct{ leader int }

func newGroup(leader *os.Process) group { return group{leader.Pid} }

// terminate sends SIGTERM to the group, kill sends SIGKILL. Their errors are ignored:
// the caller checks alive.
func (g group) terminate() { _ = syscall.Kill(-g.leader, syscall.SIGTERM) }
func (g group) kill()      { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// Signal sends a signal to the process, or to its whole group: that is where the signals of
// a terminal go.
func (c *Child) Signal(signal syscall.Signal, group bool) error {
	pid := c.Started.PID
	if group {
		pid = -pid
	}
	return syscall.Kill(pid, signal)
}

func (g group) alive() bool {
	return !errors.Is(syscall.Kill(-g.leader, 0), syscall.ESRCH) && !onlyZombies(g.leader)
}

func (g group) release() {}

func exitOf(state *os.ProcessState) Exit {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: -1, Signal: status.Signal().String()}
	}
	return Exit{Code: state.ExitCode()}
}

// guardian is a shell script that runs slightly longer than this program. It reads
// "keep" and "forget" lines with the ids of process groups, and "file" lines with a path
// or without. When its input ends, because this program has ended or was killed, it
// removes the last file, and ends the groups that it has kept. So a server that ignores
// SIGTERM, with its children, does not survive a SIGKILL of this program.
const guardian = `
trap '' HUP INT TERM
groups= file=
while read -r op group; do
	if [ "$op" = file ]; then
		file=$group
		continue
	fi
	rest=
	for g in $groups; do
		[ "$g" = "$group" ] || rest="$rest $g"
	done
	groups=$rest
	[ "$op" = keep ] && groups="$groups $group"
done
[ -n "$file" ] && rm -f -- "$file"
[ -n "$groups" ] || exit 0
for g in $groups; do kill -s TERM -- "-$g"; done
sleep 2
for g in $groups; do kill -s KILL -- "-$g"; done
`

// guardianInput starts the guardian when it is first called, and returns the pipe to
// it. It is nil where there is no shell; if the program is killed then, processes that
// ignore SIGTERM survive.
var guardianInput = sync.OnceValue(func() *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	shell := exec.Command("/bin/sh", "-c", guardian)
	shell.Env = []string{"PATH=/usr/bin:/bin"}
	shell.Dir = "/" // so that no folder stays in use
	shell.Stdin = r
	// A group of its own, so that no signal of a terminal reaches it.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		_ = w.Close() // the pipe has no reader
		return nil
	}
	return w
})

func (g group) guard()   { tellGuardian("keep", g.leader) }
func (g group) unguard() { tellGuardian("forget", g.leader) }

// GuardFile has this file, and no earlier one, removed if this program is killed; "" stands for no
// file.
func GuardFile(path string) {
	if !strings.Contains(path, "\n") {
		tellGuardian("file", path)
	}
}

// tellGuardian writes one line, which is short enough for a single atomic write to the
// pipe.
func tellGuardian(what string, about any) {
	if w := guardianInput(); w != nil {
		// Without a living guardian there is nobody to tell.
		_, _ = fmt.Fprintf(w, "%s %v\n", what, about)
	}
}
