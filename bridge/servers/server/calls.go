package server

import (
	"context"
	"encoding/json"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Calls serves the requests of one session, each in a goroutine of its own.
type Calls struct {
	Life context.Context // ends with the session
	end  context.CancelFunc
	work *sync.WaitGroup

	mu   sync.Mutex
	list map[string]context.CancelFunc // by the keys of the requests' ids
}

// NewCalls returns the calls of a session that ends with life at the latest. work counts their goroutines.
func NewCalls(life context.Context, work *sync.WaitGroup) *Calls {
	c := &Calls{work: work, list: map[string]context.CancelFunc{}}
	c.Life, c.end = context.WithCancel(life)
	return c
}

// Close ends the calls.
func (c *Calls) Close() { c.end() }

// Receive takes the cancellation of a call.
func (c *Calls) Receive(f wire.Frame, _ *Pending) {
	c.mu.Lock()
	cancel := c.list[wire.IDKey(rawjson.Member(f.Message.Params, "requestId"))]
	c.mu.Unlock()
	if f.Message.Method == mcp.NotificationCancelled && cancel != nil {
		cancel()
	}
}

// Go starts to serve the request of this id. The function that it returns cancels the request.
func (c *Calls) Go(id json.RawMessage, serve func(ctx context.Context)) (left func()) {
	ctx, cancel := context.WithCancel(c.Life)
	key := wire.IDKey(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil { // Close may not wait for it
		return cancel
	}
	c.list[key] = cancel
	c.work.Go(func() {
		serve(ctx)
		cancel()
		c.mu.Lock()
		delete(c.list, key)
		c.mu.Unlock()
	})
	return cancel
}
