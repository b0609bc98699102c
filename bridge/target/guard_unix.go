//go:build unix

package target

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// guardian is a shell that outlives this program by a moment: it reads the
// numbers of process groups, and when its input ends, because this program has
// ended or was killed, it ends those that it was not told to forget. A server
// that ignores SIGTERM, and what it has started, survive no SIGKILL of this
// program that way.
const guardian = `
trap '' HUP INT TERM
groups=
while read -r op group; do
	rest=
	for g in $groups; do
		[ "$g" = "$group" ] || rest="$rest $g"
	done
	groups=$rest
	[ "$op" = keep ] && groups="$groups $group"
done
[ -n "$groups" ] || exit 0
for g in $groups; do kill -s TERM -- "-$g"; done
sleep 2
for g in $groups; do kill -s KILL -- "-$g"; done
`

// guardianInput starts the guardian with the first process. It is nil where there
// is no shell; then a program that is killed leaves what ignores SIGTERM behind.
var guardianInput = sync.OnceValue(func() *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	shell := exec.Command("/bin/sh", "-c", guardian)
	shell.Env = []string{"PATH=/usr/bin:/bin"}
	shell.Dir = "/" // not to keep a folder from being unmounted
	shell.Stdin = r
	// A group of its own, so that no signal of a terminal reaches it.
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		_ = w.Close() // nobody reads from it
		return nil
	}
	return w
})

func (g group) guard()   { g.tellGuardian("keep") }
func (g group) unguard() { g.tellGuardian("forget") }

// tellGuardian writes a line that is far shorter than what a pipe takes at once.
func (g group) tellGuardian(what string) {
	if w := guardianInput(); w != nil {
		// A guardian that was killed is as good as none.
		_, _ = fmt.Fprintf(w, "%s %d\n", what, g.leader)
	}
}
