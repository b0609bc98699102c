package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// A GET opens the standalone stream (specification 2025-11-25, Transports,
// Listening for Messages from the Server), or goes on with a stream that answered
// a POST and was interrupted (Resumability and Redelivery).

// streamCounts is how often the standalone stream was asked for, opened, and
// ended by the server, and how often in a row it could not be opened again.
type streamCounts struct{ asked, opened, ended, failed atomic.Int32 }

// worthNoting reports whether the log is told of the n-th time: of the first ones, and
// then ever more rarely.
func worthNoting(n int32) bool { return n <= 3 || n&(n-1) == 0 }

// The SDK gives a session up when the standalone stream was ended by the server
// a few times without an event id, as many servers and proxies do every minute.
// An id of our own at the beginning of each stream is progress to it. It never
// reaches the server.
const ownEventID = "elicitation-inspector-"

const lastEventHeader = "Last-Event-ID"

// maxSuspended bounds the interrupted streams that are remembered.
const maxSuspended = 64

// sawEvent remembers where the standalone stream is.
func (r *remote) sawEvent(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID = id
}

// suspended remembers a stream that was interrupted before the response came.
func (r *remote) suspended(id string, posted wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.posts) < maxSuspended {
		r.posts[id] = posted
	}
}

// settled forgets an interrupted stream that goes on, or never will.
func (r *remote) settled(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.posts, id)
}

// resumes is the request whose stream a GET goes on with, by its Last-Event-ID;
// zero for the standalone stream. It puts the id of that right.
func (r *remote) resumes(h http.Header) wire.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := h.Get(lastEventHeader)
	if strings.HasPrefix(id, ownEventID) {
		h.Del(lastEventHeader)
		if r.lastID != "" {
			h.Set(lastEventHeader, r.lastID)
		}
	}
	return r.posts[id]
}

// getPatience is how long the SDK, which does nothing else meanwhile, is kept
// waiting for the headers of the standalone stream. Some servers send none until
// they have something to say.
const getPatience = 500 * time.Millisecond

var eventStreamType = http.Header{"Content-Type": {eventStreamMedia}}

func (r *remote) get(req *http.Request) (*http.Response, error) {
	f, err := r.prepare(req)
	if err != nil {
		return nil, err
	}
	if posted := r.resumes(f.req.Header); posted.ID != nil {
		r.noteRequested(f, posted)
		return r.resume(f, posted)
	}
	if worthNoting(r.streams.asked.Add(1)) {
		r.noteRequested(f, noRequest)
	}
	first := r.streams.opened.Load() == 0
	answer := sync.OnceValues(f.do)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = answer() // both are asked for below
	}()
	ctx := f.req.Context()
	if await(ctx, answered, getPatience) {
		resp, err := answer()
		if err == nil && followed(resp) {
			return resp, nil
		}
		return r.listen(resp, err, first)
	}
	if ctx.Err() != nil {
		if resp, err := answer(); err == nil {
			_ = resp.Body.Close() // nobody wants it any more
		}
		return nil, ctx.Err()
	}
	r.tap.note(wire.Note{Kind: wire.NoteStreamAwaited})
	r.streams.opened.Add(1)
	return standIn(req, http.StatusOK, eventStreamType, r.late(f, answer)), nil
}

// late is the body of a standalone stream whose headers are still awaited.
func (r *remote) late(f *flight, answer func() (*http.Response, error)) io.ReadCloser {
	settle := sync.OnceValues(func() (io.ReadCloser, error) {
		resp, err := answer()
		resp, err = r.listen(resp, err, false)
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

// noteRequested tells of a GET that asks for an event stream. posted is the
// request that it is to answer, zero if none.
func (r *remote) noteRequested(f *flight, posted wire.Message) {
	note := wire.Note{Kind: wire.NoteStreamRequested, Of: ofMessage(posted), After: f.req.Header.Get(lastEventHeader)}
	r.tap.observer.Noted(wire.Frame{Note: &note, Header: f.sent(), HTTPMethod: f.req.Method})
}

func (r *remote) resume(f *flight, posted wire.Message) (*http.Response, error) {
	resp, err := f.do()
	if err != nil || followed(resp) {
		return resp, err
	}
	id := resp.Request.Header.Get(lastEventHeader)
	if isEventStream(resp) {
		r.settled(id)
		r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamResumed, Of: ofMessage(posted)}))
		resp.Body = r.events(resp, posted)
		return resp, nil
	}
	raw := r.explanation(resp).head
	note := noteOf(resp, wire.Note{Kind: wire.NoteResumeRefused, Of: ofMessage(posted), Said: errorText(resp, raw)})
	fault := &Fault{Method: posted.Method, Status: resp.StatusCode, Text: note.Note.Words(&note)}
	switch {
	case sessionGone(resp):
		r.tap.failure(noRequest, note)
		return standIn(resp.Request, resp.StatusCode, resp.Header, http.NoBody), nil
	case tryAgain(resp): // the response may still come
		r.tap.failure(noRequest, note)
		return nil, fault
	default: // only the call is lost
		r.tap.failure(posted, note)
		r.settled(id)
		event := fmt.Sprintf("data: %s\n\n", encoded(fault.response(posted.ID)))
		return standIn(resp.Request, http.StatusOK, eventStreamType, io.NopCloser(strings.NewReader(event))), nil
	}
}

// sessionGone reports whether a response says that the server has ended the
// session (specification 2025-11-25, Transports, Session Management).
func sessionGone(resp *http.Response) bool {
	return resp.StatusCode == http.StatusNotFound && resp.Request.Header.Get(sessionHeader) != ""
}

// tryAgain reports whether a refusal may be over soon. The SDK tries again when
// it is told that the request failed.
func tryAgain(resp *http.Response) bool {
	return resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
}

// listen is the standalone stream, or what the SDK is to see where the server
// has none: before the first one it takes any refusal, but afterwards it would
// end the session.
func (r *remote) listen(resp *http.Response, err error, first bool) (*http.Response, error) {
	switch {
	case errors.Is(err, errLinkClosed), errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		r.tap.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteRequestFailed, Why: err.Error()}, HTTPMethod: http.MethodGet})
		if !first {
			r.streamFailed(err.Error())
		}
		return nil, err
	case isEventStream(resp):
		id := r.streams.opened.Add(1)
		r.streams.failed.Store(0)
		if first {
			r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamOpened}))
		}
		events := r.events(resp, noRequest)
		events.out = append(events.out, fmt.Appendf(nil, "id: %s%d\n\n", ownEventID, id))
		resp.Body = events
		return resp, nil
	}
	note, fault := r.noStream(resp)
	if resp.StatusCode == http.StatusMethodNotAllowed {
		note.Note.Kind = wire.NoteNoStream
		r.tap.observer.Noted(note)
	} else {
		r.tap.failure(noRequest, note)
	}
	switch {
	case first, sessionGone(resp):
		return standIn(resp.Request, resp.StatusCode, resp.Header, http.NoBody), nil
	case tryAgain(resp):
		if resp.StatusCode != http.StatusTooManyRequests {
			r.streamFailed("HTTP " + statusText(resp))
		}
		return nil, fault
	default:
		return standIn(resp.Request, http.StatusOK, eventStreamType, r.silence()), nil
	}
}

// noStream is the note of what came in place of an event stream, and the fault
// that says so.
func (r *remote) noStream(resp *http.Response) (wire.Frame, *Fault) {
	raw := r.explanation(resp).head
	note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Said: quoted(raw)})
	fault := &Fault{Status: resp.StatusCode, Text: "HTTP " + statusText(resp) + wording.After(": ", errorText(resp, raw)), Challenge: challenge(resp)}
	if resp.StatusCode < 300 {
		note.Note.Got = contentType(resp)
		fault.Text = note.Note.Words(&note)
	}
	return note, fault
}

// silence is a stream on which nothing comes until the link ends.
func (r *remote) silence() io.ReadCloser {
	ctx, cancel := context.WithCancel(r.life)
	wait := lazyReader(func() (io.Reader, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return body{wait, func() error {
		cancel()
		return nil
	}}
}

func (r *remote) getLegacy(req *http.Request) (*http.Response, error) {
	f, err := r.prepare(req)
	if err != nil {
		return nil, err
	}
	r.noteRequested(f, noRequest)
	resp, err := f.do()
	if err != nil || followed(resp) {
		return resp, err
	}
	if isEventStream(resp) {
		resp.Body = r.events(resp, noRequest)
		return resp, nil
	}
	note, fault := r.noStream(resp)
	r.tap.failure(noRequest, note)
	return nil, fault
}
