package target

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
)

// Outgoing is what goes out.
type Outgoing struct {
	// Frame has the bytes, and what the observer is to know of them besides.
	Frame wire.Frame
	// Pieces are the bytes once more, where they are written one piece after the
	// other with a pause between; nil where they are written at once.
	Pieces [][]byte
	Pause  time.Duration
	// Unasked: whatever answers it over HTTP is read, and given to nobody.
	Unasked bool
}

// frame has room behind its bytes for nobody.
func (o Outgoing) frame() wire.Frame {
	o.Frame.Raw = o.Frame.Raw[:len(o.Frame.Raw):len(o.Frame.Raw)]
	return o.Frame
}

// slowly writes the pieces. It gives up when stop is closed.
func (o Outgoing) slowly(w io.Writer, stop <-chan struct{}) error {
	for i, piece := range o.Pieces {
		if i > 0 && !pause(o.Pause, stop) {
			return errLinkClosed
		}
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// pause reports false where stop is closed before it is over.
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

// slowBody is the body of a request that is written piece by piece.
type slowBody struct {
	io.Reader
	stop func()
}

// Close implements [io.Closer].
func (b slowBody) Close() error {
	b.stop()
	return nil
}

// body is the body of a request, which may be asked for again.
func (o Outgoing) body() io.ReadCloser {
	r, w := io.Pipe()
	stop := make(chan struct{})
	go func() { w.CloseWithError(o.slowly(w, stop)) }()
	return slowBody{r, sync.OnceFunc(func() {
		close(stop)
		_ = r.Close() // a pipe: nothing can fail
	})}
}

// Send sends what Options.Outgoing puts in place of a response with this id, which is
// a token of the caller's own. It passes the observer like all that goes out.
func (l *Link) Send(ctx context.Context, token string) error {
	id, err := json.Marshal(token)
	if err != nil {
		return err
	}
	return l.Respond(ctx, id, json.RawMessage("{}"), (*jsonrpc.Error)(nil))
}
