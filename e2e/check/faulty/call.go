package faulty

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// call is a tools/call request that the server is handling.
//
// A tool's code is written as if it could wait for answers. Since 2026-07-28 a server does
// not wait: each round runs the tool from the start, and the first question without an
// answer ends the round.
type call struct {
	*server
	tool         *tool
	id           json.RawMessage
	revision     string
	capabilities json.RawMessage // declared by the client
	ctx          context.Context
	end          context.CancelFunc
	asks         func() // lets the reader of the input continue; called when the first question is pending, or the call is over

	argument string            // value of the tool's argument
	echoed   string            // requestState of the round
	given    json.RawMessage   // content of the last answer
	asked    int               // number of questions so far, in this round
	answers  []json.RawMessage // answers to the first questions, since 2026-07-28
}

// reply is the response to a call. A tool returns it as an error to end the call early.
type reply struct {
	member string // the member of the response, "result" or "error" with its value; "" for no response
}

func (r *reply) Error() string { return "the call ends with " + r.member }

// silence is the reply that sends no response.
var silence = &reply{}

// result returns a result with these members.
func (c *call) result(kind, members string) *reply {
	if c.revision >= mcp.Revision20260728 {
		members = fmt.Sprintf(`"resultType":%q,%s`, kind, members)
	}
	return &reply{`"result":{` + members + `}`}
}

func (c *call) said(text string) *reply {
	return c.result("complete", fmt.Sprintf(`"content":[{"type":"text","text":%s}]`, encode(text)))
}

func (c *call) failed(text string) *reply {
	return c.result("complete", fmt.Sprintf(`"content":[{"type":"text","text":%s}],"isError":true`, encode(text)))
}

func rpcError(code int, why string, data json.RawMessage) *reply {
	if data != nil {
		data = slices.Concat([]byte(`,"data":`), data)
	}
	return &reply{fmt.Sprintf(`"error":{"code":%d,"message":%s%s}`, code, encode(why), data)}
}

// call handles a tools/call request in a goroutine.
func (s *server) call(m message, revision string) {
	c := &call{server: s, id: m.ID, revision: revision, capabilities: meta(m, "clientCapabilities")}
	c.ctx, c.end = context.WithCancel(s.ctx)
	name := rawjson.Text(rawjson.Member(m.Params, "name"))
	if name == "ledger" {
		tool := rawjson.Text(rawjson.Member(m.Params, "arguments", "tool"))
		s.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, c.said(fmt.Sprintf("%s: %d", tool, len(s.entries(tool)))).member)
		return
	}
	if c.tool = find(name, revision); c.tool == nil {
		s.refuse(m.ID, mcp.CodeInvalidParams, "Unknown tool: "+name)
		return
	}
	c.argument = rawjson.Text(rawjson.Member(m.Params, "arguments", c.tool.argument))
	s.mu.Lock()
	if c.capabilities == nil {
		c.capabilities = s.capabilities
	}
	s.calls[string(m.ID)] = c
	s.mu.Unlock()
	asks := make(chan struct{})
	c.asks = sync.OnceFunc(func() { close(asks) })
	oneAtATime := c.tool.deaf || c.tool.alone
	s.work.Go(func() {
		defer c.leave()
		if c.tool.task != noTask {
			if rawjson.Member(m.Params, "task") == nil {
				s.refuse(m.ID, mcp.CodeMethodNotFound, name+" can be called as a task only")
				return
			}
			c.inTask()
			return
		}
		r := c.resume(m.Params)
		if r == nil {
			r = c.run()
		}
		if r.member != "" && c.ctx.Err() == nil {
			s.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, r.member)
		}
	})
	if oneAtATime { // the next call must find the question pending
		<-asks
	}
}

func (c *call) leave() {
	c.end()
	c.asks()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[string(c.id)] == c {
		delete(c.calls, string(c.id))
	}
}

// ask sends a question to the client and returns its answer.
func (c *call) ask(q question) (answer, error) {
	c.asked++
	params := q.params(c.revision)
	if related := c.related(); related != "" {
		params = append(params[:len(params)-1], related+"}"...)
	}
	if c.revision >= mcp.Revision20260728 {
		return c.askInRound(params)
	}
	id, p := c.expect(c)
	c.send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, mcp.MethodElicit, params)
	var late <-chan time.Time
	if c.tool.patience > 0 {
		late = time.After(c.tool.patience)
	}
	select {
	case a := <-p.answer:
		return a, nil
	case <-late:
		c.takeBack(id)
		if c.tool.mute {
			return answer{}, c.hang()
		}
		if c.tool.hasty {
			return answer{action: "accept", content: []byte(`{"count":3}`)}, nil
		}
		return answer{}, c.failed("Nobody answered in time.")
	case <-c.ctx.Done():
		if c.server.ctx.Err() == nil {
			c.takeBack(id)
		}
		return answer{}, silence
	}
}

// takeBack withdraws a question and sends the client a cancellation of it.
func (c *call) takeBack(id string) {
	c.withdraw(id)
	c.send(`{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s}}`, mcp.NotificationCancelled, id)
}

// declared reports whether the client has declared the elicitation mode.
func (c *call) declared(mode string) bool {
	elicitation := rawjson.Member(c.capabilities, "elicitation")
	form, url := rawjson.Member(elicitation, "form"), rawjson.Member(elicitation, "url")
	switch {
	case elicitation == nil:
		return false
	case mode == "url":
		return url != nil && c.revision >= mcp.Revision20251125
	default:
		return form != nil || url == nil
	}
}

// answer is the client's answer to a question.
type answer struct {
	action  string          // "" if the result has none
	content json.RawMessage // nil if the result has none
	failure string          // text about a JSON-RPC error; "" for a result
	odd     bool            // the result is not an object
}

func answerOf(result, rpcError json.RawMessage) answer {
	if rpcError != nil {
		return answer{failure: "the client reports: " + rawjson.Text(rawjson.Member(rpcError, "message"))}
	}
	return answer{action: rawjson.Text(rawjson.Member(result, "action")), content: rawjson.Member(result, "content"), odd: rawjson.KindOf(result) != rawjson.Object}
}
