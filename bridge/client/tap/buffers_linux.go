package tap

import "syscall"

// widen enlarges the buffer of a pipe, so that fewer switches between processes make up for
// the time that the tap takes. If the system refuses, the buffer keeps its size.
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
