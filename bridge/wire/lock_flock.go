//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// nonblock keeps the opening of a pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// lockFile takes the advisory lock of a recorder, which ends when the file is
// closed. If another process holds the lock, the error names it.
func lockFile(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS):
			return nil // a file system without locks is no reason not to record
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("%s records to it already", lockHolder(file))
		default:
			return fmt.Errorf("locking it: %w", err)
		}
	}
}

// lockHolder names the process that holds the lock, or "another process" where
// the system does not tell.
func lockHolder(file *os.File) string {
	const unknown = "another process"
	info, err := file.Stat()
	if err != nil {
		return unknown
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return unknown
	}
	locks, err := os.Open("/proc/locks") // Linux only
	if err != nil {
		return unknown
	}
	defer locks.Close()
	inode := ":" + strconv.FormatUint(uint64(stat.Ino), 10)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 08:01:123456 0 EOF
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return strings.TrimSpace(fmt.Sprintf("process %d %s", pid, strings.TrimSpace(string(name))))
		}
	}
	return unknown
}
