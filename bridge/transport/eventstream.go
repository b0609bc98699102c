package transport

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

// isEventStream reports whether a response succeeded and is an event stream.
func isEventStream(resp *http.Response) bool {
	return resp.StatusCode < 300 && mediaType(resp) == eventStreamMedia
}

// eventStream taps the events of one stream. Except for dropped, only the goroutine
// that reads the stream uses it.
type eventStream struct {
	remote     *remote
	resp       *http.Response
	stream     wire.Stream
	posted     wire.Message // the POSTed request whose response comes on the stream; zero if none
	standalone bool

	begun    bool   // a unit has carried the response's headers
	endpoint bool   // the endpoint event of HTTP+SSE has arrived
	lastID   string // id of the latest event with an id
	answered bool   // the response to the posted request has arrived, or no request was posted
	dropped  atomic.Bool
}

// events returns the tapped body of an event stream response. posted is the request
// that the stream answers, zero if none.
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

// unit returns the fields that all units of the stream share. The first unit also has
// the response's headers.
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
		return nil, legacy // the SDK parses every event of HTTP+SSE as a message
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
	lost := noRequest // the request that gets no response because the stream ended
	switch {
	case s.answered:
	case s.lastID != "":
		r.suspended(s.lastID, s.posted) // the server may still respond on a resumed stream
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
		if n := r.streams.ended.Add(1); worthNoting(n) { // the SDK reopens it each time
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
