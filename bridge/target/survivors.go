package target

import (
	"maps"
	"slices"
	"sync"
)

// children are the groups of processes that this program has started and not seen
// to their end, for the moments in which there is no time for an orderly one.
var children struct {
	sync.Mutex
	groups map[group]bool
}

// KillAll kills what is left of every process that was started, with its group,
// and waits for nothing. It is for a program that is about to leave at once.
func KillAll() {
	children.Lock()
	all := slices.Collect(maps.Keys(children.groups))
	children.Unlock()
	for _, g := range all {
		g.kill()
	}
}

// born notes that a group is to be ended with this program, however that ends.
func born(g group) {
	children.Lock()
	if children.groups == nil {
		children.groups = map[group]bool{}
	}
	children.groups[g] = true
	children.Unlock()
	g.guard()
}

// buried takes that back, when nothing of the group is left.
func buried(g group) {
	children.Lock()
	delete(children.groups, g)
	children.Unlock()
	g.unguard()
}
