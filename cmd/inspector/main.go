// Command inspector shows what an MCP server asks its users, answers as a
// person would, and keeps what went over the wire.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/target"
)

// growth is how far the heap may grow between two collections, in percent. The
// heap is small while little happens, and the index of a long log holds no
// pointers: collecting often costs next to nothing, and saves megabytes.
const growth = 50

// memoryAim is where the garbage collector begins to work harder, so that a
// session of a million frames stays under 250 MiB. It is no hard limit.
const memoryAim = 220 << 20

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals()...)
	go func() {
		<-signals
		end()
		time.AfterFunc(endMost, giveUp)
		<-signals
		// A second Ctrl-C: no order any more, but no server is left behind.
		target.KillAll()
		os.Exit(exitError)
	}()
	os.Exit(run(ctx, os.Args[1:]))
}

// endSignals are those that end the program in good order. A hang-up that it was
// told to ignore, as by nohup, is ignored.
func endSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// endMost is how long after Ctrl-C the program runs at most: the connections are
// ended within bridge.CloseTime, and what was under way on the page, the
// transcript and the log have the rest.
const endMost = bridge.CloseTime + 5*time.Second

// giveUp ends the program although something in it hangs. No server is left by
// then.
func giveUp() {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintf(os.Stderr, "inspector: did not end within %v, and was ended\n", endMost)
	}()
	select {
	case <-said:
	case <-time.After(time.Second): // standard error may be what hangs
	}
	os.Exit(exitError)
}
