package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
)

// events is the response to one HTTP request: an event stream, or for a single message JSON.
type events struct {
	append func(wire.Frame) wire.Frame
	kind   wire.Stream
	queue  chan event    // read by the handler
	closed chan struct{} // closed when the handler has returned
}

type event struct {
	wire.Frame
	last bool
}

func (s *Server) newEvents(kind wire.Stream) *events {
	return &events{append: s.options.Append, kind: kind, queue: make(chan event, 64), closed: make(chan struct{})}
}

func (e *events) Send(f wire.Frame, last bool) int64 {
	f.Stream = e.kind
	f = e.append(f)
	select {
	case e.queue <- event{f, last}:
	case <-e.closed:
		e.append(wire.Frame{Server: f.Server, Session: f.Session, Transport: f.Transport, Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: "the client has closed the event stream"}})
	}
	return f.Seq
}

// write writes the messages until the last one, or until the client is gone or the session over.
func (e *events) write(w http.ResponseWriter, r *http.Request, done <-chan struct{}) {
	defer close(e.closed)
	control, begun := http.NewResponseController(w), false
	for {
		select {
		case one := <-e.queue:
			if one.last && !begun {
				w.Header().Set("Content-Type", "application/json")
				if mcp.HasRounds(r.Header.Get(headerRevision)) && one.Kind == wire.Error {
					w.WriteHeader(statusOf(one.Frame))
				}
				_, _ = w.Write(one.Raw) // the client may have gone
				return
			}
			if !begun {
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Cache-Control", "no-cache")
				begun = true
			}
			if _, err := fmt.Fprintf(w, "event: message\ndata: %s\n\n", one.Raw); err != nil || control.Flush() != nil || one.last {
				return
			}
		case <-r.Context().Done():
			return
		case <-done:
			return
		}
	}
}

// statusOf returns the HTTP status of an error that is the whole response (2026-07-28, Streamable HTTP).
func statusOf(f wire.Frame) int {
	switch conversation.ReadError(f.Message.Error).Code {
	case mcp.CodeMethodNotFound:
		return http.StatusNotFound
	case mcp.CodeInvalidParams, mcp.CodeUnsupportedVersion, mcp.CodeMissingCapability, mcp.CodeHeaderMismatch:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

const (
	headerSession  = "Mcp-Session-Id"
	headerRevision = "Mcp-Protocol-Version"
)

// ServeHTTP serves Streamable HTTP. It refuses pages of another origin (specification, Transports, Security), and names
// that were rebound to a loopback address.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(local.String()) && !isLoopback(r.Host) {
		http.Error(w, "This server is not at "+r.Host+".", http.StatusForbidden)
		return
	}
	if http.NewCrossOriginProtection().Check(r) != nil {
		http.Error(w, "Pages of another origin are not served.", http.StatusForbidden)
		return
	}
	switch id := r.Header.Get(headerSession); r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet, http.MethodDelete:
		s.mu.Lock()
		one := s.sessions[id]
		s.mu.Unlock()
		switch {
		case one == nil:
			refuseSession(w, id)
		case r.Method == http.MethodGet:
			one.get(w, r)
		default:
			one.Close()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	}
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return link.IsLoopback(host)
}

func refuseSession(w http.ResponseWriter, id string) {
	status := http.StatusNotFound
	if id == "" {
		status = http.StatusBadRequest
	}
	http.Error(w, "There is no such session.", status)
}

// post takes one message.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, messageMost))
	if err != nil {
		http.Error(w, "The message cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	known := s.options.AnyRevisionHeader && s.sessions[r.Header.Get(headerSession)] != nil
	s.mu.Unlock()
	modern := mcp.HasRounds(rawjson.Text(rawjson.Member(body, "params", "_meta", mcp.MetaProtocol))) || mcp.HasRounds(r.Header.Get(headerRevision)) && !known
	if revision := r.Header.Get(headerRevision); !modern && !known && revision != "" && !slices.Contains(s.options.Revisions, revision) {
		http.Error(w, "The server does not speak revision "+revision+".", http.StatusBadRequest)
		return
	}
	var one *Session
	switch id := r.Header.Get(headerSession); {
	case modern:
		info := rawjson.Member(body, "params", "_meta", mcp.MetaClient)
		one = s.session("http", "client "+rawjson.Text(rawjson.Member(info, "name"))+" "+rawjson.Text(rawjson.Member(info, "version")), body)
	case rawjson.Text(rawjson.Member(body, "method")) == mcp.MethodInitialize:
		if one = s.session("http", "", body); one != nil {
			w.Header().Set(headerSession, one.ID)
		}
	default:
		s.mu.Lock()
		one = s.sessions[id]
		s.mu.Unlock()
		if one == nil {
			refuseSession(w, id)
			return
		}
	}
	if one == nil {
		http.Error(w, "The "+s.options.Name+" has too many sessions.", http.StatusServiceUnavailable)
		return
	}
	f := one.Frame(wire.ClientToServer, body)
	f.Stream, f.Header, f.HTTPMethod, f.URL = wire.StreamPost, r.Header.Clone(), r.Method, r.URL.Path
	f = s.options.Append(f)
	if f.Kind != wire.Request {
		one.receive(f)
		status := http.StatusAccepted
		if f.Kind == wire.Noise {
			status = http.StatusBadRequest
		}
		w.WriteHeader(status)
		return
	}
	out := s.newEvents(wire.StreamPostSSE)
	left := one.serve(f, out)
	out.write(w, r, one.done)
	if left != nil && modern && r.Context().Err() != nil { // closing the stream cancels (2026-07-28, Streamable HTTP, Cancellation)
		left()
	}
}

// get opens the event stream for messages that belong to no request.
func (s *Session) get(w http.ResponseWriter, r *http.Request) {
	e := s.server.newEvents(wire.StreamGetSSE)
	var out Stream = e
	s.main.Store(&out)
	w.Header().Set("Content-Type", "text/event-stream")
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	e.write(w, r, s.done)
}
