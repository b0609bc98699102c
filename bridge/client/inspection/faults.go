package inspection

import (
	"errors"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
)

// Facts returns the facts about a question that faults need; see [fault.Facts].
func (in *questions) Facts(q live.Question) fault.Facts {
	facts := fault.Facts{
		Via: q.Via, Method: q.Method, Request: q.Request, ID: q.ID, Key: q.Key,
		OwnTask: q.TaskID != "",
	}
	if q.Exact != nil {
		facts.Request, _ = elicit.Parse(q.Exact) // it was parsed before, masked, and has the same form
	}
	if q.Request == nil {
		facts.Honest = conversation.Suggestion(q.Method)
	}
	in.calls.live.Situation(q.Call, &facts)
	if id := conversation.RelatedTaskID(q.Params); id != "" && q.Via == elicit.ByRequest {
		facts.Task = id // the call may not know yet that it has become the task
	}
	if facts.InCall = facts.InCall && !q.Guessed; !facts.InCall {
		facts.Task = ""
	}
	if s := in.servers.live.Session(q.Session); s != nil {
		s.Situation(&facts)
	}
	if c, err := in.calls.live.Call(q.Call); err == nil && facts.Via == elicit.InRound {
		if catalog, err := in.servers.Catalog(q.Server); err == nil {
			for _, item := range catalog.Items {
				if item.Kind == c.Request.Kind && item.Key != facts.Tool {
					facts.Others = append(facts.Others, item.Key)
				}
			}
		}
	}
	return facts
}

// FactsOf returns the Facts of a question by its number.
func (in *questions) FactsOf(number int) (fault.Facts, error) {
	q, err := in.inbox.Question(number)
	if err != nil {
		return fault.Facts{}, err
	}
	return in.Facts(q), nil
}

// Misbehave answers a question deliberately wrong, with a fault and its parameters.
func (in *questions) Misbehave(number int, name string, params fault.Params) error {
	q, err := in.inbox.Question(number)
	if err != nil || q.State != conversation.Pending {
		return in.settled(number)
	}
	plan, err := fault.Build(in.Facts(q), name, params)
	if err != nil {
		return err
	}
	return in.Answer(number, live.Misbehave(plan))
}

// misbehave carries out the plan for a request from the server.
func (in *questions) misbehave(s *session.Session, q live.Question) {
	if s == nil {
		return
	}
	m := session.Misbehaviour{Plan: *q.Plan, Question: q.Number, Call: q.Call, Round: q.Round, ID: q.ID, OwnTask: q.TaskID}
	m.Other = func(do fault.Do) {
		var err error
		switch do {
		case fault.CancelCall:
			err = in.calls.live.Stop(q.Call)
		case fault.StartSession:
			err = in.servers.Reconnect(q.Server)
		case fault.LeaveTask:
			err = in.calls.live.Leave(q.Call, "the task goes on at the server; deliberate: "+m.Plan.Title, false)
		}
		if err != nil {
			in.logger.Debug("misbehaving", "fault", m.Plan.Fault, "error", err)
		}
	}
	in.spawn(func() {
		err := s.Misbehave(s.Context(), m)
		var refused session.UpdateRefused
		if errors.As(err, &refused) {
			err = in.calls.live.Leave(q.Call, refused.Error(), true)
		}
		if err != nil {
			q.State, q.Reason = conversation.Undelivered, err.Error()
			note(s, q)
		}
		in.changes.Mark(live.Change{Kind: live.QuestionChanged, Number: q.Number}) // an HTTP server may have refused the bytes
	})
}

// resumeTasks continues the calls of a server whose tasks it still runs although their session was
// lost.
func (in *calls) resumeTasks(server string) {
	if conn, err := in.servers.live.Connection(server); err == nil {
		in.live.Resume(conn, server)
	}
}

func (in *calls) startSession(number int) {
	c, err := in.live.Call(number)
	if err != nil {
		return
	}
	in.spawn(func() {
		if err := in.servers.live.Connect(c.Request.Server); err != nil {
			return
		}
		if _, err := in.Repeat(number); err != nil {
			in.logger.Debug("going on in a new session", "call", number, "error", err)
		}
	})
}
