package inspection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// calls makes calls, and shows them with those of the log.
type calls struct {
	*reader
	steering
	servers *servers
	live    *live.Calls
}

// steering has the methods of [live.Calls] that an Inspection passes on unchanged.
type steering interface {
	Stop(number int) error
	Retry(number int) error
	RetryEvery(number int, every time.Duration) error
}

// Call is the state of one call as read from the log, plus what only the running call
// knows: its request, and how long it has waited for the person. Once the call has
// ended, all times come from its frames.
type Call struct {
	conversation.Call
	conversation.Wait
	Request live.Request
}

// measure sets the times of a call that has ended.
func (c *Call) measure() {
	c.Duration, c.Waited, c.Served = c.Took(), c.With(conversation.PersonParty), c.With(conversation.ServerParty)
}

// LastRequest returns the frame of the request of the last round, 0 before any request is
// sent.
func (c *Call) LastRequest() int64 {
	if len(c.Rounds) == 0 {
		return 0
	}
	return c.Rounds[len(c.Rounds)-1].Request
}

// overlaid combines the state of an inspector's own call with its state as read from the
// log. said is nil while the log has no frames of the call.
func overlaid(own live.Call, said *conversation.Call) Call {
	out := Call{Request: own.Request, Wait: own.Wait}
	if said != nil {
		out.Call = *said
	} else {
		out.Call = conversation.Call{Number: own.Number, Name: own.Request.Key, Start: own.Started}
	}
	if !own.Ended {
		if out.Duration = time.Since(out.Start); out.State.Over() { // the log has the response, but the call is still processing it
			out.State, out.Ended = conversation.Running, time.Time{}
		}
		return out
	}
	if !out.State.Over() { // the call ended before its request was in the log
		out.EndBy(own.End, own.End.At)
	}
	out.Counted = out.Ended.Sub(own.Started) - own.Waited
	out.measure()
	return out
}

// recorded returns a call of a transcript.
func (in *calls) recorded(now *live.View, c *conversation.Call) Call {
	out := Call{Call: *c}
	out.Request = live.Request{Server: in.servers.known.IDOf(c.Server), Kind: conversation.KindOf(c.Method), Name: in.nameOf(c), Key: c.Name, Arguments: c.Arguments}
	if out.measure(); c.State.Over() {
		return out
	}
	out.Duration = now.Now.Sub(c.Start)
	for _, q := range c.Questions {
		current := q.Via == elicit.InRound && q.Round == len(c.Rounds)
		if current {
			out.Asks++
		}
		if q.State != conversation.Pending {
			continue
		}
		if current {
			out.Open++
		}
		if out.Waiting++; out.Asked.IsZero() || q.Asked.Before(out.Asked) {
			out.Asked = q.Asked
		}
	}
	if out.Yours = out.Waiting > 0; out.Yours {
		out.WaitedSince = c.End.Add(-out.Waited)
	}
	return out
}

// nameOf returns the display name of a call: the name of the tool, prompt or resource it
// requests.
func (in *calls) nameOf(c *conversation.Call) string {
	if own, err := in.live.Call(c.Number); err == nil {
		return own.Request.Name
	}
	if c.Method == mcp.MethodReadResource {
		if item, err := in.servers.Item(in.servers.known.IDOf(c.Server), conversation.Resource, c.Name); err == nil {
			return item.Name
		}
	}
	return c.Name
}

// Calls returns the calls that are kept, oldest first: all running calls, and the latest
// of the ended ones.
func (in *calls) Calls() []Call {
	own := in.live.All()
	now := in.read()
	said := now.ByNumber()
	out := []Call{}
	for _, c := range own {
		out = append(out, overlaid(c, said[c.Number]))
	}
	if in.replay != nil {
		for _, c := range said {
			out = append(out, in.recorded(now, c))
		}
		slices.SortFunc(out, func(a, b Call) int { return a.Number - b.Number })
	}
	return out
}

// Call returns one call by its number.
func (in *calls) Call(number int) (Call, error) {
	own, err := in.live.Call(number)
	now := in.read()
	var said *conversation.Call
	if i := slices.IndexFunc(now.Calls, func(c *conversation.Call) bool { return number != 0 && c.Number == number }); i >= 0 {
		said = now.Calls[i]
	}
	switch all, _ := in.conversation.Counts(); {
	case in.replay == nil && err == nil:
		return overlaid(own, said), nil
	case in.replay == nil:
		return Call{}, err
	case said != nil:
		return in.recorded(now, said), nil
	case number >= 1 && number <= all:
		return Call{}, fmt.Errorf("%w %d", live.ErrForgotten, number)
	}
	return Call{}, fmt.Errorf("%w: %d", live.ErrUnknownCall, number)
}

// ErrNoTask is the error of calling an item as a task without the server's support for it.
var ErrNoTask = errors.New("it cannot be called as a task, since the server does not declare that")

// TaskSupport reports whether an item of a server can, or must, be called as a task
// (specification 2025-11-25, Tasks, Tool-Level Negotiation). A tool that the server has not
// listed, or not yet, may be.
func (in *calls) TaskSupport(server string, kind conversation.Kind, key string) conversation.TaskSupport {
	s, err := in.servers.known.Server(server)
	if err != nil || kind != conversation.Tool || s.Info.Protocol != mcp.Revision20251125 || !s.Info.Tasks.Calls {
		return conversation.TaskForbidden
	}
	item, err := in.servers.Item(server, kind, key)
	if err != nil {
		return conversation.TaskOptional
	}
	return item.Tasks
}

// Begin starts a call and returns at once. Unless the call has a time limit, it runs
// until the server answers, the connection is lost, or the call is stopped.
func (in *calls) Begin(r live.Request) (Call, error) {
	conn, err := in.servers.live.Connection(r.Server)
	if err != nil {
		return Call{}, err
	}
	if r.Timeout == 0 {
		r.Timeout = in.servers.config.CallTimeout
	}
	switch support := in.TaskSupport(r.Server, r.Kind, r.Key); {
	case support == conversation.TaskRequired:
		r.AsTask = true
	case r.AsTask && support == conversation.TaskForbidden:
		return Call{}, fmt.Errorf("%w: %s", ErrNoTask, wording.Quoted(r.Key))
	}
	begun := in.live.Begin(conn, r)
	if flow, err := in.servers.SignIn(r.Server); err == nil && flow != nil {
		in.live.SigningIn(r.Server, flow.Busy())
	}
	return overlaid(begun, nil), nil
}

// Repeat continues a call that ended because an input request of its last round was
// refused; see [live.Calls.Repeat].
func (in *calls) Repeat(number int) (Call, error) {
	c, err := in.live.Call(number)
	if err != nil {
		return Call{}, err
	}
	conn, err := in.servers.live.Connection(c.Request.Server)
	if err != nil {
		return Call{}, err
	}
	again, err := in.live.Repeat(conn, number)
	return overlaid(again, nil), err
}

// CallAgain reconnects the server of a call and declares a capability ("sampling" or "roots")
// to it, or for "" uses [live.RevisionOfRequests], and repeats the call. The error says why
// the server could not be reconnected.
func (in *calls) CallAgain(ctx context.Context, number int, declare string) (Call, error) {
	c, err := in.live.Call(number)
	if err != nil {
		return Call{}, err
	}
	err = in.servers.live.Reconnected(ctx, c.Request.Server, func(s *conversation.ClientSettings) {
		switch declare {
		case "sampling":
			s.Sampling = true
		case "roots":
			s.Roots = true
		default:
			s.Protocol, s.Choice = live.RevisionOfRequests, conversation.ChoiceRemembered
		}
	})
	if err != nil {
		return Call{}, err
	}
	return in.Begin(c.Request)
}
