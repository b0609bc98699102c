package target

import (
	"maps"
	"slices"
	"sync"
)

// started has the groups of processes that this program has started and not seen
// to their end, for the moments in which there is no time for an orderly one.
var started struct {
	sync.Mutex
	groups map[group]bool
}

// KillAll kills what is left of every process that was started, with its group,
// and waits for nothing. It is for a program that is about to leave at once.
func KillAll() {
	started.Lock()
	all := slices.Collect(maps.Keys(started.groups))
	started.Unlock()
	for _, g := range all {
		g.kill()
	}
}

// register notes that a group is to be ended with this program, however that ends.
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
