package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// Misbehaviour is a plan of package fault, and the question that it answers.
type Misbehaviour struct {
	Plan                  fault.Plan
	Question, Call, Round int
	ID                    json.RawMessage // id of the request that asks; nil if a result asked
	OwnTask               string          // id of the client's task that the question is; "" for none
	// Other carries out the steps that need more than the connection.
	Other func(fault.Do)
}

// abandonPatience is how long a process may keep running after its input was closed.
const abandonPatience = 5 * time.Second

// Situation sets the session's fields of facts, for a question that is about to be
// answered with a fault: revision, transport, and whether an open stream carried the
// question.
func (s *Session) Situation(facts *fault.Facts) {
	facts.Revision, facts.Transport = s.Revision(), s.transport()
	s.mu.Lock()
	in, link := s.incoming[wire.IDKey(facts.ID)], s.link
	s.mu.Unlock()
	if in != nil && link != nil && facts.Via == elicit.ByRequest {
		facts.Streamed = link.HasStream(in.related)
	}
}

// Misbehave carries out the steps of a plan and returns when they are done. The error
// says which step failed, or that the session or ctx ended first.
func (s *Session) Misbehave(ctx context.Context, m Misbehaviour) error {
	updated := false
	s.mu.Lock()
	in := s.incoming[wire.IDKey(m.ID)]
	if m.ID != nil && in != nil && !in.deliberate {
		// It no longer counts as waiting for the person, but its id stays known until a
		// response is sent or the session ends.
		in.deliberate = true
		s.settledOne(in)
	}
	s.mu.Unlock()
	for _, step := range m.Plan.Steps {
		if err := s.ctx.Err(); err != nil {
			return context.Cause(s.ctx)
		}
		var err error
		switch step.Do {
		case fault.Send:
			f := wire.Frame{Raw: step.Raw, Question: m.Question, Call: m.Call, Round: m.Round, Actor: "fault", Fault: m.Plan.Fault}
			s.sendPrepared(ctx, paced(f, step.Pace))
		case fault.Wait:
			select {
			case <-time.After(step.Time):
			case <-ctx.Done():
				err = context.Cause(ctx)
			case <-s.ctx.Done():
				err = context.Cause(s.ctx)
			}
		case fault.AwaitWithdrawal:
			err = s.awaitWithdrawal(ctx, in)
		case fault.DropStream:
			if in == nil || !s.link.DropStream(in.related) {
				err = errors.New("the stream that carried the question has ended already")
			}
		case fault.CloseConnection:
			s.abandon(ctx, m.Plan)
		case fault.CancelCall:
			s.mu.Lock()
			running := slices.DeleteFunc(s.running(), func(out *outgoing) bool { return out.call != m.Call })
			s.mu.Unlock()
			m.Other(step.Do)
			s.awaitCancelled(ctx, running)
		case fault.Kill:
			s.endsBy(m.Plan)
			s.link.Kill()
		case fault.UpdateTask, fault.PollTask, fault.CancelTask:
			err = s.misuseTask(ctx, m, step)
			if errors.As(err, new(UpdateRefused)) && updated {
				err = nil // the first answer counts
			}
			updated = updated || step.Do == fault.UpdateTask
		case fault.TellStatus, fault.GiveResult, fault.ForgetTask:
			err = s.misbehaveAsTask(m, step)
		default:
			m.Other(step.Do)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settledOne lowers the count of waiting questions of a call. The caller holds the
// mutex.
func (s *Session) settledOne(in *incoming) {
	if s.asking[in.call]--; s.asking[in.call] == 0 {
		delete(s.asking, in.call)
	}
}

// awaitWithdrawal waits until the server cancels the request, or the call of the
// request is over.
func (s *Session) awaitWithdrawal(ctx context.Context, in *incoming) error {
	for in != nil {
		grown := s.Log.Grown()
		s.mu.Lock()
		runs := slices.ContainsFunc(s.running(), func(out *outgoing) bool { return out.call == in.call })
		over := in.cancelled != "" || in.call != 0 && !runs && (in.of == nil || in.of.over)
		s.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	return nil
}

// abandon closes the connection without an orderly end. It then waits for
// abandonPatience, and ends a process that still runs.
func (s *Session) abandon(ctx context.Context, plan fault.Plan) {
	s.endsBy(plan)
	s.link.Abandon()
	select {
	case <-s.link.Done():
		return
	case <-time.After(abandonPatience):
	case <-s.ctx.Done():
		return
	}
	s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteStillRuns, Took: abandonPatience.String()}, Failed: true})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), EndTime)
	defer cancel()
	if err := s.link.Close(ctx); err != nil {
		s.Logger.Warn("ending the connection", "server", s.Spec.Name, "error", err)
	}
}

func (s *Session) endsBy(plan fault.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = "deliberate: " + plan.Title
}

// Deliberate returns which plan ended the connection, as "deliberate: " and its title;
// "" if no plan did.
func (s *Session) Deliberate() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

func paced(f wire.Frame, pace fault.Pace) transport.Outgoing {
	out := transport.Outgoing{Frame: f}
	if pieces, pause := pace.Split(f.Raw); len(pieces) > 1 {
		out.Pieces, out.Pause = pieces, pause
	}
	return out
}

// sendPrepared sends deliberately wrong bytes. If that fails, the tap records why.
func (s *Session) sendPrepared(ctx context.Context, out transport.Outgoing) {
	out.Unasked = true
	if err := s.link.Send(ctx, out); err != nil {
		s.Logger.Debug("sending what is wrong on purpose", "server", s.Spec.Name, "error", err)
	}
}

// outgoingFor returns what is sent in place of a message from the SDK: a spoilt request, a
// reworded cancellation, an initialize request that declares tasks, or the message itself.
func (s *Session) outgoingFor(ctx context.Context, raw []byte) transport.Outgoing {
	out := outgoingOf(ctx)
	if spoilt, is := s.spoil(out, raw); is {
		return spoilt
	}
	return transport.Outgoing{Frame: wire.Frame{Raw: s.declaringTasks(s.reworded(out, raw))}}
}

// Spoilt describes how a request of a call is deliberately wrong.
type Spoilt struct {
	Fault string          // name of the fault
	ID    json.RawMessage // id to send in place of the SDK's; nil keeps the SDK's
	Cut   bool            // leave out the last byte
	Twice bool            // send the request twice
	Pace  fault.Pace
}

// spoil changes a request that a fault is planned for. It returns false for every other
// message.
func (s *Session) spoil(out *outgoing, raw []byte) (transport.Outgoing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how := out.spoilt
	if how == nil || out.id != "" || out.over {
		return transport.Outgoing{}, false
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Request {
		return transport.Outgoing{}, false
	}
	id := m.ID
	if how.ID != nil {
		id, out.sdkID = how.ID, m.ID
		at := bytes.Index(raw, m.ID) // only the "jsonrpc" member comes before the id
		raw = slices.Concat(raw[:at], id, raw[at+len(m.ID):])
	}
	f := wire.Frame{Raw: raw, Fault: how.Fault}
	if how.Cut {
		f.Raw = raw[:len(raw)-1]
		f.Call, f.Round, f.Actor = out.call, out.round, "fault"
		out.id, out.method = string(id), m.Method
		s.outgoing[out.id] = out
	}
	if how.Twice {
		again := f
		again.Call, again.Round, again.Actor = out.call, out.round, "fault"
		s.Go(func() { s.sendPrepared(s.ctx, transport.Outgoing{Frame: again}) })
	}
	return paced(f, how.Pace), true
}
