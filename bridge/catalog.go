package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// ItemKind tells what can be called.
type ItemKind string

// The kinds of item.
const (
	KindTool     ItemKind = "tool"
	KindPrompt   ItemKind = "prompt"
	KindResource ItemKind = "resource"
	KindTemplate ItemKind = "template"
)

// Item is one thing that a server offers, as its list said.
type Item struct {
	Kind        ItemKind
	Key         string // name, or URI, or URI template
	Name        string
	Title       string
	Description string
	MIME        string
	// Schema describes the arguments: a tool's inputSchema as it was on the
	// wire, or one drawn up from a prompt's arguments or a template's variables.
	Schema json.RawMessage
	// OnlyAsTask says that a tool can be called as a task alone (specification
	// 2025-11-25, Tasks, Tool-Level Negotiation).
	OnlyAsTask bool
}

// Catalog is what a server offers.
type Catalog struct {
	Server  string
	Loading bool
	Items   []Item   // tools, prompts, resources, templates; each in the server's order
	Errors  []string // lists that could not be read, and why
}

// Catalog returns what a server offers. The lists are shared and must not be
// changed: there may be very many items.
func (in *Inspection) Catalog(id string) (Catalog, error) {
	if in.replay != nil {
		s, err := in.replay.shown.Load().server(id)
		if err != nil {
			return Catalog{}, err
		}
		return *s.catalog, nil
	}
	s, err := in.server(id)
	if err != nil {
		return Catalog{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return s.catalog, nil
}

// Item returns one thing that a server offers.
func (in *Inspection) Item(id string, kind ItemKind, key string) (Item, error) {
	catalog, err := in.Catalog(id)
	if err != nil {
		return Item{}, err
	}
	for _, item := range catalog.Items {
		if item.Kind == kind && item.Key == key {
			return item, nil
		}
	}
	return Item{}, fmt.Errorf("%w: %s %q", ErrUnknownItem, kind, key)
}

// page is what is known of one list of a server.
type page struct {
	items    []Item
	problems []string
}

// list describes one of the four lists.
type list struct {
	method string
	member string // of the result
	fetch  func(ctx context.Context, cs *mcp.ClientSession, cursor string) error
	item   func(raw json.RawMessage) (Item, error)
}

var lists = []list{
	{methodTools, "tools", func(ctx context.Context, cs *mcp.ClientSession, cursor string) error {
		_, err := cs.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		return err
	}, toolItem},
	{methodPrompts, "prompts", func(ctx context.Context, cs *mcp.ClientSession, cursor string) error {
		_, err := cs.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		return err
	}, promptItem},
	{methodResources, "resources", func(ctx context.Context, cs *mcp.ClientSession, cursor string) error {
		_, err := cs.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		return err
	}, resourceItem},
	{methodTemplates, "resourceTemplates", func(ctx context.Context, cs *mcp.ClientSession, cursor string) error {
		_, err := cs.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		return err
	}, templateItem},
}

// offered reports whether the server declared the capability behind a list.
func (s *session) offered(method string) bool {
	c := s.sdk.InitializeResult().Capabilities
	if c == nil {
		return false
	}
	switch method {
	case methodTools:
		return c.Tools != nil
	case methodPrompts:
		return c.Prompts != nil
	default:
		return c.Resources != nil
	}
}

// offers reads every list that the server offers.
func (s *session) offers() (items []Item, problems []string) {
	for _, l := range lists {
		read := s.read(l)
		items, problems = append(items, read.items...), append(problems, read.problems...)
	}
	return items, problems
}

// read reads one list, if the server offers it.
func (s *session) read(l list) page {
	if !s.offered(l.method) {
		return page{}
	}
	items, err := s.list(l)
	if err != nil {
		return page{items, []string{fmt.Sprintf("%s: %v", l.method, err)}}
	}
	return page{items: items}
}

// freshLists are the lists of a connection by method, as they were last read,
// and those that the server said have changed since.
type freshLists struct {
	read    map[string]page
	stale   map[string]bool
	reading bool // a goroutine reads what is stale
}

// reloadPause is how long at least lies between two readings of lists that the
// server says have changed: in it any number of notifications come to one reading.
const reloadPause = 500 * time.Millisecond

// loadCatalog reads what the server offers, and then, one after the other, those
// lists that the server said have changed meanwhile.
func (s *session) loadCatalog() {
	s.in.mu.Lock()
	s.lists = freshLists{read: map[string]page{}, stale: map[string]bool{}, reading: true}
	s.in.mu.Unlock()
	for _, l := range lists {
		read := s.read(l)
		s.in.mu.Lock()
		s.lists.read[l.method] = read
		s.in.mu.Unlock()
	}
	s.showCatalog()
	s.reload()
}

// listChanged notes that lists are to be read again. A goroutine that reads
// already goes on with them; there is one at most.
func (s *session) listChanged(methods ...string) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.readAgain(methods...)
}

// readAgain is listChanged for who holds in.mu.
func (s *session) readAgain(methods ...string) {
	if s.in.closed || s.lists.stale == nil || s.server.session != s {
		return // what has not been read yet will be
	}
	for _, method := range methods {
		s.lists.stale[method] = true
	}
	if !s.lists.reading {
		s.lists.reading = true
		s.in.running.Go(s.reload)
	}
}

// reload reads lists until none is stale, with a pause after each time.
func (s *session) reload() {
	for {
		stale := s.takeStale()
		if len(stale) == 0 {
			return
		}
		for _, l := range stale {
			read := s.read(l)
			s.in.mu.Lock()
			s.lists.read[l.method] = read
			s.in.mu.Unlock()
		}
		s.showCatalog()
		select {
		case <-time.After(reloadPause):
		case <-s.ctx.Done():
		}
	}
}

// takeStale is what is to be read now: nothing once the connection has ended, or
// when all is fresh. Whoever is told of a change after that reads it.
func (s *session) takeStale() []list {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	var stale []list
	for _, l := range lists {
		if s.lists.stale[l.method] && s.ctx.Err() == nil {
			stale = append(stale, l)
		}
	}
	clear(s.lists.stale)
	s.lists.reading = len(stale) > 0
	return stale
}

// showCatalog keeps what was read for readers.
func (s *session) showCatalog() {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.server.session != s {
		return
	}
	all := Catalog{Server: s.server.id}
	for _, l := range lists {
		all.Items = append(all.Items, s.lists.read[l.method].items...)
		all.Errors = append(all.Errors, s.lists.read[l.method].problems...)
	}
	s.server.catalog = all
	s.in.changed(Change{Kind: CatalogChanged, Server: s.server.id})
}

// pagesMost bounds how many pages of one list are read: a server whose cursor
// never ends must not keep us for ever.
const pagesMost = 1000

// Bounds on what the lists of one server take together: a page can be as large as
// a message, and a list can have very many.
const (
	CatalogBytes = 64 << 20
	CatalogItems = 150_000
)

// listRoom is what of those bounds is left.
type listRoom struct{ bytes, items int }

// take takes the room of one entry, and reports whether there was so much.
func (r *listRoom) take(size int) bool {
	if r.items == 0 || size > r.bytes {
		return false
	}
	r.items--
	r.bytes -= size
	return true
}

// errCatalogFull is why a list is not read to its end.
var errCatalogFull = errors.New("the rest of the list is left out, because it is more than is kept of one server")

// roomFor is what the other lists leave to one. The caller has the turn to list.
func (s *session) roomFor(method string) listRoom {
	room := listRoom{CatalogBytes, CatalogItems}
	for other, taken := range s.listed {
		if other != method {
			room.bytes -= taken.bytes
			room.items -= taken.items
		}
	}
	return room
}

// list reads all pages of one list from the bytes on the wire, as far as there is
// room for them. It returns what it has even where it fails.
func (s *session) list(l list) ([]Item, error) {
	select { // one at a time, because the responses are kept under the method
	case s.listing <- struct{}{}:
		defer func() { <-s.listing }()
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
	var items []Item
	var left leftOut
	room := s.roomFor(l.method)
	defer func(all listRoom) {
		s.listed[l.method] = listRoom{all.bytes - room.bytes, all.items - room.items}
	}(room)
	cursor := ""
	seen := map[string]bool{}
	for range pagesMost {
		err := l.fetch(s.ctx, s.sdk, cursor)
		got, ok := s.take(l.method)
		s.dropOutgoing(func(out *outgoing) bool { return out.ticket == l.method }) // it may have ended without an answer
		if !ok {
			if err == nil {
				err = errors.New("the response was not seen on the wire")
			}
			return items, left.and(err)
		}
		if got.message.Kind == wire.Error {
			code, message, data, err := rpcErrorOf(got.message.Error)
			if err == nil {
				if code == codeURLRequired {
					s.askForList(l.method, data, got.seq)
				}
				err = fmt.Errorf("error %d: %s", code, message)
			}
			return items, left.and(err)
		}
		if s.modern() {
			if err := complete(l.method, got.message.Result); err != nil {
				return items, left.and(err)
			}
		}
		page, next, err := readPage(l, got.message.Result, s.forbidden, &left, &room)
		items = append(items, page...)
		if err != nil || next == "" {
			return items, left.and(err)
		}
		if seen[next] {
			return items, left.and(fmt.Errorf("the cursor %q came twice", shortened(next)))
		}
		seen[next] = true
		cursor = next
	}
	return items, left.and(fmt.Errorf("stopped after %d pages", pagesMost))
}

// leftOut collects why entries of a list are not among the items.
type leftOut struct {
	problems []error
	more     int
}

// leftOutShown bounds how many entries are named.
const leftOutShown = 20

func (l *leftOut) add(err error) {
	if len(l.problems) < leftOutShown {
		l.problems = append(l.problems, errors.New(shortened(err.Error())))
		return
	}
	l.more++
}

// and is all of it as one error, with err at its end; nil if there is nothing.
func (l *leftOut) and(err error) error {
	all := slices.Clone(l.problems)
	if l.more > 0 {
		all = append(all, fmt.Errorf("and %d more entries", l.more))
	}
	if err != nil {
		all = append(all, errors.New(shortened(err.Error())))
	}
	return errors.Join(all...)
}

// readPage reads one page of a list. Entries that cannot be read, and those that
// are forbidden, do not keep the others from being used. The error says why
// there is no more of the list.
func readPage(l list, result json.RawMessage, forbidden func(Item) error, left *leftOut, room *listRoom) (items []Item, next string, err error) {
	var page map[string]json.RawMessage
	if err := decode(result, &page); err != nil {
		return nil, "", fmt.Errorf("the result cannot be read: %w", err)
	}
	var entries []json.RawMessage
	if page[l.member] == nil {
		return nil, "", fmt.Errorf("the result has no %q", l.member)
	}
	if err := decode(page[l.member], &entries); err != nil {
		return nil, "", fmt.Errorf("the result's %q cannot be read: %w", l.member, err)
	}
	for i, raw := range entries {
		if !room.take(len(raw)) {
			return items, "", errCatalogFull
		}
		item, err := l.item(raw)
		if err == nil {
			err = forbidden(item)
		}
		if err != nil {
			left.add(fmt.Errorf("%s[%d]: %w", l.member, i, err))
			continue
		}
		items = append(items, item)
	}
	if c := page["nextCursor"]; c != nil {
		if json.Unmarshal(c, &next) != nil {
			return items, "", fmt.Errorf("nextCursor is %s, not a string", jsonKind(c))
		}
		if room.bytes -= len(c); room.bytes < 0 { // all of them are kept, to know one that comes twice
			return items, "", errCatalogFull
		}
	}
	return items, next, nil
}
