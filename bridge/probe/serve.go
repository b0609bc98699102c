package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// pipe is the stream of a session over stdio.
type pipe struct {
	log  *wire.Log
	out  io.Writer
	turn chan struct{} // held while a line is appended and written
	err  atomic.Pointer[error]
}

func (p *pipe) send(f wire.Frame, _ bool) int64 {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	f = p.log.Append(f)
	if _, err := p.out.Write(append(bytes.Clone(f.Raw), '\n')); err != nil {
		p.err.CompareAndSwap(nil, &err)
	}
	return f.Seq
}

// ServeLines serves one client over newline-delimited JSON, until in ends or ctx is done. It
// returns before a blocked read of in does.
func (s *Server) ServeLines(ctx context.Context, in io.Reader, out io.Writer) error {
	p := &pipe{log: s.options.Log, out: out, turn: make(chan struct{}, 1)}
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { // ends with in, or at the latest with the process
		ended <- transport.ReadLines(in, messageMost, func(line transport.Text) { // a longer one is cut, so that it is not a message
			if line.Size > 0 {
				select {
				case lines <- line.Head:
				case <-ctx.Done():
				}
			}
		})
	}()
	var one *session
	defer func() {
		if one != nil {
			one.close()
		}
	}()
	for {
		select {
		case line := <-lines:
			if one == nil {
				if one = s.connect("stdio", "", line); one == nil {
					return errors.New("the probe has too many sessions")
				}
				one.main = p
			}
			one.receive(s.options.Log.Append(one.frame(wire.ClientToServer, line)), p)
		case err := <-ended:
			if failed := p.err.Load(); failed != nil {
				err = errors.Join(err, fmt.Errorf("writing to the client: %w", *failed))
			}
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// events is the response to one HTTP request: an event stream, or for a single message JSON.
type events struct {
	log    *wire.Log
	kind   wire.Stream
	queue  chan event    // read by the handler
	closed chan struct{} // closed when the handler has returned
}

type event struct {
	raw  []byte
	last bool
}

func newEvents(log *wire.Log, kind wire.Stream) *events {
	return &events{log: log, kind: kind, queue: make(chan event, 64), closed: make(chan struct{})}
}

func (e *events) send(f wire.Frame, last bool) int64 {
	f.Stream = e.kind
	f = e.log.Append(f)
	select {
	case e.queue <- event{f.Raw, last}:
	case <-e.closed:
		e.log.Append(wire.Frame{Server: f.Server, Session: f.Session, Transport: f.Transport, Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: "the client has closed the event stream"}})
	}
	return f.Seq
}

// write writes the messages until the last one, or until the client is gone.
func (e *events) write(w http.ResponseWriter, r *http.Request) {
	defer close(e.closed)
	control, begun := http.NewResponseController(w), false
	for {
		select {
		case one := <-e.queue:
			if one.last && !begun {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(one.raw) // the client may have gone
				return
			}
			if !begun {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Cache-Control", "no-cache")
				begun = true
			}
			if _, err := fmt.Fprintf(w, "event: message\ndata: %s\n\n", one.raw); err != nil || control.Flush() != nil || one.last {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// Handler serves Streamable HTTP at /mcp, and below /open the pages that clients are asked to
// open.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/open/", s.open)
	mux.HandleFunc("POST /mcp", s.post)
	mux.HandleFunc("GET /mcp", s.get)
	mux.HandleFunc("DELETE /mcp", func(w http.ResponseWriter, r *http.Request) {
		if one := s.session(r.Header.Get(headerSession)); one != nil {
			one.close()
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

const (
	headerSession  = "Mcp-Session-Id"
	headerRevision = "Mcp-Protocol-Version"
)

func (s *Server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// post takes one message. A page of another origin is refused (specification, Transports,
// Security).
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		http.Error(w, "Pages of another origin are not served.", http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, messageMost))
	if err != nil {
		http.Error(w, "The message cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	modern := hasRounds(rawjson.Text(rawjson.Member(body, "params", "_meta", mcp.MetaProtocol))) || hasRounds(r.Header.Get(headerRevision))
	var one *session
	switch {
	case modern:
		info := rawjson.Member(body, "params", "_meta", mcp.MetaClient)
		one = s.connect("http", "client "+rawjson.Text(rawjson.Member(info, "name"))+" "+rawjson.Text(rawjson.Member(info, "version")), body)
	case rawjson.Text(rawjson.Member(body, "method")) == mcp.MethodInitialize:
		one = s.connect("http", "", body)
		if one != nil {
			w.Header().Set(headerSession, one.id)
		}
	default:
		if one = s.session(r.Header.Get(headerSession)); one == nil {
			http.Error(w, "There is no such session.", map[bool]int{true: http.StatusBadRequest, false: http.StatusNotFound}[r.Header.Get(headerSession) == ""])
			return
		}
	}
	if one == nil {
		http.Error(w, "The probe has too many sessions.", http.StatusServiceUnavailable)
		return
	}
	f := one.frame(wire.ClientToServer, body)
	f.Stream, f.Header, f.HTTPMethod, f.URL = wire.StreamPost, r.Header.Clone(), r.Method, r.URL.Path
	f = s.options.Log.Append(f)
	if f.Kind != wire.Request {
		one.receive(f, nil)
		w.WriteHeader(map[bool]int{true: http.StatusBadRequest, false: http.StatusAccepted}[f.Kind == wire.Noise])
		return
	}
	out := newEvents(s.options.Log, wire.StreamPostSSE)
	one.receive(f, out)
	out.write(w, r)
	if r.Context().Err() != nil && modern { // closing the stream cancels (2026-07-28, Streamable HTTP, Cancellation)
		one.mu.Lock()
		c := one.calls[wire.IDKey(f.Message.ID)]
		goesOn := slices.ContainsFunc(one.waiting, func(r *run) bool { return r.call == c }) // with a later request
		one.mu.Unlock()
		if c != nil && !goesOn {
			c.end(errCancelled)
		}
	}
}

// get opens the event stream for messages that belong to no call.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	one := s.session(r.Header.Get(headerSession))
	if one == nil {
		http.Error(w, "There is no such session.", http.StatusNotFound)
		return
	}
	out := newEvents(s.options.Log, wire.StreamGetSSE)
	one.mu.Lock()
	one.main = out
	one.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	out.write(w, r)
}

// outside returns the stream for what belongs to no call; nil if the client has none open.
func (s *session) outside() stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.main.(*events); ok {
		select {
		case <-e.closed:
			return nil
		default:
		}
	}
	return s.main
}

// pause returns a channel on which a value comes after the time that a probe lets pass.
func (r *run) pause() <-chan time.Time { return time.After(r.session.server.options.Pause) }

// rest lets that time pass, unless the call ends before: then it returns false.
func (r *run) rest() bool {
	select {
	case <-r.pause():
		return true
	case <-r.ctx.Done():
		return false
	}
}
