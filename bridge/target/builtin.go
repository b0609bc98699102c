package target

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// builtin is a server that runs in this process. It speaks over a pair of pipes
// as over stdio, so that there are bytes to be seen.
type builtin struct {
	*lineConn
	session *mcp.ServerSession
	output  *io.PipeReader
	opts    Options

	drained chan struct{} // closed when the server's output has ended
	gone    chan struct{} // closed when its session is over and all was observed
	result  Exit          // set before gone is closed
}

func openBuiltin(s Spec, t *tap, opts Options) (way, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &builtin{
		lineConn: newLineConn(t, inW), output: outR, opts: opts,
		drained: make(chan struct{}), gone: make(chan struct{}),
	}
	// The session ends with its pipes. Its context stays open until then, so that
	// the last answers can be written.
	session, err := s.Builtin().Connect(context.Background(), &mcp.IOTransport{Reader: inR, Writer: outW, MaxLineLength: -1}, nil)
	if err != nil {
		return nil, fmt.Errorf("starting the built-in server: %w", err)
	}
	b.session = session
	go b.writeAll()
	go func() {
		defer close(b.drained)
		if err := b.readAll(outR); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
			t.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "from the built-in server", Why: err.Error()}})
		}
	}()
	go func() {
		err := session.Wait()
		<-b.drained
		_ = b.lineConn.Close() // a pipe: nothing can fail
		<-b.stopped
		if err != nil {
			b.result = Exit{Code: -1, Err: fmt.Errorf("the built-in server's session ended: %w", err)}
		}
		close(b.gone)
	}()
	return b, nil
}

func (b *builtin) how() string           { return viaBuiltin }
func (b *builtin) done() <-chan struct{} { return b.gone }

func (b *builtin) exit() (Exit, bool) {
	select {
	case <-b.gone:
		return b.result, true
	default:
		return Exit{}, false
	}
}

// end closes the server's input, and its output if it does not end by itself.
func (b *builtin) end(hurry <-chan struct{}) error {
	_ = b.lineConn.Close() // a pipe: nothing can fail
	if await(b.gone, b.opts.Grace, hurry) {
		return nil
	}
	_ = b.output.Close() // a pipe: nothing can fail
	if await(b.gone, lastWords, nil) {
		return nil
	}
	return errors.New("the built-in server still handles a request")
}
