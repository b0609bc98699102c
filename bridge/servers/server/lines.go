package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// pipe is the stream of a session over lines.
type pipe struct {
	append func(wire.Frame) wire.Frame
	out    io.Writer
	turn   chan struct{} // held while a line is appended and written
	err    atomic.Pointer[error]
}

func (p *pipe) Send(f wire.Frame, _ bool) int64 {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	f = p.append(f)
	if _, err := p.out.Write(append(bytes.Clone(f.Raw), '\n')); err != nil {
		p.err.CompareAndSwap(nil, &err)
	}
	return f.Seq
}

// ServeLines serves one client over newline-delimited JSON, until in ends, the session does, or ctx is done. It returns
// before a blocked read of in does.
func (s *Server) ServeLines(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &pipe{append: s.options.Append, out: out, turn: make(chan struct{}, 1)}
	read, ended, over := make(chan []byte), make(chan error, 1), make(chan struct{})
	defer close(over)
	go func() { // ends with in, or at the latest with the process
		ended <- lines.Read(in, messageMost, func(line lines.Clipped) { // a longer one is cut, so that it is not a message
			if line.Size > 0 {
				select {
				case read <- line.Head:
				case <-over:
				}
			}
		})
	}()
	var one *Session
	var done <-chan struct{}
	defer func() {
		if one != nil {
			one.Close()
		}
	}()
	for {
		select {
		case line := <-read:
			if one == nil {
				if one = s.session("stdio", "", line); one == nil {
					return errors.New("the " + s.options.Name + " has too many sessions")
				}
				var out Stream = p
				one.main.Store(&out)
				done = one.done
			}
			if f := s.options.Append(one.Frame(wire.ClientToServer, line)); f.Kind == wire.Request {
				one.serve(f, p)
			} else {
				one.receive(f)
			}
		case err := <-ended:
			if failed := p.err.Load(); failed != nil {
				err = errors.Join(err, fmt.Errorf("writing to the client: %w", *failed))
			}
			return err
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
