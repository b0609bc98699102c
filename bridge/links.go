package bridge

import (
	"context"
	"sync"
	"time"

	"elicitation-inspector/bridge/target"
)

// links are the connections of an inspection that are open, so that Close can
// cut them off even where all else hangs. Its lock is held for a moment only, and
// no other one with it.
type links struct {
	mu     sync.Mutex
	open   map[*target.Link]struct{}
	killed bool
}

// add notes a link that was opened. It reports false where that is too late, and
// the link is to be closed at once.
func (l *links) add(link *target.Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[*target.Link]struct{}{}
	}
	l.open[link] = struct{}{}
	return !l.killed
}

// close closes a link, and forgets it once nothing of it is left.
func (l *links) close(ctx context.Context, link *target.Link) error {
	err := link.Close(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, link)
	return err
}

// kill ends all links that are open, and those that are opened from now on,
// without any patience. It waits for their end, but no longer than limit, and
// says how many there were.
func (l *links) kill(limit time.Duration) int {
	l.mu.Lock()
	l.killed = true
	var open []*target.Link
	for link := range l.open {
		open = append(open, link)
	}
	l.mu.Unlock()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	var ending sync.WaitGroup
	for _, link := range open {
		// That it had to be killed is what its error would say.
		ending.Go(func() { _ = l.close(over, link) })
	}
	ended := make(chan struct{})
	go func() {
		ending.Wait()
		close(ended)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	return len(open)
}
