package calls

import (
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/inbox"
)

// Asked notes that a question is about to be put into the inbox. It returns what
// people call the call.
func (cs *Calls) Asked(q inbox.Question) (name string) {
	// Whoever asks outside of any call, or of one that is forgotten, has no timeline.
	_ = cs.update(q.Call, func(c *call) bool {
		name = c.Request.Name
		if c.over == conversation.Running {
			c.clocked[q.Number] = true
			c.clock.set(q.Asked, c.clock.open+1, c.clock.held)
		}
		return true
	})
	return name
}

// Settled notes that a question is settled.
func (cs *Calls) Settled(q inbox.Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if c.clocked[q.Number] && c.over == conversation.Running {
			c.clock.set(q.Ended, max(c.clock.open-1, 0), c.clock.held)
		}
		delete(c.clocked, q.Number)
		if known := c.round.questions[q.Number]; known != nil {
			completion := max(q.Completion, known.Completion)
			*known = q
			if known.Completion, known.Params = completion, nil; !q.IsURL() {
				known.Request = nil // a round can ask very much
			}
			c.round.open--
		}
		c.wake()
		return true
	})
}

// Changed notes what else is known of a question: that its URL is done.
func (cs *Calls) Changed(q inbox.Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if known := c.round.questions[q.Number]; known != nil && q.Completion > known.Completion {
			known.Completion = q.Completion
			c.wake()
		}
		return false
	})
}

// Over reports whether the call of a question has ended, so that nobody waits for
// the answer any more. Of a call that was only guessed it is not known as long as
// another runs on the connection.
func (cs *Calls) Over(q inbox.Question) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if q.Guessed {
		return !cs.runs(q.Session)
	}
	c, err := cs.find(q.Call)
	return err == nil && c.over != conversation.Running
}
