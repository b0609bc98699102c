package main

import (
	"os"
	"os/signal"

	"elicitation-inspector/bridge/client/transport"
)

// takeSignals has Ctrl-C wait for forward, which passes it on to a server as Ctrl-Break.
func takeSignals() (forward func(*transport.Child), release func()) {
	came := make(chan os.Signal, 16)
	signal.Notify(came, os.Interrupt)
	signalsTaken.Store(true)
	return func(c *transport.Child) {
			for range came {
				_ = c.Signal(0, true) // it may have ended
			}
		}, func() {
			signal.Stop(came)
			close(came)
		}
}

func exitAs(state *os.ProcessState) error { return exitCode(state.ExitCode()) }
