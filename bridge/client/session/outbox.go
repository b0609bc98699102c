package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// incoming is a request from the server.
type incoming struct {
	id          json.RawMessage // exact
	question    int             // number of the question; 0 if the request does not ask the person
	call, round int
	cancelled   atomic.Pointer[string] // why the server cancelled the question; nil if it did not
	deliberate  atomic.Bool            // a fault answers the question, so that it no longer waits for the person
	response    *Response              // nil until there is one
	related     json.RawMessage        // id of our request whose stream carried it; nil for none
	isOfTask    bool                   // the request is about tasks of the client's
	of          *callTask              // the task of the call that the question belongs to; nil for none
	about       *questionTask          // the task that the request is about, or becomes; nil for none
}

// Response is the response to a request from the server.
type Response struct {
	ID     json.RawMessage // exact id of the request
	Result json.RawMessage
	Error  *conversation.RPCError // nil for a result
	Actor  string                 // who made the answer
	Fault  string                 // the fault that made it; "" for none
	// Beside is a note for the log about the response; nil for none.
	Beside *wire.Note
	// Done is called when the response is written, or cannot be; nil for nothing to call. It
	// is told whether the response was sent.
	Done func(sent bool)
	// Task is the id of the task that the question is; "" if it is none. The response is
	// kept until the server fetches it.
	Task string

	sent bool // the tap has seen the response, and has let it pass or dropped it
}

// json returns the response as it is sent.
func (r *Response) json() json.RawMessage {
	outcome := Member{"result", r.Result}
	if r.Error != nil {
		outcome = Member{"error", object([]Member{
			{"code", fmt.Append(nil, r.Error.Code)}, {"message", rawjson.Quoted(r.Error.Message)}, {"data", r.Error.Data},
		})}
	}
	outcome.Value = rawjson.AppendCompact(nil, outcome.Value) // a line feed would end the message over stdio
	return object([]Member{{"jsonrpc", json.RawMessage(`"2.0"`)}, {"id", r.ID}, outcome})
}

// outbox holds the server's requests until they are answered, and the responses until they
// are sent.
type outbox struct {
	ready chan struct{} // signals that there are responses; capacity 1

	table[incoming]             // requests without a response, by wire.IDKey
	late            []*incoming // the latest questions that were answered
	responses       []*Response
}

// await begins the wait for the response to a request. It returns false if an earlier request
// with the same id waits: a response would count as the answer to that one.
func (o *outbox) await(in *incoming) bool {
	id := wire.IDKey(in.id)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID[id] != nil {
		return false
	}
	o.byID[id] = in
	return true
}

// answered returns the latest question with this id whose answer was sent; nil if there is
// none.
func (o *outbox) answered(id string) *incoming {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, in := range slices.Backward(o.late) {
		if wire.IDKey(in.id) == id {
			return in
		}
	}
	return nil
}

// beginSending returns the request whose response is about to be sent, and no longer waits for that
// response; nil if there is none.
func (o *outbox) beginSending(id string) *incoming {
	o.mu.Lock()
	defer o.mu.Unlock()
	in := o.byID[id]
	delete(o.byID, id)
	if in != nil && in.question != 0 {
		o.late = remember(o.late, in)
	}
	if in != nil && in.response != nil {
		in.response.sent = true
	}
	return in
}

// isUnsent reports whether the answer to a question still waits to be sent.
func (o *outbox) isUnsent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, in := range o.byID {
		if in.question != 0 && in.response != nil {
			return true
		}
	}
	return false
}

// put queues a response to be sent.
func (o *outbox) put(r *Response) {
	o.mu.Lock()
	if in := o.byID[wire.IDKey(r.ID)]; in != nil {
		in.response = r
	}
	o.responses = append(o.responses, r)
	o.mu.Unlock()
	signal(o.ready)
}

// responsesMost bounds how many responses of one connection are sent at the same time.
// A server may be slow to accept each of them.
const responsesMost = 64

// run sends the responses until ctx ends or failed is closed, then those that are left, and
// returns when each is sent.
func (o *outbox) run(ctx context.Context, failed <-chan struct{}, send func(*Response)) {
	var sending errgroup.Group
	sending.SetLimit(responsesMost)
	for ended := false; ; {
		o.mu.Lock()
		list := o.responses
		o.responses = nil
		o.mu.Unlock()
		for _, r := range list {
			sending.Go(func() error {
				send(r)
				o.mu.Lock()
				sent := r.sent
				o.mu.Unlock()
				if r.Done != nil {
					r.Done(sent)
				}
				return nil
			})
		}
		if ended {
			_ = sending.Wait() // there are no errors
			return
		}
		select {
		case <-o.ready:
		case <-failed:
			ended = true
		case <-ctx.Done():
			ended = true
		}
	}
}
