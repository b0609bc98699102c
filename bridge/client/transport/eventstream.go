package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/wording"
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
	standalone bool
	suspended         // what is known if it is interrupted
	sdkID      string // id of the latest event for the SDK

	begun    bool // a unit has carried the response's headers
	endpoint bool // the endpoint event of HTTP+SSE has arrived
	answered bool // the response to the posted request has arrived, or no request was posted
	dropped  atomic.Bool
}

// suspended is a stream that answers a POST, and can be resumed.
type suspended struct {
	posted wire.Message // the POSTed request whose response comes on the stream; zero if none
	lastID string       // id of the latest event with an id, on this stream or on those that it resumes
	failed int32        // how often in a row resuming it has failed
}

// events returns the tapped body of an event stream response. of has the request that the
// stream answers, zero if none.
func (r *remote) events(resp *http.Response, of suspended) *eventBody {
	s := &eventStream{
		remote: r, resp: resp, stream: wire.StreamGetSSE,
		suspended: of, standalone: of.posted.ID == nil && !r.legacy(), answered: of.posted.ID == nil,
	}
	if resp.Request.Method == http.MethodPost {
		s.stream = wire.StreamPostSSE
	}
	r.mu.Lock()
	r.open[s] = true
	r.mu.Unlock()
	inner := resp.Body
	b := newEventBody(inner, r.tap.max, body{close: func() error {
		r.mu.Lock()
		delete(r.open, s)
		r.mu.Unlock()
		return inner.Close()
	}}, s.deliver, s.ended)
	if s.standalone || of.lastID != "" {
		s.sdkID = r.ownID()
		b.out = append(b.out, fmt.Appendf(nil, "id: %s\n\n", s.sdkID))
	}
	return b
}

// unit returns the fields that all units of the stream share. The first unit also has
// the response's headers.
func (s *eventStream) unit() Tapped {
	u := Tapped{Frame: wire.Frame{Stream: s.stream, Status: s.resp.StatusCode}, Related: s.posted.ID}
	if !s.begun {
		u.Header = s.resp.Header
		if s.stream == wire.StreamGetSSE {
			u.HTTPMethod, u.URL = s.resp.Request.Method, address(s.resp.Request)
		}
	}
	s.begun = true
	return u
}

func (s *eventStream) deliver(e Event) (data []byte, drop bool) {
	if e.hasID {
		s.lastID, s.sdkID = e.id, e.id
		if s.standalone {
			s.remote.mu.Lock()
			s.remote.lastID = e.id
			s.remote.mu.Unlock()
		}
	}
	legacy := s.remote.legacy()
	switch {
	case legacy && e.name == "endpoint":
		s.remote.tap.observer.Noted(noteOf(s.resp, wire.Note{Kind: wire.NoteEndpoint, To: redact.WithoutQuery(string(e.Data.Head))}))
		s.endpoint = true
		return e.Data.Head, false
	case e.Data.Size == 0:
		return nil, legacy // the SDK parses every event of HTTP+SSE as a message
	case e.name != "" && e.name != "message", legacy && !s.endpoint:
		s.remote.tap.show(s.unit(), e.Data, noRequest)
		return nil, legacy
	}
	m, data := s.remote.tap.bytes(s.unit(), e.Data)
	if m.Kind.IsResponse() && (m.ID == nil || bytes.Equal(m.ID, s.posted.ID)) {
		s.answered = true
	}
	return data, legacy && data == nil
}

func (s *eventStream) ended(cut Event, err error) {
	r := s.remote
	if cut.Data.Size > 0 && !r.closing.Load() && !errors.Is(err, context.Canceled) {
		r.tap.observer.Noted(wire.Frame{Status: s.resp.StatusCode, Note: &wire.Note{Kind: wire.NoteUnfinishedEvent, Of: ofMessage(s.posted), Bytes: cut.Data.Size, Said: quoted(cut.Data.Head)}})
	}
	lost := noRequest // the request that gets no response because the stream ended
	switch {
	case s.answered:
	case s.lastID != "":
		r.suspend(s.sdkID, s.suspended) // the server may still respond on a resumed stream
	default:
		lost = s.posted
	}
	note := wire.Frame{Status: s.resp.StatusCode, Note: &wire.Note{Kind: wire.NoteStreamEnded, Of: ofMessage(s.posted)}}
	if s.dropped.Load() {
		note.Actor, note.Fault = "fault", "drop-stream"
		err = errors.New("it was closed on purpose")
	}
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

// A GET opens the standalone stream (specification 2025-11-25, Transports, Listening
// for Messages from the Server), or resumes an interrupted stream that answered a POST
// (Resumability and Redelivery).

// streamCounts counts how often the SDK has asked for the standalone stream, how often
// it was opened, how often the server ended it, how often in a row opening it failed, and
// the event ids of ours.
type streamCounts struct{ asked, opened, ended, failed, ids atomic.Int32 }

// worthNoting reports whether the n-th occurrence of an event is logged: the first
// three, and then powers of two.
func worthNoting(n int32) bool { return n <= 3 || n&(n-1) == 0 }

// The SDK gives a call up if the stream that its response was to come on is resumed and ends
// without an event id, and ends a session if a stream ends a few times without another id, as
// many servers and proxies do every minute. So each standalone and each resumed stream begins
// with an event id of ours, which the SDK counts as progress. It never reaches the server.
const ownEventID = "elicitation-inspector-"

func (r *remote) ownID() string { return fmt.Sprint(ownEventID, r.streams.ids.Add(1)) }

// later notes that a stream could not be opened, and returns one for the SDK that has ended, so
// that it tries again after a pause, which grows with the number of failures. It would end the
// session after a few failed attempts.
func (r *remote) later(req *http.Request, of suspended, note wire.Frame) (*http.Response, error) {
	r.tap.failure(noRequest, note)
	of.failed++
	id := r.ownID()
	if of.posted.ID != nil {
		r.suspend(id, of)
	}
	return paused(req, id, cmp.Or(r.pauses.later, time.Second)<<min(of.failed-1, 5)), nil
}

// paused returns a stream that has ended. After a pause the SDK asks to go on behind event id.
func paused(req *http.Request, id string, pause time.Duration) *http.Response {
	event := fmt.Sprintf("id: %s\nretry: %d\n\n", id, pause.Milliseconds())
	return standIn(req, http.StatusOK, eventStreamType, io.NopCloser(strings.NewReader(event)))
}

// unanswered is later for a GET without a response. The error of a GET that the inspector has
// ended is for the SDK.
func (r *remote) unanswered(req *http.Request, of suspended, err error) (*http.Response, error) {
	if errors.Is(err, errLinkClosed) || errors.Is(err, context.Canceled) {
		return nil, err
	}
	return r.later(req, of, wire.Frame{Note: &wire.Note{Kind: wire.NoteRequestFailed, Of: ofMessage(of.posted), Why: err.Error()}, HTTPMethod: http.MethodGet})
}

const lastEventHeader = "Last-Event-ID"

// maxSuspended bounds how many interrupted streams are remembered.
const maxSuspended = 64

func (r *remote) suspend(id string, s suspended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.posts) < maxSuspended {
		r.posts[id] = s
	}
}

// getPatience is how long the SDK, which blocks meanwhile, waits for the headers of the
// standalone stream. Some servers send none before their first message.
const getPatience = 500 * time.Millisecond

var eventStreamType = http.Header{"Content-Type": {eventStreamMedia}}

func (r *remote) get(req *http.Request) (*http.Response, error) {
	f, err := r.prepare(req)
	if err != nil {
		return nil, err
	}
	if r.legacy() {
		r.noteRequested(f, noRequest)
		resp, err := f.do()
		switch {
		case err != nil || followed(resp):
			return resp, err
		case isEventStream(resp):
			resp.Body = r.events(resp, suspended{})
			return resp, nil
		}
		note, failure := r.noStream(resp)
		r.tap.failure(noRequest, note)
		return nil, failure
	}
	id := f.req.Header.Get(lastEventHeader)
	r.mu.Lock()
	of, lastID := r.posts[id], r.lastID
	r.mu.Unlock()
	if of.posted.ID != nil {
		return r.resume(f, id, of)
	}
	if strings.HasPrefix(id, ownEventID) {
		f.req.Header.Del(lastEventHeader)
		if lastID != "" {
			f.req.Header.Set(lastEventHeader, lastID)
		}
	}
	if worthNoting(r.streams.asked.Add(1)) {
		r.noteRequested(f, noRequest)
	}
	first := r.streams.opened.Load() == 0 && r.streams.failed.Load() == 0
	answer := sync.OnceValues(f.do)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = answer() // its results are used below
	}()
	ctx := f.req.Context()
	if await(ctx, answered, getPatience) {
		resp, err := answer()
		if err == nil && followed(resp) {
			return resp, nil
		}
		return r.listen(f.req, resp, err, first)
	}
	if ctx.Err() != nil {
		if resp, err := answer(); err == nil {
			_ = resp.Body.Close() // the SDK has given the request up
		}
		return nil, ctx.Err()
	}
	r.tap.note(wire.Note{Kind: wire.NoteStreamAwaited})
	r.streams.opened.Add(1)
	return standIn(req, http.StatusOK, eventStreamType, r.late(f, answer)), nil
}

// late returns the body of a standalone stream whose headers have not arrived yet.
func (r *remote) late(f *flight, answer func() (*http.Response, error)) io.ReadCloser {
	settle := sync.OnceValues(func() (io.ReadCloser, error) {
		resp, err := answer()
		resp, err = r.listen(f.req, resp, err, false)
		switch {
		case err != nil:
			return http.NoBody, err
		case resp.StatusCode != http.StatusOK:
			return http.NoBody, fmt.Errorf("HTTP %s", statusText(resp))
		}
		return resp.Body, nil
	})
	return body{lazyReader(func() (io.Reader, error) { return settle() }), func() error {
		f.cancel(context.Canceled)
		inner, _ := settle()
		return inner.Close()
	}}
}

// noteRequested notes a GET for an event stream. posted is the request whose stream is
// resumed, zero if none.
func (r *remote) noteRequested(f *flight, posted wire.Message) {
	note := wire.Note{Kind: wire.NoteStreamRequested, Of: ofMessage(posted), After: f.req.Header.Get(lastEventHeader)}
	r.tap.observer.Noted(wire.Frame{Note: &note, Header: f.sent(), HTTPMethod: f.req.Method, URL: address(f.req)})
}

func (r *remote) resume(f *flight, id string, of suspended) (*http.Response, error) {
	posted := of.posted
	f.req.Header.Set(lastEventHeader, of.lastID)
	r.noteRequested(f, posted)
	resp, err := f.do()
	if err == nil && followed(resp) {
		return resp, nil
	}
	r.mu.Lock()
	delete(r.posts, id)
	r.mu.Unlock()
	if err != nil {
		return r.unanswered(f.req, of, err)
	}
	if isEventStream(resp) {
		r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamResumed, Of: ofMessage(posted)}))
		resp.Body = r.events(resp, suspended{posted: posted, lastID: of.lastID})
		return resp, nil
	}
	raw := r.explanation(resp).Head
	note := noteOf(resp, wire.Note{Kind: wire.NoteResumeRefused, Of: ofMessage(posted), Said: errorText(resp, raw)})
	failure := &Failure{Method: posted.Method, Status: resp.StatusCode, Text: note.Note.Words(&note)}
	switch {
	case sessionGone(resp):
		r.tap.failure(noRequest, note)
		return standIn(resp.Request, resp.StatusCode, resp.Header, http.NoBody), nil
	case tryAgain(resp): // the response may still arrive after another attempt
		return r.later(resp.Request, of, note)
	default: // only this call fails
		r.tap.failure(posted, note)
		event := fmt.Sprintf("data: %s\n\n", encoded(failure.response(posted.ID)))
		return standIn(resp.Request, http.StatusOK, eventStreamType, io.NopCloser(strings.NewReader(event))), nil
	}
}

// sessionGone reports whether a response means that the server has ended the session
// (specification 2025-11-25, Transports, Session Management).
func sessionGone(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNotFound && resp.Request.Header.Get(sessionHeader) != ""
}

// tryAgain reports whether a refusal may be temporary.
func tryAgain(resp *http.Response) bool {
	return resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
}

// listen returns the standalone stream, or the response for the SDK if the server has
// none. The SDK accepts any refusal of the first GET, but would end the session over a
// later one. So after a lasting refusal it gets a pause of weeks instead.
func (r *remote) listen(req *http.Request, resp *http.Response, err error, first bool) (*http.Response, error) {
	of := suspended{failed: r.streams.failed.Add(1) - 1}
	switch {
	case err != nil:
		return r.unanswered(req, of, err)
	case isEventStream(resp):
		r.streams.opened.Add(1)
		r.streams.failed.Store(0)
		if first {
			r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamOpened}))
		}
		resp.Body = r.events(resp, suspended{})
		return resp, nil
	}
	note, _ := r.noStream(resp)
	if tryAgain(resp) && !first {
		return r.later(req, of, note)
	}
	if resp.StatusCode == http.StatusMethodNotAllowed {
		note.Note.Kind = wire.NoteNoStream
		r.tap.observer.Noted(note)
	} else {
		r.tap.failure(noRequest, note)
	}
	if first || sessionGone(resp) {
		return standIn(resp.Request, resp.StatusCode, nil, http.NoBody), nil
	}
	return paused(resp.Request, r.ownID(), 1<<31*time.Millisecond), nil
}

// noStream returns the note and the failure for a response that is no event stream.
func (r *remote) noStream(resp *http.Response) (wire.Frame, *Failure) {
	raw := r.explanation(resp).Head
	note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Said: quoted(raw)})
	failure := &Failure{Status: resp.StatusCode, Text: "HTTP " + statusText(resp) + wording.After(": ", errorText(resp, raw)), Challenge: challenge(resp), Elsewhere: r.elsewhere(resp)}
	if resp.StatusCode < 300 {
		note.Note.Got = contentType(resp)
		failure.Text = note.Note.Words(&note)
	}
	return note, failure
}
