package transport

import (
	"maps"
	"slices"
	"sync"
)

// started holds the groups of all processes that this program has started and that have
// not ended, so that KillAll can reach them.
var started struct {
	sync.Mutex
	groups map[group]bool
}

// KillAll kills every started process that has not ended, with its group, and does not
// wait. It is for a program that must exit at once.
func KillAll() {
	started.Lock()
	all := slices.Collect(maps.Keys(started.groups))
	started.Unlock()
	for _, g := range all {
		g.kill()
	}
}

// register records a running group for KillAll and the guardian.
func register(g group) {
	started.Lock()
	if started.groups == nil {
		started.groups = map[group]bool{}
	}
	started.groups[g] = true
	started.Unlock()
	g.guard()
}

func unregister(g group) {
	started.Lock()
	delete(started.groups, g)
	started.Unlock()
	g.unguard()
}
