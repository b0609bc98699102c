package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"elicitation-inspector/bridge/wire"
)

// HTTP does not tell whether the server behind a URL can still be reached: between
// requests there may be no connection at all. So remote checks only after something has
// failed, and never reports a silent server.

// A server counts as lost after lostAfter failed connections in a row, because a server
// that restarts is not lost. It counts as alive after aliveAfter successful ones,
// because a server that shuts down may close its streams before it stops listening.
const (
	lostAfter  = 3
	aliveAfter = 2
	lookTime   = 2 * time.Second // for one attempt
)

// lookPauses are the times before the first attempt to connect and between later
// attempts; 0 means the default.
type lookPauses struct{ first, later time.Duration }

// suspect checks in the background, after something failed, whether the server can
// still be reached, and calls lose if it cannot.
func (r *remote) suspect() {
	if !r.answered.Load() || r.closing.Load() || !r.looking.CompareAndSwap(false, true) {
		return
	}
	if !r.track() {
		return
	}
	go func() {
		defer r.inFlight.Done()
		err := r.look()
		r.looking.Store(false)
		if err != nil {
			r.lose(fmt.Errorf("the server cannot be reached any more: %s", inWords(err)))
		}
	}()
}

// look tries to connect until the server counts as alive or lost. It returns nil, or
// the error of the last attempt if the server is lost.
func (r *remote) look() error {
	address := hostPort(r.origin)
	if proxy, err := r.base.Proxy(&http.Request{URL: r.origin}); err == nil && proxy != nil {
		address = hostPort(proxy)
	}
	failed, well := 0, 0
	pause := cmp.Or(r.pauses.first, 100*time.Millisecond)
	for ; ; pause = cmp.Or(r.pauses.later, 700*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-r.life.Done():
			return nil
		}
		ctx, cancel := context.WithTimeout(r.life, lookTime)
		conn, err := r.base.DialContext(ctx, "tcp", address)
		cancel()
		if err == nil {
			_ = conn.Close() // no byte was sent on it
			failed, well = 0, well+1
		} else {
			failed, well = failed+1, 0
		}
		switch {
		case r.life.Err() != nil, well == aliveAfter:
			return nil
		case failed == lostAfter:
			return err
		}
	}
}

// streamFailed counts a failure to reopen the standalone stream, and gives the server
// up at the second in a row.
func (r *remote) streamFailed(why string) {
	if r.streams.failed.Add(1) > 1 {
		r.lose(errors.New("the event stream broke off and could not be opened again: " + why))
	}
}

// lose marks the server as lost and notes why, once.
func (r *remote) lose(why error) {
	r.mu.Lock()
	known := r.exit != nil || r.closing.Load()
	if !known {
		r.exit = &Exit{Code: -1, Err: why}
	}
	r.mu.Unlock()
	if !known {
		r.tap.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteServerLost, Why: why.Error()}})
		r.closeGone()
	}
}
