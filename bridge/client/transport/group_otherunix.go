//go:build unix && !linux

package transport

import "syscall"

// groupAttr makes the child lead a process group of its own. There is no
// parent-death signal here: if the inspector is killed, the child only sees its
// standard input end.
func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// onlyZombies returns false: these systems do not say which processes are zombies, so zombies count
// as running.
func onlyZombies(int) bool { return false }
