// Command inspector shows what an MCP server asks its users, answers as a
// person would, and keeps what went over the wire.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/transport"
)

// How far the heap may grow between two collections, in percent.
const (
	// growth lets a program that ends soon, such as the server of one trial, end without
	// a collection.
	growth = 400
	// pageGrowth is for as long as there is a page. The heap is small while little
	// happens, and the index of a long log has no pointers, so that frequent collections
	// cost little and save megabytes.
	pageGrowth = 50
)

func letHeapGrow(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// memoryAim is the heap size in bytes at which the garbage collector works harder, so
// that a session of a million frames takes less than 250 MiB. It is no hard limit.
const memoryAim = 220 << 20

func main() {
	letHeapGrow(growth)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryAim)
	}
	ctx, end := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is with nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for <-signals; signalsTaken.Load(); {
			<-signals
		}
		end()
		time.AfterFunc(endMost, giveUp)
		<-signals
		// After a second Ctrl-C the end is not orderly, but it leaves no server behind.
		transport.KillAll()
		os.Exit(exitError)
	}()
	os.Exit(run(ctx, os.Args[1:]))
}

// signalsTaken is true while a command passes signals on to a server in place of ending.
var signalsTaken atomic.Bool

// endMost bounds the time from Ctrl-C to the end of the program: inspection.CloseTime for the
// connections, and the rest for requests of the page, the transcript and the log.
const endMost = inspection.CloseTime + 5*time.Second

// giveUp ends the program even if a part of it hangs. All servers have been ended by
// then.
func giveUp() {
	said := make(chan struct{})
	go func() {
		defer close(said)
		fmt.Fprintf(os.Stderr, "inspector: did not end within %v, and was ended\n", endMost)
	}()
	select {
	case <-said:
	case <-time.After(time.Second): // writing to standard error may hang
	}
	os.Exit(exitError)
}
