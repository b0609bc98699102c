package tap

import "syscall"

// widen gives a pipe more room, so that the processes at its ends take turns less often:
// that makes up for the time that the tap takes. Where the system refuses, the pipe stays as
// it is.
func widen(end any) {
	file, ok := end.(syscall.Conn)
	if !ok {
		return
	}
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETPIPE_SZ, pipeSize)
		})
	}
}

// reserve returns memory that is given out in large pages when it is first written to: small
// ones would take longer than copying a stream does.
func reserve() []byte {
	memory := make([]byte, memorySize)
	_ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) // it is a matter of speed alone
	return memory
}
