package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// lineConn is the SDK's connection over a pair of streams with one JSON-RPC message per
// line (specification 2025-11-25, Transports, stdio). Unlike the SDK's own, it survives
// a line that is not a message: the tap does not pass such a line on.
type lineConn struct {
	tap *tap
	w   io.WriteCloser

	incoming chan jsonrpc.Message // closed when the server's stream has ended
	writes   chan lineWrite
	stopped  chan struct{} // closed when writeAll has returned
	closed   chan struct{}
	close    func() error // once
}

// lineWrite is one message to write. The writer sends the outcome on result.
type lineWrite struct {
	ctx    context.Context
	raw    []byte // with spare capacity for the line feed
	result chan error
}

func newLineConn(t *tap, w io.WriteCloser) *lineConn {
	c := &lineConn{
		tap: t, w: w,
		incoming: make(chan jsonrpc.Message, 16),
		writes:   make(chan lineWrite),
		stopped:  make(chan struct{}),
		closed:   make(chan struct{}),
	}
	c.close = sync.OnceValue(func() error {
		close(c.closed)
		return c.w.Close()
	})
	return c
}

// readAll passes every line of r to the tap until r ends. After the connection is
// closed, lines are still observed, but not delivered.
func (c *lineConn) readAll(r io.Reader) error {
	defer close(c.incoming)
	return lines.Read(r, c.tap.max, func(line lines.Clipped) {
		if _, msg := c.tap.receive(Tapped{}, line); msg != nil {
			select {
			case c.incoming <- msg:
			case <-c.closed:
			}
		}
	})
}

// writeAll writes the messages from Write until the connection is closed. It is the
// only writer, so that a caller that gives up leaves no partial line behind.
func (c *lineConn) writeAll() {
	defer close(c.stopped)
	for {
		select {
		case job := <-c.writes:
			job.result <- c.write(job.ctx, job.raw)
		case <-c.closed:
			return
		}
	}
}

func (c *lineConn) write(ctx context.Context, raw []byte) error {
	out := c.tap.replacement(ctx, raw)
	u, ok, err := c.tap.sending(ctx, Tapped{Frame: out.Frame}, false)
	if !ok {
		return err
	}
	if out.Pieces == nil {
		_, err = c.w.Write(append(out.Frame.Raw, '\n'))
	} else {
		last := len(out.Pieces) - 1
		out.Pieces[last] = append(slices.Clip(out.Pieces[last]), '\n')
		err = out.slowly(c.w, c.closed)
	}
	if err != nil {
		c.tap.observer.Undelivered(u, err)
		return fmt.Errorf("writing to the server: %w", err)
	}
	return nil
}

func (c *lineConn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case msg, ok := <-c.incoming:
		if !ok {
			return nil, io.EOF
		}
		return msg, nil
	}
}

// Write implements [mcp.Connection]. It blocks until ctx ends if the server does not
// read its input.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encoding the message: %w", err)
	}
	job := lineWrite{ctx, raw, make(chan error, 1)}
	select {
	case c.writes <- job:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return errLinkClosed
	}
	select {
	case err := <-job.result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return <-job.result
	}
}

// Close implements [mcp.Connection]. It closes the server's input, which asks the
// server to end. Output of the server is still observed.
func (c *lineConn) Close() error { return c.close() }

func (c *lineConn) SessionID() string { return "" }

// builtin is a server that runs in this process. It speaks over a pair of pipes as over
// stdio, so that the tap sees bytes.
type builtin struct {
	*lineConn
	ending
	output *io.PipeReader
	grace  time.Duration
	asked  atomic.Bool // to end, by this side
}

func openBuiltin(s target.Spec, t *tap, opts Options) (connection, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &builtin{lineConn: newLineConn(t, inW), ending: ending{gone: make(chan struct{})}, output: outR, grace: opts.Grace}
	go b.writeAll()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		if err := b.readAll(outR); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "from the built-in server", Why: err.Error()}})
		}
	}()
	go func() {
		// The session ends when its pipes are closed. Its context stays open until then, so
		// that the last answers can be written.
		err := s.Builtin(context.Background(), inR, outW)
		_, _ = inR.Close(), outW.Close() // pipes: nothing can fail
		<-drained
		asked := b.asked.Load()
		_ = b.lineConn.Close() // a pipe: nothing can fail
		<-b.stopped
		if !asked {
			why := errors.New("the built-in server has ended its session")
			if err != nil {
				why = fmt.Errorf("%w: %w", why, err)
			}
			b.exit = &Exit{Code: -1, Err: why}
			t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteServerLost, Why: why.Error()}})
		}
		close(b.gone)
	}()
	return b, nil
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
