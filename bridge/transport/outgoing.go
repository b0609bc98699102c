package transport

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
)

// Outgoing is a message to send, and how to send it.
type Outgoing struct {
	// Frame holds the bytes, and further fields for the observer.
	Frame wire.Frame
	// Pieces are the bytes again, split up to be written one piece after the other,
	// with Pause in between; nil if they are written at once.
	Pieces [][]byte
	Pause  time.Duration
	// Unasked means that the SDK waits for no response: an HTTP response is observed
	// and then discarded.
	Unasked bool
}

// frame returns the frame with the capacity of Raw clipped, so that an append to Raw
// elsewhere copies it.
func (o Outgoing) frame() wire.Frame {
	o.Frame.Raw = o.Frame.Raw[:len(o.Frame.Raw):len(o.Frame.Raw)]
	return o.Frame
}

// slowly writes the pieces one after the other, and does not pause while it is late, so
// that a busy machine hardly takes longer. It stops when stop is closed.
func (o Outgoing) slowly(w io.Writer, stop <-chan struct{}) error {
	began := time.Now()
	for i, piece := range o.Pieces {
		due := began.Add(time.Duration(i) * o.Pause)
		if i > 0 && !pause(time.Until(due), stop) {
			return errLinkClosed
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for d. It returns false if stop is closed before.
func pause(d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}

// slowBody is the body of a request that is written in pieces.
type slowBody struct {
	io.Reader
	stop func()
}

// Close implements [io.Closer].
func (b slowBody) Close() error {
	b.stop()
	return nil
}

// body returns a new request body with the pieces. It can be called again for a
// redirect.
func (o Outgoing) body() io.ReadCloser {
	r, w := io.Pipe()
	stop := make(chan struct{})
	go func() { w.CloseWithError(o.slowly(w, stop)) }()
	return slowBody{r, sync.OnceFunc(func() {
		close(stop)
		_ = r.Close() // closing a pipe cannot fail
	})}
}

// Send sends the bytes that Options.Outgoing returns for a response with token as its
// id. They pass the observer like every outgoing message.
func (l *Link) Send(ctx context.Context, token string) error {
	id, err := json.Marshal(token)
	if err != nil {
		return err
	}
	return l.Respond(ctx, id, json.RawMessage("{}"), (*jsonrpc.Error)(nil))
}
