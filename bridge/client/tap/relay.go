package tap

import (
	"io"
	"sync"
	"time"

	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/wire"
)

// Relay passes bytes between a client and the process of a server until the server has
// exited and the client has all of its output. Each side sees the end of the other as it
// would without a tap: the server the end of its input, either side that a pipe has broken,
// and the client the end of either output. It closes all of the streams, except in, where a
// read can wait for a client that says nothing more.
func Relay(c *transport.Child, in io.ReadCloser, out, errOut io.WriteCloser, o *Observer) {
	session := wire.Frame{Session: o.config.Name + "-" + o.id, Transport: "stdio"}
	note := session
	note.Note = &c.Started
	o.note(note)
	go o.pass(o.newPipe(session, wire.ClientToServer, "the client's messages"), in, c.Stdin)
	var passing sync.WaitGroup
	passing.Go(func() { o.pass(o.newPipe(session, wire.ServerToClient, "the server's messages"), c.Stdout, out) })
	passing.Go(func() { o.pass(o.newPipe(session, wire.Stderr, "standard error"), c.Stderr, errOut) })
	<-c.Exited
	c.LastWords()
	// Only other processes can still write. The client waits for this one to end.
	drained := time.AfterFunc(drainTime, func() {
		_ = c.Stdout.Close()
		_ = c.Stderr.Close()
	})
	passing.Wait()
	drained.Stop()
	exit := c.ExitNote()
	note.Note, note.Failed = &exit, exit.Signal != "" || exit.Code != nil && *exit.Code != 0
	o.note(note)
}

// pass copies a stream, and hands over each piece before it writes it, so that an answer
// cannot come before the question that it answers. When either end closes, it closes the
// other.
//
// A piece is read once, into memory that the observer looks at later: the memory is used
// from its beginning again whenever nothing waits, and a large one costs nothing until then.
func (o *Observer) pass(of *pipe, from io.ReadCloser, to io.WriteCloser) {
	widen(from)
	widen(to)
	memory := reserve()
	rest := memory
	for {
		switch {
		case o.waiting.Load() == 0:
			rest = memory
		case len(rest) < pipeSize:
			memory = reserve()
			rest = memory
		}
		n, err := from.Read(rest[:pipeSize])
		if n > 0 {
			kept := o.saw(of, rest[:n:n])
			_, broken := to.Write(rest[:n])
			o.stir()
			if broken != nil {
				break
			}
			if kept {
				rest = rest[n:]
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	o.over(of)
	o.stir()
}

const (
	pipeSize   = 1 << 20  // bytes of a pipe, and of a read: what a user may ask for on an ordinary Linux
	memorySize = 16 << 20 // bytes that pieces of one stream are in
)

const drainTime = 2 * time.Second

// Flush is how long the end of a tap may take beyond that of its server while nothing moves.
const Flush = time.Second
