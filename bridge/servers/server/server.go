// Package server is what the demo and the probe have in common as MCP servers: sessions over lines and over Streamable
// HTTP, the handshake and the lists of each revision, and tasks. Messages are read and written as raw JSON. Calls and
// all else that differs between the two are up to the session's [Peer].
package server

import (
	"cmp"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Peer handles the messages that the client of one session sends. Their frames were given to Options.Append before. Its
// methods return without waiting for an answer of the client.
type Peer interface {
	// List returns the member with the entries, such as `"tools":[]`, for the result of a list.
	List(r *Request) string

	// Serve handles any other request. The function that it returns, if it is not nil, is called when the client takes
	// the request back by closing its stream.
	Serve(r *Request) (left func())

	// Receive handles notifications, what is no message, and responses for which nothing waits, with the request that
	// they answer; nil if there is none.
	Receive(f wire.Frame, of *Pending)

	// Close ends what runs in the session, and need not wait for it.
	Close()
}

// Stream carries messages to the client. Send appends the frame, writes it, and returns its number; last says that
// nothing follows on this stream.
type Stream interface {
	Send(f wire.Frame, last bool) int64
}

// Options configures a [Server].
type Options struct {
	// Append gets every frame before it is handled or written, and returns it with what its bytes say; nil does no more.
	Append func(wire.Frame) wire.Frame
	// Begin returns the peer of a new session. It must take no lock, because the server holds one meanwhile.
	Begin func(*Session) Peer
	Name  string // prefix of the sessions' ids
	// Info is the JSON of the server's name and version, and Capabilities the members of what it offers beside tasks.
	Info, Capabilities, Instructions string
	Revisions                        []string // that it speaks, the newest first
	// Offers returns the members of what it offers in a revision, in place of tasks; may be nil.
	Offers func(revision string) string
	// AnyRevisionHeader has a session served whatever its requests say in MCP-Protocol-Version,
	// for a server that judges what they say.
	AnyRevisionHeader bool
}

// Server keeps the sessions of its clients. Close ends it.
type Server struct {
	options Options

	mu       sync.Mutex
	sessions map[string]*Session // by id, or by client where the revision has no sessions
	count    int                 // sessions so far
	closed   bool
}

// Bounds on what clients can make the server keep.
const (
	sessionsMost = 4096
	messageMost  = 16 << 20 // bytes of one message
)

// New returns a server.
func New(o Options) *Server {
	if o.Append == nil {
		o.Append = func(f wire.Frame) wire.Frame {
			if f.Dir != wire.Meta {
				f.Identify()
			}
			return f
		}
	}
	return &Server{options: o, sessions: map[string]*Session{}}
}

// Close ends all sessions. There are no new ones after it.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	list := make([]*Session, 0, len(s.sessions))
	for _, one := range s.sessions {
		list = append(list, one)
	}
	s.mu.Unlock()
	for _, one := range list {
		one.Close()
	}
}

// Session is one connection of a client. Over HTTP in 2026-07-28, which has no sessions, it is all the requests of
// clients with the same name and version.
type Session struct {
	ID        string // that clients of HTTP send back: whoever has it can use the session
	Transport string // stdio or http
	Name      string // of its frames, which is no secret
	label     string // of its frames
	server    *Server
	peer      Peer
	done      chan struct{} // closed by Close
	turn      chan struct{} // held while the status of a task is read and told, so that no older one is told after it

	main   atomic.Pointer[Stream] // for what belongs to no request; nil if there is none
	mu     sync.Mutex
	client Client              // of initialize
	asked  map[string]*Pending // requests of the server's, by id
	count  int                 // of these so far
}

// session begins a session, whose first message decides its label, and returns it; nil if the server is closed or has
// too many. An id for a session that is there already returns that one; "" makes up an id that nobody can guess.
func (s *Server) session(transport, id string, first []byte) *Session {
	name := wire.ClientName(rawjson.Member(first, "params"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[id]; one != nil {
		return one
	}
	if s.closed || len(s.sessions) >= sessionsMost {
		return nil
	}
	s.count++
	random := strings.ToLower(rand.Text())
	sessionName := s.options.Name + "-" + strconv.Itoa(s.count) + "-" + random[:6] // transcripts of several runs can stand in one file
	one := &Session{
		ID: cmp.Or(id, sessionName+random[6:]+strings.ToLower(rand.Text())), Transport: transport, Name: sessionName, server: s, done: make(chan struct{}), turn: make(chan struct{}, 1), asked: map[string]*Pending{},
		label: wording.Shorten(wording.Join(" ", s.options.Name+" of", name), 80),
	}
	one.peer = s.options.Begin(one)
	s.sessions[one.ID] = one
	return one
}

// Close ends the session.
func (s *Session) Close() {
	s.server.mu.Lock()
	first := s.server.sessions[s.ID] == s
	if first {
		delete(s.server.sessions, s.ID)
		close(s.done)
	}
	s.server.mu.Unlock()
	if first {
		s.peer.Close()
	}
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// InTurn calls f, which reads the status of a task and sends it. No two of them overlap, so that the client never gets
// an older status after a newer one. If the session has ended, f is not called.
func (s *Session) InTurn(f func()) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		f()
	case <-s.done:
	}
}

// Frame returns a frame of this session.
func (s *Session) Frame(dir wire.Direction, raw []byte) wire.Frame {
	return wire.Frame{Server: s.label, Session: s.Name, Transport: s.Transport, Dir: dir, Raw: raw}
}

// Send sends a message, and returns its frame's number; 0 if there is nowhere to send it.
func (s *Session) Send(out Stream, message string, last bool) int64 {
	if out == nil {
		return 0
	}
	return out.Send(s.Frame(wire.ServerToClient, []byte(message)), last)
}

// Outside returns the stream for what belongs to no request; nil if the client has none open.
func (s *Session) Outside() Stream {
	out := s.main.Load()
	if out == nil {
		return nil
	}
	if e, ok := (*out).(*events); ok {
		select {
		case <-e.closed:
			return nil
		default:
		}
	}
	return *out
}
