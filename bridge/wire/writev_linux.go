package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// writeTogether writes the parts in one operation and says how many bytes were
// written. The system may take less at once than it is given only where a disk
// is full, or beyond 2 GiB.
func writeTogether(file *os.File, parts [][]byte) (int64, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var sum int64
	for len(parts) > 0 {
		var n int
		var writeErr error
		if err := conn.Write(func(fd uintptr) bool {
			n, writeErr = unix.Writev(int(fd), parts)
			return !errors.Is(writeErr, unix.EAGAIN)
		}); err != nil {
			return sum, err
		}
		if writeErr != nil && !errors.Is(writeErr, unix.EINTR) {
			return sum, &os.PathError{Op: "write", Path: file.Name(), Err: writeErr}
		}
		sum += int64(max(n, 0))
		parts = unwritten(parts, max(n, 0))
	}
	return sum, nil
}

// unwritten is what is left of the parts after the first n bytes.
func unwritten(parts [][]byte, n int) [][]byte {
	for len(parts) > 0 && n >= len(parts[0]) {
		n -= len(parts[0])
		parts = parts[1:]
	}
	if n == 0 {
		return parts
	}
	return append([][]byte{parts[0][n:]}, parts[1:]...)
}
