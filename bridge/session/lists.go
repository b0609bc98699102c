package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

// reloadPause is the minimum time between two readings of changed lists. All
// notifications within it cause one reading.
const reloadPause = 500 * time.Millisecond

// Catalog reads all lists of the server: its tools, prompts, resources and templates.
func (s *Session) Catalog() conversation.Catalog {
	parts := map[string]conversation.Part{}
	for _, l := range conversation.Lists {
		parts[l.Method] = s.read(l)
	}
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
		for _, l := range fresh {
			known[l.Method] = s.read(l)
		}
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

// ListChanged marks the lists of these methods as changed, so that FollowCatalog reads
// them again.
func (s *Session) ListChanged(methods ...string) {
	s.mu.Lock()
	for _, method := range methods {
		s.stale[method] = true
	}
	s.mu.Unlock()
	signal(s.changed)
}

// takeStale returns the lists marked as changed, and unmarks them. A change that is
// reported later leads to another reading.
func (s *Session) takeStale() []conversation.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.changed:
	default:
	}
	var stale []conversation.List
	for _, l := range conversation.Lists {
		if s.stale[l.Method] {
			stale = append(stale, l)
		}
	}
	clear(s.stale)
	return stale
}

func (s *Session) offered(method string) bool {
	c := s.sdk.InitializeResult().Capabilities
	if c == nil {
		return false
	}
	switch method {
	case mcp.MethodListTools:
		return c.Tools != nil
	case mcp.MethodListPrompts:
		return c.Prompts != nil
	default:
		return c.Resources != nil
	}
}

// pagesMost bounds how many pages of one list are read, because a server can return a
// next cursor forever.
const pagesMost = 1000

// read reads all pages of one list from the bytes on the wire, within the room that the
// other lists leave. It returns an empty part if the server does not offer the list.
func (s *Session) read(l conversation.List) conversation.Part {
	if !s.offered(l.Method) {
		return conversation.Part{}
	}
	r := &conversation.Reader{List: l}
	if s.modern() && s.transport() == "http" { // other transports ignore x-mcp-header, which alone can forbid a tool
		r.Forbidden = func(item conversation.Item) error {
			if err := conversation.HeaderProblem(item.Schema); item.Kind == conversation.Tool && err != nil {
				return fmt.Errorf("the tool %q must not be used over HTTP, and is left out: %w", item.Key, err)
			}
			return nil
		}
	}
	all := conversation.Room{Bytes: conversation.CatalogMost, Items: conversation.MostItems}
	for other, taken := range s.taken {
		if other != l.Method {
			all.Bytes -= taken.Bytes
			all.Items -= taken.Items
		}
	}
	r.Room = all
	part := r.Part(s.readPages(r))
	s.taken[l.Method] = conversation.Room{Bytes: all.Bytes - r.Room.Bytes, Items: all.Items - r.Room.Items}
	return part
}

// readPages reads pages until one has no next cursor. The error says why it stopped
// before.
func (s *Session) readPages(r *conversation.Reader) error {
	cursor, seen := "", map[string]bool{}
	for range pagesMost {
		reply, err := s.send(&outgoing{ctx: s.ctx}, func(ctx context.Context) error { return s.fetch(ctx, r.List.Method, cursor) })
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
		if cursor, err = r.Page(reply.Message.Result); err != nil || cursor == "" {
			return err
		}
		if seen[cursor] {
			return fmt.Errorf("the cursor %q came twice", conversation.ShortError(cursor))
		}
		seen[cursor] = true
	}
	return fmt.Errorf("stopped after %d pages", pagesMost)
}

func (s *Session) fetch(ctx context.Context, method, cursor string) (err error) {
	switch method {
	case mcp.MethodListTools:
		_, err = s.sdk.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
	case mcp.MethodListPrompts:
		_, err = s.sdk.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
	case mcp.MethodListResources:
		_, err = s.sdk.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
	case mcp.MethodListTemplates:
		_, err = s.sdk.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
	default:
		err = errors.New("there is no list " + method)
	}
	return err
}
