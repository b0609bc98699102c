package live

import (
	"elicitation-inspector/bridge/conversation"
)

// Asked records that a question is about to be put into the inbox. It returns the display
// name of the question's call.
func (cs *Calls) Asked(q Question) (name string) {
	// No call is kept for a question outside of calls, or of a forgotten call.
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

// Settled records that a question is settled.
func (cs *Calls) Settled(q Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if c.clocked[q.Number] && c.over == conversation.Running {
			c.clock.set(q.Ended, max(c.clock.open-1, 0), c.clock.held)
		}
		delete(c.clocked, q.Number)
		if known := c.round.questions[q.Number]; known != nil {
			completion := max(q.Completion, known.Completion)
			*known = q
			if known.Completion, known.Params = completion, nil; !q.IsURL() {
				known.Request = nil // the requests of a round can be large
			}
			c.round.open--
		}
		c.wake()
		return true
	})
}

// Changed records that the URL of a question is done.
func (cs *Calls) Changed(q Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if known := c.round.questions[q.Number]; known != nil && q.Completion > known.Completion {
			known.Completion = q.Completion
			c.wake()
		}
		return false
	})
}

// WithdrawLate withdraws a question that was put into the inbox after its call had ended.
func (cs *Calls) WithdrawLate(q Question) {
	cs.mu.Lock()
	c, err := cs.find(q.Call)
	late := err == nil && c.over != conversation.Running
	cs.mu.Unlock()
	if late {
		c.withdraw()
	}
}
