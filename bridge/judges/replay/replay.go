// Package replay makes the calls of a recording again, and answers what is asked meanwhile as it was
// answered then.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Recorded is the part of a recording that replay uses: the calls to make again, the server, and the settings of the client.
type Recorded struct {
	Calls    []*conversation.Call
	Scenario *script.Scenario // its target and settings
}

// Read reads the calls of a recording that a client made of a tool, a prompt or a resource.
func Read(ctx context.Context, log *wire.Log, name string) (*Recorded, error) {
	talk := conversation.New(log)
	if err := talk.Update(ctx); err != nil {
		return nil, err
	}
	all, err := script.CallsIn(ctx, talk, 0, conversation.Reading{})
	if err != nil {
		return nil, err
	}
	r := &Recorded{Calls: Calls(all)}
	servers := map[string]bool{}
	for _, call := range r.Calls {
		servers[call.Server] = true
	}
	switch {
	case len(r.Calls) == 0:
		return nil, fmt.Errorf("%s has no call to make again", name)
	case len(servers) > 1:
		return nil, fmt.Errorf("%s has calls of %s; replay makes those of one", name, wording.Plural(len(servers), "server"))
	}
	// The scenario is made of the last call alone: replay takes only its target and settings.
	r.Scenario, _ = script.FromCalls(r.Calls[len(r.Calls)-1:], script.Writing{From: name, Servers: talk.Servers()})
	return r, nil
}

// Settings returns those of the client in the recording, unless a revision or a declaration is given.
func (r *Recorded) Settings(protocol, elicitation string) (conversation.ClientSettings, error) {
	if protocol == "" && len(r.Scenario.Protocols) > 0 {
		protocol = r.Scenario.Protocols[0]
	}
	s, err := conversation.ParseClientSettings(protocol, cmp.Or(elicitation, r.Scenario.Elicitation))
	s.Sampling, s.Roots = r.Scenario.Sampling, r.Scenario.Roots
	return s, err
}

// Options say how a recording is played again.
type Options struct {
	Unknown diff.Unknown  // what happens to questions that it does not have
	Paced   bool          // answers wait as long as the person did
	Timeout time.Duration // of each call; 0 for that of the session
	Before  func(n int)   // called before the nth call is made, from 0; nil for none
}

// Played says how a recording was played again.
type Played struct {
	Made       int            // calls
	Carried    []diff.Carried // values of this session that were sent in place of recorded ones
	Notes      []string       // what was not as recorded, in sentences
	Unanswered []headless.Unanswered
}

// Run makes calls again, one after the other. An error means that the session cannot go on, and what
// is returned with it tells of the calls before.
func Run(ctx context.Context, session *headless.Session, calls []*conversation.Call, o Options) (*Played, error) {
	p := new(Played)
	carrier := diff.NewCarrier()
	defer func() { p.Carried = carrier.Used() }()
	server, err := session.Server()
	if err != nil {
		return p, err
	}
	lost := false // with the call before
	for n, call := range calls {
		if o.Before != nil {
			o.Before(n)
		}
		if why := leftOut(call); why != "" {
			p.note(call, "it is not made again: %s", why)
			continue
		}
		if lost {
			if err := session.Connected(ctx); err != nil {
				return p, err
			}
		}
		answers := diff.NewAnswers(call, carrier)
		answers.Unknown, answers.Paced = o.Unknown, o.Paced
		out, err := session.Call(during(ctx, call), headless.Call{
			Kind: conversation.KindOf(call.Method), Key: keyOf(call, carrier), Arguments: carrier.Live(call.Arguments),
			Timeout: o.Timeout, AsTask: call.Task != nil && call.Method == mcp.MethodCallTool && server.Info.Tasks.Calls, Decider: answers,
		})
		if err != nil {
			return p, err
		}
		p.Made++
		lost = out.Lost
		carrier.Learn(call.Result, out.Result)
		for _, note := range answers.Notes() {
			p.note(call, "%s", note)
		}
		p.Unanswered = append(p.Unanswered, out.Unanswered...)
	}
	return p, ctx.Err()
}

func (p *Played) note(call *conversation.Call, format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf("call %d, %s: ", call.Number, wording.EscapeLine(call.Name))+fmt.Sprintf(format, args...))
}

// leftOut says why a call cannot be made again; "" if it can.
func leftOut(call *conversation.Call) string {
	switch {
	case strings.Contains(string(call.Arguments)+call.Name, redact.Placeholder):
		return "the recording leaves out what it was called with"
	case call.Unsent != "":
		return fmt.Sprintf("in revision %s the server could not ask", call.Protocol)
	}
	return ""
}

// The bounds of how long a call goes on that had no response in the recording.
const (
	shortest = time.Second
	longest  = time.Minute
)

// during returns the context of a call: one without a response is stopped, as then.
func during(ctx context.Context, call *conversation.Call) context.Context {
	if call.Result != nil || call.Error != nil {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, min(max(call.Took(), shortest), longest))
	context.AfterFunc(ctx, cancel)
	return ctx
}

func keyOf(call *conversation.Call, carrier *diff.Carrier) string {
	if call.Method != mcp.MethodReadResource {
		return call.Name
	}
	return rawjson.Text(carrier.Live(rawjson.Quoted(call.Name)))
}

// Calls returns those of the calls of a recording that a client made of a tool, a prompt or a
// resource.
func Calls(calls []*conversation.Call) []*conversation.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c *conversation.Call) bool {
		return c.Number == 0 || !slices.Contains([]string{mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource}, c.Method)
	})
}
