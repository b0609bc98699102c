package target

import "sync"

// children are the processes that this program has started and not seen to their
// end, for the moments in which there is no time for an orderly one.
var children struct {
	sync.Mutex
	groups map[*process]group
}

// KillAll kills what is left of every process that was started, with its group,
// and waits for nothing. It is for a program that is about to leave at once.
func KillAll() {
	for _, g := range allChildren() {
		g.kill()
	}
}

func allChildren() []group {
	children.Lock()
	defer children.Unlock()
	all := make([]group, 0, len(children.groups))
	for _, g := range children.groups {
		all = append(all, g)
	}
	return all
}

// born notes that p's group is to be ended with this program, however that ends.
func (p *process) born() {
	children.Lock()
	if children.groups == nil {
		children.groups = make(map[*process]group)
	}
	children.groups[p] = p.group
	children.Unlock()
	p.group.guard()
}

// buried takes that back, when nothing of the group is left.
func (p *process) buried() {
	children.Lock()
	delete(children.groups, p)
	children.Unlock()
	p.group.unguard()
}
