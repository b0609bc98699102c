package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

const eventStreamMedia = "text/event-stream"

// isEventStream reports whether a response is what a GET asks for.
func isEventStream(resp *http.Response) bool {
	return resp.StatusCode < 300 && mediaType(resp) == eventStreamMedia
}

// eventStream taps the events of one stream. It belongs to who reads it.
type eventStream struct {
	remote     *remote
	resp       *http.Response
	stream     wire.Stream
	posted     wire.Message // the request that it answers; zero if none
	standalone bool

	begun    bool   // a unit has told the response's headers
	endpoint bool   // the endpoint event of HTTP+SSE has come
	lastID   string // of the events so far
	answered bool   // the posted request has its response
	dropped  atomic.Bool
}

// events is the body of a response with an event stream. posted is the request
// that it answers, zero if none.
func (r *remote) events(resp *http.Response, posted wire.Message) *eventBody {
	s := &eventStream{
		remote: r, resp: resp, stream: wire.StreamGetSSE,
		posted: posted, standalone: posted.ID == nil && !r.legacy(), answered: posted.ID == nil,
	}
	if resp.Request.Method == http.MethodPost {
		s.stream = wire.StreamPostSSE
	}
	r.opened(s)
	inner := resp.Body
	return &eventBody{
		Closer: body{close: func() error {
			r.forget(s)
			return inner.Close()
		}},
		events:  newEventReader(inner, r.tap.max),
		deliver: s.deliver, ended: s.ended,
	}
}

// unit is what all units of the stream have in common. The first has the headers.
func (s *eventStream) unit() Unit {
	u := Unit{Frame: wire.Frame{Stream: s.stream, Status: s.resp.StatusCode}, Related: s.posted.ID}
	if !s.begun {
		u.Header = s.resp.Header
		if s.stream == wire.StreamGetSSE {
			u.HTTPMethod, u.URL = s.resp.Request.Method, address(s.resp.Request)
		}
	}
	s.begun = true
	return u
}

func (s *eventStream) deliver(e event) (data []byte, drop bool) {
	if e.hasID {
		s.lastID = e.id
		if s.standalone {
			s.remote.sawEvent(e.id)
		}
	}
	legacy := s.remote.legacy()
	switch {
	case legacy && e.name == "endpoint":
		s.remote.tap.observer.Noted(noteOf(s.resp, wire.Note{Kind: wire.NoteEndpoint, To: redact.WithoutQuery(string(e.data.head))}))
		s.endpoint = true
		return e.data.head, false
	case e.data.size == 0:
		return nil, legacy // the SDK's reader of HTTP+SSE takes every event for a message
	case e.name != "" && e.name != "message", legacy && !s.endpoint:
		s.remote.tap.show(s.unit(), e.data, noRequest)
		return nil, legacy
	}
	m, data := s.remote.tap.bytes(s.unit(), e.data)
	if m.Kind.IsResponse() && (m.ID == nil || bytes.Equal(m.ID, s.posted.ID)) {
		s.answered = true
	}
	return data, legacy && data == nil
}

func (s *eventStream) ended(err error) {
	r := s.remote
	lost := noRequest // the request that gets no response because of it
	switch {
	case s.answered:
	case s.lastID != "":
		r.suspended(s.lastID, s.posted) // the response may come on another stream
	default:
		lost = s.posted
	}
	note := wire.Frame{Status: s.resp.StatusCode, Note: &wire.Note{Kind: wire.NoteStreamEnded, Of: ofMessage(s.posted)}}
	err = s.deliberately(&note, err)
	switch {
	case r.closing.Load(), errors.Is(err, context.Canceled):
	case !errors.Is(err, io.EOF):
		note.Note.Kind, note.Note.Why = wire.NoteStreamBroken, err.Error()
		r.tap.failure(lost, note)
		if r.legacy() {
			r.lose(fmt.Errorf("the event stream broke off, and with it the session: %w", err))
		}
		r.suspect()
	case r.legacy():
		r.lose(errors.New("the event stream has ended, and with it the session"))
	case s.standalone:
		if n := r.streams.ended.Add(1); worthNoting(n) { // the SDK opens it again each time
			r.tap.note(wire.Note{Kind: wire.NoteStreamClosed, Times: int(n)})
		}
	case s.answered:
	default:
		if lost.ID != nil {
			r.tap.failure(lost, note)
		} else {
			r.tap.observer.Noted(note)
		}
		r.suspect()
	}
}
