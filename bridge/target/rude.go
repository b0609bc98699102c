package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"elicitation-inspector/bridge/wire"
)

// What stands here ends things as a client may that is rude, or that died.

// Abandon closes our end without a word, and lets the server do what it will: the
// input of a process, or every HTTP connection without ending the session. A server
// behind a URL counts as lost then.
func (l *Link) Abandon() { l.way.abandon() }

func (c *lineConn) abandon() { _ = c.w.Close() } // a pipe that is broken already is just as closed

func (p *process) abandon() { p.conn.abandon() }

func (r *remote) abandon() {
	r.lose(errors.New("all connections were closed on purpose"))
	r.mu.Lock()
	r.cut(errLinkClosed)
	r.mu.Unlock()
	r.base.CloseIdleConnections()
}

// Kill kills the server's process, with what it has started. It reports false where
// there is none.
func (l *Link) Kill() bool {
	p, ok := l.way.(*process)
	if !ok || !p.running() {
		return false
	}
	p.group.kill()
	return true
}

// DropStream closes the open event stream that answers a request, or for nil the one
// that was opened by GET. It reports false where there is none.
func (l *Link) DropStream(related json.RawMessage) bool {
	r, ok := l.way.(*remote)
	if !ok {
		return false
	}
	s := r.openStream(related)
	if s == nil {
		return false
	}
	s.dropped.Store(true)
	_ = s.resp.Body.Close() // what is wrong with it shows where it is read
	return true
}

// HasStream reports whether there is a stream that DropStream would close.
func (l *Link) HasStream(related json.RawMessage) bool {
	r, ok := l.way.(*remote)
	return ok && r.openStream(related) != nil
}

func (r *remote) openStream(related json.RawMessage) *eventStream {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.open {
		if related != nil && bytes.Equal(s.posted.ID, related) || related == nil && s.standalone {
			return s
		}
	}
	return nil
}

// opened remembers a stream until it has ended.
func (r *remote) opened(s *eventStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[*eventStream]bool{}
	}
	r.open[s] = true
}

func (r *remote) forget(s *eventStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, s)
}

// deliberately marks what the inspector notes of a stream that it has dropped.
func (s *eventStream) deliberately(note *wire.Frame, err error) error {
	if !s.dropped.Load() {
		return err
	}
	note.Actor, note.Fault = "fault", "drop-stream"
	return errors.New("it was closed on purpose")
}

// overhear shows the observer what answers a POST that nobody waits for, or that is no
// message. Where the SDK waits all the same, it is told that nothing came.
func (r *remote) overhear(req *http.Request, u Unit, resp *http.Response, unasked bool) (*http.Response, error) {
	switch mediaType(resp) {
	case "application/json":
		if said, err := keep(resp.Body, r.tap.max); err == nil && said.size > 0 {
			r.tap.receive(answerUnit(u.Message, resp), said)
		}
	case eventStreamMedia:
		resp.Body = r.events(resp, u.Message)
		_, _ = io.Copy(io.Discard, resp.Body) // how it ended was noted
	}
	_ = resp.Body.Close()
	if !unasked {
		return nil, &Fault{Status: resp.StatusCode, Text: "the server answered HTTP " + statusText(resp) + ", and not the request"}
	}
	return standIn(req, http.StatusAccepted, nil, http.NoBody), nil
}

// ofUnit is ofMessage, also of what is no message on purpose.
func ofUnit(u Unit) string {
	if u.Fault != "" && u.Kind == wire.Noise {
		return "bytes that are no message"
	}
	return ofMessage(u.Message)
}
