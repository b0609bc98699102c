package tap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/wire"
)

// hello is the first line that a tap writes to an inspector, as JSON. Lines of a transcript
// follow it, one for each frame, from the one after welcome.Have on.
type hello struct {
	Tap  int    `json:"tap"` // version of the exchange: 1
	ID   string `json:"id"`  // of the tap, random
	Name string `json:"server_label"`
	PID  int    `json:"pid"`
}

// welcome is the one line that an inspector writes to a tap.
type welcome struct {
	Have int64 `json:"have"` // frames of this tap that the inspector has
}

const exchange = 1 // the version

// Times of the connection between a tap and an inspector.
const (
	retryTime = 250 * time.Millisecond // between two attempts to find an inspector
	greetTime = 5 * time.Second        // for hello and welcome
	sendTime  = 10 * time.Second       // for an inspector to take what is sent
)

// Send sends the frames to the inspector that waits at a socket, those of before too,
// whenever there is one. It returns once all was sent after Settle, or when no inspector
// can be reached then, or when ctx ends.
func (o *Observer) Send(ctx context.Context, path string) {
	for ctx.Err() == nil {
		err := o.sendTo(ctx, path)
		if err == nil {
			return
		}
		select {
		case <-o.ended:
			return
		default:
		}
		o.config.Logger.Debug("no inspector takes what is seen", "error", err)
		select {
		case <-ctx.Done():
		case <-o.ended:
		case <-time.After(retryTime):
		}
	}
}

// sendTo sends to one inspector. It returns nil when all was sent after Settle.
func (o *Observer) sendTo(ctx context.Context, path string) (err error) {
	conn, err := net.DialTimeout("unix", path, greetTime)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // what counts was written
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	if err := json.NewEncoder(conn).Encode(hello{exchange, o.id, o.config.Name, os.Getpid()}); err != nil {
		return fmt.Errorf("greeting the inspector: %w", err)
	}
	in := bufio.NewReader(conn)
	var said welcome
	line, err := in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		return fmt.Errorf("reading the inspector's welcome: %w", err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = in.ReadByte() // there is nothing to come but the end
	}()
	for next := said.Have + 1; ; {
		grown, settled := o.log.Grown(), false
		select {
		case <-o.ended:
			settled = true
		default:
		}
		last := o.log.Len()
		if next <= last {
			seqs := func(yield func(int64) bool) {
				for seq := next; seq <= last && yield(seq); seq++ {
				}
			}
			if err := wire.WriteFrames(patient{conn, &o.sent}, o.log, seqs, o.config.Redaction); err != nil {
				return fmt.Errorf("sending to the inspector: %w", err)
			}
			next = last + 1
			continue
		}
		if settled {
			return nil
		}
		select {
		case <-grown:
		case <-o.ended:
		case <-gone:
			return errors.New("the inspector has ended")
		}
	}
}

// patient writes with a deadline of its own for each Write.
type patient struct {
	net.Conn
	sent *atomic.Int64
}

func (p patient) Write(data []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return 0, err
	}
	p.sent.Add(1)
	return p.Conn.Write(data)
}
