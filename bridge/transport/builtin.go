package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// builtin is a server that runs in this process. It speaks over a pair of pipes as over
// stdio, so that the tap sees bytes.
type builtin struct {
	*lineConn
	ending
	output *io.PipeReader
	grace  time.Duration
	asked  atomic.Bool // to end, by this side
}

func openBuiltin(s Spec, t *tap, opts Options) (way, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &builtin{lineConn: newLineConn(t, inW), ending: ending{gone: make(chan struct{})}, output: outR, grace: opts.Grace}
	// The session ends when its pipes are closed. Its context stays open until then, so
	// that the last answers can be written.
	session, err := s.Builtin().Connect(context.Background(), &mcp.IOTransport{Reader: inR, Writer: outW, MaxLineLength: -1}, nil)
	if err != nil {
		return nil, fmt.Errorf("starting the built-in server: %w", err)
	}
	go b.writeAll()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		if err := b.readAll(outR); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
			t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "from the built-in server", Why: err.Error()}})
		}
	}()
	go func() {
		_ = session.Wait() // whether it returns an error for a session that the server ends is a race in the SDK
		<-drained
		asked := b.asked.Load()
		_ = b.lineConn.Close() // a pipe: nothing can fail
		<-b.stopped
		b.exit = &Exit{}
		if !asked {
			why := errors.New("the built-in server has ended its session")
			b.exit = &Exit{Code: -1, Err: why}
			t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteServerLost, Why: why.Error()}})
		}
		close(b.gone)
	}()
	return b, nil
}

func (b *builtin) abandon() {
	b.asked.Store(true)
	b.lineConn.abandon()
}

// end closes the server's input, and then its output if the server does not end within
// the grace.
func (b *builtin) end(patience context.Context) error {
	b.asked.Store(true)
	_ = b.lineConn.Close() // a pipe: nothing can fail
	if await(patience, b.gone, b.grace) {
		return nil
	}
	_ = b.output.Close() // a pipe: nothing can fail
	if await(context.Background(), b.gone, lastWords) {
		return nil
	}
	return errors.New("the built-in server still handles a request")
}
