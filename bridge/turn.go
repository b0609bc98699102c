package bridge

// turn is had by one goroutine at a time, for what takes long. Unlike a mutex it
// may be kept while a lock is taken, or something is waited for; so nobody waits
// for a turn with a lock held.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }
func (t turn) give() { <-t }
