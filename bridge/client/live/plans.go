package live

import (
	"bytes"

	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
)

// Situation fills in the facts that the calls know about a question.
func (cs *Calls) Situation(number int, facts *fault.Facts) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c, err := cs.find(number)
	if err != nil {
		return
	}
	facts.InCall, facts.Tool, facts.Task = c.endState == conversation.Running, c.Request.Key, c.task
	if facts.Via != elicit.InRound || len(c.states) == 0 {
		return
	}
	latest := len(c.states) - 1
	facts.State = c.states[latest]
	for _, state := range c.states[:latest] {
		if state != nil && !bytes.Equal(state, facts.State) {
			facts.Earlier = state
		}
	}
}

// misbehave adds the deliberate faults of a question's plan to the next request.
func (n *next) misbehave(q *Question, reply session.Reply) session.Misbehaviour {
	plan := q.Plan
	if n.spoilt == nil {
		n.spoilt = &session.Spoilt{Fault: plan.Fault}
	} else if n.spoilt.Fault != plan.Fault {
		n.spoilt.Fault += "," + plan.Fault
	}
	out := session.Misbehaviour{Plan: *plan, Question: q.Number, Call: q.Call, Round: q.Round}
	r := plan.Retry
	if r == nil {
		return out
	}
	if q.Via == elicit.InRound && n.responses != nil {
		if r.Value != nil {
			n.responses = append(n.responses, session.Member{Name: q.Key, Value: r.Value})
		}
		for _, extra := range r.Extra {
			n.responses = append(n.responses, session.Member(extra))
		}
	}
	if r.ChangeState {
		n.state = r.State
	}
	if r.Tool != "" {
		n.tool = r.Tool
	}
	if r.SameID {
		n.spoilt.ID = reply.Message.ID
	}
	n.spoilt.Cut, n.spoilt.Twice = n.spoilt.Cut || r.Cut, n.spoilt.Twice || r.Twice
	if r.Pace != (fault.Pace{}) {
		n.spoilt.Pace = r.Pace
	}
	return out
}

// carryOut carries out the steps of plans before the next request. It returns how the
// call ends if a plan sends no next request.
func (c *call) carryOut(plans []session.Misbehaviour, more *next) *ending {
	c.hold(true, false) // the steps do not count as the server's time
	defer c.hold(false, false)
	for _, m := range plans {
		m.Other = func(do fault.Do) { c.restarts = c.restarts || do == fault.StartSession }
		if err := c.conn.Misbehave(c.ctx, m); err != nil {
			return failed("%v", err)
		}
	}
	for _, m := range plans {
		switch {
		case m.Plan.Retry == nil:
			return stoppedShort("the call was not made again; deliberate: " + m.Plan.Title)
		case c.restarts:
			c.set(func() { c.repeat = more })
			return stoppedShort("the call goes on in a new session; deliberate: " + m.Plan.Title)
		}
	}
	return nil
}

func stoppedShort(why string) *ending {
	return &ending{state: conversation.Stopped, why: why, despite: true}
}
