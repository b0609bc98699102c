package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/wire"
)

// getStreams remembers what is needed to make sense of GET requests: the
// standalone stream (specification 2025-11-25, Transports, Listening for
// Messages from the Server), and streams that answered a POST and were
// interrupted (Resumability and Redelivery).
type getStreams struct {
	mu     sync.Mutex
	gets   int                     // how often a standalone stream was asked for
	opened int                     // how many standalone streams there were
	lastID string                  // of the last event with an id on them
	ends   int                     // how many of them the server has ended
	posts  map[string]wire.Message // interrupted: the posted request by the last event's id
}

// The SDK gives a session up when the standalone stream was ended by the server
// a few times without an event id, as many servers and proxies do every minute.
// An id of our own at the beginning of each stream is progress to it. It never
// reaches the server.
const ownEventID = "elicitation-inspector-"

// maxSuspended bounds the interrupted streams that are remembered.
const maxSuspended = 64

func (g *getStreams) saw(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastID = id
}

func (g *getStreams) suspended(id string, posted wire.Message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.posts == nil {
		g.posts = map[string]wire.Message{}
	}
	if len(g.posts) < maxSuspended {
		g.posts[id] = posted
	}
}

// settled forgets an interrupted stream that goes on, or never will.
func (g *getStreams) settled(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.posts, id)
}

// closed notes that the server has ended a standalone stream: the first times,
// and then ever more rarely, since the SDK opens it again each time.
func (g *getStreams) closed(t *tap) {
	g.mu.Lock()
	g.ends++
	n := g.ends
	g.mu.Unlock()
	if n <= 3 || n&(n-1) == 0 {
		t.note(wire.Note{Kind: wire.NoteStreamClosed, Times: n})
	}
}

// request finds out what a GET asks for, by its Last-Event-ID: to go on with the
// stream that answered a POST, or the standalone stream. It puts the id right.
func (g *getStreams) request(h http.Header) (posted wire.Message, standalone, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	id := h.Get("Last-Event-ID")
	if posted, ok := g.posts[id]; ok && id != "" {
		return posted, false, false
	}
	if strings.HasPrefix(id, ownEventID) {
		h.Del("Last-Event-ID")
		if g.lastID != "" {
			h.Set("Last-Event-ID", g.lastID)
		}
	}
	return wire.Message{}, true, g.opened == 0
}

// asked counts a GET of the standalone stream.
func (g *getStreams) asked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gets++
	return g.gets
}

// open counts a standalone stream and returns the id that begins it.
func (g *getStreams) open() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened++
	return fmt.Sprintf("%s%d", ownEventID, g.opened)
}

// getPatience is how long the SDK, which does nothing else meanwhile, is kept
// waiting for the headers of the standalone stream. Some servers send none until
// they have something to say.
const getPatience = 500 * time.Millisecond

var eventStreamType = http.Header{"Content-Type": {"text/event-stream"}}

// opening is a GET that was sent, with its outcome once there is one.
type opening struct {
	done chan struct{}
	resp *http.Response
	err  error
}

// get opens an event stream of Streamable HTTP.
func (w *web) get(req *http.Request) (*http.Response, error) {
	f, err := w.prepare(req)
	if err != nil {
		return nil, err
	}
	posted, standalone, first := w.streams.request(f.req.Header)
	w.noteGet(f, posted, standalone)
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.resp, o.err = f.do()
	}()
	if !standalone {
		<-o.done
		return w.resumed(o, posted)
	}
	if await(o.done, getPatience, f.req.Context().Done()) {
		if o.err == nil && followed(o.resp) {
			return o.resp, nil
		}
		return w.listening(o, first)
	}
	if err := f.req.Context().Err(); err != nil {
		<-o.done
		if o.resp != nil {
			_ = o.resp.Body.Close() // nobody wants it any more
		}
		return nil, err
	}
	w.tap.note(wire.Note{Kind: wire.NoteStreamAwaited})
	w.streams.open()
	late := &lateBody{web: w, opening: o, first: first, ctx: f.req.Context(), cancel: func() { f.cancel(context.Canceled) }}
	return standIn(req, http.StatusOK, eventStreamType, late), nil
}

// noteGet tells of a GET that asks for an event stream: of each that goes on with
// an answer, and of those that open the standalone stream again ever more rarely.
func (w *web) noteGet(f *flight, posted wire.Message, standalone bool) {
	if standalone {
		if n := w.streams.asked(); n > 3 && n&(n-1) != 0 {
			return
		}
	}
	w.noteRequested(f, wire.Note{Of: ofMessage(posted), After: f.req.Header.Get("Last-Event-ID")})
}

// noteRequested tells of a GET that asks for an event stream.
func (w *web) noteRequested(f *flight, n wire.Note) {
	n.Kind = wire.NoteStreamRequested
	w.tap.observer.Noted(wire.Frame{Note: &n, Header: f.sent(), HTTPMethod: f.req.Method})
}

// resumed goes on with the stream that answers a POST.
func (w *web) resumed(o *opening, posted wire.Message) (*http.Response, error) {
	resp, err := o.resp, o.err
	if err != nil {
		return nil, err
	}
	if followed(resp) {
		return resp, nil
	}
	id := resp.Request.Header.Get("Last-Event-ID")
	if resp.StatusCode < 300 && mediaType(resp) == "text/event-stream" {
		w.streams.settled(id)
		w.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamResumed, Of: ofMessage(posted)}))
		resp.Body = w.events(resp, wire.StreamGetSSE, posted)
		return resp, nil
	}
	raw := w.explanation(resp).head
	note := noteOf(resp, wire.Note{Kind: wire.NoteResumeRefused, Of: ofMessage(posted), Said: gist(resp, raw)})
	fault := &Fault{Method: posted.Method, Status: resp.StatusCode, Text: note.Note.Words(&note)}
	lost := posted
	if sessionGone(resp) || tryAgain(resp) {
		lost = none // the response may still come
	}
	w.tap.failure(lost, note)
	switch {
	case sessionGone(resp):
		return standIn(resp.Request, resp.StatusCode, resp.Header, http.NoBody), nil
	case tryAgain(resp):
		return nil, fault
	default: // only the call is lost
		w.streams.settled(id)
		body := fmt.Sprintf("data: %s\n\n", encoded(fault.response(posted.ID)))
		return standIn(resp.Request, http.StatusOK, eventStreamType, io.NopCloser(strings.NewReader(body))), nil
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

// listening is the standalone stream, or what the SDK is to see where the server
// has none: before the first one it takes any refusal, but afterwards it would
// end the session.
func (w *web) listening(o *opening, first bool) (*http.Response, error) {
	resp, err := o.resp, o.err
	if err != nil {
		if !errors.Is(err, errLinkClosed) && !errors.Is(err, context.Canceled) {
			w.tap.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteRequestFailed, Why: err.Error()}, HTTPMethod: http.MethodGet})
			if !first {
				w.streamFailed(err.Error())
			}
		}
		return nil, err
	}
	if resp.StatusCode < 300 && mediaType(resp) == "text/event-stream" {
		id := w.streams.open()
		w.streamOpen()
		if first {
			w.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteStreamOpened}))
		}
		resp.Body = w.standalone(resp, id)
		return resp, nil
	}
	raw := w.explanation(resp).head
	note := noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Said: quoted(raw)})
	if resp.StatusCode < 300 {
		note.Note.Got = contentType(resp)
	}
	if resp.StatusCode == http.StatusMethodNotAllowed {
		note.Note.Kind = wire.NoteNoStream
		w.tap.observer.Noted(note)
	} else {
		w.tap.failure(none, note)
	}
	switch {
	case first, sessionGone(resp):
		return standIn(resp.Request, resp.StatusCode, resp.Header, http.NoBody), nil
	case tryAgain(resp):
		if resp.StatusCode != http.StatusTooManyRequests {
			w.streamFailed("HTTP " + statusText(resp))
		}
		return nil, &Fault{Status: resp.StatusCode, Text: note.Note.Words(&note)}
	default:
		return standIn(resp.Request, http.StatusOK, eventStreamType, w.silence()), nil
	}
}

// standalone taps the events of a standalone stream.
func (w *web) standalone(resp *http.Response, id string) *eventBody {
	s := &eventStream{web: w, stream: wire.StreamGetSSE, header: resp.Header, status: resp.StatusCode, req: resp.Request, standsFor: true}
	return &eventBody{
		Closer: resp.Body, events: newEventReader(resp.Body, w.tap.max),
		deliver: s.deliver, ended: s.ended,
		out: [][]byte{[]byte("id: " + id + "\n\n")},
	}
}

// silence is a stream on which nothing comes until the link ends.
func (w *web) silence() io.ReadCloser {
	ctx, cancel := context.WithCancel(w.life)
	return &silentBody{ctx: ctx, cancel: cancel}
}

type silentBody struct {
	ctx    context.Context
	cancel context.CancelFunc
}

func (b *silentBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b *silentBody) Close() error {
	b.cancel()
	return nil
}

// lateBody is the body of a standalone stream whose headers are still awaited.
type lateBody struct {
	web     *web
	opening *opening
	first   bool
	ctx     context.Context
	cancel  context.CancelFunc

	once sync.Once
	body io.ReadCloser // set by once
	err  error         // set by once
}

// settle waits for the headers.
func (b *lateBody) settle() {
	b.once.Do(func() {
		<-b.opening.done
		resp, err := b.web.listening(b.opening, false)
		switch {
		case err != nil:
			b.body, b.err = http.NoBody, err
		case resp.StatusCode != http.StatusOK:
			b.body, b.err = http.NoBody, fmt.Errorf("HTTP %s", statusText(resp))
		default:
			b.body = resp.Body
		}
	})
}

// Read implements [io.Reader].
func (b *lateBody) Read(p []byte) (int, error) {
	b.settle()
	if b.err != nil {
		return 0, b.err
	}
	return b.body.Read(p)
}

// Close implements [io.Closer]. It may be called while Read waits.
func (b *lateBody) Close() error {
	b.cancel()
	b.settle()
	return b.body.Close()
}
