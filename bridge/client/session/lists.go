package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// reloadPause is the minimum time between two readings of changed lists. All
// notifications within it cause one reading.
const reloadPause = 500 * time.Millisecond

// Catalog reads all lists of the server: its tools, prompts, resources and templates.
func (s *Session) Catalog() conversation.Catalog {
	parts := map[string]conversation.Part{}
	s.read(conversation.Lists, parts)
	return conversation.Join(s.Server, parts)
}

// FollowCatalog reads all lists of the server, and then each list that the server
// reports as changed, until the session ends. With NoLists it takes them for empty.
func (s *Session) FollowCatalog() {
	if s.NoLists {
		s.owner.Listed(s, conversation.Join(s.Server, nil))
		return
	}
	s.takeStale() // the first reading covers all lists
	known := map[string]conversation.Part{}
	for fresh := conversation.Lists; ; fresh = s.takeStale() {
		s.read(fresh, known)
		s.owner.Listed(s, conversation.Join(s.Server, known))
		select {
		case <-time.After(reloadPause):
		case <-s.ctx.Done():
			return
		}
		select {
		case <-s.changed:
		case <-s.ctx.Done():
			return
		}
	}
}

// staleLists are the lists that the server reports as changed and that were not read again.
type staleLists struct {
	changed chan struct{} // signals that stale is not empty; capacity 1

	mu        sync.Mutex
	stale     map[string]bool // by method
	unread    context.Context // ends when the tools are read
	toolsRead func()          // ends unread
}

// ListChanged marks the lists of these methods as changed, so that FollowCatalog reads
// them again.
func (l *staleLists) ListChanged(methods ...string) {
	l.mu.Lock()
	for _, method := range methods {
		l.stale[method] = true
		if method == mcp.MethodListTools && l.unread.Err() != nil {
			l.unread, l.toolsRead = context.WithCancel(context.Background())
		}
	}
	l.mu.Unlock()
	signal(l.changed)
}

// mirrors reports whether calls send arguments as headers, where a tool's x-mcp-header says so.
// Other transports ignore it.
func (s *Session) mirrors() bool { return s.modern() && s.Spec.OfFrames() == "http" }

// toolsMost is how long a call waits for the tools, since some servers never list them.
const toolsMost = 10 * time.Second

// awaitTools waits until the tools are read, as a client must know which of a tool's arguments
// it sends as headers (specification 2026-07-28, Streamable HTTP, Client Behavior).
func (s *Session) awaitTools(ctx context.Context) {
	if s.NoLists || !s.mirrors() || !s.agreed().offers("tools") {
		return
	}
	s.staleLists.mu.Lock()
	unread := s.unread
	s.staleLists.mu.Unlock()
	select {
	case <-unread.Done():
	case <-time.After(toolsMost):
	case <-ctx.Done():
	}
}

// ReadToolsAgain has the tools read again after the server has refused the headers of a call,
// before the next call (specification 2026-07-28, Streamable HTTP, Client Behavior). It returns
// false where calls have no such headers.
func (s *Session) ReadToolsAgain() bool {
	s.ListChanged(mcp.MethodListTools)
	return s.mirrors() && !s.NoLists
}

// takeStale returns the lists marked as changed, and unmarks them. A change that is
// reported later leads to another reading.
func (l *staleLists) takeStale() []conversation.List {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.changed:
	default:
	}
	var stale []conversation.List
	for _, one := range conversation.Lists {
		if l.stale[one.Method] {
			stale = append(stale, one)
		}
	}
	clear(l.stale)
	return stale
}

// pagesMost bounds how many pages of one list are read, because a server can return a
// next cursor forever.
const pagesMost = 1000

// read reads all pages of each of the lists from the bytes on the wire, within the room that the
// other lists leave. A list that the server does not offer is empty.
func (s *Session) read(which []conversation.List, known map[string]conversation.Part) {
	for _, one := range which {
		before, again := known[one.Method]
		delete(known, one.Method)
		if capability, _, _ := strings.Cut(one.Method, "/"); !s.agreed().offers(capability) {
			continue
		}
		room := cmp.Or(s.Room, conversation.CatalogMost)
		for _, other := range known {
			room.Bytes -= other.Taken.Bytes
			room.Items -= other.Taken.Items
		}
		r := &conversation.Reader{List: one, Room: room, Revision: s.Revision()}
		if s.mirrors() { // x-mcp-header alone can forbid a tool
			r.Forbidden = func(item conversation.Item) error {
				if err := conversation.HeaderProblem(item.Schema); item.Kind == conversation.Tool && err != nil {
					return fmt.Errorf("the tool %q must not be used over HTTP, and is left out: %w", item.Key, err)
				}
				return nil
			}
		}
		part := r.Part(s.readPages(r, func() { // what is known can be called while this list waits
			parts := maps.Clone(known)
			parts[one.Method] = before
			c := conversation.Join(s.Server, parts)
			c.Loading, c.Waits = !again, s.Waits(one.Method)
			s.owner.Listed(s, c)
		}))
		part.Taken = conversation.Room{Bytes: room.Bytes - r.Room.Bytes, Items: room.Items - r.Room.Items}
		known[one.Method] = part
		if one.Method == mcp.MethodListTools {
			s.staleLists.mu.Lock()
			s.toolsRead()
			s.staleLists.mu.Unlock()
		}
	}
}

// readPages reads pages until one has no next cursor, and calls late for each that takes longer
// than a moment. The error says why it stopped before.
func (s *Session) readPages(r *conversation.Reader, late func()) error {
	var cursor *string
	for page := range pagesMost {
		out := &outgoing{ctx: s.ctx, Request: Request{Method: r.List.Method, Key: strconv.Itoa(page)}, members: []Member{}}
		if cursor != nil {
			out.members = []Member{{"cursor", rawjson.Quoted(*cursor)}}
		}
		var reply *Reply
		var err error
		s.inAMoment(func() { reply, err = s.send(out, nil) }, late)
		if reply == nil {
			return err
		}
		if reply.Message.Kind == wire.Error {
			e, err := conversation.ErrorOf(reply.Message.Error)
			if err != nil {
				return err
			}
			if reply.Question != 0 {
				// No call waits for these questions: the list is read again once the URLs are visited.
				for _, q := range reply.Requests(elicit.AskedIn(reply.Message), 0) {
					q.List, q.Asked = r.List.Method, s.Log.Head(reply.Seq).Time
					s.Judge(&q)
					if q.Refusal == nil && s.owner.IsAsked(s, q.Request.ElicitationID, q.Request.URL) {
						q.Refusal = &conversation.RPCError{Code: mcp.CodeInvalidRequest, Message: "another list requires the same URL, and you are asked for it already"}
					}
					s.owner.Asked(s, q)
				}
			}
			return fmt.Errorf("error %d: %s", e.Code, e.Message)
		}
		if s.modern() {
			if err := conversation.MustComplete(r.List.Method, reply.Message.Result); err != nil {
				return err
			}
		}
		if cursor, err = r.Page(reply.Message.Result); err != nil || cursor == nil {
			return err
		}
	}
	return fmt.Errorf("stopped after %d pages", pagesMost)
}
