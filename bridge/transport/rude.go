package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"elicitation-inspector/bridge/wire"
)

// The functions in this file end connections as a rude or a crashed client does.

// Abandon closes our end without an orderly end: the input of a process, or every HTTP
// connection without deleting the session. The server is not ended. A server behind a
// URL counts as lost afterwards.
func (l *Link) Abandon() { l.way.abandon() }

func (c *lineConn) abandon() { _ = c.w.Close() } // an error means that the pipe is broken, which is as good as closed

func (r *remote) abandon() {
	r.lose(errors.New("all connections were closed on purpose"))
	r.mu.Lock()
	r.cut(errLinkClosed)
	r.mu.Unlock()
	r.base.CloseIdleConnections()
}

// Kill kills the server's process group. It returns false if there is no running
// process.
func (l *Link) Kill() bool {
	p, ok := l.way.(*process)
	if !ok || !p.running() {
		return false
	}
	p.group.kill()
	return true
}

// DropStream closes the open event stream that answers the request with this id, or the
// standalone stream of the GET if related is nil. It returns false if there is none.
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
	_ = s.resp.Body.Close() // the reader of the stream gets the error
	return true
}

// HasStream reports whether there is an open stream for DropStream to close.
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

// overhear observes the answer to a POST that is no message, or whose sender waits for
// no response. If the SDK does wait, it gets a failure.
func (r *remote) overhear(req *http.Request, u Unit, resp *http.Response, unasked bool) (*http.Response, error) {
	switch mediaType(resp) {
	case "application/json":
		if said, err := keep(resp.Body, r.tap.max); err == nil && said.size > 0 {
			r.tap.receive(answerUnit(u.Message, resp), said)
		}
	case eventStreamMedia:
		resp.Body = r.events(resp, u.Message)
		_, _ = io.Copy(io.Discard, resp.Body) // the end of the stream is noted by its reader
	}
	_ = resp.Body.Close()
	if !unasked {
		return nil, &Failure{Status: resp.StatusCode, Text: "the server answered HTTP " + statusText(resp) + ", and not the request"}
	}
	return standIn(req, http.StatusAccepted, nil, http.NoBody), nil
}

// ofUnit returns Note.Of for a sent unit. It is like ofMessage, but has words for
// deliberately invalid bytes.
func ofUnit(u Unit) string {
	if u.Fault != "" && u.Kind == wire.Noise {
		return "bytes that are no message"
	}
	return ofMessage(u.Message)
}
