package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// outgoing is a request to the server. The contexts in which the SDK sends the request and its
// cancellation carry it.
type outgoing struct {
	Request
	id      string                // exact id; "" before the request is sent
	members []Member              // its params, in place of those that the SDK makes; nil leaves those
	listens bool                  // it is a subscription to tasks
	ctx     context.Context       // ends when the request is cancelled; nil for a request that the SDK makes by itself
	reply   atomic.Pointer[Reply] // the response; nil until it arrives
	over    bool                  // nobody waits for the response any more
	told    atomic.Bool           // the request was cancelled at the server
	sdkID   json.RawMessage       // the SDK's id of the request, if it was sent with another id; else nil
}

// isOpen reports whether a request has no response, and was not cancelled at the server.
func (out *outgoing) isOpen() bool { return !out.told.Load() && out.reply.Load() == nil }

type outgoingKey struct{}

// with returns a context that carries the request.
func (out *outgoing) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, outgoingKey{}, out)
}

// outgoingOf returns the request that a context carries, an empty one if it carries none.
func outgoingOf(ctx context.Context) *outgoing {
	if out, is := ctx.Value(outgoingKey{}).(*outgoing); is {
		return out
	}
	return &outgoing{}
}

// requests are our requests that wait for a response.
type requests struct {
	table[outgoing]             // by exact id
	calls           []int       // the latest calls that sent requests
	givenUp         []*outgoing // the latest requests that were given up: the SDK cancels them at the server beside
}

// begin notes the id of a request that is about to be sent. It returns false if nobody waits for
// the response any more, such as after the end of the call.
func (q *requests) begin(out *outgoing, m wire.Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if out.over {
		return false
	}
	out.id, out.Method = string(m.ID), m.Method
	if out.Call != 0 && out.TaskID == "" && !slices.Contains(q.calls, out.Call) {
		q.calls = remember(q.calls, out.Call)
	}
	return true
}

// await begins the wait for the response to a request. It is called when the log has the request,
// so that earlier messages of the server do not become a part of its call.
func (q *requests) await(out *outgoing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !out.over && !out.told.Load() {
		q.byID[out.id] = out
	}
}

// end ends the wait for a response, and returns the response; nil if there is none.
func (q *requests) end(out *outgoing) *Reply {
	q.mu.Lock()
	defer q.mu.Unlock()
	out.over = true
	q.stop(out)
	if out.id != "" && out.Method != mcp.MethodDiscover && out.ctx != nil && out.ctx.Err() != nil && out.isOpen() {
		q.givenUp = remember(q.givenUp, out)
	}
	return out.reply.Load()
}

// unsaid returns the requests that have neither a response nor a cancellation at the server: those that wait, and
// those that were given up.
func (q *requests) unsaid() []*outgoing {
	running := q.running(0)
	q.mu.Lock()
	defer q.mu.Unlock()
	return append(running, q.givenUp...)
}

// cancel ends the wait for a request that is about to be cancelled at the server. It returns
// false for one that was not sent, and for server/discover, since a server that did not answer
// it should only receive initialize.
func (q *requests) cancel(out *outgoing) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if out.id == "" || out.Method == mcp.MethodDiscover {
		return false
	}
	out.told.Store(true)
	q.stop(out)
	return true
}

// stop removes a request from those that wait. The caller holds the mutex.
func (q *requests) stop(out *outgoing) {
	if q.byID[out.id] == out {
		delete(q.byID, out.id)
	}
}

// running returns the requests of a call that wait, or for 0 those of all calls, in the order
// of the calls.
func (q *requests) running(call int) []*outgoing {
	q.mu.Lock()
	defer q.mu.Unlock()
	var running []*outgoing
	for _, out := range q.byID {
		if out.Call != 0 && (call == 0 || out.Call == call) {
			running = append(running, out)
		}
	}
	slices.SortFunc(running, func(a, b *outgoing) int { return cmp.Compare(a.Call, b.Call) })
	return running
}

// tokenStart is the prefix of the progress tokens of calls.
const tokenStart = "call-"

// ofToken returns the call and round in the progress token of a notification, which may come
// after the end of the call; 0, 0 if this session has sent no such token.
func (q *requests) ofToken(params json.RawMessage) (call, round int) {
	token := rawjson.Text(rawjson.Member(params, "progressToken"))
	if n, err := fmt.Sscanf(token, tokenStart+"%d-%d", &call, &round); n != 2 || err != nil {
		return 0, 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.Contains(q.calls, call) {
		return 0, 0
	}
	return call, round
}
