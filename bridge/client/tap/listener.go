package tap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/wire"
)

// Bounds of what taps can send.
const (
	helloMost    = 64 << 10  // bytes of the first line
	lineMost     = 512 << 20 // bytes of another line
	nameMost     = 200       // bytes of a name
	tapsMost     = 1000      // taps that are remembered, and sessions of each
	connectsMost = 200       // taps at a time
)

// Listener takes what taps send, and appends it to a log.
type Listener struct {
	log     *wire.Log
	logger  *slog.Logger
	changed func()
	sock    net.Listener
	serving sync.WaitGroup

	mu     sync.Mutex
	taps   []*joined // in the order in which they joined first
	closed bool
}

// joined is a tap that has sent something.
type joined struct {
	hello
	label string   // of its server, in frames: its name, or that and a number
	conn  net.Conn // nil if it is not connected
	have  int64    // frames that came
	open  map[string]wire.Frame
	turn  chan struct{} // held while its lines are read
}

// Listen waits for taps at a socket. changed is called when one joins or leaves.
func Listen(path string, log *wire.Log, logger *slog.Logger, changed func()) (*Listener, error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	sock, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("waiting for taps at %s: %w", path, err)
	}
	l := &Listener{log: log, logger: logger, changed: changed, sock: sock}
	l.serving.Go(l.accept)
	return l, nil
}

// Connected returns how many taps are connected, and whether one is of the server with this
// name in frames.
func (l *Listener) Connected(label string) (taps int, this bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.taps {
		if t.conn != nil {
			taps++
			this = this || t.label == label || strings.HasPrefix(label, t.label+clientMark)
		}
	}
	return taps, this
}

// Close ends all connections. The taps go on, and look for another inspector.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	var open []net.Conn
	for _, t := range l.taps {
		if t.conn != nil {
			open = append(open, t.conn)
		}
	}
	l.mu.Unlock()
	errs := []error{l.sock.Close()}
	for _, conn := range open {
		errs = append(errs, conn.Close())
	}
	l.serving.Wait()
	for i, err := range errs {
		if errors.Is(err, net.ErrClosed) {
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

func (l *Listener) accept() {
	slots := make(chan struct{}, connectsMost)
	for {
		conn, err := l.sock.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			l.logger.Error("waiting for taps", "error", err)
			time.Sleep(retryTime) // such as too many open files
			continue
		}
		slots <- struct{}{}
		l.serving.Go(func() {
			defer func() { <-slots }()
			err := l.serve(conn)
			if err := errors.Join(err, conn.Close()); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.EOF) {
				l.logger.Warn("a tap is no longer read", "error", err)
			}
		})
	}
}

// serve reads one connection until it ends.
func (l *Listener) serve(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	var h hello
	line, err := readLine(in, nil, helloMost)
	switch {
	case errors.Is(err, io.EOF): // another inspector has looked whether somebody is here
		return io.EOF
	case err != nil:
		return fmt.Errorf("reading the first line of a tap: %w", err)
	}
	if err := json.Unmarshal(line, &h); err != nil || h.Tap != exchange || h.ID == "" || len(h.ID) > nameMost {
		return errors.New("this is not a tap, or one of another version")
	}
	t, before, err := l.join(h, conn)
	if err != nil {
		return err
	}
	if before != nil {
		_ = before.Close() // the tap has given it up
	}
	t.turn <- struct{}{}
	l.changed()
	defer func() {
		l.leave(t, conn)
		<-t.turn
		l.changed()
	}()
	if err := json.NewEncoder(conn).Encode(welcome{t.have}); err != nil {
		return fmt.Errorf("welcoming a tap: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	for {
		if line, err = readLine(in, nil, lineMost); err != nil { // the log keeps the frame that shares the line
			return err
		}
		f, err := wire.ParseLine(line)
		if err != nil {
			return fmt.Errorf("a line of the tap of %s: %w", t.label, err)
		}
		l.add(t, f)
	}
}

// join remembers a tap, and gives its server a name that the server of no other connected
// tap has. So a client that starts its server again goes on under the same name.
// before is the connection that the tap had until now, nil for none.
func (l *Listener) join(h hello, conn net.Conn) (t *joined, before net.Conn, err error) {
	if h.Name = strings.ToValidUTF8(h.Name[:min(len(h.Name), nameMost)], "\uFFFD"); h.Name == "" {
		h.Name = "server"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, net.ErrClosed
	}
	i := slices.IndexFunc(l.taps, func(t *joined) bool { return t.ID == h.ID })
	if i < 0 {
		if len(l.taps) >= tapsMost {
			l.taps = slices.DeleteFunc(l.taps, func(t *joined) bool { return t.conn == nil })
		}
		label := h.Name
		for n := 2; slices.ContainsFunc(l.taps, func(t *joined) bool { return t.conn != nil && t.label == label }); n++ {
			label = fmt.Sprintf("%s %d", h.Name, n)
		}
		l.taps = append(l.taps, &joined{hello: h, label: label, open: map[string]wire.Frame{}, turn: make(chan struct{}, 1)})
		i = len(l.taps) - 1
	}
	t = l.taps[i]
	before, t.conn = t.conn, conn
	return t, before, nil
}

// leave ends the sessions of a tap whose connection has ended, unless it has joined anew.
// The caller has the tap's turn.
func (l *Listener) leave(t *joined, conn net.Conn) {
	l.mu.Lock()
	last := t.conn == conn && !l.closed
	if t.conn == conn {
		t.conn = nil
	}
	l.mu.Unlock()
	if last {
		for _, f := range t.open {
			f.Note = &wire.Note{Kind: wire.NoteServerLost, Why: "the tap has ended"}
			l.log.Append(f)
		}
		clear(t.open)
	}
}

// clientMark stands in the name of a server between the name of the tap's and the number of
// the client.
const clientMark = " client "

// add appends a frame of a tap. The caller has the tap's turn.
func (l *Listener) add(t *joined, f wire.Frame) {
	t.have++
	name, more, several := strings.Cut(f.Server, clientMark)
	if f.Server = t.label; several && name == t.Name {
		f.Server += clientMark + more
	}
	switch ended := f.Note != nil && f.Note.Kind == wire.NoteProcessExited; {
	case ended:
		delete(t.open, f.Session)
	case len(t.open) < tapsMost:
		t.open[f.Session] = wire.Frame{Server: f.Server, Session: f.Session, Transport: f.Transport, Dir: wire.Meta}
	}
	l.log.Append(f)
}

// readLine reads a line into a buffer, without its end.
func readLine(in *bufio.Reader, buf []byte, most int) ([]byte, error) {
	buf = buf[:0]
	for {
		part, err := in.ReadSlice('\n')
		buf = append(buf, part...)
		switch {
		case len(buf) > most:
			return buf, fmt.Errorf("a line is longer than %d bytes", most)
		case err == nil:
			return buf[:len(buf)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return buf, err
		}
	}
}
