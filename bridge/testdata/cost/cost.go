//go:build unix

// Package cost measures what code costs, whatever else the machine does.
package cost

import (
	"syscall"
	"time"
)

// Of returns the processor time that the process spends while f runs, on all cores and with
// the garbage collector. It counts what tests that run in parallel do, too.
func Of(f func()) time.Duration {
	before := spent()
	f()
	return spent() - before
}

func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
