//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"elicitation-inspector/bridge/client/transport"
)

// takeSignals has the signals that a tap gets wait for forward, which passes them on to a
// server, until release. Those of a terminal go to the server's group, as they would without
// a tap, the others to its process. SIGPIPE is taken so that a client that is gone does not
// end the tap: the server is to see it. A signal that is ignored stays so, for the server too.
func takeSignals() (forward func(*transport.Child), release func()) {
	came := make(chan os.Signal, 16)
	for _, s := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGPIPE,
	} {
		if !signal.Ignored(s) {
			signal.Notify(came, s)
		}
	}
	signalsTaken.Store(true)
	return func(c *transport.Child) {
			for s := range came {
				number, ok := s.(syscall.Signal)
				if !ok || number == syscall.SIGPIPE {
					continue
				}
				group := number == syscall.SIGHUP || number == syscall.SIGINT || number == syscall.SIGQUIT
				_ = c.Signal(number, group) // it may have ended
			}
		}, func() {
			signal.Stop(came)
			close(came)
		}
}

// exitAs ends the program as a process has ended: by the same signal, or else it returns
// the exit code.
func exitAs(state *os.ProcessState) error {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return exitCode(state.ExitCode())
	}
	signal.Reset(status.Signal())
	_ = syscall.Kill(os.Getpid(), status.Signal())
	return exitCode(128 + int(status.Signal())) // the signal is ignored, or takes a moment
}
