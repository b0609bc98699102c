// Command inspector shows what an MCP server asks its users, answers as a
// person would, and keeps what went over the wire.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
