package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// connection is a session over Streamable HTTP, in revisions that have them.
type connection struct {
	arrived chan message
	gone    chan struct{}
	end     func() // once

	mu      sync.Mutex
	streams map[string]chan object // of the requests under way, by id
}

var (
	mu          sync.Mutex
	connections = map[string]*connection{}
)

func overHTTP() {
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	log.Print("listening at ", *address)
	log.Fatal(http.Serve(l, http.HandlerFunc(handle)))
}

func handle(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	mu.Lock()
	c := connections[id]
	mu.Unlock()
	if r.Header.Get("Origin") != "" {
		http.Error(w, "this server is for no web page", http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return // nobody waits for the response
		}
		var m message
		switch err := json.Unmarshal(body, &m); {
		case err != nil:
			answerJSON(w, http.StatusBadRequest, object{"id": nil, "error": object{"code": -32700, "message": "This is not JSON"}})
		case m.Params.Meta.Revision == july:
			handleOne(w, r, m)
		case m.Method == "initialize":
			connect(w, r, m)
		case id == "":
			answerJSON(w, http.StatusBadRequest, object{"id": m.ID, "error": object{"code": -32600, "message": "The Mcp-Session-Id is missing"}})
		case c == nil:
			http.Error(w, "there is no such session", http.StatusNotFound)
		default:
			c.handle(w, r, m)
		}
	case http.MethodDelete:
		if c == nil {
			http.Error(w, "there is no such session", http.StatusNotFound)
			return
		}
		c.end()
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func answerJSON(w http.ResponseWriter, status int, m object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(m))
}

// handleOne answers a request of revision 2026-07-28, which has no sessions.
func handleOne(w http.ResponseWriter, r *http.Request, m message) {
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	for name, want := range map[string]string{"Mcp-Protocol-Version": july, "Mcp-Method": m.Method, "Mcp-Name": m.Params.Name} {
		if got := r.Header.Get(name); got != want {
			answerJSON(w, http.StatusBadRequest, object{"id": m.ID, "error": object{"code": -32020, "message": fmt.Sprintf("Header mismatch: %s is %q, and the body says %q", name, got, want)}})
			return
		}
	}
	s := &session{write: func(_ json.RawMessage, o object) {
		status := http.StatusOK
		if failed, ok := o["error"].(object); ok && failed["code"] == -32601 {
			status = http.StatusNotFound
		}
		answerJSON(w, status, o)
	}}
	s.serve(m)
}

// connect begins a session.
func connect(w http.ResponseWriter, r *http.Request, m message) {
	c := &connection{arrived: make(chan message, 100), gone: make(chan struct{}), streams: map[string]chan object{}}
	var random [16]byte
	rand.Read(random[:])
	id := hex.EncodeToString(random[:])
	c.end = sync.OnceFunc(func() {
		mu.Lock()
		delete(connections, id)
		mu.Unlock()
		close(c.gone)
	})
	mu.Lock()
	connections[id] = c
	mu.Unlock()
	s := &session{
		read: func() (m message, err error) {
			select {
			case m := <-c.arrived:
				return m, nil
			case <-c.gone:
				return m, io.EOF
			}
		},
		write: func(of json.RawMessage, o object) {
			c.mu.Lock()
			stream := c.streams[string(of)]
			c.mu.Unlock()
			if stream == nil {
				return // the client has closed it
			}
			select {
			case stream <- o:
			case <-c.gone:
			}
		},
	}
	go s.run()
	w.Header().Set("Mcp-Session-Id", id)
	c.handle(w, r, m)
}

// handle passes a message on, and streams what the server sends for a request.
func (c *connection) handle(w http.ResponseWriter, r *http.Request, m message) {
	request := m.Method != "" && m.ID != nil
	stream := make(chan object, 10)
	if request {
		c.mu.Lock()
		c.streams[string(m.ID)] = stream
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			delete(c.streams, string(m.ID))
			c.mu.Unlock()
		}()
	}
	select {
	case c.arrived <- m:
	case <-c.gone:
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	if !request {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	for {
		select {
		case o := <-stream:
			if o == nil {
				return
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", encode(o))
			_ = http.NewResponseController(w).Flush()
			if o["method"] == nil {
				return
			}
		case <-c.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}
