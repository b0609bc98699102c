package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"elicitation-inspector/bridge/wire"
)

// reach watches over whether the server behind a URL can still be reached. HTTP
// does not tell: between requests there may be no connection at all. So it looks
// only where something has failed, and says nothing of servers that are silent.
type reach struct {
	mu      sync.Mutex
	once    bool // the server has answered something
	looking bool
	fails   int   // standalone streams in a row that could not be opened again
	why     error // why it is lost
	over    sync.Once
	lost    chan struct{} // closed when it is lost, or was ended
	looks   sync.WaitGroup
}

// How often in a row, and with which pauses, connecting must fail before a server
// counts as lost, since one that restarts is not; and how often it must not fail
// before it counts as alive, since one that ends may close its streams before it
// stops to listen.
const (
	lostAfter  = 3
	aliveAfter = 2
	firstLook  = 100 * time.Millisecond
	laterLook  = 700 * time.Millisecond
	lookTime   = 2 * time.Second // for one attempt
)

// reached notes an answer of any kind.
func (w *web) reached() {
	w.reach.mu.Lock()
	defer w.reach.mu.Unlock()
	w.reach.once = true
}

// suspect looks whether the server can still be reached, after something failed.
func (w *web) suspect() {
	r := &w.reach
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.once || r.looking || r.why != nil || w.closing.Load() || w.life.Err() != nil {
		return
	}
	r.looking = true
	r.looks.Go(func() {
		err := w.look()
		r.mu.Lock()
		r.looking = false
		r.mu.Unlock()
		if err != nil {
			w.lose(fmt.Errorf("the server cannot be reached any more: %s", inWords(err)))
		}
	})
}

// look tries to connect a few times, and returns why that failed, nil if it did not.
func (w *web) look() error {
	address := hostPort(w.origin)
	if proxy, err := w.base.Proxy(&http.Request{URL: w.origin}); err == nil && proxy != nil {
		address = hostPort(proxy)
	}
	pause := firstLook
	for failed, well := 0, 0; ; pause = laterLook {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.life.Done():
			timer.Stop()
			return nil
		}
		ctx, cancel := context.WithTimeout(w.life, lookTime)
		conn, err := w.base.DialContext(ctx, "tcp", address)
		cancel()
		switch {
		case w.life.Err() != nil:
		case err == nil:
			failed, well = 0, well+1
		default:
			failed, well = failed+1, 0
		}
		if err == nil {
			_ = conn.Close() // nothing was said on it
		}
		switch {
		case w.life.Err() != nil, well == aliveAfter:
			return nil
		case failed == lostAfter:
			return err
		}
	}
}

// inWords says why a request has no answer.
func inWords(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection without an answer"
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("there is no host %q", dns.Name)
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens on %s (connection refused)", op.Addr)
	case errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Timeout():
		return fmt.Sprintf("%s does not answer", op.Addr)
	default:
		return err.Error()
	}
}

// streamFailed notes that the standalone stream could not be opened again. Once
// is bad luck.
func (w *web) streamFailed(why string) {
	w.reach.mu.Lock()
	w.reach.fails++
	n := w.reach.fails
	w.reach.mu.Unlock()
	if n > 1 {
		w.lose(errors.New("the event stream broke off and could not be opened again: " + why))
	}
}

// streamOpen forgets failures.
func (w *web) streamOpen() {
	w.reach.mu.Lock()
	defer w.reach.mu.Unlock()
	w.reach.fails = 0
}

// lose gives the server up, once.
func (w *web) lose(why error) {
	r := &w.reach
	r.mu.Lock()
	known := r.why != nil || w.closing.Load() || w.life.Err() != nil
	if !known {
		r.why = why
	}
	r.mu.Unlock()
	if known {
		return
	}
	w.tap.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteServerLost, Why: why.Error()}})
	r.over.Do(func() { close(r.lost) })
}

func (w *web) done() <-chan struct{} { return w.reach.lost }

func (w *web) exit() (Exit, bool) {
	w.reach.mu.Lock()
	defer w.reach.mu.Unlock()
	return Exit{Code: -1, Err: w.reach.why}, w.reach.why != nil
}
