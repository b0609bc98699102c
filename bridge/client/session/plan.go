package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
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
	facts.Revision, facts.Transport = s.Revision(), s.Spec.OfFrames()
	if in := s.outbox.find(wire.IDKey(facts.ID)); in != nil && facts.Via == elicit.ByRequest {
		facts.Streamed = s.link.Load().HasStream(in.related)
	}
}

// Misbehave carries out the steps of a plan and returns when they are done. The error
// says which step failed, or that the session or ctx ended first.
func (s *Session) Misbehave(ctx context.Context, m Misbehaviour) error {
	deed := planRun{s, m, s.outbox.find(wire.IDKey(m.ID))}
	if deed.in != nil {
		deed.in.deliberate.Store(true) // its id stays known until a response is sent or the session ends
	}
	updated := false
	for _, step := range m.Plan.Steps {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		err := deed.do(ctx, step)
		if errors.As(err, new(UpdateRefused)) && updated {
			err = nil // the first answer counts
		}
		if err != nil {
			return err
		}
		updated = updated || step.Do == fault.UpdateTask
	}
	return nil
}

// planRun carries out a plan.
type planRun struct {
	*Session
	Misbehaviour
	in *incoming // the request that asks; nil if a result asked
}

func (d planRun) do(ctx context.Context, step fault.Step) error {
	switch step.Do {
	case fault.Send:
		f := wire.Frame{Raw: step.Raw, Question: d.Question, Call: d.Call, Round: d.Round, Actor: conversation.ByFault, Fault: d.Plan.Fault}
		d.sendPrepared(ctx, paced(f, step.Pace))
	case fault.Wait:
		select {
		case <-time.After(step.Time):
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-d.ctx.Done():
			return context.Cause(d.ctx)
		}
	case fault.AwaitWithdrawal:
		return d.awaitWithdrawal(ctx)
	case fault.DropStream:
		if d.in == nil || !d.link.Load().DropStream(d.in.related) {
			return errors.New("the stream that carried the question has ended already")
		}
	case fault.CloseConnection:
		d.abandon(ctx)
	case fault.CancelCall:
		running := d.requests.running(d.Call)
		d.Other(step.Do)
		d.await(ctx, func() bool { return !slices.ContainsFunc(running, (*outgoing).isOpen) })
	case fault.Kill:
		d.ending.Store(&d.Plan)
		d.link.Load().Kill()
	case fault.UpdateTask, fault.PollTask, fault.CancelTask:
		return d.misuseTask(ctx, step)
	case fault.TellStatus, fault.GiveResult, fault.ForgetTask:
		return d.ownTasks.misbehave(d.Misbehaviour, step)
	default:
		d.Other(step.Do)
	}
	return nil
}

// awaitWithdrawal waits until the server cancels the request, or the call of the
// request is over.
func (d planRun) awaitWithdrawal(ctx context.Context) error {
	in := d.in
	if in == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
	return d.Log.Await(ctx, func() bool {
		return in.cancelled.Load() != nil || in.call != 0 && len(d.requests.running(in.call)) == 0 && (in.of == nil || in.of.over.Load())
	})
}

// abandon closes the connection without an orderly end. It then waits for
// abandonPatience, and ends a process that still runs.
func (d planRun) abandon(ctx context.Context) {
	link := d.link.Load()
	d.ending.Store(&d.Plan)
	link.Abandon()
	select {
	case <-link.Done():
		return
	case <-time.After(abandonPatience):
	case <-d.ctx.Done():
		return
	}
	d.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteStillRuns, Took: abandonPatience.String()}, Failed: true})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), EndTime)
	defer cancel()
	if err := link.Close(ctx); err != nil {
		d.Logger.Warn("ending the connection", "server", d.Spec.Name, "error", err)
	}
}

// stormTime bounds how long a server may take to answer the requests of a fault about a
// task.
const stormTime = 30 * time.Second

// UpdateRefused is the error of a fault whose tasks/update the server has refused, so that
// the question is not answered.
type UpdateRefused string

func (u UpdateRefused) Error() string { return string(u) }

// misuseTask carries out a step of a fault that sends requests about the task of a call.
func (d planRun) misuseTask(ctx context.Context, step fault.Step) error {
	ctx, cancel := context.WithTimeout(ctx, stormTime)
	defer cancel()
	r := Request{Call: d.Call, Round: d.Round, TaskID: d.Plan.Task, Method: mcp.MethodGetTask, Actor: conversation.ByFault, Spoilt: &Spoilt{Fault: d.Plan.Fault}}
	switch step.Do {
	case fault.UpdateTask:
		r.Method, r.Responses = mcp.MethodUpdateTask, membersOf(step.Raw)
	case fault.CancelTask:
		r.Method = mcp.MethodCancelTask
	}
	failures := make(chan error)
	times := max(step.Times, 1)
	for range times {
		d.Go(func() {
			reply, err := d.RoundTrip(ctx, r)
			if err == nil && step.Do == fault.UpdateTask && reply.Message.Kind == wire.Error {
				if e, unread := conversation.ErrorOf(reply.Message.Error); unread == nil {
					err = UpdateRefused(fmt.Sprintf("%s was answered with %d %s", r.Method, e.Code, e.Message))
				}
			}
			failures <- err
		})
	}
	var err error
	for range times {
		err = cmp.Or(err, <-failures)
	}
	return err
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
	if err := s.link.Load().Send(ctx, out); err != nil {
		s.Logger.Debug("sending what is wrong on purpose", "server", s.Spec.Name, "error", err)
	}
}

// Spoilt describes how a request of a call is deliberately wrong.
type Spoilt struct {
	Fault string          // name of the fault
	ID    json.RawMessage // id to send in place of the SDK's; nil keeps the SDK's
	Cut   bool            // leave out the last byte
	Twice bool            // send the request twice
	Pace  fault.Pace
}

// spoil changes a request that a fault is planned for, unless nobody waits for it any more.
func (s *Session) spoil(out *outgoing, m wire.Message, raw []byte) transport.Outgoing {
	how := out.Spoilt
	if how.ID != nil {
		at := bytes.Index(raw, m.ID) // only the "jsonrpc" member comes before the id
		raw = slices.Concat(raw[:at], how.ID, raw[at+len(m.ID):])
		out.sdkID, m.ID = m.ID, how.ID
	}
	if !s.requests.begin(out, m) {
		return transport.Outgoing{Frame: wire.Frame{Raw: raw}}
	}
	f := wire.Frame{Raw: raw, Fault: how.Fault}
	if how.Cut {
		f.Raw = raw[:len(raw)-1]
		f.Call, f.Round, f.Actor = out.Call, out.Round, conversation.ByFault
		s.requests.await(out)
	}
	if how.Twice {
		again := f
		again.Call, again.Round, again.Actor = out.Call, out.Round, conversation.ByFault
		s.Go(func() { s.sendPrepared(s.ctx, transport.Outgoing{Frame: again}) })
	}
	return paced(f, how.Pace)
}
